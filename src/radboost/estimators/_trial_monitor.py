"""Evaluation of trials (short fits) on held-back rows while they run; a trial ends once it cannot win."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.boosting.monitor import Monitor, scores_of
from radboost.boosting.trace import Step, Trace
from radboost.objectives import Objective
from radboost.rows.fields import Rows

# Golden-section search for the factor on scores: interval of its natural logarithm, ratio and number of steps.
LOG_FACTORS, GOLDEN, GOLDEN_STEPS = (-2.5, 2.5), (math.sqrt(5.0) - 1.0) / 2.0, 10


@dataclass(frozen=True)
class HeldBackLosses:
    """Losses and errors of a model on held-back rows; arrays have shape (n_held_back,)."""

    losses: FloatArray  # log loss of each row, after `calibrated_losses`
    wrong: FloatArray  # 1 for each misclassified row, otherwise 0
    n_rounds: int


class Stages:
    """Scores of a trial after some of its rounds; losses are computed on demand."""

    def __init__(self, rows: Rows, n_threads: int) -> None:
        self._rows, self._n_threads = rows, n_threads
        self._scores: dict[int, FloatArray] = {}
        self._evaluated: dict[int, HeldBackLosses] = {}

    def keep(self, n_rounds: int, scores: FloatArray) -> None:
        self._scores[n_rounds] = scores.copy()

    def at(self, n_rounds: int) -> HeldBackLosses | None:
        """Evaluation after `n_rounds` rounds; None if the scores were not kept."""
        if n_rounds not in self._evaluated and n_rounds in self._scores:
            self._evaluated[n_rounds] = evaluated(self._scores.pop(n_rounds), self._rows, n_rounds, self._n_threads)
        return self._evaluated.get(n_rounds)


@dataclass(frozen=True)
class TrialResult(HeldBackLosses):
    """Evaluation of a trial at its best round, and its stages."""

    stages: Stages
    lost: bool = False  # ended early because it could not win

    def at(self, n_rounds: int) -> HeldBackLosses:
        """Evaluation after `n_rounds` rounds; at the best round if the scores were not kept."""
        return self.stages.at(n_rounds) or self


# Decides if a trial after this number of rounds, with these stages, has lost.
HasLost = Callable[[int, Stages], bool]


@dataclass(frozen=True)
class Pace:
    """Intervals of the evaluation of a trial, in rounds."""

    every: int  # between computations of the loss; the best round is a multiple of it
    stage: int  # between comparisons with another trial
    patience: int | None  # rounds without a lower loss until the trial ends; None: the last round counts as the best


class TrialMonitor(Monitor):
    """Monitor that evaluates held-back rows every few rounds, for the best round and for early termination."""

    what = "loss"

    def __init__(self, rows: Rows, objective: Objective, pace: Pace, has_lost: HasLost | None, n_threads: int) -> None:
        super().__init__(rows, scores_of(objective.n_classes), n_threads)
        self._objective, self._pace, self._has_lost = objective, pace, has_lost
        self.interval = pace.every
        self._waiting: list[Step] = []
        self._n_rounds = 0
        self._best = self._scores
        self._stages = Stages(rows, n_threads)
        self._lost = False

    @property
    def recorded(self) -> list[str]:
        """Names of recorded metrics: none, because not every round is evaluated."""
        return []

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, None]:
        """Training loss of each row, shape (n_rows,), and None (errors are not counted)."""
        return self._objective.row_losses(scores, self.class_ids), None

    def follow(self, trace: Trace, steps: Sequence[Step]) -> str | None:
        """Collect the steps of a round, evaluate when due, and return the reason to stop, or None."""
        self._waiting.extend(steps)
        self._n_rounds += 1
        if self._n_rounds % self._pace.every:
            return None
        self._evaluate_now(trace)
        if self._pace.patience is not None and self._n_rounds - self.best_round >= self._pace.patience:
            return f"no lower loss for {self._pace.patience} rounds"
        if self._n_rounds % self._pace.stage == 0:
            self._stages.keep(self._n_rounds, self._scores)
            self._lost = self._has_lost is not None and self._has_lost(self._n_rounds, self._stages)
        return "cannot win any more" if self._lost else None

    def result(self, trace: Trace) -> TrialResult:
        """Evaluation of the trial after its end."""
        if self._n_rounds % self._pace.every:
            self._evaluate_now(trace)
        best = evaluated(self._best, self.rows, self.best_round, self._n_threads)
        return TrialResult(best.losses, best.wrong, best.n_rounds, self._stages, self._lost)

    def _evaluate_now(self, trace: Trace) -> None:
        """Add the collected steps to the scores, and update the best round."""
        if self._waiting:
            self._add(trace, self._waiting)
            self._waiting.clear()
        if self._pace.patience is None:
            self.best_round = self._n_rounds
            return
        cost = self._mean(self.evaluate(self._scores)[0])
        if cost < self._lowest:
            self._lowest, self.best_round, self._best = cost, self._n_rounds, self._scores.copy()


def evaluated(scores: FloatArray, rows: Rows, n_rounds: int, n_threads: int) -> HeldBackLosses:
    """Evaluate scores of the held-back rows, shape (n_rows,) or (n_rows, n_classes), after `n_rounds` rounds."""
    predicted = (scores > 0.0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
    wrong = (predicted != rows.class_ids).astype(np.float64)
    return HeldBackLosses(calibrated_losses(scores, rows, n_threads), wrong, n_rounds)


def calibrated_losses(scores: FloatArray, rows: Rows, n_threads: int) -> FloatArray:
    """Log loss of each row, shape (n_rows,), after scores are multiplied by the factor that minimizes the mean.

    Penalties and damping shrink scores, which does not affect predicted classes, and the factor undoes it.
    """
    weights, ids = rows.row_weights(), rows.class_ids.astype(np.int64)
    if scores.ndim == 1:
        margins = np.where(ids == 1, scores, -scores)
    else:
        # Score of each class minus the score of the label: the loss is the log-sum-exp of these leads.
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
