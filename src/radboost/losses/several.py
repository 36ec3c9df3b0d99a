"""The loss of several targets that are numbers."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.target import NativeTargetLoss, WeightedRows


class SeveralTargets(NativeTargetLoss):
    """The mean over the targets of a row of one loss Phi(y_k, f_k); targets and scores have a column for each.

    With L the Lipschitz constant of Phi's derivative, that of the mean's gradient is L over the number of targets.
    """

    def __init__(self, each: NativeTargetLoss, n_targets: int) -> None:
        self.each = each
        self.n_targets = n_targets
        self.name = each.name  # type: ignore[misc]
        self.smooth = each.smooth  # type: ignore[misc]
        self.of_difference = each.of_difference  # type: ignore[misc]
        lipschitz = getattr(each, "lipschitz", None)
        self.lipschitz = None if lipschitz is None else lipschitz / n_targets  # type: ignore[misc]

    def __repr__(self) -> str:
        return repr(self.each)

    @property
    def parameter(self) -> float:
        return self.each.parameter

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return np.asarray(self.each.value(targets, scores).mean(axis=1))

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        return self.each.derivative(targets, scores) / self.n_targets

    def start(self, rows: WeightedRows) -> FloatArray:
        return np.array([self.each.start(rows.column(k)) for k in range(self.n_targets)], dtype=np.float64)

    def start_beside(self, rows: WeightedRows, offset: FloatArray) -> FloatArray | None:
        columns = [
            self.each.start_beside(rows.column(k), np.ascontiguousarray(offset[:, k])) for k in range(self.n_targets)
        ]
        return None if any(one is None for one in columns) else np.array(columns, dtype=np.float64)

    def for_rows(self, rows: WeightedRows) -> SeveralTargets:
        for k in range(self.n_targets):
            self.each.for_rows(rows.column(k))
        return self

    def lowest(self, targets: FloatArray) -> FloatArray:
        return np.asarray(np.mean([self.each.lowest(column) for column in targets.T], axis=0), dtype=np.float64)

    def inverse_link(self, scores: FloatArray, /) -> FloatArray:
        return self.each.inverse_link(scores)

    def check_targets(self, targets: FloatArray, column: int | None = None) -> None:
        for k, of_column in enumerate(targets.T):
            self.each.check_targets(of_column, k)
