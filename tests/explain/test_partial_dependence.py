"""scikit-learn's partial dependence works with every estimator: it copies the rows once, and predicts at each value."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence

from properties.hooks import with_sources
from radboost import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    SupervisedKernelProjection,
)
from radboost.baselines import MartiBoostClassifier
from reference.data import smooth, smooth_classes

X, Y = smooth(0, m=100, d=4)
CLASSES = smooth_classes(0, m=100, d=4, n_classes=3)
NUMBERS = X[:, 0] + 0.1 * X[:, 1]
MODELS: list[tuple[Any, np.ndarray, np.ndarray]] = [
    (DeepBoostClassifier(n_rounds=5), X, Y),
    (DeepBoostClassifier(n_rounds=5), *CLASSES),
    (RGBRegressor(n_rounds=5), X, NUMBERS),
    (RGBRegressor(n_rounds=5, loss="poisson"), X, NUMBERS - NUMBERS.min()),
    (SparseBoostClassifier(alpha=0.02), X, Y),
    (SupervisedKernelProjection(n_starts=0), X, Y),
    (MartiBoostClassifier(n_rounds=3, max_leaves=4), X, Y),
    (with_sources(MultiSourceBoostClassifier(n_rounds=4)), X, Y),
]


def answers(model: Any, rows: Any) -> np.ndarray:
    """What is averaged: predictions, or probabilities, with two classes those of the second."""
    if not hasattr(model, "classes_"):
        return model.predict(rows)[:, None]
    found = model.predict_proba(rows)
    return found[:, 1:] if len(model.classes_) == 2 else found


@pytest.mark.parametrize(("model", "rows", "y"), MODELS, ids=lambda value: type(value).__name__)
def test_arrays(model: Any, rows: np.ndarray, y: np.ndarray) -> None:
    model.fit(rows, y)
    found = partial_dependence(model, rows, [0], grid_resolution=6)
    (grid,) = found["grid_values"]
    for place, value in enumerate(grid):
        changed = rows.copy()
        changed[:, 0] = value
        np.testing.assert_allclose(found["average"][:, place], answers(model, changed).mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("dtype", ["category", "object"])
@pytest.mark.parametrize("numbers", [False, True])
def test_frames_with_categories(dtype: str, numbers: bool) -> None:
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    towns = np.array(["Oslo", "Rome", "Bonn"])
    table["town"] = pd.Series(towns[np.arange(100) % 3]).astype(dtype)
    y = NUMBERS + 0.5 * (table["town"] == "Oslo")
    settings: dict[str, Any] = {"n_rounds": 10, "categorical_features": ["town"]}
    model = RGBRegressor(**settings) if numbers else DeepBoostClassifier(**settings)
    model.fit(table, y if numbers else np.where(y > 0.2, "yes", "no"))
    found = partial_dependence(model, table, ["town"], categorical_features=["town"])
    (grid,) = found["grid_values"]
    assert sorted(grid) == sorted(towns)
    for place, town in enumerate(grid):
        changed = table.assign(town=pd.Series([town] * len(table), dtype=table["town"].dtype))
        np.testing.assert_allclose(found["average"][:, place], answers(model, changed).mean(axis=0), atol=1e-12)
    display = PartialDependenceDisplay.from_estimator(
        model, table, ["a", "town", ("a", "b")], categorical_features=["town"], grid_resolution=4
    )
    assert display.axes_.size == 3
    plt.close("all")


def test_missing_values_stay_in_the_other_columns() -> None:
    rows = X.copy()
    rows[::5, 1] = np.nan
    model = DeepBoostClassifier(n_rounds=5).fit(rows, Y)
    found = partial_dependence(model, rows, [0], grid_resolution=4)
    assert np.isfinite(found["average"]).all()
