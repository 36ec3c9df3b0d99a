"""Input that native code or NumPy would misread: damaged sparse matrices, masks, dates, complex numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn import config_context

from properties.cases import CASES, Case, on_readers, one_of_each, scores

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def damage(form: str, part: str, place: int, value: int) -> Callable[[np.ndarray], Any]:
    def make(X: np.ndarray) -> Any:
        matrix = getattr(scipy.sparse, f"{form}_array")(np.where(np.abs(X) < 0.4, 0.0, X))
        if form == "lil":
            matrix.rows[place][0] = value
        elif form == "coo":
            matrix.coords[part == "columns"][place] = value
        else:
            getattr(matrix, part)[place] = value
        return matrix

    return make


DAMAGED: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "csr, column 10^8": (damage("csr", "indices", 3, 10**8), r"column index 100000000, and columns go from 0 to 4"),
    "csr, column 99": (damage("csr", "indices", 3, 99), r"column index 99"),
    "csr, column -5": (damage("csr", "indices", 3, -5), r"column index -5"),
    "csr, indptr too long": (damage("csr", "indptr", -1, 10**8), r"indptr that ends with 100000000"),
    "csr, indptr falls": (damage("csr", "indptr", 4, 10**8), r"indptr that decreases"),
    "csr, indptr begins late": (damage("csr", "indptr", 0, 1), r"indptr that begins with 1"),
    "csc, row 10^8": (damage("csc", "indices", 3, 10**8), r"row index 100000000, and rows go from 0 to 89"),
    "csc, row -1": (damage("csc", "indices", 3, -1), r"row index -1"),
    "csc, indptr too long": (damage("csc", "indptr", -1, 10**8), r"indptr that ends with"),
    "bsr, column 10^8": (damage("bsr", "indices", 3, 10**8), r"column index 100000000"),
    "coo, row 10^8": (damage("coo", "rows", 3, 10**8), r"row index 100000000"),
    "coo, column -1": (damage("coo", "columns", 3, -1), r"column index -1"),
    "lil, column 10^8": (damage("lil", "rows", 3, 10**8), r"column index 100000000"),
}


@on_readers(DAMAGED)
def test_damaged_sparse_matrices_are_refused(case: Case, what: str) -> None:
    X, y = case.data(0)
    make, message = DAMAGED[what]
    with pytest.raises(ValueError, match=rf"X is a damaged sparse matrix: .*{message}"):
        case.make().fit(make(X), y)
    model = case.make().fit(X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match=rf"X is a damaged sparse matrix: .*{message}"):
                getattr(model, method)(make(X))


def test_parts_of_a_sparse_matrix_that_do_not_fit() -> None:
    case = CASES[0]
    X, y = case.data(0)
    for name, value, message in (
        ("indptr", np.zeros(3, dtype=np.int32), "indptr of the shape"),
        ("indptr", np.zeros(91), "indptr of the type float64"),
        ("indices", np.zeros(450), "indices of the type float64"),
        ("indices", np.zeros(4, dtype=np.int32), "only 4 stored values"),
        ("data", np.zeros(4), "only 4 stored values"),
    ):
        matrix = scipy.sparse.csr_matrix(X)
        setattr(matrix, name, value)
        with pytest.raises(ValueError, match=rf"damaged sparse matrix.*{message}.*Build it again"):
            case.make().fit(matrix, y)


@one_of_each()
def test_sparse_matrices_with_room_to_spare_are_sound(case: Case) -> None:
    """What stands behind the last start is not part of the matrix, and the matrix that was given stays as it is."""
    X, y = case.data(0)
    sound = scipy.sparse.csr_array(X)
    roomy = scipy.sparse.csr_array(X)
    roomy.indices = np.append(roomy.indices, 10**8).astype(np.int32)
    roomy.data = np.append(roomy.data, np.inf)
    model = case.make().fit(sound, y)
    np.testing.assert_array_equal(scores(model, roomy), scores(model, sound))
    np.testing.assert_array_equal(scores(case.make().fit(roomy, y), sound), scores(model, sound))
    assert len(roomy.indices) == X.size + 1


def masked(values: np.ndarray, *places: int) -> Any:
    mask = np.zeros(values.shape, dtype=bool)
    mask.reshape(-1)[list(places)] = True
    return np.ma.MaskedArray(values, mask)


@one_of_each()
def test_masks_are_refused(case: Case) -> None:
    X, y = case.data(0)
    weights = np.ones(len(y))
    with pytest.raises(ValueError, match=r"X is a masked array with 2 masked entries.*Fill them.*leave the rows out"):
        case.make().fit(masked(X, 3, 8), y)
    with pytest.raises(ValueError, match=r"y is a masked array with 1 masked entry.*Fill.*leave the rows out"):
        case.make().fit(X, masked(y, 3))
    with pytest.raises(ValueError, match=r"sample_weight is a masked array with 1 masked entry.*Fill"):
        case.make().fit(X, y, sample_weight=masked(weights, 4))
    plain = case.make().fit(X, y, sample_weight=weights)
    model = case.make().fit(masked(X), masked(y), sample_weight=masked(weights))
    np.testing.assert_array_equal(scores(model, masked(X)), scores(plain, X))
    with pytest.raises(ValueError, match=r"X is a masked array with 1 masked entry"):
        model.predict(masked(X, 7))


@one_of_each(lambda case: case.validates)
def test_masks_of_validation_rows_are_refused(case: Case) -> None:
    X, y = case.data(0)
    model = case.make(early_stopping=True)
    given = {"X_val": X, "y_val": y, "sample_weight_val": np.ones(len(y))}
    for name, values in given.items():
        with pytest.raises(ValueError, match=rf"^{name} is a masked array"):
            model.fit(X, y, **{**given, name: masked(values, 3)})


def days(n: int) -> list[dt.date]:
    return [dt.date(2020, 1, 1) + dt.timedelta(k) for k in range(n)]


def with_not_a_time(dates: np.ndarray) -> np.ndarray:
    dates[3] = "NaT"
    return dates


def beside_numbers(frame: Callable[..., Any], dates: Callable[[int], Any]) -> Callable[[np.ndarray], Any]:
    return lambda X: frame({"size": X[:, 0], "day": dates(len(X))})


DATES: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "datetime64": (lambda X: np.arange(X.size).reshape(X.shape).astype("M8[s]"), r"X holds dates.*datetime64\[s\]"),
    "datetime64 with NaT": (
        lambda X: with_not_a_time(np.arange(X.size).reshape(X.shape).astype("M8[s]")),
        r"X holds dates.*datetime64\[s\]",
    ),
    "timedelta64": (lambda X: np.arange(X.size).reshape(X.shape).astype("m8[s]"), r"X holds dates.*timedelta64\[s\]"),
    "objects": (lambda X: [[row[0], np.timedelta64(5, "s"), *row[2:]] for row in X.tolist()], "Column 1 of X"),
    "array of objects": (
        lambda X: np.array([[np.datetime64("2020-01-01"), *row[1:]] for row in X.tolist()], dtype=object),
        "Column 0 of X",
    ),
    "pandas": (beside_numbers(pd.DataFrame, lambda n: pd.to_datetime(days(n))), "Column 'day' of X"),
    "pandas with zone": (
        beside_numbers(pd.DataFrame, lambda n: pd.to_datetime(days(n)).tz_localize("UTC")),
        "Column 'day' of X",
    ),
    "pandas periods": (beside_numbers(pd.DataFrame, lambda n: pd.period_range("2020", periods=n)), "Column 'day' of X"),
    "pandas objects": (beside_numbers(pd.DataFrame, days), "Column 'day' of X"),
    "pandas differences": (
        beside_numbers(pd.DataFrame, lambda n: pd.to_timedelta(np.arange(n), "s")),
        "Column 'day' of X",
    ),
    "polars dates": (beside_numbers(pl.DataFrame, days), "Column 'day' of X"),
    "polars times": (beside_numbers(pl.DataFrame, lambda n: pl.Series(days(n)).cast(pl.Datetime)), "Column 'day' of X"),
    "polars differences": (
        beside_numbers(pl.DataFrame, lambda n: [dt.timedelta(k) for k in range(n)]),
        "Column 'day' of X",
    ),
    "pyarrow": (beside_numbers(pa.table, days), "Column 'day' of X"),
    "pyarrow times": (beside_numbers(pa.table, lambda n: pa.array(np.arange(n).astype("M8[s]"))), "Column 'day' of X"),
}


@on_readers(DATES)
def test_dates_are_refused(case: Case, what: str) -> None:
    X, y = case.data(0)
    make, message = DATES[what]
    with pytest.raises(ValueError, match=rf"{message}.*Turn them into numbers.*days since") as caught:
        case.make().fit(make(X), y)
    assert len(str(caught.value)) < 250
    dates = make(X)
    width = dates.shape[1] if hasattr(dates, "shape") else X.shape[1]
    names = getattr(dates, "column_names", getattr(dates, "columns", None))
    known = X[:, :width] if names is None else pd.DataFrame(X[:, :width], columns=list(names))
    if not isinstance(names, list) or isinstance(names[0], str):
        model = case.make().fit(known, y)
        with pytest.raises(ValueError, match=message):
            model.predict(dates)


@one_of_each(lambda case: case.categories)
def test_dates_beside_categories_are_refused(case: Case) -> None:
    X, y = case.data(0)
    frame = pd.DataFrame({"day": days(len(X)), "colour": pd.Categorical(np.where(X[:, 0] > 0, "red", "blue"))})
    for form in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"Column 'day' of X holds dates"):
            case.make().fit(form, y)


@one_of_each(lambda case: not case.classifies)
@pytest.mark.parametrize("kind", ["M8[s]", "m8[s]", complex])
def test_targets_that_are_no_numbers_are_refused(case: Case, kind: Any) -> None:
    X, y = case.data(0)
    with pytest.raises(ValueError, match=r"y must hold numbers|Complex data not supported"):
        case.make().fit(X, (10 * y).astype(int).astype(kind))


@on_readers(["M8[s]", "m8[s]", "complex", "dates", "polars", "pyarrow"])
def test_weights_that_are_no_numbers_are_refused(case: Case, kind: Any) -> None:
    X, y = case.data(0)
    numbers = np.arange(1, len(y) + 1)
    weights = {"dates": days(len(y)), "polars": pl.Series(days(len(y))), "pyarrow": pa.array(days(len(y)))}
    given = weights[kind] if kind in weights else numbers.astype(kind)
    with pytest.raises(ValueError, match=r"sample_weight must hold numbers.*not dates or complex numbers"):
        case.make().fit(X, y, sample_weight=given)


@one_of_each()
def test_complex_columns_are_named(case: Case) -> None:
    X, y = case.data(0)
    frame = pd.DataFrame({"a": X[:, 0], "p": X[:, 1] + 1j})
    with pytest.raises(ValueError, match=r"^Column 'p' of X holds complex numbers .*real and the imaginary part") as e:
        case.make().fit(frame, y)
    assert "text" not in str(e.value)


@one_of_each()
def test_columns_of_one_name_at_prediction(case: Case) -> None:
    X, y = case.data(0)
    model = case.make().fit(pd.DataFrame(X, columns=list("abcde")), y)
    table = pa.Table.from_arrays([pa.array(column) for column in X.T], names=list("aacde"))
    for twice in (pd.DataFrame(X, columns=list("aacde")), table):
        with pytest.raises(ValueError, match=r"X has more than one column named 'a'"):
            model.predict(twice)


@one_of_each(lambda case: not case.missing and not case.boosted)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_what_is_missing_is_blamed_when_it_was_assumed_away(case: Case, form: Any) -> None:
    X, y = case.data(0)
    X[3, 1] = np.nan
    with config_context(assume_finite=True), pytest.raises(ValueError, match=r"X holds NaN or infinity.*column 1"):
        case.make().fit(form(X), y)


@one_of_each(lambda case: not case.classifies)
def test_text_in_targets_is_not_blamed_on_rows(case: Case) -> None:
    X, y = case.data(0)
    for given in (np.array([1, "a"] * (len(y) // 2), dtype=object), np.array(["a", "b"] * (len(y) // 2))):
        with pytest.raises(ValueError, match=r"^y must hold numbers to learn.*a classifier is the right tool"):
            case.make().fit(X, given)
    with pytest.raises(ValueError, match=r"^y holds an integer too large"):
        case.make().fit(X, [10**400] * len(y))
    for missing in (pd.Series([None, *range(len(y) - 1)], dtype="Int64"), [None, *range(len(y) - 1)]):
        with pytest.raises(ValueError, match=r"^y holds targets that are missing|^Input y contains NaN"):
            case.make().fit(X, missing)
