"""AdaBoost.MR, additive multinomial logistic regression, binary DeepBoost; and the naive loop, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multiclass_tools import PAIRS, like, paper
from radboost import DeepBoostClassifier
from radboost.trees import with_tree_options
from reference import multiclass_boost, multiclass_boosters
from reference.data import smooth, smooth_classes
from reference.multiclass_boost import Settings

GRID = 2.0**-20  # the error that a step cut to the grid may have


@pytest.mark.parametrize("seed", range(3))
def test_adaboost_mr(seed: int) -> None:
    X, y = smooth_classes(seed, m=30, d=2)
    X = np.round(X, 1)
    w = np.random.default_rng(seed).random(30) + 0.5
    theirs = multiclass_boosters.adaboost_mr(X, y, 8, 3, w)
    ours = paper(n_rounds=8, objective="sum", loss="exponential", family="stumps").fit(X, y, sample_weight=w)
    assert len(theirs) == ours.n_iter_ == 8
    np.testing.assert_allclose(ours.ensemble_.steps["eta"], [r.alpha for r in theirs], atol=8 * GRID)
    for ours_t, theirs_t in zip(ours.staged_decision_function(X), theirs, strict=True):
        np.testing.assert_allclose(ours_t, theirs_t.scores, atol=40 * GRID)


@pytest.mark.parametrize("seed", range(3))
def test_additive_multinomial_logistic_regression(seed: int) -> None:
    X, y = smooth_classes(seed, m=60, d=3, n_classes=4)
    w = np.random.default_rng(seed).random(60) + 0.5
    theirs = multiclass_boosters.additive_multinomial(X, y, 15, 4, w)
    ours = paper(n_rounds=15, objective="compsum", loss="logistic", family="stumps").fit(X, y, sample_weight=w)
    assert len(theirs) == ours.n_iter_ == 15
    np.testing.assert_allclose(ours.ensemble_.steps["eta"], [r.alpha for r in theirs], atol=20 * GRID)
    for ours_t, theirs_t, objective in zip(
        ours.staged_decision_function(X), theirs, ours.history_["objective"], strict=True
    ):
        np.testing.assert_allclose(ours_t, theirs_t.scores, atol=100 * GRID)
        assert objective == pytest.approx(multiclass_boosters.logistic_loss(ours_t, y, w), rel=1e-9)


def test_the_default_objective_is_sum() -> None:
    X, y = smooth_classes(1, m=60)
    for loss in ("logistic", "exponential"):
        default, named = (
            DeepBoostClassifier(10, loss=loss, **with_tree_options(o)).fit(X, y) for o in ({}, {"objective": "sum"})
        )
        np.testing.assert_array_equal(default.decision_function(X), named.decision_function(X))
        np.testing.assert_array_equal(default.predict_proba(X), named.predict_proba(X))


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("changes", [{}, {"family": "stumps"}, {"learning_rate": 1.0}, {"split_criterion": "edge"}])
def test_two_classes_are_binary_deepboost(pair: tuple[str, str], changes: dict[str, Any]) -> None:
    """Errata 10: bit for bit, whatever the objective's name."""
    X, y = smooth(1, m=80)
    named = DeepBoostClassifier(
        20, objective=pair[0], loss=pair[1], step="line_search", **with_tree_options(changes)
    ).fit(X, y)
    plain = DeepBoostClassifier(20, loss=pair[1], step="line_search", **with_tree_options(changes)).fit(X, y)
    assert named.decision_function(X).shape == (80,)
    np.testing.assert_array_equal(named.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    assert named.history_ == plain.history_


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("criterion", ["edge", "gini"])
def test_two_classes_follow_the_multiclass_algorithm(pair: tuple[str, str], criterion: str) -> None:
    """The naive loop for C classes with C = 2, whose weights have one sign, against the margin column."""
    X, y = smooth(2, m=40, d=3)
    w = np.random.default_rng(5).random(40) + 0.5
    step = "line_search" if pair[0] == "max" else "closed_form"
    settings = Settings(
        rounds=6, objective=pair[0], loss=pair[1], max_depth=2, lam=0.003, beta=0.002, criterion=criterion, step=step
    )
    naive = multiclass_boost.fit(X, (y > 0).astype(int), settings, w)
    model = like(settings).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.history_["objective"], naive.objectives, rtol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), naive.at.f[:, 1] - naive.at.f[:, 0], atol=3e-5)


CASES: list[dict[str, Any]] = [
    {"family": "stumps"},
    {"family": "stumps", "beta": 0.03},
    {"family": "trees", "max_depth": 3},
    {"family": "trees", "max_depth": 3, "lam": 0.004},
    {"family": "trees", "max_depth": 3, "lam": 0.004, "criterion": "gini"},
    {"family": "trees", "max_depth": 3, "lam": 0.004, "criterion": "gini", "growth": "best_first", "max_leaves": 5},
    {"family": "trees", "max_depth": 3, "lam": 0.002, "growth": "best_first"},
    {"family": "trees", "max_depth": 3, "lam": 0.002, "learning_rate": 0.3},
    {"family": "trees", "max_depth": 2, "lam": 0.02, "step": "line_search"},
    {"family": "trees", "max_depth": 2, "lam": 0.002, "max_bins": 6},
    {"family": "stump_pairs", "lam": 0.004, "beta": 0.001},
]


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("case", CASES, ids=lambda c: " ".join(f"{k}={v}" for k, v in c.items()))
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_every_round_is_that_of_the_naive_algorithm(
    pair: tuple[str, str], case: dict[str, Any], missing: float
) -> None:
    """Round by round the same coordinate and step. Real-valued weights keep hypotheses from tying."""
    X, y = smooth_classes(11, m=30, d=3, n_classes=4, missing=missing)
    w = np.random.default_rng(5).random(30) + 0.5
    settings = Settings(rounds=7, objective=pair[0], loss=pair[1], **case)
    naive = multiclass_boost.fit(X, y, settings, w)
    model = like(settings).fit(X, y, sample_weight=w)
    n = len(naive.steps)
    if pair[0] != "max":  # where the naive loop ends, Max is perturbed
        assert model.n_iter_ == n
    np.testing.assert_allclose(model.history_["objective"][:n], naive.objectives, rtol=1e-5)
    if model.n_iter_ == n:
        np.testing.assert_allclose(model.decision_function(X), naive.at.f, atol=5e-5)
        alive = naive.alive()
        np.testing.assert_allclose(np.sort(model.ensemble_.complexities), np.sort([a.r for a in alive]), rtol=1e-12)
        np.testing.assert_allclose(np.sort(model.ensemble_.weights), np.sort([a.alpha for a in alive]), atol=5e-5)
        assert sorted(h.n_splits for h in model.ensemble_.hypotheses) == sorted(a.tree.n_splits for a in alive)
