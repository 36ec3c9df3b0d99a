"""`Objective`: scores of the training rows, their weights D, and the mean loss along a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost._validation import check_choice, check_score_memory
from radboost.engine import (
    ClassScores,
    ClassWeighting,
    Collective,
    HypothesisColumns,
    MarginScores,
    MarginWeighting,
    RowGroups,
    current,
)
from radboost.losses import MarginLoss
from radboost.objectives.base import OBJECTIVES, CostOfAnyLoss, RowCost, Scores, margins_of
from radboost.objectives.two_classes import TwoClasses
from radboost.rows.weights import RowWeights

BLOCK_ROWS = 2**16  # of which a lower bound is computed at a time
BYTES_PER_SCORE = 8  # 4 for the score, 4 for the gradient


class LossState(NamedTuple):
    """Loss, slope and error at the current scores."""

    loss: float  # mean over the rows
    slope: float  # S / m: the normalizer of the weights D, divided by the number of rows
    error: float  # fraction of the rows whose class does not have the largest score alone


def resolve_objective(objective: object, loss: object) -> str:
    """Checked name of an objective; ValueError if it does not support the loss."""
    name = check_choice("objective", objective, list(OBJECTIVES))
    OBJECTIVES[name].check(loss)
    return name


def row_cost(name: str, n_classes: int) -> RowCost:
    """RowCost of an objective; with two classes it does not depend on the name."""
    check_choice("objective", name, list(OBJECTIVES))
    return OBJECTIVES[name]() if n_classes > 2 else TwoClasses()


class Objective:
    """The mean over the rows of a loss of the margins.

    With two classes there is one column of scores f, and a row costs Phi(1 - y f). All names mean the same objective
    there (Kuznetsov et al. (2014), appendix D). With more there is a score for each class (equations (6) to (9)). The
    cost of a row is a function of u(y) = 1 - f(y_i) + f(y) over the wrong classes y, one objective a file.

    All sums are exact and thus independent of the order of the rows, of the number of threads, and of which worker of
    the collective has which rows.

    Attributes
    ----------
    row_weights : RowWeights
        The sample weights, and sums over all rows.
    scores, weighting :
        The scores f, and the integers that growers and edges see of the rows. Further weightings of the same scores can
        be renewed beside it (`reweigh`).
    smooth : bool
        Whether the loss has a derivative everywhere.
    step_grid : float
        Steps are multiples of this, so that scores add up without rounding.
    """

    scores: MarginScores | ClassScores
    weighting: MarginWeighting | ClassWeighting

    def __init__(
        self,
        name: str,
        loss: MarginLoss,
        class_ids: ClassIds,
        n_classes: int,
        weights: FloatArray | None,
        n_threads: int,
        collective: Collective | None = None,
    ) -> None:
        self.name = name = resolve_objective(name, loss)
        self.loss = loss
        self.n_classes = n_classes
        self.n_threads = n_threads
        self.cost = row_cost(name, n_classes)
        self.smooth = self.cost.smooth
        self._class_ids = class_ids
        self._start: Scores | None = None  # other scores and margins than 0 before the first step
        self._native_loss = loss.name if loss.native and self.cost.native else ""
        self.row_weights = RowWeights(weights, len(class_ids), folds_large=n_classes > 2, collective=collective)
        if n_classes == 2:
            self.step_grid = 2.0**-40  # sums are exact in double precision up to 2^13
            self.scores = current().margin_scores(self._native_loss, class_ids, self.row_weights.native)
            self.weighting = current().margin_weighting(self.scores)
        else:
            check_score_memory(len(class_ids), n_classes, BYTES_PER_SCORE)
            self.step_grid = 2.0**-20  # scores are 32-bit integers in this unit
            # Costs and weights of any objective of the differences u(y) can be given to the scores of "sum".
            kernel = name if self.cost.native else "sum"
            self.scores = current().class_scores(
                kernel, self._native_loss, class_ids, n_classes, self.row_weights.native
            )
            self.weighting = current().class_weighting(self.scores)

    def start_from(self, offset: FloatArray) -> None:
        """Set the scores before the first step, rounded to the grid of the steps.

        For "maxsum", which uses the margins of single hypotheses, they count as one more hypothesis.
        """
        scores = np.rint(offset / self.step_grid) * self.step_grid
        margins = margins_of(scores, self._class_ids) if len(self._margins()) else np.zeros(0)
        self.set_scores(np.ascontiguousarray(scores).reshape(-1), margins)
        self._start = scores, margins

    def set_scores(self, scores: FloatArray, margins: FloatArray) -> None:
        """Replace all scores, shape (n_rows * n_outputs,), and the margins, which only "maxsum" has."""
        if self.n_classes == 2:
            self.scores.set(scores)  # type: ignore[call-arg]
        else:
            self.scores.set(scores, margins)  # type: ignore[call-arg]

    @property
    def total_weight(self) -> float:
        """m: the sum of the sample weights."""
        return self.row_weights.total

    @property
    def signed(self) -> bool:
        """True if -h is a hypothesis whenever h is, so that weights may have either sign."""
        return self.n_classes == 2

    @property
    def has_closed_form(self) -> bool:
        """True if the papers' closed-form step lowers this objective."""
        return self._native_loss != "" and self.smooth

    def reweigh(self, *others: Any) -> LossState:
        """Update D and its quantized forms (Cortes et al. (2014), equation (5)), also those of other weightings."""
        sums, m = self.renew([self.weighting, *others]), self.total_weight
        return LossState(sums.loss / m, sums.slope / m, sums.error / m)

    def renew(self, weightings: list[Any], groups: RowGroups | None = None) -> Any:
        """Update weightings for the current scores; returns sums over the rows, or over each of `groups`."""
        method, rest = ("reweigh", ()) if groups is None else ("reweigh_groups", (groups,))
        if self._native_loss:
            return getattr(self.scores, method)(weightings, *rest, self.n_threads)
        return getattr(self.scores, f"{method}_from")(*self.numpy_terms(), weightings, *rest, self.n_threads)

    def numpy_terms(self) -> tuple[FloatArray, FloatArray]:
        """Phi and Phi' at the arguments of each row, for native scores without a native loss."""
        scores = self._values()
        cost = self._cost_of_any_loss()
        u = cost.arguments(scores, self._margins(), self._class_ids)
        values, derivatives = self.loss.value(u.ravel()), self.loss.derivative(u.ravel())
        if cost.native:
            return values, derivatives
        # The native core sums over the wrong classes, so one of them gets the cost of the row.
        costs = np.zeros(u.shape)
        first_wrong = np.where(self._class_ids == 0, 1, 0)
        costs[np.arange(len(u)), first_wrong] = cost.costs(values.reshape(u.shape), self._class_ids)
        return costs.ravel(), cost.weights(derivatives.reshape(u.shape), scores, self._class_ids).ravel()

    def dual_value(self, factor: float) -> float | None:
        """Lower bound of the mean loss of all ensembles, if no edge times `factor` times the slope exceeds its price.

        By Fenchel's inequality with Phi' at the current scores, times the factor. None: not known.
        """
        scores, margins = self._values(), self._margins()
        start = self._start or (np.zeros_like(scores), np.zeros_like(margins))
        result = np.empty(len(scores))
        for begin in range(0, len(scores), BLOCK_ROWS):
            rows = slice(begin, begin + BLOCK_ROWS)
            points = [(some[rows], more[rows]) for some, more in ((scores, margins), start)]
            values = self.cost.dual_values(self.loss, points, factor, self._class_ids[rows])
            if values is None:
                return None
            result[rows] = values
        return self.row_weights.mean(result, self.n_threads)

    def edges(self, columns: HypothesisColumns) -> tuple[FloatArray, FloatArray]:
        """Edges of all slots, for weights that grow and for weights that shrink."""
        growing = self.weighting.edges(columns, False, self.n_threads)
        return growing, growing if self.smooth else self.weighting.edges(columns, True, self.n_threads)

    def value_edges(self, values: npt.NDArray[np.float32]) -> FloatArray:
        """Edges of hypotheses given by their predictions, one row of `values` each: a column for each class, or one."""
        return self.weighting.value_edges(values, self.n_threads).reshape(len(values), -1)

    def slope_along(self, columns: HypothesisColumns, slot: int, eta: float) -> float:
        """Derivative in eta of the mean loss at scores + eta h."""
        if self._native_loss:
            return self.scores.slope_along(columns, slot, eta, self.n_threads) / self.total_weight
        predictions = columns.predictions(slot)
        if self.n_classes > 2:
            predictions = predictions.reshape(-1, self.n_classes)
        slopes = self._cost_of_any_loss().slopes_along(
            self.loss, self._values(), self._margins(), predictions, eta, self._class_ids
        )
        return self.row_weights.mean(slopes, self.n_threads)

    def step(self, columns: HypothesisColumns, slot: int, eta: float) -> None:
        """scores += eta h."""
        self.scores.step(columns, slot, eta, self.n_threads)

    def row_losses(self, scores: FloatArray, class_ids: ClassIds) -> FloatArray:
        """Loss of each row at given scores: (n_rows,) for two classes, otherwise (n_rows, n_classes)."""
        return self.cost.row_losses(self.loss, scores, class_ids)

    def _cost_of_any_loss(self) -> CostOfAnyLoss:
        assert isinstance(self.cost, CostOfAnyLoss)  # `check` has refused other losses
        return self.cost

    def _values(self) -> FloatArray:
        values = self.scores.values()
        return values if self.n_classes == 2 else values.reshape(-1, self.n_classes)

    def _margins(self) -> FloatArray:
        return np.zeros(0) if self.n_classes == 2 else self.scores.margins()  # type: ignore[union-attr]
