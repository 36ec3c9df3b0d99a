"""Successive halving: many settings on few splits, the better ones on more, and what is beside the best."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from radboost._progress import Progress, progress_bar, say
from radboost._typing import FloatArray
from radboost.estimators import learn
from radboost.trees import TreeOptions, with_tree_options
from radboost.tuning.judging import Judge, rounds_to_judge, sizes_by_round
from radboost.tuning.spaces import Setting
from radboost.tuning.splits import Splits

# Of a rung, so large a share goes on.
KEPT = 3
# Held-back answers of the first rung, and of those that are left in the end; and repeats of the folds at most.
FIRST_ANSWERS, LAST_ANSWERS, MOST_REPEATS = 600, 1500, 10
# The same of parts of large data.
ANSWERS_OF_PARTS = 3_000
# With a time budget, what is left of it goes into repeats, up to so many answers, and into passes over neighbours.
ANSWERS_OF_BUDGET, REPEATS_OF_BUDGET, PASSES_OF_BUDGET, PASSES = 6_000, 20, 20, 1
# A setting beside the best has to be better by so many standard errors, and the best one than the default. Fewer rounds
# have to be better than more by so many.
WORTH_IT, WORTH_LEAVING, WORTH_STOPPING = 0.3, 0.2, 2.0
FINALISTS = 4
# The first rung takes such a share of a time budget, with fewer settings where need be, and so many at least.
SHARE_OF_FIRST_RUNG, FEWEST_SETTINGS = 0.5, 4
# A fit to all rows, and the short fits of its calibration, take so many times as long as one of the same rows.
CALIBRATED, MARGIN = 1.7, 1.25

Key = tuple[int, int]  # which rows, which split


@dataclass
class Trial:
    """A setting, and what became of it: scores and sizes of its models by round, for each split."""

    setting: Setting
    rounds: list[int]
    n_folds: int
    is_default: bool = False
    curves: dict[Key, FloatArray] = field(default_factory=dict)
    sizes: dict[Key, FloatArray] = field(default_factory=dict)
    fit_times: dict[Key, float] = field(default_factory=dict)
    score_times: dict[Key, float] = field(default_factory=dict)
    failure: Exception | None = None
    rung: int = 0
    seconds_per_row: float = 0.0

    @property
    def keys_of_last_rows(self) -> list[Key]:
        """Splits of the most rows that it was tried on."""
        level = max((key[0] for key in self.curves), default=0)
        return sorted(key for key in self.curves if key[0] == level)

    def mean_curve(self, keys: Sequence[Key]) -> FloatArray:
        return np.asarray(np.mean([self.curves[key] for key in keys], axis=0))

    def best(self, keys: Sequence[Key]) -> int:
        """The place of a number of rounds: the largest whose mean score is not below the best one beyond chance.

        The best one of many is best by chance as well, and more rounds harm little where a penalty holds them back.
        """
        curves = np.array([self.curves[key] for key in keys])
        best = int(np.argmax(curves.mean(axis=0)))
        if len(keys) < 2:
            return best
        for place in range(len(self.rounds) - 1, best, -1):
            less = curves[:, best] - curves[:, place]
            if np.isfinite(less).all() and less.mean() <= WORTH_STOPPING * standard_error(less, self.n_folds):
                return place
        return best

    def scores(self, keys: Sequence[Key]) -> FloatArray:
        """Of each split, after that number of rounds."""
        at = self.best(keys)
        return np.array([self.curves[key][at] for key in keys])

    def value(self, keys: Sequence[Key]) -> float:
        return float(self.scores(keys).mean())


class OutOfTimeError(Exception):
    """The time budget is used up."""


class Clock:
    """What is left of a time budget; without one, always enough."""

    def __init__(self, budget: float | None) -> None:
        self._end = math.inf if budget is None else time.monotonic() + budget
        self.limited = budget is not None

    def left(self) -> float:
        return self._end - time.monotonic() if self.limited else math.inf


class _Deadline:
    """A callback that ends a fit when time is up."""

    def __init__(self, clock: Clock, reserve: float) -> None:
        self._clock, self._reserve = clock, reserve

    def on_round_end(self, context: Any) -> None:
        if self._clock.left() < self._reserve:
            raise OutOfTimeError


@dataclass
class Bench:
    """Fits settings on splits, and judges them."""

    base: Any  # the estimator, with what all settings share
    levels: Sequence[Splits]  # of more and more rows
    judge: Judge
    clock: Clock
    n_rows: float  # different ones, of a fit to all
    refit_seconds: float  # of the default
    verbose: int = 0
    _advance: Progress | None = None
    reserve: float = 0.0  # seconds that a fit to all rows of the best setting so far may take
    _round_per_row: float = 0.0  # seconds

    def run(self, trials: Sequence[Trial], level: int, index: int) -> list[Trial]:
        """Tries settings on one split; those that there is no time for are left out."""
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
        """An estimate of the seconds of one fit and its judgement."""
        return self._per_row(trial) * self.levels[level].n_learned

    def refit_time(self, trial: Trial) -> float:
        """An estimate of the seconds that a fit to all rows takes; the default has been fitted to them already."""
        return 0.0 if trial.is_default else MARGIN * CALIBRATED * self._per_row(trial) * self.n_rows

    def _per_row(self, trial: Trial) -> float:
        """Seconds as seen, or by those of a round seen elsewhere, or of the first fit with all that belongs to it."""
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
            curve = self.judge(model, split, trial.rounds)
            if np.isnan(curve).all():
                raise ValueError("its scores are not numbers (NaN)")
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
    def progress(self, n_fits: int) -> Iterator[None]:
        with progress_bar(n_fits, self.verbose) as advance:
            self._advance = advance
            try:
                yield
            finally:
                self._advance = None


def with_setting(base: Any, setting: Setting) -> Any:
    """A copy of an estimator with the parameters, and options of trees, of a setting."""
    estimator = copy(base)
    options = set(base._tree_options_read) - set(base.get_params(deep=False))
    for name, value in parameters_of(base, setting, options).items():
        setattr(estimator, name, value)
    return estimator


def parameters_of(base: Any, setting: Setting, options: Iterable[str] | None = None) -> dict[str, Any]:
    """A setting as parameters of the estimator."""
    names = set(base._tree_options_read) - set(base.get_params(deep=False)) if options is None else set(options)
    given = {"tree_options": base.tree_options, **setting} if base.tree_options is not None else setting
    found = with_tree_options(given, names)
    if isinstance(found.get("tree_options"), TreeOptions) and "leaves" not in names:
        found["tree_options"] = replace(found["tree_options"], leaves="auto")
    return found


def shared_keys(trials: Sequence[Trial]) -> list[Key]:
    """Splits of the most rows that all of them were tried on."""
    common = set.intersection(*(set(trial.curves) for trial in trials))
    level = max((key[0] for key in common), default=0)
    return sorted(key for key in common if key[0] == level)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """From the best, by the splits that all share; those without any left out."""
    tried = [trial for trial in trials if trial.curves and trial.failure is None]
    if not tried:
        return []
    keys = shared_keys(tried)
    if not keys:
        return tried[:1]
    return sorted(tried, key=lambda trial: -trial.value(keys))


def standard_error(differences: FloatArray, n_folds: int) -> float:
    """Of a mean over splits that share rows: Nadeau and Bengio, Inference for the Generalization Error, 2003.

    The variance of a mean over J splits whose test parts are 1 / (n_folds - 1) of their training parts is that of one
    times 1 / J + 1 / (n_folds - 1).
    """
    n_splits = len(differences)
    if n_splits < 2:
        return math.inf
    return float(np.std(differences, ddof=1) * math.sqrt(1.0 / n_splits + 1.0 / max(1, n_folds - 1)))


def is_better(one: Trial, other: Trial, n_folds: int, errors: float) -> bool:
    """Whether the mean score is higher by so many standard errors of the difference."""
    keys = shared_keys([one, other])
    if not keys:
        return False
    gain = one.scores(keys) - other.scores(keys)
    if not np.isfinite(gain).all():
        return one.value(keys) > other.value(keys)
    if len(keys) == 1:
        return bool(gain[0] > 0.0)
    return float(gain.mean()) > errors * standard_error(gain, n_folds)


@dataclass
class Race:
    """The course of a search; `trials` are all settings that were ever tried."""

    bench: Bench
    trials: list[Trial]
    beside: Callable[[Setting], Iterable[Setting]] | None
    verbose: int = 0
    alive: list[Trial] = field(default_factory=list)

    def run(self) -> Trial:
        """The best setting; the default one where no other is better beyond chance."""
        self.alive = list(self.trials)
        plan = list(self._rungs())
        if self.bench.clock.limited:
            self._drop_what_time_forbids(*plan[0])
        with self.bench.progress(self._planned(plan)):
            self._halve(plan)
        leader = self._leader()
        if self.beside is not None:
            leader = self._look_around(leader)
        if self.bench.clock.limited:
            leader = self._repeat(leader)
        return self._or_default(leader)

    def _drop_what_time_forbids(self, level: int, n_splits: int) -> None:
        """So many settings, the first ones, that the first rung takes no more than a share of the time.

        Few settings on enough splits are better than many on too few: the best of many is best by chance.
        """
        first = self.trials[:1]
        if not self.bench.run(first, level, 0):
            self.alive = first
            return
        by_setting = n_splits * self.bench.fit_time(first[0], level)
        n_settings = int(SHARE_OF_FIRST_RUNG * self.bench.clock.left() / by_setting)
        self.alive = self.alive[: max(FEWEST_SETTINGS, n_settings)]

    def _rungs(self) -> Iterator[tuple[int, int]]:
        """Which rows, and how many splits of them: more answers with every rung."""
        levels = self.bench.levels
        for level, splits in enumerate(levels[:-1]):
            yield level, self._n_splits(splits, ANSWERS_OF_PARTS)
        last = levels[-1]
        first = self._n_splits(last, FIRST_ANSWERS)
        enough = max(first, self._n_splits(last, LAST_ANSWERS))
        enough = max(enough, min(last.n_folds, last.n_splits)) if len(levels) == 1 else enough
        middle = round(math.sqrt(first * enough))
        yield from ((len(levels) - 1, n) for n in sorted({first, middle, enough}))

    @staticmethod
    def _n_splits(splits: Splits, answers: int, repeats: int = MOST_REPEATS) -> int:
        by_split = splits.n_learned / max(1, splits.n_folds - 1)
        return max(1, min(splits.n_splits, repeats * splits.n_folds, math.ceil(answers / max(1.0, by_split))))

    def _planned(self, plan: Sequence[tuple[int, int]]) -> int:
        """Fits of all rungs."""
        alive, total = len(self.trials), 0
        done: dict[int, int] = {}
        for level, n_splits in plan:
            total += alive * (n_splits - done.get(level, 0))
            done[level] = n_splits
            alive = self._n_kept(alive)
        return total

    @staticmethod
    def _n_kept(n_alive: int) -> int:
        return min(n_alive, max(FINALISTS, math.ceil(n_alive / KEPT)))

    def _halve(self, plan: Sequence[tuple[int, int]]) -> None:
        for rung, (level, n_splits) in enumerate(plan):
            for index in range(n_splits):
                if not self._try_all(level, index):
                    return
            for trial in self.alive:
                trial.rung = rung
            if rung + 1 < len(plan):
                order = ranked(self.alive)
                self.alive = self._with_default(order[: self._n_kept(len(order))])
            best = ranked(self.alive)
            if best:
                score = best[0].value(shared_keys(best))
                say(self.verbose, f"{len(self.alive)} settings go on after {n_splits} splits; best score {score:.4f}")

    def _try_all(self, level: int, index: int) -> bool:
        """Tries those that are left on one more split; False where time is up, and they stay as they are.

        Single settings that are too slow for the time that is left drop out, unless one of them is the best so far.
        """
        kept = self.bench.run(self.alive, level, index)
        late = [trial for trial in self.alive if trial not in kept and trial.failure is None]
        compared = [trial for trial in self.alive if trial.failure is None and trial.curves]
        before = bool(late) and all(trial.curves for trial in late) and bool(shared_keys(compared))
        if before and (2 * len(kept) < len(compared) or ranked(compared)[0] in late):
            self.alive = compared
            return False
        if not kept:
            return False
        self.alive = self._with_default(kept)
        return True

    def _with_default(self, trials: list[Trial]) -> list[Trial]:
        """The default setting is always among those that go on."""
        missing = [t for t in self.trials if t.is_default and t not in trials and t.failure is None]
        return [*missing, *trials]

    def _leader(self) -> Trial:
        order = ranked(self.alive) or ranked(self.trials)
        if not order:
            self._raise_failure()
            return self.trials[0]
        return self._first_in_time(order)

    def _first_in_time(self, order: Sequence[Trial]) -> Trial:
        """The best setting that there is time to fit to all rows; the best of all where there is none."""
        left = self.bench.clock.left()
        return next((trial for trial in order if self.bench.refit_time(trial) <= left), order[0])

    def _raise_failure(self) -> None:
        failed = [trial for trial in self.trials if trial.failure is not None]
        if len(failed) == len(self.trials):
            first = failed[0]
            raise ValueError(
                f"All {len(failed)} settings failed; the first, {first.setting}, with: {first.failure}"
            ) from first.failure

    def _look_around(self, leader: Trial) -> Trial:
        """Settings one step away from the best, one after the other, as long as that gains something."""
        passes = PASSES_OF_BUDGET if self.bench.clock.limited else PASSES
        for _ in range(passes):
            before = leader
            self.bench.reserve = self.bench.refit_time(leader)
            for setting in self.beside(leader.setting) if self.beside is not None else ():
                if any(same_setting(trial.setting, setting) for trial in self.trials):
                    continue
                trial = Trial(setting, rounds_to_judge(setting["n_rounds"]), self._n_folds, rung=leader.rung)
                if self.bench.clock.left() <= self.bench.reserve:
                    return leader
                self._challenge(trial, leader)
                if trial.curves:
                    self.trials.append(trial)
                same = set(leader.keys_of_last_rows) <= set(trial.curves)
                if same and is_better(trial, leader, self._n_folds, WORTH_IT):
                    say(self.verbose, f"better beside it: {_difference(leader.setting, trial.setting)}")
                    leader = trial
                    self.bench.reserve = self.bench.refit_time(leader)
                    self.alive.append(trial)
            if leader is before:
                break
        return leader

    def _challenge(self, trial: Trial, leader: Trial) -> None:
        """On the splits of the leader; given up where it is behind after the first ones."""
        keys = leader.keys_of_last_rows
        few = self._n_splits(self.bench.levels[-1], FIRST_ANSWERS)
        for n_done, (level, index) in enumerate(keys, 1):
            if not self.bench.run([trial], level, index):
                return
            if n_done >= few and trial.value(keys[:n_done]) <= leader.value(keys[:n_done]):
                return

    def _repeat(self, leader: Trial) -> Trial:
        """The best few on more repeats of the folds, as long as there is time."""
        level = len(self.bench.levels) - 1
        last = self.bench.levels[level]
        reached = [trial for trial in ranked(self.alive) if trial.keys_of_last_rows and trial is not leader]
        same = [trial for trial in reached if set(leader.keys_of_last_rows) <= set(trial.curves)]
        default = [trial for trial in self.trials if trial.is_default and trial.failure is None]
        few = [leader, *(trial for trial in same[: FINALISTS - 1] if not trial.is_default)]
        few += [trial for trial in default if trial is not leader]
        for index in range(self._n_splits(last, ANSWERS_OF_BUDGET, REPEATS_OF_BUDGET)):
            kept = self.bench.run(few, level, index)
            if len(kept) < len(few):
                break
        order = ranked(few)
        self.alive = few
        return self._first_in_time(order) if order else leader

    @property
    def _n_folds(self) -> int:
        return self.bench.levels[-1].n_folds

    def _or_default(self, leader: Trial) -> Trial:
        default = next((trial for trial in self.trials if trial.is_default and trial.curves), None)
        if default is None or default.failure is not None or leader is default:
            return leader
        return leader if is_better(leader, default, self._n_folds, WORTH_LEAVING) else default


def same_setting(one: Setting, other: Setting) -> bool:
    return one.keys() == other.keys() and all(type(one[k]) is type(other[k]) and one[k] == other[k] for k in one)


def _difference(one: Setting, other: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in other.items() if name not in one or one[name] != value)
