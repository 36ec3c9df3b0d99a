"""Warnings before a fit: columns that give the target away, or only name the rows."""

from __future__ import annotations

import numpy as np

from radboost.cli.rows import LabeledRows
from radboost.model_file import Schema
from radboost.report.leaks import FEWEST_ROWS, Suspicion, TargetValues, findings, is_id
from radboost.rows.hashing import drawn, folds

MOST_ROWS, MOST_COLUMNS = 10_000, 1000


def warnings_of(part: LabeledRows, schema: Schema) -> list[str]:
    """Warnings of the report, for the training rows."""
    if len(part.y) < FEWEST_ROWS:
        return []
    rows = drawn(part.keys, MOST_ROWS)
    halves = folds(part.hashes[rows], 2)
    classes = schema.task == "classes"
    target = TargetValues.of_classes(np.unique(part.y, return_inverse=True)[1][rows]) if classes else None
    target = target or TargetValues.of_numbers(part.y[rows])
    suspicions = []
    for column in part.table.columns[:MOST_COLUMNS]:
        is_text, values = column.kind == "category", np.asarray(part.table.values[column.name], dtype=np.float64)
        values = np.where(values < 0, np.nan, values) if is_text else values
        alone, threshold = target.alone(values[rows], halves, is_text=is_text)
        gaps = target.decided_by_gaps(np.isnan(values[rows]), halves)
        known = values[~np.isnan(values)]
        named = column.kind == "number" and is_id(column.name, known, len(np.unique(known)), is_text=False)
        suspicions.append(Suspicion(column.name, alone, threshold, gaps, named))
    return [one.text for one in findings(suspicions)]
