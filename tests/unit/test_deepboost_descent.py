"""The objective (4) never rises, and what the history says is what the model is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost import DeepBoostClassifier, TreeOptions
from reference import losses
from reference.data import smooth, tiny


class SmoothHinge:
    """A user's own loss: Phi(u) = u + sqrt(1 + u^2)."""

    def value(self, u: np.ndarray) -> np.ndarray:
        return u + np.sqrt(1 + u * u)

    def derivative(self, u: np.ndarray) -> np.ndarray:
        return 1 + u / np.sqrt(1 + u * u)


LOSSES: dict[str, Any] = {"exponential": "exponential", "logistic": "logistic", "smooth_hinge": SmoothHinge()}
FAMILIES: list[Any] = [
    "stumps",
    "stump_pairs",
    "trees",
    "kernel",
    ["trees", "kernel"],
    ["stumps", "stump_pairs"],
]


def objective_of(model: DeepBoostClassifier, name: str, X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """Equation (4) again, from the public attributes of a fitted model."""
    margins = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X)
    ensemble = model.ensemble_
    price = (
        0.03 if model.complexity_penalty == "auto" else model.complexity_penalty
    ) * ensemble.complexities + model.l1_penalty
    return float(
        np.sum(w * losses.LOSSES[name].value(1 - margins)) / w.sum() + np.sum(price * np.abs(ensemble.weights))
    )


def check_descent(model: DeepBoostClassifier, name: str, X: Any, y: np.ndarray, w: np.ndarray | None = None) -> None:
    history = model.history_
    assert len({len(column) for column in history.values()}) == 1
    start = float(losses.LOSSES[name].value(np.array(1.0)))
    path = [start, *history["objective"]]
    rises = np.diff(path)
    assert np.all(rises <= 1e-14 * start), (rises.max(), path)
    w = np.ones(len(y)) if w is None else w
    if history["objective"]:
        assert history["objective"][-1] == pytest.approx(objective_of(model, name, X, y, w), rel=1e-10)
        assert history["n_hypotheses"][-1] == len(model.ensemble_.weights)


@given(
    seed=st.integers(0, 10**6),
    m=st.integers(2, 40),
    d=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.0, 0.3]),
    loss=st.sampled_from(sorted(LOSSES)),
    family=st.sampled_from(FAMILIES),
    criterion=st.sampled_from(["edge", "gini"]),
    thresholds=st.sampled_from(["best", "random"]),
    subsample=st.sampled_from([0.5, 1.0]),
    rate=st.sampled_from([0.1, 0.7, 1.0]),
    step=st.sampled_from(["closed_form", "line_search"]),
    penalties=st.sampled_from([(0.0, 0.0), (0.05, 0.0), (0.0, 0.05), (0.01, 0.01), (1e-5, 0.0)]),
    weighted=st.booleans(),
)
def test_objective_never_rises(
    seed: int,
    m: int,
    d: int,
    missing: float,
    loss: str,
    family: Any,
    criterion: str,
    thresholds: str,
    subsample: float,
    rate: float,
    step: str,
    penalties: tuple[float, float],
    weighted: bool,
) -> None:
    if "kernel" in family or family == "kernel":
        missing = 0.0
    if "stump_pairs" in family:
        d = max(d, 2)
    if loss == "smooth_hinge":
        step = "line_search"
    X, y = tiny(seed, m=m, d=d, missing=missing) if seed % 2 else smooth(seed, m=m, d=d, missing=missing)
    w = (
        np.random.default_rng(seed).integers(1, 4, m).astype(float) * (0.5 if seed % 3 == 0 else 1.0)
        if weighted
        else None
    )
    model = DeepBoostClassifier(
        12,
        loss=LOSSES[loss],
        family=family,
        max_depth=3,
        complexity_penalty=penalties[0],
        l1_penalty=penalties[1],
        learning_rate=rate,
        subsample=subsample,
        thresholds=thresholds,
        split_criterion=criterion,
        step=step,
        random_state=seed % 7,
    ).fit(X, y, sample_weight=w)
    check_descent(model, loss, X, y, w)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("growth", ["layers", "best_first"])
def test_long_fits_never_rise(loss: str, growth: str) -> None:
    X, y = smooth(5, m=150, noise=0.15)
    options = TreeOptions(growth=growth, max_leaves=8 if growth == "best_first" else None)
    for rate in (0.1, 1.0):
        model = DeepBoostClassifier(150, loss=loss, learning_rate=rate, complexity_penalty=0.01, tree_options=options)
        check_descent(model.fit(X, y), loss, X, y)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_separable_data_without_penalty_stays_finite(loss: str) -> None:
    X = np.arange(20.0)[:, None]
    y = np.where(X[:, 0] > 9, 1, -1)
    for step in ("closed_form", "line_search"):
        model = DeepBoostClassifier.paper(n_rounds=50, loss=loss, step=step).fit(X, y)
        check_descent(model, loss, X, y)
        assert np.all(np.isfinite(model.decision_function(X)))
        assert np.all(np.isfinite(model.predict_proba(X)))
        assert model.score(X, y) == 1.0


def test_history_holds_the_training_error() -> None:
    X, y = smooth(6, m=80)
    model = DeepBoostClassifier(15, complexity_penalty=0.001).fit(X, y)
    for scores, error in zip(model.staged_decision_function(X), model.history_["train_error"], strict=True):
        assert error == pytest.approx(np.mean(y * scores <= 0), abs=1e-12)
    assert model.history_["train_error"][-1] == pytest.approx(1 - model.score(X, y), abs=1e-12)


def test_staged_scores_end_at_the_scores() -> None:
    X, y = smooth(7, m=80, missing=0.1)
    for model in (DeepBoostClassifier(20), DeepBoostClassifier.paper(n_rounds=20, complexity_penalty=0.02)):
        staged = list(model.fit(X, y).staged_decision_function(X))
        assert len(staged) == model.n_iter_ == len(model.history_["objective"])
        np.testing.assert_array_equal(staged[-1], model.decision_function(X))


def test_scores_are_the_weighted_sum_of_hypotheses() -> None:
    X, y = smooth(8, m=80)
    model = DeepBoostClassifier(25, complexity_penalty=0.03, l1_penalty=0.001).fit(X, y)
    total = np.zeros(len(y))
    for weight, tree in zip(model.ensemble_.weights, model.ensemble_.hypotheses, strict=True):
        i = np.zeros(len(y), dtype=int)
        while np.any(tree.feature[i] >= 0):
            inner = tree.feature[i] >= 0
            x = X[np.arange(len(y)), np.maximum(tree.feature[i], 0)]
            i = np.where(inner, tree.left[i] + (x > tree.threshold[i]), i)
        total += weight * tree.value[i]
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-12)
    assert np.all(model.ensemble_.weights != 0)
