"""Fits of settings on splits, within a time budget."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from radboost._progress import Progress, progress_bar
from radboost._typing import FloatArray
from radboost.estimators import learn
from radboost.trees import TreeOptions, with_tree_options
from radboost.tuning.scoring import RoundScorer, sizes_by_round
from radboost.tuning.spaces import Setting
from radboost.tuning.splits import Splits

MIN_LEAD_OF_FEWER_ROUNDS = 2.0  # standard errors by which fewer rounds must be better than more
# Factors on the estimated time of a fit to all rows:
CALIBRATION_FACTOR = 1.7  # for the short fits of its calibration
SAFETY_FACTOR = 1.25

Key = tuple[int, int]  # index of the level (number of rows), index of the split


@dataclass(eq=False)
class Trial:
    """A setting and its results: scores and sizes (nodes) of its models at `rounds`, for each split."""

    setting: Setting
    rounds: list[int]
    n_folds: int
    is_default: bool = False
    curves: dict[Key, FloatArray] = field(default_factory=dict)
    sizes: dict[Key, FloatArray] = field(default_factory=dict)
    fit_times: dict[Key, float] = field(default_factory=dict)
    score_times: dict[Key, float] = field(default_factory=dict)
    failure: Exception | None = None
    rung: int = 0  # last rung that it was tried in
    seconds_per_row: float = 0.0

    @property
    def keys_of_last_rows(self) -> list[Key]:
        """Splits of the highest level on which this setting was tried."""
        level = max((key[0] for key in self.curves), default=0)
        return sorted(key for key in self.curves if key[0] == level)

    def mean_curve(self, keys: Sequence[Key]) -> FloatArray:
        return np.asarray(np.mean([self.curves[key] for key in keys], axis=0))

    def best(self, keys: Sequence[Key]) -> int:
        """Index in `rounds` of the largest number whose mean score is not significantly below the best one.

        The maximum of many scores is biased, and more rounds harm little with a penalty.
        """
        curves = np.array([self.curves[key] for key in keys])
        best = int(np.argmax(curves.mean(axis=0)))
        if len(keys) < 2:
            return best
        for index in range(len(self.rounds) - 1, best, -1):
            less = curves[:, best] - curves[:, index]
            if np.isfinite(less).all() and less.mean() <= MIN_LEAD_OF_FEWER_ROUNDS * standard_error(less, self.n_folds):
                return index
        return best

    def scores(self, keys: Sequence[Key]) -> FloatArray:
        """Score of each split at the chosen number of rounds, shape (len(keys),)."""
        at = self.best(keys)
        return np.array([self.curves[key][at] for key in keys])

    def value(self, keys: Sequence[Key]) -> float:
        return float(self.scores(keys).mean())


class OutOfTimeError(Exception):
    """The time budget is used up."""


class Clock:
    """Remaining seconds of a time budget; infinity without one."""

    def __init__(self, budget: float | None) -> None:
        self._end = math.inf if budget is None else time.monotonic() + budget
        self.limited = budget is not None

    def left(self) -> float:
        return self._end - time.monotonic() if self.limited else math.inf


class _Deadline:
    """Callback that raises OutOfTimeError once less than `reserve` seconds are left."""

    def __init__(self, clock: Clock, reserve: float) -> None:
        self._clock, self._reserve = clock, reserve

    def on_round_end(self, context: Any) -> None:
        if self._clock.left() < self._reserve:
            raise OutOfTimeError


@dataclass
class Bench:
    """Fits settings on splits, and scores them."""

    base: Any  # estimator with the parameters that are common to all settings
    levels: Sequence[Splits]  # ascending by the number of rows
    scorer: RoundScorer
    clock: Clock
    n_rows: float  # of a fit to all rows
    refit_seconds: float  # of the fit of the default setting to all rows
    verbose: int = 0
    _advance: Progress | None = None
    reserve: float = 0.0  # seconds that a fit to all rows of the best setting so far may take
    _round_per_row: float = 0.0  # seconds

    def run(self, trials: Sequence[Trial], level: int, index: int) -> list[Trial]:
        """Try settings on one split; returns those that did not fail and for which there was time."""
        key, kept, split = (level, index), [], None
        for trial in trials:
            if key not in trial.curves:
                if not self._affords(trial, level):
                    continue
                if split is None:
                    split = self.levels[level].split(index)
                try:
                    self._try(trial, key, split)
                except OutOfTimeError:
                    continue
            if trial.failure is None:
                kept.append(trial)
        return kept

    def fit_time(self, trial: Trial, level: int) -> float:
        """Estimated seconds of a fit at this level and its evaluation."""
        return self._per_row(trial) * self.levels[level].n_learned

    def refit_time(self, trial: Trial) -> float:
        """Estimated seconds of a fit to all rows; 0 for the default setting, which has been fitted already."""
        return 0.0 if trial.is_default else SAFETY_FACTOR * CALIBRATION_FACTOR * self._per_row(trial) * self.n_rows

    def _per_row(self, trial: Trial) -> float:
        """Seconds per row: measured, or else estimated from rounds of other settings, or from the default fit."""
        if trial.seconds_per_row:
            return trial.seconds_per_row
        return self._round_per_row * trial.rounds[-1] or self.refit_seconds / self.n_rows

    def _affords(self, trial: Trial, level: int) -> bool:
        return self.clock.left() > self.fit_time(trial, level) + max(self.reserve, self.refit_time(trial))

    def _try(self, trial: Trial, key: Key, split: Any) -> None:
        estimator = with_setting(self.base, trial.setting)
        if hasattr(estimator, "calibration"):
            estimator.calibration = None
        callbacks = [_Deadline(self.clock, max(self.reserve, self.refit_time(trial)))] if self.clock.limited else []
        began = time.perf_counter()
        try:
            model = learn(estimator, split.learned, callbacks=callbacks)
            fitted = time.perf_counter()
            curve = self.scorer(model, split, trial.rounds)
            if np.isnan(curve).all():
                raise ValueError("its scores are not numbers (NaN)")
            if np.isposinf(curve).any():
                raise ValueError("its scores are infinite; scoring must give finite numbers")
        except OutOfTimeError:
            raise
        except Exception as error:  # of one setting: the others go on
            trial.failure = error
            warnings.warn(
                f"The setting {trial.setting} failed and is left out: {error}", FitFailedWarning, stacklevel=2
            )
            return
        trial.curves[key] = np.where(np.isnan(curve), -np.inf, curve)
        trial.sizes[key] = sizes_by_round(model, trial.rounds)
        trial.fit_times[key], trial.score_times[key] = fitted - began, time.perf_counter() - fitted
        seconds = (time.perf_counter() - began) / split.learned.n_rows
        trial.seconds_per_row = max(trial.seconds_per_row, seconds)
        self._round_per_row = max(self._round_per_row, seconds / trial.rounds[-1])
        if self._advance is not None:
            self._advance({"score": float(curve.max())})

    @contextmanager
    def progress(self, n_fits: int, what: str) -> Iterator[None]:
        """Show a progress bar for `n_fits` fits in this context; none for 0."""
        with progress_bar(n_fits, self.verbose if n_fits else 0, what=what) as advance:
            self._advance = advance
            try:
                yield
            finally:
                self._advance = None


def with_setting(base: Any, setting: Setting) -> Any:
    """Copy of an estimator with the parameters and tree options of a setting."""
    estimator = copy(base)
    options = set(base._tree_options_read) - set(base.get_params(deep=False))
    for name, value in parameters_of(base, setting, options).items():
        setattr(estimator, name, value)
    return estimator


def parameters_of(base: Any, setting: Setting, options: Iterable[str] | None = None) -> dict[str, Any]:
    """Parameters of the estimator for a setting; `options`: names that belong into `tree_options`, None: default."""
    names = set(base._tree_options_read) - set(base.get_params(deep=False)) if options is None else set(options)
    given = {"tree_options": base.tree_options, **setting} if base.tree_options is not None else setting
    parameters = with_tree_options(given, names)
    if isinstance(parameters.get("tree_options"), TreeOptions) and "leaves" not in names:
        parameters["tree_options"] = replace(parameters["tree_options"], leaves="auto")
    return parameters


def standard_error(differences: FloatArray, n_folds: int) -> float:
    """Standard error of a mean over overlapping splits (Nadeau, Bengio, Inference for the Generalization Error, 2003).

    The variance of one split is multiplied by 1 / J + 1 / (n_folds - 1) for J splits. The second term is the ratio of
    test rows to training rows. Infinite for J = 1.
    """
    n_splits = len(differences)
    if n_splits < 2:
        return math.inf
    return float(np.std(differences, ddof=1) * math.sqrt(1.0 / n_splits + 1.0 / max(1, n_folds - 1)))
