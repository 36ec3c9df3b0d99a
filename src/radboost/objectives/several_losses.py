"""Soft maximum of several mean losses, as a loss for gradient boosting (AgnosticBoost). Storcheus (2021), chapter 5.

G = log(sum of exp(mu v)) / mu over the vertices v of the mixtures of L_1, ..., L_p. It exceeds the agnostic loss by at
most log(number of vertices) / mu. Its gradient is the gradient of sum of lambda_k L_k, lambda the soft-max of mu v.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import CutTree, GradientScores, RegressionTrees
from radboost.losses.model_evaluation import EvaluationLoss, make_evaluation_losses
from radboost.objectives.over_sources import SoftmaxOfSources
from radboost.objectives.targets import LossRows
from radboost.rows.weights import RowWeights


@dataclass(frozen=True)
class SeveralLosses:
    """Several evaluation losses as one target loss: `value` and `derivative` are of their uniform mixture."""

    losses: list[tuple[str, Any]]  # names and losses
    n_classes: int
    vertices: FloatArray | None  # of the mixtures, shape (n_vertices, n_losses); None: all mixtures
    mu: float
    # A line search is unbounded on rows that a tree separates. This is the step of the logistic loss, whose second
    # derivative is at most 1/4, by Storcheus (2021), equation (3.9).
    longest_step: float = 4.0
    smooth: bool = False  # a hinge has a kink

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.losses]

    def of(self, targets: FloatArray) -> list[EvaluationLoss]:
        """Losses of rows with these targets: -1 and +1 for two classes, otherwise class indices."""
        ids = (targets > 0) if self.n_classes == 2 else targets
        return make_evaluation_losses(self.losses, np.asarray(ids).astype(np.uint16), self.n_classes)

    def by_output(self, scores: FloatArray) -> FloatArray:
        """Scores with shape (n_outputs, n_rows)."""
        return scores[None] if scores.ndim == 1 else np.ascontiguousarray(scores.T)

    def values(self, losses: Sequence[EvaluationLoss], scores: FloatArray) -> FloatArray:
        """Losses of each row in units of their Lipschitz constants, shape (n_rows, n_losses)."""
        by_output = self.by_output(scores)
        return np.column_stack([loss.value(by_output) / loss.lipschitz_of_value for loss in losses])

    def mixed(self, losses: Sequence[EvaluationLoss], scores: FloatArray, mixture: FloatArray) -> FloatArray:
        """Derivative of a mixture of the losses by each score, in the shape of the scores."""
        by_output = self.by_output(scores)
        total = np.zeros_like(by_output)
        for loss, weight in zip(losses, mixture.tolist(), strict=True):
            if weight > 0.0:
                total += weight / loss.lipschitz_of_value * loss.gradient(by_output)
        return np.ascontiguousarray(total[0] if scores.ndim == 1 else total.T)

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self.values(self.of(targets), scores).mean(axis=1))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        p = len(self.losses)
        return self.mixed(self.of(targets), scores, np.full(p, 1.0 / p))


class SeveralLossRows(LossRows):
    """Training rows under the soft maximum of several losses."""

    def __init__(
        self, scores: GradientScores, weights: RowWeights, loss: SeveralLosses, targets: FloatArray, n_threads: int
    ) -> None:
        super().__init__(scores, weights, loss, n_threads)
        self.several, self.targets = loss, targets
        self.over = SoftmaxOfSources(loss.vertices, loss.mu)
        self._losses = loss.of(targets)
        self._n_outputs = scores.n_outputs
        self.means = np.zeros(len(loss.losses))
        self.mixture = np.zeros(len(loss.losses))

    def _shaped(self, flat: Any) -> FloatArray:
        array = np.asarray(flat, dtype=np.float64)
        return array.reshape(-1) if self._n_outputs == 1 else array.reshape(-1, self._n_outputs)

    def _means(self, scores: FloatArray) -> FloatArray:
        columns = self.several.values(self._losses, scores).T
        return np.array([self.mean(np.ascontiguousarray(column)) for column in columns])

    @property
    def mean_loss(self) -> float:
        return self.over.value(self.means)

    @property
    def error(self) -> float:
        scores = self._scores
        if self._n_outputs == 1:
            return self.mean((self.targets * scores <= 0).astype(np.float64))
        return self.mean((scores.argmax(axis=1) != self.targets).astype(np.float64))

    def set_scores(self, scores: FloatArray) -> None:
        self._scores = self._shaped(np.array(scores, dtype=np.float64))
        self.scores.set(self._scores.reshape(-1), self.weighting, self.n_threads)
        self.means = self._means(self._scores)
        self.mixture = self.over.weights(self.means)
        gradient = self.several.mixed(self._losses, self._scores, self.mixture)
        self.weighting.take(np.ascontiguousarray(gradient).reshape(-1), self.n_threads)

    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        direction = self._shaped(grower.answers(cut))
        scores = self._scores + step * direction
        means = self._means(scores)
        products = self.several.mixed(self._losses, scores, self.over.weights(means)) * direction
        slope = self.mean(np.ascontiguousarray(products if products.ndim == 1 else products.sum(axis=1)))
        return self.over.value(means), slope

    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None:
        self.set_scores(self._scores + step * self._shaped(grower.answers(cut)))

    def lower_bound(self, weights: FloatArray, predictions: Iterable[FloatArray]) -> float:
        # The tangent at these scores, of the convex losses; the others count as their least values.
        convex = np.array([loss.convex for loss in self._losses])
        least = np.array([loss.least / loss.lipschitz_of_value for loss in self._losses])
        slopes = self.several.mixed(self._losses, self._scores, self.mixture * convex)
        products = (slopes * self._shaped(values) for values in predictions)
        edges = np.array([self.mean(p if p.ndim == 1 else p.sum(axis=1)) for p in products])
        fall = float(weights @ edges + np.abs(weights).sum() * np.abs(edges).max(initial=0.0))
        tangent = self.mean_loss - float((self.mixture * (self.means - least))[~convex].sum()) - fall
        return max(tangent, self.over.value(least)) if np.isfinite(least).all() else tangent

    def history_entry(self) -> dict[str, float]:
        names = self.several.names
        result = {f"loss[{name}]": float(value) for name, value in zip(names, self.means, strict=True)}
        return result | {f"mixture[{name}]": float(weight) for name, weight in zip(names, self.mixture, strict=True)}
