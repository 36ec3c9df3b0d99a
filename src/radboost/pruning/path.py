"""The L1 path: which hypotheses are worth their price, if the scores of the whole ensemble are to be kept.

With G the second moments of the hypotheses' answers and alpha* the weights of the ensemble, the mean squared distance
between the scores of two vectors of weights is (alpha - alpha*)' G (alpha - alpha*), and the path minimises

    F_c(alpha) = 1/2 (alpha - alpha*)' G (alpha - alpha*) + c sum over j of Lambda_j |alpha_j|

for falling c, each from the minimum of the one before. Hypotheses with Lambda_j = 0 stay. Where one of them is the same
for all rows, its numbers can make up for any difference between means, and G are covariances.
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
from radboost.pruning.columns import Places
from radboost.pruning.outputs import Outputs

# Each price of the path is this part of the one before; it ends where prices are this part of the first.
FALL, LAST = 0.75, 1e-4
# A minimum is known where no condition is violated by more than this part of the largest slope there can be. On the
# path, which only chooses hypotheses, by more than this part of the smallest price.
EXACT, ON_PATH = 1e-9, 0.02
MOST_SWEEPS, MOST_ON_PATH = 10_000, 100
DUST = 1e-13  # part of the largest slope: what rounding leaves of 0
BLOCK_CELLS = 2**22


def answers(hypotheses: Sequence[Any], X: FloatMatrix, outputs: Outputs, n_threads: int) -> FloatArray:
    """A column for each hypothesis, a line for each row, or of several outputs for each row and output."""
    found = np.empty((len(X), outputs.number, len(hypotheses)))
    for place, hypothesis in enumerate(hypotheses):
        numbers = predictions(hypothesis, X, n_threads).reshape(len(X), outputs.number)
        found[:, :, place] = outputs.compared(numbers)
    return found.reshape(len(X) * outputs.number, len(hypotheses))


def moments_of(
    hypotheses: Sequence[Any], X: FloatMatrix, weights: FloatArray, outputs: Outputs, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    """The mean answers, a line for each output, and G: the mean products of two answers, summed over the outputs.

    The weights of the rows sum to 1.
    """
    means = np.zeros((outputs.number, len(hypotheses)))
    moments = np.zeros((len(hypotheses), len(hypotheses)))
    height = max(1, BLOCK_CELLS // (outputs.number * max(1, len(hypotheses))))
    for first in range(0, len(X), height):
        part = slice(first, first + height)
        block = answers(hypotheses, X[part], outputs, n_threads)
        means += np.einsum("i,ijk->jk", weights[part], block.reshape(-1, outputs.number, len(hypotheses)))
        block *= np.sqrt(np.repeat(weights[part], outputs.number))[:, None]
        moments += block.T @ block
    return means, moments


@dataclass(frozen=True)
class Distance:
    """F_c of the module's docstring."""

    moments: FloatArray  # G
    whole: FloatArray  # alpha*
    prices: FloatArray  # Lambda
    signed: bool  # whether weights may be negative

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
        """The smallest c at which every hypothesis with a price has the weight 0."""
        free = self.prices <= 0.0
        start = self.minimise(np.zeros(len(self.whole)), 0.0, np.flatnonzero(free)) if free.any() else 0.0 * self.whole
        slopes = self.slopes(start)[~free]
        pulls = np.abs(slopes) if self.signed else slopes
        return float(np.max(pulls / self.prices[~free], initial=0.0))

    def minimise(
        self,
        start: FloatArray,
        c: float,
        among: Places | None = None,
        tolerance: float = EXACT,
        most_sweeps: int = MOST_SWEEPS,
    ) -> FloatArray:
        """The minimum of F_c, by exact steps along one weight after the other; others than those `among` stay.

        It ends where no condition is violated by more than `tolerance` times the largest slope there can be, or after
        so many sweeps; every step lowers F_c.
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
        """How far each weight is from the condition of the minimum."""
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
            weights = self.minimise(weights, c, None, max(EXACT, ON_PATH * c * cheapest), MOST_ON_PATH)
            yield c, weights

    def supports(self, sizes: Sequence[int]) -> dict[int, Places]:
        """For each size so many hypotheses: those with the largest weights where the path first has as many."""
        wanted, found = sorted(sizes), dict[int, Places]()
        free, weights = self.prices <= 0.0, self.whole
        spreads = np.sqrt(self.moments.diagonal())
        for _, weights in self.path():
            n_used = int(np.count_nonzero((weights != 0.0) | free))
            while wanted and n_used >= wanted[0]:
                size = wanted.pop(0)
                found[size] = _largest(weights, spreads, free, size)
            if not wanted:
                break
        for size in wanted:  # those without a weight at the end of the path say nothing that others do not say
            found[size] = _largest(weights, spreads, free, size)
        return found


def _largest(weights: FloatArray, spreads: FloatArray, free: npt.NDArray[np.bool_], size: int) -> Places:
    sizes = np.where(free, np.inf, np.abs(weights) * spreads)
    places = np.argsort(-sizes, kind="stable")[:size]
    return np.sort(places[sizes[places] > 0.0])
