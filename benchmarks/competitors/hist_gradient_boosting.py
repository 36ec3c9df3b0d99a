"""scikit-learn's HistGradientBoosting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


def classifier(seed: int, **parameters: Any) -> Any:
    """Make the classifier at its defaults but for these parameters."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, **parameters)


def regressor() -> Any:
    """Make the regressor at its defaults."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=0)


class HistGradientBoosting(Competitor):
    """Histogram boosting without a parameter for threads: its OpenMP pool is limited from outside."""

    name = "HistGradientBoosting"
    package = "scikit-learn"

    def estimator(self, settings: Settings) -> Any:
        return classifier(
            settings.seed,
            max_iter=settings.rounds,
            max_depth=None if settings.leaf_wise else settings.depth,
            max_leaf_nodes=settings.leaves,
            max_bins=settings.bins,
            learning_rate=0.1,
            early_stopping=False,
        )

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        with threadpool_limits(settings.threads):
            return super().fit(X, y, settings)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        with threadpool_limits(settings.threads):
            return super().scores(model, X, settings)

    def trees(self, model: Any) -> int:
        return int(model.n_iter_ * model.n_trees_per_iteration_)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)
