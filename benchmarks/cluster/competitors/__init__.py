"""Who takes part in the race of workers. A new competitor joins by being listed."""

from benchmarks.cluster.competitors.base import ClusterCompetitor, Stage
from benchmarks.cluster.competitors.lightgbm import LightGBMDask
from benchmarks.cluster.competitors.radboost import RadBoostDask, RadBoostLocal, RadBoostMPI
from benchmarks.cluster.competitors.xgboost import XGBoostDask

FIELD: dict[str, ClusterCompetitor] = {
    competitor.name: competitor
    for competitor in (RadBoostLocal(), RadBoostMPI(), RadBoostDask(), XGBoostDask(), LightGBMDask())
}

__all__ = ["FIELD", "ClusterCompetitor", "Stage"]
