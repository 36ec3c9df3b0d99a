"""What "auto" stands for: chosen by short fits of which some rows are held back.

Two kinds of ensembles compete. Votes with short steps (docs/defaults.md) are hard to beat on few or noisy rows; trees
whose leaves hold numbers learn far more where there is more to learn. The second take over only where held-back rows
say so beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from radboost._progress import say
from radboost._typing import FloatArray
from radboost.boosting.watch import EarlyStopping
from radboost.estimators._held_back import FEWEST_ROWS, HELD_BACK, Parts, drawn, parts_of
from radboost.estimators._learning import FitSettings, learn
from radboost.rows.prepare import NothingToHoldBackError, PreparedRows, Watched
from radboost.trees import TreeOptions

# Short fits: rounds, damping, and the rounds that they wait for a lower loss.
LOOK_ROUNDS, LOOK_RATE, LOOK_PATIENCE = 120, 0.1, 10
# Penalties, from the largest; the search begins with two of them and goes on in the direction of the lower loss.
PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
DEEPEST = 12
# Numbers in leaves take over where held-back losses and errors together are lower by so many standard errors, those of
# errors counting so often where there are more. Each time that there are twice as many rows as short fits learn from
# stands for so many standard errors: the more rows there are, the more numbers gain on votes (docs/defaults.md).
BEYOND_CHANCE, COST_OF_WRONG, GAIN_OF_TWICE_THE_ROWS = 1.5, 2.0, 2.0
# A choice that costs more time has to be better by this share.
WORTH_IT = 0.01
# Damping of the whole fit: as strong as the time that it takes allows.
SMALLEST_RATE, LARGEST_RATE, ROWS_OF_LARGEST_RATE = 0.03, 0.1, 20_000
MOST_ROUNDS, FEWEST_ROUNDS, MORE_ROUNDS, UNFINISHED = 1000, 50, 1.2, 2.0
# Factors on scores, as logarithms, and how they are searched.
LOG_FACTORS, GOLDEN, GOLDEN_STEPS = (-2.5, 2.5), (math.sqrt(5.0) - 1.0) / 2.0, 10

Setting = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """What held-back rows say of a short fit."""

    losses: FloatArray  # of each row, with the best factor on the scores
    wrong: FloatArray
    n_rounds: int


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
        self._seen: dict[tuple[Any, ...], Judged] = {}
        rows = drawn(prepared.unwatched(), parts.total, n_different, self._seed, self._n_threads)
        self.share = parts.learned / n_different
        self._rows, self._held_back, _ = rows.hold_back(parts.held_back / parts.total, self._seed, self._n_threads)
        self._weights = self._held_back.row_weights()

    def votes(self) -> Judged:
        """A fit with what "auto" stands for without a look, of all its rounds."""
        return self._judged({"leaves": "votes"})

    def rated(self, setting: Setting) -> Judged:
        return self._judged({**setting, "leaves": "rated"})

    def loss(self, setting: Setting) -> float:
        return self._mean(self.rated(setting).losses)

    def gain(self, setting: Setting) -> float:
        """By how many standard errors the loss is below that of votes."""
        return self._standardised(self.votes().losses - self.rated(setting).losses)

    def beats_votes(self, setting: Setting) -> bool:
        """Whether losses and errors together are lower, beyond chance."""
        fewer_wrong = self._standardised(self.votes().wrong - self.rated(setting).wrong)
        weight = 1.0 if fewer_wrong > 0.0 else COST_OF_WRONG
        more_rows = math.log2(max(1.0, (1.0 - HELD_BACK) / self.share))
        return self.gain(setting) + weight * fewer_wrong + GAIN_OF_TWICE_THE_ROWS * more_rows >= BEYOND_CHANCE

    def _standardised(self, difference: FloatArray) -> float:
        """A mean in standard errors."""
        mean = self._mean(difference)
        variance = self._mean(difference**2) - mean**2
        return mean / math.sqrt(max(variance, 1e-300) / self._weights.total)

    def _mean(self, values: FloatArray) -> float:
        return self._weights.mean(values, self._n_threads)

    def _judged(self, setting: Setting) -> Judged:
        key = tuple(sorted(setting.items()))
        if key not in self._seen:
            self._seen[key] = self._judge(setting)
        return self._seen[key]

    def _judge(self, setting: Setting) -> Judged:
        rows, watched = self._rows, self._held_back
        short = copy(self._estimator)
        short.random_state, short.warm_start, short.verbose = self._seed % 2**32, False, 0
        short.calibration = None
        options = replace(self._options, leaves=setting["leaves"])
        if setting["leaves"] == "votes":
            short.n_rounds, short.early_stopping = "auto", False
        else:
            rows = replace(rows, validation=watched)
            options = replace(options, thresholds=setting["thresholds"])
            short.n_rounds, short.learning_rate = LOOK_ROUNDS, LOOK_RATE
            short.complexity_penalty, short.max_depth = setting["complexity_penalty"], setting["max_depth"]
            short.early_stopping = EarlyStopping(LOOK_PATIENCE)
        short.tree_options = options
        fitted = learn(short, rows)
        scores = watched.scores(fitted.ensemble_, self._n_threads)
        answers = (scores > 0.0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        wrong = (answers != watched.class_ids).astype(np.float64)
        judged = Judged(calibrated_losses(scores, watched, self._n_threads), wrong, fitted.n_iter_)
        told = ", ".join(f"{name} {value}" for name, value in setting.items())
        found = f"held-back loss {self._mean(judged.losses):.4f}, error {self._mean(wrong):.4f}"
        say(self._estimator.verbose, f"looking at the data: {told}: {found}")
        return judged


def calibrated_losses(scores: FloatArray, rows: Watched, n_threads: int) -> FloatArray:
    """The log loss of each row, for probabilities from scores times a factor, the best one for their mean.

    Penalties and damping shrink scores. That says nothing about who is right, and a factor undoes it.
    """
    weights, ids = rows.row_weights(), rows.class_ids.astype(np.int64)
    places = np.arange(len(ids))

    def losses(log_factor: float) -> FloatArray:
        scaled = math.exp(log_factor) * scores
        if scores.ndim == 1:
            return np.asarray(np.logaddexp(0.0, np.where(ids == 1, -scaled, scaled)))
        largest = scaled.max(axis=1)
        sums = np.exp(scaled - largest[:, None]).sum(axis=1)
        return np.asarray(np.log(sums) + largest - scaled[places, ids])

    def mean(log_factor: float) -> float:
        return weights.mean(losses(log_factor), n_threads)

    low, high = LOG_FACTORS
    for _ in range(GOLDEN_STEPS):
        inner, outer = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, outer) if mean(inner) <= mean(outer) else (inner, high)
    return losses(0.5 * (low + high))


def look_at(estimator: Any, prepared: PreparedRows, settings: FitSettings, max_depth: int) -> Outcome:
    """What is put where parameters of a DeepBoostClassifier say "auto"; `max_depth` is where the look begins."""
    threads, options = settings.growth.n_threads, settings.growth.options
    n_different = prepared.n_different(threads)
    parts = parts_of(n_different, prepared.n_features, len(prepared.known_classes))
    if parts.total < FEWEST_ROWS:
        return Outcome(looked=False)
    try:
        look = Look(estimator, prepared, settings, parts, n_different)
    except NothingToHoldBackError:  # no class has two different rows
        return Outcome(looked=False)
    exact = options.thresholds == "best"
    start: Setting = {"thresholds": "best" if exact else "random", "max_depth": max_depth}
    free = {"thresholds": options.thresholds == "auto", "max_depth": isinstance(estimator.max_depth, str)}
    found = choose(look, start, free)
    if found is None:
        return Outcome(looked=True)
    rate = estimator.learning_rate
    rate = damping(n_different) if isinstance(rate, str) else float(rate)
    rounds: Any = estimator.n_rounds
    if isinstance(rounds, str):
        rounds = enough_rounds(look, found, rate) if settings.stopping is None else MOST_ROUNDS
    return Outcome(True, {**found, "learning_rate": rate, "n_rounds": int(rounds)})


def choose(look: Look, start: Setting, free: Mapping[str, bool]) -> Setting | None:
    """The penalty first, along the path; then depth, then thresholds, where these are free. None: votes are as good."""
    setting = {**start, "complexity_penalty": _best_penalty(look, start)}
    if not look.beats_votes(setting):
        # Columns with a few far values need their thresholds looked for.
        setting = {**setting, "thresholds": "best"}
        if not free["thresholds"] or not look.beats_votes(setting):
            return None
    while free["max_depth"] and setting["max_depth"] + 2 <= DEEPEST:
        deeper = {**setting, "max_depth": setting["max_depth"] + 2}
        if look.loss(deeper) >= (1.0 - WORTH_IT) * look.loss(setting):
            break
        setting = deeper
    exact = {**setting, "thresholds": "best"}
    if free["thresholds"] and exact != setting and look.loss(exact) < (1.0 - WORTH_IT) * look.loss(setting):
        setting = exact
    return setting


def _best_penalty(look: Look, setting: Setting) -> float:
    """Two penalties that are far apart first: the better one says in which direction to go on."""

    def with_penalty(place: int) -> Setting:
        return {**setting, "complexity_penalty": PENALTIES[place]}

    def loss(place: int) -> float:
        return look.loss(with_penalty(place))

    place, other = (2, 4) if loss(2) <= loss(4) else (4, 2)
    if look.gain(with_penalty(place)) < 0.0:
        return PENALTIES[place]  # votes are ahead: further fits would be in vain
    away = 1 if place > other else -1
    if loss(place + away) >= loss(place):
        between = place - away
        return PENALTIES[between if loss(between) < loss(place) else place]
    while 0 <= place + away < len(PENALTIES) and loss(place + away) < loss(place):
        place += away
    return PENALTIES[place]


def damping(m: float) -> float:
    """A learning rate: smaller ones are better and take longer, which few rows can afford."""
    return min(LARGEST_RATE, max(SMALLEST_RATE, LARGEST_RATE * math.sqrt(m / ROWS_OF_LARGEST_RATE)))


def enough_rounds(look: Look, setting: Setting, learning_rate: float) -> int:
    """As many as short fits had use for, damped more and on more rows, which can bear more.

    Fits that were still learning when they ended had use for more.
    """
    seen = float(look.rated(setting).n_rounds)
    seen *= UNFINISHED if seen > 0.95 * LOOK_ROUNDS else 1.0
    rounds = MORE_ROUNDS * seen * LOOK_RATE / learning_rate / math.sqrt(look.share)
    return int(min(MOST_ROUNDS, max(FEWEST_ROUNDS, math.ceil(rounds))))
