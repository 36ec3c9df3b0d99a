"""Who takes part: RadBoost with named parameters, and the peers, one thread each."""

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

from benchmarks.accuracy.tuning import ALWAYS, SPACES, Searched


@dataclass(frozen=True)
class Competitor:
    """A named estimator; `key` changes with whatever may change its results."""

    name: str
    library: str
    make: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tag: str = ""
    budget: float = 0.0
    """Seconds for choosing parameters by Optuna inside the training part; 0 for none."""

    @property
    def version(self) -> str:
        """Of the library that is installed."""
        return version(self.library)

    @property
    def key(self) -> str:
        """Maker, library version, parameters, tag, budget and what is searched, hashed."""
        facts: list[Any] = [self.make.__name__, self.library, self.version, dict(self.parameters), self.tag]
        if self.budget:
            facts += [self.budget, repr(SPACES[self.name]), ALWAYS.get(self.name)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def build(self, seed: int) -> Any:
        """A fresh estimator."""
        if self.budget:
            return Searched(self.name, lambda **setting: self.make(seed, **setting), self.budget, seed)
        return self.make(seed, **self.parameters)


def deepboost(seed: int, **parameters: Any) -> Any:
    from radboost import DeepBoostClassifier
    from radboost.trees import with_tree_options

    return DeepBoostClassifier(**with_tree_options({"random_state": seed, "n_jobs": 1} | parameters))


def deepboost_paper(seed: int, **parameters: Any) -> Any:
    from radboost import DeepBoostClassifier
    from radboost.trees import with_tree_options

    return DeepBoostClassifier.paper(**with_tree_options({"random_state": seed, "n_jobs": 1} | parameters))


def softmax_boost(seed: int, **parameters: Any) -> Any:
    from radboost import SoftmaxBoostClassifier

    return SoftmaxBoostClassifier(**({"random_state": seed, "n_jobs": 1} | parameters))


def softmax_boost_paper(seed: int, **parameters: Any) -> Any:
    from radboost import SoftmaxBoostClassifier

    return SoftmaxBoostClassifier.paper(**({"random_state": seed, "n_jobs": 1} | parameters))


def rgb(seed: int, **parameters: Any) -> Any:
    from radboost import RGBClassifier

    return RGBClassifier(**({"random_state": seed, "n_jobs": 1} | parameters))


def lightgbm(seed: int, **parameters: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1, **parameters)


def xgboost(seed: int, **parameters: Any) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, **parameters)


def catboost(seed: int, **parameters: Any) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False, **parameters)


def hist_gradient_boosting(seed: int, **parameters: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, **parameters)


def adaboost(seed: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    # the only one that refuses missing values
    return make_pipeline(SimpleImputer(strategy="median"), AdaBoostClassifier(random_state=seed))


def random_forest(seed: int, **parameters: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1, **parameters)


#: the slowest last
PEERS = (
    Competitor("RandomForest", "scikit-learn", random_forest),
    Competitor("HistGradientBoosting", "scikit-learn", hist_gradient_boosting),
    Competitor("LightGBM", "lightgbm", lightgbm),
    Competitor("XGBoost", "xgboost", xgboost),
    Competitor("CatBoost", "catboost", catboost),
)


#: estimators that candidates may be
MAKERS = {"DeepBoost": deepboost, "SoftmaxBoost": softmax_boost, "RGB": rgb}


def candidate(name: str, usual: str, given: Mapping[str, Any], tag: str = "") -> Competitor:
    """An estimator with other parameters; "of" among them says which, where it is not the usual one."""
    parameters = {key: value for key, value in given.items() if key != "of"}
    return Competitor(name, "radboost", MAKERS[given.get("of", usual)], parameters, tag)


def ours(suite: str, tag: str = "") -> list[Competitor]:
    """RadBoost at its defaults and as in the papers; what the suite is about comes first."""
    deep = [
        Competitor("DeepBoost", "radboost", deepboost, tag=tag),
        Competitor("DeepBoost as in the paper", "radboost", deepboost_paper, tag=tag),
    ]
    if suite == "fresh":
        others = [("SoftmaxBoost", softmax_boost), ("RGB", rgb)]
        return [deep[0], *(Competitor(name, "radboost", make, tag=tag) for name, make in others)]
    if suite != "softmax":
        searching = {"step": "line_search", "learning_rate": 0.05}
        return [
            *deep,
            Competitor("RGB", "radboost", rgb, tag=tag),
            Competitor("RGB with a line search", "radboost", rgb, searching, tag),
        ]
    return [
        Competitor("SoftmaxBoost", "radboost", softmax_boost, tag=tag),
        Competitor("SoftmaxBoost as in the paper", "radboost", softmax_boost_paper, tag=tag),
        deep[0],
    ]


def peers(suite: str) -> list[Competitor]:
    """The other libraries at their defaults; AdaBoost over stumps is no contender where classes are many."""
    return [Competitor("AdaBoost", "scikit-learn", adaboost), *PEERS] if suite == "two" else list(PEERS)


def deepboost_cv(seed: int, **parameters: Any) -> Any:
    from radboost import DeepBoostClassifierCV

    return _OnProcessorTime(DeepBoostClassifierCV(random_state=seed, n_jobs=1, **parameters))


def rgb_cv(seed: int, **parameters: Any) -> Any:
    from radboost import RGBClassifierCV

    return _OnProcessorTime(RGBClassifierCV(random_state=seed, n_jobs=1, **parameters))


class _OnProcessorTime:
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


def tuned_ours(budget: float, tag: str = "") -> list[Competitor]:
    """RadBoost's own searches, for so many seconds of the processor."""
    return [
        Competitor("DeepBoostClassifierCV", "radboost", deepboost_cv, {"time_budget": budget}, tag),
        Competitor("RGBClassifierCV", "radboost", rgb_cv, {"time_budget": budget}, tag),
    ]


def tuned_peers(budget: float) -> list[Competitor]:
    """The other libraries, each searched for so many seconds."""
    return [replace(peer, budget=budget) for peer in PEERS]


def at_defaults(tuned: Competitor) -> Competitor:
    """The same learner without a search."""
    plain = {deepboost_cv: ("DeepBoost", deepboost), rgb_cv: ("RGB", rgb)}.get(tuned.make)
    return replace(tuned, budget=0.0) if plain is None else Competitor(plain[0], "radboost", plain[1], tag=tuned.tag)
