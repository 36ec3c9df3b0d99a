"""The risk of a soft-max rule on rows that it does not learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from radboost._native import MarginState
from radboost._typing import ClassIds, FloatArray, FloatMatrix
from radboost.boosting import Step, Trace
from radboost.estimators._costs import Costs
from radboost.trees.tree import Tree, forest_of


class RiskWatch:
    """Follows a fit step by step and says when the risk, equation (4), no longer falls."""

    def __init__(
        self,
        X: FloatMatrix,
        class_ids: ClassIds,
        costs: Costs,
        weights: FloatArray | None,
        patience: int,
        n_classes: int,
        n_threads: int,
    ) -> None:
        self._X = X
        self._class_ids = class_ids
        self._costs = costs.of_rows(class_ids).astype(np.float64)
        # Sums through a native state are the same for every order of the rows.
        self._sums = MarginState(np.ones(len(class_ids), dtype=np.int8), np.zeros(0) if weights is None else weights)
        self._patience = patience
        self._n_threads = n_threads
        self._scores = np.zeros((len(class_ids), n_classes if n_classes > 2 else 1))
        self._lowest = np.inf
        self.best_round = 0  # rounds to keep

    def follow(self, trace: Trace, steps: Sequence[Step]) -> str | None:
        """Records the round and says when to stop."""
        if steps:
            trees = [trace.hypotheses[step.hypothesis] for step in steps]
            forest = forest_of([tree for tree in trees if isinstance(tree, Tree)])
            weights = np.array([step.eta for step in steps])
            self._scores += forest.scores(self._X, weights, self._n_threads).reshape(self._scores.shape)
        scores = self._scores
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        risk = self._mean((softmax(scores, axis=1) * self._costs).sum(axis=1))
        trace.history["validation_risk"].append(risk)
        trace.history["validation_error"].append(self._mean(scores.argmax(axis=1) != self._class_ids))
        n_rounds = len(trace.history["validation_risk"])
        if risk < self._lowest:
            self._lowest, self.best_round = risk, n_rounds
        if n_rounds - self.best_round >= self._patience:
            return f"early stopping: no lower validation risk for {self._patience} rounds"
        return None

    def _mean(self, values: npt.NDArray[np.generic]) -> float:
        total = self._sums.weighted_sum(np.ascontiguousarray(values, dtype=np.float64), self._n_threads)
        return total / self._sums.total_weight
