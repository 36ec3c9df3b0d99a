"""DeepBoost for two classes and for more."""

from __future__ import annotations

import math
import warnings
from copy import copy
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from radboost._typing import FloatArray
from radboost._validation import (
    check_choice,
    check_integer_or,
    check_max_features,
    check_real,
    check_real_or,
    resolve_n_jobs,
    seed_from,
)
from radboost.boosting import CoordinateDescent, Trace
from radboost.boosting.monitor import EarlyStopping, LossMonitor, resolve_early_stopping
from radboost.ensemble import Ensemble
from radboost.estimators._calibrated import CalibratedMixin
from radboost.estimators._constraints import check_families, constraints_then_and_now, read_constraints
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output, margin_link
from radboost.estimators._learning import BoostingEstimator, FitPlan, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._pruning import HowToPrune, adaptive_prices, keeps_order, wrong_labels
from radboost.estimators._trials import DEEPEST, tune
from radboost.export.parts import ExportedOutput
from radboost.families import FAMILIES, Family, Problem, Trees, get_families
from radboost.families.kernel import supply_kernel
from radboost.families.own import start_families
from radboost.families.raw_rows import RawRows
from radboost.losses import MarginLoss, NativeLoss, TargetLoss, get_loss
from radboost.model_file import ModelFileError, NotStored, storable_estimator
from radboost.objectives import OBJECTIVES, Objective, resolve_objective, row_cost
from radboost.penalties import WeightedL1
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.trees import Constraints, GrowthSettings, TreeOptions, read_tree_options
from radboost.trees.arrays import holds_numbers
from radboost.trees.tree import Tree

# What "auto" stands for with two classes and with more. Chosen by the experiment in docs/defaults.md.
AUTOMATIC = {"max_depth": (6, 8), "complexity_penalty": (0.03, 0.01)}

# The same without trials. Steps along trees below the automatic depth are longer by as much.
AUTOMATIC_ROUNDS, AUTOMATIC_RATE = 300, 0.1
# Hypotheses of at most two splits per path are weak: the closed form's steps along them are far below the optimal ones.
# For these "auto" is the line search, with more rounds.
WEAK_DEPTH, ROUNDS_OF_WEAK = 2, 600


@storable_estimator
@described_like(BoostingEstimator)
@with_constructor
class DeepBoostClassifier(CalibratedMixin, ClassifierMixin, BoostingEstimator):
    """Boosting that mixes simple and deep hypotheses and makes each pay for its complexity.

    Learns any number of classes. Minimizes the mean loss of the margins plus a price of the hypotheses, the sum of
    (complexity_penalty * r_j + l1_penalty) * abs(alpha_j). Here r_j bounds the Rademacher complexity of the family that
    hypothesis j comes from. With two classes the loss is Phi(1 - y f(x)): Cortes, Mohri and Syed, Deep Boosting, ICML
    2014, equation (4). With more it is the `objective`: Kuznetsov, Mohri and Syed, Multi-Class Deep Boosting, NIPS
    2014, equations (6) to (9). Each round takes the steepest of the proposed hypotheses and of those in the ensemble;
    weights are revised and can return to zero.

    The defaults go beyond the papers: proposals are grown with some randomness, and steps are shortened. Every
    hypothesis is still evaluated on all rows, and every step lowers the objective, except for the random perturbation
    of "max" (see there).
    `DeepBoostClassifier.paper()` is the plain algorithm.

    Parameters
    ----------
    n_rounds : int or "auto"
        Rounds of boosting, at most; the fit stops by itself when nothing lowers the objective. "auto" is 300, or 600
        for stumps, pairs, kernels and trees of depth 2 or less, or what `complexity_penalty` says.
    loss : {"logistic", "exponential"} or object
        Phi(u) = log2(1 + e^u), e^u of u = 1 - y f, or an object with the methods `value(targets, scores)` and
        `derivative(targets, scores)` of a convex loss of targets * scores, targets being -1 and +1, which does not
        increase with it. Such a loss always uses the line search.
    objective : {"sum", "compsum", "maxsum", "max"}
        What a row costs when there are more than two classes. With u(c) = 1 - f(x, y) + f(x, c) for each wrong class c:

        - "sum": the sum of Phi(u(c)). Any loss.
        - "compsum": log2(1 + the sum of exp(u(c))). With loss="logistic" only.
        - "maxsum": Phi(1 - the sum of alpha_j times the margin of hypothesis j alone). Any loss.
        - "max": the largest Phi(u(c)). Any loss. It has kinks, so that steps are found by a line search, and where
          nothing goes down every weight gets a small random push: "objective" in `history_` may rise there, and the
          model is that of the lowest round.

        "maxsum" and "max" pay for a vote only where it is right more often than not, so that leaves without a clear
        majority abstain; and they have no probabilities of their own (see `predict_proba`). With two classes all
        objectives are the same.
    family : {"trees", "stumps", "stump_pairs", "kernel"}, Family, or a list of these
        Where hypotheses come from.
    max_depth : int or "auto"
        Depth of the deepest trees, at most 60. Every smaller depth is a candidate in every round (with best-first
        growth every smaller size). "auto" is 6 with two classes and 8 with more, which need more leaves
        (docs/defaults.md), or up to 12 where trials on held-back rows gain from it.
    complexity_penalty : float or "auto"
        lambda of the paper: the penalty on the complexity of the hypotheses, usually between 0 and 0.1. Larger values
        give smaller trees and a model that is more robust to label noise. "auto" runs trials, where there are 1,000
        different rows or more: short fits with held-back rows choose between leaves that vote, with 0.03 (two
        classes) or 0.01, and leaves that hold numbers (`TreeOptions(leaves="rated")`), and for the latter this penalty
        and whatever else is "auto". With 50 to 999 rows leaves hold numbers, with 0.03, where `n_rounds`,
        `learning_rate` and `max_depth` are "auto" too: 400 rounds at 0.03. `chosen_` says what was used.
    l1_penalty : float
        beta of the paper: the L1 penalty on the weights of the hypotheses. Larger values give fewer hypotheses.
    learning_rate : float in (0, 1] or "auto"
        Fraction of the step that is taken. "auto" is 0.1 for trees of the automatic depth, longer for shallower trees
        (0.3 at depth 2 and for stump pairs, 0.6 for stumps, with more classes 0.4 and 0.8), and 1 for kernels. With
        leaves that hold numbers it is 0.03 to 0.1, at least 0.06 where `n_rounds` is given.
    subsample : float in (0, 1]
        Fraction of the rows, drawn anew each round by their content, that a proposal is grown on.
    step : {"auto", "closed_form", "line_search"}
        "closed_form" is the step of the papers, which minimizes an upper bound on the objective; "line_search"
        minimizes the objective itself. The bound is loose for weak hypotheses (kernels, stumps, small trees); for these
        the line search learns much faster. "auto" is the closed form for trees of depth 3 and more, and the line search
        otherwise.
    calibration : "auto", "right_labels" or None
        How sure `predict_proba` is. "auto" learns that on rows that early stopping holds back, or by up to three short
        fits that each do not see a part of the rows (docs/probabilities.md); `predict` and `decision_function` do not
        change. Where labels are wrong, its probabilities are those of labels like these, wrong ones included;
        "right_labels" gives those of right ones, if wrong labels are all that the doubt comes from. None takes the
        probabilities that the loss makes of the scores.
    tree_options : TreeOptions or None
        How trees are grown. By default a node tries a third of the columns, drawn for each node
        (`max_features`), and draws one threshold for each (`thresholds`); splits are chosen by the Gini index
        (`split_criterion`), leaves vote (`leaves`; "rated" ones say how sure they are and learn faster on large data,
        docs/theory.md), and may have any weight. Growth by the edge, as in the papers, stalls where no
        single split changes an answer, and with many classes takes a sum for each of them; whole trees always compete
        by their edge. With two classes trees can be monotone in some columns (`monotonic_constraints`), and a path
        can keep to columns that may stand together (`interaction_constraints`): docs/constraints.md.

    Attributes
    ----------
    classes_ : array of the labels, ascending
        `decision_function` has one score per row with two classes, positive for the second; with more a column for
        each class, in this order, and the largest wins.
    loss_, objective_ : the loss and the objective of the fit, which probabilities are computed with
    ensemble_ : Ensemble
        The model: hypotheses, weights, complexities, steps.
    chosen_ : dict
        What was used for "n_rounds", "learning_rate", "complexity_penalty", "max_depth", "thresholds" and "leaves".
    calibration_ : Calibration or None
        Temperature, doubt and power of `predict_proba`; None where nothing was calibrated.
    history_ : dict of lists, one entry per round
        "objective", "train_error", "n_hypotheses"; with a validation set "validation_error" and "validation_loss" (for
        "maxsum" that of "max", which is not larger and can be computed from the scores), and "validation_" with the
        name of each `eval_metric`.
        With early stopping it goes on after the best round.
    optimality_gap_ : float
        The objective of this model is at most so far above the smallest one over all hypotheses of a family that is
        searched exhaustively: kernels, `Candidates`, stumps with thresholds="best" and leaves that vote. Otherwise it
        is the smallest one over the hypotheses of the ensemble. NaN where no bound is known: objective="max", losses of
        your own, leaves that hold numbers with a learning rate below 1.
    stop_reason_ : str
        Why the fit ended. "converged": `optimality_gap_` is at most 1e-6 of the objective, over the hypotheses that are
        named there.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from radboost import DeepBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DeepBoostClassifier(n_rounds=50).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.93)
    True

    More than two classes are used alike:

    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DeepBoostClassifier(n_rounds=50).fit(X[::2], y[::2])
    >>> model.decision_function(X[1::2]).shape, model.objective_
    ((89, 3), 'sum')
    """

    n_rounds: int | str = field(default="auto", kw_only=False)
    loss: str | NativeLoss | TargetLoss = "logistic"
    objective: str = "sum"
    family: str | Family | list[str | Family] = "trees"
    max_depth: int | str = "auto"
    complexity_penalty: float | str = "auto"
    l1_penalty: float = 0.0
    learning_rate: float | str = "auto"
    subsample: float = 1.0
    step: str = "auto"
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    early_stopping: bool | int | EarlyStopping = False
    calibration: str | None = "auto"
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0
    tree_options: TreeOptions | None = None
    warm_start: bool = False

    loss_: Any = field(init=False)
    objective_: str = field(init=False)

    _tree_options_read: ClassVar[tuple[str, ...]] = (
        "max_features",
        "thresholds",
        "split_criterion",
        "leaves",
        "min_leaf_weight",
        "max_bins",
        "growth",
        "max_leaves",
        "monotonic_constraints",
        "interaction_constraints",
    )

    _steps: ClassVar[list[str]] = ["auto", "closed_form", "line_search"]
    _chosen: ClassVar[tuple[str, ...]] = (
        "n_rounds",
        "learning_rate",
        "complexity_penalty",
        "max_depth",
        "thresholds",
        "leaves",
    )
    _instead: ClassVar[dict[str, str]] = {}  # of options that are not read
    _has_gap: ClassVar[bool] = True
    _may_run_trials: ClassVar[bool] = True  # where the penalty is "auto"

    @classmethod
    def paper(cls, n_rounds: int = 100, **parameters: Any) -> Self:
        """The algorithm of the papers: greedy search over all columns and bins, whole steps, 100 rounds.

        The search is exhaustive over the thresholds between bins: all of them for a column of at most 255 distinct
        values, 254 quantiles for others. Parameters that are not named here keep the estimator's defaults.

        With complexity_penalty = l1_penalty = 0 (the defaults here) and the exponential loss this is AdaBoost. With the
        logistic loss it is additive logistic regression with a margin offset of 1.

        With more than two classes and loss="exponential" (objective "sum") it is AdaBoost.MR. With
        objective="compsum" (and the logistic loss) it is additive multinomial logistic regression with that offset.
        In all these cases l1_penalty > 0 gives the L1 version (Kuznetsov et al. (2014), appendix K). That paper grows
        its trees leaf by leaf: tree_options=TreeOptions(growth="best_first").
        """
        plain: dict[str, Any] = {
            "loss": "logistic" if parameters.get("objective") == "compsum" else "exponential",
            "step": "closed_form",
            "max_depth": 6,
            "complexity_penalty": 0.0,
            "l1_penalty": 0.0,
            "learning_rate": 1.0,
            "subsample": 1.0,
            "calibration": None,
        }
        options = parameters.pop("tree_options", None)
        if options is None or isinstance(options, TreeOptions):
            options = (options or TreeOptions()).filled(max_features=None, thresholds="best", split_criterion="edge")
        return cls(n_rounds, **{**plain, **parameters, "tree_options": options})

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes, by the scores that minimize the expected loss (docs/theory.md).

        With two classes the second one has p = Phi'(1+f) / (Phi'(1-f) + Phi'(1+f)). The derivative of
        p Phi(1 - f) + (1 - p) Phi(1 + f) is zero there. With more each objective has a map of its own; those of "max"
        and "maxsum" do not exist, and they use that of "compsum".

        A model of few rounds has few hypotheses behind its scores, and its probabilities are close to each other
        unless they are calibrated. `calibration_`, where there is one, says by how much scores are divided first
        (docs/probabilities.md).
        """
        return self._calibrated(self.decision_function(X, offset))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return row_cost(self.objective_, len(self.classes_)).probabilities(self._loss_of_fit(), scores)

    def _loss_of_fit(self) -> MarginLoss:
        """The loss of the fit; a user's own, which a file does not store, is that of the parameter."""
        return get_loss(self.loss if isinstance(self.loss_, NotStored) else self.loss_)

    def _exported_output(self) -> ExportedOutput:
        loss = None if isinstance(self.loss_, NotStored) else get_loss(self.loss_)
        return class_output(self, margin_link(self.objective_, loss, len(self.classes_)))

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {"loss": self.loss_}

    def _take_parameters_of_fit(self) -> None:
        self.loss_ = self.loss

    def _take_objective(self, name: Any) -> None:
        """Set the objective that a file names; a user's own loss, which is not in the file, goes with any of them."""
        if not isinstance(name, str) or name not in OBJECTIVES:
            raise ModelFileError(f"its objective is {str(name)[:40]!r}, and known are {', '.join(OBJECTIVES)}.")
        self.objective_ = resolve_objective(name, self.loss) if isinstance(self.loss, str) else name

    def _warn(self, fitted: Self) -> None:
        if len(fitted.ensemble_) == 0:
            warnings.warn(
                f"The model is empty and predicts {fitted.classes_.tolist()[0]!r} everywhere (an offset aside): no "
                f"hypothesis lowers the objective ({fitted.stop_reason_}). A smaller complexity_penalty or another "
                "family may help.",
                UserWarning,
                stacklevel=5,
            )

    def _read_parameters(self) -> FitSettings:
        """Everything that can be checked before the data is seen."""
        self._check_common()
        self._check_calibration()
        self._check_penalties()
        check_integer_or(["auto"], "max_depth", self.max_depth, 1, 60)
        check_real_or(["auto"], "learning_rate", self.learning_rate, low=0.0, high=1.0, open_low=True)
        check_choice("step", self.step, self._steps)
        options = read_tree_options(
            self.tree_options, self._tree_options_read, type(self).__name__, self._instead
        ).filled(
            max_features=None if self._proposal_depths(2) == {1} else 1.0 / 3.0,  # a stump has one node alone
            split_criterion="gini",
            min_leaf_weight=0.0,
        )
        if not self._runs_trials(options):
            options = options.filled(thresholds="random", leaves="votes")
        check_families(get_families(self.family), options)
        get_loss(self.loss).validate()
        resolve_objective(self.objective, self.loss)
        settings = GrowthSettings(
            criterion=options.split_criterion,
            subsample=check_real("subsample", self.subsample, low=0.0, high=1.0, open_low=True),
            random_thresholds=options.thresholds == "random",
            seed=seed_from(self.random_state),
            n_threads=resolve_n_jobs(self.n_jobs),
            options=options,
        )
        return FitSettings(settings, resolve_early_stopping(self.early_stopping))

    def _check_penalties(self) -> None:
        check_real_or(["auto"], "complexity_penalty", self.complexity_penalty, low=0.0)
        check_real("l1_penalty", self.l1_penalty, low=0.0)

    def _penalty(self, n_classes: int) -> WeightedL1:
        price = _automatic("complexity_penalty", self.complexity_penalty, n_classes)
        return WeightedL1(price, float(self.l1_penalty))

    def _growth_on(self, prepared: PreparedRows, settings: GrowthSettings) -> GrowthSettings:
        """The settings of growth for these rows."""
        return replace(
            settings,
            max_depth=int(_automatic("max_depth", self.max_depth, len(prepared.known_classes))),
            max_features=check_max_features(settings.options.max_features, prepared.n_features),
            constraints=self._constraints_on(prepared),
        )

    def _constraints_on(self, rows: CheckedRows | PreparedRows) -> Constraints:
        n_classes = len(rows.known_classes)
        return read_constraints(self.tree_options, rows, 1 if n_classes == 2 else n_classes)

    def _check_training(self, training: CheckedRows) -> None:
        self._constraints_on(training)

    def _objective_on(self, prepared: PreparedRows, n_threads: int) -> Objective:
        objective = Objective(
            resolve_objective(self.objective, self.loss),
            get_loss(self.loss),
            prepared.class_ids,
            len(prepared.known_classes),
            prepared.weights,
            n_threads,
            prepared.collective,
        )
        if prepared.offset is not None:
            objective.start_from(prepared.offset)
            if not math.isfinite(objective.reweigh().loss):
                raise ValueError(
                    f"With this offset loss={self.loss!r} is larger than any number. Offsets are scores, and an "
                    'exponential loss bears some 700 on the wrong side: give smaller ones, or take loss="logistic".'
                )
        return objective

    def _runs_trials(self, options: TreeOptions) -> bool:
        """True if trials choose the parameters that are "auto": if the penalty is, and leaves may hold numbers."""
        families = get_families(self.family)
        damped = isinstance(self.learning_rate, str) or self.learning_rate < 1.0
        return (
            self._may_run_trials
            and isinstance(self.complexity_penalty, str)
            and options.leaves == "auto"
            and len(families) == 1
            and isinstance(families[0], Trees)
            and get_loss(self.loss).native
            and OBJECTIVES[self.objective].rates_leaves
            and self.step in ("auto", "line_search")
            and damped
        )

    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        if not self._runs_trials(settings.growth.options):
            return self._plan_as_given(prepared, settings, trace)
        depth = int(_automatic("max_depth", self.max_depth, len(prepared.known_classes)))
        tuned = tune(self, prepared, settings, depth)
        given, growth = copy(self), settings.growth
        chosen = tuned.chosen or {"thresholds": growth.options.thresholds}
        for name in ("complexity_penalty", "max_depth", "learning_rate"):
            setattr(given, name, chosen.get(name, getattr(self, name)))
        options = replace(growth.options, thresholds=chosen["thresholds"], leaves="rated" if tuned.chosen else "votes")
        options = options.filled(thresholds="random")
        growth = replace(growth, options=options, random_thresholds=options.thresholds == "random")
        # Deeper trees might have been chosen: they count among the families of the bound.
        deepest = DEEPEST if tuned.had_trials and isinstance(self.max_depth, str) else 0
        plan = given._plan_as_given(prepared, replace(settings, growth=growth), trace, deepest)
        n_stages = chosen.get("n_rounds", self._n_stages())
        used = {**plan.attributes["chosen_"], "n_rounds": n_stages}
        return replace(plan, n_stages=n_stages, attributes={**plan.attributes, "chosen_": used})

    def _used(self, growth: GrowthSettings, objective: Objective) -> dict[str, Any]:
        """The parameters of a fit, with numbers where they say "auto"."""
        return {
            "n_rounds": self._n_stages(),
            "learning_rate": self._rate(growth, objective),
            "complexity_penalty": self._penalty(objective.n_classes).complexity_penalty,
            "max_depth": growth.max_depth,
            "thresholds": "random" if growth.random_thresholds else "best",
            "leaves": "rated" if growth.rated else "votes",
        }

    def _proposal_depths(self, n_classes: int) -> set[int]:
        """Depths of the deepest hypotheses of each family; 0 for kernels."""
        max_depth = int(_automatic("max_depth", self.max_depth, n_classes))
        return {family.proposal_depth(max_depth) for family in get_families(self.family)}

    def _rate(self, growth: GrowthSettings, objective: Objective) -> float:
        """The learning rate; "auto" depends on the depth of the proposed hypotheses."""
        if not isinstance(self.learning_rate, str):
            return float(self.learning_rate)
        if growth.rated:
            return AUTOMATIC_RATE
        full, depth = AUTOMATIC["max_depth"][objective.n_classes > 2], max(self._proposal_depths(objective.n_classes))
        return min(1.0, round(AUTOMATIC_RATE * max(1.0, full / depth), 3)) if depth else 1.0

    def _rate_of_fit(self) -> float:
        return float(self.chosen_["learning_rate"])

    def _as_fitted(self) -> Self:
        given, options = copy(self), self.tree_options or TreeOptions()
        given.complexity_penalty, given.max_depth = self.chosen_["complexity_penalty"], self.chosen_["max_depth"]
        given.tree_options = replace(options, thresholds=self.chosen_["thresholds"], leaves=self.chosen_["leaves"])
        return given

    def _n_stages(self) -> int:
        if isinstance(self.n_rounds, str):
            return ROUNDS_OF_WEAK if max(self._proposal_depths(2)) <= WEAK_DEPTH else AUTOMATIC_ROUNDS
        return int(self.n_rounds)

    def _check_rounds(self) -> None:
        check_integer_or(["auto"], "n_rounds", self.n_rounds, 1)

    def _plan_as_given(self, prepared: PreparedRows, settings: FitSettings, trace: Trace, deepest: int = 0) -> FitPlan:
        n_threads, growth = settings.growth.n_threads, self._growth_on(prepared, settings.growth)
        if growth.rated and len(prepared.known_classes) > 2 and not OBJECTIVES[self.objective].rates_leaves:
            raise ValueError(
                'TreeOptions(leaves="rated") goes with objective="sum" or "compsum", which count each wrong class; '
                f'got {self.objective!r}. Take leaves="votes" with it.'
            )
        families = get_families(self.family)
        stopping, validation = settings.stopping, prepared.validation
        if stopping is not None and validation is None:
            prepared, validation, _ = prepared.hold_back(stopping.validation_fraction, growth.seed, n_threads)
        objective = self._objective_on(prepared, n_threads)
        problem = Problem(prepared.X, prepared.order, prepared.data, objective, growth, prepared.column_names)
        counted = replace(problem, settings=replace(growth, max_depth=max(growth.max_depth, deepest)))
        return FitPlan(
            maker=self._maker(problem, families, trace),
            n_families=sum(family.n_families(counted) for family in families),
            sample_size=objective.total_weight,
            monitor=None if validation is None else LossMonitor(validation, objective, stopping, n_threads),
            keeps_best_round=stopping is not None,
            attributes={
                "loss_": self.loss,
                "objective_": objective.name,
                "chosen_": self._used(growth, objective),
                "_constraints": growth.constraints,
            },
        )

    def _maker(self, problem: Problem, families: list[Family], trace: Trace) -> CoordinateDescent:
        weak = max(self._proposal_depths(problem.objective.n_classes)) <= WEAK_DEPTH
        return CoordinateDescent(
            problem.objective,
            start_families(families, problem),
            self._penalty(problem.objective.n_classes),
            n_rows=problem.data.n_rows,
            learning_rate=self._rate(problem.settings, problem.objective),
            step="line_search" if weak and self.step == "auto" else self.step,
            seed=problem.settings.seed,
            trace=trace,
            raw_rows=RawRows(problem.X, problem.order, problem.settings.n_threads),
            mirrors=not problem.settings.constraints.directions,
        )

    def _fixed_by_fit(self, prepared: PreparedRows) -> dict[str, tuple[Any, Any]]:
        fixed = {"loss": (self.loss_, self.loss), **constraints_then_and_now(self, self._constraints_on(prepared))}
        if len(prepared.known_classes) > 2:  # with two classes all objectives are the same
            fixed["objective"] = (self.objective_, self.objective)
        return fixed

    def _supplied(self, trace: Trace) -> Trace:
        supply_kernel(trace.hypotheses, get_families(self.family))
        return trace

    def _how_to_prune(self) -> HowToPrune:
        """Signed weights with two classes, refitted leaves with sums over classes; neither if monotonic."""
        n_classes, ensemble = len(self.classes_), self.ensemble_
        cost, loss = row_cost(self.objective_, n_classes), self._loss_of_fit()
        lambda_ = float(self.chosen_["complexity_penalty"]) if hasattr(self, "chosen_") else 0.0
        return HowToPrune(
            prices=adaptive_prices(ensemble, lambda_ * ensemble.complexities + float(self.l1_penalty)),
            signed=n_classes == 2 and not keeps_order(self),
            refits_leaves=(n_classes == 2 or OBJECTIVES[self.objective_].rates_leaves) and not keeps_order(self),
            losses=lambda scores, targets: cost.row_losses(loss, scores, targets.astype(np.uint16)),
            errors=wrong_labels,
        )

    def _with_ensemble(self, ensemble: Ensemble, costs: tuple[float, float]) -> Any:
        pruned = super()._with_ensemble(ensemble, costs)
        numbers = any(isinstance(one, Tree) and holds_numbers(one) for one in ensemble.hypotheses)
        if hasattr(self, "chosen_") and numbers:
            pruned.chosen_ = {**self.chosen_, "leaves": "rated"}
        return pruned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = all(_accepts_missing(one) for one in _as_list(self.family))
        return tags


def _automatic(name: str, value: float | str, n_classes: int) -> float:
    return AUTOMATIC[name][n_classes > 2] if isinstance(value, str) else float(value)


def _as_list(family: object) -> list[object]:
    return list(family) if isinstance(family, list | tuple) else [family]


def _accepts_missing(family: object) -> bool:
    """True also for unknown names: tags are read before the parameters are checked."""
    return bool(getattr(FAMILIES.get(family) if isinstance(family, str) else family, "accepts_missing", True))
