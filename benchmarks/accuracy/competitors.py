"""Who takes part: RadBoost with named parameters, and the peers at their defaults, one thread each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Competitor:
    """A named estimator; `key` changes with whatever may change its results."""

    name: str
    library: str
    make: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tag: str = ""

    @property
    def key(self) -> str:
        """Maker, library version, parameters and tag, hashed."""
        facts = [self.make.__name__, self.library, version(self.library), dict(self.parameters), self.tag]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def build(self, seed: int) -> Any:
        """A fresh estimator."""
        return self.make(seed, **self.parameters)


def deepboost(seed: int, **parameters: Any) -> Any:
    from radboost import DeepBoostClassifier

    return DeepBoostClassifier(**({"random_state": seed, "n_jobs": 1} | parameters))


def deepboost_paper(seed: int, **parameters: Any) -> Any:
    from radboost import DeepBoostClassifier

    return DeepBoostClassifier.paper(**({"random_state": seed, "n_jobs": 1} | parameters))


def lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1)


def catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False)


def hist_gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def adaboost(seed: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    # the only one that refuses missing values
    return make_pipeline(SimpleImputer(strategy="median"), AdaBoostClassifier(random_state=seed))


def random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1)


#: the slowest last
PEERS = (
    Competitor("AdaBoost", "scikit-learn", adaboost),
    Competitor("RandomForest", "scikit-learn", random_forest),
    Competitor("HistGradientBoosting", "scikit-learn", hist_gradient_boosting),
    Competitor("LightGBM", "lightgbm", lightgbm),
    Competitor("XGBoost", "xgboost", xgboost),
    Competitor("CatBoost", "catboost", catboost),
)
