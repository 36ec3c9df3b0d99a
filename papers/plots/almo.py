"""Losses of agnostic models on test rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from papers.almo import LOSSES, METHODS, AlmoTable
from papers.studies import Outcome
from radboost.plot._style import COLOURS, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_almo(study: AlmoTable, outcomes: Sequence[Outcome]) -> Figure:
    """A panel for each data set: dots are the losses on test rows, bars the worst of them, rings the paper's worst."""
    names = list(dict.fromkeys(outcome.facts["almo"] for outcome in outcomes))
    figure: Figure
    figure, grid = pyplot().subplots(
        1, len(names), figsize=(4.2 * len(names), 3.4), layout="constrained", squeeze=False, sharey=True
    )
    for name, panel in zip(names, grid.flat, strict=True):
        for outcome in outcomes:
            if outcome.facts["almo"] != name:
                continue
            method = outcome.facts["method"]
            place = len(METHODS) - 1 - METHODS.index(method)
            found = np.array([[one[loss] for loss in LOSSES] for one in outcome.result["trained"]]).mean(axis=0)
            colour = COLOURS[0] if method == "ALMO" else "#999999"
            panel.barh(place, found.max(), color=colour, alpha=0.35, height=0.7)
            panel.annotate(f" {found.max():.2f}", (found.max(), place), va="center", fontsize=8)
            panel.plot(found, [place] * len(found), ".", color=colour)
            paper = study.paper[name].get(method)
            if paper is not None:
                panel.plot(max(paper[: len(LOSSES)]), place, "o", color="#333333", fillstyle="none")
        panel.set_yticks(range(len(METHODS)), list(reversed(METHODS)))
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("loss on test rows")
        # A model that is trained by one loss can be twenty times as bad by another.
        panel.set_xscale("log")
        panel.margins(x=0.12)
        tidy(panel)
    return figure
