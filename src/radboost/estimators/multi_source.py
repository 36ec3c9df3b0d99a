"""Boosting over several sources: MultiBoost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_real, check_real_or, resolve_n_jobs
from radboost.boosting import Trace
from radboost.boosting.monitor import SourceMonitor
from radboost.boosting.multi_source import MultiSourceDescent
from radboost.estimators._constraints import NAMES as CONSTRAINTS
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._learning import BoostingEstimator, FitPlan, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._pruning import PruningMixin
from radboost.estimators._sources import SourceReader, check_sources
from radboost.estimators.deepboost import AUTOMATIC, DeepBoostClassifier
from radboost.export.parts import ScoreSum, refuse_model
from radboost.families import Problem, get_families
from radboost.families.own import start_families
from radboost.families.raw_rows import RawRows
from radboost.families.sourced import SourcedHypothesis
from radboost.model_file import ModelFileError, NotStored, storable_estimator
from radboost.model_file.sections import json_array, read_json_array
from radboost.objectives.over_sources import (
    SOURCE_OBJECTIVES,
    agnostic,
    make_over_sources,
    read_mixtures,
    vertices_of,
)
from radboost.objectives.sourced import SourcedObjective
from radboost.penalties import WeightedL1
from radboost.rows.domains import DomainModel, check_classifier, probabilities_of
from radboost.rows.partitions import UNLABELLED, VALIDATION, LoadedPartition
from radboost.rows.prepare import PreparedRows
from radboost.rows.read import read_matrix
from radboost.rows.sources import Sources, with_columns
from radboost.trees import TreeOptions

# Values of "auto" with several sources, of two classes and of more. On synthetic sources of 300 to 4,000 rows and on
# adult a price of DeepBoost's size left the worst source behind: complexities here are those of single sources.
AUTOMATIC_PENALTY = (0.003, 0.01)


@storable_estimator
@described_like(BoostingEstimator)
@with_constructor
class MultiSourceBoostClassifier(DeepBoostClassifier):
    """Boosting on rows from several sources, for a model that holds up on whichever mixture of them it meets.

    Sources are hospitals, regions or devices. Each source k has a loss F_k, and the model minimizes the largest of them
    (or of the admissible `mixtures`) plus the price of the complexity of its hypotheses. It is a Q-ensemble: f(x) is
    the sum of alpha Q(k | x) h(x) over sources k and hypotheses h. Q(k | x) is the probability that a row like x comes
    from source k, so that hypotheses of a source count where its rows are. This is MultiBoost of Storcheus, PhD
    thesis, NYU 2021, chapter 4.

    Sources are needed in `fit` alone. With one source the model is that of a `DeepBoostClassifier` whose leaves vote,
    bit for bit.

    Parameters
    ----------
    n_rounds : int
        Rounds of boosting, at most; the fit stops by itself when nothing lowers the objective.
    loss, objective : as for `DeepBoostClassifier`
        With several sources `objective` may not be "max".
    source_objective : {"max", "softmax", "sum"}
        How the losses of the sources are combined: the largest (Figure 4.1 of the thesis), the soft maximum
        log(sum of exp(mu F_k)) / mu, or the sum (appendix B.4). In every round the objective falls, or nothing is done.
    mu : float
        Of "softmax": the larger, the closer to the maximum.
    mixtures : array, data frame, Mixtures, or None
        The mixtures that the model must hold up on, by their corners: rows that sum to 1, with a column for each
        source in ascending order. None for all. `Mixtures(penalty=...)` keeps a source of few rows from ruling.
    domain_classifier : classifier or None
        The model of Q: any classifier with `predict_proba`, which is cloned and fitted to predict the sources; one
        that is fitted already is taken as it is inside `sklearn.frozen.FrozenEstimator`. None for
        multinomial logistic regression on standardized columns.
    family : as for `DeepBoostClassifier`
        The depth of trees is that of `radboost.Trees(max_depth=...)`, by default 6, with more than two classes 8.
    complexity_penalty : float, "auto", or WeightedL1
        As for `DeepBoostClassifier`; `WeightedL1(complexity_penalty, l1_penalty)` has its `l1_penalty` too. The
        complexity of a hypothesis is that for the sample of its source. "auto" with several sources: 0.003, with more
        than two classes 0.01.
    learning_rate : float
        Fraction of each step that is taken.
    step : {"auto", "closed_form", "line_search", "decay"}
        How far to go: to the minimum of the bound of Lemma 4.3 ("closed_form", and "auto" for hypotheses that vote), to
        that of the objective itself ("line_search"), or learning_rate / sqrt(round), which promises no descent.
    tree_options : as for `DeepBoostClassifier`
    early_stopping : bool, int or EarlyStopping
        Stop when the agnostic loss on validation rows, that of the worst mixture, no longer falls.

    Attributes
    ----------
    source_names_ : array of the sources, ascending
    domain_classifier_ : the model of Q; None with one source
    source_errors_ : dict
        The error on the training rows of each source.
    agnostic_error_ : float
        The largest over the mixtures.
    source_weight_ : dict
        The fraction of each source in the sum of all weights.
    optimality_gap_ : float
        As for `DeepBoostClassifier`, but where the search is not exhaustive over the hypotheses of the ensemble and
        those that were grown last. It bounds the distance closely after "converged", and from afar before. Without
        prices of hypotheses it is the objective itself. NaN after a fit by `radboost.federated`.
    left_out_ : dict
        After a fit by `radboost.federated`: names of the clients whose rows were left out, with the reasons.
    history_ : dict of lists, one entry per round
        As for `DeepBoostClassifier`, "objective" being that of the sources together; and "source_loss[name]" and
        "source_error[name]" of each source. With validation rows "validation_loss" and "validation_error" are those of
        the worst mixture.
    classes_, ensemble_ : as for `DeepBoostClassifier`

    Examples
    --------
    >>> import numpy as np
    >>> from radboost import MultiSourceBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> sources = np.repeat(["clinic", "ward"], 200)
    >>> X = rng.normal(size=(400, 3))
    >>> X[:, 2] = np.where(sources == "ward", 3.0, -3.0) + X[:, 2]
    >>> y = np.where(sources == "ward", X[:, 0] > 0, X[:, 0] < 0)
    >>> model = MultiSourceBoostClassifier(n_rounds=50).fit(X, y, sources=sources)
    >>> bool(model.agnostic_error_ < 0.1)
    True
    >>> model.predict(X[:3]).shape
    (3,)
    """

    n_rounds: int = field(default=300, kw_only=False)
    source_objective: str = "max"
    mu: float = 10.0
    mixtures: Any = None
    domain_classifier: Any = None
    complexity_penalty: float | str | WeightedL1 = "auto"  # type: ignore[assignment]
    learning_rate: float = 0.1

    # Parameters of DeepBoost that are fixed here.
    max_depth: str = field(default="auto", init=False)
    l1_penalty: float = field(default=0.0, init=False)
    subsample: float = field(default=1.0, init=False)
    calibration: str | None = field(default=None, init=False)
    warm_start: bool = field(default=False, init=False)

    source_names_: npt.NDArray[Any] = field(init=False)
    domain_classifier_: Any = field(init=False)
    left_out_: dict[str, str] = field(init=False)

    _steps: ClassVar[list[str]] = ["auto", "closed_form", "line_search", "decay"]
    _takes_offset: ClassVar[bool] = False
    _may_run_trials = False
    _tree_options_read: ClassVar[tuple[str, ...]] = tuple(
        name for name in DeepBoostClassifier._tree_options_read if name not in ("leaves", *CONSTRAINTS)
    )
    _instead: ClassVar[dict[str, str]] = dict.fromkeys(
        CONSTRAINTS, "DeepBoostClassifier, RGBClassifier and RGBRegressor keep to constraints on columns."
    )
    _how_to_prune = PruningMixin._how_to_prune  # refuses: scores depend on the source

    @classmethod
    def paper(cls, n_rounds: int = 100, **parameters: Any) -> Self:
        """Figure 4.1 as in the thesis's experiments: stumps, the exponential loss, whole steps, 100 rounds."""
        plain: dict[str, Any] = {
            "loss": "exponential",
            "step": "line_search",
            "family": "stumps",
            "complexity_penalty": 0.0,
            "learning_rate": 1.0,
        }
        options = parameters.pop("tree_options", None)
        if options is None or isinstance(options, TreeOptions):
            options = (options or TreeOptions()).filled(max_features=None, thresholds="best", split_criterion="edge")
        return cls(n_rounds, **{**plain, **parameters, "tree_options": options})

    @described_like(DeepBoostClassifier.fit)
    def fit(  # type: ignore[override]  # metrics and offsets are about one source
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        sources: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        sources_val: Any = None,
        X_unlabelled: Any = None,
        sources_unlabelled: Any = None,
        callbacks: Any = None,
        resume_from: Any = None,
    ) -> Self:
        """Learns from rows X, labels y and the sources of the rows.

        Parameters
        ----------
        sources : array, or None
            The source of each row: numbers, text or booleans. None: all rows come from one.
        sources_val : array, or None
            The source of each validation row.
        X_unlabelled, sources_unlabelled : rows and their sources, or None
            More rows that Q may learn from; they need no labels.
        """
        check_sources(sources, X_val, sources_val, X_unlabelled, sources_unlabelled)
        parts = [
            LoadedPartition(X),
            LoadedPartition(X_val, role=VALIDATION),
            LoadedPartition(X_unlabelled, sources=sources_unlabelled, role=UNLABELLED),
        ]
        parts = [part for part in parts if part.X is not None]
        return self._fit(
            X,
            y,
            sample_weight,
            callbacks=callbacks,
            resume_from=resume_from,
            validation=(X_val, y_val, sample_weight_val),
            beside={"sources": (sources, sources_val)},
            learn_sources=lambda reader, *rows: SourceReader(reader, parts, *rows).read(),
        )

    def _check_penalties(self) -> None:
        if isinstance(self.complexity_penalty, WeightedL1):
            self.complexity_penalty.validate()
        else:
            check_real_or(["auto"], "complexity_penalty", self.complexity_penalty, low=0.0)

    def _penalty(self, n_classes: int) -> WeightedL1:
        given = self.complexity_penalty
        return given if isinstance(given, WeightedL1) else super()._penalty(n_classes)

    def _penalty_over_sources(self, n_classes: int) -> WeightedL1:
        if isinstance(self.complexity_penalty, str):
            return WeightedL1(AUTOMATIC_PENALTY[n_classes > 2])
        return self._penalty(n_classes)

    def _proposal_depths(self, n_classes: int) -> set[int]:
        return {int(AUTOMATIC["max_depth"][n_classes > 2])}  # rates are numbers here: steps do not go by the family

    def _read_parameters(self) -> FitSettings:
        check_choice("source_objective", self.source_objective, list(SOURCE_OBJECTIVES))
        check_real("mu", self.mu, low=0.0, open_low=True)
        read_mixtures(self.mixtures)
        if self.domain_classifier is not None and not isinstance(self.domain_classifier, NotStored):
            check_classifier(self.domain_classifier)
        return super()._read_parameters()

    def _plan(self, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        sources = prepared.sources
        if sources is None or (len(sources.names) == 1 and self.step != "decay"):
            plan = super()._plan(prepared, settings, trace)
            names = np.zeros(1, dtype=np.int64) if sources is None else sources.names
            return replace(plan, attributes={**plan.attributes, "source_names_": names, "domain_classifier_": None})
        if self.objective == "max" and len(prepared.known_classes) > 2:
            raise ValueError(
                f'objective="max" has kinks that the descent over {len(sources.names)} sources cannot leave; use '
                '"sum", "compsum" or "maxsum". source_objective="max" is the one over the sources.'
            )
        return self._plan_over(sources, prepared, settings, trace)

    def _plan_over(self, sources: Sources, prepared: PreparedRows, settings: FitSettings, trace: Trace) -> FitPlan:
        n_threads, growth = settings.growth.n_threads, self._growth_on(prepared, settings.growth)
        stopping, validation = settings.stopping, prepared.validation
        if stopping is not None and validation is None:
            prepared, validation, _ = prepared.hold_back(stopping.validation_fraction, growth.seed, n_threads)
            sources = prepared.sources or sources
        mixtures = read_mixtures(self.mixtures)
        vertices = vertices_of(mixtures, sources.names)
        objective = self._objective_on(prepared, n_threads)
        sourced = SourcedObjective(
            objective,
            lambda sizes: make_over_sources(self.source_objective, float(self.mu), mixtures, sources.names, sizes),
            sources.ids,
            sources.shares,
            n_threads,
        )
        families = get_families(self.family)
        problems = [
            Problem(prepared.X, prepared.order, prepared.data, view, replace(growth, seed=seed), prepared.column_names)
            for view, seed in zip(sourced.views, _seeds(growth.seed, sourced.n_sources), strict=True)
        ]
        maker = MultiSourceDescent(
            sourced,
            [start_families(families, problem) for problem in problems],
            self._penalty_over_sources(objective.n_classes),
            n_rows=prepared.data.n_rows,
            n_features=prepared.n_features,
            learning_rate=float(self.learning_rate),
            step=self.step,
            names=[str(name) for name in sources.names.tolist()],
            trace=trace,
            raw_rows=RawRows(prepared.X, prepared.order, n_threads),
        )
        monitor = None
        if validation is not None and validation.sources is not None:
            extended = replace(validation, X=with_columns(validation.X, validation.sources.shares))
            monitor = SourceMonitor(
                extended, validation.sources.ids, objective, vertices, sourced.n_sources, stopping, n_threads
            )
        return FitPlan(
            maker=maker,
            n_families=sum(family.n_families(problem) for family in families for problem in problems),
            sample_size=objective.total_weight,
            monitor=monitor,
            keeps_best_round=stopping is not None,
            attributes={
                "loss_": self.loss,
                "objective_": objective.name,
                "source_names_": sources.names,
                "domain_classifier_": sources.domain,
            },
        )

    @property
    @of_one_fit
    def source_errors_(self) -> dict[Any, float]:
        """The error on the training rows of each source."""
        self._require_fitted()
        names = self.source_names_.tolist()
        if not self.n_iter_:
            return {names[0]: 1.0} if self.domain_classifier_ is None and len(names) == 1 else {}
        errors = self.history_  # those of all rows where there is one source, or one class
        return {name: errors.get(f"source_error[{name}]", errors["train_error"])[self.n_iter_ - 1] for name in names}

    @property
    @of_one_fit
    def agnostic_error_(self) -> float:
        """The largest error over the mixtures, on the training rows. Equation (4.1) of the thesis."""
        errors = np.array(list(self.source_errors_.values()))
        return agnostic(errors, vertices_of(read_mixtures(self.mixtures), self.source_names_))

    @property
    @of_one_fit
    def source_weight_(self) -> dict[Any, float]:
        """The fraction of each source in the sum of the absolute weights. Figure B.3 of the thesis."""
        self._require_fitted()
        names = self.source_names_.tolist()
        totals = np.zeros(len(names))
        for hypothesis, weight in zip(self.ensemble_.hypotheses, self.ensemble_.weights, strict=True):
            totals[hypothesis.source if isinstance(hypothesis, SourcedHypothesis) else 0] += abs(weight)
        return dict(zip(names, (totals / max(totals.sum(), np.finfo(float).tiny)).tolist(), strict=True))

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, domain_classifier: Any = None) -> Self:
        """The fitted model of a dict; a domain classifier of your own is not in it, and given again, fitted."""
        model = super().from_dict(data)
        if domain_classifier is not None:
            model._supply_domain_classifier(domain_classifier)
        return model

    def _exported_scores(self) -> ScoreSum:
        refuse_model(type(self).__name__, "its hypotheses are weighted by a domain classifier")

    @of_one_fit
    def source_probabilities(self, X: Any) -> FloatArray:
        """Q(k | x), a column for each of `source_names_`."""
        self._require_fitted()
        matrix = read_matrix(self, X, self.ensemble_.categories)
        return self._source_probabilities_of(X, matrix)

    def _source_probabilities_of(self, X: Any, matrix: Any) -> FloatArray:
        """Q on its grid: by our own model from the rows as they were read, by the user's from the rows as given."""
        names, domain = self.source_names_, self.domain_classifier_
        if isinstance(domain, NotStored):
            raise ModelFileError(
                "A model file does not store a domain_classifier of your own, which this model needs to predict. Give "
                "it again, fitted: radboost.load(path, domain_classifier=...)."
            )
        return probabilities_of(domain, matrix, [X], names, len(self.classes_), resolve_n_jobs(self.n_jobs))

    def _further_columns(self, X: Any, matrix: Any) -> FloatArray | None:
        """Q(k | x), if hypotheses need it."""
        sourced = any(isinstance(hypothesis, SourcedHypothesis) for hypothesis in self.ensemble_.entered)
        return self._source_probabilities_of(X, matrix) if sourced else None

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        arrays = {"source_names": json_array(self.source_names_.tolist())}
        if hasattr(self, "left_out_"):
            arrays["left_out"] = json_array(self.left_out_)
        domain = self.domain_classifier_
        return {**arrays, **(domain.to_arrays() if isinstance(domain, DomainModel) else {})}

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        names = read_json_array(arrays, "source_names")
        plain = isinstance(names, list) and names and all(type(name) in (bool, int, float, str) for name in names)
        if not plain or len(set(map(repr, names))) != len(names):
            raise ModelFileError("the names of the sources are missing.")
        self.source_names_ = np.array(names)
        if "left_out" in arrays:
            left_out = read_json_array(arrays, "left_out")
            if not isinstance(left_out, dict) or not all(type(reason) is str for reason in left_out.values()):
                raise ModelFileError("who was left out must be names with reasons.")
            self.left_out_ = left_out
        self.domain_classifier_ = None
        if len(names) > 1 and "domain_weights" in arrays:
            n_features = len(arrays.get("domain_instead", ()))
            self.domain_classifier_ = DomainModel.from_arrays(arrays, n_features, len(names))
        elif len(names) > 1:
            self.domain_classifier_ = NotStored("domain_classifier", repr(self.domain_classifier))

    def _take_given_parameters(self) -> None:
        super()._take_given_parameters()
        domain, n_sources = self.domain_classifier_, len(self.source_names_)
        of_others = {
            (hypothesis.n_features, hypothesis.n_sources)
            for hypothesis in self.ensemble_.entered
            if isinstance(hypothesis, SourcedHypothesis)
        }
        if isinstance(domain, DomainModel) and len(domain.instead) != self.ensemble_.n_features:
            raise ModelFileError("its domain classifier is one for other columns.")
        if of_others - {(self.ensemble_.n_features, n_sources)}:
            raise ModelFileError("its hypotheses are of other sources than it names.")

    def _supply_domain_classifier(self, classifier: Any) -> None:
        """Set the domain classifier of a loaded model, which its file could not keep."""
        if not isinstance(self.domain_classifier_, NotStored):
            raise ValueError("This model has a domain classifier of its own in its file; load it without another one.")
        check_classifier(classifier)
        self.domain_classifier = self.domain_classifier_ = classifier


def _seeds(seed: int, n: int) -> list[int]:
    """Seeds of the sources, which must not make the same draws; the first is that of DeepBoost."""
    return [(seed + 0xD1B54A32D192ED03 * source) % 2**64 for source in range(n)]
