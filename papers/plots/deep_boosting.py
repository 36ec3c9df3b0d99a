"""Pictures of the ensembles of "Deep Boosting": sizes of trees, margins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.deep_boosting_figures import Margins, TreeSizes
from radboost.plot._style import COLOURS, FAINT, in_percent, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_tree_sizes(study: TreeSizes, outcomes: Sequence[Any]) -> Figure:
    """Figure 3: how many trees of each size a run has, in the mean."""
    figure: Figure
    figure, ax = pyplot().subplots(figsize=(6.4, 3.4), layout="constrained")
    counts = [Counter(outcome.result["sizes"]) for outcome in outcomes]
    sizes = list(range(1, max(max(count, default=3) for count in counts) + 1, 2))  # a tree has an odd number of nodes
    means = [float(np.mean([count[size] for count in counts])) for size in sizes]
    ax.bar(sizes, means, width=1.5, color=COLOURS[0])
    ax.set(xlabel="nodes of a tree", ylabel="trees in a run")
    runs = f"mean of {len(counts)} runs" if len(counts) > 1 else "one run"
    ax.set_title(f"DeepBoost on {study.dataset}, {runs}", loc="left")
    tidy(ax)
    return figure


def draw_margins(study: Margins, outcomes: Sequence[Any]) -> Figure:
    """Figure 4: a histogram for each algorithm, and the cumulative shares, over the rows of all runs."""
    figure: Figure
    figure, grid = pyplot().subplots(2, 2, figsize=(8.4, 5.6), layout="constrained")
    *panels, together = grid.flat
    margins = {algorithm: study.margins(outcomes, algorithm) for algorithm in study.algorithms}
    low = min(0.0, *(float(values.min()) for values in margins.values()))
    bins = np.linspace(low, 1.0, 41).tolist()
    for panel, (algorithm, values), colour in zip(panels, margins.items(), COLOURS, strict=False):
        panel.hist(values, bins=bins, weights=np.full(len(values), 1 / len(values)), color=colour, alpha=0.85)
        in_percent(panel)
        panel.axvline(float(values.mean()), color=FAINT, linewidth=1.0, linestyle="--")
        panel.set_title(f"{algorithm}, mean {values.mean():.2f}", loc="left", size="medium")
        panel.set(xlim=(low, 1.0), xlabel="margin", ylabel="share of the training rows")
        shares = np.arange(1, len(values) + 1) / len(values)
        together.step(values, shares, where="post", color=colour, label=algorithm)
        tidy(panel)
    together.set(xlim=(low, 1.0), ylim=(0.0, 1.0), xlabel="margin", ylabel="share of the rows at or below")
    together.legend(frameon=False)
    tidy(together)
    return figure
