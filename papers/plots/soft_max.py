"""Pictures beside the studies of "Soft-max boosting"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from papers.soft_max_boosting import (
    TABLE_ALGORITHMS,
    Differences,
    Duel,
    NoiseCurve,
    ShuffledCurves,
    StagedTable,
)
from papers.soft_max_fits import POINTS, SM_BOOST, STAGES
from papers.studies import Outcome
from radboost._typing import FloatArray
from radboost.plot._style import COLOURS, FAINT, in_percent, pyplot, tidy
from radboost.plot.noise import draw_noise_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = (("train", "training"), ("test", "test"))


def draw_table(study: StagedTable, outcomes: Sequence[Outcome]) -> Figure:
    """A panel for each data set: lines are ours, rings the paper's."""
    names = list(dict.fromkeys(outcome.facts["dataset"] for outcome in outcomes))
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure: Figure
    figure, grid = pyplot().subplots(
        lines, columns, figsize=(2.9 * columns, 2.5 * lines + 0.4), layout="constrained", squeeze=False
    )
    for place, panel in enumerate(grid.flat):
        if place >= len(names):
            panel.set_axis_off()
            continue
        for outcome in outcomes:
            if outcome.facts["dataset"] != names[place]:
                continue
            algorithm, errors = outcome.facts["algorithm"], outcome.result["test"]
            colour = COLOURS[TABLE_ALGORITHMS.index(algorithm)]
            panel.plot(STAGES[: len(errors)], errors, "o-", color=colour, linewidth=1.6, markersize=4, label=algorithm)
            panel.plot(
                STAGES, study.figures[names[place]][algorithm], "o", color=colour, fillstyle="none", markersize=8
            )
        panel.set_xscale("log")
        panel.set_ylim(bottom=0.0)
        panel.set_title(names[place], loc="left")
        panel.set_xlabel("rounds" if place >= len(names) - columns else "")
        in_percent(panel)
        tidy(panel)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    ring = grid.flat[0].plot([], [], "o", color=FAINT, fillstyle="none", markersize=8)[0]
    figure.legend([*handles, ring], [*labels, "the paper's"], loc="outside upper center", ncols=4, frameon=False)
    return figure


def draw_duel(study: Duel, outcomes: Sequence[Outcome]) -> Figure:
    """Scatter (Figures 1 and 3) above histograms of the difference (Figures 2 and 4), training and test errors."""
    figure: Figure
    n_stages = len(study.stages)
    figure, grid = pyplot().subplots(4, n_stages, figsize=(3.0 * n_stages, 10.5), layout="constrained", squeeze=False)
    for part, (line, name) in enumerate(PARTS):
        rival, ours = study.errors(outcomes, line)
        for column, stage in enumerate(study.stages):
            a, b = rival[:, column], ours[:, column]
            scatter, histogram = grid[2 * part, column], grid[2 * part + 1, column]
            top = 1.05 * max(float(a.max()), float(b.max()), 1e-3)
            scatter.axline((0.0, 0.0), slope=1.0, color=FAINT, linewidth=0.8)
            colours = np.where(b > a, COLOURS[1], COLOURS[0])
            scatter.scatter(a, b, s=6, c=colours.tolist(), alpha=0.5, linewidths=0)
            scatter.set(xlim=(0, top), ylim=(0, top), xlabel=study.rival, ylabel=SM_BOOST if column == 0 else "")
            scatter.set_title(f"{name} error, T = {stage}", loc="left", size="medium")
            _difference(histogram, a - b, COLOURS[0], study.rival)
            histogram.set_ylabel("problems" if column == 0 else "")
            tidy(scatter)
    return figure


def _difference(panel: Axes, difference: FloatArray, colour: str, rival: str) -> None:
    """How often the error of the rival less that of sm-boost is how large; 0 is in the middle."""
    width = max(float(np.abs(difference).max()), 1e-3)
    panel.hist(difference, bins=np.linspace(-width, width, 41).tolist(), color=colour, alpha=0.8)
    panel.axvline(0.0, color=FAINT, linewidth=0.8)
    panel.locator_params(axis="x", nbins=4)
    panel.locator_params(axis="y", integer=True)
    panel.set_xlabel(f"{rival} - {SM_BOOST}")
    tidy(panel)


def draw_curve(study: NoiseCurve, outcomes: Sequence[Outcome]) -> Figure:
    """Figure 7, right."""
    figure: Figure
    figure, ax = pyplot().subplots(figsize=(5.6, 4.2), layout="constrained")
    errors = study.errors(outcomes)
    errors["MartiBoost, one walk"] = errors.pop("one walk")
    draw_noise_curves(ax, study.noises, errors).set_title("Long and Servedio's problem", loc="left")
    return figure


def draw_differences(study: Differences, outcomes: Sequence[Outcome]) -> Figure:
    """Figures 2 and 4: histograms of the error of the rival less that of sm-boost."""
    figure: Figure
    n_stages = len(study.stages)
    figure, grid = pyplot().subplots(2, n_stages, figsize=(3.0 * n_stages, 5.0), layout="constrained", squeeze=False)
    for line, (part, kind) in enumerate(PARTS):
        rival, ours = study.errors(outcomes, part)
        for column, stage in enumerate(study.stages):
            panel = grid[line, column]
            _difference(panel, rival[:, column] - ours[:, column], COLOURS[line], study.rival)
            panel.set_title(f"{kind} error, T = {stage}", loc="left", size="medium")
            panel.set_ylabel("" if column else "problems")
    return figure


def draw_shuffled(study: ShuffledCurves, outcomes: Sequence[Outcome]) -> Figure:
    """Figures 5 and 6: a column for each data set, training errors above test errors; bands: one deviation."""
    figure: Figure
    names = list(dict.fromkeys(outcome.facts["shuffled"] for outcome in outcomes))
    bands = -(-len(names) // 4)
    columns = -(-len(names) // bands)
    figure, grid = pyplot().subplots(
        2 * bands, columns, figsize=(3.0 * columns, 4.4 * bands + 0.4), layout="constrained", squeeze=False
    )
    for panel in grid[-2:, len(names) - columns * (bands - 1) :].flat:
        panel.set_axis_off()
    for place, name in enumerate(names):
        for line, (part, kind) in enumerate(PARTS):
            panel = grid[2 * (place // columns) + line, place % columns]
            for algorithm, colour in zip(TABLE_ALGORITHMS, COLOURS, strict=False):
                errors = study.curves(outcomes, name, algorithm, part)
                points, mean, spread = POINTS[: errors.shape[1]], errors.mean(axis=0), errors.std(axis=0)
                panel.plot(points, mean, color=colour, linewidth=1.5, label=algorithm)
                panel.fill_between(points, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
            panel.set_xscale("log")
            panel.set_ylim(bottom=0.0)
            panel.set_title(f"{name}, {kind} error", loc="left", size="medium")
            panel.set_xlabel("rounds" if line else "")
            in_percent(panel)
            tidy(panel)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure
