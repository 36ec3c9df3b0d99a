"""Columns of pandas, polars and pyarrow on their way to the matrix: equal codes, few Python calls, one copy at most."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from prepared_rows import prepare
from radboost import RGBClassifier
from radboost.rows.read import read_matrix

NAMES = [f"name {k:02d}" for k in range(40)]
MISSING = len(NAMES)
MOST_CALLS = 50  # Python calls for each column
Column = Callable[[Any], Any]


def of_polars(codes: Any, kind: Any) -> pl.Series:
    return pl.Series([*NAMES, None], dtype=pl.String)[codes].cast(kind)


def of_pyarrow(codes: Any) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8), mask=codes == MISSING), NAMES)


FORMS: dict[str, tuple[Any, Column]] = {
    "pandas categories": (
        pd.DataFrame,
        lambda codes: pd.Categorical.from_codes(np.where(codes == MISSING, -1, codes), NAMES),
    ),
    "polars Categorical": (pl.DataFrame, lambda codes: of_polars(codes, pl.Categorical)),
    "polars Enum": (pl.DataFrame, lambda codes: of_polars(codes, pl.Enum(NAMES))),
    "pyarrow dictionaries": (pa.table, of_pyarrow),
    "pyarrow in blocks": (pa.table, lambda codes: of_pyarrow(codes) if codes[0] % 2 else codes / 3.0),
    "pandas numbers": (pd.DataFrame, lambda codes: codes / 3.0),
    "polars numbers": (pl.DataFrame, lambda codes: codes / 3.0),
    "pyarrow numbers": (pa.table, lambda codes: codes / 3.0),
}


def table(form: str, n_rows: int, n_columns: int) -> Any:
    make, column = FORMS[form]
    draws = np.random.default_rng(n_columns)
    return make({f"column {j}": column(draws.integers(0, MISSING + 1, n_rows)) for j in range(n_columns)})


def python_calls(X: Any) -> int:
    """Calls of Python functions until the columns of X are binned."""
    y, calls = np.arange(X.shape[0]) % 2, 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        prepare(RGBClassifier(), X, y)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("form", FORMS)
def test_python_calls_depend_on_columns_and_not_on_rows(form: str) -> None:
    python_calls(table(form, 500, 2))  # imports
    few, more = python_calls(table(form, 500, 10)), python_calls(table(form, 500, 30))
    assert (more - few) / 20 < MOST_CALLS
    assert python_calls(table(form, 20_000, 10)) <= few + 20  # pandas checks the first frames of a kind more closely


MEMORY = """
import sys
import numpy as np
from radboost import RGBClassifier
from prepared_rows import prepare
from rows.test_columns import table

def kilobytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0])

form, n_rows, n_columns = sys.argv[1], int(sys.argv[2]), 8
X, y = table(form, n_rows, n_columns), np.arange(n_rows) % 2
options = {"keep_values": form != "pyarrow in blocks"}
prepare(RGBClassifier(), table(form, 100, n_columns), y[:100], **options)
before = kilobytes("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
prepare(RGBClassifier(), X, y, **options)
print((kilobytes("VmHWM") - before) * 1024 / n_rows / n_columns)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts the peak of memory anew")
@pytest.mark.parametrize(
    ("form", "n_rows"),
    [("pandas categories", 1_000_000), ("polars Categorical", 1_000_000), ("pyarrow dictionaries", 1_000_000)]
    + [("pyarrow in blocks", 2_500_000)]
    + [pytest.param(form, 10_000_000, marks=pytest.mark.slow) for form in FORMS],
)
def test_the_matrix_and_its_bins_are_the_only_copies(form: str, n_rows: int) -> None:
    """For each cell the matrix has 8 bytes, the bins have 1; labels and order have about 41 for each row.

    Libraries keep some memory for their threads; another copy of the matrix would take twice of what is left for that.
    """
    tests = str(Path(__file__).resolve().parents[1])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n{MEMORY}", form, str(n_rows)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    no_matrix = form in ("pandas numbers", "pyarrow in blocks")  # the first is taken as it is
    assert float(run.stdout) < (0 if no_matrix else 8) + 1 + 41 / 8 + 4


def dictionary(codes: list[int | None], values: Any, kind: Any = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(values, kind))


#: column -> its categories and codes
ENCODED: dict[str, tuple[Any, tuple[Any, ...], list[float | None]]] = {
    "unused": (dictionary([2, 0, None, 2], ["red", "never", "blue"]), ("blue", "red"), [0, 1, None, 0]),
    "twice": (dictionary([0, 1, 2, 0], ["red", "red", "blue"]), ("blue", "red"), [1, 1, 0, 1]),
    "chunks": (
        pa.chunked_array([dictionary([0, 1], ["red", "blue"]), dictionary([1, None], ["blue", "green"])]),
        ("blue", "green", "red"),
        [2, 0, 1, None],
    ),
    "chunks with missing values in them": (
        pa.chunked_array([dictionary([0, 1], ["red", None]), dictionary([1, 0], ["blue", "green"])]),
        ("blue", "green", "red"),
        [2, None, 1, 0],
    ),
    "no rows in a chunk": (
        pa.chunked_array([dictionary([], [], pa.string()), dictionary([0, 1, 0, 0], ["b", "a"])]),
        ("a", "b"),
        [1, 0, 1, 1],
    ),
    "whole numbers": (dictionary([0, None, 1, 0], [10, 9]), (9, 10), [1, None, 0, 1]),
    "numbers": (dictionary([0, 1, 2, None], [2.5, 2.0, np.nan]), (2, 2.5), [1, 0, None, None]),
    "booleans": (dictionary([0, None, 1, 0], [True, False]), (False, True), [1, None, 0, 1]),
    "nothing": (pa.nulls(4, pa.dictionary(pa.int8(), pa.string())), (), [None] * 4),
    "pandas": (pd.Categorical(["b", None, 3, 2.5], categories=["never", 3, "b", 2.5]), (2.5, 3, "b"), [2, None, 1, 0]),
    "polars, nothing": (pl.Series([None] * 4, dtype=pl.Categorical), (), [None] * 4),
}
CELLS = ["b", None, "a", "b"]
SAME_CELLS = {
    "missing in the dictionary": dictionary([0, 1, 2, 0], ["b", None, "a"]),
    "pandas, dates unused": pd.Categorical(CELLS, ["a", dt.date(2020, 1, 1), "b"]),
    "pandas, another order": pd.Categorical(CELLS, ["b", "never", "a"], ordered=True),
    "pandas of Arrow": pd.array(CELLS, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "polars": pl.Series(["never", *CELLS], dtype=pl.Categorical)[1:],
    "polars Enum": pl.Series(CELLS, dtype=pl.Enum(["c", "b", "a"])),
}
ENCODED |= {case: (column, ("a", "b"), [1, None, 0, 1]) for case, column in SAME_CELLS.items()}


@pytest.mark.parametrize("case", ENCODED)
def test_codes_of_any_table_become_those_of_sorted_categories(case: str) -> None:
    column, categories, codes = ENCODED[case]
    library = type(column).__module__.partition(".")[0]
    make = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(library, pd.DataFrame)
    X = make({"first": [0.5, 1.5, 2.5, 3.5], "case": column})
    estimator = RGBClassifier()
    prepared = prepare(estimator, X, [0, 1, 0, 1])
    expected = np.array([[0.5, 1.5, 2.5, 3.5], codes], dtype=np.float64).T
    assert prepared.categories == {1: categories}
    assert [type(one) for one in prepared.categories[1]] == [type(one) for one in categories]
    np.testing.assert_array_equal(prepared.X, expected)
    np.testing.assert_array_equal(read_matrix(estimator, X, {1: categories}), expected)
    known = categories[1:]  # the first is new at prediction
    expected[:, 1] = np.where(expected[:, 1] == 0, np.nan, expected[:, 1] - 1)
    np.testing.assert_array_equal(read_matrix(estimator, X, {1: known}), expected)
