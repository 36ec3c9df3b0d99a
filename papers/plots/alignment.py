"""Alignment scores of predicted sequences, by the loss that their model was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from papers.studies import Outcome
from radboost.plot._style import COLOURS, FAINT, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_alignment(outcomes: Sequence[Outcome]) -> Figure:
    """A dot for each draw of the sequences, a bar at the mean, and the scores of what was seen."""
    scores: dict[str, list[float]] = {}
    for outcome in outcomes:
        scores.setdefault(outcome.facts["alignment"], []).append(outcome.result["score"])
    figure: Figure
    figure, axes = pyplot().subplots(figsize=(7.0, 3.6), layout="constrained")
    for place, (method, found) in enumerate(scores.items()):
        colour = COLOURS[1] if method == "smith_waterman" else COLOURS[0]
        spread = np.linspace(-0.15, 0.15, len(found)) if len(found) > 1 else [0.0]
        axes.plot(place + np.asarray(spread), found, "o", color=colour, markersize=4, alpha=0.7)
        axes.hlines(np.mean(found), place - 0.3, place + 0.3, color=colour, linewidth=2)
    some = [outcome for outcome in outcomes if outcome.facts["alignment"] == next(iter(scores))]
    for what in ("homologous", "decoy"):
        level = float(np.mean([outcome.result[what] for outcome in some]))
        axes.axhline(level, color=FAINT, linewidth=1, zorder=0)
        axes.annotate(f"the {what} sequence itself", (len(scores) - 0.55, level), va="bottom", ha="right", fontsize=8)
    axes.set_xticks(range(len(scores)), [method.replace("_", " ") for method in scores])
    axes.set_xlabel("trained by")
    axes.set_ylabel("Smith-Waterman score on test rows")
    tidy(axes)
    return figure
