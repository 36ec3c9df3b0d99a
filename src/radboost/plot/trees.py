"""One tree of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from radboost.plot._style import COLOURS, FAINT, axes
from radboost.trees import Tree
from radboost.trees.describe import node_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEAVES = 64


def tree(model: Any, index: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw a tree: questions with the sample weight that reached them, answers at the bottom.

    Parameters
    ----------
    model : fitted model, or a tree of its `ensemble_.hypotheses`
    index : int, optional
        Which hypothesis of the model; None for the one with the largest weight.
    """
    chosen = _chosen(model, index)
    leaves = int((chosen.feature < 0).sum())
    if leaves > MOST_LEAVES:
        raise ValueError(
            f"The tree has {leaves} leaves, and a picture can show {MOST_LEAVES}. print(tree) shows it as text."
        )
    x, depth = _positions(chosen)
    ax = axes(ax, (max(6.4, 1.1 * leaves), 1.2 * float(depth.max()) + 1.2))
    for node in np.flatnonzero(chosen.feature >= 0).tolist():
        for child, answer in ((int(chosen.left[node]), "yes"), (int(chosen.left[node]) + 1, "no")):
            ax.plot([x[node], x[child]], [-depth[node], -depth[child]], color=FAINT, linewidth=1.0, zorder=0)
            middle = (0.5 * (x[node] + x[child]), -0.5 * (depth[node] + depth[child]))
            ax.text(*middle, answer, ha="center", va="center", fontsize=7, color="0.4", backgroundcolor="white")
    for node in range(chosen.n_nodes):
        leaf = chosen.feature[node] < 0
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": COLOURS[1 if leaf else 0]}
        text = node_text(chosen, node, chosen.names).replace(" (", "\n(").replace("$", r"\$")
        ax.text(x[node], -depth[node], text, ha="center", va="center", fontsize=8, bbox=box)
    ax.set_xlim(-0.7, leaves - 0.3)
    ax.set_ylim(-depth.max() - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def _chosen(model: Any, index: int | None) -> Tree:
    if isinstance(model, Tree):
        return model
    ensemble = model.ensemble_
    if not len(ensemble.hypotheses):
        raise ValueError("The model is empty: it has no tree to draw.")
    if index is None:
        weights = np.abs(getattr(ensemble, "weights", np.ones(len(ensemble.hypotheses))))
        index = int(np.argmax(weights if weights.ndim == 1 else weights.sum(axis=1)))
    if not 0 <= index < len(ensemble.hypotheses):
        raise ValueError(f"index must lie between 0 and {len(ensemble.hypotheses) - 1}; got {index}.")
    chosen = ensemble.hypotheses[index]
    if not isinstance(chosen, Tree):
        raise TypeError(f"Hypothesis {index} is not a tree: {chosen!r}.")
    return chosen


def _positions(chosen: Tree) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Leaves side by side, questions above the middle of their answers."""
    x, depth = np.zeros(chosen.n_nodes), np.zeros(chosen.n_nodes, dtype=int)
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if chosen.feature[node] >= 0:
            child = int(chosen.left[node])
            depth[child] = depth[child + 1] = depth[node] + 1
            waiting += [child + 1, child]
    x[[node for node in order if chosen.feature[node] < 0]] = np.arange((chosen.feature < 0).sum())
    for node in reversed(order):
        if chosen.feature[node] >= 0:
            x[node] = 0.5 * (x[chosen.left[node]] + x[chosen.left[node] + 1])
    return x, depth
