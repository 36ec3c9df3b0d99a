"""Small models: `prune` of fitted boosting estimators."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real, resolve_n_jobs
from radboost.ensemble import Ensemble
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._trees_model import TreesModel
from radboost.model_file import model_bytes
from radboost.pruning import (
    DistinctRows,
    Evaluator,
    Limits,
    Outputs,
    Pruner,
    SizeSearch,
    asked_columns,
    distinct_rows,
    most_rows,
    narrowed,
    widened,
)
from radboost.rows.offsets import read_offset
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training
from radboost.rows.read import known_labels

PRUNED = "pruned: "
# Rows that errors are measured on, at most.
MOST_ROWS = 100_000

Costs = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class HowToPrune:
    """Prices of the hypotheses of a model, and its loss."""

    prices: FloatArray  # Lambda_j; 0: stays
    signed: bool  # weights may be negative
    refits_leaves: bool  # leaves of trees may get other numbers
    losses: Costs  # of scores and targets (indices of classes, or numbers in their units), for each row
    errors: Costs


class PruningMixin(TreesModel):
    """`prune`, for estimators that say how in `_how_to_prune`."""

    size_curve_: dict[str, list[float]]
    history_: dict[str, list[float]]
    n_iter_: int
    n_skipped_rounds_: int
    stop_reason_: str
    _regression: ClassVar[bool]

    @of_one_fit
    def prune(
        self,
        X: Any,
        y: Any,
        *,
        max_trees: int | None = None,
        max_bytes: int | None = None,
        tolerance: float | None = None,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> Self:
        """A smaller model: some of the hypotheses, with other weights and numbers in their leaves (docs/pruning.md).

        The model itself stays as it is. An L1 path chooses hypotheses whose weighted sum is close to the scores of the
        whole model, on three quarters of the rows X and on rows made of them. Errors are measured on the others.

        Parameters
        ----------
        X, y : rows and labels or targets
            Those of the fit, whose labels the model has learned, so that a tolerance says little about new rows; or
            fresh ones. Labels are used on held-back rows only.
        max_trees : int or None
            Hypotheses at most, at least 1. Without a tolerance the model has as many as the limits allow.
        max_bytes : int or None
            Bytes at most of the file that `save` writes.
        tolerance : float or None
            By what fraction the error on the held-back rows may be larger than that of the whole model: the smallest
            model is returned from whose size on all larger ones keep to it. None is 0.02 where there is no limit
            either. In regression the error is the mean loss, above the least that it can be; of several targets the
            mean of theirs, each in its unit.
        sample_weight : array or None
            A row of weight w counts as w copies of it.
        offset : array or None
            Where the scores of these rows begin, as in `fit` and `predict`; a model does not keep those of its fit.
            Errors and losses are measured with it.

        Returns
        -------
        A fitted model of the same class, with `size_curve_`: "n_trees", "bytes", "loss" and "error" (on the held-back
        rows) of all sizes that were tried, the last being the whole model.
        """
        self._require_fitted()
        how = self._how_to_prune()
        limits = _read_limits(max_trees, max_bytes, tolerance)
        n_threads = resolve_n_jobs(self.n_jobs)
        if not len(self.ensemble_):
            raise ValueError("The model is empty: it has no hypotheses, and nothing can be pruned.")
        rows = self._rows_to_prune_with(X, y, sample_weight, offset)
        whole = narrowed(self.ensemble_, rows.columns)
        kept, held_back = rows.hold_back()
        kept = kept.select(slice(0, max(1, most_rows(whole) // 2)))
        outputs = measured = Outputs(whole.n_outputs)
        if self._regression and whole.n_outputs > 1:
            # The choice of hypotheses depends on scores alone, their value on labels of rows that were held back.
            scores = whole.decision_function(kept.X, n_threads)
            outputs = replace(outputs, units=self._units_to_prune(scores, kept.weights))
            measured = replace(measured, units=self._units_to_prune(held_back.targets, held_back.weights))
        pruner = Pruner(
            whole, kept, how.prices, outputs, signed=how.signed, refits_leaves=how.refits_leaves, n_threads=n_threads
        )
        evaluate, on_all = (Evaluator(part, measured, how.losses, how.errors, n_threads) for part in (held_back, rows))

        def model_of(ensemble: Ensemble, costs: tuple[float, float]) -> Any:
            return self._with_ensemble(widened(ensemble, self.ensemble_, rows.columns), costs)

        search = SizeSearch(pruner, evaluate, lambda ensemble: model_bytes(model_of(ensemble, (0.0, 0.0))), limits)
        chosen = search.run()
        pruned, curve = model_of(chosen.ensemble, on_all(chosen.ensemble)), search.curve(chosen)
        pruned.size_curve_ = {
            "n_trees": [one.n_trees for one in curve],
            "bytes": [one.n_bytes for one in curve],
            "loss": [one.loss for one in curve],
            "error": [one.error for one in curve],
        }
        return pruned  # type: ignore[no-any-return]

    def _how_to_prune(self) -> HowToPrune:
        raise TypeError(
            f"{type(self).__name__} cannot be pruned: its answers are not one weighted sum of hypotheses that other "
            "weights keep. DeepBoostClassifier, RGBClassifier, RGBRegressor and SoftmaxBoostClassifier can."
        )

    def _units_to_prune(self, numbers: FloatArray, weights: FloatArray) -> FloatArray:
        """Unit of each of several targets, or of their scores."""
        return np.ones(numbers.shape[1])

    def _check_targets_to_prune(self, targets: FloatArray) -> None:
        """Refuse numbers that the loss has no value for."""

    def _rows_to_prune_with(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> DistinctRows:
        part, categories = LoadedPartition(X, y, sample_weight), self.ensemble_.categories
        read = read_training(copy(self), [part], part.given, regression=self._regression, categories=categories)
        n_outputs = self.ensemble_.n_outputs
        begun = read_offset(offset, read.n_given, n_outputs, of_classes=not self._regression)
        begun = begun if begun is None or read.kept is None else begun[read.kept]
        model: Any = self
        targets = read.labels
        if not self._regression:
            targets = known_labels(np.asarray(read.classes), model.classes_, "y")[read.class_ids]
        n_given = 1 if targets.ndim == 1 else targets.shape[1]
        if self._regression and n_given != n_outputs:
            raise ValueError(
                f"y has {n_given} column{'s' * (n_given > 1)}, and the model has learned {n_outputs} "
                f"target{'s' * (n_outputs > 1)}: give a column for each."
            )
        if self._regression:
            self._check_targets_to_prune(np.asarray(targets, dtype=np.float64))
        rows = distinct_rows(read.X, targets, read.weights, MOST_ROWS, begun, asked_columns(self.ensemble_))
        if len(rows) < 2:
            raise ValueError("X has one different row; pruning needs at least two, of which one is held back.")
        return rows

    def _with_ensemble(self, ensemble: Ensemble, costs: tuple[float, float]) -> Any:
        """A copy of the model with another ensemble, and a history of one round."""
        pruned = copy(self)
        pruned.ensemble_ = ensemble
        pruned._name_classes()
        loss, error = costs
        pruned.history_ = {"objective": [loss], **({} if self._regression else {"train_error": [error]})}
        pruned.history_["n_hypotheses"] = [len(ensemble)]
        pruned.n_iter_, pruned.n_skipped_rounds_ = 1, 0
        pruned.stop_reason_ = f"{PRUNED}{len(ensemble)} of {len(self.ensemble_)} hypotheses are left"
        for name in ("size_curve_", "optimality_gap_"):
            pruned.__dict__.pop(name, None)
        return pruned


def _read_limits(max_trees: Any, max_bytes: Any, tolerance: Any) -> Limits:
    return Limits(
        None if max_trees is None else check_integer("max_trees", max_trees, 1),
        None if max_bytes is None else check_integer("max_bytes", max_bytes, 1),
        None if tolerance is None else check_real("tolerance", tolerance, low=0.0),
    )


def keeps_order(model: Any) -> bool:
    """True with monotonic constraints, which negative weights and other leaves might violate."""
    return model.tree_options is not None and model.tree_options.monotonic_constraints is not None


def adaptive_prices(ensemble: Ensemble, prices: FloatArray) -> FloatArray:
    """Lambda_j / |alpha_j|: large weights are cheap to keep. Without any penalty all Lambda_j are 1."""
    plain = prices if prices.any() else np.ones(len(ensemble))
    return np.asarray(plain / np.abs(ensemble.weights))


def wrong_labels(scores: FloatArray, class_ids: FloatArray) -> FloatArray:
    """1 for each row whose label is another than that of the largest score."""
    predicted = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(predicted != class_ids, dtype=np.float64)
