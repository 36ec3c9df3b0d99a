"""The oracles of soft-max boosting and its baselines, checked against calculus, chance and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from reference import baselines, softmax
from reference.data import smooth_classes


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_gradient_is_that_of_the_risk(n_classes: int) -> None:
    """Soft-max boosting, Proposition 2."""
    rng = np.random.default_rng(n_classes)
    psi, costs = rng.normal(scale=2, size=(6, n_classes)), rng.random((6, n_classes))
    np.testing.assert_allclose(softmax.gradient(psi, costs), softmax.finite_differences(psi, costs), atol=1e-9)


def test_soft_max_does_not_overflow() -> None:
    g = softmax.soft_max(np.array([[1e6, 0.0, -1e6], [-1e308, -1e308, -1e308]]))
    np.testing.assert_allclose(g, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])


def test_sampled_inner_product_is_unbiased() -> None:
    """Equation (7): the mean of R_M(h) is <grad R, h>."""
    rng = np.random.default_rng(0)
    psi, costs = rng.normal(size=(20, 4)), rng.random((20, 4))
    share = rng.integers(1, 4, 20).astype(float)
    h = np.where(rng.random((20, 4)) < 0.5, -1.0, 1.0)
    expected = float((share[:, None] * softmax.gradient(psi, costs) * h).sum() / share.sum())
    delta = softmax.centred_costs(psi, costs)
    rows, labels = softmax.draw_pairs(psi, 200_000, rng, share)
    draws = (delta * h)[rows, labels]
    assert abs(draws.mean() - expected) < 4 * draws.std() / np.sqrt(len(draws))
    assert abs(expected) > 10 * draws.std() / np.sqrt(len(draws))  # or the line above would say little


def test_risk_descends_with_full_gradients_and_step_one() -> None:
    X, y = smooth_classes(1, n_classes=4)
    costs = softmax.binary_costs(y, 4)
    rounds = softmax.sm_boost(X, costs, 15, np.random.default_rng(0), step="projected", sampled=False)
    risks = [softmax.risk(np.zeros(costs.shape), costs), *(softmax.risk(r.scores, costs) for r in rounds)]
    assert (np.diff(risks) < 0).all()
    assert risks[0] == pytest.approx(0.75)


def test_sm_boost_learns_and_scores_other_rows_alike() -> None:
    X, y = smooth_classes(2, m=300, n_classes=3, noise=0.0)
    rounds = list(softmax.sm_boost(X, softmax.binary_costs(y, 3), 40, np.random.default_rng(0), n_samples=300))
    assert np.mean(rounds[-1].scores.argmax(axis=1) != y) < 0.05
    np.testing.assert_allclose(softmax.scores(rounds, X), rounds[-1].scores, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_samme_is_scikit_learns(n_classes: int) -> None:
    X, y = smooth_classes(3, n_classes=n_classes, noise=0.2)
    share = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    tree = DecisionTreeClassifier(max_leaf_nodes=4)
    theirs = AdaBoostClassifier(tree, n_estimators=12, random_state=0).fit(X, y, sample_weight=share)
    trees = iter(theirs.estimators_)
    ours = baselines.samme(X, y, n_classes, 12, lambda *_: next(trees).predict, share)
    np.testing.assert_allclose(ours.steps, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.scores[-1].argmax(axis=1), theirs.predict(X))


def test_adaboost_mh_descends_on_the_exponential_loss() -> None:
    X, y = smooth_classes(4, n_classes=3)
    out = baselines.adaboost_mh(X, y, 3, 10, baselines.cart(4))
    target = np.where(np.arange(3)[None, :] == y[:, None], 1.0, -1.0)
    losses = [1.0, *(float(np.exp(-target * scores).mean()) for scores in out.scores)]
    assert len(losses) == 11
    assert (np.diff(losses) < 0).all()


def test_a_two_sided_rule_is_as_right_on_either_class() -> None:
    """Soft-max boosting, section 5.5.1."""
    rng = np.random.default_rng(5)
    X, y = smooth_classes(5, n_classes=2, noise=0.2)
    mass = rng.random(len(y))
    junction = baselines.two_sided(X, y, mass, baselines.cart(2))
    right = junction.goes_right(X)
    accuracy = [np.average(right[y == 1], weights=mass[y == 1]), 1 - np.average(right[y == 0], weights=mass[y == 0])]
    assert accuracy[0] == pytest.approx(accuracy[1])
    assert accuracy[0] > 0.5


def test_masses_of_the_branching_program_are_those_of_random_walks() -> None:
    X, y = smooth_classes(6, m=60, n_classes=2, noise=0.2)
    layers = baselines.martiboost(X, y, 6, baselines.cart(2))
    rng = np.random.default_rng(0)
    many = np.repeat(np.arange(60), 2000)
    node = np.zeros(len(many), dtype=int)
    for layer in layers:
        right = np.column_stack([junction.goes_right(X) for junction in layer])[many, node]
        node = node + (rng.random(len(many)) < right)
    ended = np.bincount(many, weights=node > 3) / 2000
    np.testing.assert_allclose(ended, baselines.ends_right(layers, X), atol=0.06)
    assert np.mean((baselines.ends_right(layers, X) > 0.5) != y) < 0.3
