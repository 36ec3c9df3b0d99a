"""Test errors as more of the training labels are wrong: the table of docs/defaults.md and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.ranks import COLORS
from benchmarks.accuracy.runner import Results
from benchmarks.accuracy.tables import measured
from benchmarks.accuracy.tasks import Task
from benchmarks.markdown import number, table
from radboost.plot._style import INK, tidy

OURS = ("DeepBoost", "SoftmaxBoost", "RGB")
SHOWN = 0.2  # the rate at which sets are shown one by one
Errors = dict[str, NDArray[np.float64]]  # name -> mean errors, shape (n_sets, n_rates)


def errors_of(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, rates: Sequence[float]
) -> Errors:
    """Average the errors of those who have every fit."""
    everybody = {one.name: measured(one, tasks, results, "mean test error", rates) for one in competitors}
    return {name: errors for name, errors in everybody.items() if not np.isnan(errors).any()}


def noise_table(errors: Errors, rates: Sequence[float]) -> str:
    """Table of the mean error at each rate, and the distance to the first competitor at the rate shown.

    The distance has its standard error over the sets, and the number of sets with a higher and a lower error.
    """
    first = next(iter(errors))
    rows = []
    for name, of_one in errors.items():
        row = [name, *(number(value) for value in of_one.mean(axis=0)), "", ""]
        more = (of_one - errors[first])[:, rates.index(SHOWN)]
        if name != first:
            error = 100 * more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
            row[-2] = f"{100 * more.mean():+.1f} ± {error:.1f} points"
            row[-1] = f"{(more > 0).sum()} / {(more < 0).sum()} sets"
        rows.append(row)
    head = [f"{rate:.0%} wrong" for rate in rates]
    return table(["mean test error", *head, f"more than {first} at {SHOWN:.0%}", "higher / lower on"], rows)


def draw_noise(errors: Errors, rates: Sequence[float], path: Path) -> None:
    """Draw means against the rate of wrong labels, and each set by itself at the rate shown."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.3), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _curves(left, errors, rates)
    _sets(right, {name: of_one[:, rates.index(SHOWN)] for name, of_one in errors.items()})
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def _curves(ax: Any, errors: Errors, rates: Sequence[float]) -> None:
    """Curves labelled at their ends; the band is the standard error, over the sets, of the distance to the first."""
    first = next(iter(errors.values()))
    for name in sorted(errors, key=lambda name: name in OURS):
        means = errors[name].mean(axis=0)
        around = (errors[name] - first).std(axis=0, ddof=1) / np.sqrt(len(first))
        ax.fill_between(rates, means - around, means + around, color=COLORS[name], alpha=0.13, linewidth=0)
        ax.plot(rates, means, "o-", color=COLORS[name], linewidth=2.6 if name in OURS else 1.5, markersize=4.5)
    for name, height in apart({name: float(one[:, -1].mean()) for name, one in errors.items()}, 0.011).items():
        weight = "bold" if name in OURS else "normal"
        ax.text(rates[-1] + 0.008, height, name, color=COLORS[name], va="center", fontsize=9.5, fontweight=weight)
    ax.set_xlim(-0.008, rates[-1] + 0.135)
    ax.set_xticks(rates, [f"{rate:.0%}" for rate in rates])
    ax.set_xlabel("wrong labels among those learned from", loc="left")
    ax.set_title(f"Mean test error of {len(first)} data sets", loc="left", fontsize=11, fontweight="bold")
    ax.grid(axis="y", color="#e6e6e6")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    tidy(ax)


def apart(heights: Mapping[str, float], gap: float) -> dict[str, float]:
    """Move the heights of labels, in their order, until no two are closer than the gap; their mean stays."""
    moved: dict[str, float] = {}
    last = -np.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        moved[name] = last = max(height, last + gap)
    shift = np.mean([moved[name] - heights[name] for name in heights])
    return {name: height - float(shift) for name, height in moved.items()}


def _sets(ax: Any, errors: Errors) -> None:
    """Dots for each other library, one a set: how much more often it is wrong than the first."""
    first = next(iter(errors))
    others = sorted((name for name in errors if name not in OURS), key=lambda name: -errors[name].mean())
    for height, name in enumerate(others):
        more = errors[name] - errors[first]
        ax.scatter(more, np.full(len(more), height), s=26, color=COLORS[name], alpha=0.55, linewidth=0, zorder=3)
        ax.plot([more.mean()] * 2, [height - 0.3, height + 0.3], color=COLORS[name], linewidth=2.6, zorder=4)
        behind = f"behind on {int((more > 0).sum())} of {len(more)}"
        ax.text(1.0, height, behind, transform=ax.get_yaxis_transform(), ha="right", va="center", fontsize=9, color=INK)
    ax.axvline(0.0, color=COLORS[first], linewidth=2.0, zorder=2)
    ax.set_yticks(range(len(others)), others)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.4 * (high - low))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f}" if value else "0")
    ax.set_xlabel(f"percentage points more errors than {first}", loc="left")
    ax.set_title(f"Set by set, {SHOWN:.0%} wrong labels", loc="left", fontsize=11, fontweight="bold")
    ax.grid(axis="x", color="#e6e6e6")
    tidy(ax).tick_params(axis="y", length=0)
