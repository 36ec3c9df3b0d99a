"""Confusion matrix with costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from radboost.plot._style import INK, axes, tidy, verbatim
from radboost.rows.costs import read_cost_matrix
from radboost.rows.read import known_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELLED = 30  # classes whose cells have room for numbers, and whose names have room beside them


def cost_confusion(model: Any, X: Any, y: ArrayLike, ax: Axes | None = None, *, cost: ArrayLike | None = None) -> Axes:
    """Draw a confusion matrix colored by what each kind of mistake costs.

    A cell shows how many rows of a true class (line) are taken for another (column), and below it what these cost
    together. The title has the mean cost of a row. With more than 30 classes the cells are too small for numbers: they
    have colors only, and not every class is named.

    Parameters
    ----------
    model : fitted classifier
        Any with ``classes_`` and ``predict``.
    X, y : array-like
        The rows and labels, usually those of a test set.
    cost : matrix of shape (n_classes, n_classes), optional
        Line: true class, column: predicted one, in the order of ``classes_`` or a data frame that names them. By
        default the ``cost`` that the model was made with, and 1 for every mistake where there is none.
    """
    check_is_fitted(model)
    classes = model.classes_
    given = read_cost_matrix(getattr(model, "cost", None) if cost is None else cost, classes)
    costs = 1.0 - np.eye(len(classes)) if given is None else given
    if not len(np.asarray(y)):
        raise ValueError("X has no rows, so there is nothing to draw.")
    labels = known_labels(np.asarray(y), classes, "y")
    counts = np.zeros(costs.shape)
    np.add.at(counts, (labels, np.searchsorted(classes, model.predict(X))), 1.0)
    paid = counts * costs
    ax = axes(ax)
    ax.imshow(paid, cmap="Oranges", vmin=0.0, vmax=max(float(paid.max()), 1e-300))
    if len(classes) <= MOST_LABELLED:
        _write_numbers(ax, counts, paid)
    ticks = np.arange(0, len(classes), -(-len(classes) // MOST_LABELLED))
    ax.set_xticks(ticks, [str(classes[tick]) for tick in ticks])
    ax.set_yticks(ticks, [str(classes[tick]) for tick in ticks])
    verbatim([*ax.get_xticklabels(), *ax.get_yticklabels()])
    ax.set(xlabel="predicted", ylabel="true")
    ax.set_title(f"Mean cost {paid.sum() / len(labels):.4g}", loc="left")
    return tidy(ax)


def _write_numbers(ax: Axes, counts: NDArray[np.float64], paid: NDArray[np.float64]) -> None:
    dark = 0.6 * paid.max()
    for i, j in np.ndindex(*paid.shape):
        text = f"{counts[i, j]:.0f}" + (f"\ncosts {paid[i, j]:.4g}" if paid[i, j] else "")
        ax.text(j, i, text, ha="center", va="center", color="white" if paid[i, j] > dark else INK, size="small")
