"""How sure to be of a score: two numbers, learned on rows that the score was not learned from.

Penalties and damping shrink the scores of boosting, soft-max boosting stretches them, and wrong labels put a floor
under every probability. The two numbers undo that, and neither changes which class is the most probable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from radboost._typing import ClassIds, FloatArray

# Logarithms of temperatures, and the steps of the searches for temperature and doubt.
LOG_TEMPERATURES, TEMPERATURE_STEPS, DOUBT_STEPS = (-4.0, 4.0), 11, 12
MOST_DOUBT = 0.98
SMALLEST = 1e-12  # probability: a row that was thought impossible does not decide alone
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

Probabilities = Callable[[FloatArray], FloatArray]  # of scores, a row for each of them


@dataclass(frozen=True)
class Calibration:
    """What makes probabilities of scores: (1 - doubt) times those of score / temperature, plus doubt / K each.

    Temperatures below 1 make a model surer, above 1 less sure. The doubt is the share of the labels that say nothing.
    """

    temperature: float = 1.0
    doubt: float = 0.0

    def apply(self, probabilities: Probabilities, scores: FloatArray) -> FloatArray:
        """`probabilities` are those without a calibration."""
        plain = probabilities(scores / self.temperature)
        if not self.doubt:
            return plain
        return np.asarray((1.0 - self.doubt) * plain + self.doubt / plain.shape[1])


class Weights(Protocol):
    """Those of rows, for sums that do not depend on their order."""

    def sum(self, values: FloatArray, n_threads: int = 1) -> float: ...


@dataclass(frozen=True)
class JudgedRows:
    """Rows and their scores, of a model that did not learn from them."""

    weights: Weights
    class_ids: ClassIds
    scores: FloatArray


def fit_calibration(probabilities: Probabilities, parts: Sequence[JudgedRows], n_threads: int) -> Calibration:
    """The calibration with the least log loss on rows, in one or several parts.

    With few rows the logarithm of the temperature is drawn to 0, as by a normal prior of standard deviation 1, and so
    is the doubt, by a prior that falls to 0 at 1: a handful of rows says little about how sure to be. Sums are exact,
    so that the order of the rows does not matter.
    """

    def losses(log_temperature: float) -> tuple[float, float]:
        """The least loss with this temperature, and the doubt that has it: the loss is convex in the doubt."""
        own, n_classes = [], 2
        for part in parts:
            plain = probabilities(part.scores * math.exp(-log_temperature))
            own.append((part.weights, plain[np.arange(len(plain)), part.class_ids]))
            n_classes = plain.shape[1]

        def loss(doubt: float) -> float:
            found = sum(
                weights.sum(-np.log(np.maximum((1.0 - doubt) * right + doubt / n_classes, SMALLEST)), n_threads)
                for weights, right in own
            )
            return found + 0.5 * log_temperature**2 - math.log1p(-doubt)

        plain_loss = loss(0.0)
        doubt, least = minimum(loss, (0.0, MOST_DOUBT), DOUBT_STEPS)
        return (least, doubt) if least < plain_loss else (plain_loss, 0.0)

    found: dict[float, tuple[float, float]] = {}

    def least(log_temperature: float) -> float:
        found[log_temperature] = losses(log_temperature)
        return found[log_temperature][0]

    log_temperature, _ = minimum(least, LOG_TEMPERATURES, TEMPERATURE_STEPS)
    return Calibration(math.exp(log_temperature), found[log_temperature][1])


def minimum(function: Callable[[float], float], between: tuple[float, float], n_steps: int) -> tuple[float, float]:
    """Where a function with one valley is least, by golden sections, and its value there."""
    low, high = between
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_inner, at_outer = function(inner), function(outer)
    for _ in range(n_steps):
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - GOLDEN * (high - low)
            at_inner = function(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + GOLDEN * (high - low)
            at_outer = function(outer)
    return (inner, at_inner) if at_inner <= at_outer else (outer, at_outer)
