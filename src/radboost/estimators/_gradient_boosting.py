"""The fit of Regularized Gradient Boosting, the same for classification and regression."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from radboost import complexity
from radboost._typing import ClassIds, FloatArray
from radboost._validation import (
    check_choice,
    check_integer,
    check_integer_or,
    check_max_features,
    check_needs,
    check_real_or,
    check_score_memory,
    resolve_n_jobs,
    seed_from,
)
from radboost.boosting import Trace
from radboost.boosting.monitor import EarlyStopping, Monitor, resolve_early_stopping
from radboost.boosting.norm_balls import NEEDS, NormBallDescent, RGBSettings, start_constant
from radboost.ensemble import Ensemble
from radboost.estimators._constraints import constraints_then_and_now, read_constraints
from radboost.estimators._learning import BoostingEstimator, FitPlan, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._rgb_trials import MOST_ROUNDS, tune, with_chosen
from radboost.families import NormBalls, TreeFamilies
from radboost.families.raw_rows import RawRows
from radboost.losses import NamedTargetLoss, TargetLoss, ask
from radboost.losses.target import WeightedRows
from radboost.objectives.targets import LossRows, loss_to_gain, make_rows
from radboost.rows.fields import Rows
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.weights import RowWeights, ends_of_all
from radboost.trees import GrowthSettings, TreeOptions, make_gradient_grower, read_tree_options

# Values of "auto" where the number of rounds is given; with n_rounds="auto", `_rgb_trials.tune` chooses them.
# Pairs: for regression and two classes, and for more classes. Chosen by the experiment in docs/rgb.md.
LEARNING_RATES = (0.1, 0.3)
MIN_LEAF_WEIGHTS = (10.0, 3.0)  # least sum of weights in a leaf
SUBSAMPLE = 0.5  # fraction of rows that each tree is grown on
PENALTY = 0.3  # complexity_penalty
BYTES_PER_SCORE = 24  # 8 each for the score, its gradient, and a copy at the start
STEPS = ["auto", "lipschitz", "line_search", "paper"]
INSTEAD = {  # options of trees without an effect here -> advice in the error message
    "max_leaves": "The families bound its trees: give the sizes as family=TreeFamilies(sizes=...).",
    "growth": "Its trees grow best-first, up to the largest of the sizes that were drawn.",
    "split_criterion": "Its trees are split by the squared error of the gradients.",
}


class TargetMonitor(Monitor):
    """Validation monitor of the loss of gradient boosting."""

    what = "loss"
    units: FloatArray | None = None  # shape (n_outputs,): scores are divided by these, as the targets already are

    def __init__(
        self,
        rows: Rows,
        targets: FloatArray,
        loss: TargetLoss,
        n_outputs: int,
        stopping: EarlyStopping | None,
        n_threads: int,
    ) -> None:
        super().__init__(rows, n_outputs, n_threads, stopping)
        self._targets = targets
        self._loss = loss
        self.has_errors = rows.targets is None  # classification

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        """Loss of each row, and with classes the mask of wrong rows: of two classes, a score of 0 is wrong."""
        scores = scores if self.units is None else scores / self.units
        losses = ask(self._loss, "value", self._targets, scores)
        if not self.has_errors:
            return losses, None
        wrong = self._targets * scores <= 0 if scores.ndim == 1 else scores.argmax(axis=1) != self._targets
        return losses, wrong


@with_constructor
class GradientBoosting(BoostingEstimator):
    """Base of RGBClassifier, RGBRegressor and AgnosticBoostClassifier, which add losses and predictions."""

    n_rounds: int | str = field(default="auto", kw_only=False)
    loss: str | TargetLoss = "auto"
    family: TreeFamilies | None = None
    n_candidates: int = 7
    complexity_penalty: float | str = "auto"
    step: str = "auto"
    learning_rate: float | str = "auto"
    subsample: float | str = "auto"
    categorical_features: Any = "from_dtype"
    early_stopping: bool | int | EarlyStopping = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0
    tree_options: TreeOptions | None = None

    loss_: str | TargetLoss = field(init=False)
    chosen_: dict[str, Any] = field(init=False)

    _type_of_monitor: ClassVar[type[TargetMonitor]] = TargetMonitor
    _family_of_size = "family=TreeFamilies(sizes=...), the numbers of splits"
    _chosen: ClassVar[tuple[str, ...]] = (
        "n_rounds",
        "learning_rate",
        "subsample",
        "complexity_penalty",
        "min_leaf_weight",
        "max_features",
        "thresholds",
        "largest_size",
    )
    _tree_options_read = (
        "max_features",
        "thresholds",
        "min_leaf_weight",
        "max_bins",
        "monotonic_constraints",
        "interaction_constraints",
    )

    @abstractmethod
    def _resolve_loss(self, rows: CheckedRows | PreparedRows) -> tuple[TargetLoss, int]:
        """Loss object for these rows, which are checked against it, and the number of scores per row."""

    @abstractmethod
    def _read_loss(self) -> TargetLoss:
        """Loss object of the parameter, before the number of classes is known."""

    @abstractmethod
    def _name_of_loss(self) -> str | TargetLoss:
        """Parameter `loss` with "auto" resolved: a name, or the user's object."""

    def _targets(self, class_ids: ClassIds, targets: FloatArray | None, n_outputs: int) -> FloatArray:
        """Targets of the loss; of two classes -1 and +1, of more their indices; shape (n_rows,)."""
        indices = class_ids.astype(np.float64)
        return indices if n_outputs > 1 else 2.0 * indices - 1.0

    def _norm_unit(self, derivative: FloatArray, mean: Callable[[FloatArray], float]) -> float:
        """Largest norm of leaf vectors for norm=1, from the derivative of the loss by the scores at the start."""
        # For classes each entry of the derivative is of size 1; a leaf vector has one entry per score.
        return 1.0 if derivative.ndim == 1 else math.sqrt(derivative.shape[1])

    def _units(self, targets: FloatArray, weights: RowWeights, n_threads: int) -> FloatArray | None:
        """Powers of two, shape (n_outputs,), that the fit divides several targets by; None: it does not."""
        return None

    def _check_training(self, training: CheckedRows) -> None:
        loss, n_outputs = self._resolve_loss(training)
        check_needs(NEEDS.get(self.step, ()), loss=loss)
        read_constraints(self.tree_options, training, n_outputs)

    def _read_parameters(self) -> FitSettings:
        """Everything that can be checked before the data are seen."""
        self._check_common()
        if self.family is not None and not isinstance(self.family, TreeFamilies):
            raise TypeError(f"family must be a radboost.TreeFamilies or None; got {self.family!r}.")
        options = read_tree_options(self.tree_options, self._tree_options_read, type(self).__name__, INSTEAD)
        check_real_or(["auto"], "learning_rate", self.learning_rate, low=0.0, high=1.0, open_low=True)
        check_real_or(["auto"], "subsample", self.subsample, low=0.0, high=1.0, open_low=True)
        check_real_or(["auto"], "complexity_penalty", self.complexity_penalty, low=0.0)
        self._read_loss()
        seed, n_threads = seed_from(self.random_state), resolve_n_jobs(self.n_jobs)
        growth = GrowthSettings(
            subsample=SUBSAMPLE if isinstance(self.subsample, str) else float(self.subsample),
            seed=seed,
            n_threads=n_threads,
            options=options,
        )
        settings = RGBSettings(
            n_candidates=check_integer("n_candidates", self.n_candidates, 1, 4096),
            complexity_penalty=PENALTY if isinstance(self.complexity_penalty, str) else float(self.complexity_penalty),
            step=check_choice("step", self.step, STEPS),
            learning_rate=0.0,  # `_adapt` sets it
            seed=seed,
            n_threads=n_threads,
        )
        families = (self.family or TreeFamilies()).resolve()
        return FitSettings(growth, resolve_early_stopping(self.early_stopping), (settings, families))

    def _adapt(
        self, growth: GrowthSettings, settings: RGBSettings, n_features: int, n_outputs: int
    ) -> tuple[GrowthSettings, RGBSettings]:
        """Settings that depend on the shape of the rows."""
        several = n_outputs > 1 and not self._regression
        options = growth.options.filled(min_leaf_weight=MIN_LEAF_WEIGHTS[several], max_features=None, thresholds="best")
        rate = LEARNING_RATES[several] if isinstance(self.learning_rate, str) else float(self.learning_rate)
        max_features = check_max_features(options.max_features, n_features) % n_features  # 0 for all
        growth = replace(
            growth, max_features=max_features, random_thresholds=options.thresholds == "random", options=options
        )
        return growth, replace(settings, learning_rate=rate)

    def _check_rounds(self) -> None:
        check_integer_or(["auto"], "n_rounds", self.n_rounds, 1)

    def _n_stages(self) -> int:
        return max(MOST_ROUNDS) if isinstance(self.n_rounds, str) else int(self.n_rounds)

    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        plan = self._plan_of_rounds(prepared, settings, trace)
        if trace.n_rounds and self.warm_start:
            self._check_same_choice(plan.attributes["chosen_"])
        return plan

    def _check_same_choice(self, now: Mapping[str, Any]) -> None:
        """Refuse a warm start with other values for "auto": they depend on whether the number of rounds is given."""
        given = {**vars(self.tree_options or TreeOptions()), **vars(self), "largest_size": self.family or "auto"}
        left_open = [name for name in self._chosen if name != "n_rounds" and str(given[name]) == "auto"]
        # A fit that goes on after the loss of a worker has rounds, but its estimator was never fitted.
        then = getattr(self, "chosen_", now)
        changed = [name for name in left_open if then[name] != now[name]]
        if changed:
            was = ", ".join(f"{name} {_shown(then[name])}" for name in changed)
            is_now = ", ".join(_shown(now[name]) for name in changed)
            raise ValueError(
                f"warm_start=True continues the last fit, which had {was}; with n_rounds={self.n_rounds!r} this would "
                f'be {is_now}, because "auto" stands for other values where the number of rounds is given. Give the '
                "values of the last fit (chosen_), or set warm_start=False."
            )

    def _free_when_resumed(self, then: Mapping[str, Any]) -> set[str]:
        same = isinstance(self.n_rounds, str) == isinstance(then.get("n_rounds"), str)
        return {"n_rounds"} if same else set()

    def _plan_of_rounds(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        if not isinstance(self.n_rounds, str):
            return self._plan_as_given(prepared, settings, trace)
        _, n_outputs = self._resolve_loss(prepared)
        # Several targets are learned with the defaults of one, which were chosen in regression.
        chosen = tune(self, prepared, settings, 1 if self._regression else n_outputs)
        growth = replace(settings.growth, subsample=chosen.subsample, options=chosen.options)
        rgb = replace(settings.more[0], complexity_penalty=chosen.complexity_penalty)
        more = (rgb, chosen.family.resolve())
        given: GradientBoosting = with_chosen(self, chosen)
        plan = given._plan_as_given(prepared, replace(settings, growth=growth, more=more), trace)
        # The bound counts all families that `tune` could choose, larger ones than the chosen too.
        n_families = plan.n_families if self.family is not None else len(TreeFamilies().resolve())
        return replace(plan, n_stages=chosen.n_rounds, n_families=n_families)

    def _plan_as_given(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        loss, n_outputs = self._resolve_loss(prepared)
        (rgb, families), stopping, validation = settings.more, settings.stopping, prepared.validation
        rgb = replace(rgb, seed=settings.growth.seed)  # in a resumed fit that of the checkpoint
        growth, rgb = self._adapt(settings.growth, rgb, prepared.n_features, n_outputs)
        growth = replace(growth, constraints=read_constraints(self.tree_options, prepared, n_outputs))
        if stopping is not None and validation is None:
            prepared, validation, _ = prepared.hold_back(stopping.validation_fraction, growth.seed, growth.n_threads)
        weights = prepared.row_weights(folds_large=True)
        targets, loss_given = self._targets(prepared.class_ids, prepared.targets, n_outputs), self._name_of_loss()
        # A loss of f - y alone has the same values for the target y - offset and scores without the offset.
        of_difference = isinstance(loss, NamedTargetLoss) and loss.of_difference
        shifted = targets if prepared.offset is None or not of_difference else targets - prepared.offset
        units = self._units(shifted, weights, growth.n_threads)
        if units is not None:
            targets, shifted = targets / units, shifted / units
        loss_of_fit = loss_given
        if isinstance(loss, NamedTargetLoss):
            mean = partial(weights.mean, n_threads=growth.n_threads)
            adapted = loss.for_rows(WeightedRows(shifted, weights.given, mean, weights.gather))
            loss, loss_of_fit = adapted, loss_given if adapted is loss else adapted
        monitor = None
        if validation is not None:
            val_targets = self._targets(validation.class_ids, validation.targets, n_outputs)
            if val_targets.shape[1:] != targets.shape[1:]:
                shapes = [1 if array.ndim == 1 else array.shape[1] for array in (val_targets, targets)]
                raise ValueError(f"y_val has {shapes[0]} targets per row, and y has {shapes[1]}. Give all of them.")
            val_targets = val_targets if units is None else val_targets / units
            if isinstance(loss, NamedTargetLoss):
                loss.check_targets(ends_of_all(val_targets, validation.collective))
            monitor = self._type_of_monitor(validation, val_targets, loss, n_outputs, stopping, growth.n_threads)
            monitor.units = units
        maker = self._maker(prepared, targets, weights, loss, n_outputs, growth, rgb, families, trace, units)
        return FitPlan(
            maker=maker,
            n_families=len(families),
            sample_size=maker.rows.weights.total,
            monitor=monitor,
            keeps_best_round=stopping is not None,
            attributes={
                "loss_": loss_of_fit,
                "_loss_given": loss_given,
                "_constraints": growth.constraints,
                "_units_of_fit": units,
                "chosen_": {
                    "n_rounds": self._n_stages(),
                    "learning_rate": rgb.learning_rate,
                    "subsample": growth.subsample,
                    "complexity_penalty": rgb.complexity_penalty,
                    "min_leaf_weight": growth.options.min_leaf_weight,
                    "max_features": growth.max_features or prepared.n_features,
                    "thresholds": growth.options.thresholds,
                    "largest_size": int(max(families.sizes)),
                },
            },
        )

    def _maker(
        self,
        prepared: PreparedRows,
        targets: FloatArray,
        weights: RowWeights,
        loss: TargetLoss,
        n_outputs: int,
        growth: GrowthSettings,
        settings: RGBSettings,
        families: NormBalls,
        trace: Trace,
        units: FloatArray | None,
    ) -> NormBallDescent:
        data = prepared.data
        check_score_memory(data.n_rows, n_outputs, BYTES_PER_SCORE)
        rows = self._rows(loss, targets, weights, n_outputs, growth.n_threads)
        offset = prepared.offset if units is None or prepared.offset is None else prepared.offset / units
        constant = start_constant(rows, targets, offset)
        scores = np.tile(constant, (len(targets), 1)) if n_outputs > 1 else np.full(len(targets), constant[0])
        if offset is not None:
            scores += offset
        derivative = np.asarray(ask(loss, "derivative", targets, scores), dtype=np.float64)
        unit = self._norm_unit(derivative, rows.mean)

        raw_rows = RawRows(prepared.X, prepared.order, growth.n_threads)

        def raw_scores(trace: Trace) -> FloatArray:  # scores of the training rows; `maker` exists when it is called
            plan = FitPlan(maker, len(families), rows.weights.total)
            ensemble: Ensemble = self._ensemble(trace, trace.n_rounds, plan, prepared)
            return raw_rows.scores(ensemble.decision_function, prepared.offset)

        maker = NormBallDescent(
            rows,
            make_gradient_grower(data, rows.weighting, growth),
            families,
            settings,
            norm_unit=unit,
            price_unit=loss_to_gain(rows, targets, scores),
            n_features=data.n_columns,
            n_questions=complexity.n_questions(data.n_bins(), data.has_missing() > 0, data.is_categorical() > 0),
            constant=constant,
            offset=offset,
            trace=trace,
            raw_rows=raw_rows,
            raw_scores=raw_scores,
            has_errors=not self._regression,
            units=units,
        )
        return maker

    def _rows(
        self, loss: TargetLoss, targets: FloatArray, weights: RowWeights, n_outputs: int, n_threads: int
    ) -> LossRows:
        return make_rows(loss, targets, weights, n_outputs, n_threads)

    def _fixed_by_fit(self, prepared: PreparedRows) -> dict[str, tuple[Any, Any]]:
        constraints = read_constraints(self.tree_options, prepared, self._resolve_loss(prepared)[1])
        return {"loss": (self._loss_given, self._name_of_loss()), **constraints_then_and_now(self, constraints)}

    def _has_constant(self) -> bool:
        self._require_fitted()
        return bool(len(self.ensemble_)) and self.ensemble_.hypotheses[0].n_splits == 0

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {"loss": self.loss_}

    def _take_parameters_of_fit(self) -> None:
        self.loss_ = self._name_of_loss()

    def _take_given_parameters(self) -> None:
        self._loss_given = self._name_of_loss()


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
