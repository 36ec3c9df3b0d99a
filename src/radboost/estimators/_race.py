"""Short fits that held-back rows judge while they run, and that end where the rest would change no choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.boosting.monitor import Monitor, scores_of
from radboost.boosting.trace import Step, Trace
from radboost.objectives import Objective
from radboost.rows.prepare import Watched

# Factors on scores, as logarithms, and how they are searched.
LOG_FACTORS, GOLDEN, GOLDEN_STEPS = (-2.5, 2.5), (math.sqrt(5.0) - 1.0) / 2.0, 10


@dataclass(frozen=True)
class Judged:
    """What held-back rows say of a model."""

    losses: FloatArray  # of each row, with the best factor on the scores
    wrong: FloatArray
    n_rounds: int


class Stages:
    """How a short fit stood after some of its rounds; losses are computed when somebody asks."""

    def __init__(self, rows: Watched, n_threads: int) -> None:
        self._rows, self._n_threads = rows, n_threads
        self._scores: dict[int, FloatArray] = {}
        self._judged: dict[int, Judged] = {}

    def keep(self, n_rounds: int, scores: FloatArray) -> None:
        self._scores[n_rounds] = scores.copy()

    def at(self, n_rounds: int) -> Judged | None:
        """None where it has no such stage."""
        if n_rounds not in self._judged and n_rounds in self._scores:
            self._judged[n_rounds] = judged(self._scores.pop(n_rounds), self._rows, n_rounds, self._n_threads)
        return self._judged.get(n_rounds)


@dataclass(frozen=True)
class ShortFit(Judged):
    """A short fit at its best round."""

    stages: Stages
    lost: bool = False  # ended because it could not win any more

    def at(self, n_rounds: int) -> Judged:
        """After so many rounds; where it had ended by then, at its best."""
        return self.stages.at(n_rounds) or self


# Whether a fit has lost that stands like this after so many rounds.
HasLost = Callable[[int, Stages], bool]


@dataclass(frozen=True)
class Pace:
    """How often a short fit is looked at, in rounds."""

    every: int  # for its loss; the best round is one of these
    stage: int  # to compare it with another fit
    patience: int | None  # it ends after so many rounds without a lower loss; None: its last round counts as its best


class RaceWatch(Monitor):
    """Looks at held-back rows every few rounds: for the best round, and for a reason to give up."""

    what = "loss"

    def __init__(
        self, rows: Watched, objective: Objective, pace: Pace, has_lost: HasLost | None, n_threads: int
    ) -> None:
        super().__init__(rows, scores_of(objective.n_classes), n_threads)
        self._objective, self._pace, self._has_lost = objective, pace, has_lost
        self._waiting: list[Step] = []
        self._n_rounds = 0
        self._best = self._scores
        self._stages = Stages(rows, n_threads)
        self._lost = False

    @property
    def recorded(self) -> list[str]:
        """Nothing: it does not look in every round."""
        return []

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, None]:
        """The loss that is trained on."""
        return self._objective.row_losses(scores, self.class_ids), None

    def follow(self, trace: Trace, steps: Sequence[Step]) -> str | None:
        """Collects the steps, and looks at them when it is time."""
        self._waiting.extend(steps)
        self._n_rounds += 1
        if self._n_rounds % self._pace.every:
            return None
        self._look(trace)
        if self._pace.patience is not None and self._n_rounds - self.best_round >= self._pace.patience:
            return f"no lower loss for {self._pace.patience} rounds"
        if self._n_rounds % self._pace.stage == 0:
            self._stages.keep(self._n_rounds, self._scores)
            self._lost = self._has_lost is not None and self._has_lost(self._n_rounds, self._stages)
        return "cannot win any more" if self._lost else None

    def result(self, trace: Trace) -> ShortFit:
        """What is to be known of the fit, which has ended."""
        if self._n_rounds % self._pace.every:
            self._look(trace)
        best = judged(self._best, self.rows, self.best_round, self._n_threads)
        return ShortFit(best.losses, best.wrong, best.n_rounds, self._stages, self._lost)

    def _look(self, trace: Trace) -> None:
        if self._waiting:
            self._add(trace, self._waiting)
            self._waiting.clear()
        if self._pace.patience is None:
            self.best_round = self._n_rounds
            return
        cost = self._mean(self.evaluate(self._scores)[0])
        if cost < self._lowest:
            self._lowest, self.best_round, self._best = cost, self._n_rounds, self._scores.copy()


def judged(scores: FloatArray, rows: Watched, n_rounds: int, n_threads: int) -> Judged:
    """Losses and errors of these scores."""
    answers = (scores > 0.0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
    wrong = (answers != rows.class_ids).astype(np.float64)
    return Judged(calibrated_losses(scores, rows, n_threads), wrong, n_rounds)


def calibrated_losses(scores: FloatArray, rows: Watched, n_threads: int) -> FloatArray:
    """The log loss of each row, for probabilities from scores times a factor, the best one for their mean.

    Penalties and damping shrink scores. That says nothing about who is right, and a factor undoes it.
    """
    weights, ids = rows.row_weights(), rows.class_ids.astype(np.int64)
    if scores.ndim == 1:
        margins = np.where(ids == 1, scores, -scores)
    else:
        # Of each class over the right one: the loss is the logarithm of the sum of their exponentials.
        ahead = scores - scores[np.arange(len(ids)), ids][:, None]
        largest = ahead.max(axis=1)
        ahead -= largest[:, None]

    def losses(log_factor: float) -> FloatArray:
        factor = math.exp(log_factor)
        if scores.ndim == 1:
            scaled = factor * margins
            return np.asarray(np.log1p(np.exp(-np.abs(scaled))) - np.minimum(scaled, 0.0))
        return np.asarray(np.log(np.exp(factor * ahead).sum(axis=1)) + factor * largest)

    def mean(log_factor: float) -> float:
        return weights.mean(losses(log_factor), n_threads)

    low, high = LOG_FACTORS
    inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_inner, at_outer = mean(inner), mean(outer)
    for _ in range(GOLDEN_STEPS):
        if at_inner <= at_outer:
            high, outer, at_outer = outer, inner, at_inner
            inner = high - GOLDEN * (high - low)
            at_inner = mean(inner)
        else:
            low, inner, at_inner = inner, outer, at_outer
            outer = low + GOLDEN * (high - low)
            at_outer = mean(outer)
    return losses(0.5 * (low + high))
