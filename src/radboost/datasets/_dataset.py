"""What `radboost.datasets.load` returns, and what it raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DatasetError(ValueError):
    """A data set that is unknown, not to be found or damaged; the message says what was tried."""


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A classification data set, ready for `fit(dataset.X, dataset.y)`.

    X holds numbers only (uint8 for images, float64 otherwise), missing values are NaN. A text column is kept
    as the positions of its values in the alphabetical list `categories[column]`. That order means nothing:
    a tree needs several cuts to pick one value out of the middle, so encode it anew where that matters.
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    split: NDArray[np.str_] | None
    """"train" or "test" for every row where the source fixes the parts, otherwise None."""
    categories: Mapping[str, tuple[str, ...]]
    source: str
    """The file or the OpenML number the rows came from."""

    def __repr__(self) -> str:
        rows, features = self.X.shape
        classes = len(np.unique(self.y))
        return f"Dataset({self.name!r}, {rows} rows, {features} features, {classes} classes, from {self.source})"
