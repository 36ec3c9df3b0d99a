"""Data sets as files: `<name>.csv.gz` for tables, `<name>.npz` for arrays.

A table has a header, the column `target` last, `split` (train or test) before it if there is one, and empty cells for
missing values. An archive has `X`, `y` and, if they exist, `names` and `n_train` (number of first rows that train). An
archive of texts has a matrix compressed by rows (`counts`, `indices`, `indptr`), its terms (`vocabulary`, bytes
separated by line ends), `y` and `domain`.
"""

from __future__ import annotations

import csv
import gzip
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from papers.datasets._dataset import Dataset, DatasetError

Column = tuple[NDArray[np.float64], tuple[str, ...]]


def find(folder: Path, name: str) -> Path | None:
    """File of a data set in a folder; None if there is none."""
    for suffix in (".csv.gz", ".npz"):
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path
    return None


def read(path: Path, name: str) -> Dataset:
    """Read a file of either kind; a damaged one is a `DatasetError` that names it."""
    try:
        return _read_archive(path, name) if path.suffix == ".npz" else _read_table(path, name)
    except (OSError, EOFError, KeyError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} cannot be read as data set {name!r}: {error}") from error


def _read_table(path: Path, name: str) -> Dataset:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        if not header or header[-1] != "target":
            raise ValueError("the header line does not end in the column 'target'")
        columns: list[tuple[str, ...]] = list(zip(*lines, strict=True))
    if len(columns) != len(header):
        raise ValueError(f"{len(header)} columns in the header, {len(columns)} below it")
    y = _labels(columns.pop())
    features = header[:-1]
    split = None
    if features[-1:] == ["split"]:
        features.pop()
        split = np.array(columns.pop())
    if not features:
        raise ValueError("there is no feature column")
    encoded = [_encode(column) for column in columns]
    return Dataset(
        name=name,
        X=np.column_stack([values for values, _ in encoded]),
        y=y,
        feature_names=tuple(features),
        split=split,
        categories={f: levels for f, (_, levels) in zip(features, encoded, strict=True) if levels},
        source=str(path),
    )


def _encode(column: Sequence[str]) -> Column:
    """Numbers, or positions of text values in their alphabetical list."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in column]), ()
    except ValueError:
        levels = tuple(sorted(set(column) - {""}))
        code = {level: float(i) for i, level in enumerate(levels)} | {"": np.nan}
        return np.array([code[cell] for cell in column]), levels


def _labels(column: Sequence[str]) -> NDArray[Any]:
    if "" in column:
        raise ValueError("a row has no target")
    try:
        return np.array([int(cell) for cell in column])
    except ValueError:
        return np.array(column)


def _read_archive(path: Path, name: str) -> Dataset:
    with np.load(path, allow_pickle=False) as archive:
        if "vocabulary" in archive:
            return _read_texts(archive, path, name)
        X, y = archive["X"], archive["y"]
        n_train = int(archive["n_train"]) if "n_train" in archive else None
        names = tuple(map(str, archive["names"])) if "names" in archive else pixel_names(X.shape[1])
    if X.ndim != 2 or y.shape != X.shape[:1] or len(names) != X.shape[1]:
        raise ValueError(f"X of shape {X.shape}, y of shape {y.shape} and {len(names)} names do not fit together")
    return Dataset(
        name=name,
        X=X if X.dtype == np.uint8 else X.astype(np.float64),
        y=y.astype(np.int64),
        feature_names=names,
        split=None if n_train is None else np.where(np.arange(len(y)) < n_train, "train", "test"),
        categories={},
        source=str(path),
    )


def _read_texts(archive: Mapping[str, NDArray[Any]], path: Path, name: str) -> Dataset:
    terms = archive["vocabulary"].tobytes().decode("utf-8").split("\n")
    y, domains = archive["y"].astype(np.int64), archive["domain"]
    counts = archive["counts"].astype(np.float64)
    # Many solvers take small indices only.
    index = sparse.get_index_dtype((archive["indices"], archive["indptr"]), check_contents=True)
    parts = (counts, archive["indices"].astype(index), archive["indptr"].astype(index))
    X = sparse.csr_array(parts, shape=(len(y), len(terms)))
    X.check_format(full_check=True)
    if domains.shape != y.shape:
        raise ValueError(f"there are {len(y)} labels and {len(domains)} domains")
    X.sort_indices()
    return Dataset(name, X, y, tuple(terms), None, {}, str(path), domains)


def pixel_names(pixels: int) -> tuple[str, ...]:
    """Names row by row for a square image."""
    side = round(pixels**0.5)
    if side * side != pixels:
        raise ValueError(f"{pixels} columns without names are no square image")
    return tuple(f"row{r}_column{c}" for r in range(side) for c in range(side))
