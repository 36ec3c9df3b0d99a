"""Result and error of `papers.datasets.load`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DatasetError(ValueError):
    """A data set is unknown, missing or damaged; the message says what was tried."""


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A classification data set, ready for `fit(dataset.X, dataset.y)`.

    X holds numbers only (uint8 for images, float64 otherwise), missing values are NaN; X of texts is sparse. A column
    of text holds the positions of its values in the alphabetical list `categories[column]`. That order means nothing:
    `categorical_features` lists such columns.
    """

    name: str
    X: Any
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    split: NDArray[np.str_] | None
    """"train" or "test" for every row, shape (n_rows,); None if the source does not fix the parts."""
    categories: Mapping[str, tuple[str, ...]]
    source: str
    """Path of the file."""
    domains: NDArray[np.str_] | None = None
    """Source of each row, shape (n_rows,); None for a set of one source."""

    @property
    def categorical_features(self) -> tuple[int, ...]:
        """Columns of X that hold positions in a list of categories."""
        return tuple(j for j, name in enumerate(self.feature_names) if name in self.categories)
