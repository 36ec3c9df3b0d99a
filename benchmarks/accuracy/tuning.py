"""The same tuning for everybody: a grid of twelve around the library's defaults, three folds of the training part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import cut

BUDGET = 12
FOLDS_INSIDE = 3


class Tuned:
    """Chooses from a grid by the mean error over the folds (the first of equals), then fits all rows with it.

    The folds depend on the seed and the number of rows alone, so every library sees the same.
    """

    def __init__(self, make: Callable[..., Any], grid: Sequence[Mapping[str, Any]], seed: int) -> None:
        self._make, self._grid, self._seed = make, grid, seed

    def fit(self, X: NDArray[Any], y: NDArray[np.int64]) -> Self:
        """Choose, then fit; labels are 0, 1, ... without gaps."""
        order = np.random.default_rng(self._seed).permutation(len(y))
        folds = [cut(X, y, np.setdiff1d(order, fold), fold) for fold in np.array_split(order, FOLDS_INSIDE)]
        errors = []
        for choice in self._grid:
            fits = ((self._make(**choice).fit(fold.X_train, fold.y_train), fold) for fold in folds)
            wrong = [np.asarray(model.predict(fold.X_test)).ravel() != fold.y_test for model, fold in fits]
            errors.append(np.mean(np.concatenate(wrong)))
        self.chosen = self._grid[int(np.argmin(errors))]
        self._model = self._make(**self.chosen).fit(X, y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The labels that the chosen one predicts."""
        labels: NDArray[Any] = np.asarray(self._model.predict(X))
        return labels

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Its probabilities."""
        probabilities: NDArray[Any] = np.asarray(self._model.predict_proba(X))
        return probabilities

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self._model.classes_)


def _grid(*options: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Every combination of one entry of each option."""

    def combinations() -> Iterator[dict[str, Any]]:
        for entries in product(*options):
            yield {name: value for entry in entries for name, value in entry.items()}

    return tuple(combinations())


def _each(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


#: The usual knobs: speed, size of the trees, and what holds them back. Each grid holds the library's defaults.
GRIDS: dict[str, tuple[dict[str, Any], ...]] = {
    "DeepBoost": _grid(
        _each("complexity_penalty", "auto", 0.003, 0.03),
        _each("max_depth", "auto", 12),
        [{}, {"thresholds": "best", "subsample": 0.5}],
    ),
    "RandomForest": _grid(
        _each("n_estimators", 100, 300),
        _each("max_features", "sqrt", 0.33),
        _each("min_samples_leaf", 1, 3, 10),
    ),
    "HistGradientBoosting": _grid(
        [{"learning_rate": 0.1, "max_iter": 100}, {"learning_rate": 0.05, "max_iter": 200}],
        _each("max_leaf_nodes", 8, 31),
        [{}, {"max_features": 0.5}, {"max_features": 0.5, "l2_regularization": 10.0}],
    ),
    "LightGBM": _grid(
        [{"learning_rate": 0.1, "n_estimators": 100}, {"learning_rate": 0.05, "n_estimators": 200}],
        _each("num_leaves", 8, 31),
        [{}, {"colsample_bytree": 0.5}, {"colsample_bytree": 0.5, "reg_lambda": 10.0}],
    ),
    "XGBoost": _grid(
        [{"learning_rate": 0.3, "n_estimators": 100}, {"learning_rate": 0.1, "n_estimators": 200}],
        _each("max_depth", 3, 6),
        [{}, {"colsample_bynode": 0.5}, {"colsample_bynode": 0.5, "reg_lambda": 10.0}],
    ),
    "CatBoost": _grid(
        [{}, {"learning_rate": 0.1, "iterations": 300}],
        _each("depth", 4, 6),
        _each("l2_leaf_reg", 1.0, 3.0, 10.0),
    ),
}
