"""Figures beside the studies of the papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost.experiments.almo import AlmoTable
from radboost.experiments.deep_boosting_figures import Margins, TreeSizes
from radboost.experiments.kernel_projection import ProjectionStudy
from radboost.experiments.multi_source import SourcesTable
from radboost.experiments.soft_max_boosting import TABLE_ALGORITHMS, Duel, NoiseCurve, StagedTable
from radboost.experiments.soft_max_fits import SM_BOOST, STAGES
from radboost.experiments.structural_sparsity import SparsityStudy
from radboost.experiments.structured import GradientTimes
from radboost.experiments.structured_alignment import AlignmentStudy
from radboost.experiments.studies import Outcome
from radboost.experiments.study import Study
from radboost.plot._style import COLOURS, FAINT, in_percent, pyplot, tidy
from radboost.plot.alignment import draw_alignment
from radboost.plot.deep_boosting import draw_margins, draw_tree_sizes
from radboost.plot.losses import draw_almo
from radboost.plot.noise import draw_noise_curves
from radboost.plot.projection import draw_projections
from radboost.plot.sources import draw_sources_table
from radboost.plot.sparsity import draw_sparsity_study
from radboost.plot.structured import draw_gradient_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _draw_table(study: StagedTable, outcomes: Sequence[Outcome]) -> Figure:
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


def _draw_duel(study: Duel, outcomes: Sequence[Outcome]) -> Figure:
    """Scatter (Figures 1 and 3) above histograms of the difference (Figures 2 and 4), training and test errors."""
    figure: Figure
    n_stages = len(study.stages)
    figure, grid = pyplot().subplots(4, n_stages, figsize=(3.0 * n_stages, 10.5), layout="constrained", squeeze=False)
    for part, (line, name) in enumerate((("train", "training"), ("test", "test"))):
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
            width = max(float(np.abs(a - b).max()), 1e-3)
            histogram.hist(a - b, bins=np.linspace(-width, width, 41).tolist(), color=COLOURS[0], alpha=0.8)
            histogram.axvline(0.0, color=FAINT, linewidth=0.8)
            histogram.set(xlabel=f"{study.rival} - {SM_BOOST}", ylabel="problems" if column == 0 else "")
            tidy(scatter)
            tidy(histogram)
    return figure


def _draw_curve(study: NoiseCurve, outcomes: Sequence[Outcome]) -> Figure:
    """Figure 7, right."""
    figure: Figure
    figure, ax = pyplot().subplots(figsize=(5.6, 4.2), layout="constrained")
    errors = study.errors(outcomes)
    errors["MartiBoost, one walk"] = errors.pop("one walk")
    draw_noise_curves(ax, study.noises, errors).set_title("Long and Servedio's problem", loc="left")
    return figure


DRAWERS: dict[type, Callable[[Any, Sequence[Outcome]], Figure]] = {
    AlignmentStudy: lambda _, outcomes: draw_alignment(outcomes),
    AlmoTable: draw_almo,
    Duel: _draw_duel,
    GradientTimes: lambda _, outcomes: draw_gradient_times(outcomes),
    Margins: draw_margins,
    NoiseCurve: _draw_curve,
    ProjectionStudy: lambda _, outcomes: draw_projections(outcomes),
    SourcesTable: draw_sources_table,
    SparsityStudy: draw_sparsity_study,
    StagedTable: _draw_table,
    TreeSizes: draw_tree_sizes,
}
"""Of every kind of study; one that is derived from another may have its own."""


def draw_study(study: Study, outcomes: Sequence[Outcome]) -> Figure:
    """The figure of a study that has ended."""
    return next(DRAWERS[kind] for kind in type(study).__mro__ if kind in DRAWERS)(study, outcomes)
