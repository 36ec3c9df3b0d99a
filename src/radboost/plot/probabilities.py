"""Reliability of probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radboost._typing import FloatArray
from radboost.plot._style import COLOURS, FAINT, axes, by_name, in_percent, tidy, verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST = 0.01  # of the rows, for a point


def reliability(
    models: Any | Mapping[str, Any], X: Any, y: ArrayLike, ax: Axes | None = None, *, bins: int = 10
) -> Axes:
    """Draw how often predictions are right against how sure they are.

    Rows are gathered by the probability of the class that is predicted. On the diagonal a model is as often right as it
    says; above it is too modest, below too sure. A point is as large as the fraction of rows it stands for, and its
    line covers two standard errors. Intervals with fewer than a hundredth of the rows are left out.

    Parameters
    ----------
    models : fitted classifier with `predict_proba`, or dict of name to such
        With a dict each model gets a line that carries its name.
    X, y : array-like
        Rows and labels that the models have not learned from.
    bins : int
        Into how many intervals of equal width the probabilities are divided.
    """
    named = by_name(models, "reliability")
    labels = np.asarray(y)
    if not len(labels):
        raise ValueError("X has no rows, so there is nothing to draw.")
    ax = axes(ax)
    ax.plot([0.0, 1.0], [0.0, 1.0], color=FAINT, linewidth=0.8, zorder=0)
    lowest = 1.0
    for index, (name, model) in enumerate(named.items()):
        if not hasattr(model, "predict_proba"):
            raise TypeError(f"{type(model).__name__} has no predict_proba, and no probabilities to draw.")
        probabilities = np.asarray(model.predict_proba(X))
        if len(probabilities) != len(labels):
            raise ValueError(f"X has {len(probabilities)} rows and y has {len(labels)}; give a label for each row.")
        confidence = probabilities.max(axis=1)
        right = np.asarray(model.classes_)[probabilities.argmax(axis=1)] == labels
        bin_of = bins_of(confidence, bins)
        counts = np.bincount(bin_of, minlength=bins)
        used = counts >= max(1.0, FEWEST * len(labels))
        sure = np.bincount(bin_of, confidence, bins)[used] / counts[used]
        fraction = np.bincount(bin_of, right, bins)[used] / counts[used]
        spread = 2.0 * np.sqrt(fraction * (1.0 - fraction) / counts[used])
        color = COLOURS[index % len(COLOURS)]
        ax.vlines(sure, fraction - spread, fraction + spread, color=color, alpha=0.5, linewidth=1.2)
        sizes = 20.0 + 400.0 * counts[used] / len(labels)
        ax.scatter(sure, fraction, sizes, color=color, alpha=0.6, linewidth=0)
        ax.plot(sure, fraction, color=color, linewidth=1.2, label=name)
        lowest = min(lowest, float(sure.min()), float(fraction.min()))
    if list(named) != [""]:
        verbatim(ax.legend(frameon=False, loc="lower right").get_texts())
    low = max(0.0, lowest - 0.05)
    ax.set(
        xlim=(low, 1.02),
        ylim=(low, 1.02),
        xlabel="probability of the predicted class",
        ylabel="fraction of right predictions",
    )
    in_percent(ax)
    ax.set_title("Reliability", loc="left")
    return tidy(ax)


def bins_of(probabilities: FloatArray, n_bins: int) -> NDArray[np.intp]:
    """Index of the interval of equal width that each probability lies in."""
    return np.minimum((probabilities * n_bins).astype(np.intp), n_bins - 1)
