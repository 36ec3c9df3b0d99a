"""What columns are worth, by three measures, and what it means where they disagree."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.explain.importance import permutation_importance
from radboost.report.blocks import Bars, Block, Section, Table, Text
from radboost.report.figures import count, plain, rounded, shortened
from radboost.report.scores import SMALLEST
from radboost.report.shapley import Contributions
from radboost.report.subject import UNKNOWN, Subject
from radboost.rows.contents import take_rows

MOST_COLUMNS, SHOWN, N_REPEATS, FEWEST_ROWS = 40, 15, 3, 10
MOST_ROWS = 2000
TOP, FAR = 5, 3.0  # columns that are compared, and a share that is so many times another


def importance(subject: Subject) -> Section | None:
    """Gain, what shuffling costs on held-out rows, and mean absolute Shapley values, side by side."""
    shap = subject.contributions if isinstance(subject.contributions, Contributions) else None
    sizes = None if shap is None else _shares(shap.sizes)
    order = _order(subject.gains, sizes)
    shuffled = _shuffled(subject, order[:MOST_COLUMNS])
    if shuffled is None and sizes is None and not subject.gains.any():
        return None
    drops = None if shuffled is None else shuffled[0]
    order = _order(subject.gains, sizes, None if drops is None else _shares(np.maximum(drops, 0.0)))
    blocks: list[Block] = [_bars(subject, order[:SHOWN], sizes, drops)]
    notes = disagreements(subject, sizes, shuffled)
    if notes:
        blocks.append(Text(tuple(notes), "warning"))
    elif shuffled is not None and sizes is not None:
        blocks.append(Text(("The three measures agree on which columns matter.",), "good"))
    blocks.append(_table(subject, order[:MOST_COLUMNS], sizes, shuffled, shap))
    if isinstance(subject.contributions, str):
        blocks.append(Text((subject.contributions,), "note"))
    used = int(np.count_nonzero(subject.gains))
    names = ", ".join(shortened(subject.names[one], 30) for one in order[:3])
    lead = f"What the answers rest on most: {names}. {count(used, 'column')} of {subject.n_columns:,} are used."
    return Section("importance", "Columns", lead, tuple(blocks))


def _shares(sizes: FloatArray) -> FloatArray:
    total = float(sizes.sum())
    return sizes / total if total > 0.0 else sizes


def _order(*measures: FloatArray | None) -> list[int]:
    """The columns by the mean of the measures that there are."""
    known = [one for one in measures if one is not None]
    mean = np.mean(known, axis=0)
    found: list[int] = np.argsort(-mean, kind="stable").tolist()
    return [place for place in found if mean[place] > 0.0] or found[:1]


def _loss(subject: Subject) -> Any:
    """A scorer whose fall is what is lost: log loss, error where there are no probabilities, squared error."""
    places = {label: place for place, label in enumerate(subject.classes)}

    def score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        if not subject.classifies:
            off = np.asarray(y, dtype=np.float64) - model.predict(X)
            level = subject.quantile
            losses = off**2 if level is None else np.maximum(level * off, (level - 1.0) * off)
        elif subject.probabilities is None:
            losses = np.asarray(model.predict(X)) != y
        else:
            ids = np.array([places[label] for label in np.asarray(y).tolist()])
            own = np.asarray(model.predict_proba(X))[np.arange(len(ids)), ids]
            losses = -np.log(np.maximum(own, SMALLEST))
        return -float(np.average(losses, weights=sample_weight))

    return score


def _shuffled(subject: Subject, columns: list[int]) -> tuple[FloatArray, FloatArray] | None:
    """How much the loss rises when a column is shuffled, and the spread of that; 0 for columns not tried."""
    rows = subject.test.sample(MOST_ROWS)
    if subject.classifies:
        rows = rows[subject.test.class_ids[rows] != UNKNOWN]
    if len(rows) < FEWEST_ROWS:
        return None
    found = permutation_importance(
        subject.model,
        take_rows(subject.test.X, rows),
        subject.test.y[rows],
        n_repeats=N_REPEATS,
        random_state=subject.seed % 2**32,
        scoring=_loss(subject),
        sample_weight=None if subject.test.weights is None else subject.test.weights[rows],
        used=columns,
    )
    return found.importances_mean, found.importances_std


def disagreements(
    subject: Subject, sizes: FloatArray | None, shuffled: tuple[FloatArray, FloatArray] | None
) -> list[str]:
    """What it means that a column is important by one measure and not by another."""
    if shuffled is None:
        return []
    drops, spreads = shuffled
    useful = _shares(np.maximum(drops, 0.0))
    notes = []
    for place in np.argsort(-subject.gains, kind="stable")[:TOP].tolist():
        gain, name = float(subject.gains[place]), repr(shortened(subject.names[place]))
        if gain < 0.02:
            continue
        if drops[place] <= 2.0 * spreads[place] and gain > FAR * useful[place]:
            notes.append(
                f"{name} has {100 * gain:.0f}% of the gain in training, and shuffling it on held-out rows costs "
                "nothing: the trees fitted chance with it, or other columns say the same."
            )
        elif sizes is not None and sizes[place] > FAR * max(useful[place], 1e-9):
            notes.append(
                f"{name} moves the scores much and is worth little on held-out rows: other columns may say the same, "
                "or what it says does not hold on new rows."
            )
    hidden = (
        place
        for place in np.argsort(-useful, kind="stable")[:TOP].tolist()
        if useful[place] > 0.05 and useful[place] > FAR * max(float(subject.gains[place]), 1e-9)
    )
    notes += [
        f"{shortened(subject.names[place])!r} has little of the gain and is worth much on held-out rows: gain favours "
        "columns with many values, which leave less to the others."
        for place in hidden
    ]
    return notes


def _bars(subject: Subject, order: list[int], sizes: FloatArray | None, drops: FloatArray | None) -> Bars:
    series = []
    if subject.gains.any():
        series.append(("gain", subject.gains))
    if drops is not None:
        series.append(("shuffled, held-out", _shares(np.maximum(drops, 0.0))))
    if sizes is not None:
        series.append(("mean |SHAP|", sizes))
    return Bars(
        "Importance by three measures" if len(series) == 3 else "Importance",
        "share of each measure",
        tuple(shortened(subject.names[place]) for place in order),
        tuple((name, tuple(plain(values[place]) for place in order)) for name, values in series),
        caption="Each measure as a share of its sum over all columns. Gain is what splits gained in training; the "
        "others are measured on held-out rows.",
    )


def _table(
    subject: Subject,
    order: list[int],
    sizes: FloatArray | None,
    shuffled: tuple[FloatArray, FloatArray] | None,
    shap: Contributions | None,
) -> Table:
    columns = ["column", "gain, share"]
    if shuffled is not None:
        columns += ["loss when shuffled, more by", "spread of that"]
    if shap is not None:
        columns.append("mean |SHAP|")
    rows = []
    for place in order:
        line: list[str | float | int | None] = [shortened(subject.names[place]), rounded(subject.gains[place])]
        if shuffled is not None:
            line += [rounded(shuffled[0][place]), rounded(shuffled[1][place])]
        if shap is not None:
            line.append(rounded(shap.sizes[place]))
        rows.append(tuple(line))
    notes = []
    if shuffled is not None:
        loss = "log loss" if subject.classifies else "squared error" if subject.quantile is None else "quantile loss"
        n = min(MOST_ROWS, len(subject.test))
        notes.append(
            f"Each column was shuffled {N_REPEATS} times among {n:,} held-out rows; the rise is that of the {loss}"
        )
    if shap is not None:
        notes.append(f"Shapley values are those of {len(shap.rows):,} held-out rows, in units of the score")
    return Table(tuple(columns), tuple(rows), ". ".join(notes) + ("." if notes else ""), digits=3)
