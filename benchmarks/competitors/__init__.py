"""Libraries that are compared, a file each. A new one joins by being listed."""

from benchmarks.competitors.adaboost import AdaBoost
from benchmarks.competitors.base import Competitor, is_installed, takes_part
from benchmarks.competitors.catboost import CatBoost
from benchmarks.competitors.hist_gradient_boosting import HistGradientBoosting
from benchmarks.competitors.lightgbm import LightGBM, LightGBMQuantized
from benchmarks.competitors.radboost import RadBoostDefault, RadBoostEdge, RadBoostGini
from benchmarks.competitors.rgb import RGB, RGBSevenCandidates
from benchmarks.competitors.xgboost import XGBoost

ALL: tuple[Competitor, ...] = (
    RadBoostEdge(),
    RadBoostGini(),
    RadBoostDefault(),
    RGB(),
    RGBSevenCandidates(),
    XGBoost(),
    LightGBM(),
    LightGBMQuantized(),
    HistGradientBoosting(),
    CatBoost(),
    AdaBoost(),
)


def installed(*names: str) -> list[Competitor]:
    """List the competitors of these names, or of all, whose libraries are installed."""
    return [one for one in ALL if is_installed(one.package) and (not names or one.name in names)]


__all__ = ["ALL", "Competitor", "installed", "is_installed", "takes_part"]
