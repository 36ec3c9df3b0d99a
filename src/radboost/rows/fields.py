"""Rows with labels or targets, and what else belongs to each row: weight, offset, costs, source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray
from radboost.engine import Collective
from radboost.rows.costs import Costs
from radboost.rows.sources import Sources
from radboost.rows.weights import RowWeights

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Rows with classes or targets; each field in `PER_ROW` has an entry for each row, or is None."""

    X: Any  # float32 or float64, dense, CSR, `RowBlocks` or `BinnedRows`; categories as codes
    class_ids: ClassIds  # all 0 in regression
    weights: FloatArray | None = None
    targets: FloatArray | None = None  # of regression; a column for each where there are several
    offset: FloatArray | None = None  # initial scores; None: 0
    costs: Costs | None = None  # of soft-max boosting; None: those of its parameter
    sources: Sources | None = None  # None: there is one
    classes: npt.NDArray[Any] | None = None  # ascending; None: of regression
    collective: Collective | None = None  # over the workers with the other rows; None: all are here
    kept: Indices | None = None  # indices of these rows among those that were given; None: all
    source_names: npt.NDArray[Any] | None = None  # name of the source of each row as it was given; None: not given

    PER_ROW: ClassVar = ("class_ids", "weights", "targets", "offset", "costs", "sources")

    @property
    def n_rows(self) -> int:
        return len(self.class_ids)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def known_classes(self) -> npt.NDArray[Any]:
        """The classes of the algorithm, two or more: a single one is repeated."""
        if self.classes is None:
            raise TypeError("a regression problem has no classes")
        return self.classes if len(self.classes) > 1 else np.repeat(self.classes, 2)

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Label or target of each row."""
        return self.targets if self.classes is None else self.classes[self.class_ids]  # type: ignore[return-value]

    @property
    def n_outputs(self) -> int:
        """Scores per row: one for each of more than two classes, or of several targets; otherwise one."""
        if self.classes is not None:
            return len(self.classes) if len(self.classes) > 2 else 1
        return 1 if self.targets is None or self.targets.ndim == 1 else self.targets.shape[1]

    def row_weights(self, *, folds_large: bool = False) -> RowWeights:
        """The weights, for sums over the rows of all workers; `folds_large`: see `RowWeights`."""
        return RowWeights(self.weights, self.n_rows, folds_large=folds_large, collective=self.collective)

    def scores(self, ensemble: Any, n_threads: int) -> FloatArray:
        """Scores of an ensemble plus the offset, shape (n_rows,) or (n_rows, n_outputs)."""
        scores: FloatArray = ensemble.decision_function(self.X, n_threads)
        return scores if self.offset is None else scores + self.offset

    def entries(self, rows: npt.NDArray[Any]) -> dict[str, Any]:
        """Fields in `PER_ROW` of the rows at these indices."""
        return {name: select(getattr(self, name), rows) for name in self.PER_ROW}


def select(values: Any, rows: npt.NDArray[Any]) -> Any:
    """Entries of the rows at these indices; None stays None."""
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(values[rows])
    return None if values is None else values.select(rows)
