"""Errors on each source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from papers.multi_source import SourcesTable
from papers.studies import Outcome
from radboost.plot._style import COLOURS, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_sources_table(study: SourcesTable, outcomes: Sequence[Outcome]) -> Figure:
    """A panel for each data set: dots are errors on the sources, bars the worst of them, rings the paper's worst."""
    names = list(dict.fromkeys(outcome.facts[study.named_by] for outcome in outcomes))
    figure: Figure
    figure, grid = pyplot().subplots(
        1, len(names), figsize=(4.2 * len(names), 4.0), layout="constrained", squeeze=False, sharey=True
    )
    for name, panel in zip(names, grid.flat, strict=True):
        for place, algorithm in enumerate(reversed(study.algorithms)):
            found = study.errors(outcomes, name, algorithm)
            if not len(found):
                continue
            colour = COLOURS[0] if "MultiBoost" in algorithm else "#999999"
            panel.barh(place, found.max(axis=1).mean(), color=colour, alpha=0.35, height=0.7)
            panel.plot(found.mean(axis=0), [place] * found.shape[1], ".", color=colour)
            paper = study.paper[name].get(algorithm)
            if paper is not None:
                panel.plot(paper[-1], place, "o", color="#333333", fillstyle="none")
        panel.set_yticks(range(len(study.algorithms)), list(reversed(study.algorithms)))
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("test error")
        tidy(panel)
    return figure
