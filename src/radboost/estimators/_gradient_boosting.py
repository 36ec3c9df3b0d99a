"""The fit of Regularized Gradient Boosting, the same for classes and for numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from radboost import complexity
from radboost._progress import progress_bar
from radboost._typing import ClassIds, FloatArray
from radboost._validation import (
    check_choice,
    check_integer,
    check_max_features,
    check_real,
    check_real_or,
    check_score_memory,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.boosting import Step, Trace
from radboost.boosting.norm_balls import RGBBooster, RGBSettings, loss_to_gain, make_rows, start_constant
from radboost.ensemble import Ensemble
from radboost.estimators._predicting import ScoringMixin
from radboost.families import NormBalls, TreeFamilies
from radboost.losses import NativeTargetLoss, TargetLoss
from radboost.model_file import NotStored
from radboost.rows.categories import Categories
from radboost.rows.prepare import SortedRows, TrainingRows, read_training, read_validation, take_over
from radboost.rows.read import dense_rows
from radboost.rows.watch import EarlyStopping, Watch, Watched, resolve_early_stopping
from radboost.trees import GrowthSettings, TreeOptions, make_gradient_grower

# With one score per row and with several: what learning_rate="auto" stands for, and the least sum of weights in a leaf
# when no TreeOptions are given. Chosen by the experiment in docs/rgb.md.
LEARNING_RATES = (0.1, 0.3)
MIN_LEAF_WEIGHTS = (10.0, 3.0)
BYTES_PER_SCORE = 24  # 8 each for the score, its gradient, and what the first ones are computed from
STEPS = ["auto", "lipschitz", "line_search", "paper"]


class TargetWatch(Watch):
    """The loss of gradient boosting on rows that it does not learn from."""

    what = "loss"

    def __init__(
        self, rows: Watched, targets: FloatArray, loss: TargetLoss, n_outputs: int, patience: int | None, n_threads: int
    ) -> None:
        super().__init__(rows, 2 if n_outputs == 1 else n_outputs, n_threads)
        self._targets = targets
        self._loss = loss
        self.patience = patience
        self.tells_errors = rows.targets is None

    def judge(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_] | None]:
        """The loss of each row; with classes a tie is an error."""
        losses = self._loss.value(self._targets, scores)
        if not self.tells_errors:
            return losses, None
        wrong = self._targets * scores <= 0 if scores.ndim == 1 else scores.argmax(axis=1) != self._targets
        return losses, wrong


class GradientBoosting(ScoringMixin, BaseEstimator):
    """Everything but the losses and what is predicted from scores."""

    history_: dict[str, list[float]]
    n_iter_: int
    n_skipped_rounds_: int
    stop_reason_: str
    loss_: str | TargetLoss

    # Whether targets are numbers, and not classes.
    regression: ClassVar[bool]

    def __init__(
        self,
        n_rounds: int = 200,
        *,
        loss: str | TargetLoss = "auto",
        families: TreeFamilies | None = None,
        n_candidates: int = 7,
        complexity_penalty: float = 0.3,
        step: str = "auto",
        learning_rate: float | str = "auto",
        subsample: float = 0.5,
        max_features: str | int | float | None = None,
        monotonic_constraints: Any = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool | int | EarlyStopping = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        tree_options: TreeOptions | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.loss = loss
        self.families = families
        self.n_candidates = n_candidates
        self.complexity_penalty = complexity_penalty
        self.step = step
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_features = max_features
        self.monotonic_constraints = monotonic_constraints
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.tree_options = tree_options

    @abstractmethod
    def _resolve_loss(self, training: TrainingRows) -> tuple[TargetLoss, int]:
        """The loss for these rows, which are checked against it, and the number of scores per row."""

    @abstractmethod
    def _name_of_loss(self) -> str | TargetLoss:
        """The parameter `loss` without "auto"."""

    @abstractmethod
    def _targets(self, class_ids: ClassIds, targets: FloatArray | None, n_outputs: int) -> FloatArray:
        """What the loss compares the scores of rows with."""

    @abstractmethod
    def _norm_unit(self, derivative: FloatArray, mean: Callable[[FloatArray], float]) -> float:
        """What norms are counted in; `derivative` is that of the loss before the first round."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Learns from rows X and labels or targets y.

        Parameters
        ----------
        X : matrix, data frame or sparse matrix
            Numbers; NaN is a missing value. Categorical columns may hold text and booleans too.
        y : array
            Labels, at least two different ones, or the numbers to be predicted.
        sample_weight : array or None
            A row of weight w counts as w copies of it. Rows of weight zero are left out.
        X_val, y_val, sample_weight_val : the same for rows to watch, and to stop early on if `early_stopping` is set.
            In a pipeline they must be transformed like X: `Pipeline(..., transform_input=["X_val"])`.
        """
        growth, settings, families, stopping = self._read_parameters()
        # Checked on a copy: an interrupted or failed fit leaves the estimator as it was.
        checked = copy(self)
        training = read_training(checked, X, y, sample_weight, regression=self.regression)
        before = self._ensemble_to_go_on_with(training, checked) if self.warm_start else None
        loss, n_outputs = self._resolve_loss(training)
        if settings.step == "paper" and getattr(loss, "lipschitz", None) is None:
            raise ValueError(
                f'step="paper" needs a loss whose derivative has a Lipschitz constant, and {loss!r} has none. Use '
                'step="line_search".'
            )
        categories = training.rows.categories
        watched = read_validation(checked, X_val, y_val, sample_weight_val, training.classes, categories)
        growth, settings = self._adapt(growth, settings, training.rows.n_features, n_outputs)
        directions = read_directions(self.monotonic_constraints, X, training.rows.n_features, categories, n_outputs)
        if before is not None and not np.array_equal(directions, getattr(self, "_directions", directions)):
            raise ValueError(
                "warm_start=True goes on from the last fit, which had other monotonic_constraints. Set "
                "warm_start=False to begin anew."
            )
        checked._directions = directions
        learning = training.sorted_by_class(growth.options.max_bins, growth.n_threads)
        if stopping is not None and watched is None:
            learning, watched, _ = learning.hold_back(stopping.validation_fraction, growth.seed, growth.n_threads)
        booster = self._booster(learning, loss, n_outputs, growth, settings, families, directions, before)
        watch = None
        if watched is not None:
            targets = self._targets(watched.class_ids, watched.targets, n_outputs)
            if isinstance(loss, NativeTargetLoss):
                loss.check_targets(targets)
            patience = None if stopping is None else stopping.patience
            watch = TargetWatch(watched, targets, loss, n_outputs, patience, growth.n_threads)
        trace = self._run(booster, watch, before)
        n_rounds = len(trace.history["objective"]) if watch is None or stopping is None else watch.best_round
        checked.ensemble_ = Ensemble.from_trace(
            trace,
            n_rounds=n_rounds,
            n_features=training.rows.n_features,
            n_families=len(families),
            sample_size=booster.rows.weights.total,
            n_outputs=n_outputs,
            feature_names=getattr(checked, "feature_names_in_", None),
            categories=categories,
        )
        checked.loss_ = self._name_of_loss()
        take_over(self, checked, training.classes, trace, n_rounds)
        return self

    def _read_parameters(self) -> tuple[GrowthSettings, RGBSettings, NormBalls, EarlyStopping | None]:
        """Everything that can be checked before the data is seen."""
        check_integer("n_rounds", self.n_rounds, 1)
        check_verbose(self.verbose)
        if self.families is not None and not isinstance(self.families, TreeFamilies):
            raise TypeError(f"families must be a radboost.TreeFamilies or None; got {self.families!r}.")
        if self.tree_options is not None and not isinstance(self.tree_options, TreeOptions):
            raise TypeError(f"tree_options must be a radboost.TreeOptions or None; got {self.tree_options!r}.")
        options = self.tree_options if self.tree_options is not None else TreeOptions()
        options.validate()
        if options.max_leaves is not None:
            raise ValueError(
                "The families bound the trees here: leave max_leaves out of tree_options, and give the sizes as "
                "families=TreeFamilies(sizes=...)."
            )
        if not isinstance(self.warm_start, bool | np.bool_):
            raise TypeError(f"warm_start must be True or False; got {self.warm_start!r}.")
        check_real_or(["auto"], "learning_rate", self.learning_rate, low=0.0, high=1.0, open_low=True)
        seed, n_threads = seed_from(self.random_state), resolve_n_jobs(self.n_jobs)
        growth = GrowthSettings(
            subsample=check_real("subsample", self.subsample, low=0.0, high=1.0, open_low=True),
            seed=seed,
            n_threads=n_threads,
            options=options,
        )
        settings = RGBSettings(
            check_integer("n_candidates", self.n_candidates, 1, 4096),
            check_real("complexity_penalty", self.complexity_penalty, low=0.0),
            check_choice("step", self.step, STEPS),
            0.0,  # learning_rate: `_adapt` knows
            seed,
            n_threads,
        )
        families = (self.families or TreeFamilies()).resolve()
        return growth, settings, families, resolve_early_stopping(self.early_stopping)

    def _adapt(
        self, growth: GrowthSettings, settings: RGBSettings, n_features: int, n_outputs: int
    ) -> tuple[GrowthSettings, RGBSettings]:
        """What depends on the rows."""
        several = n_outputs > 1
        options = growth.options
        if self.tree_options is None:
            options = replace(options, min_leaf_weight=MIN_LEAF_WEIGHTS[several])
        rate = LEARNING_RATES[several] if isinstance(self.learning_rate, str) else float(self.learning_rate)
        max_features = check_max_features(self.max_features, n_features)
        return replace(growth, max_features=max_features, options=options), replace(settings, learning_rate=rate)

    def _ensemble_to_go_on_with(self, training: TrainingRows, checked: GradientBoosting) -> Ensemble | None:
        if not self.__sklearn_is_fitted__():
            return None
        ensemble, classes = self.ensemble_, getattr(self, "classes_", None)
        if self.n_rounds < self.n_iter_:
            raise ValueError(
                f"warm_start=True goes on from the {self.n_iter_} rounds of the last fit, and n_rounds={self.n_rounds} "
                "is less. Give n_rounds as the number of all rounds together, or set warm_start=False."
            )
        same_classes = classes is None or np.array_equal(classes, training.known_classes)
        names = getattr(checked, "feature_names_in_", None)
        same_names = ensemble.feature_names is None or names is None or list(ensemble.feature_names) == list(names)
        if ensemble.n_features != training.rows.n_features or not same_names or not same_classes:
            raise ValueError(
                "warm_start=True goes on from the last fit, whose rows had other columns or other classes. Set "
                "warm_start=False to begin anew."
            )
        if ensemble.categories != {column: tuple(known) for column, known in training.rows.categories.items()}:
            raise ValueError(
                "warm_start=True needs the categories of the last fit. Set warm_start=False to begin anew."
            )
        if not isinstance(self.loss_, NotStored) and self.loss_ != self._name_of_loss():
            raise ValueError(
                f"warm_start=True goes on from the last fit, whose loss was {self.loss_!r}, and loss={self.loss!r} "
                "now. Set warm_start=False to begin anew."
            )
        return ensemble

    def _booster(
        self,
        learning: SortedRows,
        loss: TargetLoss,
        n_outputs: int,
        growth: GrowthSettings,
        settings: RGBSettings,
        families: NormBalls,
        directions: npt.NDArray[np.int8],
        before: Ensemble | None,
    ) -> RGBBooster:
        data, targets = learning.data, self._targets(learning.class_ids, learning.targets, n_outputs)
        check_score_memory(data.n_rows, n_outputs, BYTES_PER_SCORE)
        rows = make_rows(loss, targets, learning.weights, n_outputs, growth.n_threads)
        constant = start_constant(rows, targets, learning.weights)
        scores = np.tile(constant, (len(targets), 1)) if n_outputs > 1 else np.full(len(targets), constant[0])
        derivative = np.asarray(loss.derivative(targets, scores), dtype=np.float64)
        unit = self._norm_unit(derivative, rows.mean)
        booster = RGBBooster(
            rows,
            make_gradient_grower(data, rows.weighting, growth, directions),
            families,
            settings,
            norm_unit=unit,
            price_unit=loss_to_gain(rows, targets, scores),
            n_features=data.n_columns,
            n_questions=complexity.n_questions(data.n_bins(), data.has_missing() > 0, data.is_categorical() > 0),
            trace=self._trace(before),
        )
        if before is None:
            booster.begin(constant)
        else:
            X = dense_rows(learning.rows.X[learning.order])
            rows.set_scores(before.decision_function(X, growth.n_threads))
        return booster

    def _trace(self, before: Ensemble | None) -> Trace:
        names = ["objective", "n_hypotheses", "family_size", "family_norm"]
        if not self.regression:
            names.insert(1, "train_error")
        if before is None:
            return Trace(history={name: [] for name in names})
        steps = [Step(int(s["round"]), int(s["hypothesis"]), float(s["eta"])) for s in before.steps]
        return Trace(
            list(before.entered),
            before.entered_complexities.tolist(),
            steps,
            {name: list(values) for name, values in self.history_.items()},
            self.n_skipped_rounds_,
        )

    def _run(self, booster: RGBBooster, watch: TargetWatch | None, before: Ensemble | None) -> Trace:
        if watch is not None and before is not None and "validation_loss" in booster.trace.history:
            watch.resume(booster.trace, before.decision_function(watch.X, booster.settings.n_threads))
        elif watch is not None and before is None:
            watch.begin(booster.trace)
        elif watch is not None or "validation_loss" in booster.trace.history:
            raise ValueError(
                "warm_start=True goes on from the last fit, of which validation rows were watched "
                f"{'not ' if watch is not None else ''}in every round. Keep to that, or set warm_start=False."
            )
        with progress_bar(self.n_rounds, int(self.verbose)) as advance:

            def monitor(trace: Trace, steps: Sequence[Step]) -> str | None:
                history = trace.history
                error = history["train_error"][-1] if "train_error" in history else None
                advance(history["objective"][-1], error, int(history["n_hypotheses"][-1]))
                return None if watch is None else watch.follow(trace, steps)

            return booster.run(self.n_rounds, monitor)

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {"loss": self.loss_}

    def _take_parameters_of_fit(self) -> None:
        self.loss_ = self.loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def read_directions(
    given: Any, X: Any, n_features: int, categories: Categories, n_outputs: int
) -> npt.NDArray[np.int8]:
    """The parameter `monotonic_constraints` as one number per column; empty where there are none."""
    if given is None:
        return np.zeros(0, dtype=np.int8)
    directions = np.zeros(n_features, dtype=np.int8)
    if isinstance(given, Mapping):
        names = list(X.columns) if hasattr(X, "columns") else []
        for key, direction in given.items():
            column = names.index(key) if key in names else key
            if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < n_features:
                raise ValueError(
                    f"monotonic_constraints names the column {key!r}; X has the columns 0 to {n_features - 1}"
                    f"{f' ({names[:10]})' if names else ', without names'}."
                )
            directions[column] = _direction(direction)
    else:
        listed = list(np.asarray(given, dtype=object).reshape(-1)) if not isinstance(given, str) else []
        if len(listed) != n_features:
            raise ValueError(
                "monotonic_constraints must be a list with -1, 0 or 1 for each of the "
                f"{n_features} columns, or a dict from columns to these; got {given!r}."
            )
        directions[:] = [_direction(entry) for entry in listed]
    if not directions.any():
        return np.zeros(0, dtype=np.int8)
    if n_outputs > 1:
        raise ValueError("monotonic_constraints are for regression and two classes: more classes have no order.")
    for column in categories:
        if directions[column]:
            raise ValueError(f"monotonic_constraints names column {column}, which is categorical and has no order.")
    return directions


def _direction(value: Any) -> int:
    if isinstance(value, bool | np.bool_) or value not in (-1, 0, 1):
        raise ValueError(f"An entry of monotonic_constraints must be -1, 0 or 1; got {value!r}.")
    return int(value)
