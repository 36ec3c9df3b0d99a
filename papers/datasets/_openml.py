"""Fetch a data set from OpenML and keep it in the cache, in the form that `_files` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.datasets import _files
from papers.datasets._dataset import DatasetError
from papers.datasets._registry import Entry


def fetch(entry: Entry, cache: Path) -> Path:
    """Download `entry` and return the cached file."""
    from sklearn.datasets import fetch_openml

    # liac-arff needs no pandas and codes text columns as positions in `categories`; scikit-learn's own cache
    # would hold a second copy.
    bunch = fetch_openml(data_id=entry.openml, as_frame=False, parser="liac-arff", cache=False, n_retries=1)
    kept = [i for i, name in enumerate(bunch.feature_names) if entry.columns is None or name in entry.columns]
    X = np.asarray(bunch.data, dtype=np.float64)[:, kept]
    names = [str(bunch.feature_names[i]) for i in kept]
    y = np.array([entry.labels.get(str(label), str(label)) for label in bunch.target])
    _check(entry, X, y)
    if entry.images:
        path = cache / f"{entry.name}.npz"
        # OpenML keeps the order of the originals, for both sets: the 60,000 training images come first
        _files.write_archive(path, X=X.astype(np.uint8), y=y.astype(np.uint8), n_train=np.array(60_000))
        return path
    path = cache / f"{entry.name}.csv.gz"
    cells = [_cells(X[:, j], (bunch.categories or {}).get(name)) for j, name in enumerate(names)]
    _files.write_table(path, [*names, "target"], zip(*cells, y.tolist(), strict=True))
    return path


def _check(entry: Entry, X: NDArray[np.float64], y: NDArray[np.str_]) -> None:
    got = (*X.shape, len(np.unique(y)))
    expected = (entry.rows, entry.features, entry.classes)
    if got != expected:
        raise DatasetError(
            "OpenML {} now has {} rows, {} features and {} classes".format(entry.openml, *got)
            + " instead of {}, {} and {}".format(*expected)
        )


def _cells(values: NDArray[np.float64], levels: list[Any] | None) -> list[str]:
    if levels is None:
        return ["" if np.isnan(value) else repr(float(value)) for value in values]
    return ["" if np.isnan(value) else str(levels[int(value)]) for value in values]
