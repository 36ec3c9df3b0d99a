"""`lightgbm.dask`, which sums histograms over the workers."""

import time
from typing import Any

from benchmarks.cluster.competitors.base import ClusterCompetitor, Stage
from benchmarks.cluster.fitting import Outcome
from benchmarks.settings import Settings


class LightGBMDask(ClusterCompetitor):
    """Its scikit-learn interface for Dask; leaves as many as the depth allows."""

    name = "LightGBM, Dask"
    package = "lightgbm"

    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        from lightgbm.dask import DaskLGBMClassifier

        estimator = DaskLGBMClassifier(
            client=stage.client,
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            num_leaves=settings.leaves - 1,
            max_bin=settings.bins,
            learning_rate=0.1,
            tree_learner="data",
            random_state=settings.seed,
            verbosity=-1,
        )
        start = time.perf_counter()
        estimator.fit(stage.X, stage.y)
        outcome = Outcome(time.perf_counter() - start, int(estimator.booster_.current_iteration()))
        return outcome, estimator.to_local()
