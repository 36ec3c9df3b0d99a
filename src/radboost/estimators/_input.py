"""Rows and labels as users pass them, checked and brought into one form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from radboost._typing import ClassIds, FloatArray, FloatMatrix

FLOATS = (np.float64, np.float32)
BLOCK_BYTES = 2**26
LARGEST_NUMBER_OF_CLASSES = 65534


@dataclass(frozen=True)
class Rows:
    """Validated training rows."""

    X: Any  # float32 or float64, dense or CSR
    y: npt.NDArray[Any]

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def select(self, rows: npt.NDArray[np.int64]) -> Rows:
        return replace(self, X=self.X[rows], y=self.y[rows])

    def without_zero_weights(self, weights: FloatArray | None) -> tuple[Rows, FloatArray | None]:
        """A row of weight zero is a row that is not there."""
        if weights is None or (weights > 0).all():
            return self, weights
        kept = np.flatnonzero(weights > 0)
        return self.select(kept), np.ascontiguousarray(weights[kept])


def read_rows(estimator: Any, X: Any, y: Any, *, reset: bool) -> Rows:
    """Checks training or validation rows; NaN is allowed in X, infinity is not."""
    checked_X, checked_y = _checked(estimator, X, y, reset=reset)
    return Rows(checked_X, checked_y)


def read_matrix(estimator: Any, X: Any) -> Any:
    """Checks rows for prediction."""
    if _plainly_fine(estimator, X):
        return X
    return _checked(estimator, X, "no_validation", reset=False)


def _plainly_fine(estimator: Any, X: Any) -> bool:
    """Whether an array needs no more checks: scikit-learn's take 60 microseconds, most of the time for a single row."""
    return (
        type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and not np.isinf(X).any()
    )


def _checked(estimator: Any, X: Any, y: Any, *, reset: bool) -> Any:
    if hasattr(X, "columns") and len(set(X.columns)) < len(X.columns):
        twice = next(name for name in X.columns if list(X.columns).count(name) > 1)
        raise ValueError(f"X has more than one column named {twice!r}; give every column a name of its own.")
    try:
        return validate_data(
            estimator, X, y, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan"
        )
    except OverflowError:
        raise ValueError(
            "X holds an integer too large for a floating-point number (above 1.8e308). Rescale that column."
        ) from None
    except (ValueError, TypeError) as error:
        columns = _columns_without_numbers(X)
        if not columns and "could not convert string to float" not in str(error):
            raise
        where = f" in {', '.join(columns[:5])}{' and more' if len(columns) > 5 else ''}" if columns else ""
        raise ValueError(
            f"X holds text, categories or dates{where} ({error}). {type(estimator).__name__} needs numbers; encode "
            "such columns first, for example with sklearn.preprocessing.OrdinalEncoder or OneHotEncoder."
        ) from None


def _columns_without_numbers(X: Any) -> list[str]:
    """Names of the columns of a pandas frame that are neither numbers nor booleans."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes") or not hasattr(X, "iloc"):
        return []
    pairs = zip(X.columns, X.dtypes, strict=True)
    return [f"column {name!r}" for name, dtype in pairs if getattr(dtype, "kind", "O") not in "biuf"]


def read_labels(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ClassIds]:
    """The classes in ascending order, and the place of each row's among them."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > LARGEST_NUMBER_OF_CLASSES:
        raise ValueError(
            f"y holds {len(classes)} classes, and at most {LARGEST_NUMBER_OF_CLASSES} are supported. For a target that "
            "is a number, a regressor is the right tool."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class, {classes.tolist()[0]!r}, in the rows with a positive weight; at least two are "
            "needed to learn to tell them apart."
        )
    return classes, codes.reshape(-1).astype(np.uint16)


def _listed(classes: npt.NDArray[Any], most: int = 10) -> str:
    names = [repr(label) for label in classes[:most].tolist()]
    more = f" and {len(classes) - most} more" if len(classes) > most else ""
    return f"{', '.join(names)}{more}"


def known_labels(y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> ClassIds:
    """The places of labels that must be among the classes of the training rows."""
    unknown = np.setdiff1d(np.unique(y), classes)
    if len(unknown):
        raise ValueError(
            f"y_val holds the label {unknown.tolist()[0]!r}, which is not one of the classes {_listed(classes)}."
        )
    return np.searchsorted(classes, y).astype(np.uint16)


def dense_rows(X: Any) -> FloatMatrix:
    """A dense copy of sparse rows."""
    return X.toarray() if sparse.issparse(X) else X  # type: ignore[no-any-return]


def row_blocks(X: Any, n_outputs: int = 1) -> list[Any]:
    """The rows in pieces whose dense copies and scores are small; dense rows with one score each in one piece."""
    copied = X.shape[1] if sparse.issparse(X) else 0
    if not copied and n_outputs == 1:
        return [X]
    height = max(1, BLOCK_BYTES // (8 * max(1, copied + n_outputs)))
    return [X[first : first + height] for first in range(0, X.shape[0], height)]
