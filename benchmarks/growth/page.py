"""The picture and the table of growth, for docs/performance.md."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth.sweeps import SERIES, SWEEPS

Points = list[dict[str, Any]]
UPPER = 4  # the exponent is that of the last so many points, where what is done once no longer counts
LOOKS = {"RadBoost default": ("#1f5fa8", "o"), "RadBoost gini": ("#c8501e", "s")}


def curve(points: Points, series: str) -> tuple[list[float], list[float]]:
    """The x and y of one series, ascending."""
    pairs = sorted((float(p["x"]), float(p["y"])) for p in points if p["series"] == series)
    return [x for x, _ in pairs], [y for _, y in pairs]


def exponent(x: list[float], y: list[float]) -> float:
    """b of y = a x^b, by least squares on logarithms of the upper points; NaN for a single point."""
    if len(x) < 2:
        return float("nan")
    slope, _ = np.polyfit(np.log(x[-UPPER:]), np.log(np.maximum(y[-UPPER:], 1e-9)), 1)
    return float(slope)


def table(results: dict[str, Points]) -> list[str]:
    """One line for each direction and series: ends and exponent."""
    head = ["growing", "all else", "estimator", "from", "to", "exponent"]
    lines = [head, ["---", "---", "---", "---:", "---:", "---:"]]
    for name, points in results.items():
        sweep = SWEEPS[name]
        for series in SERIES:
            x, y = curve(points, series)
            ends = [f"{x[i]:,.0f}: {_short(y[i])} {sweep.unit.split()[0]}" for i in (0, -1)]
            lines.append([name, sweep.title, series, *ends, f"{exponent(x, y):.2f}"])
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _count(value: float) -> str:
    for size, name in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def _narrow(points: Points) -> bool:
    figures = [float(p["y"]) for p in points]
    return max(figures) < 50 * min(figures)


def draw(results: dict[str, Points], path: Path) -> None:
    """One small panel for each direction."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator

    across = 4
    down = -(-len(results) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.1 * across, 2.7 * down), squeeze=False)
    for panel, (name, points) in zip(axes.flat, results.items(), strict=False):
        sweep = SWEEPS[name]
        for line, series in enumerate(SERIES):
            x, y = curve(points, series)
            colour, marker = LOOKS[series]
            panel.plot(x, y, color=colour, marker=marker, markersize=3.5, linewidth=1.2)
            corner = {"transform": panel.transAxes, "ha": "right", "color": colour}
            panel.text(0.97, 0.14 - 0.09 * line, f"exponent {exponent(x, y):.2f}", **corner)
        panel.set(xscale="log", yscale="log", xlabel=sweep.axis, ylabel=sweep.unit)
        panel.set_title(name, loc="left", fontweight="bold", fontsize=9)
        panel.margins(y=0.15)
        values = sorted({float(p["x"]) for p in points})
        ticks = values[:: max(1, len(values) // 3)]
        panel.set_xticks(ticks, [_count(value) for value in ticks])
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if _narrow(points) else (1.0,)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.grid(alpha=0.25)
    for panel in list(axes.flat)[len(results) :]:
        panel.axis("off")
    handles = [Line2D([], [], color=c, marker=m, label=name) for name, (c, m) in LOOKS.items()]
    figure.legend(handles=handles, loc="lower right", frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
