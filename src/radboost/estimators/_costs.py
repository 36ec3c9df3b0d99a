"""Costs of wrong answers as users pass them: a matrix over the classes, or a row for each example."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import ClassIds, FloatArray, RowOrder


@dataclass(frozen=True)
class Costs:
    """c(x_i, y_i, z), scaled by the largest to [0, 1]: Soft-max boosting, equation (5)."""

    table: npt.NDArray[np.float32]  # a row for each class, or for each example
    per_row: bool
    scale: float  # what a scaled cost of 1 stands for

    def select(self, rows: RowOrder) -> Costs:
        """Those of some examples, in their order."""
        return Costs(np.ascontiguousarray(self.table[rows]), True, self.scale) if self.per_row else self

    def of_rows(self, class_ids: ClassIds) -> npt.NDArray[np.float32]:
        """A row of costs for each example."""
        return self.table if self.per_row else self.table[class_ids]


def read_cost_matrix(cost: Any, n_classes: int) -> FloatArray | None:
    """The constructor's matrix: rows are the true classes, columns the predicted ones."""
    if cost is None:
        return None
    matrix = _as_numbers("cost", cost, f"{n_classes} x {n_classes} numbers")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost has the shape {matrix.shape}, and there are {n_classes} classes; it must be a matrix of "
            f"{n_classes} x {n_classes}, rows for the true class and columns for the predicted one, in the order of "
            "classes_. Costs of single examples go to fit(X, y, cost=...)."
        )
    _check_numbers("cost", matrix)
    if np.diagonal(matrix).any():
        warnings.warn(
            "The diagonal of cost is not zero, so that right answers cost something too. This is allowed; if it is not "
            "meant, set it to 0.",
            UserWarning,
            stacklevel=3,
        )
    return matrix


def read_example_costs(cost: Any, n_rows: int, n_classes: int) -> FloatArray | None:
    """The costs given to `fit`: a row for each example, a column for each class."""
    if cost is None:
        return None
    costs = _as_numbers("cost", cost, "a row of numbers for each example")
    if costs.shape != (n_rows, n_classes):
        raise ValueError(
            f"The cost given to fit has the shape {costs.shape}, and X has {n_rows} rows with {n_classes} classes in "
            f"y; it must have the shape ({n_rows}, {n_classes}): what each answer costs for each row, in the order of "
            "classes_. A matrix over the classes goes to the constructor."
        )
    _check_numbers("cost", costs)
    return costs


def make_costs(matrix: FloatArray | None, examples: FloatArray | None, n_classes: int) -> Costs:
    """Costs of examples where they are given, otherwise the matrix, otherwise 1 for every wrong answer."""
    if examples is None and matrix is None:
        matrix = 1.0 - np.eye(n_classes)
    table = matrix if examples is None else examples
    assert table is not None
    scale = float(table.max())
    return Costs(np.ascontiguousarray(table / scale, dtype=np.float32), examples is not None, scale)


def _as_numbers(name: str, cost: Any, wanted: str) -> FloatArray:
    try:
        array = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold {wanted}; got {str(cost)[:80]}.") from None
    if array.ndim != 2:
        raise ValueError(f"{name} must hold {wanted}, and has {array.ndim} dimensions.")
    return array


def _check_numbers(name: str, costs: FloatArray) -> None:
    if not np.isfinite(costs).all():
        raise ValueError(f"{name} holds NaN or infinity; every cost must be a finite number.")
    if (costs < 0).any():
        raise ValueError(
            f"{name} holds negative costs (the smallest is {costs.min():g}). Add a constant to a row to make its costs "
            "positive: only their differences matter."
        )
    if not (costs > costs.min(axis=1, keepdims=True)).any():
        raise ValueError(
            f"{name} is the same for every answer, so that there is nothing to learn; some must cost more."
        )
