"""Auto-tuning of gradient boosting with n_rounds="auto", by trials (short fits) on held-back rows.

Trials use a larger learning rate than the whole fit, so that fewer rounds suffice, and stop when the held-back loss no
longer decreases. If there are enough held-back rows, trials without a penalty, with larger trees and with the best
thresholds are compared by their loss. The round with the lowest loss determines the number of rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from radboost._progress import part_of_fit, say
from radboost._typing import FloatArray
from radboost.boosting.monitor import EarlyStopping
from radboost.calibration import SMALLEST, fit_calibration
from radboost.estimators._calibrated import calibration_rows
from radboost.estimators._held_back import Fold, folds_of, rate_factor
from radboost.estimators._learning import FitSettings, learn
from radboost.families import TreeFamilies
from radboost.losses import NamedTargetLoss, ask
from radboost.rows.prepare import PreparedRows
from radboost.trees import TreeOptions

# Pairs of constants hold for one score per row, and for several.

# Learning rates for regression, two classes, and several classes, with up to FEW_ROWS rows. With one score per row the
# rate grows with the square root of the number of rows, up to three times (classes: twice). Lower rates are better but
# need more rounds. Losses that are not smooth decrease slowly, and take the rate of two classes.
RATES, FEW_ROWS = (0.025, 0.05, 0.3), 2_000
RATE_OF_USERS_LOSS = 0.1  # learning rate with a user-defined loss, for which trials cannot use a larger one
LEAF_WEIGHTS = (2.0, 3.0)  # smallest sum of weights in a leaf
TRIAL_RATES = (0.2, 0.9)  # learning rate of trials
SUBSAMPLE = 0.3  # fraction of rows that each tree is grown on
PENALTY = 0.3  # complexity penalty
SMALL_SIZES = (2, 4, 8, 16, 32)  # largest number of splits of each family
COLUMNS = 50  # number of columns that a node tries, or a tenth of all, the larger
TRIAL_ROUNDS = 200  # on several folds
TRIAL_ROUNDS_OF_MANY_ROWS = 160  # on one fold
TRIAL_ROUNDS_OF_CLASSES = 100  # with several scores per row
TRIAL_PATIENCE = 20  # rounds without a lower loss until a trial stops
RATE_FACTOR = 3.0  # of trials, if the learning rate is given
FINISHED = 0.95  # a trial has converged if its best round is before this fraction of its rounds
MORE_ROUNDS = 1.6  # factor on the rounds of trials for the whole fit, which has more rows
FEWEST_ROUNDS, MOST_ROUNDS = 30, (1600, 500)  # of the whole fit
FEWEST_ROWS_TO_COMPARE = 300  # held-back rows of a fold; with fewer, settings are not compared
FOLDS_TO_COMPARE = 2
MIN_LEAD = 1.0  # standard errors by which another setting must be better
MIN_LEAD_OF_LARGE_TREES = 1.5  # the same for large trees, which take longer
MANY_HELD_BACK = 2_000  # rows from which classifiers use a penalty only if it is better, and always try large trees
MOST_ROWS_OF_REGRESSION = 6_000  # distinct rows that trials of regressors use


@dataclass(frozen=True)
class Chosen:
    """Resolved parameters of a fit, without "auto"."""

    n_rounds: int
    learning_rate: float
    subsample: float
    complexity_penalty: float
    family: TreeFamilies
    options: TreeOptions  # its min_leaf_weight, max_features and thresholds are no longer "auto"

    def described(self) -> str:
        trees = f"trees of at most {max(self.family.sizes)} splits, {self.options.thresholds} thresholds"
        return f"{trees}, complexity penalty {self.complexity_penalty:g}"


def most_rounds(n_outputs: int) -> int:
    return MOST_ROUNDS[n_outputs > 1]


def tune(estimator: Any, prepared: PreparedRows, settings: FitSettings, n_outputs: int) -> Chosen:
    """Resolve the parameters for n_rounds="auto"; the others that are given stay."""
    seed, threads = settings.growth.seed, settings.growth.n_threads
    chosen = _start(estimator, prepared, n_outputs, threads)
    if settings.stopping is not None:  # early stopping chooses the number of rounds
        return chosen
    fewer = {"most_rows": MOST_ROWS_OF_REGRESSION} if estimator._regression else {}
    folds = list(folds_of(prepared.unwatched(), seed, threads, **fewer))
    if not folds:
        return replace(chosen, n_rounds=FEWEST_ROUNDS)
    trials = _RgbTrials(estimator, folds, seed, threads, n_outputs)
    if folds[0].n_different >= FEWEST_ROWS_TO_COMPARE:
        chosen = _compared(trials, chosen)
    n_rounds = math.ceil(MORE_ROUNDS * trials.best_round(chosen))
    return replace(chosen, n_rounds=min(most_rounds(n_outputs), max(FEWEST_ROUNDS, n_rounds)))


def _start(estimator: Any, prepared: PreparedRows, n_outputs: int, n_threads: int) -> Chosen:
    """Parameters before any trial: the start of the comparisons, and the result for few rows."""
    several, n_features = n_outputs > 1, prepared.n_features
    rate, subsample, penalty = estimator.learning_rate, estimator.subsample, estimator.complexity_penalty
    if isinstance(rate, str):
        rough = not getattr(estimator._read_loss(), "smooth", True)
        base = RATES[1 + several] if rough or not estimator._regression else RATES[0]
        growth = min(3.0 if estimator._regression else 2.0, math.sqrt(prepared.n_different(n_threads) / FEW_ROWS))
        rate = base if several else round(base * max(1.0, growth), 3)
        rate = rate if isinstance(estimator.loss, str | NamedTargetLoss) else RATE_OF_USERS_LOSS
    options = (estimator.tree_options or TreeOptions()).filled(
        min_leaf_weight=LEAF_WEIGHTS[several],
        thresholds="random",
        max_features=None if n_features <= COLUMNS else max(COLUMNS, round(n_features / 10)),
    )
    return Chosen(
        most_rounds(n_outputs),
        float(rate),
        SUBSAMPLE if isinstance(subsample, str) else float(subsample),
        PENALTY if isinstance(penalty, str) else float(penalty),
        estimator.family or TreeFamilies(sizes=SMALL_SIZES),
        options,
    )


def _compared(trials: _RgbTrials, chosen: Chosen) -> Chosen:
    """Setting with the lowest held-back loss; a change of `chosen` must be significantly better to be accepted."""
    estimator = trials.estimator
    if (estimator.tree_options or TreeOptions()).thresholds == "auto":
        best = replace(chosen, options=replace(chosen.options, thresholds="best"))
        # With many rows random thresholds take longer: the histograms for the best ones are computed by subtraction.
        usual, other = (chosen, best) if len(trials.folds) > 1 or trials.n_outputs > 1 else (best, chosen)
        chosen = other if trials.is_better(other, usual) else usual
    larger = TreeFamilies()
    if isinstance(estimator.complexity_penalty, str):
        free = replace(chosen, complexity_penalty=0.0)
        many = not estimator._regression and trials.folds[0].n_different >= MANY_HELD_BACK
        # More rows need less of a penalty, and the whole fit has more rows than the trials.
        unpenalized = not trials.is_better(chosen, free) if many else trials.is_better(free, chosen)
        if estimator.family is None and (unpenalized or many):
            large = replace(free, family=larger)
            if trials.is_better(large, free if unpenalized else chosen, MIN_LEAD_OF_LARGE_TREES):
                free, unpenalized = large, True
        chosen = free if unpenalized else chosen
    elif estimator.family is None:
        large = replace(chosen, family=larger)
        chosen = large if trials.is_better(large, chosen, MIN_LEAD_OF_LARGE_TREES) else chosen
    return chosen


@dataclass
class _FoldLosses:
    """Held-back losses of the trials of one setting, an entry per fold."""

    by_round: list[list[float]] = field(default_factory=list)  # mean loss after each round
    by_row: list[FloatArray] = field(default_factory=list)  # at the best round; shape (n_held_back,)


@dataclass
class _RgbTrials:
    """Cached trials of an estimator."""

    estimator: Any
    folds: Sequence[Fold]
    seed: int
    n_threads: int
    n_outputs: int  # scores per row
    _losses_by_setting: dict[str, _FoldLosses] = field(default_factory=dict)

    def is_better(self, one: Chosen, other: Chosen, errors: float = MIN_LEAD) -> bool:
        """Return True if the held-back loss of `one` is lower by `errors` standard errors of the difference."""
        folds = self.folds[:FOLDS_TO_COMPARE]
        losses = (self._fits(c, len(folds), self._factor_to_compare(c)).by_row for c in (one, other))
        weight = gain = square = 0.0
        for fold, loss, other_loss in zip(folds, *losses, strict=False):
            rows, less = fold.held_back.row_weights(), other_loss - loss
            weight += rows.total
            gain += rows.total * rows.mean(less, n_threads=self.n_threads)
            square += rows.total * rows.mean(less * less, n_threads=self.n_threads)
        variance = max(0.0, square / weight - (gain / weight) ** 2)
        return gain / weight > errors * math.sqrt(variance / weight)

    def best_round(self, chosen: Chosen) -> float:
        """Round with the lowest mean loss over the held-back rows of all folds, at the learning rate of `chosen`.

        Several classes are first tried at this rate. If these trials do not converge, a larger rate is used.
        """
        for factor in sorted({self._factor_to_compare(chosen), self._factor(chosen)}):
            best = _best_round(self._fits(chosen, len(self.folds), factor).by_round, self.folds)[0]
            if best < FINISHED * self._rounds():
                break
        return factor * best

    def _factor(self, chosen: Chosen) -> float:
        """Factor on the learning rate for trials that determine the number of rounds."""
        is_automatic = isinstance(self.estimator.learning_rate, str)
        steps = TRIAL_RATES[self.n_outputs > 1] / chosen.learning_rate if is_automatic else RATE_FACTOR
        return rate_factor(steps, chosen.learning_rate, self.estimator.loss)

    def _factor_to_compare(self, chosen: Chosen) -> float:
        """Factor on the rate of trials that compare settings; 1 with several classes: high rates favor small trees."""
        return 1.0 if self.n_outputs > 1 and not self.estimator._regression else self._factor(chosen)

    def _rounds(self) -> int:
        few = TRIAL_ROUNDS if len(self.folds) > 1 else TRIAL_ROUNDS_OF_MANY_ROWS
        return TRIAL_ROUNDS_OF_CLASSES if self.n_outputs > 1 else few

    def _fits(self, chosen: Chosen, n_folds: int, factor: float) -> _FoldLosses:
        """Losses of trials on at least the first `n_folds` folds, at the learning rate times `factor`."""
        setting, short = chosen.described(), self._short(chosen, factor)
        losses = self._losses_by_setting.setdefault(f"{setting}, {factor}", _FoldLosses())
        for fold in self.folds[len(losses.by_round) : n_folds]:
            with part_of_fit(f"trial {len(self._losses_by_setting)}, fold {len(losses.by_round) + 1}"):
                model = learn(short, replace(fold.learned, validation=fold.held_back))
            losses.by_round.append(model.history_["validation_loss"])
            losses.by_row.append(self._losses(model, fold))
            best, loss = _best_round(losses.by_round, self.folds[: len(losses.by_round)])
            result = f"{setting}, learning rate {short.learning_rate:g}: held-back loss {loss:.4g} after {best} rounds"
            say(self.estimator.verbose, f"looking at the data: {result}")
        return losses

    def _losses(self, model: Any, fold: Fold) -> FloatArray:
        """Loss of each held-back row after the best round; for classifiers the log loss after calibration on them."""
        held = fold.held_back
        scores = held.scores(model.ensemble_, self.n_threads)
        if not self.estimator._regression:
            calibration = fit_calibration(
                model._probabilities, [calibration_rows(model, held, self.n_threads)], self.n_threads
            )
            prob_of_label = calibration.apply(model._probabilities, scores)[np.arange(len(scores)), held.class_ids]
            return np.asarray(-np.log(np.maximum(prob_of_label, SMALLEST)))
        loss = self.estimator._resolve_loss(fold.learned)[0] if isinstance(model.loss_, str) else model.loss_
        targets = self.estimator._targets(held.class_ids, held.targets, self.n_outputs)
        units = getattr(model, "_units_of_fit", None)
        if units is not None:
            targets, scores = targets / units, scores / units
        return np.ascontiguousarray(ask(loss, "value", targets, scores), dtype=np.float64)

    def _short(self, chosen: Chosen, factor: float) -> Any:
        short = with_chosen(self.estimator, chosen)
        short.n_rounds, short.learning_rate = self._rounds(), factor * chosen.learning_rate
        short.early_stopping, short.warm_start = EarlyStopping(TRIAL_PATIENCE), False
        short.calibration = None  # a parameter of classifiers
        short.random_state = self.seed % 2**32
        return short


def with_chosen(estimator: Any, chosen: Chosen) -> Any:
    """Copy of the estimator with the chosen parameters."""
    given = copy(estimator)
    given.n_rounds, given.learning_rate = chosen.n_rounds, chosen.learning_rate
    given.subsample, given.complexity_penalty = chosen.subsample, chosen.complexity_penalty
    given.family, given.tree_options = chosen.family, chosen.options
    return given


def _best_round(histories: Sequence[list[float]], folds: Sequence[Fold]) -> tuple[int, float]:
    """Round with the lowest mean loss over the held-back rows of all folds, and that loss."""
    length = max(map(len, histories))
    losses = np.zeros(length)
    for history, fold in zip(histories, folds, strict=True):
        # A stopped fit keeps its last loss. (No matrix product: equal rounds must have equal losses on any CPU.)
        losses += fold.held_back.row_weights().total * np.array(history + history[-1:] * (length - len(history)))
    losses /= sum(fold.held_back.row_weights().total for fold in folds)
    best = int(np.argmin(losses))
    return best + 1, float(losses[best])
