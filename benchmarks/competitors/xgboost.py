"""XGBoost with its histogram method, also on Dask."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


def classifier(seed: int, **parameters: Any) -> Any:
    """Make the classifier at its defaults but for these parameters."""
    from xgboost import XGBClassifier

    return XGBClassifier(**{"random_state": seed, "n_jobs": 1} | parameters)


def regressor() -> Any:
    """Make the regressor at its defaults."""
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1)


class XGBoost(Competitor):
    """The scikit-learn interface for fitting, `inplace_predict` for scoring."""

    name = "XGBoost"
    package = "xgboost"

    def estimator(self, settings: Settings) -> Any:
        return classifier(settings.seed, n_jobs=settings.threads, **self._parameters(settings))

    def _parameters(self, settings: Settings) -> dict[str, Any]:
        parameters = {
            "n_estimators": settings.rounds,
            "max_depth": settings.depth,
            "max_bin": settings.bins,
            "learning_rate": 0.1,
            "tree_method": "hist",
        }
        if settings.leaf_wise:
            parameters |= {"max_depth": 0, "max_leaves": settings.leaves, "grow_policy": "lossguide"}
        return parameters

    def fit_on_dask(self, client: Any, X: Any, y: Any, settings: Settings) -> Any:
        """Fit Dask arrays that lie on the workers."""
        from xgboost.dask import DaskXGBClassifier

        estimator = DaskXGBClassifier(random_state=settings.seed, **self._parameters(settings))
        estimator.client = client
        return estimator.fit(X, y)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        from xgboost import QuantileDMatrix

        return QuantileDMatrix(X, y, max_bin=settings.bins, nthread=settings.threads)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        booster = model.get_booster()
        booster.set_param({"nthread": settings.threads})
        return np.asarray(booster.inplace_predict(X, predict_type="margin"))

    def trees(self, model: Any) -> int:
        return self.rounds(model) * (1 if model.n_classes_ == 2 else int(model.n_classes_))

    def rounds(self, model: Any) -> int:
        return int(model.get_booster().num_boosted_rounds())
