"""AdaBoost.MR, additive multinomial logistic regression, binary DeepBoost; and the naive loop, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multiclass_tools import PAIRS, paper
from radboost import DeepBoostClassifier
from radboost.trees import with_tree_options
from reference import boosters
from reference.data import smooth, smooth_classes

GRID = 2.0**-20  # the error that a step cut to the grid may have


def columns_of(scores: np.ndarray) -> np.ndarray:
    """Scores with a column for each class, up to a shift of the row; a margin is the second less the first."""
    return scores if scores.ndim == 2 else np.column_stack([-scores / 2, scores / 2])


def same_scores(ours: np.ndarray, theirs: np.ndarray, atol: float) -> None:
    shifted = theirs if ours.ndim == 2 else theirs - theirs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(columns_of(ours), shifted, atol=atol)


@pytest.mark.parametrize(("n_classes", "m", "rounds"), [(2, 70, 40), (3, 30, 8)])
@pytest.mark.parametrize("seed", range(3))
def test_adaboost_mr(seed: int, n_classes: int, m: int, rounds: int) -> None:
    """With two classes AdaBoost."""
    grid = 1e-9 if n_classes == 2 else GRID
    X, y = smooth_classes(seed, m=m, d=4 if n_classes == 2 else 2, n_classes=n_classes)
    X = np.round(X, 1)
    w = np.random.default_rng(seed).random(m) + 0.5
    theirs = boosters.adaboost_mr(X, y, rounds, n_classes, w)
    ours = paper(n_rounds=rounds, objective="sum", loss="exponential", family="stumps").fit(X, y, sample_weight=w)
    assert len(theirs) == ours.n_iter_ == rounds
    np.testing.assert_allclose(np.abs(ours.ensemble_.steps["eta"]), [r.alpha for r in theirs], atol=8 * grid)
    for ours_t, theirs_t in zip(ours.staged_decision_function(X), theirs, strict=True):
        same_scores(ours_t, theirs_t.scores, 40 * grid)


@pytest.mark.parametrize(("n_classes", "rounds"), [(2, 40), (4, 15)])
@pytest.mark.parametrize("seed", range(3))
def test_additive_multinomial_logistic_regression(seed: int, n_classes: int, rounds: int) -> None:
    grid = 1e-9 if n_classes == 2 else GRID
    X, y = smooth_classes(seed, m=60, d=3, n_classes=n_classes)
    w = np.random.default_rng(seed).random(60) + 0.5
    theirs = boosters.additive_multinomial(X, y, rounds, n_classes, w)
    ours = paper(n_rounds=rounds, objective="compsum", loss="logistic", family="stumps").fit(X, y, sample_weight=w)
    assert len(theirs) == ours.n_iter_ == rounds
    np.testing.assert_allclose(np.abs(ours.ensemble_.steps["eta"]), [r.alpha for r in theirs], atol=20 * grid)
    for ours_t, theirs_t, objective in zip(
        ours.staged_decision_function(X), theirs, ours.history_["objective"], strict=True
    ):
        same_scores(ours_t, theirs_t.scores, 100 * grid)
        assert objective == pytest.approx(boosters.logistic_loss(columns_of(ours_t), y, w), rel=1e-9)


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


def test_classes_swapped_mirror_the_model() -> None:
    X, y = smooth(3, m=80)
    model = DeepBoostClassifier.paper(n_rounds=10).fit(X, y)
    mirrored = DeepBoostClassifier.paper(n_rounds=10).fit(X, -y)
    np.testing.assert_array_equal(mirrored.decision_function(X), -model.decision_function(X))
