"""Reports without a model: one with every kind of block, and one whose texts are hostile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from radboost.report.blocks import (
    Block,
    CellTable,
    Code,
    Figure,
    LineChart,
    Mark,
    Report,
    Section,
    Series,
    SideBySide,
    Text,
)

FEATURES = ("age", "capital gain", "occupation", "a column with a name that is rather long for a chart")


def floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def learning() -> LineChart:
    rounds = np.arange(1, 301)
    train, held = 0.24 * np.exp(-rounds / 60) + 0.085, 0.22 * np.exp(-rounds / 45) + 0.128
    series = (Series("training", floats(rounds), floats(train)), Series("held-out", floats(rounds), floats(held)))
    marks = (Mark(162, "chosen round, 162"), Mark(300, "last"))
    return LineChart("Error by round", "round", "error", series, marks, caption="Most rounds stop helping.")


def reliability() -> LineChart:
    said = floats(np.linspace(0.05, 0.95, 10))
    low, high = floats(np.array(said) * 0.9), floats(np.array(said) * 1.05)
    series = Series("observed", said, said, low, high, style="points", sizes=tuple(range(10, 110, 10)))
    return LineChart("Reliability", "probability said", "frequency observed", (series,), diagonal=True)


def spread() -> LineChart:
    edges = floats(np.linspace(-1, 1, 9))
    series = Series("rows", edges, (0.1, 0.2, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.02), style="steps")
    return LineChart("Residuals", "target - prediction", "fraction", (series,), (Mark(0, "0"),))


def importance() -> CellTable:
    gain, permuted = (0.31, 0.22, 0.15, 0.12), (0.05, None, 0.03, -0.012)
    rows = tuple(zip(FEATURES, gain, permuted, strict=True))
    return CellTable(("column", "gain", "permutation"), rows, "Fractions.", bars=(1, 2))


def classes() -> Report:
    """Two classes, with every kind of block."""
    figures = (
        Figure("Error", "12.8 %", "11.4 to 14.3 %, 2,000 held-out rows", "good"),
        Figure("Majority class", "24.1 %", "always <=50K"),
        Figure("Bound", "vacuous", "1.84", "warning"),
    )
    columns = ("column", "kind", "missing", "values")
    rows = (("age", "number", 0.0, 73), ("occupation", "text", 0.0566, 14), ("constant", "number", None, 1))
    table = CellTable(columns, rows, "Columns of the training rows.", highlighted=(2,))
    many = tuple((f"row {index}", float(index), 0.5 * index) for index in range(40))
    warning = Text(("Two columns nearly decide the target by themselves.", "Check them."), "warning")
    code = Code("from radboost import DeepBoostClassifier\n\nmodel = DeepBoostClassifier(random_state=0).fit(X, y)\n")
    sections = (
        Section("data", "The data", "One column never changes.", (warning, table, Text(("About 3.1%.",), "note"))),
        Section("learning", "How it learned", "More rounds stop helping after 162.", (learning(),)),
        Section(
            "features", "What it uses", "The measures disagree.", (importance(), Text(("No row is missing.",), "good"))
        ),
        Section("rows", "The largest residuals", "Forty rows.", (CellTable(("row", "target", "prediction"), many),)),
        Section("calibration", "Probabilities", "Said and done.", (SideBySide((reliability(), spread())),)),
        Section("reproduce", "How to get it again", "The same rows and seed give the same model.", (code,)),
    )
    verdict = "The model errs on 12.8% of new rows, clearly less than a linear model and the majority class."
    facts = (("RadBoost", "0.1.0"), ("seed", "0"))
    return Report("Income above 50K", "DeepBoostClassifier on adult.csv", verdict, "good", figures, sections, facts)


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>window.broken = 1</script>",
    '"\' onmouseover="window.broken = 2" x=\'',
    "<img src=x onerror=window.broken=3>",
    "line one\nline two\r\nline three",
    "x" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u202e reversed",
    "",
    "NUL \x00 and \x1b",
    "half a pair \ud800",
    "]]> --> &amp; <!-- ${1} `",
    "{{ 7 * 7 }} https://example.org/x.png",
)


def hostile() -> Report:
    """Every text of every block is one that should stay text."""
    H = HOSTILE
    n = len(H)
    values = floats(range(1, n + 1))
    lines = tuple(Series(text, (0, 1), (index, index + 1)) for index, text in enumerate(H))
    blocks: tuple[Block, ...] = (
        Text(H, "warning"),
        CellTable(H, (H, values, (None, math.nan, *values[2:])), H[0], (0,)),
        LineChart(H[0], H[1], H[2], lines, (Mark(0.5, H[0]), Mark(0.6, H[5])), caption=H[1]),
        LineChart(H[3], H[7], H[7], (Series(H[0], tuple(range(n)), values, style="points"),)),
        CellTable(H[:3], tuple(zip(H, values, values, strict=True)), H[1], bars=(1, 2)),
        Code(H[1] + H[0]),
        SideBySide((Text((H[0],)), Text((H[1],)))),
    )
    sections = tuple(Section(f"s{index}", text, text, blocks if index == 0 else ()) for index, text in enumerate(H))
    figures = tuple(Figure(text, text, text) for text in H)
    return Report(H[0], H[1], H[2], "warning", figures, sections, tuple(zip(H, H, strict=True)))
