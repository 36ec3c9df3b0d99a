"""Reading of rows, labels and targets as users pass them: checks and conversion into one form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_X_y, validate_data

from radboost._numbers import listed
from radboost._tables import (
    column_names,
    column_title,
    columns_without_numbers,
    first_infinite,
    is_missing,
    known_form,
    real_numbers,
    refuse_dates,
    rows_between,
    take_columns,
    without_arrow,
    without_mask,
)
from radboost._typing import ClassIds, FloatArray, FloatMatrix
from radboost.rows.categories import (
    Categories,
    find_categories,
    learn_categories,
    number_advice,
    refuse_sparse,
)

FLOATS = (np.float64, np.float32)
BLOCK_BYTES = 2**26  # memory of a block of rows that are processed at once
BLOCK_PAIRS = 2**25  # pairs of a row and a hypothesis that are scored in about a tenth of a second
LARGEST_NUMBER_OF_CLASSES = 65534
LARGEST_TARGET = 1e100  # squares of targets can be summed without overflow


@dataclass(frozen=True)
class Accepted:
    """Forms of X and y that an estimator supports."""

    missing: bool = True  # NaN in X, and columns of categories
    formats: Sequence[str] = ("csr",)  # of sparse matrices
    targets: str = "labels"  # "numbers"; "tasks": a column of labels for each task, some of them missing

    @property
    def checks(self) -> dict[str, Any]:
        """Keyword arguments for scikit-learn's `check_array`."""
        finite = "allow-nan" if self.missing else True
        return {"dtype": FLOATS, "ensure_all_finite": finite, "accept_sparse": self.formats}

    def read(self, X: Any, name: str = "X") -> Any:
        """Convert rows to a form that can be read safely; `name`: for messages."""
        missing = f"{name}.filled(np.nan) makes missing values of them"
        X = known_form(X, name, fill=missing if self.missing else "with the mean of the column, say")
        # Arrays over received bytes may begin at any address, which native code must not read numbers from.
        return X.copy() if isinstance(X, np.ndarray) and not X.flags.aligned else X


BINNED = Accepted()


def read_rows(
    estimator: Any,
    X: Any,
    columns: Sequence[int],
    accepted: Accepted = BINNED,
    *,
    known: Categories | None = None,
    kept: npt.NDArray[np.int64] | None = None,
) -> tuple[Categories, Any]:
    """Categories of these columns, and checked values: float32 or float64, dense or CSR, with codes for categories.

    `known`: the categories of training rows, for more rows; None: X has training rows, whose names the estimator keeps.
    Categories are then those of the rows with indices `kept`; None: all.
    """
    if not columns:
        matrix = _numbers(estimator, X, accepted)
        validate_data(estimator, X, reset=known is None, skip_check_array=True)  # names and number of columns
        return {}, matrix
    validate_data(estimator, X, reset=known is None, skip_check_array=True)
    refuse_sparse(X, columns)
    if X.shape[0] == 0:
        check_array(np.empty(X.shape), estimator=estimator)  # raises, with the shape of all columns
    matrix = _without_codes(X, columns, lambda numbers, places: _numbers(estimator, numbers, accepted, places))
    if known is None:
        return learn_categories(X, columns, matrix, kept), matrix
    find_categories(X, known, matrix)
    return known, matrix


def _without_codes(X: Any, columns: Collection[int], read: Callable[[Any, list[int]], FloatMatrix]) -> FloatMatrix:
    """Matrix of X with NaN in these columns; `read`: the values of the others, whose indices it gets too."""
    others = [column for column in range(X.shape[1]) if column not in columns]
    numbers = read(take_columns(X, others), others) if others else np.empty((X.shape[0], 0))
    matrix = np.full(X.shape, np.nan, dtype=numbers.dtype)
    matrix[:, others] = numbers
    return matrix


def check_table(
    estimator: Any, X: Any, columns: Sequence[int], height: int, kept: npt.NDArray[np.int64] | None
) -> tuple[Categories, Any] | None:
    """Check a table as `read_rows`, `height` rows at a time, for a matrix without values. None: it is refused."""
    others = [column for column in range(X.shape[1]) if column not in columns]
    try:
        validate_data(estimator, X, reset=True, skip_check_array=True)
        numbers = take_columns(X, others)
        refuse_dates(numbers)
        blocks = (rows_between(numbers, first, first + height) for first in range(0, X.shape[0], height))
        dtypes = {check_array(without_arrow(block), **BINNED.checks).dtype if others else FLOATS[0] for block in blocks}
        stub = np.broadcast_to(np.zeros((), dtype=np.result_type(*dtypes)), X.shape)
        return learn_categories(X, columns, None, kept), stub
    except (TypeError, ValueError, OverflowError):
        return None


def read_rows_again(X: Any, categories: Categories, dtype: npt.DTypeLike, accepted: Accepted) -> FloatMatrix:
    """Matrix of dense rows that `read_rows` has checked, without its checks; categories as in `read_matrix`."""
    X = accepted.read(X)

    def read(numbers: Any, places: object = None) -> FloatMatrix:
        values: FloatMatrix = check_array(without_arrow(numbers), dtype=dtype, ensure_all_finite=False)
        return values

    if not categories:
        return read(X)
    X = as_table(X)
    matrix = _without_codes(X, categories, read)
    find_categories(X, categories, matrix)
    return matrix


def read_matrix(estimator: Any, X: Any, categories: Categories, accepted: Accepted = BINNED) -> Any:
    """Check rows for prediction, as a matrix; a category unknown from training becomes a missing value."""
    if not categories and accepted.missing and _plainly_fine(estimator, X):
        return X
    X = accepted.read(X)
    return read_rows(estimator, as_table(X) if categories else X, list(categories), accepted, known=categories)[1]


def as_table(X: Any) -> Any:
    """Two-dimensional rows: lists become an array of objects, in which numbers beside text stay numbers."""
    table = X if hasattr(X, "shape") else np.array(X, dtype=object)
    if len(table.shape) != 2:
        raise ValueError(
            f"X must have rows and columns, and has the shape {table.shape}. Reshape your data: X.reshape(-1, 1) if it "
            "is a single column, X.reshape(1, -1) if it is a single row."
        )
    return table


def _plainly_fine(estimator: Any, X: Any) -> bool:
    """Check for arrays that can skip scikit-learn's checks: their 60 microseconds dominate for a single row."""
    return (
        type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.flags.aligned
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and not _any_infinite(X)
    )


def _any_infinite(X: FloatMatrix) -> bool:
    """Check for infinity, by blocks: the flags of all rows would take more memory than the prediction."""
    height = max(1, BLOCK_BYTES // (8 * max(1, X.shape[1])))
    return any(np.isinf(X[first : first + height]).any() for first in range(0, X.shape[0], height))


def read_y(estimator: Any, y: Any, n_rows: int, accepted: Accepted, name: str = "y") -> npt.NDArray[Any]:
    """Labels or targets of so many rows as an array: none missing but of tasks, and several columns where allowed."""
    y = without_mask(y, name, f"{name}.filled(...) with what is right for them")
    y = known_form(y, name) if sparse.issparse(y) else without_arrow(y)
    stub = np.broadcast_to(0.0, (n_rows, 1))
    if accepted.targets == "tasks" and y is not None:
        check_consistent_length(stub, y)
        return y.toarray() if sparse.issparse(y) else np.asarray(y)
    several = False
    if getattr(estimator, "_learns_several_targets", False):
        shape = y.shape if hasattr(y, "shape") else np.shape(np.asarray(y, dtype=object))
        several = len(shape) == 2 and shape[1] > 1  # a single column stays a warning
    try:
        return check_X_y(stub, y, multi_output=several, estimator=estimator)[1]  # type: ignore[no-any-return]
    except (ValueError, TypeError) as error:
        if "y should be a 1d array" in str(error):
            kind = "Classifier" if is_classifier(estimator) else "Regressor"
            multiple = f"sklearn.multioutput.MultiOutput{kind}({type(estimator).__name__}())"
            raise ValueError(f"{error} A model learns one column; {multiple} fits one for each.") from None
        if "NA is ambiguous" in str(error):
            raise ValueError("y holds labels that are missing (NA). Leave these rows out.") from None
        raise


def _numbers(estimator: Any, X: Any, accepted: Accepted, places: Sequence[int] | None = None) -> Any:
    """Checked numbers, with advice in errors of scikit-learn; `places`: indices of X's columns in the user's table."""
    refuse_dates(X)
    try:
        return check_array(without_arrow(X), **accepted.checks, estimator=estimator, input_name="X")
    except OverflowError:
        raise ValueError(
            "X holds an integer too large for a floating-point number (above 1.8e308). Rescale that column."
        ) from None
    except (ValueError, TypeError) as error:
        if "infinity" in str(error):
            raise ValueError(f"{error}{first_infinite(X, places)}") from None
        is_text = "could not convert string to float" in str(error)
        # For arrays of objects scikit-learn's own error is raised: its checks of estimators expect it.
        columns = columns_without_numbers(X) if is_text or column_names(X) else []
        if not columns and not is_text:
            raise
        advice = "encode them"
        if hasattr(estimator, "categorical_features"):
            advice = (
                "name categorical columns in categorical_features (or make them category columns of a data frame), and "
                "encode others"
            )
        where = f" in {listed([column_title(X, column) for column in columns], 5, str)}" if columns else ""
        raise ValueError(
            f"X holds text, categories or other objects{where} ({_shortened(error)}). {type(estimator).__name__} needs "
            f"numbers there: {advice} first, for example with sklearn.preprocessing.TargetEncoder."
            f"{number_advice(X, columns)}"
        ) from None


def _shortened(error: Exception) -> str:
    """First line of the message, at most 100 characters: the others may show all of the data."""
    line = str(error).partition("\n")[0]
    return line if len(line) <= 100 else f"{line[:97]}..."


def class_codes(y: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Different labels in ascending order, shape (n_classes,), and the index of each row's, shape (n_rows,)."""
    labels = plain_labels(y, name)
    if labels.dtype == object:  # text: NumPy would compare labels one by one in Python
        given = labels.tolist()
        classes = np.array(sorted(set(given)), dtype=object)
        code_of = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.fromiter(map(code_of.__getitem__, given), np.intp, len(given))
    else:
        classes = np.unique(labels)  # without the inverse NumPy need not sort all rows
        codes = np.searchsorted(classes, labels)
    return classes, codes.astype(np.min_scalar_type(max(len(classes), LARGEST_NUMBER_OF_CLASSES)))


def check_labels(classes: npt.NDArray[Any], n_rows: int) -> None:
    """Raise a ValueError for labels that are no classes, or more of them than are supported."""
    # As many labels as rows, where these are few: scikit-learn warns if most labels occur only once.
    check_classification_targets(np.resize(classes, min(n_rows, 3 * len(classes))))
    if len(classes) > LARGEST_NUMBER_OF_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} classes, and at most {LARGEST_NUMBER_OF_CLASSES} are supported. For a target that "
            "is a number, a regressor is the right tool."
        )


def check_classes(classes: npt.NDArray[Any]) -> None:
    """Raise a ValueError for fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(f"{one_class(classes)}; at least two are needed to learn to tell them apart.")


def one_class(classes: npt.NDArray[Any]) -> str:
    return f"y holds only one class, {classes.tolist()[0]!r}, in the rows with a positive weight"


def plain_labels(y: npt.NDArray[Any], name: str = "y") -> npt.NDArray[Any]:
    """Convert an array of Python objects to the common type of its labels; other arrays are returned as they are."""
    types = set(map(type, y.tolist())) if y.dtype == object else set()
    may_be_missing = not all(issubclass(kind, str | bool | int) for kind in types)
    if (y.dtype.kind in "mM" and np.isnat(y).any()) or (may_be_missing and any(map(is_missing, y.tolist()))):
        raise ValueError(f"{name} holds labels that are missing (NaN, None, NA or NaT). Leave these rows out.")
    if y.dtype != object:
        return y
    kinds = {bool if issubclass(kind, np.bool_) else kind for kind in types}
    if all(issubclass(kind, str) for kind in kinds):
        return y
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"{name} holds labels of different types ({names}), which have no common order. Make them alike, for "
            f"example by [str(label) for label in {name}], and leave out rows whose label is missing."
        )
    (kind,) = kinds
    plain = np.array(y.tolist()) if issubclass(kind, bool | int | float | np.number | bytes) else y
    if plain.dtype == object:
        raise ValueError(
            f"{name} holds labels of the type {kind.__name__}, such as {str(y[0])[:40]}; labels must be text, booleans "
            "or numbers that fit 64 bits."
        )
    return plain


def read_targets(y: Any, name: str = "y") -> FloatArray:
    """Regression targets, float64 of shape (n_rows,), or (n_rows, n_targets) if there are several."""
    y = y.toarray() if sparse.issparse(y) else y
    if y.dtype == object and any(map(is_missing, y.ravel().tolist())):
        raise ValueError(f"{name} holds targets that are missing (None, NaN, NA or NaT). Leave these rows out.")
    if y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    try:
        targets = np.ascontiguousarray(real_numbers(y))
    except OverflowError:
        raise ValueError(f"{name} holds an integer too large for a floating-point number. Rescale it.") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold numbers to learn; got the type {y.dtype}. For labels a classifier is the right tool."
        ) from None
    if not np.isfinite(targets).all():
        raise ValueError(f"{name} holds NaN or infinity; leave out the rows whose target is not known.")
    if np.abs(targets).max(initial=0.0) > LARGEST_TARGET:
        raise ValueError(
            f"{name} goes up to {np.abs(targets).max():g}, and at most {LARGEST_TARGET:g} is allowed. Rescale it."
        )
    return targets


def known_labels(
    y: npt.NDArray[Any], known: npt.NDArray[Any], name: str = "y_val", what: tuple[str, str] = ("label", "classes")
) -> ClassIds:
    """Index of each label among the known ones, ascending; another label is a ValueError."""
    y = plain_labels(y, name)
    numbers = y.dtype.kind in "iufb", known.dtype.kind in "iufb"
    if numbers[0] == numbers[1]:
        places = np.minimum(np.searchsorted(known, y), len(known) - 1)
        unknown = np.flatnonzero(known[places] != y)
    else:
        places = unknown = np.arange(len(y))
    if len(unknown):
        stranger = y[unknown[:1]].tolist()[0]
        raise ValueError(
            f"{name} holds the {what[0]} {stranger!r}, which is not one of the {what[1]} {listed(known.tolist())}."
        )
    return places.astype(np.uint16)


def dense_rows(X: Any) -> FloatMatrix:
    """Dense copy of sparse rows; dense rows are returned as they are."""
    return X.toarray() if sparse.issparse(X) else X  # type: ignore[no-any-return]


def row_blocks(X: Any, n_outputs: int = 1, n_members: int = 1) -> list[Any]:
    """Blocks of rows whose dense copies and scores fit BLOCK_BYTES, and that an ensemble scores in about 0.1 seconds.

    Python handles Ctrl-C between two blocks. Memory limits only sparse rows and several scores per row.
    """
    copied = X.shape[1] if sparse.issparse(X) else 0
    height = max(1, BLOCK_PAIRS // max(1, n_members))
    if copied or n_outputs > 1:
        height = min(height, max(1, BLOCK_BYTES // (8 * max(1, copied + n_outputs))))
    if height >= X.shape[0]:
        return [X]
    return [X[first : first + height] for first in range(0, X.shape[0], height)]
