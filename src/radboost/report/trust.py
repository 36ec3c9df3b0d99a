"""Reasons to trust a classifier: its margins, what theory and held-out rows promise, and what was observed."""

from __future__ import annotations

import math

import numpy as np

from radboost import guarantees
from radboost._typing import FloatArray
from radboost.guarantees.bounds import MarginBound
from radboost.guarantees.holdout import HoldoutLimit
from radboost.report.blocks import Bars, Block, Cell, Histogram, Mark, Section, Table, Text
from radboost.report.figures import percent, plain, plain_all, rounded
from radboost.report.subject import UNKNOWN, Part, Subject
from radboost.rows.contents import take_rows

N_BINS = 40
MOST_ROWS = 20_000  # of a part, for margins


def trust(subject: Subject) -> Section | None:
    """Margins, bound, held-out limit and error; nothing of this exists for numbers."""
    if not subject.classifies:
        return None
    limit = None
    if subject.test.weights is None and subject.test.groups is None:
        limit = guarantees.holdout(subject.model, subject.test.X, subject.test.y)
    blocks: list[Block] = [*_margins(subject), *_promises(subject, limit)]
    lead = "What can be promised about rows that nobody has seen yet."
    if limit is not None:
        lead = f"With 95% confidence the model is wrong on at most {percent(limit.upper)} of new rows like these."
    return Section("trust", "Margins and guarantees", lead, tuple(blocks))


def _margins(subject: Subject) -> list[Block]:
    found = {}
    for part, name in ((subject.test, "held-out"), (subject.train, "training")):
        if part is None:
            continue
        try:
            found[name] = _margins_of(subject, part)
        except TypeError as reason:
            return [Text((str(reason),), "note")]
    found = {name: values for name, values in found.items() if len(values)}
    if not found:
        return []
    reach = max(float(np.abs(values).max()) for values in found.values())
    reach = min(1.0, max(0.1, math.ceil(10.0 * reach) / 10.0))  # a scale to 1 would be empty for most models
    edges = np.linspace(-reach, reach, N_BINS + 1)
    series = [(name, plain_all(np.histogram(one, edges)[0] / len(one))) for name, one in found.items()]
    told = [
        f"{percent(float((values <= 0.0).mean()))} of the {name} rows have a margin of at most 0"
        for name, values in found.items()
    ]
    return [
        Histogram(
            "Margins",
            "normalised margin",
            "share of the rows",
            plain_all(edges),
            tuple(series),
            (Mark(0, "wrong | right"),),
            f"How clearly the vote goes to the right class: 1 where all hypotheses agree on it, below 0 where another "
            f"class wins. {'; '.join(told)}. Training margins far to the right of the held-out ones are a sign of "
            "overfitting.",
        )
    ]


def _margins_of(subject: Subject, part: Part) -> FloatArray:
    rows = np.intersect1d(part.sample(MOST_ROWS), np.flatnonzero(part.class_ids != UNKNOWN))
    if not len(rows):
        return np.zeros(0)
    return guarantees.margins(subject.model, take_rows(part.X, rows), part.y[rows])


def _promises(subject: Subject, limit: HoldoutLimit | None) -> list[Block]:
    """The bound, the held-out limit and the observed error, largest first."""
    names: list[str] = []
    values: list[float] = []
    rows: list[tuple[Cell, ...]] = []
    texts: list[Block] = []
    bound = _bound(subject)
    if isinstance(bound, MarginBound):
        names.append("bound from the training rows" + (" (vacuous)" if bound.vacuous else ""))
        values.append(bound.total)
        rows.append(
            (names[-1], rounded(bound.total), "vacuous: no error is above 1" if bound.vacuous else bound.theorem)
        )
        texts.append(Text((bound.explain(),), "warning" if bound.vacuous else "good"))
        texts.append(_terms(bound))
    elif bound is not None:
        texts.append(Text((bound,), "note"))
    if limit is not None:
        names.append("limit from the held-out rows")
        values.append(limit.upper)
        rows.append(
            (names[-1], rounded(limit.upper), f"exact binomial, {limit.n_wrong:,} of {limit.n_rows:,} rows wrong")
        )
    else:
        texts.append(
            Text(
                ("With weights, or copies of rows, there is no exact held-out limit: the share is not binomial.",),
                "note",
            )
        )
    observed = float(np.average(subject.wrong, weights=subject.test.weight()))
    names.append("observed on the held-out rows")
    values.append(observed)
    rows.append((names[-1], rounded(observed), ""))
    if subject.train is not None:
        seen = float(np.mean(np.asarray(subject.model.predict(subject.train.X)) != subject.train.y))
        names.append("observed on the training rows")
        values.append(seen)
        rows.append((names[-1], rounded(seen), "rows that the model has learned from"))
    bars = Bars(
        "Three answers to: how wrong can it be?",
        "error",
        tuple(names),
        (("error", tuple(plain(min(value, 1.0)) for value in values)),),
        caption="Each promise holds with probability 95%. A bar that reaches 1 says nothing: it is vacuous.",
    )
    return [bars, Table(("what", "error at most", "how"), tuple(rows)), *texts]


def _bound(subject: Subject) -> MarginBound | str | None:
    """The bound, or why there is none."""
    if subject.train is None:
        return "No training rows were given, and the bound is computed from these: pass X_train and y_train."
    if (subject.train.class_ids == UNKNOWN).any():
        return "Some training rows have labels that the model does not know: these are not the rows it was fitted to."
    try:
        found = guarantees.bound(subject.model, subject.train.X, subject.train.y)
    except (TypeError, ValueError) as reason:
        return str(reason)
    return found if isinstance(found, MarginBound) else None


def _terms(bound: MarginBound) -> Table:
    terms = [
        (f"rows, by how far margins are below {bound.rho:.3g}", bound.margin_error),
        (f"complexity of the hypotheses ({bound.hypotheses})", bound.complexity_term),
        ("what draws may be off", bound.family_term),
        ("chance, and what was chosen", bound.confidence_term),
    ]
    rows = tuple((name, rounded(value)) for name, value in terms if value > 0.0)
    return Table(("term of the bound", "value"), (*rows, ("sum", rounded(bound.total))), highlighted=(len(rows),))
