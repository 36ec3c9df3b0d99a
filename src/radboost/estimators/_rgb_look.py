"""What n_rounds="auto" of gradient boosting stands for: as many rounds as held-back rows have use for.

Short fits take longer steps than the whole fit, so that fewer rounds do, and stop where the rows that they do not see
no longer gain. The round with the least loss over all held-back rows says how many rounds there will be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from radboost._progress import say
from radboost.boosting.watch import EarlyStopping
from radboost.estimators._held_back import Fold, how_much_longer, thirds
from radboost.estimators._learning import FitSettings, learn
from radboost.families import TreeFamilies
from radboost.rows.prepare import PreparedRows
from radboost.trees import TreeOptions

# With one score per row and with several: the learning rate, and the least sum of weights in a leaf.
RATES, LEAF_WEIGHTS = (0.05, 0.3), (2.0, 3.0)
SUBSAMPLE = 0.3
SMALL_SIZES = (2, 4, 8, 16, 32)
# Short fits: how much longer their steps are, their rounds, and those that they wait for a lower loss.
LONGER_STEPS, LOOK_ROUNDS, LOOK_PATIENCE = 3.0, 320, 15
# Rounds of the whole fit, whose rows are more and bear more.
MORE_ROUNDS, FEWEST_ROUNDS, MOST_ROUNDS = 1.6, 30, 1000
# Larger trees, which take longer, have to be better by this share, and there must be so many held-back rows to tell.
WORTH_IT, ENOUGH_TO_TELL = 0.03, 300


@dataclass(frozen=True)
class Chosen:
    """What the parameters of a fit stand for."""

    n_rounds: int
    learning_rate: float
    subsample: float
    min_leaf_weight: float
    family: TreeFamilies


def look_at(estimator: Any, prepared: PreparedRows, settings: FitSettings, n_outputs: int) -> Chosen:
    """For n_rounds="auto"; what else the estimator says stays."""
    several = n_outputs > 1
    rate, subsample, options = estimator.learning_rate, estimator.subsample, settings.growth.options
    chosen = Chosen(
        MOST_ROUNDS,
        RATES[several] if isinstance(rate, str) else float(rate),
        SUBSAMPLE if isinstance(subsample, str) else float(subsample),
        float(options.filled(min_leaf_weight=LEAF_WEIGHTS[several]).min_leaf_weight),
        estimator.family or TreeFamilies(sizes=SMALL_SIZES),
    )
    if settings.stopping is not None:  # which ends the fit where it should
        return chosen
    seed, threads = settings.growth.seed, settings.growth.n_threads
    folds = list(thirds(replace(prepared, validation=None), seed, threads))
    if not folds:
        return replace(chosen, n_rounds=FEWEST_ROUNDS)
    by = how_much_longer(LONGER_STEPS, chosen.learning_rate, estimator.loss)
    small = _histories(_short(estimator, chosen, by, seed), folds, estimator.verbose)
    rounds, _ = _best_round(small, folds)
    if estimator.family is None and folds[0].n_different >= ENOUGH_TO_TELL:
        larger = replace(chosen, family=TreeFamilies())
        # They take long: one fold will do.
        large = _histories(_short(estimator, larger, by, seed), folds[:1], estimator.verbose)
        more, lower = _best_round(large, folds[:1])
        _, loss = _best_round(small[:1], folds[:1])
        if lower < loss - WORTH_IT * abs(loss):
            rounds, chosen = more, larger
    n_rounds = math.ceil(MORE_ROUNDS * by * rounds)
    return replace(chosen, n_rounds=min(MOST_ROUNDS, max(FEWEST_ROUNDS, n_rounds)))


def _short(estimator: Any, chosen: Chosen, by: float, seed: int) -> Any:
    short = with_chosen(estimator, chosen)
    short.n_rounds, short.learning_rate = LOOK_ROUNDS, by * chosen.learning_rate
    short.early_stopping, short.warm_start = EarlyStopping(LOOK_PATIENCE), False
    short.calibration = None  # of classifiers alone
    short.random_state, short.verbose = seed % 2**32, 0
    return short


def with_chosen(estimator: Any, chosen: Chosen) -> Any:
    """A copy whose parameters are the chosen ones."""
    given = copy(estimator)
    given.n_rounds, given.learning_rate = chosen.n_rounds, chosen.learning_rate
    given.subsample, given.family = chosen.subsample, chosen.family
    options = estimator.tree_options or TreeOptions()
    given.tree_options = replace(options, min_leaf_weight=chosen.min_leaf_weight)
    return given


def _histories(short: Any, folds: Sequence[Fold], verbose: int) -> list[list[float]]:
    """The losses on the held-back rows of each fold, round by round."""
    watched = [replace(fold.learned, validation=fold.held_back) for fold in folds]
    found = [learn(short, rows).history_["validation_loss"] for rows in watched]
    best, loss = _best_round(found, folds)
    told = f"trees of at most {max(short.family.sizes)} splits, learning rate {short.learning_rate:g}"
    say(verbose, f"looking at the data: {told}: held-back loss {loss:.4g} after {best} rounds")
    return found


def _best_round(histories: Sequence[list[float]], folds: Sequence[Fold]) -> tuple[int, float]:
    """The round with the least mean loss over the held-back rows of all folds, and that loss."""
    length = max(map(len, histories))
    losses = np.zeros(length)
    for history, fold in zip(histories, folds, strict=True):
        # A fit that has stopped stays where it was. (No product of matrices: equal rounds must stay equal on any CPU.)
        losses += fold.held_back.row_weights().total * np.array(history + history[-1:] * (length - len(history)))
    losses /= sum(fold.held_back.row_weights().total for fold in folds)
    best = int(np.argmin(losses))
    return best + 1, float(losses[best])
