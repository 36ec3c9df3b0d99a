"""Curves: errors and mixtures by round, and sparse or pruned models by size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost._validation import check_choice
from radboost.guarantees.margins import ensemble_of
from radboost.plot._style import COLOURS, FAINT, axes, by_name, in_percent, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def learning_curve(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the error after each round, on the training rows and, where there were some, on validation rows.

    Where the history counts no errors, as in regression, the loss is drawn instead.

    Parameters
    ----------
    model : fitted model
        With ``history_``.
    """
    ensemble_of(model, "learning curves")
    label, curves = course(model.history_)
    numbers = label == "loss"
    form = ".4g" if numbers else ".1%"
    ax = axes(ax)
    ax.set_title("Learning curve", loc="left")
    ax.set(xlabel="round", ylabel=label)
    if not all(len(errors) for errors in curves.values()):
        ax.text(0.5, 0.5, "no round was run", ha="center", color=FAINT, transform=ax.transAxes)
        return tidy(ax)
    for index, (name, errors) in enumerate(curves.items()):
        label = f"{name} {errors[-1]:{form}}"  # after the last round
        ax.plot(np.arange(1, len(errors) + 1), errors, color=COLOURS[index], linewidth=1.8, label=label)
    ax.set_xlim(left=0.0)
    if not numbers:
        ax.set_ylim(bottom=0.0)
        in_percent(ax)
    ax.legend(frameon=False, labelcolor="linecolor")
    if "validation" in curves:
        _mark_lowest(ax, curves["validation"], form)
    return tidy(ax)


def course(history: Mapping[str, Sequence[float]]) -> tuple[str, dict[str, FloatArray]]:
    """Name of what a history counts, and its values after each round by "training" and "validation"."""
    is_loss = "train_error" not in history
    keys = ("objective", "validation_loss") if is_loss else ("train_error", "validation_error")
    curves = zip(("training", "validation"), keys, strict=True)
    values = {name: np.asarray(history[key], dtype=np.float64) for name, key in curves if key in history}
    return "loss" if is_loss else "error", values


def mixture(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the weight of each loss in the worst mixture, round by round. Storcheus (2021), Figure 5.3.

    A loss whose share rises was the worst one. Where several keep a share they are equally bad: none can be improved
    without making another one worse.

    Parameters
    ----------
    model : fitted AgnosticClassifier
    """
    if not hasattr(type(model), "losses_on"):
        raise TypeError(f"Expected a fitted AgnosticClassifier, got {model!r}.")
    check_is_fitted(model)
    ax = axes(ax)
    for index, name in enumerate(model.mixture_):
        weights = model.history_[f"mixture[{name}]"]
        ax.plot(np.arange(1, len(weights) + 1), weights, color=COLOURS[index % len(COLOURS)], label=name)
    ax.set(xlabel="round", ylabel="share of the loss in the worst mixture", ylim=(-0.02, 1.02))
    verbatim(ax.legend(frameon=False).get_texts())
    return tidy(ax)


def size_curve(
    models: Any | Mapping[str, Any], ax: Axes | None = None, *, size: str = "n_trees", cost: str = "error"
) -> Axes:
    """Draw what smaller models cost on the rows that were held back while a model was pruned.

    A large dot marks the model itself. The last point of a line is the whole ensemble that it comes from, and the
    dotted line is at its height.

    Parameters
    ----------
    models : pruned model, or dict of name to pruned model
        With a dict each model gets a line that carries its name.
    size : {"n_trees", "bytes"}
        What is drawn to the right.
    cost : {"error", "loss"}
        What is drawn upwards.
    """
    check_choice("size", size, ["n_trees", "bytes"])
    check_choice("cost", cost, ["error", "loss"])
    named = by_name(models, "size_curve")
    for model in named.values():
        check_is_fitted(model)
        if not hasattr(model, "size_curve_"):
            raise ValueError(
                f"This {type(model).__name__} has no size_curve_: it was not pruned, or it was loaded from a file, "
                "which does not keep the curve. Draw what model.prune(X, y) returns."
            )
    ax = axes(ax)
    for index, (name, model) in enumerate(named.items()):
        color, curve = COLOURS[index % len(COLOURS)], model.size_curve_
        order = np.argsort(curve[size], kind="stable")
        sizes, costs = np.array(curve[size])[order], np.array(curve[cost])[order]
        ax.axhline(curve[cost][-1], color=color if len(named) > 1 else FAINT, linestyle=":", linewidth=1.0, zorder=0)
        ax.plot(sizes, costs, color=color, linewidth=1.8, marker="o", markersize=3.5, label=name)
        own = curve["n_trees"].index(len(model.ensemble_))
        ax.plot([curve[size][own]], [curve[cost][own]], "o", color=color, markersize=9)
    ax.set_xscale("log")
    ax.set(xlabel="trees" if size == "n_trees" else "bytes of the model file", ylabel=f"{cost} on held-back rows")
    if cost == "error" and all(hasattr(model, "classes_") for model in named.values()):
        in_percent(ax)
    if any(named):
        verbatim(ax.legend(frameon=False).get_texts())
    ax.set_title("Error against size" if cost == "error" else "Loss against size", loc="left")
    return tidy(ax)


def _mark_lowest(ax: Axes, errors: FloatArray, form: str) -> None:
    """Put a dot and its value on the lowest validation error."""
    best = int(np.argmin(errors))
    ax.plot(best + 1, errors[best], "o", color=COLOURS[1], markersize=5)
    ax.annotate(
        f"lowest {errors[best]:{form}}",
        (best + 1, errors[best]),
        xytext=(0, -7),
        textcoords="offset points",
        ha="center" if best > 0.2 * len(errors) else "left",
        va="top",
        color=COLOURS[1],
    )
