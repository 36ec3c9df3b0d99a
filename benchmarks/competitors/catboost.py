"""CatBoost."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings

ALWAYS: dict[str, Any] = {"thread_count": 1, "verbose": False, "allow_writing_files": False}


def classifier(seed: int, **parameters: Any) -> Any:
    """Make the classifier at its defaults but for these parameters."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, **ALWAYS | parameters)


def regressor() -> Any:
    """Make the regressor at its defaults."""
    from catboost import CatBoostRegressor

    return CatBoostRegressor(**ALWAYS)


class CatBoost(Competitor):
    """Fastest training: plain boosting on all rows, one Newton step for the leaves, no noise on the scores.

    All nodes of a level have the same split, and with several classes one tree serves all of them.
    """

    name = "CatBoost"
    package = "catboost"

    def estimator(self, settings: Settings) -> Any:
        return classifier(
            settings.seed,
            iterations=settings.rounds,
            depth=settings.depth,
            border_count=settings.bins - 1,
            learning_rate=0.1,
            boosting_type="Plain",
            bootstrap_type="No",
            leaf_estimation_iterations=1,
            random_strength=0,
            thread_count=settings.threads,
        )

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        return np.asarray(model.predict(X, prediction_type="RawFormulaVal", thread_count=settings.threads))

    def trees(self, model: Any) -> int:
        return int(model.tree_count_)
