"""How ensembles grow: what a round of each algorithm does, and what it leaves behind."""

from radboost.boosting.coordinate import Booster
from radboost.boosting.trace import ALL_ROUNDS, Monitor, Step, Trace

__all__ = ["ALL_ROUNDS", "Booster", "Monitor", "Step", "Trace"]
