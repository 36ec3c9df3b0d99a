"""Figures beside the studies of the papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from radboost.experiments.almo import AlmoTable
from radboost.experiments.deep_boosting_figures import Margins, TreeSizes
from radboost.experiments.kernel_projection import ProjectionStudy
from radboost.experiments.multi_source import SourcesTable
from radboost.experiments.soft_max_boosting import Differences, Duel, NoiseCurve, ShuffledCurves, StagedTable
from radboost.experiments.structural_sparsity import SparsityStudy
from radboost.experiments.structured import GradientTimes
from radboost.experiments.structured_alignment import AlignmentStudy
from radboost.experiments.studies import Outcome
from radboost.experiments.study import Study
from radboost.plot.alignment import draw_alignment
from radboost.plot.deep_boosting import draw_margins, draw_tree_sizes
from radboost.plot.losses import draw_almo
from radboost.plot.projection import draw_projections
from radboost.plot.soft_max import draw_curve, draw_differences, draw_duel, draw_shuffled, draw_table
from radboost.plot.sources import draw_sources_table
from radboost.plot.sparsity import draw_sparsity_study
from radboost.plot.structured import draw_gradient_times

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
