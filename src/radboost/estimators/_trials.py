"""Auto-tuning of DeepBoostClassifier: parameters that are "auto" are chosen by trials (short fits) on held-back rows.

Two kinds of ensembles compete (docs/defaults.md). Trees whose leaves vote -1 or 1 ("votes") are hard to beat on few or
noisy rows. Trees with real-valued leaves ("rated") fit complex data far better. They are chosen only if significantly
better on held-back rows. The estimator calls `tune`. "SE" stands for standard errors of a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from radboost._progress import part_of_fit, say
from radboost._typing import FloatArray
from radboost.boosting import Driver, Trace
from radboost.estimators._held_back import FEWEST_ROWS, HELD_BACK, Parts, parts_of, sample
from radboost.estimators._learning import FitSettings
from radboost.estimators._trial_monitor import HasLost, HeldBackLosses, Pace, Stages, TrialMonitor, TrialResult
from radboost.rows.prepare import PreparedRows
from radboost.rows.splitting import NothingToHoldBackError
from radboost.trees import TreeOptions

TRIAL_ROUNDS = 120
TRIAL_RATE = 0.1  # learning rate of trials
# How often trials are evaluated: with rated leaves, and with votes.
PACE, VOTES_PACE = Pace(every=5, stage=15, patience=10), Pace(every=30, stage=30, patience=None)
SIGNIFICANT = 2.0  # SE; a slower trial ends if its extrapolated deficit is this large
EXTRAPOLATION = 2.0  # factor on the gain of the second half of the rounds, for the gain still to come
FIRST_ROUND_TO_EXTRAPOLATE = 60
VOTES_WIN = 1.0  # SE; lead at which votes have won
RATED_WIN = 1.5  # SE, of losses and errors together; lead at which rated leaves replace votes
ERROR_FACTOR = 2.0  # on the part of that lead that is due to errors, if rated leaves make more of them
BONUS_PER_DOUBLING = 2.0  # SE, for each doubling of the rows beyond those of trials: rated leaves gain with more rows
PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)  # complexity penalties, descending
MIDDLE_PENALTY, SMALLEST_PENALTY = 2, 5  # indices of the two penalties that are tried first
DEEPEST = 12  # largest depth that is tried
MIN_IMPROVEMENT = 0.01  # relative reduction of the loss that a setting which takes more time must achieve
SMALLEST_RATE, LARGEST_RATE = 0.03, 0.1  # learning rate of the whole fit
ROWS_OF_LARGEST_RATE = 20_000
# Smallest learning rate if the number of rounds is given. It does not depend on that number, so that a warm start can
# add rounds.
SMALLEST_RATE_OF_GIVEN_ROUNDS = 0.06
# Smallest number of distinct rows for rated leaves without trials, and their setting; used only if number of rounds,
# learning rate and depth are all "auto".
FEWEST_ROWS_OF_RATED_LEAVES = 50
SETTING_WITHOUT_TRIALS = {"complexity_penalty": 0.03, "learning_rate": 0.03, "n_rounds": 400}
FEWEST_ROUNDS, MOST_ROUNDS = 50, 1000  # of the whole fit
MORE_ROUNDS = 1.2  # factor on the scaled number of rounds of a trial
UNFINISHED = 2.0  # factor on the rounds of a trial that improved until its end
# Parameters of a trial by name: complexity_penalty, max_depth, thresholds; leaves.
Setting = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Result of tuning."""

    had_trials: bool
    chosen: Setting | None = None  # parameters of rated leaves; None: keep votes, with their default parameters


class Trials:
    """Cached trials of an estimator on a sample of its `n_different` distinct rows.

    `fraction` is the fraction of the distinct rows that trials learn from.
    """

    def __init__(
        self, estimator: Any, prepared: PreparedRows, settings: FitSettings, parts: Parts, n_different: int
    ) -> None:
        self._estimator, growth = estimator, settings.growth
        self._options: TreeOptions = growth.options
        self._seed, self._n_threads = growth.seed, growth.n_threads
        self._results: dict[tuple[Any, ...], TrialResult] = {}
        rows = sample(prepared.unwatched(), parts.total, n_different, self._seed, self._n_threads)
        self.fraction = parts.learned / n_different
        self._rows, self._held_back, _ = rows.hold_back(parts.held_back / parts.total, self._seed, self._n_threads)
        self._weights = self._held_back.row_weights()

    def rated(self, setting: Setting, has_lost: HasLost | None = None) -> TrialResult:
        """Trial with rated leaves; cached. `has_lost` may end it early."""
        return self._fit({**setting, "leaves": "rated"}, has_lost)

    def slower(self, setting: Setting, than: Setting) -> TrialResult:
        """Trial of a setting that learns more slowly than `than`; ends once it gains too little to catch up."""
        other = self.rated(than)

        def behind(result: HeldBackLosses) -> float:
            return self._standardised(result.losses - other.at(result.n_rounds).losses)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            return _extrapolated(behind, n_rounds, stages) >= SIGNIFICANT

        return self.rated(setting, has_lost)

    def faster(self, setting: Setting, than: Setting, margin: float = 0.0) -> TrialResult:
        """Trial of a setting that learns faster than `than`; ends unless its loss is lower by the fraction `margin`."""
        other = self.rated(than)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            result = stages.at(n_rounds)
            return result is not None and self._mean(result.losses) >= (1.0 - margin) * self._mean(
                other.at(n_rounds).losses
            )

        return self.rated(setting, has_lost)

    def votes(self, setting: Setting) -> HeldBackLosses:
        """Trial with votes and default parameters; ends once it is clearly better or worse than `setting`."""
        rated = self.rated(setting)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            result = stages.at(n_rounds)
            if (
                result is not None
                and n_rounds >= FIRST_ROUND_TO_EXTRAPOLATE
                and self._lead(rated, result) <= -VOTES_WIN
            ):
                return True
            return _extrapolated(lambda votes: self._lead(rated, votes), n_rounds, stages) >= RATED_WIN + SIGNIFICANT

        return self._fit({"leaves": "votes"}, has_lost)

    def loss(self, setting: Setting) -> float:
        return self._loss(self.rated(setting))

    def is_clear(self, setting: Setting, other: Setting) -> bool:
        """Return True if the loss of `setting` is significantly lower than that of `other`."""
        one, two = self.rated(setting), self.rated(other)
        return two.lost or self._standardised(two.losses - one.losses) >= SIGNIFICANT

    def improves(self, setting: Setting, than: Setting) -> bool:
        """Return True if a setting that takes more time, and learns faster at first, reduces the loss enough."""
        return self._loss(self.faster(setting, than, MIN_IMPROVEMENT)) < (1.0 - MIN_IMPROVEMENT) * self.loss(than)

    def gain(self, setting: Setting) -> float:
        """Difference of the losses, votes minus `setting`, in SE."""
        return self._standardised(self.votes(setting).losses - self.rated(setting).losses)

    def beats_votes(self, setting: Setting) -> bool:
        """Return True if rated leaves with `setting` lead votes significantly, in losses and errors together."""
        return not self.rated(setting).lost and self._lead(self.rated(setting), self.votes(setting)) >= RATED_WIN

    def _lead(self, rated: HeldBackLosses, votes: HeldBackLosses) -> float:
        """Lead of rated leaves over votes in SE, of losses and errors, with a bonus for rows that trials do not use."""
        fewer_wrong = self._standardised(votes.wrong - rated.wrong)
        weight = 1.0 if fewer_wrong > 0.0 else ERROR_FACTOR
        more_rows = math.log2(max(1.0, (1.0 - HELD_BACK) / self.fraction))
        lower = self._standardised(votes.losses - rated.losses)
        return lower + weight * fewer_wrong + BONUS_PER_DOUBLING * more_rows

    def _standardised(self, difference: FloatArray) -> float:
        """Weighted mean of differences by row, shape (n_held_back,), divided by its standard error."""
        mean = self._mean(difference)
        variance = self._mean(difference**2) - mean**2
        return mean / math.sqrt(max(variance, 1e-300) / self._weights.total)

    def _mean(self, values: FloatArray) -> float:
        return self._weights.mean(values, self._n_threads)

    def _loss(self, fit: TrialResult) -> float:
        return math.inf if fit.lost else self._mean(fit.losses)

    def _fit(self, setting: Setting, has_lost: HasLost | None) -> TrialResult:
        key = tuple(sorted(setting.items()))
        if key not in self._results:
            self._results[key] = self._run(setting, has_lost)
        return self._results[key]

    def _run(self, setting: Setting, has_lost: HasLost | None) -> TrialResult:
        short = copy(self._estimator)
        short.random_state, short.warm_start, short.verbose = self._seed % 2**32, False, 0
        short.calibration, short.early_stopping = None, False
        options, pace = replace(self._options, leaves=setting["leaves"]), VOTES_PACE
        if setting["leaves"] == "votes":
            short.n_rounds = "auto"
        else:
            options, pace = replace(options, thresholds=setting["thresholds"]), PACE
            short.n_rounds, short.learning_rate = TRIAL_ROUNDS, TRIAL_RATE
            short.complexity_penalty, short.max_depth = setting["complexity_penalty"], setting["max_depth"]
        short.tree_options = options
        maker = short._plan(self._rows, short._read_parameters(), Trace()).maker
        monitor = TrialMonitor(self._held_back, maker.objective, pace, has_lost, self._n_threads)
        with part_of_fit(f"trial {len(self._results) + 1}"):
            driver = Driver(maker, short._n_stages(), monitor, verbose=self._estimator.verbose)
            result = monitor.result(driver.run())
        described = ", ".join(f"{name} {value}" for name, value in setting.items())
        losses = f"held-back loss {self._mean(result.losses):.4f}, error {self._mean(result.wrong):.4f}"
        unfinished = ", not finished" if result.lost else ""
        say(self._estimator.verbose, f"looking at the data: {described}: {losses}{unfinished}")
        return result


def _extrapolated(behind: Callable[[HeldBackLosses], float], n_rounds: int, stages: Stages) -> float:
    """Extrapolated final deficit of a trial, in the unit of `behind`; minus infinity if it is too early to tell."""
    now, before = stages.at(n_rounds), stages.at(n_rounds // 2) if n_rounds % 2 == 0 else None
    if n_rounds < FIRST_ROUND_TO_EXTRAPOLATE or now is None or before is None:
        return -math.inf
    return behind(now) - EXTRAPOLATION * max(0.0, behind(before) - behind(now))


def tune(estimator: Any, prepared: PreparedRows, settings: FitSettings, max_depth: int) -> Outcome:
    """Resolve parameters of a DeepBoostClassifier that are "auto"; `max_depth` is the first depth to try."""
    threads, options = settings.growth.n_threads, settings.growth.options
    n_different = prepared.n_different(threads)
    parts = parts_of(n_different, prepared.n_features, len(prepared.known_classes))
    exact = options.thresholds == "best"
    start: Setting = {"thresholds": "best" if exact else "random", "max_depth": max_depth}
    if parts.total < FEWEST_ROWS:
        given = [estimator.n_rounds, estimator.learning_rate, estimator.max_depth]
        all_automatic = (
            all(isinstance(parameter, str) for parameter in given) and n_different >= FEWEST_ROWS_OF_RATED_LEAVES
        )
        return Outcome(False, {**start, **SETTING_WITHOUT_TRIALS} if all_automatic else None)
    try:
        trials = Trials(estimator, prepared, settings, parts, n_different)
    except NothingToHoldBackError:  # no class has two distinct rows
        return Outcome(had_trials=False)
    free = {"thresholds": options.thresholds == "auto", "max_depth": isinstance(estimator.max_depth, str)}
    chosen = choose(trials, start, free)
    if chosen is None:
        return Outcome(had_trials=True)
    rate = estimator.learning_rate
    rounds: Any = estimator.n_rounds
    if isinstance(rate, str):
        rate = max(rate_for(n_different), 0.0 if isinstance(rounds, str) else SMALLEST_RATE_OF_GIVEN_ROUNDS)
    rate = float(rate)
    if isinstance(rounds, str):
        rounds = enough_rounds(trials, chosen, rate) if settings.stopping is None else MOST_ROUNDS
    return Outcome(True, {**chosen, "learning_rate": rate, "n_rounds": int(rounds)})


def choose(trials: Trials, start: Setting, free: Mapping[str, bool]) -> Setting | None:
    """Choose the penalty, then depth and thresholds if these are `free`; None: votes are at least as good."""
    setting = {**start, "complexity_penalty": _best_penalty(trials, start)}
    if not trials.beats_votes(setting):
        # Columns with a few outliers need the best thresholds.
        with_random, setting = setting, {**setting, "thresholds": "best"}
        if not free["thresholds"]:
            return None
        trials.faster(setting, with_random)
        if not trials.beats_votes(setting):
            return None
    while free["max_depth"] and setting["max_depth"] + 2 <= DEEPEST:
        deeper = {**setting, "max_depth": setting["max_depth"] + 2}
        if not trials.improves(deeper, setting):
            break
        setting = deeper
    exact = {**setting, "thresholds": "best"}
    if free["thresholds"] and exact != setting and trials.improves(exact, setting):
        setting = exact
    return setting


def _best_penalty(trials: Trials, setting: Setting) -> float:
    """Best penalty: the search starts at the better one of two and goes in its direction while the loss falls."""

    def with_penalty(index: int) -> Setting:
        return {**setting, "complexity_penalty": PENALTIES[index]}

    def loss(index: int) -> float:
        return trials.loss(with_penalty(index))

    trials.slower(with_penalty(MIDDLE_PENALTY), with_penalty(SMALLEST_PENALTY))
    index = MIDDLE_PENALTY if loss(MIDDLE_PENALTY) <= loss(SMALLEST_PENALTY) else SMALLEST_PENALTY
    if trials.gain(with_penalty(index)) < 0.0:
        return PENALTIES[index]  # votes lead: further trials are useless
    if index == SMALLEST_PENALTY and trials.is_clear(with_penalty(SMALLEST_PENALTY), with_penalty(MIDDLE_PENALTY)):
        return PENALTIES[SMALLEST_PENALTY]
    if index == SMALLEST_PENALTY:
        while index - 1 > MIDDLE_PENALTY and loss(index - 1) < loss(index):
            index -= 1
        return PENALTIES[index]
    while index > 0:
        trials.slower(with_penalty(index - 1), with_penalty(index))
        if loss(index - 1) >= loss(index):
            break
        index -= 1
    return PENALTIES[
        MIDDLE_PENALTY + 1 if index == MIDDLE_PENALTY and loss(MIDDLE_PENALTY + 1) < loss(MIDDLE_PENALTY) else index
    ]


def rate_for(m: float) -> float:
    """Learning rate for m distinct rows: lower rates are better but need more rounds, so few rows get lower ones."""
    return min(LARGEST_RATE, max(SMALLEST_RATE, LARGEST_RATE * math.sqrt(m / ROWS_OF_LARGEST_RATE)))


def enough_rounds(trials: Trials, setting: Setting, learning_rate: float) -> int:
    """Number of rounds of the whole fit: rounds of the trial, scaled by the learning rates and the number of rows.

    A trial that improved until its last round counts `UNFINISHED` times.
    """
    n_rounds = float(trials.rated(setting).n_rounds)
    n_rounds *= UNFINISHED if n_rounds >= TRIAL_ROUNDS else 1.0
    rounds = MORE_ROUNDS * n_rounds * TRIAL_RATE / learning_rate / math.sqrt(trials.fraction)
    return int(min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(rounds))))
