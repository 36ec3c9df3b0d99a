"""Error against size of pruned models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost._validation import check_choice
from radboost.plot._style import COLOURS, FAINT, axes, in_percent, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def size_curve(
    models: Any | Mapping[str, Any], ax: Axes | None = None, *, size: str = "n_trees", cost: str = "error"
) -> Axes:
    """Draw what smaller models cost on the rows that were held back while a model was pruned.

    A large dot marks the model itself, the last point of a line is the whole ensemble that it comes from, and the
    dotted line is at the height of that.

    Parameters
    ----------
    models : pruned model, or dict of name to pruned model
        With a dict each model gets a line that carries its name.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure when None.
    size : {"n_trees", "bytes"}
        What is drawn to the right.
    cost : {"error", "loss"}
        What is drawn upwards.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_choice("size", size, ["n_trees", "bytes"])
    check_choice("cost", cost, ["error", "loss"])
    named = dict(models) if isinstance(models, Mapping) else {"": models}
    if not named:
        raise ValueError("size_curve was given an empty dict; pass at least one model.")
    for model in named.values():
        check_is_fitted(model)
        if not hasattr(model, "size_curve_"):
            raise ValueError(
                f"This {type(model).__name__} has no size_curve_: it was not pruned, or it was loaded from a file, "
                "which does not keep the curve. Draw what model.prune(X, y) returns."
            )
    ax = axes(ax)
    for index, (name, model) in enumerate(named.items()):
        colour, curve = COLOURS[index % len(COLOURS)], model.size_curve_
        order = np.argsort(curve[size], kind="stable")
        sizes, costs = np.array(curve[size])[order], np.array(curve[cost])[order]
        ax.axhline(curve[cost][-1], color=colour if len(named) > 1 else FAINT, linestyle=":", linewidth=1.0, zorder=0)
        ax.plot(sizes, costs, color=colour, linewidth=1.8, marker="o", markersize=3.5, label=str(name))
        own = curve["n_trees"].index(len(model.ensemble_))
        ax.plot([curve[size][own]], [curve[cost][own]], "o", color=colour, markersize=9)
    ax.set_xscale("log")
    ax.set(xlabel="trees" if size == "n_trees" else "bytes of the model file", ylabel=f"{cost} on held-back rows")
    if cost == "error" and all(hasattr(model, "classes_") for model in named.values()):
        in_percent(ax)
    if any(str(name) for name in named):
        verbatim(ax.legend(frameon=False).get_texts())
    ax.set_title("Error against size" if cost == "error" else "Loss against size", loc="left")
    return tidy(ax)
