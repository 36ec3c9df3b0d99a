"""The special cases the paper names: AdaBoost, logistic regression, their L1 versions; the optimum of (4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import with_tree_options
from reference import adaboost, binning, convex, deepboost, growth, losses, rademacher, splits
from reference.data import smooth, tiny


def paper(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier.paper(**with_tree_options({"complexity_penalty": 0.0, "l1_penalty": 0.0, **changes}))


@pytest.mark.parametrize("seed", range(3))
def test_adaboost(seed: int) -> None:
    X, y = smooth(seed, m=70, d=4)
    X = np.round(X, 1)
    w = np.random.default_rng(seed).random(70) + 0.5
    theirs = adaboost.adaboost(X, y, 40, w)
    ours = paper(n_rounds=40, loss="exponential", family="stumps").fit(X, y, sample_weight=w)
    assert len(theirs) == ours.n_iter_ == 40
    np.testing.assert_allclose(np.abs(ours.ensemble_.steps["eta"]), [r.alpha for r in theirs], rtol=1e-8, atol=2e-12)
    for ours_t, theirs_t in zip(ours.staged_decision_function(X), theirs, strict=True):
        np.testing.assert_allclose(ours_t, theirs_t.scores, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_additive_logistic_regression(seed: int) -> None:
    X, y = smooth(seed, m=70, d=4)
    w = np.random.default_rng(seed).random(70) + 0.5
    theirs = adaboost.additive_logistic(X, y, 40, w)
    ours = paper(n_rounds=40, loss="logistic", family="stumps").fit(X, y, sample_weight=w)
    assert ours.n_iter_ == 40
    for ours_t, theirs_t in zip(ours.staged_decision_function(X), theirs, strict=True):
        np.testing.assert_allclose(ours_t, theirs_t.scores, atol=1e-7)


def dictionary(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Every stump on these rows, the constant included, one column each."""
    columns, codes = binning.bin_matrix(X)
    sample = splits.make_sample(columns, codes.tolist(), [1] * len(y), y.tolist())
    return np.array(growth.all_stumps(sample), dtype=float).T


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize(("lam", "beta"), [(0.0, 0.05), (0.02, 0.0), (0.02, 0.02)])
@pytest.mark.parametrize("step", ["closed_form", "line_search"])
def test_long_runs_reach_the_optimum_over_all_stumps(loss: str, lam: float, beta: float, step: str) -> None:
    """(0, beta) are L1-AdaBoost and L1 logistic regression; a convex solver says where they must end."""
    for seed in (2, 4):
        X, y = tiny(seed, m=16)
        w = np.random.default_rng(seed).integers(1, 4, 16).astype(float)
        H = dictionary(X, y)
        r = rademacher.stumps(w.sum(), 3)
        best = convex.minimise(losses.LOSSES[loss], H, y, w, np.full(H.shape[1], lam * r + beta))
        assert best.violation < 1e-5
        model = paper(n_rounds=3000, loss=loss, family="stumps", complexity_penalty=lam, l1_penalty=beta, step=step)
        model.fit(X, y, sample_weight=w)
        assert model.history_["objective"][-1] == pytest.approx(best.value, abs=1e-7)
        assert model.history_["objective"][-1] >= best.value - 1e-9


def test_imbalanced_data_reach_the_optimum_too() -> None:
    """No stump beats the constant in round 1, so the constant comes first and stumps refine it."""
    X, y = tiny(0, m=30)
    y = np.where((X[:, 0] >= 4) & (X[:, 1] >= 2), 1, -1)
    y[:1] = 1
    H = dictionary(X, y)
    best = convex.minimise(losses.LOGISTIC, H, y, np.ones(30), np.full(H.shape[1], 0.01))
    model = paper(n_rounds=3000, loss="logistic", family="stumps", l1_penalty=0.01).fit(X, y)
    assert model.history_["objective"][-1] == pytest.approx(best.value, abs=1e-7)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_damped_runs_reach_the_optimum_too(loss: str) -> None:
    X, y = tiny(2, m=16)
    H = dictionary(X, y)
    best = convex.minimise(losses.LOSSES[loss], H, y, np.ones(16), np.full(H.shape[1], 0.05))
    model = paper(n_rounds=4000, loss=loss, family="stumps", l1_penalty=0.05, learning_rate=0.3).fit(X, y)
    assert model.history_["objective"][-1] == pytest.approx(best.value, abs=1e-6)


CASES = [
    {"family": "stumps"},
    {"family": "stumps", "beta": 0.03},
    {"family": "stump_pairs", "lam": 0.004, "beta": 0.001},
    {"family": "trees", "max_depth": 3},
    {"family": "trees", "max_depth": 3, "lam": 0.004},
    {"family": "trees", "max_depth": 4, "lam": 0.002, "beta": 0.01},
    {"family": "trees", "max_depth": 3, "lam": 0.004, "criterion": "gini"},
    {"family": "trees", "max_depth": 3, "lam": 0.002, "learning_rate": 0.3},
    {"family": "trees", "max_depth": 2, "lam": 0.02, "step": "line_search"},
    {"family": "trees", "max_depth": 2, "lam": 0.002, "max_bins": 6},
]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: " ".join(f"{k}={v}" for k, v in c.items()))
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_every_round_is_that_of_the_naive_algorithm(loss: str, case: dict[str, Any], missing: float) -> None:
    """Round by round the same coordinate and step. Real-valued weights keep hypotheses from tying."""
    X, y = smooth(11, m=40, d=3, missing=missing)
    w = np.random.default_rng(5).random(40) + 0.5
    settings = deepboost.Settings(rounds=12, loss=loss, **case)
    naive = deepboost.fit(X, y, settings, w)
    model = paper(
        n_rounds=12,
        loss=loss,
        family=settings.family,
        max_depth=settings.max_depth,
        complexity_penalty=settings.lam,
        l1_penalty=settings.beta,
        learning_rate=settings.learning_rate,
        split_criterion=settings.criterion,
        step=settings.step,
        tree_options=TreeOptions(max_bins=settings.max_bins),
    ).fit(X, y, sample_weight=w)
    assert model.n_iter_ == len(naive.steps)
    np.testing.assert_allclose(model.history_["objective"], naive.objectives, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), naive.scores, atol=1e-6)
    alive = naive.alive()
    assert len(alive) == len(model.ensemble_.weights)
    np.testing.assert_allclose(
        np.sort(np.abs(model.ensemble_.weights)), np.sort([abs(a.alpha) for a in alive]), atol=1e-6
    )
    np.testing.assert_allclose(np.sort(model.ensemble_.complexities), np.sort([a.r for a in alive]), rtol=1e-12)
    assert sorted(h.n_splits for h in model.ensemble_.hypotheses) == sorted(a.tree.n_splits for a in alive)


def test_classes_swapped_mirror_the_model() -> None:
    X, y = smooth(3, m=80)
    model = DeepBoostClassifier.paper(n_rounds=10).fit(X, y)
    mirrored = DeepBoostClassifier.paper(n_rounds=10).fit(X, -y)
    np.testing.assert_array_equal(mirrored.decision_function(X), -model.decision_function(X))
