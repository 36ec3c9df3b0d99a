"""scikit-learn's HistGradientBoosting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


class HistGradientBoosting(Competitor):
    """It has no thread parameter: its OpenMP pool is limited from outside."""

    name = "HistGradientBoosting"

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=settings.rounds,
            max_depth=settings.depth,
            max_leaf_nodes=settings.leaves,
            max_bins=settings.bins,
            learning_rate=0.1,
            early_stopping=False,
            random_state=settings.seed,
        )
        with threadpool_limits(settings.threads):
            return model.fit(X, y)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        with threadpool_limits(settings.threads):
            result: NDArray[Any] = model.decision_function(X)
        return result

    def trees(self, model: Any) -> int:
        return int(model.n_iter_ * model.n_trees_per_iteration_)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)
