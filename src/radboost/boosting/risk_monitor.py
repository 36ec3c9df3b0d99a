"""The risk of a soft-max rule on rows that it does not learn from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost.boosting.monitor import EarlyStopping, Monitor, scores_of
from radboost.rows.costs import Costs
from radboost.rows.prepare import Watched


class RiskMonitor(Monitor):
    """Soft-max boosting, equation (4)."""

    what = "loss"

    def __init__(
        self, rows: Watched, costs: Costs, stopping: EarlyStopping | None, n_classes: int, n_threads: int
    ) -> None:
        super().__init__(rows, scores_of(n_classes), n_threads)
        self._costs = costs.of_rows(rows.class_ids).astype(np.float64)
        self.unit, self.floor = costs.scale, costs.mean_floor(rows.class_ids, rows.row_weights())
        self.patience = None if stopping is None else stopping.patience

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Expected cost of the rule for each row, and the mask of rows whose preferred label is another one."""
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return (softmax(scores, axis=1) * self._costs).sum(axis=1), scores.argmax(axis=1) != self.class_ids
