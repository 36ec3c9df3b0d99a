"""Data of the tasks. A task without its data raises `MissingError`, and the table says so."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]
Labels = NDArray[np.int64]
Data = tuple[Matrix, Labels]


class MissingError(RuntimeError):
    """The data or the library of a task is not here."""


def synthetic(rows: int, columns: int, seed: int) -> Data:
    """Draw normal float32 columns; the label follows five of them, with products and noise, so that depth pays."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    a, b, c, d, e = (X[:, j] for j in range(5))
    logit = 1.5 * a * b + np.sin(2.0 * c) + np.where(d > 0.5, e, -0.5 * e)
    y = (rng.random(rows, dtype=np.float32) < 1.0 / (1.0 + np.exp(-2.0 * logit))).astype(np.int64)
    return X, y


def breast_cancer() -> Data:
    """Load the 569 x 30 set that comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, y.astype(np.int64)


def _loaded(name: str) -> Any:
    from papers import datasets

    try:
        return datasets.load(name)
    except datasets.DatasetError as error:
        raise MissingError(f"{name} is not available: {error}") from error


def real(name: str, rows: int | None = None) -> Data:
    """Read a set of the papers, labels 0, 1, ...; with `rows` at most that many of them, evenly spaced."""
    loaded = _loaded(name)
    return _spaced(np.ascontiguousarray(loaded.X, dtype=np.float32), loaded.y, rows)


def amazon(rows: int | None = None) -> Data:
    """Read counts of words and pairs of words in reviews of books, DVDs and electronics, compressed by rows."""
    loaded = _loaded("amazon")
    kept = np.isin(loaded.domains, ["books", "dvd", "electronics"])
    return _spaced(loaded.X[kept], loaded.y[kept], rows)


def census(rows: int | None = None) -> Any:
    """Read adults of the census as a table of pyarrow with a column "target"; at random where the file is missing."""
    import pyarrow as pa
    from pyarrow import csv

    from papers.datasets import locate

    path = locate("adult")
    if path is not None:
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True))
        return table.drop_columns(["split"]).slice(0, rows).combine_chunks()
    rng, n_rows = np.random.default_rng(0), rows or 48_842
    columns = {f"number_{j}": rng.integers(10 ** (j % 5 + 1), size=n_rows) for j in range(6)}
    columns |= {f"text_{j}": rng.choice([f"level {k}" for k in range(5 * j + 2)], n_rows) for j in range(8)}
    return pa.table(columns | {"target": np.where(columns["number_1"] > 50, "high", "low")})


def write(path: Path, table: Any, copies: int) -> None:
    """Write the rows of a table of pyarrow several times over, as Parquet or CSV."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    whole = pa.concat_tables([table] * copies)
    if path.suffix == ".parquet":
        parquet.write_table(whole, path)
        return
    with path.open("wb") as file:  # pyarrow would write names in quotes
        file.write(",".join(table.column_names).encode() + b"\n")
        csv.write_csv(whole, file, csv.WriteOptions(include_header=False, quoting_style="needed"))


def _spaced(X: Matrix, y: NDArray[Any], rows: int | None) -> Data:
    step = 1 if rows is None else -(-len(y) // rows)
    return X[::step], np.unique(y, return_inverse=True)[1].astype(np.int64)[::step]


def first_rows(data: Data, rows: int) -> Data:
    """Take the first rows, their labels without gaps."""
    X, y = data
    return X[:rows], np.unique(y[:rows], return_inverse=True)[1]


def parted(data: Data, every: int) -> tuple[Data, Data]:
    """Divide into training and test rows, of which one row of `every` tests."""
    X, y = data
    test = np.arange(len(y)) % every == 0
    return (X[~test], y[~test]), (X[test], y[test])
