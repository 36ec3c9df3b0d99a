"""Margins of a fitted model, and the sizes of its trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radboost import guarantees
from radboost.ensemble import SparseEnsemble
from radboost.guarantees.margins import ensemble_of
from radboost.plot._style import COLOURS, FAINT, axes, by_name, in_percent, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def margins(
    models: Any | Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    ax: Axes | None = None,
    *,
    bins: int = 20,
) -> Axes:
    """Draw the distribution of normalized margins (Cortes et al. (2014), Figure 4).

    The line is cumulative: its height at a margin is the fraction of rows with at most that margin. A lower line
    means clearer votes, and its height at 0 is the error. Behind it stands the histogram.

    Parameters
    ----------
    models : fitted model, or dict of name to fitted model
        With a dict each model gets a line that carries its name.
    X, y : array-like
        The rows and labels, usually those of the training set.
    bins : int
        The number of bars of the histogram.
    """
    values = {name: guarantees.margins(model, X, y) for name, model in by_name(models, "margins").items()}
    if not len(next(iter(values.values()))):
        raise ValueError("X has no rows, so there is nothing to draw.")
    ax = axes(ax)
    ax.axvline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    edges = np.linspace(-1.0, 1.0, bins + 1)
    for index, (name, margin) in enumerate(values.items()):
        color = COLOURS[index % len(COLOURS)]
        fractions = np.histogram(margin, edges)[0] / len(margin)
        ax.bar(edges[:-1], fractions, np.diff(edges), align="edge", color=color, alpha=0.2, linewidth=0)
        ordered = np.concatenate([[-1.0], np.sort(margin), [1.0]])
        heights = np.concatenate([[0.0], np.arange(1, len(margin) + 1) / len(margin), [1.0]])
        error = f"{np.mean(margin <= 0.0):.1%} wrong"  # the height at 0
        ax.step(ordered, heights, where="post", color=color, linewidth=1.8, label=f"{name} {error}" if name else error)
    legend = ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.93), labelcolor="linecolor")
    verbatim(legend.get_texts())
    ax.set(xlim=(-1.0, 1.0), ylim=(0.0, 1.02), xlabel="normalized margin", ylabel="fraction of rows")
    ax.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    in_percent(ax)
    ax.set_title("Margins", loc="left")
    ax.text(-0.02, 0.99, "wrong", ha="right", va="top", color=FAINT, transform=ax.get_xaxis_transform())
    ax.text(0.02, 0.99, "right", ha="left", va="top", color=FAINT, transform=ax.get_xaxis_transform())
    return tidy(ax)


def tree_sizes(model: Any, ax: Axes | None = None) -> Axes:
    """Draw how large the hypotheses of the ensemble are (Cortes et al. (2014), Figure 3).

    Size counts all nodes, as in Tables 2 and 3 of the paper: a stump has 3, a full tree of depth 3 has 15.

    Parameters
    ----------
    model : fitted model
    """
    ensemble = ensemble_of(model, "tree sizes")
    sized = all(hasattr(hypothesis, "n_nodes") for hypothesis in ensemble.hypotheses)
    if isinstance(ensemble, SparseEnsemble) or not sized:
        raise TypeError(f"{type(model).__name__} is not made of trees, so that there are no sizes to draw.")
    sizes = np.array([hypothesis.n_nodes for hypothesis in ensemble.hypotheses], dtype=np.int64)
    ax = axes(ax)
    ax.set_title("Tree sizes", loc="left")
    ax.set(xlabel="nodes per tree", ylabel="number of trees")
    if not len(sizes):
        ax.text(0.5, 0.5, "the ensemble is empty", ha="center", color=FAINT, transform=ax.transAxes)
        return tidy(ax)
    edges = _size_edges(sizes)
    heights, _ = np.histogram(sizes, bins=edges)
    centers = (edges[:-1] + edges[1:]) / 2
    ax.bar(centers, heights, 0.88 * np.diff(edges), color=COLOURS[0], alpha=0.85)
    mean = float(np.mean(sizes))
    ax.axvline(mean, color=COLOURS[1], linewidth=1.5)
    ax.annotate(
        f" mean {mean:.1f} ",
        (mean, 1.0),
        xycoords=("data", "axes fraction"),
        ha="left" if mean < edges[[0, -1]].mean() else "right",
        va="top",
        color=COLOURS[1],
    )
    ax.set_xlim(max(0.0, float(edges[0])), float(edges[-1]))
    ax.set_ylim(0.0, 1.12 * heights.max())
    ax.locator_params(integer=True)
    return tidy(ax)


def _size_edges(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return histogram edges of one width, a multiple of 2: binary trees have an odd number of nodes."""
    low, high = int(sizes.min()), int(sizes.max())
    step = 2 * max(1, -(-(high - low + 2) // 40))
    n_bins = (high - low) // step + 1
    padding = max(0, (7 - n_bins + 1) // 2)  # a single bar would fill the whole picture
    return low - 1.0 + step * np.arange(-padding, n_bins + padding + 1, dtype=np.float64)
