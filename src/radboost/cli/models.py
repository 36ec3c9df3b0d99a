"""Which estimator fits a table, and its fits with what a command shows meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

import radboost
from radboost._typing import FloatArray
from radboost.cli.talking import Talk
from radboost.tuning.results import differing

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


@dataclass(frozen=True)
class Plan:
    """An estimator with its settings, and whether and how long they are searched for."""

    name: str
    form: str
    """What it sees: "table", or "numbers" alone."""
    estimator: Any
    search: Any
    seconds: float | None

    @property
    def about(self) -> str:
        """In a few words."""
        if self.seconds is not None:
            return f"{self.name}, settings searched for about {self.seconds:g} seconds"
        return self.name


def plan_fit(wanted: str, task: str, *, tune: str | None, cost: Any, seed: int, jobs: int | None, talk: Talk) -> Plan:
    """The estimator that is wanted, of those that fit the task."""
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
    estimator = getattr(radboost, name)(random_state=seed, n_jobs=jobs)
    if cost is not None:
        estimator.set_params(cost=cost)
    form = "numbers" if wanted == "sparse" else "table"
    if wanted == "sparse" and tune is not None:
        talk.note("sparse models always choose their penalty by cross-validation, so that --tune changes nothing")
        tune = None
    if tune is None:
        return Plan(name, form, estimator, None, None)
    seconds = SECONDS[tune]
    search = getattr(radboost, f"{name}CV")(clone(estimator), random_state=seed, n_jobs=jobs, time_budget=seconds)
    return Plan(name, form, estimator, search, seconds)


def fit_and_choose(
    plan: Plan, X: Any, y: npt.NDArray[Any], weights: FloatArray | None, title: str, talk: Talk
) -> tuple[Any, Any]:
    """A fitted model, or the fitted search for one; and the estimator with the settings that it was fitted with."""
    if plan.search is None:
        return fit_once(plan.estimator, X, y, weights, title, talk), plan.estimator
    began = time.monotonic()
    with talk.progress(f"{title}, about {plan.seconds:g} seconds"), talk.warnings_as_notes():
        search = clone(plan.search).fit(X, y, weights)
    if search.n_splits_:  # otherwise nothing was compared, and a note says so
        talk.say(_found(search, time.monotonic() - began))
    return search, clone(search.best_estimator_)


def search_facts(search: Any) -> dict[str, Any]:
    """The same for programs."""
    return {
        "settings": len(search.cv_results_["params"]),
        "splits": search.n_splits_,
        "is_default": search.best_index_ == 0,
        "chosen": search.best_params_,
    }


def _found(search: Any, seconds: float) -> str:
    """What a search without a list of settings did; the default setting is the first that it tries."""
    results, best = search.cv_results_, search.best_index_
    tried = f"search: {len(results['params'])} settings compared by cross-validation in {seconds:.0f} seconds"
    if best == 0:
        return f"{tried}; the default one is kept, with {results['n_rounds'][0]} rounds"
    changed = [words[best] for words in differing(results) if words[best] and words[best] != words[0]]
    return f"{tried}; chosen in place of the default one: {', '.join(changed)}"


def fit_once(estimator: Any, X: Any, y: npt.NDArray[Any], weights: FloatArray | None, title: str, talk: Talk) -> Any:
    """A fitted copy of an estimator."""
    model = clone(estimator)
    with talk.progress(title) as watch, talk.warnings_as_notes():
        if "callbacks" in model.fit.__code__.co_varnames:
            return model.fit(X, y, weights, callbacks=[watch])
        return model.fit(X, y, weights)


def probabilities_of(model: Any, X: Any) -> FloatArray | None:
    """What a classifier has of them; None for a regressor, or where its loss has none."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)
