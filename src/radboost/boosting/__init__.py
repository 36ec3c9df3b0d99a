"""How ensembles grow: what a round of each algorithm does, the driver that runs them, and what they leave behind."""

from radboost.boosting.callbacks import FitContext
from radboost.boosting.coordinate import CoordinateDescent
from radboost.boosting.driver import Driver, RoundMaker
from radboost.boosting.trace import ALL_ROUNDS, Step, Trace

__all__ = ["ALL_ROUNDS", "CoordinateDescent", "Driver", "FitContext", "RoundMaker", "Step", "Trace"]
