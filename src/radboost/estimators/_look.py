"""What "auto" stands for: chosen by short fits of which some rows are held back.

Two kinds of ensembles compete. Votes with short steps (docs/defaults.md) are hard to beat on few or noisy rows; trees
whose leaves hold numbers learn far more where there is more to learn. The second take over only where held-back rows
say so beyond chance.
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

# Short fits: rounds and damping.
LOOK_ROUNDS, LOOK_RATE = 120, 0.1
# How often held-back rows are looked at.
PACE, PACE_OF_VOTES = Pace(every=5, stage=15, patience=10), Pace(every=30, stage=30, patience=None)
# A fit that learns more slowly than another has lost where it would stay behind by so many standard errors if it gained
# so many times what it gained since it had half as many rounds; asked from the round on that comes with it.
CLEARLY, GAINS_TO_COME, SLOW_FROM = 2.0, 2.0, 60
# Votes that are ahead by so many standard errors stay ahead.
VOTES_AHEAD = 1.0
# Penalties, from the largest; the search begins with two of them and goes on in the direction of the lower loss.
PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
FIRST, LAST = 2, 5
DEEPEST = 12
# Numbers in leaves take over where held-back losses and errors together are lower by so many standard errors, those of
# errors counting so often where there are more. Each time that there are twice as many rows as short fits learn from
# stands for so many standard errors: the more rows there are, the more numbers gain on votes (docs/defaults.md).
BEYOND_CHANCE, COST_OF_WRONG, GAIN_OF_TWICE_THE_ROWS = 1.5, 2.0, 2.0
# A choice that costs more time has to be better by this share.
WORTH_IT = 0.01
# Damping of the whole fit: as strong as the time that it takes allows.
SMALLEST_RATE, LARGEST_RATE, ROWS_OF_LARGEST_RATE = 0.03, 0.1, 20_000
# The smallest where the number of rounds is given, which may be few; not a function of it, so that fits can go on.
SMALLEST_RATE_OF_GIVEN_ROUNDS = 0.06
# Where rows are too few for a look, but no fewer than this, and rounds, rate and depth are "auto" too.
FEWEST_OF_NUMBERS = 50
WITHOUT_A_LOOK = {"complexity_penalty": 0.03, "learning_rate": 0.03, "n_rounds": 400}
MOST_ROUNDS, FEWEST_ROUNDS, MORE_ROUNDS, UNFINISHED = 1000, 50, 1.2, 2.0
Setting = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Whether there were rows to look at, and what was chosen instead of votes; None where these are as good."""

    looked: bool
    chosen: Setting | None = None


class Look:
    """Short fits of an estimator on some of the `n_different` rows."""

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
        """A short fit; that of the first time, where it is asked for again."""
        return self._fit({**setting, "leaves": "rated"}, has_lost)

    def slower(self, setting: Setting, than: Setting) -> ShortFit:
        """A fit that may end where it is behind another one and gains too little to catch up."""
        other = self.rated(than)

        def behind(own: Judged) -> float:
            return self._standardised(own.losses - other.at(own.n_rounds).losses)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            return _to_come(behind, n_rounds, stages) >= CLEARLY

        return self.rated(setting, has_lost)

    def faster(self, setting: Setting, than: Setting, share: float = 0.0) -> ShortFit:
        """A fit that learns faster at first than another: it ends where it is not ahead by that share, or no longer."""
        other = self.rated(than)

        def has_lost(n_rounds: int, stages: Stages) -> bool:
            own = stages.at(n_rounds)
            return own is not None and self._mean(own.losses) >= (1.0 - share) * self._mean(other.at(n_rounds).losses)

        return self.rated(setting, has_lost)

    def votes(self, setting: Setting) -> Judged:
        """A fit with what "auto" stands for without a look, of all its rounds, or until numbers with this setting are
        clearly better or worse.
        """
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
        """Whether the loss is lower beyond chance."""
        one, two = self.rated(setting), self.rated(other)
        return two.lost or self._standardised(two.losses - one.losses) >= CLEARLY

    def improves(self, setting: Setting, than: Setting) -> bool:
        """Whether what costs more time, and learns faster at first, is worth it."""
        return self._loss(self.faster(setting, than, WORTH_IT)) < (1.0 - WORTH_IT) * self.loss(than)

    def gain(self, setting: Setting) -> float:
        """By how many standard errors the loss is below that of votes."""
        return self._standardised(self.votes(setting).losses - self.rated(setting).losses)

    def beats_votes(self, setting: Setting) -> bool:
        """Whether losses and errors together are lower, beyond chance."""
        return not self.rated(setting).lost and self._ahead(self.rated(setting), self.votes(setting)) >= BEYOND_CHANCE

    def _ahead(self, rated: Judged, votes: Judged) -> float:
        """Of votes, in standard errors; rows that short fits do not learn from count too."""
        fewer_wrong = self._standardised(votes.wrong - rated.wrong)
        weight = 1.0 if fewer_wrong > 0.0 else COST_OF_WRONG
        more_rows = math.log2(max(1.0, (1.0 - HELD_BACK) / self.share))
        lower = self._standardised(votes.losses - rated.losses)
        return lower + weight * fewer_wrong + GAIN_OF_TWICE_THE_ROWS * more_rows

    def _standardised(self, difference: FloatArray) -> float:
        """A mean in standard errors."""
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
    """How far a fit that learns slowly will be behind in the end; minus infinity where it is too early to tell."""
    now, before = stages.at(n_rounds), stages.at(n_rounds // 2) if n_rounds % 2 == 0 else None
    if n_rounds < SLOW_FROM or now is None or before is None:
        return -math.inf
    return behind(now) - GAINS_TO_COME * max(0.0, behind(before) - behind(now))


def look_at(estimator: Any, prepared: PreparedRows, settings: FitSettings, max_depth: int) -> Outcome:
    """What is put where parameters of a DeepBoostClassifier say "auto"; `max_depth` is where the look begins."""
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
    """The penalty first, along the path; then depth, then thresholds, where these are free. None: votes are as good."""
    setting = {**start, "complexity_penalty": _best_penalty(look, start)}
    if not look.beats_votes(setting):
        # Columns with a few far values need their thresholds looked for.
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
    """Two penalties that are far apart first: the better one says in which direction to go on."""

    def with_penalty(place: int) -> Setting:
        return {**setting, "complexity_penalty": PENALTIES[place]}

    def loss(place: int) -> float:
        return look.loss(with_penalty(place))

    look.slower(with_penalty(FIRST), with_penalty(LAST))
    place = FIRST if loss(FIRST) <= loss(LAST) else LAST
    if look.gain(with_penalty(place)) < 0.0:
        return PENALTIES[place]  # votes are ahead: further fits would be in vain
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
    """A learning rate: smaller ones are better and take longer, which few rows can afford."""
    return min(LARGEST_RATE, max(SMALLEST_RATE, LARGEST_RATE * math.sqrt(m / ROWS_OF_LARGEST_RATE)))


def enough_rounds(look: Look, setting: Setting, learning_rate: float) -> int:
    """As many as short fits had use for, damped more and on more rows, which can bear more.

    Fits that were still learning when they ended had use for more.
    """
    seen = float(look.rated(setting).n_rounds)
    seen *= UNFINISHED if seen >= LOOK_ROUNDS else 1.0
    rounds = MORE_ROUNDS * seen * LOOK_RATE / learning_rate / math.sqrt(look.share)
    return int(min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(rounds))))
