"""What a model must beat: the best constant answer, and a linear model on the same rows."""

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
from radboost.report.subject import UNKNOWN, LabeledRows, Subject
from radboost.rows.contents import Places, drawn, folds

MOST_ROWS, MOST_CELLS, MOST_COLUMNS = 20_000, 10_000_000, 1000
MOST_ROWS_OF_QUANTILES = 1000
MOST_CATEGORIES = 30  # of a column, the most frequent
N_FOLDS = 5
FEWEST = 10  # rows, for a linear model
LEAST_TOTAL = 100.0  # of weights, against a penalty of 1


@dataclass(frozen=True)
class Baselines:
    """Answers for the held-out rows: labels as places of classes, or numbers."""

    constant: npt.NDArray[Any]
    constant_probabilities: FloatArray | None
    linear: npt.NDArray[Any] | None
    linear_probabilities: FloatArray | None
    note: str  # how they came about


def baselines(subject: Subject) -> Baselines:
    """Fitted to the training rows; where none are given, to the other folds of the held-out ones."""
    test, train = subject.test, subject.train
    learned = test if train is None else train
    constant, chances = _constant(subject, learned)
    linear, linear_chances = _linear(subject, learned)
    if train is None:
        note = (
            "No training rows were given: the constant answer is the best one for the held-out rows themselves, and "
            f"the linear model was fitted to {N_FOLDS - 1} of {N_FOLDS} parts of them and judged on the rest."
        )
    else:
        note = "Both were fitted to the training rows."
    if linear is None:
        note += " There are too few rows or classes for a linear model."
    return Baselines(constant, chances, linear, linear_chances, note)


def constant_of(subject: Subject) -> Baselines:
    """The best constant answer for the held-out rows themselves, without a linear model."""
    return Baselines(*_constant(subject, subject.test), None, None, "")


def _constant(subject: Subject, learned: LabeledRows) -> tuple[npt.NDArray[Any], FloatArray | None]:
    n, weights = len(subject.test), learned.weight()
    if not subject.classifies:
        return np.full(n, _best_number(subject, learned.y, weights)), None
    known = learned.class_ids != UNKNOWN
    totals = np.bincount(learned.class_ids[known], weights[known], len(subject.classes))
    shares = totals / totals.sum() if totals.sum() > 0.0 else np.full(len(totals), 1.0 / len(totals))
    return np.full(n, int(_best_answers(subject, shares[None, :])[0])), np.tile(shares, (n, 1))


def _best_answers(subject: Subject, probabilities: FloatArray) -> npt.NDArray[np.int64]:
    """The most probable class, or the one of least expected cost."""
    if subject.cost is None:
        return np.asarray(probabilities.argmax(axis=1))
    return np.asarray((probabilities @ subject.cost).argmin(axis=1))


def _best_number(subject: Subject, targets: FloatArray, weights: FloatArray) -> float:
    if subject.quantile is None:
        return float(np.average(targets, weights=weights))
    order = np.argsort(targets, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(targets[order][min(int(np.searchsorted(reached, subject.quantile)), len(order) - 1)])


def _linear(subject: Subject, learned: LabeledRows) -> tuple[npt.NDArray[Any] | None, FloatArray | None]:
    test = subject.test
    n_outputs = len(subject.classes)
    if learned is not test:
        made = _fit(subject, learned, np.arange(len(learned)))
        return (None, None) if made is None else made.answers(subject, test, np.arange(len(test)))
    answers = np.zeros(len(test), dtype=np.int64 if n_outputs else np.float64)
    chances = np.zeros((len(test), n_outputs)) if n_outputs else None
    parts = folds(test.hashes, N_FOLDS)
    for fold in range(N_FOLDS):
        judged, others = np.flatnonzero(parts == fold), np.flatnonzero(parts != fold)
        if not len(judged):
            continue
        made = _fit(subject, test, others)
        if made is None:
            return None, None
        found, probabilities = made.answers(subject, test, judged)
        answers[judged] = found
        if chances is not None:
            chances[judged] = probabilities
    return answers, chances


@dataclass(frozen=True)
class _Made:
    """A linear model of scikit-learn with what makes its columns."""

    design: _Design
    model: Any

    def answers(
        self, subject: Subject, part: LabeledRows, places: Places
    ) -> tuple[npt.NDArray[Any], FloatArray | None]:
        with one_blas_thread:
            columns = self.design.columns(part, places)
            if not subject.classifies:
                return np.asarray(self.model.predict(columns), dtype=np.float64), None
            found = np.zeros((len(places), len(subject.classes)))
            found[:, self.model.classes_] = self.model.predict_proba(columns)
        return _best_answers(subject, found), found


def _fit(subject: Subject, part: LabeledRows, places: Places) -> _Made | None:
    if subject.classifies:
        places = places[part.class_ids[places] != UNKNOWN]
        if len(places) < FEWEST or len(np.unique(part.class_ids[places])) < 2:
            return None
    elif len(places) < FEWEST:
        return None
    width = min(subject.n_columns, MOST_COLUMNS)
    most = min(MOST_ROWS, max(2000, MOST_CELLS // max(1, width)))
    if subject.quantile is not None:
        most = MOST_ROWS_OF_QUANTILES
    places = places[drawn(part.keys[places], most)]
    weights = _against_penalty(part, places)
    design = _Design.of(subject, part, places, weights)
    model = _estimator(subject)
    targets = part.class_ids[places] if subject.classifies else part.y[places]
    with one_blas_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(design.columns(part, places), targets, sample_weight=weights)
    return _Made(design, model)


def _against_penalty(part: LabeledRows, places: Places) -> FloatArray:
    """Weights whose sum is the number of different rows, or 100 where there are fewer.

    The penalty of a linear model is 1 whatever the weights are. With this sum it counts as much for weights in any
    unit, and for weights of whole numbers as much as for copies of rows.
    """
    weights = part.weight()[places]
    total = max(LEAST_TOTAL, float(len(np.unique(part.keys[places]))))
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
    centres: FloatArray
    spreads: FloatArray
    gaps: tuple[int, ...]  # places among the chosen ones that get a column for "missing"
    levels: tuple[tuple[int, tuple[float, ...]], ...]  # categorical columns with the codes that have a column
    is_sparse: bool

    @staticmethod
    def of(subject: Subject, part: LabeledRows, places: Places, weights: FloatArray) -> _Design:
        order = subject.by_gain()[:MOST_COLUMNS]
        numeric = [column for column in order if column not in subject.categories]
        levels = []
        for column in (column for column in order if column in subject.categories):
            values = part.column(column)[places]
            there = ~np.isnan(values)
            codes, which = np.unique(values[there], return_inverse=True)
            counts = np.bincount(which, weights[there], len(codes))
            kept = np.sort(codes[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])
            levels.append((column, tuple(kept.tolist())))
        is_sparse = sparse.issparse(part.matrix)
        centres, spreads, gaps = np.zeros(len(numeric)), np.ones(len(numeric)), []
        for place, column in enumerate(numeric):
            values = part.column(column)[places]
            there = ~np.isnan(values)
            if not there.all():
                gaps.append(place)
            if there.any():
                mean, spread = _mean_and_spread(values[there], weights[there])
                centres[place], spreads[place] = 0.0 if is_sparse else mean, spread
        return _Design(tuple(numeric), centres, spreads, tuple(gaps), tuple(levels), is_sparse)

    def columns(self, part: LabeledRows, places: Places) -> Any:
        if self.is_sparse:
            chosen = part.matrix[:, list(self.chosen)].tocsr()[places]
            return sparse.csr_array(chosen.multiply(1.0 / self.spreads[None, :]))

        @cache
        def values(column: int) -> FloatArray:
            return part.column(column)[places]

        scaled = [
            np.nan_to_num((values(column) - centre) / spread)
            for column, centre, spread in zip(self.chosen, self.centres, self.spreads, strict=True)
        ]
        missing = [np.isnan(values(self.chosen[gap])).astype(np.float64) for gap in self.gaps]
        levels = [(values(column) == code).astype(np.float64) for column, codes in self.levels for code in codes]
        every = [*scaled, *missing, *levels]
        return np.column_stack(every) if every else np.zeros((len(places), 1))


def _mean_and_spread(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The spread is 1 where values differ by rounding only: other rows would be far away in a unit like that."""
    mean = float(np.average(values, weights=weights))
    spread = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    return mean, spread if spread > 1e-12 * abs(mean) else 1.0
