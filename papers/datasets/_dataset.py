"""What `papers.datasets.load` returns, and what it raises."""

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

    X holds numbers only (uint8 for images, float64 otherwise), missing values are NaN; that of texts is sparse. A
    column of text is kept as the positions of its values in the alphabetical list `categories[column]`. That order
    means nothing, so `categorical_features` tells which columns these are.
    """

    name: str
    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    split: NDArray[np.str_] | None
    """"train" or "test" for every row where the source fixes the parts, otherwise None."""
    categories: Mapping[str, tuple[str, ...]]
    source: str
    """The file or the OpenML number the rows came from."""
    domains: NDArray[np.str_] | None = None
    """Where each row comes from, in a set of several sources, otherwise None."""

    @property
    def categorical_features(self) -> tuple[int, ...]:
        """Which columns of X hold positions in a list of categories."""
        return tuple(j for j, name in enumerate(self.feature_names) if name in self.categories)

    def __repr__(self) -> str:
        rows, features = self.X.shape
        classes = len(np.unique(self.y))
        return f"Dataset({self.name!r}, {rows} rows, {features} features, {classes} classes, from {self.source})"
