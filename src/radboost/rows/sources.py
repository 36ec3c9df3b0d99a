"""Sources of rows (domains), as users name them, and the probability Q(k | x) of source k for each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._tables import without_arrow, without_mask
from radboost._typing import FloatArray, FloatMatrix
from radboost.rows.read import known_labels, plain_labels
from radboost.rows.tasks import missing_labels

Ids = npt.NDArray[np.uint16]  # index of each row's source among the names

MOST_SOURCES = 4096  # largest number of distinct sources
# Unit of Q(k | x); steps are multiples of another power of two, so that sums of scores are exact.
SHARE_GRID = {2: 2.0**-16, 3: 2.0**-8}  # for two classes, and for more, whose scores are 32-bit integers


@dataclass(frozen=True)
class Sources:
    """Sources of rows, and the probabilities of each source."""

    names: npt.NDArray[Any]  # ascending
    ids: Ids
    shares: FloatArray  # Q(k | x), shape (n_rows, n_sources)
    domain: Any = None  # model that computes Q

    def select(self, rows: npt.NDArray[Any]) -> Sources:
        """Sources of the rows at these indices."""
        return replace(self, ids=self.ids[rows], shares=self.shares[rows])


def read_sources(given: Any, n_rows: int, name: str = "sources") -> npt.NDArray[Any]:
    """Source name of each row, shape (n_rows,): numbers, text or booleans, none of them missing."""
    plain = np.asarray(without_arrow(without_mask(given, name, f"{name}.filled(...) with the right source")))
    if plain.ndim != 1 or len(plain) != n_rows:
        raise ValueError(
            f"{name} has the shape {plain.shape}, and there are {n_rows} rows; give the name of a source for each row."
        )
    if plain.dtype.kind not in "biufUO":
        raise ValueError(f"{name} holds {plain.dtype}; a source is named by a number, a text or a boolean.")
    missing = np.flatnonzero(missing_labels(plain[:, None]))
    if len(missing):
        raise ValueError(
            f"{name} is missing in {len(missing)} of {n_rows} rows, the first of them row {missing[0]}. Name the "
            'source of each row (perhaps "unknown", as one of its own), or leave these rows out.'
        )
    return plain_labels(plain, name)


def known_sources(found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Distinct source names, ascending."""
    names = np.unique(found)
    if len(names) > MOST_SOURCES:
        raise ValueError(
            f"sources has {len(names)} different names, and at most {MOST_SOURCES} can be told apart. Is it an "
            "identifier of rows? Give that of hospitals, regions or devices."
        )
    return names


def ids_among(found: npt.NDArray[Any], names: npt.NDArray[Any], given: str) -> Ids:
    """Indices of the sources of rows among `names`; an unknown source is a ValueError."""
    return known_labels(found, names, given, ("source", "sources"))


def on_share_grid(shares: FloatArray, n_classes: int) -> FloatArray:
    """Q(k | x) rounded to the nearest multiple of its unit."""
    grid = SHARE_GRID[min(max(n_classes, 2), 3)]
    return np.ascontiguousarray(np.rint(shares / grid) * grid)


def with_columns(rows: FloatMatrix, shares: FloatArray) -> FloatMatrix:
    """Rows with Q(k | x) as further columns; on its grid these are exact in float32 too."""
    return np.hstack([rows, shares.astype(rows.dtype)])
