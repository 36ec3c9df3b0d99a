"""The other libraries with trees that grow leaf by leaf to a number of leaves, at whatever depth: as RGB's do."""

from typing import Any

import lightgbm
import numpy as np
import xgboost
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from benchmarks.competitors.hist_gradient_boosting import HistGradientBoosting
from benchmarks.competitors.lightgbm import LightGBM, LightGBMQuantised
from benchmarks.competitors.xgboost import XGBoost
from benchmarks.settings import Settings


class LeafWiseXGBoost(XGBoost):
    """`grow_policy="lossguide"`."""

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return xgboost.XGBClassifier(
            n_estimators=settings.rounds,
            max_depth=0,
            max_leaves=settings.leaves,
            grow_policy="lossguide",
            max_bin=settings.bins,
            learning_rate=0.1,
            tree_method="hist",
            n_jobs=settings.threads,
            random_state=settings.seed,
        ).fit(X, y)


class LeafWiseLightGBM(LightGBM):
    """Its own way to grow."""

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return lightgbm.LGBMClassifier(
            n_estimators=settings.rounds,
            num_leaves=settings.leaves,
            max_bin=settings.bins,
            learning_rate=0.1,
            n_jobs=settings.threads,
            random_state=settings.seed,
            verbosity=-1,
            **self.options,
        ).fit(X, y)


class LeafWiseLightGBMQuantised(LeafWiseLightGBM):
    """The same with gradients of a few bits."""

    name = LightGBMQuantised.name
    options = LightGBMQuantised.options


class LeafWiseHistGradientBoosting(HistGradientBoosting):
    """Its own way to grow."""

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=settings.rounds,
            max_leaf_nodes=settings.leaves,
            max_bins=settings.bins,
            learning_rate=0.1,
            early_stopping=False,
            random_state=settings.seed,
        )
        with threadpool_limits(settings.threads):
            return model.fit(X, y)


LEAF_WISE = (LeafWiseXGBoost(), LeafWiseLightGBM(), LeafWiseLightGBMQuantised(), LeafWiseHistGradientBoosting())
