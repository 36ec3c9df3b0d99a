"""How sure to be of a score: a few numbers, learned on rows that the score was not learned from.

Penalties and damping shrink the scores of boosting, soft-max boosting stretches them, the scores of several classes
are as much shares of votes as they are logarithms, and wrong labels put a floor under every probability. The numbers
make up for that, and none of them changes which class is the most probable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from radboost._typing import ClassIds, FloatArray

# Logarithms of temperatures, and the steps of the searches for temperature, power and doubt.
LOG_TEMPERATURES, TEMPERATURE_STEPS, POWER_STEPS, DOUBT_STEPS = (-4.0, 4.0), 11, 11, 12
MOST_DOUBT, MOST_POWER = 0.98, 8.0
MEAN_POWER = 2.0  # of its prior
GROUND = 0.01  # of the usual distance between the highest and the lowest score of a row
SMALLEST = 1e-12  # probability: a row that was thought impossible does not decide alone
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

Probabilities = Callable[[FloatArray], FloatArray]  # of scores, a row for each of them
Found = TypeVar("Found", bound=tuple[float, *tuple[Any, ...]])


@dataclass(frozen=True)
class Calibration:
    """What makes probabilities of scores: (1 - doubt) p_k + doubt / K.

    p_k are the probabilities of score / temperature, times (ground + score - lowest score of the row)^power, divided by
    their sum. Temperatures below 1 make a model surer, above 1 less sure. The doubt is the share of the labels that say
    nothing. The power, which is 0 with two classes, says how much the votes for a class count as its share; the ground
    is what a class has without any.
    """

    temperature: float = 1.0
    doubt: float = 0.0
    power: float = 0.0
    ground: float = 1.0

    def apply(self, probabilities: Probabilities, scores: FloatArray) -> FloatArray:
        """`probabilities` are those without a calibration."""
        found = probabilities(scores / self.temperature)
        if self.power:
            found = found * np.exp(self.power * _log_votes(scores, self.ground))
            found /= found.sum(axis=1, keepdims=True)
        if not self.doubt:
            return found
        return np.asarray((1.0 - self.doubt) * found + self.doubt / found.shape[1])


def _log_votes(scores: FloatArray, ground: float) -> FloatArray:
    """The logarithm of ground + score - lowest score, less that of the highest score."""
    logs = np.log1p((scores - scores.min(axis=1, keepdims=True)) / ground)
    return np.asarray(logs - logs.max(axis=1, keepdims=True))


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
    are the power, by an exponential prior, and the doubt, by one that falls to 0 at 1: a handful of rows says little
    about how sure to be. Sums are exact, so that the order of the rows does not matter.
    """
    ground = _ground(parts, n_threads) if parts[0].scores.ndim == 2 else None
    votes = None if ground is None else [_log_votes(part.scores, ground) for part in parts]

    def best(log_temperature: float) -> tuple[float, float, float]:
        """The least loss with this temperature, and the power and the doubt that have it."""
        plain = [probabilities(part.scores * math.exp(-log_temperature)) for part in parts]
        prior = 0.5 * log_temperature**2
        if votes is None:
            loss, doubt = _best_doubt(parts, plain, n_threads)
            return loss + prior, 0.0, doubt

        def at_power(power: float) -> tuple[float, float]:
            shares = [own * np.exp(power * logs) for own, logs in zip(plain, votes, strict=True)]
            loss, doubt = _best_doubt(parts, [own / own.sum(axis=1, keepdims=True) for own in shares], n_threads)
            return loss + prior + power / MEAN_POWER, doubt

        power, (loss, doubt) = _least(at_power, (0.0, MOST_POWER), POWER_STEPS)
        at_zero = at_power(0.0)
        return (loss, power, doubt) if loss < at_zero[0] else (at_zero[0], 0.0, at_zero[1])

    log_temperature, (_, power, doubt) = _least(best, LOG_TEMPERATURES, TEMPERATURE_STEPS)
    temperature = math.exp(log_temperature)
    return Calibration(temperature, doubt, power, ground) if power and ground else Calibration(temperature, doubt)


def _ground(parts: Sequence[JudgedRows], n_threads: int) -> float | None:
    """A hundredth of the mean distance between the highest and the lowest score; None where all scores are alike."""
    spread = sum(part.weights.sum(part.scores.max(axis=1) - part.scores.min(axis=1), n_threads) for part in parts)
    total = sum(part.weights.sum(np.ones(len(part.class_ids)), n_threads) for part in parts)
    return GROUND * spread / total if spread > 0.0 else None


def _best_doubt(parts: Sequence[JudgedRows], found: Sequence[FloatArray], n_threads: int) -> tuple[float, float]:
    """The least loss with these probabilities, and the doubt that has it: the loss is convex in the doubt."""
    right = [own[np.arange(len(own)), part.class_ids] for part, own in zip(parts, found, strict=True)]
    n_classes = found[0].shape[1]

    def loss(doubt: float) -> float:
        losses = (-np.log(np.maximum((1.0 - doubt) * own + doubt / n_classes, SMALLEST)) for own in right)
        total = sum(part.weights.sum(own, n_threads) for part, own in zip(parts, losses, strict=True))
        return total - math.log1p(-doubt)

    plain_loss = loss(0.0)
    slopes = (1.0 - 1.0 / (n_classes * np.maximum(own, SMALLEST)) for own in right)
    if 1.0 + sum(part.weights.sum(own, n_threads) for part, own in zip(parts, slopes, strict=True)) >= 0.0:
        return plain_loss, 0.0  # it rises from 0 on
    doubt, smallest = minimum(loss, (0.0, MOST_DOUBT), DOUBT_STEPS)
    return (smallest, doubt) if smallest < plain_loss else (plain_loss, 0.0)


def _least(function: Callable[[float], Found], between: tuple[float, float], n_steps: int) -> tuple[float, Found]:
    """Where the first of several numbers is least, and all of them there."""
    found: dict[float, Found] = {}

    def first(at: float) -> float:
        found[at] = function(at)
        return found[at][0]

    at, _ = minimum(first, between, n_steps)
    return at, found[at]


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
