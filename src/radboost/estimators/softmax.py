"""Soft-max boosting: costs of wrong predictions, and labels that may be wrong."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from radboost import complexity
from radboost._typing import FloatArray
from radboost._validation import (
    check_choice,
    check_integer,
    check_integer_or,
    check_max_features,
    check_real_or,
    check_score_memory,
    resolve_n_jobs,
    seed_from,
)
from radboost.boosting import Trace
from radboost.boosting.monitor import EarlyStopping, RiskMonitor, resolve_early_stopping
from radboost.boosting.softmax import SoftmaxDescent, SoftmaxSettings
from radboost.engine import current
from radboost.estimators._calibrated import CalibratedMixin
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output
from radboost.estimators._learning import BoostingEstimator, FitPlan, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._pruning import HowToPrune, adaptive_prices, wrong_labels
from radboost.export.parts import ExportedOutput, refuse_model
from radboost.families.raw_rows import RawRows
from radboost.losses.link import Link
from radboost.model_file import storable_estimator
from radboost.rows.costs import (
    Costs,
    in_order_of_classes,
    make_costs,
    read_cost_matrix,
)
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.trees import GrowthSettings, TreeOptions, read_tree_options
from radboost.trees.grower import make_weighted_trees

DEEPEST = 60
# The total step length of steps by the edge: the largest of these (docs/softmax.md).
SHORTEST_PATH, PATH_PER_CLASS, MOST_CLASSES, PATH_PER_ROOT, PATH_PER_ROW = 10.0, 3.0, 10, 0.25, 1.0 / 400.0
BYTES_PER_SCORE = 9  # 4 for the score, 4 for the rule, 1 for the prediction of a tree

# Pairs drawn in a round where their number is not given: for each class, in all, and for each different row. Trees of
# some leaves learn little from more of them.
DRAWS_PER_CLASS, MOST_DRAWS, DRAWS_PER_ROW = 2**12, 2**15, 16
MOST_DRAWS_BY_ROWS = 2**22  # where it is that of the rows
DECISIONS = ["auto", "argmax", "minimum_cost", "sample"]
# Rules learned from fewer different rows of a class are too sure of themselves (docs/guide-imbalance-and-costs.md).
FEW_ROWS_OF_CLASS = 250
INSTEAD = {
    "max_leaves": "It is a parameter here: SoftmaxBoostClassifier(max_leaves=...).",
    "growth": "Its trees grow best-first.",
    "split_criterion": "Its trees are split by the Gini index.",
}


@storable_estimator
@described_like(BoostingEstimator)
@with_constructor
class SoftmaxBoostClassifier(CalibratedMixin, ClassifierMixin, BoostingEstimator):
    """Boosting that minimizes the expected cost directly: for unequal costs of mistakes, and robust to label noise.

    Learns scores psi(x, z) and the stochastic rule g(z | x) = exp psi(x, z) / sum over the labels of exp psi. Minimizes
    the mean cost of the rule, for a row the sum over z of g(z | x_i) c(x_i, y_i, z) (Geist, Soft-max boosting, Machine
    Learning 100, 2015, equation (4)). It is gradient descent along trees: each round grows a small one for every class,
    on drawn pairs (row, label), which predicts where the label costs more than the rule. The risk is smooth and
    bounded: a row that cannot be learned, because its label is wrong, loses its influence.

    `SoftmaxBoostClassifier.paper()` is the plain algorithm.

    Parameters
    ----------
    n_rounds : int
        Rounds of boosting, at most.
    cost : matrix of shape (n_classes, n_classes) or None
        Costs of predictions: rows are the true classes, columns the predicted ones, in the order of `classes_`. None is
        1 for every wrong prediction. `fit` takes costs of single examples instead.
    decision : {"auto", "argmax", "minimum_cost", "sample"}
        How `predict` decides: "argmax" is the label that the rule prefers (Geist's own), "minimum_cost" the one of
        least expected cost under `cost` if g were the probabilities of the classes, "sample" a label drawn from the
        rule. "auto" is "minimum_cost" where `cost` is given and a class has fewer than 250 different rows, whose rule
        is too sure of itself (docs/guide-imbalance-and-costs.md), and otherwise "argmax". The fit is the same for all.
    max_leaves : int
        Leaves of a tree, which grows best-first.
    samples_per_round : int, "rows", "all" or None
        M, the pairs (row, label) drawn in each round; None draws as many as there are rows (the sum of their weights),
        at most 4,096 for each class, 32,768 in all and 16 for each different row, so that neither many rows nor large
        weights make rounds slow;
        "rows" draws as many as there are rows, as in the paper, at most 4,194,304; "all" uses every pair, weighted by
        its part of the gradient, which is slower by about the number of classes.
    sampling : {"gradient", "rule"}
        What the draws are proportional to: to the pair's part of the gradient, one in each of M equal parts of the
        whole, so that few are wasted; or to the rule, as in the paper, weighted by how much the label's cost differs
        from what the rule pays. Both estimate the same gradient without bias. Ignored with samples_per_round="all".
    learning_rate : float or "auto"
        Fraction of the step that is taken; more than 1 is allowed. "auto" is 1, except for step="edge": there the total
        step length is at most max(10, 3 min(K, 10), sqrt(N) / 4, N / 400) with N different rows and K classes, whatever
        the number of rounds. With many rows it can be longer before label noise is learned, and many classes need it
        (docs/softmax.md).
    step : {"edge", "sampled", "projection", "line_search"}
        "sampled": R_M(h), what the trees gain on the drawn pairs (section 5.1). It is small at the start with many
        classes, and towards the end. "edge": the same divided by the size of the gradient, which is the most that
        trees could gain: a number between 0 and 1, like the edge of AdaBoost. "projection": the projected gradient on
        all rows, with which Theorem 1 holds; shorter. "line_search": a step with a lower risk on all rows, or none.
    early_stopping : bool, int or EarlyStopping
        Stop when the expected cost on validation rows no longer falls, or the `eval_metric` of `fit` no longer rises; a
        number is the rounds to wait.
    calibration : "auto", "right_labels" or None
        As in DeepBoostClassifier; fits with `cost`, whose rule is no probability, are not calibrated.
    tree_options : TreeOptions or None
        How trees are grown. By default a node tries a third of the columns (`max_features`) and draws one threshold
        for each (`thresholds`), and a leaf has 3 drawn pairs at least (`min_leaf_weight`; with samples_per_round="all",
        so much sample weight), so that small data gets small trees.
    warm_start : bool
        Go on from the last fit, with the same rows, up to `n_rounds` rounds in all. The model is that of one long fit
        with the same `learning_rate`; "auto" depends on `n_rounds`, and a warm start that would change it is refused.

    Attributes
    ----------
    classes_ : array of the labels, ascending
    cost_ : array of shape (n_classes, n_classes) or None
        The matrix of the fit; None after a fit with costs of examples.
    ensemble_ : Ensemble
        The model. With two classes the trees are -1 and +1; with more each votes for one class or abstains, which moves
        all scores of a row by the same number and so leaves the rule alone.
    calibration_ : Calibration or None
        Temperature, doubt and power of `predict_proba`; None where nothing was calibrated.
    history_ : dict of lists, one entry per round
        "objective" (the risk of equation (4), in the unit of the costs), "train_error", "n_hypotheses"; with
        validation rows "validation_loss" and "validation_error".
    learning_rate_ : float
        What "auto" stood for. Not in a model file.
    decision_ : str
        What `decision="auto"` stands for.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost import SoftmaxBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxBoostClassifier(n_rounds=50).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True

    To take class 0 for another one is ten times as bad as the reverse:

    >>> costly = SoftmaxBoostClassifier(n_rounds=50, cost=[[0, 10, 10], [1, 0, 1], [1, 1, 0]]).fit(X[::2], y[::2])
    >>> costly.predict_proba(X).shape
    (178, 3)
    """

    n_rounds: int = field(default=1000, kw_only=False)
    cost: Any = None
    decision: str = "auto"
    max_leaves: int = 32
    samples_per_round: int | str | None = None
    sampling: str = "gradient"
    learning_rate: float | str = "auto"
    step: str = "edge"
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    early_stopping: bool | int | EarlyStopping = False
    calibration: str | None = "auto"
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0
    tree_options: TreeOptions | None = None
    warm_start: bool = False

    cost_: FloatArray | None = field(init=False)
    learning_rate_: float = field(init=False)
    decision_: str = field(init=False)

    _tree_options_read = ("max_features", "thresholds", "min_leaf_weight", "max_bins")
    _covers_are_rows: ClassVar[bool] = False  # it is that of the pairs of a row and a class that were drawn
    _always_stored: ClassVar[tuple[str, ...]] = ("n_jobs", "decision")

    @classmethod
    def paper(cls, n_rounds: int = 1000, **parameters: Any) -> Self:
        """Algorithm 2 as section 5 runs it: trees of 12 leaves over all columns and bins, M = N pairs, steps R_M(h)."""
        plain: dict[str, Any] = {
            "decision": "argmax",
            "max_leaves": 12,
            "samples_per_round": "rows",
            "sampling": "rule",
            "learning_rate": "auto",
            "step": "sampled",
            "calibration": None,
        }
        options = parameters.pop("tree_options", None)
        if options is None or isinstance(options, TreeOptions):
            options = (options or TreeOptions()).filled(max_features=None, thresholds="best", min_leaf_weight=0.0)
        return cls(n_rounds, **{**plain, **parameters, "tree_options": options})

    @described_like(BoostingEstimator.fit)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        cost: Any = None,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
        cost_val: Any = None,
        eval_metric: Any = None,
        callbacks: Any = None,
        resume_from: Any = None,
    ) -> Self:
        """Learns from rows X and labels y.

        Parameters
        ----------
        cost : matrix of shape (n_rows, n_classes) or None
            Cost of each prediction for each row, in the order of the sorted labels; replaces the
            constructor's matrix. A row may have several labels of cost 0: then y names any one of them.
        cost_val : matrix or None
            Costs for the validation rows; given exactly where `cost` is.
        resume_from : path or None
            A checkpoint of a fit with the same rows, costs and parameters, to go on from.
        """
        return self._fit(
            X,
            y,
            sample_weight,
            callbacks=callbacks,
            resume_from=resume_from,
            validation=(X_val, y_val, sample_weight_val),
            beside={"offset": (offset, offset_val), "cost": (cost, cost_val)},
            eval_metric=eval_metric,
        )

    def _check_training(self, training: CheckedRows) -> None:
        check_score_memory(training.X.shape[0], len(training.known_classes), BYTES_PER_SCORE)

    def _warn(self, fitted: Self) -> None:
        if not any(tree.n_splits for tree in fitted.ensemble_.hypotheses):
            warnings.warn(
                "The model predicts the same everywhere: no tree has a split. Check whether the columns say "
                "anything about the labels, and whether there are more than a few rows.",
                UserWarning,
                stacklevel=5,
            )

    def _read_parameters(self) -> FitSettings:
        """Everything that can be checked before the data is seen."""
        self._check_common()
        self._check_calibration()
        check_choice("decision", self.decision, DECISIONS)
        check_integer("max_leaves", self.max_leaves, 2)
        check_integer_or([None, "rows", "all"], "samples_per_round", self.samples_per_round, 1)
        check_choice("sampling", self.sampling, ["gradient", "rule"])
        check_real_or(["auto"], "learning_rate", self.learning_rate, low=0.0, high=64.0, open_low=True)
        check_choice("step", self.step, ["edge", "sampled", "projection", "line_search"])
        options = read_tree_options(self.tree_options, self._tree_options_read, type(self).__name__, INSTEAD)
        options = options.filled(max_features=1.0 / 3.0, thresholds="random", min_leaf_weight=3.0)
        options = replace(options, growth="best_first", max_leaves=self.max_leaves)
        settings = GrowthSettings(
            max_depth=DEEPEST,
            random_thresholds=options.thresholds == "random",
            seed=seed_from(self.random_state),
            n_threads=resolve_n_jobs(self.n_jobs),
            options=options,
        )
        return FitSettings(settings, resolve_early_stopping(self.early_stopping))

    def _learning_rate(self, prepared: PreparedRows, n_threads: int) -> float:
        if not isinstance(self.learning_rate, str):
            return float(self.learning_rate)
        if self.step != "edge":
            return 1.0
        n_different = prepared.n_different(n_threads)  # copies of a row add nothing
        by_classes = PATH_PER_CLASS * min(len(prepared.known_classes), MOST_CLASSES)
        by_rows = max(PATH_PER_ROOT * math.sqrt(n_different), PATH_PER_ROW * n_different)
        return float(min(1.0, max(SHORTEST_PATH, by_classes, by_rows) / self.n_rounds))

    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        classes, stopping, n_threads = prepared.known_classes, settings.stopping, settings.growth.n_threads
        growth = replace(
            settings.growth, max_features=check_max_features(settings.growth.options.max_features, prepared.n_features)
        )
        costs, decision = self._costs_of(prepared), self._automatic_decision(prepared, n_threads)
        validation = prepared.validation
        if stopping is not None and validation is None:
            prepared, validation, _ = prepared.hold_back(stopping.validation_fraction, growth.seed, n_threads)
        monitor = None
        if validation is not None:
            monitor = RiskMonitor(validation, validation.costs or costs, stopping, len(classes), n_threads)
        # Draws go along the rows in this order (`SoftmaxPairs`): rows that stand in it are read one after the other.
        prepared = prepared.by_content(n_threads)
        maker = self._maker(prepared, prepared.costs or costs, growth, trace)
        return FitPlan(
            maker=maker,
            n_families=self.max_leaves,  # T_0, T_1, ...: a tree of k leaves has k - 1 splits
            sample_size=maker.sample_size,
            monitor=monitor,
            keeps_best_round=stopping is not None,
            attributes={"cost_": costs.matrix, "learning_rate_": maker.settings.learning_rate, "decision_": decision},
        )

    def _automatic_decision(self, prepared: PreparedRows, n_threads: int) -> str:
        if self.cost is None or prepared.costs is not None:
            return "argmax"
        return "minimum_cost" if prepared.fewest_of_class(n_threads) < FEW_ROWS_OF_CLASS else "argmax"

    def _decides_by(self) -> str:
        """The parameter `decision`, or what "auto" stands for."""
        check_choice("decision", self.decision, DECISIONS)
        return self.decision_ if self.decision == "auto" else self.decision

    def _is_calibrated(self, prepared: PreparedRows) -> bool:
        return super()._is_calibrated(prepared) and self.cost is None and prepared.costs is None

    def _rate_of_fit(self) -> float:
        return self.learning_rate_

    def _costs_of(self, prepared: PreparedRows) -> Costs:
        """Costs of the single rows if given, otherwise those of the parameter."""
        if prepared.costs is not None:
            return prepared.costs
        classes = prepared.known_classes
        return make_costs(read_cost_matrix(self.cost, classes), None, len(classes))

    def _maker(self, prepared: PreparedRows, costs: Costs, growth: GrowthSettings, trace: Trace) -> SoftmaxDescent:
        data, n_classes = prepared.data, len(prepared.known_classes)
        weights = prepared.row_weights()
        scores = current().softmax_scores(
            prepared.class_ids, n_classes, costs.table, costs_per_row=costs.per_row, weights=weights.native
        )
        if prepared.offset is not None:
            two = prepared.offset.ndim == 1  # only the difference of the scores counts
            scores.set(np.column_stack([np.zeros_like(prepared.offset), prepared.offset]) if two else prepared.offset)
        drawn = self._n_draws(prepared, growth.n_threads)
        learning_rate = self._learning_rate(prepared, growth.n_threads)
        if trace.n_rounds and self.warm_start and isinstance(self.learning_rate, str):
            self._check_rate(learning_rate)
        return SoftmaxDescent(
            scores,
            current().softmax_pairs(scores, data, seed=growth.seed, n_threads=growth.n_threads),
            make_weighted_trees(data, 2, growth, prepared.collective),
            SoftmaxSettings(
                "all" if self.samples_per_round == "all" else f"by_{self.sampling}",
                max(1, round(drawn)),
                self.step,
                learning_rate,
                growth.n_threads,
            ),
            n_classes=n_classes,
            n_features=data.n_columns,
            n_questions=complexity.n_questions(data.n_bins(), data.has_missing() > 0, data.is_categorical() > 0),
            sample_size=weights.total,
            cost_unit=costs.scale,
            cost_floor=costs.mean_floor(prepared.class_ids, weights),
            trace=trace,
            raw_rows=RawRows(prepared.X, prepared.order, growth.n_threads),
        )

    def _n_draws(self, prepared: PreparedRows, n_threads: int) -> float:
        """M, where pairs are drawn. Copies count like weights."""
        given, total = self.samples_per_round, prepared.row_weights().total
        if isinstance(given, str):
            return min(total, MOST_DRAWS_BY_ROWS)
        if given is not None:
            return float(given)
        few = min(total, MOST_DRAWS, DRAWS_PER_CLASS * len(prepared.known_classes))
        return few if few <= DRAWS_PER_ROW else min(few, DRAWS_PER_ROW * prepared.n_different(n_threads))

    def _check_rate(self, learning_rate: float) -> None:
        """Steps by the edge are as long together as rows and classes allow: more rounds have shorter ones."""
        then = getattr(self, "learning_rate_", None)
        if then != learning_rate:
            was = "is not known (model files do not keep it)" if then is None else f"was {then:g}"
            advice = "" if then is None else f" Set learning_rate={then!r} to continue as before, or"
            raise ValueError(
                f'warm_start=True continues the last fit, whose learning_rate="auto" {was}, and with '
                f"n_rounds={self.n_rounds} it is {learning_rate:g}.{advice or ' Give a number, or'} set "
                "warm_start=False to start again."
            )

    def _free_when_resumed(self, then: Mapping[str, Any]) -> set[str]:
        return set() if isinstance(self.learning_rate, str) and self.step == "edge" else {"n_rounds"}

    def _fixed_by_fit(self, prepared: PreparedRows) -> dict[str, tuple[Any, Any]]:
        return {"cost": (self.cost_, self._costs_of(prepared).matrix)}

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes: the rule g(z | x), made less sure by `calibration_`.

        Without a calibration it is the rule itself, which is a way to decide and no estimate of how likely a class is.
        A rule that has learned puts nearly everything on the cheapest label, however close the second one is.
        """
        return self._calibrated(self.decision_function(X, offset))

    def _decision(self) -> Callable[[FloatArray], npt.NDArray[np.intp]]:
        decision = self._decides_by()
        if decision == "argmax" or len(self.classes_) == 1:
            return super()._decision()
        if decision == "minimum_cost":
            if self.cost_ is None:
                raise ValueError(
                    'decision="minimum_cost" needs a cost matrix, and this model was fitted with costs of single '
                    'examples. Give the matrix to the constructor, or decide by "argmax": the rule has learned the '
                    "costs already."
                )
            expected = self.cost_
            return lambda scores: (self._probabilities(scores) @ expected).argmin(axis=1)
        draws = np.random.default_rng(seed_from(self.random_state))

        def draw(scores: FloatArray) -> npt.NDArray[np.intp]:
            below = np.cumsum(self._probabilities(scores), axis=1)
            wanted = draws.random(len(below)) * below[:, -1]
            return np.asarray((below[:, :-1] <= wanted[:, None]).sum(axis=1), dtype=np.intp)

        return draw

    def _how_to_prune(self) -> HowToPrune:
        """The loss is what the rule pays; costs of single examples are not known here, and count 1."""
        n_classes, costs = len(self.classes_), self.cost_
        paid = 1.0 - np.eye(n_classes) if costs is None else np.asarray(costs, dtype=np.float64)
        return HowToPrune(
            prices=adaptive_prices(self.ensemble_, self.ensemble_.complexities),
            signed=False,
            refits_leaves=True,
            losses=lambda scores, y: (self._probabilities(scores) * paid[y.astype(np.intp)]).sum(axis=1),
            errors=wrong_labels,
        )

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return np.asarray(softmax(scores, axis=1), dtype=np.float64)

    def _exported_output(self) -> ExportedOutput:
        if self._decides_by() not in ("argmax", "minimum_cost"):
            refuse_model(type(self).__name__, f"decision={self.decision!r} draws its answers; set another one")
        self._decision()  # refuses what it cannot decide by
        costs = self.cost_ if self._decides_by() == "minimum_cost" else None
        return class_output(self, Link("logistic" if len(self.classes_) == 2 else "softmax"), costs)

    def _parameters_of_fit(self) -> dict[str, Any]:
        # A data frame that names the classes has become the matrix of the fit, or would have without costs of examples.
        given = self.cost_ if self.cost is not None and self.cost_ is not None else self.cost
        if given is not None:
            given = np.asarray(in_order_of_classes(given, self.classes_), dtype=np.float64).tolist()
        return {"cost": given, "decision": self.decision_}

    def _take_parameters_of_fit(self) -> None:
        self.decision_ = self.decision  # the matrix of the fit is one of its arrays

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        return {"cost": np.zeros((0, 0)) if self.cost_ is None else self.cost_}

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        matrix, n_classes = arrays["cost"], max(2, len(self.classes_))
        if matrix.dtype != np.float64 or matrix.shape not in ((n_classes, n_classes), (0, 0)):
            raise ValueError("the costs of the fit do not fit the number of classes")
        self.cost_ = matrix if matrix.size else None
