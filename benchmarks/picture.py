"""Picture of every library relative to the fastest other one; fits are compared at equal error."""

import math
from collections.abc import Mapping
from pathlib import Path

from benchmarks.results import Result

LABELS = {
    "reach-large": "learn 200,000 x 28",
    "reach-mnist17": "learn 12,136 x 400",
    "reach-letters": "learn 15,000 x 16, 26 classes",
    "construct": "bin 1,000,000 x 28",
    "predict": "predict 500,000 rows",
    "predict-one": "predict one row",
    "memory": "memory of a fit, 1,000,000 x 28",
}
COLORS = {
    "RadBoost default": "#c1272d",
    "RadBoost edge": "#f08a24",
    "RadBoost gini": "#e8747c",
    "RGB, 1 candidate": "#7a1016",
    "XGBoost": "#3b6fb6",
    "LightGBM": "#3fa65a",
    "LightGBM quantized": "#9fd6ac",
    "HistGradientBoosting": "#8a6fb0",
    "CatBoost": "#c9a227",
}


def draw(results: Mapping[str, Result], path: Path) -> None:
    """Draw a row for each task and a dot for each library; the fastest other one is at 1 of a logarithmic scale."""
    from matplotlib.figure import Figure

    shown = [task for task in LABELS if task in results and results[task].rows]
    figure = Figure(figsize=(8.0, 0.45 * len(shown) + 1.2), layout="constrained")
    axes = figure.subplots()
    for height, task in enumerate(reversed(shown)):
        rows = [row for row in results[task].rows if row.competitor in COLORS and not math.isnan(row.figure)]
        fastest = min(row.figure for row in rows if not row.ours)
        axes.axhline(height, color="#dddddd", linewidth=1, zorder=0)
        for row in rows:
            size = 90 if row.ours else 45
            axes.scatter(row.figure / fastest, height, s=size, color=COLORS[row.competitor], zorder=3)
    axes.axvline(1.0, color="#888888", linewidth=1, linestyle="--")
    axes.set_xscale("log")
    axes.set_xlabel("relative to the fastest other library (left is better)")
    axes.set_yticks(range(len(shown)), [LABELS[task] for task in reversed(shown)])
    for name, color in COLORS.items():
        axes.scatter([], [], color=color, label=name)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, 1.2), ncols=4, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
