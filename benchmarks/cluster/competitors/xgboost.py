"""`xgboost.dask` with its histogram method."""

import time
from typing import Any

from benchmarks.cluster.competitors.base import ClusterCompetitor, Stage
from benchmarks.cluster.fitting import Outcome
from benchmarks.settings import Settings


class XGBoostDask(ClusterCompetitor):
    """Its scikit-learn interface for Dask, which makes the binned matrix of all workers."""

    name = "XGBoost, Dask"
    package = "xgboost"

    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        import xgboost
        from xgboost.dask import DaskXGBClassifier

        estimator = DaskXGBClassifier(
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            max_bin=settings.bins + 1,
            learning_rate=0.1,
            tree_method="hist",
            random_state=settings.seed,
        )
        estimator.client = stage.client
        start = time.perf_counter()
        estimator.fit(stage.X, stage.y)
        outcome = Outcome(time.perf_counter() - start, int(estimator.get_booster().num_boosted_rounds()))
        model = xgboost.XGBClassifier()
        model.load_model(estimator.get_booster().save_raw("ubj"))
        return outcome, model
