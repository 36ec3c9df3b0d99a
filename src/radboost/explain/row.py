"""Reading of one row in the forms that users pass, for explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import column_values, is_missing, known_form
from radboost._typing import Category, FloatArray
from radboost.rows.read import dense_rows

MISSING, UNSEEN = "missing", "unknown category"


@dataclass(frozen=True)
class GivenRow:
    """A row in two forms: a table of one row that `predict` takes, and its values as they are shown."""

    table: Any
    by_name: bool  # True: values were given by column names, which the table lacks

    def value(self, column: int) -> Any:
        """Value of a column, as a built-in Python type."""
        if sparse.issparse(self.table):
            return float(self.table[:, [column]].toarray()[0, 0])
        result = column_values(self.table, column)[0]
        return result.item() if isinstance(result, np.generic) else result


def read_one_row(x: Any, names: Any) -> GivenRow:
    """A row from an array, a list, a data frame of one row, or values by the `names` of the columns."""
    if isinstance(x, Mapping) or hasattr(x, "to_frame"):  # a dict, or a row of a data frame of pandas'
        return _row_of_names(x, names)
    if not hasattr(x, "shape"):
        x = _from_sequence(x)
    x = known_form(x, "x")
    if len(x.shape) == 1:
        x = x.reshape(1, -1)
    if len(x.shape) != 2 or x.shape[0] != 1:
        n = f"{x.shape[0]} rows" if len(x.shape) == 2 else f"an array of the shape {x.shape}"
        raise ValueError(
            f"explain takes one row, and got {n}. Pass X[i] of an array or X.iloc[i] of a data frame; "
            "predict_contributions is for many rows."
        )
    return GivenRow(x, by_name=False)


def _from_sequence(x: Any) -> npt.NDArray[Any]:
    try:
        array = np.array(x, dtype=object)
    except ValueError:
        raise ValueError("x must be one row: a list of values, an array, or a data frame of one row.") from None
    if array.ndim == 0:
        raise ValueError(f"x must be one row: a list of values, an array, or a data frame of one row; got {x!r}.")
    return array


def _row_of_names(x: Any, names: Any) -> GivenRow:
    given = dict(x.items())
    if names is None:
        if isinstance(x, Mapping):
            raise ValueError(
                "x has values by name, and the model was fitted without names of columns. Pass a list of values."
            )
        return GivenRow(_objects(list(given.values())), by_name=True)
    absent = [str(name) for name in names if name not in given]
    unknown = [str(name) for name in given if name not in set(names)]
    if absent or unknown:
        what = (
            f"has no value for {_listed(absent)}" if absent else f"has values for {_listed(unknown)}, unknown columns"
        )
        raise ValueError(f"x {what}. The columns of the model are {_listed([str(name) for name in names])}.")
    return GivenRow(_objects([given[name] for name in names]), by_name=True)


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    row = np.empty((1, len(values)), dtype=object)
    row[0] = [np.nan if is_missing(value) else value for value in values]
    return row


def remark_on(row: GivenRow, column: int, matrix: FloatArray, categories: Mapping[int, tuple[Category, ...]]) -> str:
    """Remark on a value that is missing, or a category that the model does not know; empty otherwise."""
    if not np.isnan(matrix[column]):
        return ""
    return UNSEEN if column in categories and not is_missing(row.value(column)) else MISSING


def as_numbers(matrix: Any) -> FloatArray:
    """Values of the row in the matrix that was read, shape (n_features,)."""
    return np.asarray(dense_rows(matrix)[0], dtype=np.float64)


def _listed(names: list[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
