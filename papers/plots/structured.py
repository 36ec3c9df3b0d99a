"""The time of gradients by automata and by the sum over all strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from papers.studies import Outcome
from radboost.plot._style import COLOURS, FAINT, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAYS = {"naive": "all strings", "made": "automaton made", "kept": "automaton kept"}


def draw_gradient_times(outcomes: Sequence[Outcome]) -> Figure:
    """Figure 6.5: a panel for each loss, seconds against length. Rings are lengths at which some trials were pruned."""
    names = list(dict.fromkeys(outcome.facts["structured"] for outcome in outcomes))
    figure: Figure
    figure, grid = pyplot().subplots(
        1, len(names), figsize=(3.6 * len(names), 3.6), layout="constrained", squeeze=False, sharey=True
    )
    for name, panel in zip(names, grid.flat, strict=True):
        for (how, label), colour in zip(WAYS.items(), COLOURS, strict=False):
            shown = [one for one in outcomes if one.facts["structured"] == name and one.result[how]]
            lengths = np.array([one.facts["length"] for one in shown])
            seconds = np.array([np.mean(one.result[how]) for one in shown])
            # The sum over all strings is never pruned.
            exact = np.array([how == "naive" or all(one.result["exact"]) for one in shown], dtype=bool)
            panel.plot(lengths, seconds, "-", color=colour, linewidth=1.6, label=label)
            panel.plot(lengths[exact], seconds[exact], "o", color=colour, markersize=4)
            panel.plot(lengths[~exact], seconds[~exact], "o", color=colour, fillstyle="none", markersize=6)
        panel.set_yscale("log")
        panel.set_title(name, loc="left")
        panel.set_xlabel("length of strings")
        tidy(panel)
    first = grid.flat[0]
    first.set_ylabel("seconds")
    handles, labels = first.get_legend_handles_labels()
    dot = first.plot([], [], "o", color=FAINT, markersize=4)[0]
    ring = first.plot([], [], "o", color=FAINT, fillstyle="none", markersize=6)[0]
    figure.legend(
        [*handles, dot, ring],
        [*labels, "exact", "pruned, with bounds"],
        loc="outside upper center",
        ncols=5,
        frameon=False,
    )
    return figure
