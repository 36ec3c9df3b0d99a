"""Who takes part. A new competitor joins by being listed."""

from benchmarks.competitors.adaboost import AdaBoost
from benchmarks.competitors.base import Competitor
from benchmarks.competitors.catboost import CatBoost
from benchmarks.competitors.hist_gradient_boosting import HistGradientBoosting
from benchmarks.competitors.lightgbm import LightGBM, LightGBMQuantised
from benchmarks.competitors.radboost import RadBoostDefault, RadBoostEdge, RadBoostGini
from benchmarks.competitors.xgboost import XGBoost

COMPETITORS: dict[str, Competitor] = {
    competitor.name: competitor
    for competitor in (
        RadBoostEdge(),
        RadBoostGini(),
        RadBoostDefault(),
        XGBoost(),
        LightGBM(),
        LightGBMQuantised(),
        HistGradientBoosting(),
        CatBoost(),
        AdaBoost(),
    )
}

#: without those that are too slow for a large fit
FAST = {name: competitor for name, competitor in COMPETITORS.items() if not competitor.slow}

__all__ = ["COMPETITORS", "FAST", "Competitor"]
