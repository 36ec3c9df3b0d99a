"""Tables as users pass them: names and kinds of their columns, and errors for input that would be misread silently."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

NUMBER, CATEGORY, TEXT, DATE, COMPLEX, OTHER = "number", "category", "text", "date", "complex", "other"

# By the names of the types, so that none of the libraries needs to be installed.
_KINDS = {
    **dict.fromkeys(("CategoricalDtype", "Categorical", "Enum"), CATEGORY),
    **dict.fromkeys(("StringDtype", "String", "Utf8"), TEXT),
    **dict.fromkeys(("DatetimeTZDtype", "PeriodDtype", "Date", "Datetime", "Time", "Duration"), DATE),
    **dict.fromkeys(("List", "Array", "Struct", "Binary"), OTHER),
}
_KINDS_OF_NUMPY = {"m": DATE, "M": DATE, "c": COMPLEX, "U": TEXT, "S": TEXT, "T": TEXT}
_KINDS_OF_ARROW = {  # other types are OTHER
    "string": TEXT,
    "dictionary": CATEGORY,
    **dict.fromkeys(("date", "timestamp", "time", "duration", "month_day_nano_interval"), DATE),
    **dict.fromkeys(("bool", "int", "uint", "halffloat", "float", "double", "decimal", "null"), NUMBER),
}
_PARAMETERS = re.compile(r"\d*(?:[<(\[]|$)")  # number of bits, unit and so on in the name of an Arrow type
Encoded = tuple[list[Any], npt.NDArray[np.integer[Any]]]  # values, each row's index among them (-1: missing)

_DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def is_arrow(given: Any) -> bool:
    """Check for a table, a batch or an array of pyarrow."""
    return type(given).__module__.partition(".")[0] == "pyarrow"


def column_names(X: Any) -> list[Any] | None:
    """Column names of a frame or table, of any type; None for anything else."""
    names = getattr(X, "column_names", None) if is_arrow(X) else getattr(X, "columns", None)
    if names is None or callable(names):
        return None
    return names.tolist() if hasattr(names, "tolist") else list(names)


def column_title(X: Any, column: int) -> str:
    """Description of a column for messages, with its name if it has one, otherwise its index."""
    names = column_names(X)
    return f"column {column}" if names is None else f"column {str(names[column])!r}"


def first_infinite(X: Any, places: Sequence[int] | None) -> str:
    """Sentence for messages on the first infinity in X, or ""; `places`: indices of X's columns in the user's table."""
    try:
        stored = sparse.coo_array(X if sparse.issparse(X) else np.asarray(without_arrow(X), dtype=np.float64))
        at = np.flatnonzero(np.isinf(stored.data))[0]
        row, column, value = stored.row[at], stored.col[at], stored.data[at]
    except (ValueError, TypeError, IndexError, OverflowError):  # too large for the type, or an unknown form
        return ""
    names = column_names(X)
    of_table = int(column) if places is None else places[int(column)]
    named = of_table if names is None else f"{names[int(column)]!r}"
    return f" It has {value} in row {int(row)} of column {named}: give a finite number there."


def column_kinds(X: Any) -> list[str]:
    """Kind (NUMBER, TEXT, ...) of each column, by type, or by value for objects; [] for lists and sparse rows."""
    if is_arrow(X) and hasattr(X, "schema"):
        return [_kind_of_arrow(dtype) for dtype in X.schema.types]
    if isinstance(X, np.ndarray) and X.ndim == 2:
        kind = _KINDS_OF_NUMPY.get(X.dtype.kind, NUMBER)
        by_value = X.dtype == object
        return [kind_of_objects(column.tolist()) if by_value else kind for column in np.asarray(X).T]
    dtypes = getattr(X, "dtypes", None) if hasattr(X, "columns") else None
    return [] if dtypes is None else [_kind(X, column, dtype) for column, dtype in enumerate(dtypes)]


def _kind(X: Any, column: int, dtype: Any) -> str:
    # polars' types are classes or instances of them, pandas' have a name of their own.
    name = getattr(dtype, "__name__", type(dtype).__name__)
    if name in _KINDS:
        return _KINDS[name]
    if hasattr(dtype, "pyarrow_dtype"):
        return _kind_of_arrow(dtype.pyarrow_dtype)
    kind = getattr(dtype, "kind", "O" if name == "Object" else "f")
    return kind_of_objects(column_values(X, column).tolist()) if kind == "O" else _KINDS_OF_NUMPY.get(kind, NUMBER)


def _kind_of_arrow(dtype: Any) -> str:
    name = _PARAMETERS.split(str(dtype))[0]
    return _KINDS_OF_ARROW.get(name.removeprefix("large_").removesuffix("_view"), OTHER)


def is_missing(value: Any) -> bool:
    """Check for None, NaN, and pandas' NA or NaT (NA has no truth value)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def kind_of_objects(values: list[Any]) -> str:
    """Kind (NUMBER, TEXT, ...) of a list of Python objects, without regard to missing ones."""
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in ("NoneType", "NAType", "NaTType")}
    if any(issubclass(kind, _DATES) for kind in kinds):
        return DATE
    text = {kind for kind in kinds if issubclass(kind, str)}
    floats = {kind for kind in kinds if issubclass(kind, float | np.floating)}
    if text and kinds == text | floats:
        known = any(value == value for value in values if isinstance(value, float | np.floating))
        return OTHER if known else TEXT
    if any(issubclass(kind, complex | np.complexfloating) for kind in kinds):
        return COMPLEX
    return NUMBER if all(issubclass(kind, numbers.Number | np.bool_) for kind in kinds) else OTHER


def column_values(X: Any, column: int) -> npt.NDArray[Any]:
    """Values of a column of X in any dense form, shape (n_rows,)."""
    if is_arrow(X):
        return _values_of_arrow(X.column(column))
    if hasattr(X, "iloc"):
        return X.iloc[:, column].to_numpy()  # type: ignore[no-any-return]
    if hasattr(X, "columns"):
        return X[:, column].to_numpy()  # type: ignore[no-any-return]
    return np.asarray(X if hasattr(X, "dtype") else np.array(X, dtype=object))[:, column]


def encoded_columns(X: Any, columns: Sequence[int]) -> Iterable[Encoded | None]:
    """Values and codes of these columns, as the table has them if they are categories; None for one of other objects.

    Values need neither occur nor differ. Text is encoded by the library of the table.
    """
    if is_arrow(X):
        return map(_encoded_arrow, X.select(columns).columns)
    if hasattr(X, "iloc"):
        chosen = np.isin(np.arange(X.shape[1]), columns).tolist()
        return map(_encoded_pandas, compress(X.dtypes, chosen), compress(X.items(), chosen))
    return _encoded_polars(X[:, columns]) if hasattr(X, "columns") else [None] * len(columns)


def _encoded_arrow(column: Any) -> Encoded | None:
    kind = _kind_of_arrow(column.type)
    if kind not in (CATEGORY, TEXT) or column.null_count == len(column):
        return None
    if kind == TEXT:
        column = column.dictionary_encode()
    elif any(chunk.dictionary.null_count for chunk in column.chunks):  # Arrow does not unify such dictionaries
        return None
    chunks = column.unify_dictionaries().chunks
    codes = [np.asarray(chunk.indices.fill_null(-1)) for chunk in chunks]
    return list(np.asarray(chunks[0].dictionary)), codes[0] if len(codes) == 1 else np.concatenate(codes)


def _encoded_pandas(dtype: Any, item: tuple[Any, Any]) -> Encoded | None:
    _, series = item
    if hasattr(dtype, "categories"):
        levels = dtype.categories.array
        if getattr(levels.dtype, "storage", None) == "pyarrow":
            levels = levels.__arrow_array__()  # NumPy would read them through many functions of pandas
        return list(np.asarray(levels, dtype=object)), series.array.codes
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return _encoded_arrow(series.array.__arrow_array__())
    return None


def _encoded_polars(X: Any) -> list[Encoded | None]:
    import polars as pl

    names = X.columns
    texts = X.select(pl.col(pl.String)).get_columns()
    X = X.with_columns([text.cast(pl.Enum(text.drop_nulls().unique())) for text in texts])
    X = X.select(pl.col(pl.Categorical, pl.Enum))
    if not X.width:
        return [None] * len(names)
    distinct = X.select(pl.all().drop_nulls().unique().implode())
    ids = distinct.select(pl.all().list.eval(pl.element().to_physical())).row(0)
    texts = distinct.select(pl.all().list.eval(pl.element().cast(pl.String))).row(0)
    encoded: dict[str, Encoded] = {}
    for codes, *of_levels in zip(X.select(pl.all().to_physical()).get_columns(), ids, texts, strict=True):
        level_of = dict(zip(*of_levels, strict=True))  # of a Categorical, ids may be those of the whole process
        encoded[codes.name] = list(map(level_of.get, range(max(level_of, default=-1) + 1))), _whole(codes.to_numpy())
    return [encoded.get(name) for name in names]


def _whole(codes: npt.NDArray[Any]) -> npt.NDArray[np.integer[Any]]:
    """Codes without NaN, which stands for a missing value where a library has no other sign."""
    return np.nan_to_num(codes, nan=-1.0).astype(np.int32) if codes.dtype.kind == "f" else codes


def take_columns(X: Any, columns: Sequence[int]) -> Any:
    """Columns of X at these indices, in the form of X."""
    if is_arrow(X):
        return X.select(columns)
    return X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns]


def shares_memory(matrix: Any, table: Any) -> bool:
    """Check whether a matrix of all columns of an array or a data frame is no copy of it."""
    first = table.iloc[:1, 0].to_numpy() if hasattr(table, "iloc") else table
    return isinstance(first, np.ndarray) and bool(np.may_share_memory(matrix, first))


def rows_between(X: Any, first: int, last: int) -> Any:
    """Rows of a table from `first` to before `last`, without a copy."""
    return X.iloc[first:last] if hasattr(X, "iloc") else X[first:last]


def without_arrow(given: Any) -> Any:
    """NumPy array of a table, a batch or an array of pyarrow; anything else as it is."""
    if not is_arrow(given):
        return given
    if not hasattr(given, "column_names"):
        return _values_of_arrow(given)
    columns = [_values_of_arrow(column) for column in given.columns]
    return np.column_stack(columns) if columns else np.zeros(given.shape)


def _values_of_arrow(column: Any) -> npt.NDArray[Any]:
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)  # in a chunked array pyarrow makes categories of missing values
    return np.asarray(column)


def real_numbers(given: Any) -> npt.NDArray[np.float64]:
    """Convert to double precision; dates and complex numbers, which NumPy would convert, are a TypeError."""
    array = np.asarray(without_arrow(given))
    kind = kind_of_objects(array.ravel().tolist()) if array.dtype == object else _KINDS_OF_NUMPY.get(array.dtype.kind)
    if kind in (DATE, COMPLEX):
        raise TypeError("dates, times and complex numbers are not numbers here")
    return np.require(array, np.float64, "A")  # arrays over received bytes may begin at any address


def read_numbers(given: Any, name: str, wanted: str, fill: str) -> npt.NDArray[np.float64]:
    """Numbers of any shape in double precision; `wanted` and `fill` (advice for masks): for messages."""
    given = without_mask(given, name, fill)
    try:
        return real_numbers(given)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold numbers: {wanted}; got {str(given)[:80]}.") from None


def known_form(X: Any, name: str = "X", *, fill: str = "X.filled(np.nan) makes missing values of them") -> Any:
    """Convert X to a form that can be read safely; raises for input that would be misread or crash native code."""
    if isinstance(X, np.ma.MaskedArray):
        return without_mask(X, name, fill)
    if sparse.issparse(X):
        return _sound(X, name)
    if type(X).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame, which has no rows yet. Pass {name}.collect().")
    if is_arrow(X) and not hasattr(X, "column_names"):
        return without_arrow(X)
    if is_arrow(X) and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])  # scikit-learn does not know the names of a batch
    fills = [dtype.fill_value for dtype in X.dtypes if hasattr(dtype, "fill_value")] if hasattr(X, "sparse") else []
    if any(fill != 0 for fill in fills):  # scikit-learn reads sparse columns only if their fill value is 0
        X = X.sparse.to_dense()
    names = column_names(X)
    if names == []:
        raise ValueError(f"{name} has no columns; give at least one.")
    if names is not None and len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise ValueError(f"{name} has more than one column named {twice!r}; give every column a name of its own.")
    return X


def without_mask(given: Any, name: str, fill: str) -> Any:
    """Convert a masked array without masked entries to a plain one; other objects are returned as they are."""
    if not isinstance(given, np.ma.MaskedArray):
        return given
    n_masked = int(np.count_nonzero(np.ma.getmaskarray(given)))
    if n_masked:
        entries = "1 masked entry" if n_masked == 1 else f"{n_masked} masked entries"
        raise ValueError(
            f"{name} is a masked array with {entries}, and masks are not used here. Fill them ({fill}), or leave the "
            "rows out."
        )
    return np.asarray(given)


def refuse_dates(X: Any) -> None:
    """Raise a ValueError for dates, times and complex numbers, which NumPy would convert to numbers."""
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], list | tuple | np.ndarray):
        if any(isinstance(one, list | tuple) for one in X[0]):
            return
        # Lists take long to convert: the first row shows the type that NumPy would choose.
        X = np.array([X[0]], dtype=None if isinstance(X[0], np.ndarray) else object)
    for column, kind in enumerate(column_kinds(X)):
        where = column_title(X, column).replace("column", "Column", 1) if kind in (DATE, COMPLEX) else ""
        if kind == DATE:
            of_type = f" (the type {X.dtype})" if isinstance(X, np.ndarray) else ""
            raise ValueError(
                f"{where} of X holds dates or times{of_type}. Turn them into numbers first, for example into the days "
                "since a date, or into columns for year, month and day of the week."
            )
        if kind == COMPLEX:
            raise ValueError(
                f"{where} of X holds complex numbers (Complex data not supported). Pass the real and the imaginary "
                "part as two columns."
            )


def columns_without_numbers(X: Any) -> list[int]:
    """Indices of the columns that cannot be converted to numbers."""
    if isinstance(X, list | tuple):
        try:
            X = np.array(X, dtype=object)
        except ValueError:  # rows of different lengths
            return []
    kinds = column_kinds(X)
    return [column for column, kind in enumerate(kinds) if kind != NUMBER and not _converts(column_values(X, column))]


def _converts(values: npt.NDArray[Any]) -> bool:
    if values.ndim != 1:  # lists of one length, or structs: several numbers for each row
        return False
    try:
        values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _sound(X: Any, name: str) -> Any:
    """Sparse matrix with indices within its shape, which no native code checks, and no entries behind its end."""
    if len(X.shape) != 2:
        return X
    if X.format == "lil":
        X = X.tocsr()  # the conversion of lists is safe, but their contents are still to be checked
    reason = next(_damages(X), None)
    if reason is not None:
        raise ValueError(
            f"{name} is a damaged sparse matrix: in the format {X.format!r} with the shape {X.shape} it has {reason}. "
            "Build it again."
        )
    if X.format not in ("csr", "csc", "bsr") or len(X.indices) == len(X.data) == X.indptr[-1]:
        return X
    end = X.indptr[-1]
    return type(X)((X.data[:end], X.indices[:end], X.indptr), shape=X.shape)


def _damages(X: Any) -> Iterator[str]:
    """Reasons why a sparse matrix must not be read; each may assume that none before it holds."""
    n_rows, n_columns = X.shape
    indexed: list[tuple[npt.NDArray[Any], int, str]] = []
    if X.format == "coo":
        rows, columns = X.coords if hasattr(X, "coords") else (X.row, X.col)
        if not len(rows) == len(columns) == len(X.data):
            yield f"{len(X.data)} values and {len(rows)} and {len(columns)} indices, not as many of each"
        indexed = [(rows, n_rows, "row"), (columns, n_columns, "column")]
    elif X.format in ("csr", "csc", "bsr"):
        height, width = X.blocksize if X.format == "bsr" else (1, 1)
        lines, places, what = n_rows // height, n_columns // width, "column"
        if X.format == "csc":
            lines, places, what = places, lines, "row"
        starts, n_stored = X.indptr, min(len(X.indices), len(X.data))
        if starts.dtype.kind not in "iu":
            yield f"an indptr of the type {starts.dtype}, which is no integer"
        if starts.shape != (lines + 1,):
            yield f"an indptr of the shape {starts.shape}, and {lines + 1} entries are needed"
        if starts[0] != 0:
            yield f"an indptr that begins with {starts[0]}, not with 0"
        if (starts[1:] < starts[:-1]).any():
            yield "an indptr that decreases"
        if starts[-1] > n_stored:
            yield f"an indptr that ends with {starts[-1]}, and only {n_stored} stored values"
        indexed = [(X.indices[: starts[-1]], places, what)]
    for indices, limit, what in indexed:
        if indices.dtype.kind not in "iu":
            yield f"indices of the type {indices.dtype}, which is no integer"
        for index in (indices.min(), indices.max()) if len(indices) else ():
            if not 0 <= index < limit:
                yield f"the {what} index {index}, and {what}s go from 0 to {limit - 1}"
