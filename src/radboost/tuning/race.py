"""Successive halving: many settings on few splits, the better ones on more; then neighbors of the best one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from radboost._progress import progress_bar, say
from radboost.tuning.bench import SAFETY_FACTOR, Bench, Key, Trial, standard_error
from radboost.tuning.scoring import rounds_to_score
from radboost.tuning.spaces import Setting
from radboost.tuning.splits import Splits

HALVING_FACTOR = 3  # one setting of this many goes on to the next rung
# Held-back predictions of each setting:
FIRST_PREDICTIONS = 600  # in the first rung on all rows
LAST_PREDICTIONS = 1500  # in the last rung
PREDICTIONS_OF_PARTS = 3_000  # in rungs on parts of large data
PREDICTIONS_OF_BUDGET = 6_000  # with a time budget, for the finalists
MOST_REPEATS, REPEATS_OF_BUDGET = 10, 20  # repeats of the folds; without and with a time budget
PASSES, PASSES_OF_BUDGET = 1, 20  # passes over the neighbors of the best setting; without and with a time budget
SPLITS_OF_MANY_ROWS = 3  # smallest number of splits of all rows of large data: one alone has no standard error
# Standard errors by which one setting must be better than another to replace it:
MIN_LEAD_OF_NEIGHBOR = 0.3  # a neighbor, than the best setting
MIN_LEAD_OVER_DEFAULT = 0.2  # the best setting, than the default
MIN_LEAD_OVER_DEFAULT_EARLY = 1.0  # the best setting, than the default, if time was up during the first rung
MIN_LEAD_OVER_SLOWER = 1.0  # the best setting, than itself with smaller steps
FINALISTS = 4  # settings
TIME_OF_FIRST_RUNG = 0.5  # fraction of the remaining time, which limits the number of settings
FEWEST_SETTINGS = 4  # of the first rung, however short the time


def common_keys(trials: Sequence[Trial]) -> list[Key]:
    """Splits that all trials were tried on, of the highest level that they have in common, ascending."""
    common = set.intersection(*(set(trial.curves) for trial in trials))
    level = max((key[0] for key in common), default=0)
    return sorted(key for key in common if key[0] == level)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Trials from the best to the worst on their common splits; without failed and untried ones."""
    tried = [trial for trial in trials if trial.curves and trial.failure is None]
    if not tried:
        return []
    keys = common_keys(tried)
    if not keys:
        return tried[:1]
    return sorted(tried, key=lambda trial: -trial.value(keys))


def is_better(one: Trial, other: Trial, n_folds: int, errors: float) -> bool:
    """Return True if the mean score of `one` is higher by `errors` standard errors of the difference."""
    keys = common_keys([one, other])
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
    """State of a search: `trials` are all settings, `alive` the ones that are still in the race.

    `neighbors` and `slower` return settings to try beside the best one; None: there are none.
    """

    bench: Bench
    trials: list[Trial]
    neighbors: Callable[[Setting], Iterable[Setting]] | None
    verbose: int = 0
    alive: list[Trial] = field(default_factory=list)
    slower: Callable[[Setting], Setting | None] = lambda _: None

    def run(self) -> Trial:
        """Best setting; the default one unless another is significantly better."""
        self.alive = list(self.trials)
        plan = list(self._rungs())
        if self.bench.clock.limited:
            self._limit_settings_by_time(*plan[0])
        with self.bench.progress(self._planned(plan), "fit"):
            self._halve(plan)
        leader = self._leader()
        keys = leader.keys_of_last_rows
        if self.neighbors is not None and len(keys) > 1 and self._are_enough(keys):
            # With a budget the step that gains most comes first; without one the cheap one.
            steps = [self._slow_down, self._try_neighbors]
            for step in steps if self.bench.clock.limited else reversed(steps):
                leader = step(leader)
        if self.bench.clock.limited:
            leader = self._repeat(leader)
        return self._or_default(leader)

    def _limit_settings_by_time(self, level: int, n_splits: int) -> None:
        """Keep as many of the first settings as the first rung has time for; few on enough splits beat many on few."""
        first = next((trial for trial in self.trials if self.bench.run([trial], level, 0) or not trial.failure), None)
        if first is None or not first.curves:  # all fail, or one fit takes too long
            self.alive = [] if first is None else [first]
            return
        by_setting = n_splits * self.bench.fit_time(first, level)
        n_settings = int(TIME_OF_FIRST_RUNG * self.bench.clock.left() / by_setting)
        self.alive = self.alive[: max(FEWEST_SETTINGS, n_settings)]

    def _rungs(self) -> Iterator[tuple[int, int]]:
        """Level and number of splits of each rung; held-back predictions increase with every rung."""
        levels = self.bench.levels
        for level, splits in enumerate(levels[:-1]):
            yield level, self._n_splits(splits, PREDICTIONS_OF_PARTS)
        last = levels[-1]
        first = self._n_splits(last, FIRST_PREDICTIONS)
        enough = max(first, self._n_splits(last, LAST_PREDICTIONS))
        enough = max(enough, min(last.n_splits, last.n_folds if len(levels) == 1 else SPLITS_OF_MANY_ROWS))
        middle = round(math.sqrt(first * enough))
        yield from ((len(levels) - 1, n) for n in sorted({first, middle, enough}))

    @staticmethod
    def _n_splits(splits: Splits, n_predictions: int, repeats: int = MOST_REPEATS) -> int:
        by_split = splits.n_learned / max(1, splits.n_folds - 1)
        return max(1, min(splits.n_splits, repeats * splits.n_folds, math.ceil(n_predictions / max(1.0, by_split))))

    def _planned(self, plan: Sequence[tuple[int, int]]) -> int:
        """Number of fits of all rungs, without those that were made to measure the time."""
        alive, total = len(self.alive), -sum(len(trial.curves) for trial in self.alive)
        done: dict[int, int] = {}
        for level, n_splits in plan:
            total += alive * (n_splits - done.get(level, 0))
            done[level] = n_splits
            alive = self._n_kept(alive)
        return total

    @staticmethod
    def _n_kept(n_alive: int) -> int:
        return min(n_alive, max(FINALISTS, math.ceil(n_alive / HALVING_FACTOR)))

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
                score = best[0].value(common_keys(best))
                say(self.verbose, f"{len(self.alive)} settings go on after {n_splits} splits; best score {score:.4f}")

    def _try_all(self, level: int, index: int) -> bool:
        """Try `alive` on one more split and drop single ones that are too slow; False, without this, if time is up."""
        kept = self.bench.run(self.alive, level, index)
        late = [trial for trial in self.alive if trial not in kept and trial.failure is None]
        compared = [trial for trial in self.alive if trial.failure is None and trial.curves]
        before = bool(late) and all(trial.curves for trial in late) and bool(common_keys(compared))
        if before and (2 * len(kept) < len(compared) or ranked(compared)[0] in late):
            self.alive = compared
            return False
        if not kept:
            return False
        self.alive = self._with_default(kept)
        return True

    def _with_default(self, trials: list[Trial]) -> list[Trial]:
        """These trials, and the default one before them if it is not among them."""
        missing = [t for t in self.trials if t.is_default and t not in trials and t.failure is None]
        return [*missing, *trials]

    def _leader(self) -> Trial:
        order = ranked(self.alive) or ranked(self.trials)
        if not order:
            self._raise_failure()
            return self.trials[0]
        return self._first_in_time(order)

    def _first_in_time(self, order: Sequence[Trial]) -> Trial:
        """First trial that can be fitted to all rows in the remaining time; the first of all if there is none."""
        # Trials end once only the reserve for the refit is left; its safety margin allows for the time since then.
        left = SAFETY_FACTOR * self.bench.clock.left()
        return next((trial for trial in order if self.bench.refit_time(trial) <= left), order[0])

    def _raise_failure(self) -> None:
        failed = [trial for trial in self.trials if trial.failure is not None]
        if len(failed) == len(self.trials):
            first = failed[0]
            raise ValueError(
                f"All {len(failed)} settings failed; the first, {first.setting}, with: {first.failure}"
            ) from first.failure

    def _slow_down(self, leader: Trial) -> Trial:
        """Leader with smaller steps, unless they are significantly worse: the score of a maximum of many is biased."""
        while (setting := self.slower(leader.setting)) is not None:
            trial = self._try_neighbor(leader, setting)
            if trial is None or is_better(leader, trial, self._n_folds, MIN_LEAD_OVER_SLOWER):
                break
            if trial not in self.alive:
                say(self.verbose, f"slower: {_changes(leader.setting, trial.setting)}")
                self.alive.append(trial)
            leader = trial
        return leader

    def _try_neighbors(self, leader: Trial) -> Trial:
        """Leader after a search among its neighbors, in passes that end when one gains nothing."""
        passes = PASSES_OF_BUDGET if self.bench.clock.limited else PASSES
        for _ in range(passes):
            before = leader
            settings = list(self.neighbors(leader.setting)) if self.neighbors is not None else []
            with progress_bar(len(settings), self.verbose, what="setting beside the best") as advance:
                for setting in settings:
                    trial = self._try_neighbor(leader, setting, give_up=True)
                    if trial is not None and is_better(trial, leader, self._n_folds, MIN_LEAD_OF_NEIGHBOR):
                        say(self.verbose, f"better beside it: {_changes(leader.setting, trial.setting)}")
                        self.alive.append(trial)
                        leader = trial
                    advance({"score": leader.value(leader.keys_of_last_rows)})
            if leader is before:
                break
        return leader

    def _try_neighbor(self, leader: Trial, setting: Setting, give_up: bool = False) -> Trial | None:
        """Trial of a setting on the leader's splits; None if there is no time, or it is not new or falls behind."""
        self.bench.reserve = self.bench.refit_time(leader)
        known = next((trial for trial in self.trials if same_setting(trial.setting, setting)), None)
        if self.bench.clock.left() <= self.bench.reserve or (known is not None and (give_up or known.failure)):
            return None
        trial = known or Trial(setting, rounds_to_score(setting["n_rounds"]), self._n_folds, rung=leader.rung)
        keys = leader.keys_of_last_rows
        few = self._n_splits(self.bench.levels[-1], FIRST_PREDICTIONS)
        # The number of fits of a trial that may be given up is not known: it is counted as one.
        n_fits = 0 if give_up else sum(key not in trial.curves for key in keys)
        with self.bench.progress(n_fits, "fit with smaller steps"):
            for n_done, (level, index) in enumerate(keys, 1):
                if not self.bench.run([trial], level, index):
                    break
                if give_up and n_done >= few and trial.value(keys[:n_done]) <= leader.value(keys[:n_done]):
                    break
        if trial.curves and known is None:
            self.trials.append(trial)
        return trial if set(keys) <= set(trial.curves) else None

    def _repeat(self, leader: Trial) -> Trial:
        """Leader after the best few were tried on more repeats of the folds, while there is time."""
        level = len(self.bench.levels) - 1
        last = self.bench.levels[level]
        reached = [trial for trial in ranked(self.alive) if trial.keys_of_last_rows and trial is not leader]
        same = [trial for trial in reached if set(leader.keys_of_last_rows) <= set(trial.curves)]
        default = [trial for trial in self.trials if trial.is_default and trial.failure is None]
        few = [leader, *(trial for trial in same[: FINALISTS - 1] if not trial.is_default)]
        few += [trial for trial in default if trial is not leader]
        keys = [(level, index) for index in range(self._n_splits(last, PREDICTIONS_OF_BUDGET, REPEATS_OF_BUDGET))]
        missing = sum(key not in trial.curves for trial in few for key in keys)
        with self.bench.progress(missing, "fit of the last settings"):
            for key in keys:
                if len(self.bench.run(few, *key)) < len(few):
                    break
        order = ranked(few)
        self.alive = few
        return self._first_in_time(order) if order else leader

    @property
    def _n_folds(self) -> int:
        return self.bench.levels[-1].n_folds

    def _or_default(self, leader: Trial) -> Trial:
        """The leader, if better than the default setting; otherwise that, with smaller steps if they are no worse."""
        default = next((trial for trial in self.trials if trial.is_default and trial.curves), None)
        if default is None or default.failure is not None:
            return leader
        keys = common_keys([leader, default])
        enough = self._are_enough(keys)
        min_splits, errors = (1, MIN_LEAD_OVER_DEFAULT) if enough else (2, MIN_LEAD_OVER_DEFAULT_EARLY)
        if leader is not default and len(keys) >= min_splits and is_better(leader, default, self._n_folds, errors):
            return leader
        return self._first_in_time([self._slow_down(default), default]) if enough and len(keys) > 1 else default

    def _are_enough(self, keys: Sequence[Key]) -> bool:
        """Return True if there are as many splits as the first rung at their level has."""
        return len(keys) >= self._n_splits(self.bench.levels[keys[0][0]], FIRST_PREDICTIONS) if keys else False


def same_setting(one: Setting, other: Setting) -> bool:
    return one.keys() == other.keys() and all(type(one[k]) is type(other[k]) and one[k] == other[k] for k in one)


def _changes(one: Setting, other: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in other.items() if name not in one or one[name] != value)
