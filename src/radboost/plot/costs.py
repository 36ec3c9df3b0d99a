"""What confusions cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from radboost.plot._style import INK, axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cost_confusion(model: Any, X: Any, y: ArrayLike, ax: Axes | None = None, *, cost: ArrayLike | None = None) -> Axes:
    """Draw a confusion matrix coloured by what each kind of mistake costs.

    A cell shows how many rows of a true class (line) are taken for another (column), and below it what these cost
    together. The title has the mean cost of a row.

    Parameters
    ----------
    model : fitted classifier
        Any with ``classes_`` and ``predict``.
    X, y : array-like
        The rows and labels, usually those of a test set.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure when None.
    cost : matrix of shape (n_classes, n_classes), optional
        Line: true class, column: predicted one, in the order of ``classes_``. By default the ``cost`` that the model
        was made with, and 1 for every mistake where there is none.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_is_fitted(model)
    classes = model.classes_
    given = getattr(model, "cost", None) if cost is None else cost
    costs = 1.0 - np.eye(len(classes)) if given is None else np.asarray(given, dtype=np.float64)
    if costs.shape != (len(classes), len(classes)):
        raise ValueError(
            f"cost has the shape {costs.shape}, and the model knows {len(classes)} classes; pass a matrix with a line "
            "and a column for each, in the order of classes_."
        )
    places = {label: index for index, label in enumerate(classes.tolist())}
    labels = np.asarray(y).tolist()
    strangers = [label for label in labels if label not in places]
    if strangers:
        raise ValueError(f"y contains the label {strangers[0]!r}, which the model was not fitted with.")
    if not labels:
        raise ValueError("X has no rows, so there is nothing to draw.")
    counts = np.zeros(costs.shape)
    np.add.at(counts, ([places[label] for label in labels], np.searchsorted(classes, model.predict(X))), 1.0)
    paid = counts * costs
    ax = axes(ax)
    ax.imshow(paid, cmap="Oranges", vmin=0.0, vmax=max(float(paid.max()), 1e-300))
    dark = 0.6 * paid.max()
    for i, j in np.ndindex(*paid.shape):
        text = f"{counts[i, j]:.0f}" + (f"\ncosts {paid[i, j]:.4g}" if paid[i, j] else "")
        ax.text(j, i, text, ha="center", va="center", color="white" if paid[i, j] > dark else INK, size="small")
    ticks = np.arange(len(classes))
    ax.set_xticks(ticks, [str(label) for label in classes])
    ax.set_yticks(ticks, [str(label) for label in classes])
    ax.set(xlabel="predicted", ylabel="true")
    ax.set_title(f"Mean cost {paid.sum() / len(labels):.4g}", loc="left")
    return tidy(ax)
