"""Importance of columns by three measures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost.explain.importance import permutation_importance
from radboost.report.blocks import Block, CellTable, Section, Text
from radboost.report.figures import count, plain
from radboost.report.html import shortened
from radboost.report.shapley import Contributions
from radboost.report.subject import UNKNOWN, Subject

MOST_COLUMNS, SHOWN, N_REPEATS, FEWEST_ROWS = 40, 15, 3, 10
MOST_ROWS = 2000
# Columns that are compared, a ratio of two measures that is worth a remark, and a gain that is not.
TOP, FAR, SMALL = 5, 3.0, 0.02


def importance(subject: Subject) -> Section | None:
    """Gain, increase of the loss by shuffling on held-out rows, and mean absolute Shapley values."""
    shap = subject.contributions
    sizes = _normalized(shap.sizes) if isinstance(shap, Contributions) else None
    order = _order(subject.gains, sizes)
    shuffled = _shuffled(subject, order[:MOST_COLUMNS])
    if shuffled is None and sizes is None and not subject.gains.any():
        return None
    useful = None if shuffled is None else _normalized(np.maximum(shuffled[0], 0.0))
    order = _order(subject.gains, sizes, useful)
    blocks: list[Block] = [_table(subject, order[:SHOWN], sizes, useful)]
    if shuffled is not None and (notes := overfitted(subject, *shuffled)):
        blocks.append(Text(tuple(notes), "warning"))
    if isinstance(shap, str):
        blocks.append(Text((shap,), "note"))
    used = int(np.count_nonzero(subject.gains))
    names = ", ".join(shortened(subject.names[one], 30) for one in order[:3])
    of = f"{used:,} of {count(subject.n_columns, 'column')} {'is' if used == 1 else 'are'} used."
    lead = f"What the predictions rest on most: {names}. {of}"
    return Section("importance", "Columns", lead, tuple(blocks))


def _normalized(sizes: FloatArray) -> FloatArray:
    total = float(sizes.sum())
    return sizes / total if total > 0.0 else sizes


def _order(*measures: FloatArray | None) -> list[int]:
    """Columns by the mean of the measures that there are."""
    mean = np.mean([one for one in measures if one is not None], axis=0)
    order: list[int] = np.argsort(-mean, kind="stable").tolist()
    return [column for column in order if mean[column] > 0.0] or order[:1]


def _loss(subject: Subject) -> Callable[..., float]:
    """Log loss of a classifier's probabilities, or the loss of a regressor's predictions."""
    from sklearn.metrics import log_loss, mean_pinball_loss, mean_squared_error  # which takes long to load

    if subject.classifies:
        return partial(log_loss, labels=list(subject.classes))
    return mean_squared_error if subject.quantile is None else partial(mean_pinball_loss, alpha=subject.quantile)


def _shuffled(subject: Subject, columns: list[int]) -> tuple[FloatArray, FloatArray] | None:
    """Mean and spread of the increase of the loss when a column is shuffled; 0 for columns not tried."""
    rows = subject.test.sample(MOST_ROWS)
    if subject.classifies:
        rows = rows[subject.test.class_ids[rows] != UNKNOWN]
    if len(rows) < FEWEST_ROWS:
        return None
    from sklearn.metrics import make_scorer

    loss, y = _loss(subject), subject.test.y[rows]
    weights = None if subject.test.weights is None else subject.test.weights[rows]
    outputs, method = subject.probabilities, "predict_proba"
    if outputs is None:
        outputs, method = subject.predicted, "predict"
    result = permutation_importance(
        subject.model,
        rows_of(subject.test.X, rows),
        y,
        n_repeats=N_REPEATS,
        random_state=subject.seed % 2**32,
        scoring=make_scorer(loss, greater_is_better=False, response_method=method),
        sample_weight=weights,
        used=columns,
        unshuffled=-loss(y, outputs[rows], sample_weight=weights),
    )
    return result.importances_mean, result.importances_std


def overfitted(subject: Subject, increases: FloatArray, spreads: FloatArray) -> list[str]:
    """Remarks on columns with much gain in training that are worth nothing on held-out rows."""
    useful = _normalized(np.maximum(increases, 0.0))
    top = np.argsort(-subject.gains, kind="stable")[:TOP].tolist()
    return [
        f"{shortened(subject.names[column])!r} has {100 * subject.gains[column]:.0f}% of the gain in training, and "
        "shuffling it on held-out rows costs nothing: the trees fitted chance with it, or other columns say the same."
        for column in top
        if subject.gains[column] >= SMALL
        and increases[column] <= 2.0 * spreads[column]
        and subject.gains[column] > FAR * useful[column]
    ]


def _table(subject: Subject, order: list[int], sizes: FloatArray | None, useful: FloatArray | None) -> CellTable:
    every = {"gain": subject.gains if subject.gains.any() else None, "shuffled, held-out": useful, "mean |SHAP|": sizes}
    measures = {name: values for name, values in every.items() if values is not None}
    n_rows = min(MOST_ROWS, len(subject.test))
    return CellTable(
        ("column", *measures),
        tuple(
            (shortened(subject.names[column]), *(plain(values[column]) for values in measures.values()))
            for column in order
        ),
        "Each measure as a fraction of its sum over all columns. Gain is what splits gained in training; the others "
        f"are measured on held-out rows. Shuffling is the increase of the loss on {n_rows:,} rows, the mean of "
        f"{N_REPEATS}.",
        bars=tuple(range(1, len(measures) + 1)),
    )
