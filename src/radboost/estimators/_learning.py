"""Fit of the boosting estimators: `prepare` the rows, `learn` from them, replace the model."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from radboost._tables import column_names
from radboost._validation import check_integer, check_pair, check_verbose
from radboost.boosting import Driver, FitContext, RoundMaker, Trace
from radboost.boosting.callbacks import check_callbacks
from radboost.boosting.driver import ReplayError
from radboost.boosting.metrics import TAKEN, read_metrics
from radboost.boosting.monitor import EarlyStopping, Monitor
from radboost.ensemble import Ensemble
from radboost.estimators._checkpoints import Saver, read_checkpoint, trace_of
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._evaluating import measures_of
from radboost.estimators._pruning import PRUNED, PruningMixin
from radboost.estimators._scikit_callbacks import has_callbacks, with_callbacks_of_scikit_learn
from radboost.families import StumpPairs, Stumps, TreeFamilies, Trees, get_families
from radboost.losses.gaps import gap_above
from radboost.model_file import ModelFileError, NotStored
from radboost.rows.categories import Categories
from radboost.rows.fields import Rows
from radboost.rows.partitions import VALIDATION, LoadedPartition
from radboost.rows.prepare import CheckedRows, PreparedRows, check_validation, read_training, read_validation
from radboost.rows.sources import Sources
from radboost.trees import GrowthSettings

BEGIN_ANEW = "Set warm_start=False to start again."
ONE_CLASS = "y holds only one class"
# Makes the sources of training and validation rows from the estimator that has read them and these rows.
LearnSources = Callable[[Any, CheckedRows, Rows | None], tuple[Sources | None, Sources | None]]


@dataclass(frozen=True)
class FitSettings:
    """Parameters of a fit, checked before the data are read."""

    growth: GrowthSettings  # also seed, threads and bins
    stopping: EarlyStopping | None = None
    more: Any = None  # settings of one estimator


@dataclass(frozen=True)
class FitPlan:
    """Rounds for the driver, and attributes of the model."""

    maker: RoundMaker | None  # None where the rounds are made elsewhere
    n_families: int
    sample_size: float
    monitor: Monitor | None = None
    keeps_best_round: bool = False  # True: the model ends at the best round of the monitor
    n_stages: int | None = None  # number of rounds, resolved from "auto"; None: the parameter
    attributes: Mapping[str, Any] = field(default_factory=dict)  # of the fitted estimator


@dataclass(frozen=True)
class Outline:
    """Facts about the training rows that a model keeps."""

    n_features: int
    n_outputs: int
    classes: Any
    feature_names: Any
    categories: Categories

    @classmethod
    def of(cls, prepared: PreparedRows) -> Outline:
        return cls(
            prepared.n_features, prepared.n_outputs, prepared.classes, prepared.feature_names, prepared.categories
        )


@dataclass(frozen=True)
class ModelOf:
    """Constructs fitted estimators from the rounds of a fit."""

    estimator: Any
    plan: FitPlan
    rows: PreparedRows | Outline

    def __call__(self, trace: Trace) -> Any:
        """Model of all rounds."""
        return self.after(trace, trace.n_rounds)

    def after(self, trace: Trace, n_rounds: int) -> Any:
        return self.estimator._fitted(trace, n_rounds, self.plan, self.rows)

    def without_rows(self) -> ModelOf:
        """Copy without rows and estimator, to be sent to another process."""
        assert isinstance(self.rows, PreparedRows)
        return ModelOf(None, replace(self.plan, maker=None, monitor=None), Outline.of(self.rows))


def learn(
    estimator: Any,
    prepared: PreparedRows,
    *,
    callbacks: Sequence[Any] = (),
    resume_from: Any = None,
    go_on_from: Trace | None = None,
    settings: FitSettings | None = None,
) -> Any:
    """A fitted copy of a boosting estimator, learned from prepared rows; the estimator itself does not change.

    May be called any number of times on the same rows, with other parameters, and on parts of them
    (`prepared.select(...)`). With `warm_start` it goes on from the estimator's last fit, with `resume_from` from a
    checkpoint, with `go_on_from` from the finished rounds of a fit of these rows and parameters. The rows must have
    been prepared with the estimator's number of bins. `settings` are those of the parameters, where a caller has read
    them already.
    """
    callbacks = check_callbacks(callbacks)
    settings = estimator._read_parameters() if settings is None else settings
    if prepared.has_one_class:
        return _of_one_class(estimator, prepared, settings)
    if prepared.max_bins != settings.growth.options.max_bins:
        raise ValueError(
            f"The rows were prepared with {prepared.max_bins} bins, and this estimator has "
            f"{settings.growth.options.max_bins}. Prepare them again, or give the estimator as many."
        )
    earlier = None
    if resume_from is not None:
        saved = read_checkpoint(resume_from, estimator, prepared)
        earlier = estimator._supplied(saved.trace)
        settings = replace(settings, growth=replace(settings.growth, seed=saved.seed))
    elif go_on_from is not None:
        earlier = go_on_from
    elif estimator.warm_start and estimator.__sklearn_is_fitted__():
        earlier = estimator._last_fit(prepared)
    resumed = resume_from if go_on_from is None else "the fit to go on from"
    model, decided = _boost(estimator, prepared, settings, earlier, callbacks, resumed)
    # The training state is freed: the short fits of the calibration follow it.
    model._calibrate(prepared, settings, decided)
    return model


def _boost(
    estimator: Any,
    prepared: PreparedRows,
    settings: FitSettings,
    earlier: Trace | None,
    callbacks: Sequence[Any],
    resume_from: Any,
) -> tuple[Any, Rows | None]:
    """Fitted copy, and the held-back rows of early stopping; None: there were none."""
    plan: FitPlan = estimator._plan(prepared, settings, Trace() if earlier is None else earlier)
    if prepared.metrics:
        plan.monitor.measures = measures_of(estimator, plan.attributes, plan.monitor, prepared)  # type: ignore[union-attr]
    if earlier is not None and resume_from is None:
        _check_same_validation(earlier, plan.monitor)

    made = ModelOf(estimator, plan, prepared)
    n_stages = estimator._n_stages() if plan.n_stages is None else plan.n_stages
    assert plan.maker is not None
    context = None
    if callbacks:
        context = FitContext(
            plan.maker.trace,
            n_stages,
            type(estimator).__name__,
            estimator.get_params(deep=False),
            made,
            _saver(estimator, prepared, settings.growth.seed),
        )
    driver = Driver(
        plan.maker,
        n_stages,
        plan.monitor,
        int(estimator.verbose),
        callbacks=callbacks,
        context=context,
        same_rows=resume_from is not None,
    )
    try:
        trace = driver.run()
    except ReplayError as error:
        if resume_from is None and error.__cause__ is not None:
            raise error.__cause__ from None  # of a warm start: the error of the rows or of a loss
        raise ModelFileError(f"{resume_from} is not a usable checkpoint: {error}.") from error
    best = plan.monitor.best_round if plan.keeps_best_round and plan.monitor is not None else trace.n_rounds_to_keep
    decided = plan.monitor is not None and plan.keeps_best_round
    return made.after(trace, best), plan.monitor.rows if decided and plan.monitor is not None else None


def _of_one_class(estimator: Any, prepared: PreparedRows, settings: FitSettings) -> Any:
    """Model without hypotheses for labels of one class; attributes are from a fit of one round to two equal rows."""
    shortest = copy(estimator)
    shortest.n_rounds = 1
    plan: FitPlan = shortest._plan(prepared.of_two_classes(), replace(settings, stopping=None), Trace())
    plan = replace(plan, sample_size=prepared.row_weights().total)
    trace = Trace(history={"objective": [0.0], "train_error": [0.0], "n_hypotheses": [0.0]}, stop_reason=ONE_CLASS)
    return estimator._fitted(trace, 1, plan, prepared)


def _saver(estimator: Any, prepared: PreparedRows, seed: int) -> Callable[[Trace, str, str], None]:
    """Function that saves checkpoints; it describes rows and parameters when the first one is written."""
    saver = cache(lambda: Saver.of(estimator, prepared, seed))
    return lambda trace, stop_reason, path: saver().save(trace, stop_reason, path)


def _check_same_validation(earlier: Trace, monitor: Monitor | None) -> None:
    had_rows = any(name.startswith("validation_") for name in earlier.history)
    if had_rows != (monitor is not None):
        raise ValueError(
            f"warm_start=True continues the last fit, which had {'no ' if monitor is not None else ''}validation rows. "
            f"Fit {'without' if monitor is not None else 'with'} them again, or set warm_start=False."
        )


class BoostingEstimator(PruningMixin):
    """Base of the boosting estimators: `fit`, warm starts, callbacks of scikit-learn.

    Parameters
    ----------
    categorical_features : "from_dtype", None, or a list of column indices or names, or a mask of booleans
        Columns whose values are categories without an order: strings, numbers or booleans; the 255 most
        frequent of a column are distinguished, and others are taken as missing values.
        Trees split them into any two sets of categories. "from_dtype" takes the columns of categories (pandas'
        category, polars' Categorical and Enum, pyarrow's dictionary) and, with a warning, those of text of a data
        frame or table. A category that training did not see counts as missing.
    early_stopping : bool, int or EarlyStopping
        Stop when the loss on validation rows no longer falls, or the `eval_metric` of `fit` no longer rises; a number
        is the rounds to wait.
    class_weight : dict from labels to weights, "balanced", or None
        Weights of the rows of each class, times `sample_weight`. "balanced" gives all classes the same total weight.
    n_jobs : int or None
        Threads, at most 1024; None for all cores. The model does not depend on it.
    random_state : int, generator or None
        Seed of the random draws.
    verbose : int
        Show a progress bar, and the results of trials.
    warm_start : bool
        Go on from the last fit, with the same rows, up to `n_rounds` rounds in all. The model is that of one long fit.

    Attributes
    ----------
    categories_ : dict
        For each categorical column, by its index, the sorted categories of the training rows.
    n_iter_ : int
        Rounds kept in the model.
    best_iteration_, best_score_ : int and float, or None
        The round with the lowest "validation_loss" or the highest `eval_metric`, counted from 1, and its value; None
        without validation rows.
    n_skipped_rounds_ : int
        Rounds whose proposals could not lower the objective.
    stop_reason_ : str
        Why the fit ended.
    feature_importances_ : array
        Gains of the splits on each feature, weighted like their trees; they sum to 1, or are all 0 without splits.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    history_: dict[str, list[float]]
    n_iter_: int
    n_skipped_rounds_: int
    stop_reason_: str

    # True for regressors; True if a row may have several targets.
    _regression: ClassVar[bool] = False
    _has_gap: ClassVar[bool] = False  # whether fits have an `optimality_gap_`
    _learns_several_targets: ClassVar[bool] = False
    n_rounds: Any
    warm_start: bool
    verbose: int
    _skl_callbacks: list[Any]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
        eval_metric: Any = None,
        callbacks: Any = None,
        resume_from: Any = None,
    ) -> Self:
        """Learns from rows X and labels or targets y.

        Parameters
        ----------
        X : matrix, data frame or sparse matrix
            Numbers; NaN is a missing value. Categorical columns may hold text and booleans too, and None and pandas.NA
            are missing values there; they need a matrix or a frame.
        y : array
            Labels (numbers, strings or booleans), or the numbers to be predicted; RGBRegressor takes a column for each
            of several targets.
        sample_weight : array or None
            A row of weight w counts as w copies of it. Rows of weight zero are left out.
        offset : array or None
            Scores that the rows begin with, which the model adds to: one number per row, with more than two classes one
            per row and class. The model does not keep them; predictions take an `offset` of their own
            (docs/training.md). With loss="poisson" or "gamma": the logarithm of the exposure.
        X_val, y_val, sample_weight_val, offset_val : validation rows, or None
            The fit stops early on them if `early_stopping` is set.
            In a pipeline they must be transformed like X: `Pipeline(..., transform_input=["X_val"])`.
        eval_metric : name of a scorer of scikit-learn, function scorer(model, X, y), a list of these, or None
            Metrics on the validation rows besides the loss: "roc_auc", say; larger is better. `history_` has them
            after each round, and early stopping goes by the first one (docs/training.md).
        callbacks : list of objects, or None
            Called after every round; they may end the fit (docs/training.md). `radboost.Checkpoint` is one.
        resume_from : path or None
            A checkpoint of a fit with the same rows and parameters, to go on from.
        """
        return self._fit(
            X,
            y,
            sample_weight,
            callbacks=callbacks,
            resume_from=resume_from,
            validation=(X_val, y_val, sample_weight_val),
            beside={"offset": (offset, offset_val)},
            eval_metric=eval_metric,
        )

    @available_if(has_callbacks)
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Callbacks of scikit-learn, `sklearn.callback.ProgressBar()` for instance, for all fits to come.

        They are called at the beginning and end of the fit and of each round, and may end it. Inside of a search or a
        pipeline they are given to that. Without arguments all are removed. Needs scikit-learn 1.9 or newer.
        """
        from sklearn.callback import CallbackSupportMixin  # loads optional packages

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    @property
    @of_one_fit
    def best_iteration_(self) -> int | None:
        """The number of rounds with the lowest loss on the validation rows, or the highest `eval_metric` of `fit`.

        None without validation rows.
        """
        check_is_fitted(self)
        best = self._best_round()
        return None if best is None else best[0]

    @property
    @of_one_fit
    def best_score_(self) -> float | None:
        """The lowest loss on the validation rows, or the highest `eval_metric`; None without such rows."""
        check_is_fitted(self)
        best = self._best_round()
        return None if best is None else best[1]

    def _best_round(self) -> tuple[int, float] | None:
        """Its number, counted from 1, and its loss or metric."""
        losses, metric = self.history_.get("validation_loss"), next(iter(_metrics_in(self.history_)), None)
        if metric is not None:
            best = int(np.argmax(metric))
            return 1 + best, metric[best]
        return None if losses is None else (1 + int(np.argmin(losses)), min(losses))

    @abstractmethod
    def _read_parameters(self) -> FitSettings:
        """Check everything that does not depend on the data."""

    @abstractmethod
    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        """Plan of the rounds after the ones in `trace`."""

    def _check_training(self, training: CheckedRows) -> None:
        """Refuse labels that the algorithm cannot learn, before anything is binned."""

    def _calibrate(self, prepared: PreparedRows, settings: FitSettings, held_back: Rows | None) -> None:
        """Calibrate the probabilities of this fitted model; `held_back`: rows of early stopping, or None."""

    def _warn(self, fitted: Any) -> None:
        """Warn of a useless model."""

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        callbacks: Any,
        resume_from: Any,
        validation: tuple[Any, Any, Any] = (None, None, None),
        beside: Mapping[str, tuple[Any, Any]] = MappingProxyType({}),
        eval_metric: Any = None,
        learn_sources: LearnSources | None = None,
    ) -> Self:
        """`prepare` and `learn`; `beside`: further arguments, by name, of training and of validation rows."""
        given, metrics = check_callbacks(callbacks), read_metrics(eval_metric)
        settings = self._read_parameters()
        # Rows are read and learned by copies: an interrupted or failed fit does not change the estimator.
        reader = copy(self)
        rows = LoadedPartition(X, y, sample_weight, **{name: pair[0] for name, pair in beside.items()})
        watched = LoadedPartition(*validation, **{name: pair[1] for name, pair in beside.items()}, role=VALIDATION)
        check_validation(*validation)
        for name in ("offset", "cost"):
            check_pair(name, validation[0] is not None, *beside.get(name, (None, None)))
        # Checkpoints compare the values, metrics of the user and `learn_sources` may look at them.
        seen = given or metrics or resume_from is not None or learn_sources is not None or column_names(X) is None
        keep_values = bool(seen) or needs_values(self)
        training = read_training(reader, [rows], rows.given, regression=self._regression, keep_values=keep_values)
        self._check_training(training)
        checked = None if validation[0] is None else read_validation(reader, [watched], watched.given, training)
        if learn_sources is not None:
            of_training, of_validation = learn_sources(reader, training, checked)
            training = replace(training, sources=of_training)
            checked = None if checked is None else replace(checked, sources=of_validation)
        growth = settings.growth
        prepared = training.prepare(growth.options.max_bins, growth.n_threads)
        prepared = replace(prepared, validation=checked, metrics=metrics)
        del training  # its labels take memory while the ensemble grows

        options: dict[str, Any] = {"resume_from": resume_from, "settings": settings}
        if hasattr(self, "_skl_callbacks"):
            fitted = with_callbacks_of_scikit_learn(
                self, X, y, sample_weight, lambda bridge: learn(self, prepared, callbacks=[*given, *bridge], **options)
            )
        else:
            fitted = learn(self, prepared, callbacks=given, **options)
        if fitted.stop_reason_ != ONE_CLASS:
            self._warn(fitted)
        # One assignment, so that predictions in another thread use the old model or the new one.
        self.__dict__ = fitted.__dict__
        return self

    def _fitted(self, trace: Trace, n_rounds: int, plan: FitPlan, prepared: PreparedRows | Outline) -> Self:
        """A copy of the estimator with the model of the first `n_rounds` rounds."""
        fitted = copy(self)
        fitted.ensemble_ = self._ensemble(trace, n_rounds, plan, prepared)
        fitted.n_features_in_ = prepared.n_features
        for name in ("feature_names_in_", "calibration_", "workers_", "left_out_"):  # of an earlier fit
            fitted.__dict__.pop(name, None)
        if prepared.feature_names is not None:
            fitted.feature_names_in_ = prepared.feature_names
        if prepared.classes is not None:
            fitted.__dict__["classes_"] = prepared.classes
        fitted._name_classes()
        fitted.history_ = {name: list(values) for name, values in trace.history.items()}
        fitted.n_iter_ = n_rounds
        fitted.n_skipped_rounds_ = trace.n_skipped
        fitted.stop_reason_ = trace.stop_reason
        if self._has_gap:
            kept = trace.history["objective"][:n_rounds]
            fitted.__dict__["optimality_gap_"] = gap_above(trace.lower_bound, kept[-1]) if kept else math.nan
        fitted.__dict__.update(plan.attributes)
        return fitted

    def _ensemble(self, trace: Trace, n_rounds: int, plan: FitPlan, prepared: PreparedRows | Outline) -> Any:
        return Ensemble.from_trace(
            trace,
            n_rounds=n_rounds,
            n_features=prepared.n_features,
            n_families=plan.n_families,
            sample_size=plan.sample_size,
            n_outputs=prepared.n_outputs,
            feature_names=None if prepared.feature_names is None else prepared.feature_names.tolist(),
            categories=prepared.categories,
        )

    def _n_stages(self) -> int:
        """Largest number of rounds."""
        return int(self.n_rounds)

    def _free_when_resumed(self, then: Mapping[str, Any]) -> set[str]:
        """Parameters that may differ in a resumed fit, besides those without an effect; `then` are the saved ones."""
        return {"n_rounds"}

    def _supplied(self, trace: Trace) -> Trace:
        """Trace from a file, with user-defined objects, which files do not store, restored."""
        return trace

    def _last_trace(self) -> Trace:
        return trace_of(self.ensemble_, self._history_of_model())

    def _history_of_model(self) -> dict[str, list[float]]:
        """The rounds that the model has kept; `history_` goes on after the best one."""
        return {name: values[: self.n_iter_] for name, values in self.history_.items()}

    def _last_fit(self, prepared: PreparedRows) -> Trace:
        """Trace that a warm start continues, if the rows and parameters are those of the last fit."""
        ensemble, classes = self.ensemble_, getattr(self, "classes_", None)
        if self.stop_reason_.startswith(PRUNED):
            raise ValueError(f"warm_start=True continues a fit, and this model was pruned. {BEGIN_ANEW}")
        if not isinstance(self.n_rounds, str) and self._n_stages() < self.n_iter_:
            raise ValueError(
                f"warm_start=True continues after the {self.n_iter_} rounds of the last fit, and n_rounds="
                f"{self._n_stages()} is less. Give n_rounds as the number of all rounds together, or set "
                "warm_start=False."
            )
        same_classes = prepared.classes is None or _same(classes, prepared.classes)
        names = prepared.feature_names
        same_names = ensemble.feature_names is None or names is None or list(ensemble.feature_names) == list(names)
        same_outputs = ensemble.n_outputs == prepared.n_outputs
        if ensemble.n_features != prepared.n_features or not same_names or not same_classes or not same_outputs:
            raise ValueError(
                "warm_start=True continues the last fit, whose rows had other columns or other classes, or other "
                f"numbers of targets. {BEGIN_ANEW}"
            )
        if ensemble.categories != {column: tuple(known) for column, known in prepared.categories.items()}:
            raise ValueError(f"warm_start=True needs the categories of the last fit. {BEGIN_ANEW}")
        for name, (then, now) in self._fixed_by_fit(prepared).items():
            if not isinstance(then, NotStored) and not _same(then, now):
                raise ValueError(
                    f"warm_start=True continues the last fit, whose {name} was {then!r}, and {name}={now!r} now. "
                    f"{BEGIN_ANEW}"
                )
        trace = self._last_trace()
        trace.stop_reason = self.stop_reason_
        return trace

    def _fixed_by_fit(self, prepared: PreparedRows) -> dict[str, tuple[Any, Any]]:
        """Parameters that a warm start must not change: name -> (value then, value now)."""
        return {}

    def _check_common(self) -> None:
        """Check and read parameters that every boosting estimator has."""
        self._check_rounds()
        check_verbose(self.verbose)
        self._check_warm_start()

    def _check_rounds(self) -> None:
        check_integer("n_rounds", self.n_rounds, 1)

    def _check_warm_start(self) -> None:
        if not isinstance(self.warm_start, bool | np.bool_):
            raise TypeError(f"warm_start must be True or False; got {self.warm_start!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def needs_values(estimator: Any) -> bool:
    """True if a fit needs the values of rows, and not only their bins, which are enough to grow trees.

    A warm start needs them, because the earlier trees have other bins, and so do families of other hypotheses.
    """
    if estimator.warm_start and estimator.__sklearn_is_fitted__():
        return True
    family = getattr(estimator, "family", None)
    if family is None or isinstance(family, TreeFamilies):
        return False
    return any(type(one) not in (Trees, Stumps, StumpPairs) for one in get_families(family))


def _metrics_in(history: Mapping[str, list[float]]) -> list[list[float]]:
    """Columns of `eval_metric` in a history; the first one decides when to stop."""
    always = [f"validation_{name}" for name in TAKEN]
    return [column for name, column in history.items() if name.startswith("validation_") and name not in always]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(np.asarray(one), np.asarray(other))
    return bool(one == other)
