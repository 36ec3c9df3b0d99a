"""Rows with the largest errors, to check by hand."""

from __future__ import annotations

import numpy as np

from radboost._numbers import number_text
from radboost.report.blocks import Cell, CellTable, Section, Text
from radboost.report.figures import percent, shortened
from radboost.report.scores import losses_by_row
from radboost.report.subject import Subject

SHOWN, SHOWN_COLUMNS = 8, 4


def hardest(subject: Subject) -> Section | None:
    """Rows whose true class has the least probability or, of a regressor, with the largest losses."""
    if subject.classifies and subject.probabilities is not None:
        losses = -np.log(np.maximum(subject.truth_probability, 1e-300))
        lead = "The rows whose true class was thought least likely: wrong labels, strange rows, or what it cannot do."
    else:
        losses = losses_by_row(subject)
        lead = "The rows with the largest errors: wrong targets, strange rows, or what the model cannot do."
    order = np.argsort(-losses, kind="stable")
    different = np.sort(np.unique(subject.test.keys[order], return_index=True)[1])  # copies are left out
    chosen = [row for row in order[different[:SHOWN]].tolist() if losses[row] > 0.0]
    if not chosen:
        return None
    columns = subject.by_gain()[:SHOWN_COLUMNS]
    table = CellTable(
        ("row", "truth", "prediction", _error_name(subject), *(shortened(subject.names[one], 30) for one in columns)),
        tuple((*_cells(subject, row), *(shortened(subject.cell(row, one)) for one in columns)) for row in chosen),
        f"{subject.counting[0].upper()}{subject.counting[1:]}; copies are left out. The most important columns.",
    )
    how = Text(("model.explain(row) shows what each column added to a prediction.",))
    return Section("rows", "The hardest rows", lead, (table, how) if hasattr(subject.model, "explain") else (table,))


def _error_name(subject: Subject) -> str:
    if not subject.classifies:
        return "off by"
    return "" if subject.probabilities is None else "probability of the truth"


def _cells(subject: Subject, row: int) -> tuple[Cell, ...]:
    truth, predicted = subject.test.y[row], subject.predicted[row]
    number = f"{subject.test.number(row):,}"
    if not subject.classifies:
        off = number_text(abs(float(truth) - float(predicted)))
        return number, number_text(float(truth)), number_text(float(predicted)), off
    sure = "" if subject.probabilities is None else percent(float(subject.truth_probability[row]))
    return number, shortened(str(truth)), shortened(str(predicted)), sure
