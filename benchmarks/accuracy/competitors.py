"""Estimators whose accuracy is compared, one thread each: RadBoost with named parameters, and other libraries."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any
from unittest import mock

import radboost
from benchmarks.accuracy.tuning import ALWAYS, SPACES, Search
from benchmarks.competitors import (
    adaboost,
    catboost,
    hist_gradient_boosting,
    lightgbm,
    random_forest,
    xgboost,
)
from radboost.trees import with_tree_options


@dataclass(frozen=True)
class Maker:
    """A function (seed, **parameters) -> an estimator of RadBoost; with `paper` the published algorithm."""

    estimator: str
    paper: bool = False

    def __call__(self, seed: int, **parameters: Any) -> Any:
        made = getattr(radboost, self.estimator)
        given = with_tree_options({"random_state": seed, "n_jobs": 1} | parameters)
        return made.paper(**given) if self.paper else made(**given)


class OnProcessorTime:
    """A search whose budget and estimates count seconds of the processor, as those of the other libraries do."""

    def __init__(self, search: Any) -> None:
        self._search = search

    def fit(self, X: Any, y: Any) -> Any:
        from radboost.tuning import bench, search

        clock = SimpleNamespace(monotonic=time.process_time, perf_counter=time.process_time)
        with mock.patch.object(bench, "time", clock), mock.patch.object(search, "time", clock):
            self._search.fit(X, y)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._search, name)


@dataclass(frozen=True)
class SearchMaker(Maker):
    """A function (seed, **parameters) -> a search of RadBoost on the clock of the processor."""

    def __call__(self, seed: int, **parameters: Any) -> Any:
        return OnProcessorTime(super().__call__(seed, **parameters))


@dataclass(frozen=True)
class PrunedMaker(Maker):
    """A function (seed, max_trees, **parameters) -> an estimator that prunes to this fraction of its trees."""

    def __call__(self, seed: int, max_trees: float = 0.2, **parameters: Any) -> Any:
        return Pruned(super().__call__(seed, **parameters), max_trees)


class Pruned:
    """An estimator that keeps a fraction of its trees, chosen on the training rows."""

    def __init__(self, estimator: Any, fraction: float) -> None:
        self._estimator, self._fraction = estimator, fraction

    def fit(self, X: Any, y: Any) -> Any:
        whole = self._estimator.fit(X, y)
        n_trees = max(1, int(self._fraction * len(whole.ensemble_)))
        self._estimator = whole.prune(X, y, max_trees=n_trees)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)


@dataclass(frozen=True)
class Competitor:
    """A named estimator; `key` changes with whatever may change its results."""

    name: str
    library: str  # as pip calls it
    make: Callable[..., Any]  # (seed, **parameters) -> estimator
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budget: float = 0.0  # seconds for choosing parameters by Optuna inside the training part; 0 for none

    @property
    def version(self) -> str:
        """Version of the library that is installed."""
        return version(self.library)

    @property
    def key(self) -> str:
        """Hash of maker, library version, parameters, budget and what is searched."""
        made = repr(self.make) if isinstance(self.make, Maker) else f"{self.make.__module__}.{self.make.__name__}"
        facts: list[Any] = [made, self.library, self.version, dict(self.parameters)]
        if self.budget:
            facts += [self.budget, SPACES[self.name], ALWAYS.get(self.name)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def build(self, seed: int) -> Any:
        """Make a fresh estimator."""
        if self.budget:
            return Search(self.name, lambda **setting: self.make(seed, **setting), self.budget, seed)
        return self.make(seed, **self.parameters)


#: other libraries, the slowest last
PEERS = (
    Competitor("RandomForest", "scikit-learn", random_forest.classifier),
    Competitor("HistGradientBoosting", "scikit-learn", hist_gradient_boosting.classifier),
    Competitor("LightGBM", "lightgbm", lightgbm.classifier),
    Competitor("XGBoost", "xgboost", xgboost.classifier),
    Competitor("CatBoost", "catboost", catboost.classifier),
)
ADABOOST = Competitor("AdaBoost", "scikit-learn", adaboost.classifier)
DEEPBOOST, SOFTMAX, RGB = (
    Competitor(name, "radboost", Maker(f"{name}Classifier")) for name in ("DeepBoost", "SoftmaxBoost", "RGB")
)
DEEPBOOST_PAPER, SOFTMAX_PAPER = (
    Competitor(f"{one.name} as in the paper", "radboost", Maker(f"{one.name}Classifier", paper=True))
    for one in (DEEPBOOST, SOFTMAX)
)
RGB_LINE_SEARCH = replace(RGB, name="RGB with a line search", parameters={"step": "line_search", "learning_rate": 0.05})
#: estimators that candidates may be
MAKERS = {one.name: one.make for one in (DEEPBOOST, SOFTMAX, RGB)} | {
    "pruned DeepBoost": PrunedMaker("DeepBoostClassifier")
}


def candidate(name: str, usual: str, given: Mapping[str, Any]) -> Competitor:
    """Make an estimator with other parameters; "of" among them names its maker, where it is not the usual one."""
    parameters = {key: value for key, value in given.items() if key != "of"}
    return Competitor(name, "radboost", MAKERS[given.get("of", usual)], parameters)


def ours(suite: str) -> list[Competitor]:
    """List RadBoost at its defaults and as in the papers; the estimator that the suite is about comes first."""
    if suite == "fresh":
        return [DEEPBOOST, SOFTMAX, RGB]
    if suite == "softmax":
        return [SOFTMAX, SOFTMAX_PAPER, DEEPBOOST]
    return [DEEPBOOST, DEEPBOOST_PAPER, RGB, RGB_LINE_SEARCH]


def peers(suite: str) -> list[Competitor]:
    """List the other libraries at their defaults; AdaBoost over stumps has no chance where classes are many."""
    return [ADABOOST, *PEERS] if suite == "two" else list(PEERS)


def tuned(budget: float) -> list[Competitor]:
    """List RadBoost's own searches, then the other libraries by Optuna, each for these seconds of the processor."""
    names = ("DeepBoostClassifierCV", "RGBClassifierCV")
    searches = [Competitor(name, "radboost", SearchMaker(name), {"time_budget": budget}) for name in names]
    return [*searches, *(replace(peer, budget=budget) for peer in PEERS)]
