"""Estimators for a table: the choice, its settings, and fits with progress."""

from __future__ import annotations

import difflib
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

import radboost
from radboost._names import ours_for
from radboost._typing import FloatArray
from radboost.cli.console import Console
from radboost.cli.costs import read_costs
from radboost.cli.options import FitOptions
from radboost.trees import TreeOptions
from radboost.tuning.results import differing

if TYPE_CHECKING:
    from radboost.cli.source import RowSource

ESTIMATORS = ("auto", "deepboost", "softmax", "rgb", "sparse")
SECONDS = {"quick": 60.0, "thorough": 600.0}
_NAMES = {
    ("deepboost", "classes"): "DeepBoostClassifier",
    ("softmax", "classes"): "SoftmaxBoostClassifier",
    ("rgb", "classes"): "RGBClassifier",
    ("rgb", "numbers"): "RGBRegressor",
    ("sparse", "classes"): "SparseBoostClassifierCV",
    ("sparse", "numbers"): "SparseBoostRegressorCV",
}
# Task -> name of --metric -> measure of the report, and scorer of scikit-learn for searches and early stopping.
METRICS = {
    "classes": {
        "error": ("error", "accuracy"),
        "accuracy": ("error", "accuracy"),
        "auc": ("AUC", "roc_auc"),
        "balanced_accuracy": ("balanced accuracy", "balanced_accuracy"),
        "precision": ("precision", "precision"),
        "recall": ("recall", "recall"),
        "f1": ("F1", "f1"),
        "log_loss": ("log loss", "neg_log_loss"),
    },
    "numbers": {
        "rmse": ("RMSE", "neg_root_mean_squared_error"),
        "mae": ("MAE", "neg_mean_absolute_error"),
        "r2": ("R squared", "r2"),
    },
}


@dataclass(frozen=True)
class Plan:
    """Estimator with its settings, and the search for settings."""

    name: str
    form: str
    """Input of the estimator: "table", or "numbers" alone."""
    estimator: Any
    search: Any
    seconds: float | None
    measure: str | None = None
    """Headline measure of the evaluation, by --metric."""
    scorer: str | None = None
    """Name of a scorer of scikit-learn, for searches and early stopping."""

    @property
    def by_parts(self) -> bool:
        """True if the fit may read its rows by parts; searches, sparse models and scorers need them in memory."""
        stops = self.scorer is not None and _stops_early(self.estimator)
        return self.search is None and self.form == "table" and not stops

    @property
    def about(self) -> str:
        """Name of the estimator, and the time of the search."""
        if self.seconds is not None:
            return f"{self.name}, settings searched for about {self.seconds:g} seconds"
        return self.name


def plan_fit(options: FitOptions, source: RowSource, console: Console) -> Plan:
    """Estimator for the task with its settings, by the options."""
    task, classes = source.schema.task, source.classes() if source.schema.task == "classes" else None
    cost = None if options.cost is None else read_costs(options.cost, source.classes(), task)
    wanted, tune = options.estimator, options.tune
    if wanted not in ESTIMATORS:
        raise ValueError(f"--estimator is {wanted!r}; known are {', '.join(ESTIMATORS)}")
    if cost is not None and wanted == "auto":
        wanted = "softmax"
    if wanted == "auto":
        wanted = "deepboost" if task == "classes" else "rgb"
    name = _NAMES.get((wanted, task))
    if name is None:
        possible = " or ".join(one for one, of in _NAMES if of == task)
        raise ValueError(
            f"--estimator {wanted} predicts classes, and the target holds numbers; use --estimator {possible}, or "
            "--task classes if the numbers are names"
        )
    if cost is not None and wanted != "softmax":
        raise ValueError(f"--cost needs --estimator softmax, which learns from costs; got --estimator {wanted}")
    estimator = getattr(radboost, name)(random_state=options.seed, n_jobs=options.jobs)
    if cost is not None:
        estimator.set_params(cost=cost)
    if options.class_weight is not None:
        estimator.set_params(class_weight=read_class_weight(options.class_weight, classes))
    for given in options.settings:
        set_parameter(estimator, given)
    measure, scorer = (None, None) if options.metric is None else known_metric(options.metric, task)
    form = "numbers" if wanted == "sparse" else "table"
    if wanted == "sparse" and tune is not None:
        console.note("sparse models always choose their penalty by cross-validation, so that --tune changes nothing")
        tune = None
    if tune is None:
        return Plan(name, form, estimator, None, None, measure, scorer)
    seconds = SECONDS[tune]
    search = getattr(radboost, f"{name}CV")(
        clone(estimator), random_state=options.seed, n_jobs=options.jobs, time_budget=seconds
    )
    return Plan(name, form, estimator, search, seconds, measure, scorer)


def known_metric(name: str, task: str) -> tuple[str, str]:
    """Measure and scorer of a --metric."""
    known = METRICS[task]
    chosen = name.lower().replace("-", "_").replace("roc_", "")
    if chosen not in known:
        raise ValueError(f"--metric is {name!r}; known for {task} are {', '.join(known)}")
    return known[chosen]


def set_parameter(estimator: Any, given: str) -> None:
    """Apply --set NAME=VALUE: a parameter or a tree option; the value is JSON, or else text."""
    name, sign, text = (part.strip() for part in given.partition("="))
    known = estimator.get_params(deep=False)
    if not sign or not name:
        raise ValueError(f"--set {given!r}: give a parameter with its value, such as max_depth=3")
    try:
        value = json.loads({"None": "null", "True": "true", "False": "false"}.get(text, text))
    except json.JSONDecodeError:
        value = text
    if name not in known and name in estimator._tree_options_read:
        options = known["tree_options"] if isinstance(known["tree_options"], TreeOptions) else TreeOptions()
        estimator.set_params(tree_options=replace(options, **{name: value}))
        return
    if name not in known:
        called = [one for one in ours_for(name) if one in known]
        meant = called or difflib.get_close_matches(name, [*known, *estimator._tree_options_read], 2)
        advice = f"did you mean {' or '.join(meant)}?" if meant else f"its parameters are {', '.join(known)}"
        raise ValueError(f"--set {name}: {type(estimator).__name__} has no such parameter; {advice}")
    estimator.set_params(**{name: value})


def read_class_weight(given: str, classes: npt.NDArray[Any] | None) -> Any:
    """Either "balanced", or weights as CLASS=WEIGHT,... or as a JSON object; classes without one have 1."""
    if classes is None:
        raise ValueError("--class-weight is for classes, and the target holds numbers; use --weights for rows")
    if given == "balanced":
        return given
    try:
        pairs = json.loads(given).items() if given.lstrip().startswith("{") else _pairs(given)
        weights = {str(name): float(weight) for name, weight in pairs}
    except (ValueError, TypeError) as error:
        raise ValueError(f"--class-weight {given!r}: give balanced, or CLASS=WEIGHT,CLASS=WEIGHT") from error
    by_text = {str(label): label for label in classes.tolist()}
    for name, weight in weights.items():
        if name not in by_text:
            raise ValueError(f"--class-weight: {name!r} is none of the classes {', '.join(by_text)}")
        if not 0.0 <= weight < float("inf"):
            raise ValueError(f"--class-weight: {name} has the weight {weight:g}; give one that is not negative")
    return {by_text[name]: weight for name, weight in weights.items()}


def _pairs(given: str) -> list[list[str]]:
    return [part.strip().rsplit("=", 1) for part in given.split(",")]


def _stops_early(estimator: Any) -> bool:
    return getattr(estimator, "early_stopping", False) not in (None, False)


def scorer_of(name: str, y: npt.NDArray[Any]) -> Any:
    """Scorer of scikit-learn: with two classes for the rare one, with more for the mean over the classes."""
    labels, counts = np.unique(y, return_counts=True)
    two = len(labels) == 2
    if name in ("precision", "recall", "f1"):
        from sklearn import metrics  # which takes a while to load

        asked: dict[str, Any] = {"average": "macro"}
        if two:
            asked = {"pos_label": labels[int(counts[0] >= counts[1])]}
        return metrics.make_scorer(getattr(metrics, f"{name}_score"), zero_division=0.0, **asked)
    return "roc_auc_ovr" if name == "roc_auc" and not two else name


def fit_and_choose(
    plan: Plan, X: Any, y: npt.NDArray[Any], weights: FloatArray | None, title: str, console: Console
) -> tuple[Any, Any]:
    """Fitted model or search, and the unfitted estimator with the chosen settings."""
    if plan.search is None:
        return fit_once(plan.estimator, X, y, weights, title, console, plan.scorer), plan.estimator
    began = time.monotonic()
    with console.progress(f"{title}, about {plan.seconds:g} seconds"), console.warnings_as_notes():
        search = clone(plan.search)
        if plan.scorer is not None:
            search.set_params(scoring=scorer_of(plan.scorer, y))
        search.fit(X, y, weights)
    if search.n_splits_:  # otherwise nothing was compared, and a note says so
        console.say(_search_text(search, time.monotonic() - began))
    return search, clone(search.best_estimator_)


def search_facts(search: Any) -> dict[str, Any]:
    """Facts about a search, for JSON."""
    return {
        "settings": len(search.cv_results_["params"]),
        "splits": search.n_splits_,
        "is_default": search.best_index_ == 0,
        "chosen": search.best_params_,
    }


def _search_text(search: Any, seconds: float) -> str:
    """Line about a search; its first setting is the default one."""
    results, best = search.cv_results_, search.best_index_
    tried = f"search: {len(results['params'])} settings compared by cross-validation in {seconds:.0f} seconds"
    if best == 0:
        return f"{tried}; the default one is kept, with {results['n_rounds'][0]} rounds"
    changed = [words[best] for words in differing(results) if words[best] and words[best] != words[0]]
    return f"{tried}; chosen in place of the default one: {', '.join(changed)}"


def fit_once(
    estimator: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: FloatArray | None,
    title: str,
    console: Console,
    scorer: str | None = None,
) -> Any:
    """Fitted copy of an estimator; early stopping uses the scorer, if there is one."""
    model = clone(estimator)
    asked = {} if scorer is None or not _stops_early(model) else {"eval_metric": scorer_of(scorer, y)}
    with console.progress(title), console.warnings_as_notes():
        return model.fit(X, y, weights, **asked)
