"""Estimators for a table: the choice, its settings, and fits with progress."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

import radboost
from radboost._typing import FloatArray
from radboost.cli.console import Console
from radboost.trees import TreeOptions
from radboost.tuning.results import differing

if TYPE_CHECKING:
    from radboost.cli.options import FitOptions
    from radboost.cli.source import RowSource

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

    estimator: Any
    form: str
    """Input of the estimator: "table", or "numbers" alone."""
    search: Any = None
    measure: str | None = None
    """Headline measure of the evaluation, by --metric."""
    scorer: str | None = None
    """Name of a scorer of scikit-learn, for searches and early stopping."""

    @property
    def seconds(self) -> float | None:
        """Time of the search."""
        return None if self.search is None else float(self.search.time_budget)

    @property
    def by_parts(self) -> bool:
        """True if the fit may read its rows by parts; searches, sparse models and scorers need them in memory."""
        return self.search is None and self.form == "table" and not self.stops_by_scorer

    @property
    def stops_by_scorer(self) -> bool:
        """True if early stopping goes by --metric."""
        return self.scorer is not None and getattr(self.estimator, "early_stopping", False) not in (None, False)

    @property
    def about(self) -> str:
        """Name of the estimator, and the time of the search."""
        name = type(self.estimator).__name__
        return name if self.search is None else f"{name}, settings searched for about {self.seconds:g} seconds"


def plan_fit(options: FitOptions, source: RowSource, console: Console) -> Plan:
    """Estimator for the task with its settings, by the options."""
    task, wanted, tune = source.schema.task, options.estimator, options.tune
    classes = source.classes().tolist() if task == "classes" else []
    for option, given in (("--cost", options.cost), ("--class-weight", options.class_weight)):
        if given is not None and task == "numbers":
            raise ValueError(
                f"{option} is for classes, and the target holds numbers; leave it out, or use --task classes"
            )
    if wanted == "auto":
        wanted = "rgb" if task == "numbers" else "deepboost" if options.cost is None else "softmax"
    name = _NAMES.get((wanted, task))
    if name is None:
        possible = " or ".join(one for one, of in _NAMES if of == task)
        raise ValueError(
            f"--estimator {wanted} predicts classes, and the target holds numbers; use --estimator {possible}, or "
            "--task classes if the numbers are names"
        )
    settings = read_settings(getattr(radboost, name), options.settings or ())
    if options.cost is not None:
        if wanted != "softmax":
            raise ValueError(f"--cost needs --estimator softmax, which learns from costs; got --estimator {wanted}")
        settings["cost"] = read_costs(options.cost, classes)
    if options.class_weight is not None:
        settings["class_weight"] = read_class_weight(options.class_weight, classes)
    try:
        estimator = getattr(radboost, name)(**{"random_state": options.seed, "n_jobs": options.jobs, **settings})
    except TypeError as error:
        raise ValueError(f"--set: {error}") from error
    measure, scorer = (None, None) if options.metric is None else known_metric(options.metric, task)
    search = None
    if wanted == "sparse" and tune is not None:
        console.note("sparse models always choose their penalty by cross-validation, so that --tune changes nothing")
    elif tune is not None:
        search = getattr(radboost, f"{name}CV")(
            clone(estimator), random_state=options.seed, n_jobs=options.jobs, time_budget=SECONDS[tune]
        )
    return Plan(estimator, "numbers" if wanted == "sparse" else "table", search, measure, scorer)


def known_metric(name: str, task: str) -> tuple[str, str]:
    """Measure and scorer of a --metric."""
    known = METRICS[task]
    chosen = name.lower().replace("-", "_").replace("roc_", "")
    if chosen not in known:
        raise ValueError(f"--metric is {name!r}; known for {task} are {', '.join(known)}")
    return known[chosen]


def read_settings(kind: Any, given: Sequence[str]) -> dict[str, Any]:
    """Parameters by --set NAME=VALUE, and options of trees; a value is JSON, or else text."""
    values: dict[str, Any] = {}
    for one in given:
        name, sign, text = (part.strip() for part in one.partition("="))
        if not sign or not name:
            raise ValueError(f"--set {one!r}: give a parameter with its value, such as max_depth=3")
        try:
            values[name] = json.loads({"None": "null", "True": "true", "False": "false"}.get(text, text))
        except json.JSONDecodeError:
            values[name] = text
    of_trees = {name: values.pop(name) for name in {*values} & {*kind._tree_options_read} - {*kind().get_params()}}
    return {**values, "tree_options": TreeOptions(**of_trees)} if of_trees else values


def read_costs(given: str, classes: list[Any]) -> list[list[float]]:
    """Cost matrix written out, rows divided by ";" ("0,1;5,0"): a row for each true class, classes sorted."""
    n = len(classes)
    try:
        costs = [[float(cell) for cell in row.split(",")] for row in given.split(";")]
    except ValueError:
        costs = []
    if [len(row) for row in costs] != [n] * n:
        raise ValueError(
            f"--cost {given!r} is no matrix of {n} lines with {n} numbers each, divided by ';' and ',', for the "
            f"classes {', '.join(map(str, classes))}"
        )
    return costs


def read_class_weight(given: str, classes: list[Any]) -> Any:
    """Either "balanced", or weights as CLASS=WEIGHT,...; classes without one have 1."""
    if given == "balanced":
        return given
    known = {str(label): label for label in classes}
    try:
        pairs = [part.strip().rsplit("=", 1) for part in given.split(",")]
        weights = {name: float(weight) for name, weight in pairs}
    except ValueError as error:
        raise ValueError(f"--class-weight {given!r}: give balanced, or CLASS=WEIGHT,CLASS=WEIGHT") from error
    if strangers := [name for name in weights if name not in known]:
        raise ValueError(f"--class-weight: {strangers[0]!r} is none of the classes {', '.join(known)}")
    return {known[name]: weight for name, weight in weights.items()}


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
    model, asked, began = clone(plan.estimator if plan.search is None else plan.search), {}, time.monotonic()
    if plan.search is not None:
        title = f"{title}, about {plan.seconds:g} seconds"
        if plan.scorer is not None:
            model.set_params(scoring=scorer_of(plan.scorer, y))
    elif plan.scorer is not None and plan.stops_by_scorer:
        asked = {"eval_metric": scorer_of(plan.scorer, y)}
    with console.progress(title), console.warnings_as_notes():
        model.fit(X, y, weights, **asked)
    if plan.search is None:
        return model, plan.estimator
    if model.n_splits_:  # otherwise nothing was compared, and a note says so
        console.say(_search_text(model, time.monotonic() - began))
    return model, clone(model.best_estimator_)


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
