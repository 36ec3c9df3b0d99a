"""How answers depend on single columns of a model without Shapley values: rows with one cell changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.report.blocks import Columns, Lines, Section, Series
from radboost.report.figures import plain_all, shortened, thinned
from radboost.report.subject import Subject
from radboost.rows.contents import Places, take_rows

SHOWN, N_VALUES, MOST_ROWS, RUG = 6, 20, 150, 150


def partial_dependence(subject: Subject) -> Section | None:
    """The mean answer for some held-out rows, all with the same value in one column.

    Friedman, Greedy Function Approximation, 2001, section 8.2. For columns of numbers, in arrays and frames of pandas.
    """
    X = subject.test.X
    if not isinstance(X, np.ndarray) and not hasattr(X, "iloc"):
        return None
    order = [place for place in subject.by_gain()[:SHOWN] if subject.gains[place] > 0.0]
    order = [place for place in order if place not in subject.categories]
    if not order:
        return None
    rows = subject.test.sample(MOST_ROWS)
    drawn = [_drawn(subject, rows, place) for place in order]
    pairs = tuple(Columns(tuple(drawn[first : first + 2])) for first in range(0, len(drawn), 2))
    lead = f"The mean answer for {len(rows):,} held-out rows when all of them have the same value in one column."
    return Section("dependence", "Dependence", lead, pairs)


def _drawn(subject: Subject, rows: Places, column: int) -> Lines:
    known = subject.test.column(column)
    known = np.sort(known[~np.isnan(known)])
    name = shortened(subject.names[column])
    if not len(known):
        return Lines(name, name, "mean answer", (), caption="No row has a value.")
    values = np.unique(np.quantile(known, np.linspace(0.02, 0.98, N_VALUES)))
    many = with_column(take_rows(subject.test.X, np.tile(rows, len(values))), column, np.repeat(values, len(rows)))
    means, label = _answers(subject, many, len(values))
    return Lines(
        name,
        name,
        label,
        (Series("mean", plain_all(values), plain_all(means)),),
        rug=plain_all(known[thinned(len(known), RUG)]),
    )


def with_column(rows: Any, column: int, values: FloatArray) -> Any:
    """Rows of an array or a frame of pandas, a copy, with other numbers in one column."""
    if isinstance(rows, np.ndarray):
        changed = rows.astype(np.result_type(rows, np.float64)) if rows.dtype != object else rows.copy()
        changed[:, column] = values
        return changed
    changed = rows.copy(deep=False)
    changed.isetitem(column, values)
    return changed


def _answers(subject: Subject, rows: Any, n_values: int) -> tuple[npt.NDArray[Any], str]:
    """Means by value: of numbers, or of the probability of the class that changes most."""
    if not subject.classifies:
        return np.asarray(subject.model.predict(rows)).reshape(n_values, -1).mean(axis=1), "mean answer"
    if subject.probabilities is None:
        says = np.asarray(subject.model.predict(rows)) == subject.classes[-1]
        return says.reshape(n_values, -1).mean(axis=1), f"share of answers {shortened(subject.class_names[-1])}"
    found = np.asarray(subject.model.predict_proba(rows)).reshape(n_values, -1, len(subject.classes)).mean(axis=1)
    place = 1 if len(subject.classes) == 2 else int((found.max(axis=0) - found.min(axis=0)).argmax())
    return found[:, place], f"mean probability of {shortened(subject.class_names[place])}"
