"""Results as tables: one for each task, and one of all tasks for the documents."""

from __future__ import annotations

import math
from collections.abc import Mapping

from benchmarks.markdown import table
from benchmarks.results import Result, Row

#: tasks and competitors of the table in docs/performance.md
SHOWN = (
    "reach-large",
    "reach-mnist17",
    "reach-letters",
    "reach-adult",
    "reach-higgs",
    "fit-large",
    "fit-mnist17",
    "fit-small",
    "construct",
    "predict",
    "predict-one",
    "memory",
)
COLUMNS = (
    "RadBoost default",
    "RadBoost gini",
    "RadBoost edge",
    "RGB, 1 candidate",
    "XGBoost",
    "LightGBM",
    "LightGBM quantized",
    "HistGradientBoosting",
    "CatBoost",
)


def section(result: Result) -> str:
    """Title, table and notes of a task."""
    parts = [f"## {result.title}", ratios(result) if result.rows else "", result.note, result.other_load]
    return "\n\n".join(part for part in parts if part) + "\n"


def ratios(result: Result) -> str:
    """Table of figures, with a column for each of ours: its figure divided by that of the row."""
    ours = [row for row in result.rows if row.ours]
    head = ["", result.unit, "error", "trees", *(f"{row.competitor} / this" for row in ours), "notes"]
    return table(head, [[*_cells(row), *(_ratio(one, row) for one in ours), row.note] for row in result.rows])


def overview(results: Mapping[str, Result]) -> str:
    """Table with a row for each task and a column for each library."""
    shown = [results[task] for task in SHOWN if task in results and results[task].rows]
    return table(["", *COLUMNS], [[f"{result.title}: {result.unit}", *_figures(result)] for result in shown])


def _figures(result: Result) -> list[str]:
    rows = {row.competitor: row for row in result.rows}
    return [_figure(rows[name].figure) if name in rows else "" for name in COLUMNS]


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _cells(row: Row) -> list[str]:
    error = "" if row.error is None else f"{row.error:.4f}"
    return [row.competitor, _figure(row.figure), error, "" if row.trees is None else str(row.trees)]


def _ratio(ours: Row, row: Row) -> str:
    ratio = ours.figure / row.figure
    return "" if row is ours or math.isnan(ratio) else f"{ratio:.2f}"
