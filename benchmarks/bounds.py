"""`python -m benchmarks.examples bounds`: bounds on the error against the number of rows.

The figures "as printed" and "put right" are (7) and (11) of docs/theory.md with n = 4/rho^2 log(...) and 16/rho^2
log(...), with the complexities of the papers and the best of 32 rho. The printed one is not proved. The new one is
`radboost.guarantees.bound`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guarantees.md"
PICTURE = PAGE.parent / "images" / "bounds.png"
TABLE = re.compile(r"^\| data \| rows \|.*?\n\n", re.MULTILINE | re.DOTALL)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 40_000, 60_000)
TEST_ROWS = 8_000
AS_PRINTED, PUT_RIGHT = 4.0, 16.0
DELTA = 0.05


@dataclass(frozen=True)
class Curve:
    """A data set, and the parameters of `DeepBoostClassifier.paper` beside the logistic loss."""

    title: str
    name: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def load(self) -> tuple[Any, Any, dict[str, Any]]:
        """Rows, labels, and which columns are categorical."""
        from papers import datasets
        from papers.multi_boost import load_sourced

        if self.name == "fashion_mnist":
            data = load_sourced(self.name, None)
            return np.asarray(data.X), data.y, {}
        given = datasets.load(self.name)
        names = list(given.feature_names)
        categorical = [names.index(column) for column in given.categories or {}]
        return np.asarray(given.X, dtype=np.float64), given.y, {"categorical_features": categorical or None}


CURVES = (
    Curve("Fashion-MNIST, tops against bottoms", "fashion_mnist", {"max_depth": 2, "complexity_penalty": 0.03}),
    Curve("adult, income", "adult", {"max_depth": 2, "complexity_penalty": 0.03}),
    Curve("MNIST, ten digits", "mnist", {"max_depth": 3, "complexity_penalty": 0.01}),
)


@dataclass(frozen=True)
class Point:
    """One line of the table."""

    title: str
    rows: int
    test_error: float
    printed: float
    put_right: float
    new: float


def of_the_papers(model: Any, X: Any, y: Any, times: float) -> float:
    """(7) or (11) with n = times/rho^2 log(c^2 rho^2 m / (4 log p)), the smallest over rho, each with delta/32."""
    from radboost import guarantees

    margins, ensemble = guarantees.margins(model, X, y), model.ensemble_
    m, c, p = len(margins), len(model.classes_), max(ensemble.n_families, 2)
    weights = np.abs(ensemble.weights)
    mean = float(weights @ ensemble.complexities / weights.sum())
    totals = []
    for rho in guarantees.RHO_GRID:
        ratio = c**2 * rho**2 * m / (4.0 * math.log(p))
        n = max(1, math.ceil(times / rho**2 * math.log(ratio))) if ratio > 1.0 else 1
        chance = math.sqrt(n * math.log(p) / m + math.log(2.0 * len(guarantees.RHO_GRID) / DELTA) / (2.0 * m))
        complexity = (4.0 if c == 2 else 8.0 * c) / rho * mean
        error = float(np.mean(margins <= rho + 1e-12))
        totals.append(error + complexity + 2.0 / rho * math.sqrt(math.log(p) / m) + chance)
    return min(totals)


def points(curve: Curve, sizes: tuple[int, ...] = SIZES) -> list[Point]:
    """Fits on the first rows of one order, tests on the last."""
    from radboost import DeepBoostClassifier, guarantees

    X, y, categorical = curve.load()
    order = np.random.default_rng(0).permutation(len(y))
    test, found = order[-TEST_ROWS:], []
    for size in sizes:
        if size > len(y) - TEST_ROWS:
            break
        train = order[:size]
        model = DeepBoostClassifier.paper(100, loss="logistic", n_jobs=1, **curve.parameters, **categorical)
        model.fit(X[train], y[train])
        error = float(np.mean(model.predict(X[test]) != y[test]))
        rows = X[train], y[train]
        bound = guarantees.bound(model, *rows, delta=DELTA)
        printed, put_right = (of_the_papers(model, *rows, times) for times in (AS_PRINTED, PUT_RIGHT))
        found.append(Point(curve.title, size, error, printed, put_right, bound.total))
        print(f"{found[-1]}\n{bound}", flush=True)
    return found


def table(found: list[Point]) -> str:
    lines = ["| data | rows | test error | as printed | put right | `bound` |", "|---|---|---|---|---|---|"]
    for one in found:
        new = f"{one.new:.3f}" if one.new >= 1.0 else f"**{one.new:.3f}**"
        figures = f"{one.test_error:.3f} | {one.printed:.2f} | {one.put_right:.2f} | {new}"
        lines.append(f"| {one.title} | {one.rows:,} | {figures} |")
    return "\n".join(lines) + "\n"


def draw(found: list[Point], path: Path) -> None:
    """A panel for each data set, both axes logarithmic."""
    from matplotlib.figure import Figure

    titles = list(dict.fromkeys(one.title for one in found))
    figure = Figure(figsize=(13.5, 4.4), layout="constrained")
    for panel, title in zip(figure.subplots(1, len(titles), sharey=True), titles, strict=True):
        shown = [one for one in found if one.title == title]
        rows = [one.rows for one in shown]
        panel.axhline(1.0, color="#888888", linewidth=1, linestyle="--")
        panel.plot(rows, [one.printed for one in shown], "o:", color="#b8b8b8", label="as printed (not proved)")
        panel.plot(rows, [one.put_right for one in shown], "o-", color="#3b6fb6", label="Theorem 1 put right")
        panel.plot(rows, [one.new for one in shown], "o-", color="#c1272d", label="guarantees.bound")
        panel.plot(rows, [one.test_error for one in shown], "s-", color="#3fa65a", label="error on test rows")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(title, loc="left", fontsize=10)
        panel.set_xlabel("training rows")
    figure.axes[0].set_ylabel("share of wrong answers")
    figure.axes[0].set_yticks(
        [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100], ["1%", "3%", "10%", "30%", "1", "3", "10", "30", "100"]
    )
    figure.axes[0].legend(frameon=False, fontsize=8, loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def with_table(text: str, new: str) -> str:
    """The page with another table."""
    if len(TABLE.findall(text)) != 1:
        raise ValueError(f"{PAGE.name} must hold one table of bounds")
    return TABLE.sub(lambda _: f"{new}\n", text)


def bounds(*, write: bool) -> None:
    """Print the table; on demand put it and the picture into the documents."""
    found = [point for curve in CURVES for point in points(curve)]
    print(f"\n{table(found)}")
    if write:
        draw(found, PICTURE)
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(found)), encoding="utf-8")
