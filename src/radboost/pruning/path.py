"""L1 path: selection of hypotheses that approximate the scores of the whole ensemble.

G are the second moments of the hypotheses' predictions, alpha* the weights of the ensemble. The mean squared distance
between the scores of two vectors of weights is (alpha - alpha*)' G (alpha - alpha*), and the path minimizes

    F_c(alpha) = 1/2 (alpha - alpha*)' G (alpha - alpha*) + c sum over j of Lambda_j |alpha_j|

for falling c, each from the previous minimum. Hypotheses with Lambda_j = 0 stay. If one of them is constant, it can
compensate any difference between means, and G are covariances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray, FloatMatrix
from radboost.families.kinds import predictions
from radboost.pruning.columns import Indices
from radboost.pruning.outputs import Outputs

FALL, LAST = 0.75, 1e-4  # ratio of successive c on the path, and of the last to the first
EXACT = 1e-9  # tolerance of a minimum, relative to the largest possible slope
ON_PATH = 0.02  # tolerance on the path, which only chooses hypotheses, relative to the smallest price
MOST_SWEEPS, MOST_ON_PATH = 10_000, 100  # passes over the weights: for a minimum, and for each c on the path
DUST = 1e-13  # relative to the largest slope: rounding errors of 0
BLOCK_CELLS = 2**22  # predictions that are computed at a time


def predicted(hypotheses: Sequence[Any], X: FloatMatrix, outputs: Outputs, n_threads: int) -> FloatArray:
    """Predictions in the form of `Outputs`, shape (n_rows * n_outputs, n_hypotheses)."""
    columns = np.empty((len(X), outputs.number, len(hypotheses)))
    for j, hypothesis in enumerate(hypotheses):
        values = predictions(hypothesis, X, n_threads).reshape(len(X), outputs.number)
        columns[:, :, j] = outputs.compared(values)
    return columns.reshape(len(X) * outputs.number, len(hypotheses))


def moments_of(
    hypotheses: Sequence[Any], X: FloatMatrix, weights: FloatArray, outputs: Outputs, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    """Mean predictions, shape (n_outputs, n_hypotheses), and G, the mean products summed over the outputs.

    The weights of the rows sum to 1.
    """
    means = np.zeros((outputs.number, len(hypotheses)))
    moments = np.zeros((len(hypotheses), len(hypotheses)))
    height = max(1, BLOCK_CELLS // (outputs.number * max(1, len(hypotheses))))
    for first in range(0, len(X), height):
        part = slice(first, first + height)
        block = predicted(hypotheses, X[part], outputs, n_threads)
        means += np.einsum("i,ijk->jk", weights[part], block.reshape(-1, outputs.number, len(hypotheses)))
        block *= np.sqrt(np.repeat(weights[part], outputs.number))[:, None]
        moments += block.T @ block
    return means, moments


@dataclass(frozen=True)
class Distance:
    """Function F_c of the module docstring, and its minimum."""

    moments: FloatArray  # G
    whole: FloatArray  # alpha*
    prices: FloatArray  # Lambda
    signed: bool  # True: weights may be negative

    def value(self, weights: FloatArray, c: float) -> float:
        away = weights - self.whole
        return float(0.5 * away @ self.moments @ away + c * self.prices @ np.abs(weights))

    def slopes(self, weights: FloatArray) -> FloatArray:
        """Minus the derivative of the distance by each weight."""
        return np.asarray(self.moments @ (self.whole - weights))

    @cached_property
    def largest_slope(self) -> float:
        return float(np.abs(self.moments @ self.whole).max(initial=0.0))

    @cached_property
    def first_price(self) -> float:
        """Smallest c at which every hypothesis with a price has weight 0."""
        free = self.prices <= 0.0
        start = self.minimize(np.zeros(len(self.whole)), 0.0, np.flatnonzero(free)) if free.any() else 0.0 * self.whole
        slopes = self.slopes(start)[~free]
        pulls = np.abs(slopes) if self.signed else slopes
        return float(np.max(pulls / self.prices[~free], initial=0.0))

    def minimize(
        self,
        start: FloatArray,
        c: float,
        among: Indices | None = None,
        tolerance: float = EXACT,
        most_sweeps: int = MOST_SWEEPS,
    ) -> FloatArray:
        """Minimum of F_c by coordinate descent over the weights `among` (None: all), from `start`.

        Ends when no condition is violated by more than `tolerance` times the largest possible slope, or after
        `most_sweeps` passes; every step lowers F_c.
        """
        weights, slopes = start.copy(), self.slopes(start)
        thresholds, curvatures = c * self.prices, self.moments.diagonal()
        goal, dust = tolerance * self.largest_slope, DUST * self.largest_slope
        may_move = np.zeros(len(start), dtype=bool)
        may_move[slice(None) if among is None else among] = True
        may_move &= curvatures > 0.0
        for _ in range(most_sweeps):
            violated = np.where(may_move, self._violations(weights, slopes, thresholds), 0.0)
            if violated.max(initial=0.0) <= goal:
                break
            for j in np.flatnonzero(may_move & ((weights != 0.0) | (violated > goal))).tolist():
                pull = weights[j] * curvatures[j] + slopes[j]
                excess = (abs(pull) if self.signed else pull) - thresholds[j]
                size = excess / curvatures[j] if excess > dust else 0.0
                move = (size if pull > 0.0 else -size) - weights[j]
                if move != 0.0:
                    weights[j] += move
                    slopes -= move * self.moments[j]
        return weights

    def _violations(self, weights: FloatArray, slopes: FloatArray, thresholds: FloatArray) -> FloatArray:
        """Violation of the optimality condition by each weight."""
        used = np.abs(slopes - np.sign(weights) * thresholds)
        unused = np.maximum((np.abs(slopes) if self.signed else slopes) - thresholds, 0.0)
        return np.where(weights != 0.0, used, unused)

    def path(self) -> Iterator[tuple[float, FloatArray]]:
        """c and the minimum of F_c, for falling c."""
        first = self.first_price
        c, weights = first, np.zeros(len(self.whole))
        cheapest = float(self.prices[self.prices > 0.0].min(initial=np.inf)) / max(self.largest_slope, 1e-300)
        while c > LAST * first:
            c *= FALL
            weights = self.minimize(weights, c, None, max(EXACT, ON_PATH * c * cheapest), MOST_ON_PATH)
            yield c, weights

    def supports(self, sizes: Sequence[int]) -> dict[int, Indices]:
        """Indices of hypotheses by size: the largest weights at the first point of the path with that many."""
        wanted, supports = sorted(sizes), dict[int, Indices]()
        free, weights = self.prices <= 0.0, self.whole
        spreads = np.sqrt(self.moments.diagonal())
        for _, weights in self.path():
            n_used = int(np.count_nonzero((weights != 0.0) | free))
            while wanted and n_used >= wanted[0]:
                size = wanted.pop(0)
                supports[size] = _largest(weights, spreads, free, size)
            if not wanted:
                break
        for size in wanted:  # hypotheses without a weight at the end of the path are linear combinations of others
            supports[size] = _largest(weights, spreads, free, size)
        return supports


def _largest(weights: FloatArray, spreads: FloatArray, free: npt.NDArray[np.bool_], size: int) -> Indices:
    sizes = np.where(free, np.inf, np.abs(weights) * spreads)
    indices = np.argsort(-sizes, kind="stable")[:size]
    return np.sort(indices[sizes[indices] > 0.0])
