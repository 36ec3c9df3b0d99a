"""Sets of classes and intervals with guaranteed coverage: split conformal prediction.

Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005; with a threshold for each class (Mondrian)
chapter 4 there.
"""

from __future__ import annotations

import math
import warnings
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

from radboost._typing import FloatArray
from radboost.guarantees.holdout import (
    check_predicts,
    padded,
    predicts_numbers,
    probability,
    read_labels,
    warn_of_copies,
)


@dataclass(frozen=True, repr=False)
class ConformalPredictor:
    """A fitted model that predicts sets of classes, or intervals of numbers. Made by :func:`conformal`.

    Attributes
    ----------
    model : fitted classifier or regressor
        A copy: a later fit does not change the sets.
    coverage : float
        The fraction of new rows whose label is in the set, at least, on average over calibration rows and new rows.
    per_class : bool
        Whether this is promised for the rows of each class.
    classes_ : array, or None
        The columns of the sets; None for a regressor.
    threshold_ : array
        Of a classifier a number for each class: a class is in the set of a row if 1 - its probability is at most this.
        Of a regressor one number, half the width of the intervals. Infinite where there are too few calibration rows.
    n_rows : int
        Calibration rows.
    mean_size : float
        The mean number of classes in a set, or the mean width of an interval, on the calibration rows.
    """

    model: Any
    coverage: float
    per_class: bool
    classes_: npt.NDArray[Any] | None
    threshold_: FloatArray
    n_rows: int
    mean_size: float

    def predict_set(self, X: Any) -> npt.NDArray[Any]:
        """Return the set of each row.

        Returns
        -------
        array of booleans of shape (n_rows, n_classes), or of numbers of shape (n_rows, 2)
            Whether each of ``classes_`` is in the set; of a regressor the two ends of the interval. A set may be empty:
            the row is then unlike all calibration rows.
        """
        if self.classes_ is not None:
            return np.asarray(1.0 - _probabilities(self.model, X) <= self.threshold_)
        centres = _numbers(self.model.predict(X), "predict(X)")
        # One ulp up, so that rounding cannot exclude a row at the threshold.
        half = np.nextafter(self.threshold_[0], np.inf)
        return np.column_stack([centres - half, centres + half])

    def __str__(self) -> str:
        sets = self.classes_ is not None
        whom = " of each class" if self.per_class else ""
        low, high = float(self.threshold_.min()), float(self.threshold_.max())
        shown = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        what = "sets hold the right class" if sets else "intervals hold the right number"
        rows = {
            what: f"for {self.coverage:.4g} of new rows{whom} or more",
            "threshold" + ("s" if low != high else ""): shown + ("" if sets else ", half the width"),
            "classes in a set" if sets else "width of an interval": f"{self.mean_size:.4g} on average",
            "calibrated on": f"{self.n_rows:,} rows",
        }
        title = f"Conformal {'sets' if sets else 'intervals'} of {type(self.model).__name__}"
        return "\n".join([title, *padded(rows)])

    __repr__ = __str__


def conformal(
    model: Any, X_cal: Any, y_cal: ArrayLike, *, coverage: float = 0.9, per_class: bool = False
) -> ConformalPredictor:
    """Make sets of classes, or intervals, that hold the right one for at least this fraction of new rows: ``coverage``.

    Each calibration row has a score that is large where the model is wrong about it: 1 - the probability of the right
    class, or the absolute residual. The threshold is the k-th smallest of these n scores, k = ceil((n + 1) coverage),
    and a set has all labels whose score is at most the threshold. The score of a new row has each rank among n + 1 with
    the same probability. So it is at most the k-th smallest of the others with probability k/(n + 1) or more. This
    holds for every model and source, with ties too, if new rows are drawn like the calibration rows, independently or
    exchangeably. Without ties the fraction is below coverage + 1/(n + 1).

    The promise is about the average over all rows: it may hold more often for easy classes than for hard ones. With
    ``per_class=True`` each class has a threshold from its own calibration rows (Mondrian), and the promise holds for
    the rows of each class.

    **Rows that had any part in making the model do not count** as calibration rows: neither those it was fitted to nor
    those of early stopping. The fraction is an average over the draw of the n calibration rows; that of a single
    predictor varies by about sqrt(coverage (1 - coverage) / n).

    Intervals have the same width everywhere. Where the noise differs between rows, two quantile regressions
    (``RGBRegressor(loss=QuantileLoss(...))``) whose ends are moved by a conformal correction would be narrower on
    average; that is not done here.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``, or fitted regressor
        Of RadBoost or of scikit-learn.
    X_cal, y_cal : array-like of shape (n_rows, n_features), array-like of shape (n_rows,)
        Calibration rows and their labels or numbers.
    coverage : float
        In (0, 1). It needs at least coverage/(1 - coverage) calibration rows (of each class with ``per_class``); where
        there are fewer, a warning says so, and sets have all classes (this class always), intervals all numbers.
    per_class : bool
        Promise it for each class.

    Returns
    -------
    ConformalPredictor
        Its ``predict_set(X)`` returns booleans of shape (n_rows, n_classes), or intervals of shape (n_rows, 2).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from radboost import DeepBoostClassifier, guarantees
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DeepBoostClassifier(n_rounds=30).fit(X[::2], y[::2])
    >>> sets = guarantees.conformal(model, X[1::4], y[1::4], coverage=0.9).predict_set(X[3::4])
    >>> sets.shape
    (37, 3)
    """
    coverage = probability("coverage", coverage, "that a set holds the right answer")
    numbers = _makes_intervals(model)
    if per_class and numbers:
        raise ValueError(f"per_class=True is for classifiers; {type(model).__name__} predicts numbers.")
    warn_of_copies(X_cal, "promises")
    model = deepcopy(model)  # a later fit of the model would make other scores
    if numbers:
        targets = _numbers(y_cal, "y_cal")
        residuals = np.abs(targets - _same_length(_numbers(model.predict(X_cal), "predict(X_cal)"), targets))
        threshold = np.array([_threshold(residuals, coverage)])
        _warn_of_few(threshold, None, np.array([len(targets)]), coverage)
        width = 2.0 * float(threshold[0])
        return ConformalPredictor(model, coverage, False, None, threshold, len(targets), width)
    labels = read_labels(y_cal, "y_cal")
    classes = np.asarray(model.classes_)
    probabilities = _same_length(_probabilities(model, X_cal), labels)
    right = _class_indices(labels, classes)
    scores = 1.0 - probabilities[np.arange(len(right)), right]
    if per_class:
        thresholds = np.array([_threshold(scores[right == index], coverage) for index in range(len(classes))])
        _warn_of_few(thresholds, classes, np.bincount(right, minlength=len(classes)), coverage)
    else:
        thresholds = np.full(len(classes), _threshold(scores, coverage))
        _warn_of_few(thresholds[:1], None, np.array([len(labels)]), coverage)
    size = float((1.0 - probabilities <= thresholds).sum(axis=1).mean())
    return ConformalPredictor(model, coverage, bool(per_class), classes, thresholds, len(labels), size)


def _threshold(scores: FloatArray, coverage: float) -> float:
    """Return the k-th smallest of n scores, k = ceil((n + 1) coverage) exactly; infinity if k > n."""
    # Fraction: 0.7 is exactly seven tenths, unlike the float.
    k = math.ceil((len(scores) + 1) * Fraction(repr(coverage)))
    return float(np.partition(scores, k - 1)[k - 1]) if k <= len(scores) else math.inf


def _warn_of_few(
    thresholds: FloatArray, classes: npt.NDArray[Any] | None, counts: npt.NDArray[Any], coverage: float
) -> None:
    few = np.flatnonzero(np.isinf(thresholds))
    if not len(few):
        return
    fraction = Fraction(repr(coverage))
    needed = math.ceil(fraction / (1 - fraction))
    of_each, had, then = "", f"there are {counts[0]}", "every set has all answers"
    if classes is not None:
        others = f" (and {len(few) - 1} more classes have too few)" if len(few) > 1 else ""
        had, then = f"the class {classes[few[0]].item()!r} has {counts[few[0]]}{others}", "it is in every set"
        of_each = " of each class"
    warnings.warn(
        f"coverage={coverage:g} needs at least {needed} calibration rows{of_each}, and "
        f"{had}: {then}. Give more rows, or ask for less.",
        UserWarning,
        stacklevel=3,
    )


def _makes_intervals(model: Any) -> bool:
    """True if a fitted model predicts numbers, False for probabilities of classes; an error if neither."""
    check_predicts(model, "classifier or regressor")
    if predicts_numbers(model):
        return True
    if not hasattr(model, "classes_") or not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba with classes_, which sets of classes are made of. Give "
            "another classifier, or one inside sklearn.calibration.CalibratedClassifierCV; or a regressor."
        )
    return False


def _probabilities(model: Any, X: Any) -> FloatArray:
    given = model.predict_proba(X)
    if isinstance(given, list) or np.ndim(given) != 2 or np.shape(given)[1] != len(model.classes_):
        raise TypeError(
            f"predict_proba of {type(model).__name__} does not return a row of probabilities with a column for each of "
            "its classes_; sets of classes are for one output."
        )
    probabilities = np.asarray(given, dtype=np.float64)
    if np.isnan(probabilities).any():
        raise ValueError(
            f"predict_proba of {type(model).__name__} returns NaN; sets need the probability of each class."
        )
    return probabilities


def _numbers(values: Any, name: str) -> FloatArray:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] > 1:
        raise ValueError(f"{name} has {array.shape[1]} columns; intervals are for one number per row.")
    try:
        plain = column_or_1d(array).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold one number per row; got an array of {array.dtype}.") from None
    if not np.isfinite(plain).all():
        raise ValueError(f"{name} holds numbers that are missing or infinite. Leave these rows out.")
    return np.asarray(plain)


def _same_length(predicted: FloatArray, given: npt.NDArray[Any]) -> FloatArray:
    if len(predicted) != len(given):
        raise ValueError(f"X_cal has {len(predicted)} rows and y_cal {len(given)}; pass one label or number per row.")
    return predicted


def _class_indices(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    known = {label: index for index, label in enumerate(classes.tolist())}
    indices = np.array([known.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (indices < 0).any():
        stranger = labels.tolist()[int(np.argmin(indices))]
        raise ValueError(
            f"y_cal holds the label {stranger!r}, which is not one of the {len(classes)} classes of the model: no set "
            "can have it. Fit the model on rows of all classes."
        )
    return indices
