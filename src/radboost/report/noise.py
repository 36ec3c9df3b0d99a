"""Label-noise rate and suspicious rows, by confident learning."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.estimators import RGBClassifier
from radboost.report.blocks import Block, Cell, CellTable, Section, Text
from radboost.report.figures import count, percent, rounded
from radboost.report.subject import UNKNOWN, Subject, SubjectRows
from radboost.rows.hashing import RowIndices, folds
from radboost.trees import TreeOptions

N_FOLDS, MOST_ROWS, MOST_CELLS = 4, 4000, 4_000_000
N_ROUNDS = 50
FEWEST_ROWS = 50
SHOWN = 20
HOW = (
    "A row is suspected when a model that has not seen it gives another class at least the probability that rows of "
    "that class have of it on average (confident learning). Where classes truly overlap, rows on the wrong side look "
    "the same as wrong labels: take the fraction as an upper estimate, and the list as rows to check first."
)
Ids = npt.NDArray[np.int64]


def confident_learning(probabilities: FloatArray, ids: Ids) -> tuple[float, Ids]:
    """Fraction of wrong labels, and for each row the class that it confidently belongs to, or its label.

    `probabilities` were not learned from the labels.

    Northcutt, Jiang and Chuang, Confident Learning, 2021, equations (1) to (3). The threshold of a class is the mean
    probability that rows with its label have of it. A row counts as one of the most probable class among those whose
    threshold it reaches. The counts, scaled to the number of rows with each label, estimate the joint distribution of
    labels and true classes. Its mass off the diagonal is the fraction of wrong labels. Where classes overlap, rows of
    the rarer kind look the same as wrong labels, and are counted.
    """
    n, n_classes = probabilities.shape
    counts = np.bincount(ids, minlength=n_classes)
    own = probabilities[np.arange(n), ids]
    thresholds = np.where(counts > 0, np.bincount(ids, own, n_classes) / np.maximum(counts, 1), np.inf)
    reached = np.where(probabilities >= thresholds, probabilities, -1.0)
    best = reached.argmax(axis=1)
    confident = reached[np.arange(n), best] >= 0.0
    table = np.bincount(ids[confident] * n_classes + best[confident], minlength=n_classes**2)
    joint = table.reshape(n_classes, n_classes).astype(np.float64)
    totals = joint.sum(axis=1)
    empty = totals == 0.0
    joint[empty, empty] = 1.0  # no row of the class is confident: believe its labels
    joint *= (counts / np.where(empty, 1.0, totals))[:, None] / n
    return max(0.0, float(joint.sum() - np.trace(joint))), np.where(confident, best, ids)


def noise(subject: Subject) -> Section | None:
    """Estimates on the held-out rows, by the model, and on training rows, by cross-fitted models."""
    if not subject.classifies or subject.probabilities is None:
        return None
    parts: list[tuple[Cell, ...]] = []
    suspects: list[tuple[float, tuple[Cell, ...]]] = []
    fractions = []
    for name, by, part, rows, probabilities in _samples(subject):
        ids = part.class_ids[rows]
        fraction, suggested = confident_learning(probabilities, ids)
        fractions.append(fraction)
        suspected = np.flatnonzero(suggested != ids).tolist()
        parts.append((name, len(ids), percent(fraction), len(suspected), by))
        for index in suspected:
            label, other = int(ids[index]), int(suggested[index])
            own, better = probabilities[index, label], probabilities[index, other]
            classes = subject.class_names[label], subject.class_names[other]
            row = part.number(int(rows[index]))
            suspects.append((float(own - better), (name, row, *classes, rounded(own), rounded(better))))
    if not parts:
        few = f"There are fewer than {FEWEST_ROWS} rows to estimate anything from."
        return Section("labels", "Labels", few, (Text((few,), "note"),))
    columns = ("part", "rows examined", "wrong labels, estimated", "rows suspected", "probabilities by")
    blocks: list[Block] = [CellTable(columns, tuple(parts))]
    if suspects:
        suspects.sort(key=lambda pair: pair[0])
        caption = f"The {min(SHOWN, len(suspects))} most suspicious of {count(len(suspects), 'suspected row')}; "
        titles = ("part", "row", "label", "more likely", "probability of the label", "of the other")
        blocks.append(CellTable(titles, tuple(row for _, row in suspects[:SHOWN]), f"{caption}{subject.counting}."))
    blocks.append(Text((HOW,), "note"))
    return Section("labels", "Labels", _lead(fractions), tuple(blocks))


def _lead(fractions: list[float]) -> str:
    low, high = percent(min(fractions)), percent(max(fractions))
    if max(fractions) == 0.0:
        return "No label looks wrong."
    about = high if low == high else f"{low} to {high}"
    return f"About {about} of the labels look wrong, or belong to rows that these columns cannot tell apart."


def _samples(subject: Subject) -> Iterator[tuple[str, str, SubjectRows, RowIndices, FloatArray]]:
    """Name, source of the probabilities, rows, their indices, and probabilities that were not learned from them."""
    assert subject.probabilities is not None
    crossed = None if subject.train is None else cross_fitted(subject, subject.train)
    if subject.train is not None and crossed is not None:
        yield "training", f"{N_FOLDS} fits to the other rows", subject.train, *crossed
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if len(known) >= FEWEST_ROWS and subject.cost is None:  # with costs the model states a policy, no probabilities
        yield "held-out", "the model", subject.test, known, subject.probabilities[known]


def cross_fitted(subject: Subject, part: SubjectRows) -> tuple[RowIndices, FloatArray] | None:
    """Indices of some rows, and probabilities by small models fitted to the others; None where that is too expensive.

    The models are of gradient boosting, whatever the subject is: they need be good, not the same.
    """
    known = np.flatnonzero(part.class_ids != UNKNOWN)
    most = min(MOST_ROWS, MOST_CELLS // max(1, subject.n_columns))
    if len(known) < FEWEST_ROWS or most < min(len(known), FEWEST_ROWS * 4):
        return None
    rows = np.intersect1d(part.sample(most), known)
    ids = part.class_ids[rows]
    fold_of = folds(part.hashes[rows], N_FOLDS)
    probabilities = np.zeros((len(rows), len(subject.classes)))
    matrix = part.matrix.tocsr()[rows] if hasattr(part.matrix, "tocsr") else part.matrix[rows]
    for fold in range(N_FOLDS):
        own, others = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        if not len(own):
            continue
        if len(np.unique(ids[others])) < 2:
            return None
        model = RGBClassifier(
            N_ROUNDS,
            learning_rate=0.1,
            categorical_features=sorted(subject.categories) or None,
            calibration=None,
            n_jobs=getattr(subject.model, "n_jobs", None),
            tree_options=TreeOptions(max_bins=64),
        ).fit(matrix[others], ids[others])
        probabilities[np.ix_(own, model.classes_)] = model.predict_proba(matrix[own])
    return rows, probabilities
