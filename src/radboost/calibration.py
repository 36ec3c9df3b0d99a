"""Calibration of scores: a few numbers, learned on rows that the scores were not learned from.

Penalties and damping shrink the scores of boosting; soft-max boosting stretches them. The scores of several classes
are fractions of votes as much as they are logarithms. Wrong labels put a floor under every probability. The numbers
make up for that, and none of them changes which class is the most probable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.optimize import minimize_scalar

from radboost._typing import ClassIds, FloatArray

# Of temperatures; temperature and power are accurate to the tolerance.
LOG_TEMPERATURES, MOST_POWER, TOLERANCE = (-4.0, 4.0), 8.0, 0.01
# Bounds, start and tolerance of the search for the doubt, and most of Newton's steps.
MOST_DOUBT, FIRST_DOUBT, DOUBT_TOLERANCE, MOST_NEWTON_STEPS = 0.98, 0.05, 1e-4, 40
MEAN_POWER = 2.0  # of its prior
GROUND = 0.01  # of the usual distance between the highest and the lowest score of a row
SMALLEST = 1e-12  # probability: a row that was thought impossible does not decide alone

Probabilities = Callable[[FloatArray], FloatArray]  # of scores, a row for each of them
Found = TypeVar("Found", bound=tuple[float, *tuple[Any, ...]])


@dataclass(frozen=True)
class Calibration:
    """Map from scores to probabilities: (1 - doubt) p_k + doubt / K.

    p_k are the probabilities of score / temperature, times (ground + score - lowest score of the row)^power, divided by
    their sum. Temperatures below 1 make a model surer, above 1 less sure. The doubt is the fraction of labels that say
    nothing. The power, which is 0 with two classes, says how much the votes for a class count; the ground
    is what a class has without any.
    """

    temperature: float = 1.0
    doubt: float = 0.0
    power: float = 0.0
    ground: float = 1.0

    def apply(self, probabilities: Probabilities, scores: FloatArray) -> FloatArray:
        """`probabilities` are those without a calibration."""
        result = probabilities(scores / self.temperature)
        if self.power:
            result = result * np.exp(self.power * _log_votes(scores, self.ground))
            result /= result.sum(axis=1, keepdims=True)
        if not self.doubt:
            return result
        return np.asarray((1.0 - self.doubt) * result + self.doubt / result.shape[1])


def _log_votes(scores: FloatArray, ground: float) -> FloatArray:
    """The logarithm of ground + score - lowest score, less that of the highest score."""
    logs = np.log1p((scores - scores.min(axis=1, keepdims=True)) / ground)
    return np.asarray(logs - logs.max(axis=1, keepdims=True))


class Weights(Protocol):
    """Weights of rows, with sums that do not depend on their order."""

    def sum(self, values: FloatArray, n_threads: int = 1) -> float: ...


@dataclass(frozen=True)
class CalibrationRows:
    """Rows and their scores, of a model that did not learn from them."""

    weights: Weights
    class_ids: ClassIds
    scores: FloatArray


def fit_calibration(probabilities: Probabilities, parts: Sequence[CalibrationRows], n_threads: int) -> Calibration:
    """The calibration with the least log loss on rows, in one or several parts.

    A handful of rows says little, so that all three parameters have priors. That of the logarithm of the temperature is
    normal with standard deviation 1, that of the power exponential, and that of the doubt falls to 0 at 1. Sums are
    exact, so that the order of the rows does not matter.
    """
    rows = _Rows(parts, n_threads)
    ground = rows.ground() if rows.scores.ndim == 2 else None
    votes = None if ground is None else _log_votes(rows.scores, ground)

    def best(log_temperature: float) -> tuple[float, float, float]:
        """The least loss with this temperature, and the power and the doubt that have it."""
        plain = probabilities(rows.scores * math.exp(-log_temperature))
        prior = 0.5 * log_temperature**2
        if votes is None:
            loss, doubt = rows.best_doubt(plain)
            return loss + prior, 0.0, doubt

        def at_power(power: float) -> tuple[float, float]:
            weighted = plain * np.exp(power * votes)
            weighted /= weighted.sum(axis=1, keepdims=True)
            loss, doubt = rows.best_doubt(weighted)
            return loss + prior + power / MEAN_POWER, doubt

        power, (loss, doubt) = _least(at_power, (0.0, MOST_POWER))
        at_zero = at_power(0.0)
        return (loss, power, doubt) if loss < at_zero[0] else (at_zero[0], 0.0, at_zero[1])

    log_temperature, (_, power, doubt) = _least(best, LOG_TEMPERATURES)
    temperature = math.exp(log_temperature)
    return Calibration(temperature, doubt, power, ground) if power and ground else Calibration(temperature, doubt)


def shrunk(calibration: Calibration | None, n_rows: int, few: int, n_classes: int) -> Calibration:
    """A calibration for `n_rows` rows, fewer than `few`, which say little about how sure to be.

    As if there were up to two more rows, with labels that say nothing: their fraction is a doubt on top of its own.
    A temperature below 1 is drawn to 1, in logarithms. Both end where there are `few` rows. Where no rows could be held
    back (`calibration` is None) there is such a row for each class.
    """
    fraction = n_rows / few
    more = 2.0 * (1.0 - fraction) if calibration is not None else float(n_classes)
    calibration = Calibration() if calibration is None else calibration
    temperature = calibration.temperature if calibration.temperature >= 1.0 else calibration.temperature**fraction
    doubt = 1.0 - n_rows / (n_rows + more) * (1.0 - calibration.doubt)
    return replace(calibration, temperature=temperature, doubt=doubt)


class _Rows:
    """The rows of all parts together."""

    def __init__(self, parts: Sequence[CalibrationRows], n_threads: int) -> None:
        self.scores = np.concatenate([part.scores for part in parts])
        ends = np.cumsum([0, *(len(part.class_ids) for part in parts)])
        self._own_class = np.arange(len(self.scores)), np.concatenate([part.class_ids for part in parts])
        self._sums = [(part.weights, slice(*ends[k : k + 2])) for k, part in enumerate(parts)]
        self._n_threads = n_threads
        self._last_doubt = FIRST_DOUBT

    def sum(self, values: FloatArray) -> float:
        return sum(weights.sum(values[own], self._n_threads) for weights, own in self._sums)

    def ground(self) -> float | None:
        """A hundredth of the mean distance between highest and lowest score; None where all scores are alike."""
        spread = self.sum(self.scores.max(axis=1) - self.scores.min(axis=1))
        return GROUND * spread / self.sum(np.ones(len(self.scores))) if spread > 0.0 else None

    def best_doubt(self, probabilities: FloatArray) -> tuple[float, float]:
        """The least loss with these probabilities, and the doubt that has it.

        The loss is convex in the doubt. Newton's steps from the last doubt find the root of its slope, bisection where
        such a step leaves the interval.
        """
        right, even = np.maximum(probabilities[self._own_class], SMALLEST), 1.0 / probabilities.shape[1]
        if 1.0 + self.sum(1.0 - even / right) >= 0.0:
            return -self.sum(np.log(right)), 0.0  # it rises from 0 on
        low, high, doubt = 0.0, MOST_DOUBT, self._last_doubt
        for _ in range(MOST_NEWTON_STEPS):
            ratios = (right - even) / ((1.0 - doubt) * right + doubt * even)
            slope = self.sum(ratios) + 1.0 / (1.0 - doubt)
            low, high = (low, doubt) if slope > 0.0 else (doubt, high)
            at = doubt - slope / (self.sum(ratios**2) + 1.0 / (1.0 - doubt) ** 2)
            at = at if low <= at <= high else 0.5 * (low + high)
            change, doubt = abs(at - doubt), at
            if change <= DOUBT_TOLERANCE:
                break
        self._last_doubt = doubt
        return -self.sum(np.log((1.0 - doubt) * right + doubt * even)) - math.log1p(-doubt), doubt


def _least(function: Callable[[float], Found], between: tuple[float, float]) -> tuple[float, Found]:
    """Argument where the first of several numbers, which has one valley, is least, and all of them there."""
    result: dict[float, Found] = {}

    def first(at: float) -> float:
        result[at] = function(at)
        return result[at][0]

    at = float(minimize_scalar(first, bounds=between, method="bounded", options={"xatol": TOLERANCE}).x)
    return at, result[at]
