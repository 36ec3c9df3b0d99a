"""DeepBoost's objective never rises, for any number of classes, and what the history says is what the model is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boosting_cases import SmoothHinge
from multiclass_tools import PAIRS, first_objective, objective_of
from radboost import DeepBoostClassifier, TreeOptions
from reference import losses
from reference.data import smooth, smooth_classes, tiny, tiny_classes
from reference.deepboost import Settings

OWN = {"smooth_hinge": SmoothHinge()}
ALL_PAIRS = [*PAIRS, ("sum", "smooth_hinge"), ("maxsum", "smooth_hinge"), ("max", "smooth_hinge")]
TWO_CLASSES = [("sum", "exponential"), ("sum", "logistic")]  # whose objective is equation (4), whatever it is called
FAMILIES: list[Any] = ["stumps", "stump_pairs", "trees", "kernel", ["trees", "kernel"], ["stumps", "stump_pairs"]]
EVERY_PAIR = pytest.mark.parametrize(
    ("pair", "n_classes"),
    [*((pair, 2) for pair in TWO_CLASSES), *((pair, 4) for pair in PAIRS)],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)


def rows(seed: int, n_classes: int, tied: bool = False, **shape: Any) -> tuple[np.ndarray, np.ndarray]:
    if n_classes == 2:
        return (tiny if tied else smooth)(seed, **shape)
    return (tiny_classes if tied else smooth_classes)(seed, n_classes=n_classes, **shape)


def objective(model: DeepBoostClassifier, asked: Settings, X: Any, y: np.ndarray, w: np.ndarray) -> float:
    """Equation (4) of Deep Boosting, or (6) to (9) of Multi-Class Deep Boosting, from a model's public attributes."""
    if len(model.classes_) > 2:
        return objective_of(model, asked, X, y, w)
    margins = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X)
    price = asked.lam * model.ensemble_.complexities + asked.beta
    mean = np.sum(w * losses.LOSSES[asked.loss].value(1 - margins)) / w.sum()
    return float(mean + np.sum(price * np.abs(model.ensemble_.weights)))


def check_descent(
    model: DeepBoostClassifier, asked: Settings, X: Any, y: np.ndarray, w: np.ndarray | None = None
) -> None:
    history, several = model.history_, len(model.classes_) > 2
    assert len({len(column) for column in history.values()}) == 1
    begin = (
        first_objective(asked, len(model.classes_))
        if several
        else float(losses.LOSSES[asked.loss].value(np.array(1.0)))
    )
    path = np.array([begin, *history["objective"]])
    rises = np.diff(path)
    # Of several classes a kernel's share in the scores is rounded to a multiple of 2^-20, which may cost up to that
    # times S / m <= F(0).
    exact = not several or all(hasattr(h, "feature") for h in model.ensemble_.entered)
    rounding = 1e-14 if exact else 2.0**-20
    if several and asked.objective == "max":
        # Where every direction is stuck it may be perturbed, and then rise by a little before it falls again.
        assert path[-1] <= begin * (1 + rounding)
        assert np.all(rises <= 1e-2 * begin)
    else:
        assert np.all(rises <= rounding * begin), (rises.max(), path)
    w = np.ones(len(y)) if w is None else w
    if history["objective"]:
        found = objective(model, asked, X, y, w)
        assert history["objective"][-1] == pytest.approx(found, rel=1e-10 if exact else 1e-4)
        assert history["n_hypotheses"][-1] == len(model.ensemble_.weights)


@settings(max_examples=2 * settings.default.max_examples)  # type: ignore[union-attr]
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(4, 40),
    d=st.integers(1, 4),
    n_classes=st.sampled_from([2, 2, 2, 3, 4, 6]),
    missing=st.sampled_from([0.0, 0.0, 0.3]),
    pair=st.sampled_from(ALL_PAIRS),
    family=st.sampled_from(FAMILIES),
    criterion=st.sampled_from(["edge", "gini"]),
    thresholds=st.sampled_from(["best", "random"]),
    subsample=st.sampled_from([0.5, 1.0]),
    rate=st.sampled_from([0.1, 0.7, 1.0]),
    step=st.sampled_from(["closed_form", "line_search"]),
    growth=st.sampled_from(["layers", "best_first"]),
    penalties=st.sampled_from([(0.0, 0.0), (0.05, 0.0), (0.0, 0.05), (0.01, 0.01), (1e-5, 0.0)]),
    weighted=st.booleans(),
)
def test_objective_never_rises(
    seed: int,
    m: int,
    d: int,
    n_classes: int,
    missing: float,
    pair: tuple[str, str],
    family: Any,
    criterion: str,
    thresholds: str,
    subsample: float,
    rate: float,
    step: str,
    growth: str,
    penalties: tuple[float, float],
    weighted: bool,
) -> None:
    missing = 0.0 if "kernel" in family else missing
    d = max(d, 2) if "stump_pairs" in family else d
    step = "line_search" if pair[1] == "smooth_hinge" else step
    m -= 2 * (n_classes == 2)  # two rows will do there
    X, y = rows(seed, min(n_classes, m), tied=bool(seed % 2), m=m, d=d, missing=missing)
    unit = 0.5 if seed % 3 == 0 else 1.0
    w = np.random.default_rng(seed).integers(1, 4, m).astype(float) * unit if weighted else None
    model = DeepBoostClassifier(
        12,
        objective=pair[0],
        loss=OWN.get(pair[1], pair[1]),
        family=family,
        max_depth=3,
        complexity_penalty=penalties[0],
        l1_penalty=penalties[1],
        learning_rate=rate,
        subsample=subsample,
        step=step,
        random_state=seed % 7,
        tree_options=TreeOptions(growth=growth, thresholds=thresholds, split_criterion=criterion),
    ).fit(X, y, sample_weight=w)
    check_descent(model, Settings(objective=pair[0], loss=pair[1], lam=penalties[0], beta=penalties[1]), X, y, w)


@EVERY_PAIR
@pytest.mark.parametrize("step", ["closed_form", "line_search"])
def test_separable_data_without_penalty_stay_finite(pair: tuple[str, str], n_classes: int, step: str) -> None:
    X = np.arange(24.0)[:, None]
    y = np.repeat(np.arange(n_classes), 24 // n_classes)
    criterion = "gini" if n_classes > 2 else "edge"
    model = DeepBoostClassifier.paper(
        60,
        objective=pair[0],
        loss=pair[1],
        step=step,
        complexity_penalty=0.0,
        l1_penalty=0.0,
        tree_options=TreeOptions(split_criterion=criterion),
    ).fit(X, y)
    check_descent(model, Settings(objective=pair[0], loss=pair[1]), X, y)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("pair", "n_classes", "heavy"),
    [
        pytest.param(pair, n_classes, heavy, marks=pytest.mark.slow if (place + turn) % len(weights) else ())
        for pairs, n_classes, weights in (
            (TWO_CLASSES, 2, (1e6, 1e9)),
            ([pair for pair in PAIRS if pair[0] != "max"], 4, (1e6, 1e9, 1e12)),
        )
        for place, pair in enumerate(pairs)
        for turn, heavy in enumerate(weights)
    ],
    ids=str,
)
def test_rows_of_very_different_weight(pair: tuple[str, str], n_classes: int, heavy: float) -> None:
    """Heavy rows that are right by a wide margin still count together, however small they are per unit of weight."""
    X, y = rows(1, n_classes, m=200, noise=0.2)
    w = np.where(np.random.default_rng(0).random(200) < 0.5, 1.0, heavy)
    model = DeepBoostClassifier(
        100, objective=pair[0], loss=pair[1], learning_rate=1.0, complexity_penalty=0.0, max_depth=4
    ).fit(X, y, sample_weight=w)
    check_descent(model, Settings(objective=pair[0], loss=pair[1]), X, y, w)
