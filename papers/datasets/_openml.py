"""OpenML: fetch a data set and keep it in the cache, in the form that `_files` reads."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from papers.datasets._dataset import DatasetError
from papers.datasets._registry import Entry
from radboost.model_file import replacing


def fetch(entry: Entry, cache: Path) -> Path:
    """Download `entry` and return the cached file, which is whole or not there."""
    from sklearn.datasets import fetch_openml

    # liac-arff needs no pandas and codes text columns as positions in `categories`; scikit-learn's own cache
    # would hold a second copy.
    bunch = fetch_openml(data_id=entry.openml, as_frame=False, parser="liac-arff", cache=False, n_retries=1)
    kept = [i for i, name in enumerate(bunch.feature_names) if entry.columns is None or name in entry.columns]
    X = np.asarray(bunch.data, dtype=np.float64)[:, kept]
    names = [str(bunch.feature_names[i]) for i in kept]
    y = np.array([entry.labels.get(str(label), str(label)) for label in bunch.target])
    _check(entry, X, y)
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / entry.file_name
    with replacing(path) as file:
        if entry.images:
            # OpenML keeps the order of the originals, for both sets: the 60,000 training images come first
            np.savez_compressed(file, X=X.astype(np.uint8), y=y.astype(np.uint8), n_train=np.array(60_000))
        else:
            cells = [_cells(X[:, j], (bunch.categories or {}).get(name)) for j, name in enumerate(names)]
            with gzip.open(file, "wt", encoding="utf-8", newline="") as text:
                # gzip.open in a text mode is typed as either kind of file
                writer = csv.writer(cast("IO[str]", text), lineterminator="\n")
                writer.writerow([*names, "target"])
                writer.writerows(zip(*cells, y.tolist(), strict=True))
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
