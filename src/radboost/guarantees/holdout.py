"""Exact confidence limits of the true error of a classifier from held-out rows. Clopper and Pearson (1934)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from scipy.stats import beta
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radboost._tables import known_form
from radboost._validation import check_sample_weight
from radboost.rows.hashing import row_hashes
from radboost.rows.read import plain_labels


@dataclass(frozen=True, repr=False)
class HoldoutLimit:
    """Limits on the true error from held-out rows. Printing it shows a table.

    Attributes
    ----------
    error : float
        The fraction of the rows that the model gets wrong.
    n_rows, n_wrong : int
        The rows, and those that it gets wrong.
    upper : float
        With probability at least 1 - ``delta`` the true error is at most this: the number to set beside ``total`` of
        :func:`bound` with the same delta.
    interval : tuple of two floats
        With probability at least 1 - ``delta`` the true error lies between these two. Each side may fail with
        probability delta/2, so that its upper end is above ``upper``.
    delta : float
        The probability, over the draw of the rows, that a limit fails.
    """

    error: float
    n_rows: int
    n_wrong: int
    upper: float
    interval: tuple[float, float]
    delta: float

    def __str__(self) -> str:
        low, high = self.interval
        rows = {
            "error on the held-out rows": f"{self.error:>9.4f}   {self.n_wrong:,} of {self.n_rows:,} rows",
            "true error is at most": f"{self.upper:>9.4f}   delta = {self.delta:g}",
            "true error lies between": f"{low:>9.4f}   and {high:.4f}, delta = {self.delta:g} for both sides",
        }
        return "\n".join(["Limits on the true error (held-out rows, exact binomial)", *padded(rows)])

    __repr__ = __str__


def holdout(
    model: Any, X: Any, y: ArrayLike, *, delta: float = 0.05, sample_weight: ArrayLike | None = None
) -> HoldoutLimit:
    """Limit the true error of a classifier by its mistakes on rows that it was not made with.

    On n such rows, drawn independently from the source, the number of mistakes is binomial with the true error R as its
    probability, whatever the model and the source are. The limits are those of Clopper and Pearson. The upper one is
    the R at which at most the K observed mistakes have probability delta. That is the quantile 1 - delta of the beta
    distribution with parameters K + 1 and n - K. The two-sided ones are its mirror image and this, with delta/2 each.
    They hold with probability at least 1 - delta for every n and R; nothing is approximated.

    **Rows that had any part in making the model do not count**: those it was fitted to, those of early stopping or
    calibration, those that a search compared settings on. Where k models are compared on the same rows, ask
    for ``delta/k``. :func:`bound` is for the rows that the model was fitted to.

    Parameters
    ----------
    model : fitted classifier
        Of RadBoost, of scikit-learn, or anything with ``predict`` and ``classes_``.
    X : array-like of shape (n_rows, n_features)
        The held-out rows, as for ``model.predict``.
    y : array-like of shape (n_rows,)
        Their labels. One that the model does not know counts as a mistake.
    delta : float
        The probability that a limit fails, in (0, 1).
    sample_weight : array-like of shape (n_rows,), optional
        All 1, or an error: copies of a row are not independent draws.

    Returns
    -------
    HoldoutLimit

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from radboost import DeepBoostClassifier, guarantees
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DeepBoostClassifier(n_rounds=30).fit(X[::2], y[::2])
    >>> limit = guarantees.holdout(model, X[1::2], y[1::2])
    >>> limit.error < limit.upper < limit.interval[1] < 0.2
    True
    """
    delta = probability("delta", delta, "that a limit fails")
    _check_classifier(model)
    labels = read_labels(y, "y")
    predicted = np.asarray(model.predict(X))
    if predicted.ndim != 1:
        raise TypeError(
            f"{type(model).__name__} predicts arrays of {predicted.ndim} dimensions; a limit is for one label per row. "
            "Ask for one output at a time."
        )
    if len(labels) != len(predicted):
        raise ValueError(f"X has {len(predicted)} rows and y has {len(labels)} labels; pass one label per row.")
    if not len(labels):
        raise ValueError("X has no rows; a limit needs at least one that the model has not seen.")
    weights = check_sample_weight(sample_weight, len(labels))
    if weights is not None and (weights != 1.0).any():
        raise ValueError(
            "sample_weight must be all 1 here: the limits are exact for rows that are drawn one by one, which copies "
            "are not, and a weighted fraction of mistakes is not binomial. Pass each row once, without weights."
        )
    warn_of_copies(X, "limits")
    return limit_of(int(np.count_nonzero(_differ(predicted, labels))), len(labels), delta)


def limit_of(wrong: int, n: int, delta: float = 0.05) -> HoldoutLimit:
    """Limits after `wrong` mistakes on n rows that are drawn independently."""
    return HoldoutLimit(wrong / n, n, wrong, _upper(wrong, n, delta), exact_interval(wrong, n, delta), delta)


def warn_of_copies(X: Any, what: str) -> None:
    """Warn of equal rows in X: copies are no independent draws, so that `what` is promised too often."""
    rows = known_form(X, "X")
    if not hasattr(rows, "shape"):
        rows = np.array(rows, dtype=object)
    n = int(rows.shape[0])
    n_copies = n - len(np.unique(row_hashes(rows))) if len(rows.shape) == 2 else 0
    if n_copies:
        warnings.warn(
            f"{n_copies:,} of the {n:,} rows in X are copies of others, and the {what} hold for rows that are drawn "
            "independently. If somebody copied or repeated them, pass each row once, with its label; if they were "
            "drawn one by one and happen to be equal, all is well.",
            UserWarning,
            stacklevel=3,
        )


def exact_interval(hits: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Interval for the probability of a hit after `hits` of n draws, delta/2 for each side. Clopper and Pearson."""
    return _lower(hits, n, delta / 2.0), _upper(hits, n, delta / 2.0)


def probability(name: str, value: Any, meaning: str) -> float:
    """Return a number strictly between 0 and 1, or say what is wrong with it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}.") from None
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} is the probability {meaning}, between 0 and 1, got {number:g}.")
    return number


def padded(rows: Mapping[str, str]) -> list[str]:
    """Lines of a printed table: labels of equal width, then the values."""
    width = max(map(len, rows))
    return [f"  {label:<{width}}  {value}" for label, value in rows.items()]


def check_predicts(model: Any, kind: str) -> None:
    """Refuse a model without `predict`, and one that is not fitted."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise TypeError(f"Expected a fitted {kind}, got {model!r}.")
    if hasattr(model, "fit"):
        check_is_fitted(model)


def read_labels(y: ArrayLike, name: str) -> npt.NDArray[Any]:
    """Return one label per row, none of them missing."""
    labels = plain_labels(column_or_1d(np.asarray(y)), name)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"{name} holds labels that are missing (NaN). Leave these rows out.")
    return labels


def predicts_numbers(model: Any) -> bool:
    """True if a model calls itself a regressor, as scikit-learn's and ours do."""
    return hasattr(model, "__sklearn_tags__") and bool(is_regressor(model))


def _upper(wrong: int, n: int, delta: float) -> float:
    """The R at which at most `wrong` mistakes of n have probability delta."""
    return 1.0 if wrong == n else float(beta.isf(delta, wrong + 1, n - wrong))


def _lower(wrong: int, n: int, delta: float) -> float:
    """The R at which at least `wrong` mistakes of n have probability delta."""
    return 0.0 if wrong == 0 else float(beta.ppf(delta, wrong, n - wrong + 1))


def _check_classifier(model: Any) -> None:
    check_predicts(model, "classifier")
    if predicts_numbers(model):
        raise TypeError(
            f"{type(model).__name__} predicts numbers, which are not right or wrong: these limits are for classifiers. "
            "guarantees.conformal gives intervals for numbers."
        )
    if not hasattr(model, "classes_"):
        raise TypeError(f"{type(model).__name__} has no classes_: these limits are for classifiers.")


def _differ(predicted: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Mask of the rows at which two lists of labels differ; labels of different types always do."""
    if predicted.dtype.kind in "biuf" and labels.dtype.kind in "biuf":
        return np.asarray(predicted != labels, dtype=bool)
    pairs = zip(predicted.tolist(), labels.tolist(), strict=True)
    return np.array([one != other for one, other in pairs], dtype=bool)
