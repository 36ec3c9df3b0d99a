"""What the baselines share: reading rows, binning, a fit that leaves no half-fitted estimator, repeated trees."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from radboost import complexity
from radboost._progress import Progress, progress_bar
from radboost._typing import Category, ClassIds
from radboost._validation import check_integer, check_verbose, resolve_n_jobs
from radboost.baselines._weights import RowWeights
from radboost.boosting import Step, Trace
from radboost.engine import BinnedData
from radboost.ensemble import Ensemble
from radboost.estimators._predicting import PredictingMixin
from radboost.rows.prepare import read_training
from radboost.trees import GivenTrees, GrowthSettings, Tree, TreeOptions

# Steps are multiples of this, so that scores of up to 2^17 add up without rounding.
STEP_GRID = 2.0**-36
DEEPEST = 60

NO_EDGE = "converged: no tree is better than chance on the reweighted rows"
FLAWLESS = "one tree is right on every row"


@dataclass(frozen=True)
class BaselineProblem:
    """Training rows as the algorithms see them, sorted by class."""

    data: BinnedData
    class_ids: ClassIds
    n_classes: int
    weights: RowWeights
    n_threads: int
    feature_names: Any
    categories: Mapping[int, tuple[Category, ...]]

    @property
    def n_rows(self) -> int:
        return len(self.class_ids)

    def trees(self, n_classes: int, max_leaves: int) -> GivenTrees:
        """Trees for problems of so many classes, grown leaf by leaf by the impurity of Gini, like the paper's."""
        options = TreeOptions(growth="best_first", max_leaves=max_leaves)
        settings = GrowthSettings(max_depth=DEEPEST, criterion="gini", n_threads=self.n_threads, options=options)
        return GivenTrees(self.data, n_classes, settings)

    def error_rate(self, wrong: npt.NDArray[np.bool_]) -> float:
        """Share of the rows."""
        fixed, _ = self.weights.fixed(np.ones(self.n_rows))
        counted = self.weights.counted(fixed)
        return int(counted[wrong].sum()) / int(counted.sum())

    def ensemble(self, trace: Trace, max_leaves: int) -> Ensemble:
        """Hypotheses and steps as a model; complexities as for DeepBoost's trees."""
        data = self.data
        n_questions = complexity.n_questions(data.n_bins(), data.has_missing() > 0, data.is_categorical() > 0)
        splits = [hypothesis.n_splits for hypothesis in trace.hypotheses]
        trace.complexities = [complexity.trees(n, self.weights.total, n_questions) for n in splits]
        return Ensemble.from_trace(
            trace,
            n_rounds=len(trace.history["train_error"]),
            n_features=data.n_columns,
            n_families=int(min(max_leaves, self.n_rows)),
            sample_size=self.weights.total,
            feature_names=self.feature_names,
            n_outputs=1 if self.n_classes == 2 else self.n_classes,
            categories=self.categories,
        )


class Baseline(PredictingMixin, ClassifierMixin, BaseEstimator):
    """The frame of a fit; each algorithm fills in `_learn`."""

    stores_objective: ClassVar[bool] = False

    n_jobs: int | None
    max_bins: int
    verbose: int
    history_: dict[str, list[float]]
    n_iter_: int
    n_skipped_rounds_: int
    stop_reason_: str

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows X and labels y.

        Parameters
        ----------
        X : matrix, data frame or sparse matrix
            Numbers; NaN is a missing value. Categorical columns may hold text and booleans too.
        y : array of labels
            Numbers, strings or booleans; at least two different ones.
        sample_weight : array or None
            A row of weight w counts as w copies of it. Rows of weight zero are left out.
        """
        self._check_parameters()
        check_integer("max_bins", self.max_bins, 2, 255)
        check_verbose(self.verbose)
        n_threads = resolve_n_jobs(self.n_jobs)
        # Checked on a copy: an interrupted or failed fit leaves the estimator as it was.
        checked = copy(self)
        training = read_training(checked, X, y, sample_weight)
        classes = training.known_classes
        self._check_classes(classes)
        rows = training.sorted_by_class(self.max_bins, n_threads)
        problem = BaselineProblem(
            rows.data,
            rows.class_ids,
            len(classes),
            RowWeights(rows.weights, training.rows.n_rows),
            n_threads,
            getattr(checked, "feature_names_in_", None),
            training.rows.categories,
        )
        with progress_bar(self._n_stages(), int(self.verbose)) as advance:
            checked._learn(problem, advance)
        if len(checked.ensemble_) == 0:
            warnings.warn(
                f"The model is empty and predicts {classes.tolist()[0]!r} everywhere: the first tree was no better "
                "than chance. Look whether the columns tell anything about the labels.",
                UserWarning,
                stacklevel=2,
            )
        checked.classes_ = classes
        checked.n_iter_ = len(checked.history_["train_error"])
        checked.n_skipped_rounds_ = 0
        self.__dict__ = checked.__dict__
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Everything that can be checked before the data is seen."""

    @abstractmethod
    def _n_stages(self) -> int:
        """Rounds or layers, at most."""

    @abstractmethod
    def _learn(self, problem: BaselineProblem, advance: Progress) -> None:
        """Sets `ensemble_`, `history_` and `stop_reason_`."""

    def _check_classes(self, classes: npt.NDArray[Any]) -> None:
        """Refuses labels that the algorithm cannot learn."""

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {}

    def _take_parameters_of_fit(self) -> None:
        """Predictions depend on no parameter."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class Members:
    """Hypotheses of a trace, each tree once: a tree that comes again adds to its weight."""

    def __init__(self) -> None:
        self.trace = Trace()
        self._places: dict[bytes, int] = {}

    def add(self, tree: Tree, step: float, round_index: int) -> None:
        """weight of `tree` += step."""
        key, sign = tree.key()
        own = key + sign.hex().encode()
        if own not in self._places:
            self._places[own] = len(self.trace.hypotheses)
            self.trace.hypotheses.append(tree)
        self.trace.steps.append(Step(round_index, self._places[own], step))

    def record(self, objective: float, train_error: float) -> None:
        """One line of the history."""
        history = self.trace.history
        history["objective"].append(objective)
        history["train_error"].append(train_error)
        history["n_hypotheses"].append(len(self.trace.hypotheses))
