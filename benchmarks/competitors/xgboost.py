"""XGBoost with its histogram method."""

from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


class XGBoost(Competitor):
    """Its scikit-learn interface for fitting, `inplace_predict` for scoring."""

    name = "XGBoost"

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return xgboost.XGBClassifier(
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            max_bin=settings.bins,
            learning_rate=0.1,
            tree_method="hist",
            n_jobs=settings.threads,
            random_state=settings.seed,
        ).fit(X, y)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return xgboost.QuantileDMatrix(X, y, max_bin=settings.bins, nthread=settings.threads)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        booster = model.get_booster()
        booster.set_param({"nthread": settings.threads})
        result: NDArray[Any] = booster.inplace_predict(X, predict_type="margin")
        return result

    def trees(self, model: Any) -> int:
        return self.rounds(model) * (1 if model.n_classes_ == 2 else int(model.n_classes_))

    def rounds(self, model: Any) -> int:
        return int(model.get_booster().num_boosted_rounds())
