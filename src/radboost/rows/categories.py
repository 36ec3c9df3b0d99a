"""Categorical columns: the categories as users pass them, and their integer codes for the engine."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._number_formats import WrittenNumbers, conversion, find_numbers
from radboost._numbers import listed
from radboost._tables import (
    CATEGORY,
    TEXT,
    Encoded,
    column_names,
    column_title,
    column_values,
    encoded_columns,
    is_arrow,
    is_missing,
)
from radboost._typing import Category, FloatArray, FloatMatrix

Categories = Mapping[int, tuple[Category, ...]]  # by column, sorted
Codes = npt.NDArray[np.int64]

MOST_CATEGORIES = 255  # per column
MISSING = -1  # code of a missing value or unknown category
BLOCK_ROWS = 2**18  # cells of a column that are converted at once: temporary copies are small
LARGEST_EXACT = 2.0**53  # below it every whole number is a double
MOST_CONVERSIONS = 3  # suggested conversions in a message
_AS_TEXT = ".astype(str)"
_ITEMS = (bool | np.bool_, int | np.integer, str)  # of a mask, of indices, of names
_FORMS = 'use "from_dtype", None, or a list of column indices, of column names, or a mask of booleans'


def names_columns(given: object) -> bool:
    """Check whether the parameter `categorical_features` lists columns by index, name or mask."""
    return given is not None and not isinstance(given, str)


def categorical_columns(given: object, X: Any, kinds: Sequence[str]) -> list[int]:
    """Column indices, ascending, selected by `categorical_features` for this X, whose columns have these kinds."""
    if given is None:
        return []
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(f"categorical_features={given!r} is not known; {_FORMS}.")
        return [column for column, kind in enumerate(kinds) if kind in (CATEGORY, TEXT)]
    try:
        chosen, n_features = np.asarray(given, dtype=object), X.shape[1]
    except ValueError:  # lists of different lengths
        chosen = np.zeros((0, 0))
    if chosen.ndim != 1:
        raise ValueError(f"categorical_features={_short(given)} is not a list; {_FORMS}.")
    kinds_of_items = {next((kind for kind in _ITEMS if isinstance(item, kind)), None) for item in chosen}
    if kinds_of_items == {_ITEMS[0]}:
        if len(chosen) != n_features:
            raise ValueError(
                f"categorical_features is a mask of {len(chosen)} entries for {n_features} columns; give one for each."
            )
        return np.flatnonzero(chosen).tolist()
    if kinds_of_items <= {_ITEMS[1]}:
        for index in chosen:
            if not 0 <= index < n_features:
                raise ValueError(f"categorical_features names column {index}; X has the columns 0 to {n_features - 1}.")
        return sorted({int(index) for index in chosen})
    if kinds_of_items == {str}:
        return sorted(_column_of_name(X, name) for name in set(chosen.tolist()))
    raise ValueError(f"categorical_features={_short(given)} is neither; {_FORMS}.")


def _column_of_name(X: Any, name: str) -> int:
    names = column_names(X)
    if names is None:
        raise ValueError(
            f"categorical_features names the column {str(name)!r}, and X has no column names. Pass a data frame, or "
            "name the columns by their indices."
        )
    if name not in names:
        raise ValueError(f"categorical_features names the column {str(name)!r}; X has the columns [{listed(names)}].")
    return names.index(name)


class TextColumnWarning(UserWarning):
    """Columns of text were taken as categorical, though `categorical_features` does not name them."""


def warn_of_text(X: Any, columns: Sequence[int], kinds: Sequence[str]) -> None:
    """Warn of columns that are taken as categorical only because they hold text; `kinds`: of all columns."""
    text = [column for column in columns if kinds[column] == TEXT]
    if not text:
        return
    shown = listed([column_title(X, column) for column in text], 5, str)
    names = [(column_names(X) or [])[column] for column in columns]
    named = _short(names if all(isinstance(name, str) for name in names) else list(columns))
    warnings.warn(
        f"X holds text in {shown}; text is taken as categories. If that is meant, name the columns, "
        f'categorical_features={named}, or silence this warning: warnings.simplefilter("ignore", '
        f"radboost.rows.TextColumnWarning).{number_advice(X, text)}",
        TextColumnWarning,
        stacklevel=10,
    )


def number_advice(X: Any, columns: Sequence[int]) -> str:
    """Advice for messages: columns of text that could be numbers, with examples and the conversion; "" for none."""
    said = []
    for column in columns:
        try:
            ((levels, codes),) = _levels(X, [column])
        except ValueError:  # lists and the like
            continue
        counts = np.bincount(codes + np.int64(1), minlength=len(levels) + 1)[1:].tolist()
        used = {level: n for level, n in zip(levels, counts, strict=True) if n and not is_missing(level)}
        found = find_numbers({str(level): n for level, n in used.items()})
        if found is not None:
            line = _conversion(X, column, found, mixed=any(not isinstance(level, str) for level in used))
            values = ", ".join(map(repr, found.examples))
            said.append(f" {column_name(X, column)} looks like numbers ({values}); convert it: {line}")
    return "".join(said[:MOST_CONVERSIONS])


def _conversion(X: Any, column: int, found: WrittenNumbers, *, mixed: bool) -> str:
    """Python statement that converts a column of X; `mixed`: the column has Python numbers beside texts."""
    names = column_names(X)
    if names is None:
        return f"X[:, {column}] = {conversion(found, f'pd.Series(X[:, {column}]){_AS_TEXT * mixed}')}"
    name = f"X[{names[column]!r}]"
    if is_arrow(X):
        made = conversion(found, f"{name}.to_pandas()")
        return f"X = X.set_column({column}, {names[column]!r}, pa.array({made}))"
    if hasattr(X, "iloc"):
        return f"{name} = {conversion(found, f'{name}{_AS_TEXT * mixed}')}"
    return f"X = X.with_columns({conversion(found, f'pl.col({names[column]!r})', polars=True)})"


def learn_categories(X: Any, columns: Sequence[int], matrix: FloatMatrix | None, kept: Codes | None) -> Categories:
    """Sorted categories of these columns in the rows with indices `kept` (None: all).

    A matrix gets the code of each row, NaN for a missing value.
    """
    categories = {}
    for column, (levels, codes) in zip(columns, _levels(X, columns), strict=True):
        occurs = np.zeros(len(levels) + 1, dtype=bool)
        for first in range(0, len(codes), BLOCK_ROWS):
            block = slice(first, first + BLOCK_ROWS)
            occurs[codes[block if kept is None else kept[block]]] = True  # the last one for MISSING
        used = list(compress(levels, occurs.tolist()))
        text = set(map(type, used)) <= {str}
        used = used if text else [_plain(X, column, level) for level in used if not is_missing(level)]
        categories[column] = tuple(sorted(set(used), key=None if text else _sort_key))
        if matrix is not None:
            _put_codes(matrix[:, column], categories[column], levels, codes)
    return categories


def all_categories(parts: Sequence[Categories]) -> dict[int, tuple[Category, ...]]:
    """Union of the categories of each column over several parts of the rows, sorted."""
    if len(parts) == 1:
        return dict(parts[0])
    columns = sorted(set().union(*parts))
    return {column: _union([part[column] for part in parts if column in part]) for column in columns}


def _union(parts: Sequence[Sequence[Category]]) -> tuple[Category, ...]:
    values = {value for part in parts for value in part}
    kinds = {type(value) for part in parts for value in part}
    if bool in kinds and kinds & {int, float}:  # as in `_holds_numbers`: then True is 1
        values = {int(value) if isinstance(value, bool) else value for value in values}
    return tuple(sorted(values, key=_sort_key))


def find_categories(X: Any, categories: Categories, matrix: FloatMatrix) -> None:
    """Write each row's code among the known categories into `matrix`; NaN for an unknown one."""
    columns = list(categories)
    for column, (levels, codes) in zip(columns, _levels(X, columns), strict=True):
        _put_codes(matrix[:, column], categories[column], levels, codes)


def column_codes(X: Any, column: int, known: Sequence[Category]) -> FloatArray:
    """Code of each row's category in a column, shape (n_rows,); NaN for an unknown one."""
    ((levels, codes),) = _levels(X, [column])
    cells = np.empty(len(codes))
    _put_codes(cells, known, levels, codes)
    return cells


def _put_codes(cells: npt.NDArray[Any], known: Sequence[Category], levels: list[Any], codes: npt.NDArray[Any]) -> None:
    index = dict(zip(known, range(len(known)), strict=True))
    value_of = np.array([*map(index.get, levels), None], dtype=np.float64)  # NaN for None
    for first in range(0, len(codes), BLOCK_ROWS):
        cells[first : first + BLOCK_ROWS] = value_of[codes[first : first + BLOCK_ROWS]]


class RareCategoriesWarning(UserWarning):
    """A column has more categories than are supported; the rare ones are taken as missing values."""


def most_frequent(sizes: FloatArray, names: Any, column: int) -> list[int]:
    """The 255 codes of the largest total weight, ascending; warns that the others become missing values."""
    warnings.warn(
        f"{column_name(names, column)} holds {len(sizes)} categories; the {MOST_CATEGORIES} most frequent are told "
        "apart, and the others are taken as missing values. To use them all, make numbers of the column, for "
        "example with sklearn.preprocessing.TargetEncoder; to silence this warning, merge the rare ones, or call "
        'warnings.simplefilter("ignore", radboost.rows.RareCategoriesWarning).',
        RareCategoriesWarning,
        stacklevel=7,
    )
    return sorted(np.argsort(-sizes, kind="stable")[:MOST_CATEGORIES].tolist())


def refuse_sparse(X: Any, columns: Sequence[int]) -> None:
    """Raise a ValueError for a sparse X with categorical columns."""
    if len(columns) and sparse.issparse(X):
        raise ValueError(
            f"Categorical columns need a dense X, and this one is sparse (column {columns[0]} is categorical). Pass "
            "X.toarray(), or encode the categories as columns of zeros and ones and set categorical_features=None."
        )


def _levels(X: Any, columns: Sequence[int]) -> Iterator[Encoded]:
    """Values and codes of each column; the values need neither differ nor occur, and None and NaN are missing."""
    for column, encoded in zip(columns, encoded_columns(X, columns), strict=True):
        if encoded is None:
            values = column_values(X, column)
            if values.dtype.kind == "O":
                encoded = _levels_of_objects(values.tolist())
            else:
                levels, codes = np.unique(values, return_inverse=True)
                encoded = list(levels), codes.reshape(-1)
        yield encoded


def _levels_of_objects(values: list[Any]) -> Encoded:
    index: dict[Any, int] = {}
    try:
        codes = np.array([index.setdefault(value, len(index)) for value in values], dtype=np.int64)
    except TypeError as error:
        raise ValueError(f"A categorical column holds something that cannot be a category: {error}.") from None
    numbers = _holds_numbers(values)
    return [int(value) if isinstance(value, bool | np.bool_) and numbers else value for value in index], codes


def _holds_numbers(values: list[Any]) -> bool:
    """Check for numbers beside booleans: in Python True equals 1, so such a column is one of numbers."""
    kinds = tuple(
        kind for kind in set(map(type, values)) if issubclass(kind, int | float | np.number) and kind is not bool
    )
    return any(isinstance(value, kinds) and value == value for value in values) if kinds else False


def _plain(X: Any, column: int, value: Any) -> Category:
    """Category as a Python value; a float without a fraction becomes an int. Others raise a ValueError."""
    value = value.item() if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) else value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value == int(value) and abs(value) < LARGEST_EXACT else value
    if not isinstance(value, bool | int | str):
        what = "infinity" if isinstance(value, float) else f"{_short(value)}, a {type(value).__name__}"
        raise ValueError(
            f"{column_name(X, column)} is categorical and holds {what}. Categories are strings, finite numbers or "
            "booleans: convert the column first, for example with astype(str)."
        )
    return value


def _sort_key(value: Category) -> tuple[bool, Category]:
    """Sort key that puts numbers before strings."""
    return isinstance(value, str), value


def column_name(X: Any, column: int) -> str:
    return column_title(X, column).replace("column", "Column", 1)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
