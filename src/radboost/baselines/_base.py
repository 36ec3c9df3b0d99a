"""Base of the older algorithms."""

from __future__ import annotations

import warnings
from dataclasses import field
from typing import Any, ClassVar, Self

from sklearn.base import ClassifierMixin

from radboost._validation import LARGEST_INTEGER, check_integer, check_verbose, resolve_n_jobs
from radboost.boosting import Trace
from radboost.boosting.classic import ClassicProblem, ClassicRounds
from radboost.boosting.classic_monitors import ClassicMonitor
from radboost.boosting.monitor import EarlyStopping, resolve_early_stopping
from radboost.estimators._documents import described_like
from radboost.estimators._learning import BoostingEstimator, FitPlan, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._predicting import PredictingMixin
from radboost.families.raw_rows import RawRows
from radboost.rows.prepare import PreparedRows
from radboost.trees import GrowthSettings, TreeOptions, read_tree_options

INSTEAD = {"max_leaves": "It is a parameter here: max_leaves=... ."}


@described_like(BoostingEstimator)
@with_constructor
class Baseline(PredictingMixin, ClassifierMixin, BoostingEstimator):
    """Base of the estimators that are here to compare with.

    Parameters
    ----------
    tree_options : TreeOptions or None
        The number of bins (`max_bins`).

    Attributes
    ----------
    history_ : dict of lists, one entry per round
        "objective" (the mean exponential loss), "train_error", "n_hypotheses"; with validation rows "validation_error"
        and "validation_loss", the same loss on them.
    n_iter_ : int
        Rounds.
    stop_reason_ : str
        Why there are no more rounds.
    n_skipped_rounds_ : int
        Always 0: a round without a useful tree ends the fit.
    """

    max_leaves: int | str = field(init=False)
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    early_stopping: bool | int | EarlyStopping = False
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False
    tree_options: TreeOptions | None = None

    _takes_offset: ClassVar[bool] = False
    _algorithm: ClassVar[type[ClassicRounds]]
    _monitor: ClassVar[type[ClassicMonitor]]
    _most_rounds: ClassVar[int] = LARGEST_INTEGER
    _tree_options_read: ClassVar[tuple[str, ...]] = ("max_bins",)

    @described_like(BoostingEstimator.fit)
    def fit(  # type: ignore[override]  # without offsets
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        eval_metric: Any = None,
        callbacks: Any = None,
        resume_from: Any = None,
    ) -> Self:
        """Learns from rows X and labels y."""
        return self._fit(
            X,
            y,
            sample_weight,
            callbacks=callbacks,
            resume_from=resume_from,
            validation=(X_val, y_val, sample_weight_val),
            eval_metric=eval_metric,
        )

    def _read_parameters(self) -> FitSettings:
        check_integer("n_rounds", self.n_rounds, 1, self._most_rounds)
        self._check_max_leaves()
        options = read_tree_options(self.tree_options, self._tree_options_read, type(self).__name__, INSTEAD)
        check_verbose(self.verbose)
        self._check_warm_start()
        growth = GrowthSettings(n_threads=resolve_n_jobs(self.n_jobs), options=options)
        return FitSettings(growth, resolve_early_stopping(self.early_stopping))

    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        n_threads, stopping, validation = settings.growth.n_threads, settings.stopping, prepared.validation
        if stopping is not None and validation is None:
            prepared, validation, _ = prepared.hold_back(stopping.validation_fraction, settings.growth.seed, n_threads)
        weights = prepared.row_weights(folds_large=True)
        problem = ClassicProblem(
            prepared.data,
            prepared.class_ids,
            len(prepared.known_classes),
            weights,
            RawRows(prepared.X, prepared.order, n_threads),
            n_threads,
            prepared.collective,
        )
        max_leaves = self._max_leaves(problem.n_classes)
        return FitPlan(
            maker=self._algorithm(problem, max_leaves, trace),
            n_families=int(min(max_leaves, weights.n_copies)),
            sample_size=problem.weights.total,
            monitor=None if validation is None else self._monitor(validation, stopping, problem.n_classes, n_threads),
            keeps_best_round=stopping is not None,
        )

    def _warn(self, fitted: Self) -> None:
        if len(fitted.ensemble_) == 0:
            warnings.warn(
                f"The model is empty and predicts {fitted.classes_.tolist()[0]!r} everywhere: the first tree was no "
                "better than chance. Check whether the columns say anything about the labels.",
                UserWarning,
                stacklevel=5,
            )

    def _check_max_leaves(self) -> None:
        check_integer("max_leaves", self.max_leaves, 2)

    def _max_leaves(self, n_classes: int) -> int:
        """Most leaves of a tree."""
        return int(self.max_leaves)
