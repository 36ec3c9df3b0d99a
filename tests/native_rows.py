"""Row weights, scores and one weighting of them, put together as a fit does."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost import _native


class Rows:
    """What the parts can do, in one place; `weighting` is what growers take."""

    weights: Any
    scores: Any
    weighting: Any

    def reweigh(self, n_threads: int) -> Any:
        return self.scores.reweigh([self.weighting], n_threads)

    def reweigh_from(self, values: np.ndarray, derivatives: np.ndarray, n_threads: int) -> Any:
        return self.scores.reweigh_from(values, derivatives, [self.weighting], n_threads)

    def __getattr__(self, name: str) -> Any:
        for part in ("weighting", "scores", "weights"):
            if hasattr(self.__dict__[part], name):
                return getattr(self.__dict__[part], name)
        raise AttributeError(name)


def row_weights(
    n_rows: int, weights: np.ndarray | None = None, *, folds_large: bool = False, collective: Any = None
) -> Any:
    given = None if weights is None or len(weights) == 0 else np.asarray(weights, dtype=float)
    return _native.RowWeights(n_rows, given, folds_large=folds_large, collective=collective)


class MarginRows(Rows):
    """Two classes. `labels` are -1 and +1."""

    def __init__(
        self, labels: np.ndarray, weights: np.ndarray | None = None, loss: str = "", collective: Any = None
    ) -> None:
        self.weights = row_weights(len(labels), weights, collective=collective)
        self.scores = _native.MarginScores(loss, (np.asarray(labels) == 1).astype(np.uint16), self.weights)
        self.weighting = _native.MarginWeighting(self.scores)


class ClassRows(Rows):
    """Several classes, sorted."""

    def __init__(
        self,
        objective: str,
        loss: str,
        classes: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None = None,
        collective: Any = None,
    ) -> None:
        self.weights = row_weights(len(classes), weights, folds_large=True, collective=collective)
        self.scores = _native.ClassScores(objective, loss, classes, n_classes, self.weights)
        self.weighting = _native.ClassWeighting(self.scores)


class GradientRows(Rows):
    """Targets of gradient boosting."""

    def __init__(
        self,
        loss: str,
        parameter: float,
        n_outputs: int,
        targets: np.ndarray,
        weights: np.ndarray | None = None,
        collective: Any = None,
    ) -> None:
        self.n_rows = len(targets)
        self.weights = row_weights(len(targets), weights, folds_large=True, collective=collective)
        self.scores = _native.GradientScores(loss, parameter, n_outputs, targets.reshape(-1), self.weights)
        self.weighting = _native.GradientWeighting(self.scores)

    def set(self, scores: np.ndarray, n_threads: int) -> None:
        self.scores.set(scores, self.weighting, n_threads)

    def step(self, grower: Any, cut: Any, step: float, n_threads: int) -> None:
        self.scores.step(grower, cut, step, self.weighting, n_threads)

    def mean(self, values: np.ndarray, n_threads: int) -> float:
        return self.scores.mean(values, n_threads)


class SoftmaxRows(Rows):
    """Rows of soft-max boosting with their pairs."""

    def __init__(
        self,
        data: Any,
        classes: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None,
        costs: np.ndarray,
        *,
        costs_per_row: bool,
        seed: int,
        n_threads: int,
        collective: Any = None,
    ) -> None:
        self.weights = row_weights(len(classes), weights, collective=collective)
        self.scores = _native.SoftmaxScores(
            classes, n_classes, costs, costs_per_row=costs_per_row, weights=self.weights
        )
        self.weighting = _native.SoftmaxPairs(self.scores, data, seed=seed, n_threads=n_threads)
