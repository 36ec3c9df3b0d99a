"""Auto-tuning of DeepBoostClassifier: parameters that are "auto" are chosen by trials (short fits) on held-back rows.

Two kinds of ensembles compete. Votes with short steps (docs/defaults.md) are hard to beat on few or noisy rows. Trees
with numbers in their leaves ("rated" ones) fit complex data far better, and are chosen only if significantly better on
held-back rows.
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
from radboost.estimators._held_back import FEWEST_ROWS, HELD_BACK, Parts, drawn, parts_of
from radboost.estimators._learning import FitSettings
from radboost.estimators._race import HasLost, Judged, Pace, RaceWatch, ShortFit, Stages
from radboost.rows.prepare import PreparedRows
from radboost.rows.splitting import NothingToHoldBackError
from radboost.trees import TreeOptions

# Trials: number of rounds and learning rate.
LOOK_ROUNDS, LOOK_RATE = 120, 0.1
# How often trials are evaluated, with numbers and with votes.
PACE, PACE_OF_VOTES = Pace(every=5, stage=15, patience=10), Pace(every=30, stage=30, patience=None)
# A slower trial ends if its extrapolated deficit is significant. The threshold in standard errors, the factor on the
# gain since half of the rounds (extrapolation), and the first round at which this is tested.
CLEARLY, GAINS_TO_COME, SLOW_FROM = 2.0, 2.0, 60
# Lead in standard errors at which votes have won.
VOTES_AHEAD = 1.0
# Complexity penalties in descending order, and the indices of the two that are tried first.
PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
FIRST, LAST = 2, 5
DEEPEST = 12
# Numbers in leaves replace votes if they lead by this number of standard errors, of losses and errors together. More
# errors are multiplied by COST_OF_WRONG. Each doubling of the rows beyond those of trials adds a number of standard
# errors, as numbers gain on votes with more rows (docs/defaults.md).
BEYOND_CHANCE, COST_OF_WRONG, GAIN_OF_TWICE_THE_ROWS = 1.5, 2.0, 2.0
# Relative reduction of the loss that a setting which takes more time must achieve.
WORTH_IT = 0.01
# Learning rates of the whole fit, and the number of rows from which the largest one is used.
SMALLEST_RATE, LARGEST_RATE, ROWS_OF_LARGEST_RATE = 0.03, 0.1, 20_000
# Smallest learning rate if the number of rounds is given, as it may be small. It is the same for all numbers, so that
# a warm start can add rounds.
SMALLEST_RATE_OF_GIVEN_ROUNDS = 0.06
# Smallest number of distinct rows for numbers in leaves without trials, and their setting; rounds, rate and depth must
# all be "auto".
FEWEST_OF_NUMBERS = 50
WITHOUT_A_LOOK = {"complexity_penalty": 0.03, "learning_rate": 0.03, "n_rounds": 400}
# Limits of the number of rounds, and its factors: for the whole fit, and for trials that still improved at their end.
MOST_ROUNDS, FEWEST_ROUNDS, MORE_ROUNDS, UNFINISHED = 1000, 50, 1.2, 2.0
Setting = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Result of tuning: `looked`, if there were trials; `chosen`, the setting that replaces votes; None: keep votes."""

    looked: bool
    chosen: Setting | None = None


class Look:
    """Cached trials of an estimator on a sample of its `n_different` distinct rows."""

    def __init__(
        self, estimator: Any, prepared: PreparedRows, settings: FitSettings, parts: Parts, n_different: int
    ) -> None:
        self._estimator, growth = estimator, settings.growth
        self._options: TreeOptions = growth.options
        self._seed, self._n_threads = growth.seed, growth.n_threads
        self._seen: dict[tuple[Any, ...], ShortFit] = {}
        rows = drawn(prepared.unwatched(), parts.total, n_different, self._seed, self._n_threads)
        self.share = parts.learned / n_different
        self._rows, self._held_back, _ = rows.hold_back(parts.held_back / parts.total, self._seed, self._n_threads)
        self._weights = self._held_back.row_weights()

    def rated(self, setting: Setting, has_lost: HasLost | None = None) -> ShortFit:
        """Trial with numbers in leaves; cached. `has_lost` may end it early."""
        return self._fit({**setting, "leaves": "rated"}, has_lost)

    def slower(self, setting: Setting, than: Setting) -> ShortFit:
        """Trial of a setting that learns more slowly than `than`; ends once it gains too little to catch up."""
        other = self.rated(than)

        def behind(own: Judged) -> float:
            return self._standardised(own.losses - other.at(own.n_rounds).losses)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            return _to_come(behind, n_rounds, stages) >= CLEARLY

        return self.rated(setting, has_lost)

    def faster(self, setting: Setting, than: Setting, share: float = 0.0) -> ShortFit:
        """Trial of a setting that learns faster than `than`; ends unless its loss is lower by the fraction `share`."""
        other = self.rated(than)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            own = stages.at(n_rounds)
            return own is not None and self._mean(own.losses) >= (1.0 - share) * self._mean(other.at(n_rounds).losses)

        return self.rated(setting, has_lost)

    def votes(self, setting: Setting) -> Judged:
        """Trial with votes and default parameters; ends once it is clearly better or worse than `setting`."""
        rated = self.rated(setting)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            own = stages.at(n_rounds)
            if own is not None and n_rounds >= SLOW_FROM and self._ahead(rated, own) <= -VOTES_AHEAD:
                return True
            return _to_come(lambda own: self._ahead(rated, own), n_rounds, stages) >= BEYOND_CHANCE + CLEARLY

        return self._fit({"leaves": "votes"}, has_lost)

    def loss(self, setting: Setting) -> float:
        return self._loss(self.rated(setting))

    def is_clear(self, setting: Setting, other: Setting) -> bool:
        """Return True if the loss of `setting` is significantly lower than that of `other`."""
        one, two = self.rated(setting), self.rated(other)
        return two.lost or self._standardised(two.losses - one.losses) >= CLEARLY

    def improves(self, setting: Setting, than: Setting) -> bool:
        """Return True if a setting that takes more time, and learns faster at first, reduces the loss enough."""
        return self._loss(self.faster(setting, than, WORTH_IT)) < (1.0 - WORTH_IT) * self.loss(than)

    def gain(self, setting: Setting) -> float:
        """Standard errors by which the loss is below that of votes."""
        return self._standardised(self.votes(setting).losses - self.rated(setting).losses)

    def beats_votes(self, setting: Setting) -> bool:
        """Return True if losses and errors together are significantly lower than those of votes."""
        return not self.rated(setting).lost and self._ahead(self.rated(setting), self.votes(setting)) >= BEYOND_CHANCE

    def _ahead(self, rated: Judged, votes: Judged) -> float:
        """Lead over votes in standard errors, of losses and errors, with a bonus for rows that trials do not use."""
        fewer_wrong = self._standardised(votes.wrong - rated.wrong)
        weight = 1.0 if fewer_wrong > 0.0 else COST_OF_WRONG
        more_rows = math.log2(max(1.0, (1.0 - HELD_BACK) / self.share))
        lower = self._standardised(votes.losses - rated.losses)
        return lower + weight * fewer_wrong + GAIN_OF_TWICE_THE_ROWS * more_rows

    def _standardised(self, difference: FloatArray) -> float:
        """Weighted mean of differences by row, divided by its standard error."""
        mean = self._mean(difference)
        variance = self._mean(difference**2) - mean**2
        return mean / math.sqrt(max(variance, 1e-300) / self._weights.total)

    def _mean(self, values: FloatArray) -> float:
        return self._weights.mean(values, self._n_threads)

    def _loss(self, fit: ShortFit) -> float:
        return math.inf if fit.lost else self._mean(fit.losses)

    def _fit(self, setting: Setting, has_lost: HasLost | None) -> ShortFit:
        key = tuple(sorted(setting.items()))
        if key not in self._seen:
            self._seen[key] = self._run(setting, has_lost)
        return self._seen[key]

    def _run(self, setting: Setting, has_lost: HasLost | None) -> ShortFit:
        short = copy(self._estimator)
        short.random_state, short.warm_start, short.verbose = self._seed % 2**32, False, 0
        short.calibration, short.early_stopping = None, False
        options, pace = replace(self._options, leaves=setting["leaves"]), PACE_OF_VOTES
        if setting["leaves"] == "votes":
            short.n_rounds = "auto"
        else:
            options, pace = replace(options, thresholds=setting["thresholds"]), PACE
            short.n_rounds, short.learning_rate = LOOK_ROUNDS, LOOK_RATE
            short.complexity_penalty, short.max_depth = setting["complexity_penalty"], setting["max_depth"]
        short.tree_options = options
        maker = short._plan(self._rows, short._read_parameters(), Trace()).maker
        watch = RaceWatch(self._held_back, maker.objective, pace, has_lost, self._n_threads)
        with part_of_fit(f"trial {len(self._seen) + 1}"):
            driver = Driver(maker, short._n_stages(), watch, verbose=self._estimator.verbose)
            fit = watch.result(driver.run())
        told = ", ".join(f"{name} {value}" for name, value in setting.items())
        found = f"held-back loss {self._mean(fit.losses):.4f}, error {self._mean(fit.wrong):.4f}"
        say(self._estimator.verbose, f"looking at the data: {told}: {found}{', not finished' if fit.lost else ''}")
        return fit


def _to_come(behind: Callable[[Judged], float], n_rounds: int, stages: Stages) -> float:
    """Extrapolated final deficit of a slow trial, in the unit of `behind`; minus infinity in its first rounds."""
    now, before = stages.at(n_rounds), stages.at(n_rounds // 2) if n_rounds % 2 == 0 else None
    if n_rounds < SLOW_FROM or now is None or before is None:
        return -math.inf
    return behind(now) - GAINS_TO_COME * max(0.0, behind(before) - behind(now))


def look_at(estimator: Any, prepared: PreparedRows, settings: FitSettings, max_depth: int) -> Outcome:
    """Resolve parameters of a DeepBoostClassifier that are "auto"; `max_depth` is the first depth to try."""
    threads, options = settings.growth.n_threads, settings.growth.options
    n_different = prepared.n_different(threads)
    parts = parts_of(n_different, prepared.n_features, len(prepared.known_classes))
    exact = options.thresholds == "best"
    start: Setting = {"thresholds": "best" if exact else "random", "max_depth": max_depth}
    if parts.total < FEWEST_ROWS:
        given = [estimator.n_rounds, estimator.learning_rate, estimator.max_depth]
        all_free = all(isinstance(one, str) for one in given) and n_different >= FEWEST_OF_NUMBERS
        return Outcome(False, {**start, **WITHOUT_A_LOOK} if all_free else None)
    try:
        look = Look(estimator, prepared, settings, parts, n_different)
    except NothingToHoldBackError:  # no class has two rows
        return Outcome(looked=False)
    free = {"thresholds": options.thresholds == "auto", "max_depth": isinstance(estimator.max_depth, str)}
    found = choose(look, start, free)
    if found is None:
        return Outcome(looked=True)
    rate = estimator.learning_rate
    rounds: Any = estimator.n_rounds
    if isinstance(rate, str):
        rate = max(damping(n_different), 0.0 if isinstance(rounds, str) else SMALLEST_RATE_OF_GIVEN_ROUNDS)
    rate = float(rate)
    if isinstance(rounds, str):
        rounds = enough_rounds(look, found, rate) if settings.stopping is None else MOST_ROUNDS
    return Outcome(True, {**found, "learning_rate": rate, "n_rounds": int(rounds)})


def choose(look: Look, start: Setting, free: Mapping[str, bool]) -> Setting | None:
    """Choose the penalty, then depth and thresholds where these are `free`; None: votes are at least as good."""
    setting = {**start, "complexity_penalty": _best_penalty(look, start)}
    if not look.beats_votes(setting):
        # Columns with a few outliers need the best thresholds.
        drawn, setting = setting, {**setting, "thresholds": "best"}
        if not free["thresholds"]:
            return None
        look.faster(setting, drawn)
        if not look.beats_votes(setting):
            return None
    while free["max_depth"] and setting["max_depth"] + 2 <= DEEPEST:
        deeper = {**setting, "max_depth": setting["max_depth"] + 2}
        if not look.improves(deeper, setting):
            break
        setting = deeper
    exact = {**setting, "thresholds": "best"}
    if free["thresholds"] and exact != setting and look.improves(exact, setting):
        setting = exact
    return setting


def _best_penalty(look: Look, setting: Setting) -> float:
    """Best penalty: of two that are far apart the better one is the start of a search in its direction."""

    def with_penalty(place: int) -> Setting:
        return {**setting, "complexity_penalty": PENALTIES[place]}

    def loss(place: int) -> float:
        return look.loss(with_penalty(place))

    look.slower(with_penalty(FIRST), with_penalty(LAST))
    place = FIRST if loss(FIRST) <= loss(LAST) else LAST
    if look.gain(with_penalty(place)) < 0.0:
        return PENALTIES[place]  # votes lead: further trials are useless
    if place == LAST and look.is_clear(with_penalty(LAST), with_penalty(FIRST)):
        return PENALTIES[LAST]
    if place == LAST:
        while place - 1 > FIRST and loss(place - 1) < loss(place):
            place -= 1
        return PENALTIES[place]
    while place > 0:
        look.slower(with_penalty(place - 1), with_penalty(place))
        if loss(place - 1) >= loss(place):
            break
        place -= 1
    return PENALTIES[FIRST + 1 if place == FIRST and loss(FIRST + 1) < loss(FIRST) else place]


def damping(m: float) -> float:
    """Learning rate for m distinct rows: smaller ones are better and take longer, so they are for few rows."""
    return min(LARGEST_RATE, max(SMALLEST_RATE, LARGEST_RATE * math.sqrt(m / ROWS_OF_LARGEST_RATE)))


def enough_rounds(look: Look, setting: Setting, learning_rate: float) -> int:
    """Number of rounds of the whole fit: those of the trial, scaled by the learning rates and the number of rows.

    A trial that improved until its last round counts `UNFINISHED` times.
    """
    seen = float(look.rated(setting).n_rounds)
    seen *= UNFINISHED if seen >= LOOK_ROUNDS else 1.0
    rounds = MORE_ROUNDS * seen * LOOK_RATE / learning_rate / math.sqrt(look.share)
    return int(min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(rounds))))
