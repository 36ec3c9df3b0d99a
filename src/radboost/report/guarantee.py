"""Limits on the error of a classifier on new rows: from theory, from held-out rows, and what was observed."""

from __future__ import annotations

import warnings

import numpy as np

from radboost import guarantees
from radboost.guarantees.bounds import MarginBound
from radboost.guarantees.holdout import limit_of
from radboost.report.blocks import Block, Cell, CellTable, Section, Text
from radboost.report.figures import percent, rounded
from radboost.report.subject import UNKNOWN, Subject

NO_TRAINING_ROWS = "No training rows were given, and the bound is computed from these: pass X_train and y_train."
OTHER_LABELS = "Some training rows have labels that the model does not know: these are not the rows it was fitted to."
NO_LIMIT = "With weights, or copies of rows, there is no exact held-out limit: the fraction is not binomial."


def guarantee(subject: Subject) -> Section | None:
    """Bound, held-out limit and observed errors; None for a regressor."""
    if not subject.classifies:
        return None
    rows: list[tuple[Cell, ...]] = []
    texts: list[Block] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bound = _bound(subject)
    texts.extend(Text((str(one.message),), "note") for one in caught)
    if isinstance(bound, MarginBound):
        name = "bound from the training rows" + (" (vacuous)" if bound.vacuous else "")
        rows.append((name, rounded(bound.total), "vacuous: no error is above 1" if bound.vacuous else bound.theorem))
        texts.append(Text((bound.explain(),), "warning" if bound.vacuous else "good"))
    else:
        texts.append(Text((bound,), "note"))
    lead = "What can be promised about rows that nobody has seen yet."
    if subject.test.weights is None and subject.test.groups is None:
        limit = limit_of(int(subject.wrong.sum()), len(subject.test))
        how = f"exact binomial, {limit.n_wrong:,} of {limit.n_rows:,} rows wrong"
        rows.append(("limit from the held-out rows", rounded(limit.upper), how))
        lead = f"With 95% confidence the model is wrong on at most {percent(limit.upper)} of new rows like these."
    else:
        texts.append(Text((NO_LIMIT,), "note"))
    observed = float(np.average(subject.wrong, weights=subject.test.weight()))
    rows.append(("observed on the held-out rows", rounded(observed), ""))
    if subject.train is not None:
        seen = float(np.mean(np.asarray(subject.model.predict(subject.train.X)) != subject.train.y))
        rows.append(("observed on the training rows", rounded(seen), "rows that the model has learned from"))
    table = CellTable(("what", "error at most", "how"), tuple(rows), "Each promise holds with probability 95%.")
    return Section("guarantees", "Guarantees", lead, (table, *texts))


def _bound(subject: Subject) -> MarginBound | str:
    """Return the bound, or the reason why there is none."""
    if subject.train is None:
        return NO_TRAINING_ROWS
    if (subject.train.class_ids == UNKNOWN).any():
        return OTHER_LABELS
    try:
        return guarantees.bound(subject.model, subject.train.X, subject.train.y)
    except (TypeError, ValueError) as reason:
        return str(reason)
