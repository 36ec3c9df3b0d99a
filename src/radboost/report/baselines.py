"""Baselines that a model must beat: the best constant prediction, and a linear model on the same rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.report.subject import UNKNOWN, Subject, SubjectRows
from radboost.rows.contents import Places, drawn, folds

MOST_ROWS, MOST_CELLS, MOST_COLUMNS = 20_000, 10_000_000, 1000
MOST_ROWS_OF_QUANTILES = 1000
MOST_CATEGORIES = 30  # of a column, the most frequent
N_FOLDS = 5
FEWEST = 10  # rows, for a linear model
LEAST_TOTAL = 100.0  # of weights, against a penalty of 1

Predicted = tuple[npt.NDArray[Any], FloatArray | None]
"""Class ids or numbers, and probabilities of a classifier."""


@dataclass(frozen=True)
class Baselines:
    """Predictions for the held-out rows: class ids or numbers, and probabilities of a classifier."""

    constant: npt.NDArray[Any]
    constant_probabilities: FloatArray | None
    linear: npt.NDArray[Any] | None
    linear_probabilities: FloatArray | None
    note: str  # says which rows they were fitted to


def baselines(subject: Subject) -> Baselines:
    """Baselines fitted to the training rows; where none are given, to the other folds of the held-out ones."""
    note = "Both were fitted to the training rows."
    if subject.train is None:
        note = (
            "No training rows were given: the constant is the best one for the held-out rows themselves, and the "
            f"linear model was fitted to {N_FOLDS - 1} of {N_FOLDS} parts of them and evaluated on the rest."
        )
    linear, probabilities = _linear(subject) or (None, None)
    if linear is None:
        note += " There are too few rows or classes for a linear model."
    constant = _constant(subject, subject.test if subject.train is None else subject.train)
    return Baselines(*constant, linear, probabilities, note)


def constant_of(subject: Subject) -> Baselines:
    """Best constant for the held-out rows themselves, without a linear model."""
    return Baselines(*_constant(subject, subject.test), None, None, "")


def _constant(subject: Subject, part: SubjectRows) -> Predicted:
    n, weights = len(subject.test), part.weight()
    if not subject.classifies:
        return np.full(n, _best_number(subject, part.y, weights)), None
    known = part.class_ids != UNKNOWN
    totals = np.bincount(part.class_ids[known], weights[known], len(subject.classes))
    prior = totals / totals.sum() if totals.sum() > 0.0 else np.full(len(totals), 1.0 / len(totals))
    return np.full(n, int(_best_classes(subject, prior[None, :])[0])), np.tile(prior, (n, 1))


def _best_classes(subject: Subject, probabilities: FloatArray) -> npt.NDArray[np.int64]:
    """Ids of the most probable classes, or of those of least expected cost."""
    if subject.cost is None:
        return np.asarray(probabilities.argmax(axis=1))
    return np.asarray((probabilities @ subject.cost).argmin(axis=1))


def _best_number(subject: Subject, targets: FloatArray, weights: FloatArray) -> float:
    if subject.quantile is None:
        return float(np.average(targets, weights=weights))
    order = np.argsort(targets, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(targets[order][min(int(np.searchsorted(reached, subject.quantile)), len(order) - 1)])


def _linear(subject: Subject) -> Predicted | None:
    """Predictions of a linear model; None where there are too few rows."""
    test, n_classes = subject.test, len(subject.classes)
    if subject.train is not None:
        made = _fit(subject, subject.train, np.arange(len(subject.train)))
        return None if made is None else made.predict(subject, test, np.arange(len(test)))
    predicted = np.zeros(len(test), dtype=np.int64 if n_classes else np.float64)
    probabilities = np.zeros((len(test), n_classes)) if n_classes else None
    fold_of = folds(test.hashes, N_FOLDS)
    for fold in np.unique(fold_of):
        own = np.flatnonzero(fold_of == fold)
        made = _fit(subject, test, np.flatnonzero(fold_of != fold))
        if made is None:
            return None
        predicted[own], chances = made.predict(subject, test, own)
        if probabilities is not None:
            probabilities[own] = chances
    return predicted, probabilities


@dataclass(frozen=True)
class _Made:
    """Linear model of scikit-learn with what makes its columns."""

    design: _Design
    model: Any

    def predict(self, subject: Subject, part: SubjectRows, rows: Places) -> Predicted:
        with one_blas_thread:
            columns = self.design.columns(part, rows)
            if not subject.classifies:
                return np.asarray(self.model.predict(columns), dtype=np.float64), None
            probabilities = np.zeros((len(rows), len(subject.classes)))
            probabilities[:, self.model.classes_] = self.model.predict_proba(columns)
        return _best_classes(subject, probabilities), probabilities


def _fit(subject: Subject, part: SubjectRows, rows: Places) -> _Made | None:
    if subject.classifies:
        rows = rows[part.class_ids[rows] != UNKNOWN]
    targets = part.class_ids if subject.classifies else part.y
    if len(rows) < FEWEST or (subject.classifies and len(np.unique(targets[rows])) < 2):
        return None
    width = min(subject.n_columns, MOST_COLUMNS)
    most = min(MOST_ROWS, max(2000, MOST_CELLS // max(1, width)))
    if subject.quantile is not None:
        most = MOST_ROWS_OF_QUANTILES
    rows = rows[drawn(part.keys[rows], most)]
    weights = _against_penalty(part, rows)
    design = _Design.of(subject, part, rows, weights)
    model = _estimator(subject)
    with one_blas_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(design.columns(part, rows), targets[rows], sample_weight=weights)
    return _Made(design, model)


def _against_penalty(part: SubjectRows, rows: Places) -> FloatArray:
    """Weights whose sum is the number of different rows, or 100 where there are fewer."""
    # The penalty of a linear model is 1 whatever the weights are. With this sum it counts as much for weights in any
    # unit, and for weights of whole numbers as much as for copies of rows.
    weights = part.weight()[rows]
    total = max(LEAST_TOTAL, float(len(np.unique(part.keys[rows]))))
    return np.asarray(weights * (total / weights.sum()))


def _estimator(subject: Subject) -> Any:
    from sklearn import linear_model  # which takes long to load

    if subject.classifies:
        return linear_model.LogisticRegression(max_iter=300, tol=1e-3)
    if subject.quantile is not None:
        return linear_model.QuantileRegressor(quantile=subject.quantile, alpha=1e-6)
    return linear_model.Ridge(alpha=1.0)


@dataclass(frozen=True)
class _Design:
    """Columns of a linear model: numbers of spread 1 with missing ones at the mean, a column for each category."""

    chosen: tuple[int, ...]
    centers: FloatArray
    spreads: FloatArray
    gaps: tuple[int, ...]  # indices among the chosen ones that get a column for "missing"
    levels: tuple[tuple[int, tuple[float, ...]], ...]  # categorical columns with the codes that have a column
    is_sparse: bool

    @staticmethod
    def of(subject: Subject, part: SubjectRows, rows: Places, weights: FloatArray) -> _Design:
        order = subject.by_gain()[:MOST_COLUMNS]
        numeric = [column for column in order if column not in subject.categories]
        levels = []
        for column in (column for column in order if column in subject.categories):
            values = part.column(column)[rows]
            there = ~np.isnan(values)
            codes, which = np.unique(values[there], return_inverse=True)
            counts = np.bincount(which, weights[there], len(codes))
            kept = np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
            levels.append((column, tuple(kept.tolist())))
        is_sparse = sparse.issparse(part.matrix)
        centers, spreads, gaps = np.zeros(len(numeric)), np.ones(len(numeric)), []
        for index, column in enumerate(numeric):
            values = part.column(column)[rows]
            there = ~np.isnan(values)
            if not there.all():
                gaps.append(index)
            if there.any():
                mean, spread = _mean_and_spread(values[there], weights[there])
                centers[index], spreads[index] = 0.0 if is_sparse else mean, spread
        return _Design(tuple(numeric), centers, spreads, tuple(gaps), tuple(levels), is_sparse)

    def columns(self, part: SubjectRows, rows: Places) -> Any:
        if self.is_sparse:
            chosen = part.matrix[:, list(self.chosen)].tocsr()[rows]
            return sparse.csr_array(chosen.multiply(1.0 / self.spreads[None, :]))

        @cache
        def values(column: int) -> FloatArray:
            return part.column(column)[rows]

        scaled = [
            np.nan_to_num((values(column) - center) / spread)
            for column, center, spread in zip(self.chosen, self.centers, self.spreads, strict=True)
        ]
        missing = [np.isnan(values(self.chosen[gap])).astype(np.float64) for gap in self.gaps]
        levels = [(values(column) == code).astype(np.float64) for column, codes in self.levels for code in codes]
        every = [*scaled, *missing, *levels]
        return np.column_stack(every) if every else np.zeros((len(rows), 1))


def _mean_and_spread(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Mean and spread; the spread is 1 where values differ by rounding only, a unit in which others are far away."""
    mean = float(np.average(values, weights=weights))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    return mean, spread if spread > 1e-12 * abs(mean) else 1.0
