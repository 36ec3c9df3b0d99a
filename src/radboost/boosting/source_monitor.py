"""The agnostic loss of an ensemble over several sources, on rows that it does not learn from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.boosting.monitor import EarlyStopping, LossMonitor
from radboost.objectives import Objective
from radboost.objectives.over_sources import agnostic
from radboost.rows.prepare import Watched


class SourceMonitor(LossMonitor):
    """The largest mean loss over the mixtures (4.1), and the largest error; rows have shares behind their columns."""

    def __init__(
        self,
        rows: Watched,
        ids: npt.NDArray[np.uint16],
        objective: Objective,
        vertices: FloatArray | None,
        n_sources: int,
        stopping: EarlyStopping | None,
        n_threads: int,
    ) -> None:
        super().__init__(rows, objective, stopping, n_threads)
        self._ids, self._vertices, self._n_sources = ids, vertices, n_sources
        self._sizes = np.array([self._weights.sum(ids == source) for source in range(n_sources)])
        absent = [source for source in range(n_sources) if self._sizes[source] == 0.0]
        if absent and vertices is not None:
            raise ValueError(
                f"Of {n_sources} sources {len(absent)} have no row among those to be watched, and mixtures needs the "
                "loss of each. Give X_val, y_val and sources_val with rows of all sources."
            )

    def _mean(self, values: npt.NDArray[np.float64]) -> float:
        """Over the worst mixture; sources without rows have no say."""
        numbers = np.asarray(values, dtype=np.float64)
        sums = [self._weights.sum(np.where(self._ids == source, numbers, 0.0)) for source in range(self._n_sources)]
        present = self._sizes > 0.0
        means = np.divide(sums, self._sizes, out=np.full(self._n_sources, -np.inf), where=present)
        return agnostic(means, self._vertices)
