"""AdaBoost.MH, SAMME and martingale boosting against the reference versions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from radboost import DeepBoostClassifier, TreeOptions, guarantees
from radboost.baselines import AdaBoostMHClassifier, BranchingProgram, MartiBoostClassifier, SAMMEClassifier
from reference import baselines as reference
from reference.data import smooth_classes


def rows(n_classes: int, seed: int = 0, **changes: Any) -> tuple[np.ndarray, np.ndarray]:
    return smooth_classes(seed, n_classes=n_classes, **{"noise": 0.2, **changes})


def rules_of(model: Any, of_class: bool = False) -> list[Any]:
    """The hypotheses in the order of the steps, as functions of rows."""
    entered = [model.ensemble_.entered[j] for j in model.ensemble_.steps["hypothesis"]]

    def rule(tree: Any) -> Any:
        if tree.n_outputs == 1:
            return lambda X: (tree.predict(X) > 0) * (1 if of_class else 2) - (0 if of_class else 1)
        if of_class:
            return lambda X: tree.predict(X).argmax(axis=1)
        return lambda X: 2 * tree.predict(X).max(axis=1) - 1

    return [rule(tree) for tree in entered]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_samme_is_algorithm_4_on_its_trees(n_classes: int, weighted: bool) -> None:
    X, y = rows(n_classes, 1)
    share = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    model = SAMMEClassifier(10, max_leaves=4).fit(X, y, share)
    rules = iter(rules_of(model, of_class=True))
    expected = reference.samme(X, y, n_classes, 10, lambda *_: next(rules), share)
    assert len(expected.steps) == 10
    alphas = model.ensemble_.steps["eta"] * (2 if n_classes == 2 else 1)
    np.testing.assert_allclose(alphas, expected.steps, rtol=1e-7)
    scores = model.decision_function(X)
    psi = expected.scores[-1]
    np.testing.assert_allclose(scores, psi if n_classes > 2 else (psi[:, 1] - psi[:, 0]) / 2, atol=1e-7)
    odds = np.exp(psi - psi.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-7)
    np.testing.assert_allclose(model.history_["train_error"][-1], np.average(psi.argmax(axis=1) != y, weights=share))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_samme_is_scikit_learns_where_bins_lose_nothing(n_classes: int) -> None:
    X, y = rows(n_classes, 2, m=120)
    tree = DecisionTreeClassifier(max_leaf_nodes=4)
    theirs = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
    ours = SAMMEClassifier(8, max_leaves=4).fit(X, y)
    alphas = ours.ensemble_.steps["eta"] * (2 if n_classes == 2 else 1)
    np.testing.assert_allclose(alphas, theirs.estimator_weights_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_adaboost_mh_is_algorithm_3_on_its_trees(n_classes: int, weighted: bool) -> None:
    X, y = rows(n_classes, 3)
    share = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    model = AdaBoostMHClassifier(10, max_leaves=4).fit(X, y, share)
    rules = rules_of(model)
    if n_classes == 2:  # the first class has the mirror images
        rules = [r for rule in rules for r in (lambda X, rule=rule: -rule(X), rule)]
    turns = iter(rules)
    expected = reference.adaboost_mh(X, y, n_classes, 10, lambda *_: next(turns), share)
    assert len(expected.steps) == 10
    alphas = model.ensemble_.steps["eta"] if n_classes == 2 else model.ensemble_.steps["eta"][::3] / 2
    np.testing.assert_allclose(alphas, expected.steps, rtol=1e-7)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, expected.scores[-1][:, 1] if n_classes == 2 else expected.scores[-1], atol=1e-7)
    for staged, psi in zip(model.staged_decision_function(X), expected.scores, strict=True):
        np.testing.assert_allclose(staged, psi[:, 1] if n_classes == 2 else psi, atol=1e-7)
    single = 1 / (1 + np.exp(-2 * expected.scores[-1]))
    np.testing.assert_allclose(model.predict_proba(X), single / single.sum(axis=1, keepdims=True), atol=1e-7)


def test_adaboost_mh_grows_the_trees_of_scikit_learn() -> None:
    X, y = rows(3, 4, m=100)
    expected = reference.adaboost_mh(X, y, 3, 6, reference.cart(4))
    model = AdaBoostMHClassifier(6, max_leaves=4).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.scores[-1], atol=1e-6)


def test_with_two_classes_both_are_adaboost() -> None:
    X, y = rows(2, 5)
    first = SAMMEClassifier(6, max_leaves=3).fit(X, y)
    second = AdaBoostMHClassifier(6, max_leaves=3).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    stumps = SAMMEClassifier(5, max_leaves=2).fit(X, y)
    same = DeepBoostClassifier.paper(5, family="stumps").fit(X, y)
    # DeepBoost takes the stump of the lowest error, SAMME that of the lowest impurity: here they agree at first
    np.testing.assert_allclose(stumps.ensemble_.steps["eta"][0], same.ensemble_.steps["eta"][0], rtol=1e-6)


def junctions(model: Any) -> list[list[reference.Junction]]:
    program = model.ensemble_
    nodes = iter(zip(program.hypotheses, program.right_on_minus, program.right_on_plus, strict=True))
    layers = []
    for depth in range(program.n_layers):
        layer = []
        for _ in range(depth + 1):
            tree, minus, plus = next(nodes)
            layer.append(reference.Junction(lambda X, tree=tree: tree.predict(X) > 0, minus, plus))
        layers.append(layer)
    return layers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layers", [4, 7])
def test_martiboost_is_two_sided_at_every_node(weighted: bool, layers: int) -> None:
    X, y = rows(2, 6, m=200)
    share = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    model = MartiBoostClassifier(layers, max_leaves=3).fit(X, y, share)
    ours = junctions(model)
    mass = np.ones((len(y), 1)) if share is None else share[:, None]
    for layer in ours:
        for node, junction in enumerate(layer):
            expected = reference.two_sided(X, y, mass[:, node], lambda *_, j=junction: j.rule)
            got = (junction.right_on_0, junction.right_on_1)
            assert got == pytest.approx((expected.right_on_0, expected.right_on_1), abs=1e-6)
        mass = reference.walk(layer, X, mass)
    right = reference.ends_right(ours, X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], right, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), 2 * right - 1, atol=1e-12)
    assert model.history_["train_error"][-1] == pytest.approx(np.average((right > 0.5) != y, weights=share))
    wrong = np.where(y == 1, 1 - right, right)
    assert model.history_["objective"][-1] == pytest.approx(np.average(wrong, weights=share), abs=1e-9)


def test_martiboost_grows_the_trees_of_scikit_learn() -> None:
    X, y = rows(2, 7, m=120)
    expected = reference.martiboost(X, y, 5, reference.cart(2))
    model = MartiBoostClassifier(5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], reference.ends_right(expected, X), atol=1e-6)


def test_martiboost_sends_rows_of_one_class_to_their_side() -> None:
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    model = MartiBoostClassifier(6).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], y)
    assert model.history_["objective"] == [0.0] * 6
    # nobody came to the nodes between: a coin decides there
    assert model.ensemble_.right_on_plus[4] == model.ensemble_.right_on_minus[4] == 0.5
    assert "6 layers, 21 trees" in repr(model.ensemble_)


def test_the_loss_of_adaboost_mh_is_the_mean_over_rows_and_classes() -> None:
    X, y = rows(3, 12)
    model = AdaBoostMHClassifier(5).fit(X, y)
    target = np.where(np.arange(3) == y[:, None], 1.0, -1.0)
    assert model.history_["objective"][-1] == pytest.approx(np.exp(-target * model.decision_function(X)).mean())


def test_a_class_that_is_learned_long_before_the_others() -> None:
    """Its weights fall to nothing beside theirs, and its trees must be grown on them all the same."""
    X, y = rows(2, 17, m=150, noise=0.3)
    apart = np.arange(40.0)[:, None] + 100.0
    X = np.concatenate([X, np.repeat(apart, X.shape[1], axis=1)])
    y = np.concatenate([y, np.full(40, 2)])
    model = AdaBoostMHClassifier(400, max_leaves=2).fit(X, y)
    assert model.n_iter_ == 400
    assert (model.predict(X[y == 2]) == 2).all()
    assert np.isfinite(model.history_["objective"]).all()


@pytest.mark.parametrize("algorithm", [AdaBoostMHClassifier, SAMMEClassifier])
def test_a_fit_without_a_fault_ends(algorithm: Any) -> None:
    X, y = rows(3, 13, m=40, noise=0.0)
    model = algorithm(50, max_leaves=64).fit(X, y)
    assert model.n_iter_ == 1
    assert "right on every row" in model.stop_reason_
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("algorithm", [AdaBoostMHClassifier, SAMMEClassifier])
def test_columns_that_tell_nothing(algorithm: Any) -> None:
    X, y = np.zeros((12, 2)), np.arange(12) % 2
    with pytest.warns(UserWarning, match="The model is empty and predicts 0 everywhere"):
        model = algorithm(5).fit(X, y)
    assert len(model.ensemble_) == 0
    assert "no tree is better than chance" in model.stop_reason_
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MartiBoostClassifier(3).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], 0.5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SAMMEClassifier(0), "n_rounds must be at least 1"),
        (SAMMEClassifier(max_leaves="many"), "max_leaves must be 'auto' or an integer of at least 2; got 'many'"),
        (AdaBoostMHClassifier(max_leaves=1), "max_leaves must be at least 2"),
        (MartiBoostClassifier(0), "n_rounds must be between 1 and 2000"),
        (MartiBoostClassifier(tree_options=TreeOptions(max_bins=300)), "max_bins must be between 2 and 255"),
        (MartiBoostClassifier(), "Only binary classification is supported by MartiBoostClassifier: y holds 3"),
    ],
)
def test_bad_input(model: Any, message: str) -> None:
    X, y = rows(3, 14)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "ensemble_")


def test_guarantees_speak_of_those_that_vote() -> None:
    X, y = rows(2, 15)
    for model in (SAMMEClassifier(5), AdaBoostMHClassifier(5)):
        margins = guarantees.margins(model.fit(X, y), X, y)
        assert np.mean(margins <= 0) == model.history_["train_error"][-1]
        assert guarantees.bound(model, X, y).total > 0
    with pytest.raises(TypeError, match="MartiBoostClassifier does not vote"):
        guarantees.margins(MartiBoostClassifier(3).fit(X, y), X, y)
    X, y = rows(4, 16)
    model = AdaBoostMHClassifier(5).fit(X, y)
    assert np.mean(guarantees.margins(model, X, y) <= 0) == model.history_["train_error"][-1]


def test_damaged_branching_programs() -> None:
    X, y = rows(2, 19)
    header, arrays = MartiBoostClassifier(4).fit(X, y).ensemble_.to_arrays()
    assert len(BranchingProgram.from_arrays(header, arrays)) == 10
    for change, message in (
        ({"right_on_plus": arrays["right_on_plus"] + 1.0}, "right_on_plus"),
        ({"right_on_minus": arrays["right_on_minus"][:-1]}, "right_on_minus"),
        ({"right_on_minus": np.full(10, np.nan)}, "right_on_minus"),
    ):
        with pytest.raises(ValueError, match=message):
            BranchingProgram.from_arrays(header, arrays | change)
    with pytest.raises(ValueError, match="layers are named"):
        BranchingProgram.from_arrays(header | {"n_rounds": 5}, arrays)
    nine = SAMMEClassifier(9, max_leaves=2).fit(X, y).ensemble_
    with pytest.raises(ValueError, match="trees do not fill the layers"):
        BranchingProgram(nine.entered[:2], np.zeros(2), np.zeros(2), n_features=5, sample_size=1.0)


def test_no_mass_becomes_negative() -> None:
    """Masses above 2^53 were rounded up where all of them go one way, and less than nothing went the other way."""
    X = np.random.default_rng(3).normal(size=(60, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    assert MartiBoostClassifier().fit(X, y).n_iter_ == 101
