"""Picture of the mean ranks of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.runner import Results
from benchmarks.accuracy.tables import ranks_of
from benchmarks.accuracy.tasks import Task
from radboost.plot._style import INK, tidy

COLORS = {
    "DeepBoost": "#0072b2",
    "SoftmaxBoost": "#009e73",
    "RGB": "#56b4e9",
    "RandomForest": "#8c8c8c",
    "HistGradientBoosting": "#a6761d",
    "LightGBM": "#d55e00",
    "XGBoost": "#b2182b",
    "CatBoost": "#cc79a7",
}
SHOWN = {"mean test error": "by test error", "mean log loss": "by log loss"}
MARKS, SIZE = ("o", "X"), 60  # of clean and of noisy rows


def draw_ranks(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, path: Path) -> None:
    """Draw the mean rank of each competitor with two standard errors, and those of clean and of noisy sets."""
    from matplotlib.figure import Figure

    ranks = {measure: ranks_of(competitors, tasks, results, measure) for measure in SHOWN}
    first = next(iter(ranks.values()))
    if np.isnan(first).all():
        raise ValueError("No set has the fits of everybody yet: there are no ranks to draw.")
    order = np.argsort(-np.nanmean(first, axis=(1, 2)), kind="stable")
    figure = Figure(figsize=(9.0, 0.42 * len(competitors) + 1.5), layout="constrained", facecolor="white")
    for ax, (measure, of_measure) in zip(figure.subplots(1, len(SHOWN), sharey=True), ranks.items(), strict=True):
        for height, k in enumerate(order):
            _draw(ax, height, of_measure[k], COLORS[competitors[k].name.removesuffix("ClassifierCV")])
        ax.set_title(f"Mean rank {SHOWN[measure]}", loc="left", fontsize=11, fontweight="bold")
        ax.set_xlim(1.0, len(competitors))
        ax.set_xlabel("best is 1", loc="left")
        ax.grid(axis="x", color="#e6e6e6")
        ax.set_yticks(range(len(order)), [competitors[k].name for k in order])
        tidy(ax)
    n_sets = int((~np.isnan(first[0])).any(axis=0).sum())
    for mark, what in zip(MARKS, ("clean labels", "a fifth of the labels wrong"), strict=True):
        figure.axes[0].scatter([], [], marker=mark, s=SIZE, color=INK, edgecolor="white", label=what)
    figure.axes[0].plot([], [], "|-", color=INK, linewidth=2.4, markersize=11, label=f"both, ± 2 s.e. ({n_sets} sets)")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def _draw(ax: Any, height: float, ranks: NDArray[np.float64], color: str) -> None:
    """Marks of one competitor; ranks have the shape (n_noises, n_sets), with NaN where there are none."""
    both = ranks[~np.isnan(ranks)]
    error = both.std(ddof=1) / np.sqrt(len(both)) if len(both) > 1 else 0.0
    ax.plot(both.mean() + 2.0 * error * np.array([-1.0, 1.0]), [height] * 2, color=color, linewidth=2.4, zorder=2)
    ax.plot([both.mean()], [height], "|", color=color, markersize=14, markeredgewidth=2.6, zorder=4)
    for mark, of_noise in zip(MARKS, ranks, strict=True):
        known = of_noise[~np.isnan(of_noise)]
        if len(known):
            ax.scatter([known.mean()], [height], marker=mark, s=SIZE, color=color, edgecolor="white", zorder=5)
