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
from radboost.estimators._calibrated import judged
from radboost.estimators._held_back import Fold, how_much_longer, thirds
from radboost.estimators._learning import FitSettings, learn
from radboost.families import TreeFamilies
from radboost.losses import NamedTargetLoss, ask
from radboost.rows.prepare import PreparedRows
from radboost.trees import TreeOptions

# Learning rates for regression, two classes and more, with up to FEW_ROWS rows. With one score per row the rate grows
# with the square root of the number of rows, up to three times (classes: twice). Smaller steps are better, and take
# longer. Losses that are not smooth decrease slowly, and take the rate of two classes.
RATES, FEW_ROWS = (0.025, 0.05, 0.3), 2_000
# Learning rate with a loss of the user's own, for which trials cannot use a larger one.
OWN_RATE = 0.1
# With one score per row and with several: the smallest sum of weights in a leaf, and the learning rate of trials.
LEAF_WEIGHTS, LOOK_RATES = (2.0, 3.0), (0.2, 0.9)
SUBSAMPLE = 0.3
PENALTY = 0.3
SMALL_SIZES = (2, 4, 8, 16, 32)
# Number of columns up to which a node tries all; with more, it tries this number or a tenth of them, the larger.
COLUMNS = 50
# Rounds of trials: on several folds, on one fold (many rows), with several scores per row. Rounds without a lower loss
# until they stop, and the factor on a learning rate that is given.
LOOK_ROUNDS, LOOK_ROUNDS_OF_MANY, LOOK_ROUNDS_OF_CLASSES, LOOK_PATIENCE, LONGER_STEPS = 200, 160, 100, 20, 3.0
# A trial has converged if its best round is before this fraction of its rounds.
FINISHED = 0.95
# Rounds of the whole fit: the factor on those of trials (it has more rows), the minimum, and the maximum with one score
# per row and with several.
MORE_ROUNDS, FEWEST_ROUNDS, MOST_ROUNDS = 1.6, 30, (1600, 500)
# Smallest number of held-back rows for comparisons, and number of folds to compare on. Standard errors by which another
# setting must be better; the last is for large trees, which take longer.
ENOUGH_TO_TELL, COMPARED, WORTH_IT, WORTH_TIME = 300, 2, 1.0, 1.5
# Number of held-back rows from which classifiers use a penalty only if it is better; large trees are always tried.
MANY_HELD_BACK = 2_000
# Largest number of distinct rows that trials of regressors use.
LOOK_ROWS_OF_NUMBERS = 6_000


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


def look_at(estimator: Any, prepared: PreparedRows, settings: FitSettings, n_outputs: int) -> Chosen:
    """Resolve the parameters for n_rounds="auto"; the others that are given stay."""
    seed, threads = settings.growth.seed, settings.growth.n_threads
    chosen = _first(estimator, prepared, n_outputs, threads)
    if settings.stopping is not None:  # early stopping chooses the number of rounds
        return chosen
    fewer = {"most_rows": LOOK_ROWS_OF_NUMBERS} if estimator._regression else {}
    folds = list(thirds(prepared.unwatched(), seed, threads, **fewer))
    if not folds:
        return replace(chosen, n_rounds=FEWEST_ROUNDS)
    look = _Look(estimator, folds, seed, threads, n_outputs)
    if folds[0].n_different >= ENOUGH_TO_TELL:
        chosen = _compared(look, chosen)
    n_rounds = math.ceil(MORE_ROUNDS * look.best_round(chosen))
    return replace(chosen, n_rounds=min(most_rounds(n_outputs), max(FEWEST_ROUNDS, n_rounds)))


def _first(estimator: Any, prepared: PreparedRows, n_outputs: int, n_threads: int) -> Chosen:
    """Parameters without trials: the start of the comparisons, and the result for few rows."""
    several, n_features = n_outputs > 1, prepared.n_features
    rate, subsample, penalty = estimator.learning_rate, estimator.subsample, estimator.complexity_penalty
    if isinstance(rate, str):
        slow = not getattr(estimator._read_loss(), "smooth", True)
        usual = RATES[1 + several] if slow or not estimator._regression else RATES[0]
        growth = min(3.0 if estimator._regression else 2.0, math.sqrt(prepared.n_different(n_threads) / FEW_ROWS))
        rate = usual if several else round(usual * max(1.0, growth), 3)
        rate = rate if isinstance(estimator.loss, str | NamedTargetLoss) else OWN_RATE
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


def _compared(look: _Look, chosen: Chosen) -> Chosen:
    """Setting with the lowest held-back loss; each change of the first one must be significantly better."""
    estimator = look.estimator
    if (estimator.tree_options or TreeOptions()).thresholds == "auto":
        best = replace(chosen, options=replace(chosen.options, thresholds="best"))
        # With many rows drawn thresholds take longer: the histograms of the best ones are computed by subtraction.
        usual, other = (chosen, best) if len(look.folds) > 1 or look.n_outputs > 1 else (best, chosen)
        chosen = other if look.is_better(other, usual) else usual
    larger = TreeFamilies()
    if isinstance(estimator.complexity_penalty, str):
        free = replace(chosen, complexity_penalty=0.0)
        many = not estimator._regression and look.folds[0].n_different >= MANY_HELD_BACK
        # More rows need less of a penalty, and the whole fit has more rows than the trials.
        taken = not look.is_better(chosen, free) if many else look.is_better(free, chosen)
        if estimator.family is None and (taken or many):
            large = replace(free, family=larger)
            if look.is_better(large, free if taken else chosen, WORTH_TIME):
                free, taken = large, True
        chosen = free if taken else chosen
    elif estimator.family is None:
        large = replace(chosen, family=larger)
        chosen = large if look.is_better(large, chosen, WORTH_TIME) else chosen
    return chosen


@dataclass
class _Short:
    """Held-back losses of the trials of one setting, one entry per fold: by round, and by row at the best round."""

    by_round: list[list[float]] = field(default_factory=list)
    by_row: list[FloatArray] = field(default_factory=list)


@dataclass
class _Look:
    """Cached trials of an estimator."""

    estimator: Any
    folds: Sequence[Fold]
    seed: int
    n_threads: int
    n_outputs: int
    _found: dict[str, _Short] = field(default_factory=dict)

    def is_better(self, one: Chosen, other: Chosen, errors: float = WORTH_IT) -> bool:
        """Return True if the held-back loss of `one` is lower by `errors` standard errors of the difference."""
        folds = self.folds[:COMPARED]
        pairs = zip(
            folds, *(self._fits(c, len(folds), self._longer_to_compare(c)).by_row for c in (one, other)), strict=False
        )
        weight = gain = square = 0.0
        for fold, loss, than in pairs:
            rows, less = fold.held_back.row_weights(), than - loss
            weight += rows.total
            gain += rows.total * rows.mean(less, n_threads=self.n_threads)
            square += rows.total * rows.mean(less * less, n_threads=self.n_threads)
        variance = max(0.0, square / weight - (gain / weight) ** 2)
        return gain / weight > errors * math.sqrt(variance / weight)

    def best_round(self, chosen: Chosen) -> float:
        """Round with the lowest mean loss over the held-back rows of all folds, at the learning rate of `chosen`.

        Several classes are first tried at this rate. If these trials do not converge, a larger rate is used.
        """
        for longer in sorted({self._longer_to_compare(chosen), self._longer(chosen)}):
            found = _best_round(self._fits(chosen, len(self.folds), longer).by_round, self.folds)[0]
            if found < FINISHED * self._rounds():
                break
        return longer * found

    def _longer(self, chosen: Chosen) -> float:
        """Factor on the learning rate for trials that find the number of rounds."""
        is_open = isinstance(self.estimator.learning_rate, str)
        steps = LOOK_RATES[self.n_outputs > 1] / chosen.learning_rate if is_open else LONGER_STEPS
        return how_much_longer(steps, chosen.learning_rate, self.estimator.loss)

    def _longer_to_compare(self, chosen: Chosen) -> float:
        """Factor for trials that compare settings; 1 with several classes, where large steps penalize large trees."""
        return 1.0 if self.n_outputs > 1 and not self.estimator._regression else self._longer(chosen)

    def _rounds(self) -> int:
        few = LOOK_ROUNDS if len(self.folds) > 1 else LOOK_ROUNDS_OF_MANY
        return LOOK_ROUNDS_OF_CLASSES if self.n_outputs > 1 else few

    def _fits(self, chosen: Chosen, n_folds: int, longer: float) -> _Short:
        """Losses of trials on at least the first `n_folds` folds, at the learning rate times `longer`."""
        told, short = chosen.described(), self._short(chosen, longer)
        found = self._found.setdefault(f"{told}, {longer}", _Short())
        for fold in self.folds[len(found.by_round) : n_folds]:
            with part_of_fit(f"trial {len(self._found)}, fold {len(found.by_round) + 1}"):
                model = learn(short, replace(fold.learned, validation=fold.held_back))
            found.by_round.append(model.history_["validation_loss"])
            found.by_row.append(self._losses(model, fold))
            best, loss = _best_round(found.by_round, self.folds[: len(found.by_round)])
            told_of = f"{told}, learning rate {short.learning_rate:g}: held-back loss {loss:.4g} after {best} rounds"
            say(self.estimator.verbose, f"looking at the data: {told_of}")
        return found

    def _losses(self, model: Any, fold: Fold) -> FloatArray:
        """Loss of each held-back row after the best round; for classifiers the log loss after calibration on them."""
        held = fold.held_back
        scores = held.scores(model.ensemble_, self.n_threads)
        if not self.estimator._regression:
            found = fit_calibration(model._probabilities, [judged(model, held, self.n_threads)], self.n_threads)
            right = found.apply(model._probabilities, scores)[np.arange(len(scores)), held.class_ids]
            return np.asarray(-np.log(np.maximum(right, SMALLEST)))
        loss = self.estimator._resolve_loss(fold.learned)[0] if isinstance(model.loss_, str) else model.loss_
        targets = self.estimator._targets(held.class_ids, held.targets, self.n_outputs)
        units = getattr(model, "_units_of_fit", None)
        if units is not None:
            targets, scores = targets / units, scores / units
        return np.ascontiguousarray(ask(loss, "value", targets, scores), dtype=np.float64)

    def _short(self, chosen: Chosen, longer: float) -> Any:
        short = with_chosen(self.estimator, chosen)
        short.n_rounds, short.learning_rate = self._rounds(), longer * chosen.learning_rate
        short.early_stopping, short.warm_start = EarlyStopping(LOOK_PATIENCE), False
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
