"""Every estimator in every setting that takes another path, and what it promises.

A member joins the property suite by being listed in CASES. Its flags say what it does not promise, which is then tested
the other way round where the documents name a refusal.
"""

from __future__ import annotations

import functools
import inspect
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from properties.hooks import with_sources
from radboost import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    EarlyStopping,
    KernelFamily,
    Mixtures,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    RGBClassifier,
    RGBClassifierCV,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
    SupervisedKernelProjection,
    TreeFamilies,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.trees import with_tree_options
from reference.data import smooth, smooth_classes, tiny, tiny_classes

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """An estimator with settings, the number of classes of its data, and its promises."""

    name: str
    make: Callable[..., Any]  # keyword arguments change parameters
    n_classes: int = 2  # 0: targets are numbers
    tasks: bool = False  # y has a column for each of three tasks
    random: bool = False  # another seed gives another model
    missing: bool = True  # NaN is a value like others; otherwise refused
    categories: bool = True  # columns may be categories; otherwise text is refused
    folds: bool = False  # cross-validates: wants enough different rows, which are dealt out by a hash of their cells
    sums_of_floats: bool = False  # sparse and dense rows, or rows in other units, agree up to rounding only
    boosted: bool = True  # has rounds: staged predictions, n_skipped_rounds_
    splits: bool = True  # hypotheses ask questions of columns: units do not matter, columns have importances
    importances: bool = True  # has feature_importances_
    descends: bool = True  # history_["objective"] never rises
    draws_rows: bool = False  # by a hash of all their cells: a column that tells nothing still changes the draws
    held_back: bool = False  # early stopping is set: some of the rows only watch, drawn in the same way
    stops_early: bool = False  # early stopping can be set
    validates: bool = False  # takes X_val, y_val
    sourced: bool = False  # rows come from two sources, which fit reads off the rows: see `with_sources`

    def __str__(self) -> str:
        return self.name

    @property
    def classifies(self) -> bool:
        return self.n_classes > 0

    @property
    def takes_names(self) -> bool:
        """Labels of any type, one for each row."""
        return self.classifies and not self.tasks

    def ready(self, model: Any) -> Any:
        """A model that was not made by `make`, but by its class or from a file, so that `fit` does as in this case."""
        return with_sources(model) if self.sourced else model

    def data(self, seed: int = 0, m: int = 90, d: int = 5, missing: float = 0.0) -> Rows:
        """Real values without ties, and labels that follow some of them with noise."""
        missing = missing if self.missing else 0.0
        if self.n_classes > 2:
            X, y = smooth_classes(seed, m=m, d=d, n_classes=self.n_classes, missing=missing)
        else:
            X, y = smooth(seed, m=m, d=d, missing=missing)
        return X, self._targets(X, y, seed)

    def tied(self, seed: int, m: int, missing: float = 0.0) -> Rows:
        """Few values per column, so that questions tie and rows are copies of each other."""
        missing = missing if self.missing else 0.0
        if self.n_classes > 2:
            X, y = tiny_classes(seed, m=m, d=3, n_classes=self.n_classes, missing=missing)
        else:
            X, y = tiny(seed, m=m, missing=missing)
        return X, self._targets(X, y, seed)

    def _targets(self, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        if self.tasks:
            tasks = np.column_stack([y, np.where(np.nan_to_num(X[:, 1]) > 0, 1, -1), rng.permutation(y)]).astype(float)
            tasks[::7, 1] = np.nan
            return tasks
        if not self.classifies:
            return np.maximum(4.0 + np.nan_to_num(X[:, 0]) + 0.5 * y + rng.integers(0, 3, len(y)) / 4.0, 0.25)
        return y


def essence(model: Any, X: Any) -> dict[str, Any]:
    """Everything that must be equal to the last bit; missing numbers are equal to each other."""
    facts: dict[str, Any] = {"class": type(model).__name__}
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            facts[method] = getattr(model, method)(X)
    for name in ("history_", "stop_reason_", "n_iter_", "n_skipped_rounds_", "feature_importances_"):
        facts[name] = getattr(model, name, None)
    for name in ("coef_", "intercept_", "alpha_", "optimality_gap_", "n_features_used_", "classes_"):
        facts[name] = getattr(model, name, None)
    for name in ("chosen_", "alphas_", "validation_losses_", "source_errors_", "source_weight_", "agnostic_error_"):
        facts[name] = getattr(model, name, None)
    facts["calibration_"] = repr(getattr(model, "calibration_", None))
    for name in ("weights", "complexities", "steps", "right_on_plus", "right_on_minus", "sample_size"):
        facts[f"ensemble {name}"] = getattr(model.ensemble_, name, None)
    return {name: _plain(fact) for name, fact in facts.items()}


def _plain(fact: Any) -> Any:
    """Lists and words, so that == compares, and NaN is equal to NaN."""
    if isinstance(fact, dict):
        return {key: _plain(value) for key, value in fact.items()}
    if isinstance(fact, np.ndarray):
        return _plain(fact.tolist())
    if isinstance(fact, list | tuple):
        return [_plain(value) for value in fact]
    return "NaN" if isinstance(fact, float) and np.isnan(fact) else fact


def scores(model: Any, X: Any) -> np.ndarray:
    """What a model computes for rows before it answers."""
    found = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return np.asarray(found)


def take(y: np.ndarray, rows: Any) -> np.ndarray:
    return np.asarray(y)[rows]


BEST_FIRST = TreeOptions(growth="best_first", max_leaves=7, min_leaf_weight=2.0)
PAPER = {
    "loss": "exponential",
    "learning_rate": 1.0,
    "subsample": 1.0,
    "max_features": None,
    "thresholds": "best",
    "split_criterion": "edge",
}
# Settings of DeepBoost for any number of classes.
DEEPBOOST: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": PAPER,
    "half of the rows": {"subsample": 0.5, "thresholds": "best", "split_criterion": "gini"},
    "half, random, edge": {"subsample": 0.5, "thresholds": "random", "split_criterion": "edge", "learning_rate": 0.5},
    "stumps": {"family": "stumps", "loss": "exponential"},
    "stump pairs": {"family": "stump_pairs", "loss": "exponential", "subsample": 0.7},
    "best first": {"tree_options": BEST_FIRST},
    "line search": {"step": "line_search", "complexity_penalty": 0.01},
    "early stopping": {"early_stopping": 5, "subsample": 0.5},
    "mixture": {"family": ["stumps", "trees"], "complexity_penalty": 0.02},
    "few bins": {"tree_options": TreeOptions(max_bins=7, min_leaf_weight=3.0)},
    "kernel": {"family": KernelFamily(n_centres=40), "complexity_penalty": 0.0, "learning_rate": 0.1},
    "rated": {"leaves": "rated"},
    "rated, whole steps": {**PAPER, "leaves": "rated", "loss": "logistic", "max_depth": 3},
    "rated, half, best first": {"subsample": 0.5, "leaves": "rated", "tree_options": BEST_FIRST},
    "rated stumps, mixture": {"family": ["stumps", "trees"], "leaves": "rated", "early_stopping": 5},
}
# And for more than two.
DEEPBOOST_CLASSES: dict[str, dict[str, Any]] = {
    "compsum": {"objective": "compsum"},
    "half of the rows, compsum": {**DEEPBOOST["half of the rows"], "objective": "compsum"},
    "half, random, edge, maxsum": {**DEEPBOOST["half, random, edge"], "objective": "maxsum"},
    "best first by edge, max": {"objective": "max", "split_criterion": "edge", "tree_options": BEST_FIRST},
    "line search, maxsum": {**DEEPBOOST["line search"], "objective": "maxsum"},
    "maxsum": {"objective": "maxsum", "loss": "exponential"},
    "max": {"objective": "max", "learning_rate": 1.0, "complexity_penalty": 0.0},
    "stumps, max": {"family": "stumps", "objective": "max", "loss": "exponential"},
    "kernel, compsum": {**DEEPBOOST["kernel"], "objective": "compsum"},
    "kernel, maxsum": {**DEEPBOOST["kernel"], "objective": "maxsum"},
    "kernel, max": {**DEEPBOOST["kernel"], "objective": "max"},
    "rated, compsum": {**DEEPBOOST["rated"], "objective": "compsum"},
}


DEEPBOOST_TWO: dict[str, dict[str, Any]] = {
    "monotone": {"monotonic_constraints": {0: 1}},
    "pairwise": {"interaction_constraints": "pairwise"},
    "monotone, rated, best thresholds": {"monotonic_constraints": {0: -1}, "leaves": "rated", "thresholds": "best"},
}


def _boosted(
    name: str, estimator: Any, defaults: dict[str, Any], settings: dict[str, Any], n_classes: int, **promises: bool
) -> Case:
    """An estimator on trees, or on kernels, which are for dense numbers alone."""
    kernel = isinstance(settings.get("family"), KernelFamily)
    return Case(
        f"{name}, {n_classes} classes" if n_classes else name,
        lambda **changes: estimator(**with_tree_options({**defaults, **settings, **changes})),
        n_classes,
        missing=not kernel,
        categories=not kernel,
        splits=not kernel,
        held_back="early_stopping" in settings,
        stops_early=True,
        **{"validates": True, **promises},
    )


def _deepboost() -> list[Case]:
    def case(name: str, settings: dict[str, Any], n_classes: int) -> Case:
        return _boosted(
            f"DeepBoost {name}",
            DeepBoostClassifier,
            {"n_rounds": 10, "complexity_penalty": 0.005, "random_state": 3},
            settings,
            n_classes,
            random=name in ("default", "half of the rows", "half, random, edge"),
            descends=settings.get("objective") != "max" and not name.startswith("kernel"),
            draws_rows=settings.get("subsample", 1.0) < 1.0,
        )

    everything = DEEPBOOST | DEEPBOOST_CLASSES
    found = [case(name, settings, n) for n in (2, 4) for name, settings in DEEPBOOST.items()]
    found += [case(name, settings, 4) for name, settings in DEEPBOOST_CLASSES.items()]
    found += [case(name, settings, 2) for name, settings in DEEPBOOST_TWO.items()]
    return [*found, *(case(name, everything[name], 26) for name in ("default", "best first", "maxsum"))]


SOFTMAX: dict[str, dict[str, Any]] = {
    "default": {},
    "best thresholds": {"thresholds": "best", "max_features": None},
    "by the rule": {"sampling": "rule"},
    "sampled steps, 70 pairs": {"step": "sampled", "samples_per_round": 70},
    "all pairs": {"samples_per_round": "all", "step": "projection", "min_leaf_weight": 0.0},
    "line search": {"step": "line_search"},
    "early stopping": {"early_stopping": EarlyStopping(5, 0.3)},
}


def _softmax() -> list[Case]:
    def case(name: str, settings: dict[str, Any], n_classes: int) -> Case:
        return _boosted(
            f"Softmax {name}",
            SoftmaxBoostClassifier,
            {"n_rounds": 5, "random_state": 3},
            settings,
            n_classes,
            random=name in ("default", "by the rule"),
            descends=False,
            draws_rows=settings.get("samples_per_round") != "all",
        )

    paper = {"random": True, "descends": False, "draws_rows": True, "validates": False}
    return [
        *(case(name, settings, n) for n in (2, 4) for name, settings in SOFTMAX.items()),
        *(_boosted("Softmax paper", SoftmaxBoostClassifier.paper, {"n_rounds": 5}, {}, n, **paper) for n in (2, 3)),
        case("default", {}, 26),
    ]


LOOSE = TreeOptions(min_leaf_weight=0.0)  # leaves of any weight
DRAWN = {"subsample": 0.6, "max_features": 2, "n_candidates": 2}
WATCHED = {**DRAWN, "early_stopping": 5}
RGB: dict[str, tuple[dict[str, Any], Sequence[int]]] = {
    "default": ({"tree_options": LOOSE}, (2, 3, 26)),
    "drawn rows and columns": (DRAWN, (2, 3)),
    "exponential": ({"loss": "exponential", "family": TreeFamilies(norm_order=1)}, (2,)),
    "drawn and watched": (WATCHED, (2, 3)),
    "exponential, drawn and watched": ({"loss": "exponential", **WATCHED}, (2,)),
    "all rows": ({"subsample": 1.0, "tree_options": LOOSE}, (2, 3)),
    "drawn thresholds": ({"thresholds": "random", "complexity_penalty": 0.0}, (2, 3)),
    "squared": ({"loss": "squared", "subsample": 1.0, "tree_options": LOOSE}, (0,)),
    "absolute": ({"loss": "absolute"}, (0,)),
    "drawn thresholds, monotone": ({"thresholds": "random", "monotonic_constraints": {0: 1}}, (0,)),
    "huber, monotone": ({"loss": "huber", "monotonic_constraints": {0: 1}}, (0,)),
    "pairwise, all rows": ({"interaction_constraints": "pairwise", "subsample": 1.0}, (0,)),
    "quantile": ({"loss": "quantile", "step": "line_search"}, (0,)),
    "poisson": ({"loss": "poisson"}, (0,)),
    "gamma": ({"loss": "gamma"}, (0,)),
    **{
        f"{loss}, drawn and watched": ({"loss": loss, **WATCHED}, (0,))
        for loss in ("squared", "absolute", "huber", "quantile", "poisson", "gamma")
    },
}


SOURCED: dict[str, tuple[dict[str, Any], Sequence[int]]] = {
    "default": ({}, (2, 4)),
    "paper": ({"loss": "exponential", "family": "stumps", "learning_rate": 1.0, "complexity_penalty": 0.0}, (2,)),
    "softmax, line search": ({"source_objective": "softmax", "step": "line_search", "objective": "compsum"}, (2, 4)),
    "sum": ({"source_objective": "sum", "objective": "maxsum"}, (2, 3)),
    "decay": ({"step": "decay", "mixtures": Mixtures(penalty=0.3)}, (2, 3)),
    "early stopping": ({"early_stopping": 5}, (2, 3)),
    "kernel": ({"family": KernelFamily(n_centres=40), "complexity_penalty": 0.0}, (2,)),
}


def _of_table(
    name: str,
    table: dict[str, tuple[dict[str, Any], Sequence[int]]],
    estimator: Callable[[int], Any],
    defaults: dict[str, Any],
    promises: Callable[[str, dict[str, Any]], dict[str, bool]],
) -> list[Case]:
    """A case for each setting of a table and each of its numbers of classes."""
    return [
        _boosted(f"{name} {setting}", estimator(n), defaults, parameters, n, **promises(setting, parameters))
        for setting, (parameters, numbers) in table.items()
        for n in numbers
    ]


def _sourced() -> list[Case]:
    def promises(name: str, settings: dict[str, Any]) -> dict[str, bool]:
        return {"random": name == "default", "descends": name not in ("decay", "kernel"), "sourced": True}

    def make(**parameters: Any) -> Any:
        return with_sources(MultiSourceBoostClassifier(**parameters))

    return _of_table("Sources", SOURCED, lambda n: make, {"n_rounds": 5, "random_state": 3}, promises)


def _drawn(random: str) -> Callable[[str, dict[str, Any]], dict[str, bool]]:
    """Rows are drawn unless all of them learn, and another seed matters in the setting of this name."""
    return lambda name, settings: {"random": name == random, "draws_rows": settings.get("subsample") != 1.0}


def _sparse() -> list[Case]:
    def case(name: str, estimator: Any, n_classes: int, *, trees: bool = False, **settings: Any) -> Case:
        return Case(
            f"{estimator.__name__} {name}, {n_classes} classes",
            lambda **changes: estimator(**with_tree_options({**settings, **changes})),
            n_classes,
            tasks=estimator in (MultiTaskSparseBoostClassifier, MultiTaskSparseBoostClassifierCV),
            missing=False,
            categories=False,
            folds="n_alphas" in settings,
            sums_of_floats=True,
            boosted=False,
            splits=trees,
        )

    induced: dict[str, Any] = {"alpha": 0.01, "features_per_round": 4, "n_rounds": 4, "tol": 1e-2}
    folds: dict[str, Any] = {"n_alphas": 4, "cv": 3}
    return [
        case("given", SparseBoostClassifier, 2, alpha=0.02),
        case("exponential", SparseBoostClassifier, 2, alpha=0.02, loss="exponential"),
        case("given", SparseBoostClassifier, 3, alpha=0.02),
        case("l1/linf", SparseBoostClassifier, 4, alpha=0.05, penalty="l1/linf"),
        case("smooth_l1", SparseBoostClassifier, 3, alpha=0.05, penalty="smooth_l1"),
        case("gradboost", SparseBoostClassifier, 2, alpha=0.02, update="gradboost", penalty="l1", tol=1e-4),
        case("stumps", SparseBoostClassifier, 2, family="stumps", **induced, trees=True),
        case("trees", SparseBoostClassifier, 3, family="trees", **induced, trees=True),
        case("products", SparseBoostClassifier, 2, family="products", **induced),
        case("kernel", SparseBoostClassifier, 2, family="kernel", **induced),
        case("given", SparseBoostRegressor, 0, alpha=0.01),
        case("given", MultiTaskSparseBoostClassifier, 2, alpha=0.02),
        case("cross-validation", SparseBoostClassifierCV, 2, **folds),
        case("cross-validation", SparseBoostClassifierCV, 3, **folds),
        case("cross-validation", SparseBoostRegressorCV, 0, **folds),
        case("cross-validation", MultiTaskSparseBoostClassifierCV, 2, **folds),
    ]


AGNOSTIC: dict[str, tuple[dict[str, Any], Sequence[int]]] = {
    "default": ({}, (2, 4)),
    "convex, mirror prox": ({"losses": ("cross_entropy", "hinge"), "solver": "mirror_prox"}, (2, 3)),
    "batches, mixtures": (
        {"losses": ("hinge", "l1"), "batch_size": 16, "mixtures": [[0.3, 0.7], [0.8, 0.2]], "norm_penalty": 0.01},
        (2, 3),
    ),
}


def _agnostic() -> list[Case]:
    def case(name: str, settings: dict[str, Any], n_classes: int) -> Case:
        return Case(
            f"Agnostic {name}, {n_classes} classes",
            lambda **changes: AgnosticClassifier(**{"n_rounds": 40, "random_state": 3, **settings, **changes}),
            n_classes,
            random="batch_size" in settings,
            missing=False,
            categories=False,
            sums_of_floats=True,
            boosted=False,
            splits=False,
            descends=False,
            draws_rows="batch_size" in settings,
        )

    return [case(name, settings, n) for name, (settings, numbers) in AGNOSTIC.items() for n in numbers]


def _searches() -> list[Case]:
    """Parameters of the search go to it, all others to its estimator."""

    def case(name: str, search: Any, estimator: Any, n_classes: int, penalties: list[float]) -> Case:
        own = set(search().get_params(deep=False))

        def make(**changes: Any) -> Any:
            inner = {"n_rounds": 3, "calibration": None, **{k: v for k, v in changes.items() if k not in own}}
            outer = {"param_grid": {"complexity_penalty": penalties}, "cv": 2, "random_state": 3}
            return search(estimator(**inner), **{**outer, **{k: v for k, v in changes.items() if k in own}})

        return Case(
            f"{name}, {n_classes} classes" if n_classes else name,
            make,
            n_classes,
            folds=True,
            boosted=False,
            draws_rows=True,
        )

    return [
        case("Search DeepBoost", DeepBoostClassifierCV, DeepBoostClassifier, 2, [0.005, 0.05]),
        case("Search RGB", RGBClassifierCV, RGBClassifier, 3, [0.05]),  # one setting, for its time,
    ]


def _projections() -> list[Case]:
    """One case, for its time; more classes and other kernels are in tests/estimators."""
    return [
        Case(
            "Projection, 2 classes",
            lambda **changes: SupervisedKernelProjection(**{"n_starts": 0, "rank": 3, **changes}),
            missing=False,
            categories=False,
            sums_of_floats=True,
            boosted=False,
            splits=False,
            importances=False,
        )
    ]


AGNOSTIC_BOOST: dict[str, tuple[dict[str, Any], Sequence[int]]] = {
    "default": ({"losses": ("cross_entropy", "hinge"), "tree_options": LOOSE}, (2, 3)),
    "four losses": ({"mu": 50.0}, (2,)),
    "all rows, mixtures": (
        {"losses": ("cross_entropy", "l1"), "mixtures": [[0.8, 0.2], [0.3, 0.7]], "subsample": 1.0},
        (2, 4),
    ),
    "early stopping": ({"losses": ("hinge", "l1"), "early_stopping": 5}, (2, 3)),
}


def _baselines() -> list[Case]:
    kinds = [
        *((kind, 8, (2, 4), True) for kind in (AdaBoostMHClassifier, SAMMEClassifier)),
        (MartiBoostClassifier, 5, (2,), False),
    ]
    return [
        _boosted(f"{kind.__name__}{name}", kind, {"n_rounds": n_rounds, "max_leaves": 4}, more, n, descends=descends)
        for name, more in (("", {}), (", watched", {"early_stopping": 2}))
        for kind, n_rounds, numbers, descends in kinds
        for n in numbers
    ]


CASES: list[Case] = [
    *_deepboost(),
    *_sourced(),
    *_softmax(),
    *_of_table(
        "RGB",
        RGB,
        lambda n: RGBClassifier if n else RGBRegressor,
        {"n_rounds": 5},
        _drawn("drawn rows and columns"),
    ),
    *_sparse(),
    *_agnostic(),
    *_of_table(
        "AgnosticBoost", AGNOSTIC_BOOST, lambda n: AgnosticBoostClassifier, {"n_rounds": 4}, _drawn("four losses")
    ),
    *_projections(),
    *_searches(),
    *_baselines(),
]


def over(promise: Callable[[Case], bool] = lambda case: True) -> Callable[[Any], Any]:
    """Runs a test for every case with a promise; `make test` has one of each kind and a twelfth of the others."""

    def decorate(test: Any) -> Any:
        first = _one_of_each(promise)
        cases = [case for case in CASES if promise(case)]
        return _parametrized(test, [(case, case in first or _in_turn(test, str(case), 12)) for case in cases])

    return decorate


def one_of_each(promise: Callable[[Case], bool] = lambda case: True) -> Callable[[Any], Any]:
    """Runs a test for the first case of every estimator and number of classes: what needs no setting in particular.

    `make test` has one of each way to read rows and a third of the others.
    """

    def decorate(test: Any) -> Any:
        cases = _one_of_each(promise)
        readers = _readers(cases)
        return _parametrized(test, [(case, case in readers or _in_turn(test, str(case), 3)) for case in cases])

    return decorate


def on_readers(kinds: Iterable[Any], promise: Callable[[Case], bool] = lambda case: True) -> Any:
    """Runs a test on every way to read rows, with every kind of input, and on the other estimators with one kind each.

    `make test` has all kinds for the first way, and a third of them for the others, each kind with as many. The test
    takes a case and a kind first. The pairs of a reader are one case of pytest; a note on the error names the pair.
    """
    kinds = list(kinds)

    def decorate(test: Any) -> Any:
        cases = _one_of_each(promise)
        readers = _readers(cases)
        groups = []
        for i, reader in enumerate(readers):
            now = [(reader, kind) for j, kind in enumerate(kinds) if i == 0 or (i + j) % 3 == 0]
            rest = [(reader, kind) for j, kind in enumerate(kinds) if i > 0 and (i + j) % 3 > 0]
            groups += [pytest.param(now, id=str(reader))] if now else []
            groups += [pytest.param(rest, id=f"{reader}, the rest", marks=pytest.mark.slow)] if rest else []
        others = [(case, kinds[_number(test, str(case)) % len(kinds)]) for case in cases if case not in readers]
        groups += [pytest.param(others, id="others")] if others else []

        @functools.wraps(test)
        def run(*, pairs: list[tuple[Case, Any]], **fixtures: Any) -> None:
            for case, kind in pairs:
                try:
                    test(case, kind, **fixtures)
                except BaseException as error:
                    error.add_note(f"{case}: {kind}")
                    raise

        fixtures = list(inspect.signature(test).parameters.values())[2:]
        pairs = inspect.Parameter("pairs", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*fixtures, pairs])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("pairs", groups)(run)

    return decorate


def _parametrized(test: Any, cases: list[tuple[Case, bool]]) -> Any:
    """The test over the cases; those whose flag is not set are slow."""
    marked = [pytest.param(case, id=str(case), marks=() if now else pytest.mark.slow) for case, now in cases]
    return pytest.mark.parametrize("case", marked)(test)


def _number(test: Any, name: str) -> int:
    """A number for a test and a case, the same in every run."""
    return zlib.crc32(f"{test.__name__} {name}".encode())


def _in_turn(test: Any, name: str, one_in: int) -> bool:
    return _number(test, name) % one_in == 0


def _readers(cases: list[Case]) -> list[Case]:
    """The first case of each way to read rows; boosted estimators share theirs."""
    first: dict[tuple[object, ...], Case] = {}
    for case in cases:
        own = "" if case.boosted else type(case.make()).__name__
        first.setdefault((own, case.classifies, case.sourced, case.missing), case)
    return list(first.values())


def _one_of_each(promise: Callable[[Case], bool]) -> list[Case]:
    first: dict[tuple[str, bool, bool], Case] = {}
    for case in CASES:
        key = (type(case.make()).__name__, case.n_classes > 2, case.n_classes > 10)
        if promise(case) and not key[2]:
            first.setdefault(key, case)
    return list(first.values())
