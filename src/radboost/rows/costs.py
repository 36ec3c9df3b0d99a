"""Costs of predictions as users pass them: a matrix over the classes, or a row for each example."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost._tables import column_names, is_arrow, read_numbers
from radboost._typing import ClassIds, FloatArray, RowOrder
from radboost._validation import check_not_negative
from radboost.rows.partitions import ONE_PROCESS, Workers
from radboost.rows.weights import RowWeights


@dataclass(frozen=True)
class Costs:
    """c(x_i, y_i, z) minus the minimum of each row, scaled by the largest to [0, 1]: Soft-max boosting, equation (5).

    A constant in a row does not affect the solution, and would use up the precision of the differences.
    """

    table: npt.NDArray[np.float32]  # shape (n_classes or n_rows, n_classes)
    per_row: bool  # whether `table` has a row for each example, instead of each class
    scale: float  # unit of the scaled costs
    floor: FloatArray  # minimum of each row, not scaled
    matrix: FloatArray | None = None  # cost matrix over the classes as given; None: costs are of examples

    def select(self, rows: RowOrder) -> Costs:
        """Costs of the examples at these indices; unchanged where costs depend on the class alone."""
        if not self.per_row:
            return self
        return Costs(np.ascontiguousarray(self.table[rows]), True, self.scale, self.floor[rows])

    def mean_floor(self, class_ids: ClassIds, weights: RowWeights) -> float:
        """Weighted mean of the minimum cost of each example, over all workers, not scaled."""
        floors = weights.gather(self.floor if self.per_row else self.floor[class_ids])
        if not floors.any():
            return 0.0
        # By value, and by weight among equals: neither the order of the examples nor their copies change the sum.
        values, places = np.unique(floors, return_inverse=True)
        counts = np.ones(len(floors)) if weights.given is None else weights.gather(weights.given)
        order = np.lexsort((counts, places))
        totals = np.bincount(places[order], counts[order])
        return float((values * totals).sum() / totals.sum())

    def of_rows(self, class_ids: ClassIds) -> npt.NDArray[np.float32]:
        """Scaled costs of each example, shape (n_rows, n_classes)."""
        return self.table if self.per_row else self.table[class_ids]


def read_cost_matrix(cost: Any, classes: npt.NDArray[Any]) -> FloatArray | None:
    """Cost matrix of the constructor, shape (n_classes, n_classes): rows are true classes, columns predicted ones."""
    if cost is None:
        return None
    wanted = "a row for each true class, a column for each predicted one"
    shape = len(classes), len(classes)
    costs_of_examples = "Costs of single examples go to fit(X, y, cost=...)."
    matrix = _checked(in_order_of_classes(cost, classes), "cost", shape, wanted, costs_of_examples)
    if np.diagonal(matrix).any():
        warnings.warn(
            "The diagonal of cost is not zero, so that right answers cost something too. This is allowed; if it is not "
            "meant, set it to 0.",
            UserWarning,
            stacklevel=9,
        )
    return matrix


def read_costs(cost: Any, n_rows: int, name: str, rows: str, classes: npt.NDArray[Any]) -> FloatArray:
    """Costs of examples given to `fit`, shape (n_rows, n_classes); all may be equal. `rows`: name of their X."""
    wanted = f"what each answer costs for each row of {rows}"
    shape = n_rows, len(classes)
    cost = _in_order_of("columns", cost, classes)
    return _checked(cost, name, shape, wanted, "A matrix over the classes goes to the constructor.")


def _checked(cost: Any, name: str, shape: tuple[int, int], wanted: str, otherwise: str) -> FloatArray:
    """Costs of this shape: finite numbers, none of them negative. `wanted` and `otherwise`: for messages."""
    costs = read_numbers(cost, name, wanted, f"{name}.filled(...) with what the answer costs")
    if costs.shape != shape:
        raise ValueError(
            f"{name} has the shape {costs.shape}; it must have the shape {shape}: {wanted}, in the order of classes_. "
            f"{otherwise}"
        )
    advice = "Add a constant to a row to make its costs positive: only their differences matter."
    check_not_negative(costs, name, "cost", advice)
    return costs


def make_costs(
    matrix: FloatArray | None,
    examples: FloatArray | None,
    n_classes: int,
    name: str = "cost",
    workers: Workers = ONE_PROCESS,
) -> Costs:
    """Costs of examples if given, otherwise the matrix, otherwise 1 for every wrong prediction."""
    if examples is None and matrix is None:
        matrix = 1.0 - np.eye(n_classes)
    table = matrix if examples is None else examples
    assert table is not None
    floor = table.min(axis=1)
    above = table - floor[:, None]
    scale = max(workers.all_gather(float(above.max(initial=0.0))))
    if not scale > 0.0:
        raise ValueError(
            f"{name} is the same for every answer, so that there is nothing to learn; some must cost "
            "more, in rows with a positive weight."
        )
    scaled = np.ascontiguousarray(above / scale, dtype=np.float32)
    return Costs(scaled, examples is not None, scale, floor, matrix if examples is None else None)


def in_order_of_classes(cost: Any, classes: npt.NDArray[Any]) -> Any:
    """Reorder rows and columns of a data frame that names them by classes; anything else as it is."""
    return _in_order_of("index", _in_order_of("columns", cost, classes), classes)


def _in_order_of(axis: str, cost: Any, classes: npt.NDArray[Any]) -> Any:
    """Reorder the columns or the rows ("index") of a data frame that names them by classes; anything else as it is."""
    labels = column_names(cost) if axis == "columns" else getattr(cost, axis, None)
    if labels is None or callable(labels) or not hasattr(cost, "shape"):
        return cost
    names, wanted = list(labels), classes.tolist()
    if names == list(range(len(names))) or (axis == "index" and not hasattr(cost, "loc")):
        return cost  # not named
    if not hasattr(cost, "iloc") and not any(isinstance(label, str) for label in wanted):
        wanted = list(map(str, wanted))  # columns of polars and pyarrow are named by text alone
    if len(names) != len(wanted) or set(names) != set(wanted):
        what = "columns" if axis == "columns" else "rows"
        raise ValueError(
            f"The {what} of cost are named [{listed(names)}], and the classes in y are [{listed(wanted)}]. Name them "
            "by the classes, or pass a plain array in the order of classes_."
        )
    if not hasattr(cost, "iloc"):
        return cost.select(wanted) if is_arrow(cost) else cost[wanted]
    # By index: a list of booleans would be taken for a mask.
    places = [names.index(name) for name in wanted]
    return cost.iloc[places] if axis == "index" else cost.iloc[:, places]
