"""Baselines that a model must beat: the best constant prediction, and a linear model on the same rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.report.subject import UNKNOWN, Predictions, Subject, SubjectRows
from radboost.rows.hashing import RowIndices, drawn, folds

MOST_ROWS, MOST_CELLS, MOST_COLUMNS = 20_000, 10_000_000, 1000
MOST_ROWS_OF_QUANTILES = 1000
MOST_CATEGORIES = 30  # of a column, the most frequent
N_FOLDS = 5
FEWEST = 10  # rows, for a linear model
LEAST_TOTAL = 100.0  # of weights, against a penalty of 1


@dataclass(frozen=True)
class Baselines:
    """Predictions for the held-out rows by the best constant and by a linear model."""

    constant: Predictions
    linear: Predictions | None
    note: str = ""  # says which rows they were fitted to


def baselines(subject: Subject) -> Baselines:
    """Baselines fitted to the training rows; where none are given, to the other folds of the held-out ones."""
    note = "Both were fitted to the training rows."
    if subject.train is None:
        note = (
            "No training rows were given: the constant is the best one for the held-out rows themselves, and the "
            f"linear model was fitted to {N_FOLDS - 1} of {N_FOLDS} parts of them and evaluated on the rest."
        )
    linear = _linear(subject)
    if linear is None:
        note += " There are too few rows or classes for a linear model."
    constant = _constant(subject, subject.test if subject.train is None else subject.train)
    return Baselines(constant, linear, note)


def constant_of(subject: Subject) -> Baselines:
    """Best constant for the held-out rows themselves, without a linear model."""
    return Baselines(_constant(subject, subject.test), None)


def _constant(subject: Subject, part: SubjectRows) -> Predictions:
    n, weights = len(subject.test), part.weight()
    if not subject.classifies:
        return Predictions(np.full(n, _best_number(subject, part.y, weights)))
    known = part.class_ids != UNKNOWN
    totals = np.bincount(part.class_ids[known], weights[known], len(subject.classes))
    prior = totals / totals.sum() if totals.sum() > 0.0 else np.full(len(totals), 1.0 / len(totals))
    return Predictions(np.full(n, int(_best_classes(subject, prior[None, :])[0])), np.tile(prior, (n, 1)))


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


def _linear(subject: Subject) -> Predictions | None:
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
    return Predictions(predicted, probabilities)


@dataclass(frozen=True)
class _LinearModel:
    """Linear model of scikit-learn, and the fitted transformer of each group of columns."""

    transformers: list[tuple[list[int], Any]]
    model: Any

    def predict(self, subject: Subject, part: SubjectRows, rows: RowIndices) -> Predictions:
        with one_blas_thread:
            columns = _transformed(self.transformers, part, rows)
            if not subject.classifies:
                return Predictions(np.asarray(self.model.predict(columns), dtype=np.float64))
            probabilities = np.zeros((len(rows), len(subject.classes)))
            probabilities[:, self.model.classes_] = self.model.predict_proba(columns)
        return Predictions(_best_classes(subject, probabilities), probabilities)


def _fit(subject: Subject, part: SubjectRows, rows: RowIndices) -> _LinearModel | None:
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
    transformers = _transformers(subject, part, rows, weights)
    model = _estimator(subject)
    with one_blas_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(_transformed(transformers, part, rows), targets[rows], sample_weight=weights)
    return _LinearModel(transformers, model)


def _against_penalty(part: SubjectRows, rows: RowIndices) -> FloatArray:
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


def _transformers(
    subject: Subject, part: SubjectRows, rows: RowIndices, weights: FloatArray
) -> list[tuple[list[int], Any]]:
    """Numbers of spread 1, missing ones at the mean and indicated; an indicator of each frequent category."""
    from sklearn.impute import SimpleImputer  # these take long to load
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    order = subject.by_gain()[:MOST_COLUMNS]
    made: list[tuple[list[int], Any]] = []
    if numeric := [column for column in order if column not in subject.categories]:
        scaler = StandardScaler(with_mean=not sparse.issparse(part.matrix))
        imputer = SimpleImputer(strategy="constant", fill_value=0.0, add_indicator=True, keep_empty_features=True)
        pipeline = make_pipeline(scaler, imputer)
        made.append((numeric, pipeline.fit(_cells(part, rows, numeric), standardscaler__sample_weight=weights)))
    kept = {}
    for column in (column for column in order if column in subject.categories):
        values = part.column(column)[rows]
        there = ~np.isnan(values)
        codes, which = np.unique(values[there], return_inverse=True)
        counts = np.bincount(which, weights[there], len(codes))
        if len(codes):
            kept[column] = np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
    if kept:
        encoder = OneHotEncoder(categories=list(kept.values()), handle_unknown="ignore", sparse_output=False)
        made.append((list(kept), encoder.fit(_cells(part, rows, list(kept)))))
    return made


def _transformed(transformers: list[tuple[list[int], Any]], part: SubjectRows, rows: RowIndices) -> Any:
    made = [transformer.transform(_cells(part, rows, columns)) for columns, transformer in transformers]
    if not made:
        return np.zeros((len(rows), 1))
    return made[0] if len(made) == 1 else np.hstack(made)


def _cells(part: SubjectRows, rows: RowIndices, columns: list[int]) -> Any:
    chosen = part.matrix[:, columns]
    return chosen.tocsr()[rows] if sparse.issparse(chosen) else chosen[rows]
