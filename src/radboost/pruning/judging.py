"""What pruned models cost on rows that were held back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.pruning.outputs import Outputs
from radboost.pruning.rows import DistinctRows

Costs = Callable[[FloatArray, FloatArray], FloatArray]  # of scores and targets, a number for each row


@dataclass(frozen=True)
class Judge:
    """The mean loss and the mean error of an ensemble on some rows; of several targets, in their units."""

    rows: DistinctRows
    outputs: Outputs
    losses: Costs
    errors: Costs
    n_threads: int

    def __call__(self, ensemble: Ensemble) -> tuple[float, float]:
        scores = ensemble.decision_function(self.rows.X, self.n_threads)
        scores = self.outputs.in_units(scores if self.rows.offset is None else scores + self.rows.offset)
        targets = self.outputs.in_units(self.rows.targets)
        weights = self.rows.weights / self.rows.weights.sum()
        # no product of vectors: BLAS adds in an order that depends on its threads
        loss, error = (float(np.sum(weights * costs(scores, targets))) for costs in (self.losses, self.errors))
        return loss, error
