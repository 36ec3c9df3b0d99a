"""Figures beside the studies of the papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from papers.almo import AlmoTable
from papers.deep_boosting_figures import Margins, TreeSizes
from papers.kernel_projection import ProjectionStudy
from papers.multi_source import SourcesTable
from papers.plots.alignment import draw_alignment
from papers.plots.almo import draw_almo
from papers.plots.deep_boosting import draw_margins, draw_tree_sizes
from papers.plots.projection import draw_projections
from papers.plots.soft_max import draw_curve, draw_differences, draw_duel, draw_shuffled, draw_table
from papers.plots.sources import draw_sources_table
from papers.plots.sparsity import draw_sparsity_study
from papers.plots.structured import draw_gradient_times
from papers.soft_max_boosting import Differences, Duel, NoiseCurve, ShuffledCurves, StagedTable
from papers.structural_sparsity import SparsityStudy
from papers.structured import GradientTimes
from papers.structured_alignment import AlignmentStudy
from papers.studies import Outcome
from papers.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DRAWERS: dict[type, Callable[[Any, Sequence[Outcome]], Figure]] = {
    AlignmentStudy: lambda _, outcomes: draw_alignment(outcomes),
    AlmoTable: draw_almo,
    Differences: draw_differences,
    Duel: draw_duel,
    GradientTimes: lambda _, outcomes: draw_gradient_times(outcomes),
    Margins: draw_margins,
    NoiseCurve: draw_curve,
    ProjectionStudy: lambda _, outcomes: draw_projections(outcomes),
    SourcesTable: draw_sources_table,
    SparsityStudy: draw_sparsity_study,
    ShuffledCurves: draw_shuffled,
    StagedTable: draw_table,
    TreeSizes: draw_tree_sizes,
}
"""Of every kind of study; one that is derived from another may have its own."""


def draw_study(study: Study, outcomes: Sequence[Outcome]) -> Figure:
    """The figure of a study that has ended."""
    return next(DRAWERS[kind] for kind in type(study).__mro__ if kind in DRAWERS)(study, outcomes)
