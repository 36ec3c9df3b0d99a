"""CatBoost."""

from typing import Any

import catboost
import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


class CatBoost(Competitor):
    """Its fastest training: plain boosting on all rows, one Newton step for the leaves, no noise on the scores.

    All nodes of a level ask the same question, and with several classes one tree serves all of them.
    """

    name = "CatBoost"

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return catboost.CatBoostClassifier(
            iterations=settings.rounds,
            depth=settings.depth,
            border_count=settings.bins - 1,
            learning_rate=0.1,
            boosting_type="Plain",
            bootstrap_type="No",
            leaf_estimation_iterations=1,
            random_strength=0,
            thread_count=settings.threads,
            random_seed=settings.seed,
            allow_writing_files=False,
            verbose=False,
        ).fit(X, y)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        result: NDArray[Any] = model.predict(X, prediction_type="RawFormulaVal", thread_count=settings.threads)
        return result

    def trees(self, model: Any) -> int:
        return int(model.tree_count_)
