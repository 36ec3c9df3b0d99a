"""What a projection keeps of rows (Figure 7.1 of Storcheus's thesis), and the comparison with other learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from papers.kernel_projection import of
from papers.kernel_projection_fits import METHODS
from papers.studies import Outcome
from radboost.plot._style import COLOURS, FAINT, INK, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARROW = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
PATCH = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_wrong_direction(X: NDArray[Any], y: NDArray[Any], model: Any) -> Figure:
    """Figure 7.1 for two columns and two classes: the rows, what PCA with rank 1 keeps of them, what the model keeps.

    `model` is a `SupervisedKernelProjection` of rank 1.
    """
    centred = X - X.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2]
    figure: Figure
    figure, (rows, blind, seeing) = pyplot().subplots(
        1, 3, figsize=(10.0, 3.4), layout="constrained", width_ratios=(1.25, 1.0, 1.0)
    )
    labels = np.unique(y)
    for label, colour in zip(labels, COLOURS, strict=False):
        rows.plot(*X[y == label].T, "o", color=colour, markersize=3.5, alpha=0.6, markeredgewidth=0)
    middle = X.mean(axis=0)
    for number, direction in enumerate(directions, start=1):
        length = 1.1 * np.std(centred @ direction) * np.sign(direction[np.argmax(np.abs(direction))])
        rows.annotate("", middle + length * direction, middle, arrowprops=ARROW)
        rows.annotate(
            f"$v_{number}$", middle + 1.25 * length * direction, color=INK, ha="center", va="center", bbox=PATCH
        )
    rows.set(xlabel="first column", ylabel="second column")
    rows.set_aspect("equal", adjustable="datalim")
    rows.set_title("two classes, and the directions of PCA", loc="left", size="medium")
    tidy(rows)
    _draw_kept(blind, centred @ directions[0], y, "PCA keeps", "coordinate along $v_1$")
    _draw_kept(seeing, model.transform(X)[:, 0], y, "SupervisedKernelProjection keeps", "transform(X)")
    return figure


def _draw_kept(axes: Axes, coordinate: NDArray[Any], y: NDArray[Any], title: str, unit: str) -> None:
    """A histogram of each class over the one coordinate that is left, and the least error of a threshold on it."""
    edges = np.linspace(coordinate.min(), coordinate.max(), 33)
    for label, colour in zip(np.unique(y), COLOURS, strict=False):
        axes.hist(coordinate[y == label], bins=edges.tolist(), color=colour, alpha=0.6)
    axes.set_title(title, loc="left", size="medium")
    axes.set(xlabel=unit, ylabel="rows")
    axes.set_ylim(top=1.25 * axes.get_ylim()[1])
    error = _least_error(coordinate, y)
    axes.annotate(
        f"best threshold: {error:.0%} wrong", (0.98, 0.97), xycoords="axes fraction", ha="right", va="top", color=INK
    )
    tidy(axes)


def _least_error(coordinate: NDArray[Any], y: NDArray[Any]) -> float:
    """The share of rows on the wrong side of the best threshold."""
    first = (y == np.unique(y)[0])[np.argsort(coordinate, kind="stable")]
    below = np.concatenate([[0], np.cumsum(np.where(first, 1, -1))])  # of the first class less the other
    most = int(np.sum(~first)) + int(below.max()), int(np.sum(first)) - int(below.min())
    return 1.0 - max(most) / len(y)


def draw_projections(outcomes: Sequence[Outcome]) -> Figure:
    """Mean test errors of every method on every set, with a line from the best to the worst half."""
    names = list(dict.fromkeys(outcome.facts["projection"] for outcome in outcomes))
    figure: Figure
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure, grid = pyplot().subplots(
        lines, columns, figsize=(2.6 * columns + 1.2, 2.1 * lines + 0.5), layout="constrained", squeeze=False
    )
    for place, panel in enumerate(grid.flat):
        if place >= len(names):
            panel.set_axis_off()
            continue
        means = []
        for height, (method, colour) in enumerate(zip(METHODS, COLOURS, strict=False)):
            found = of(outcomes, names[place], method, "error")
            means.append(found.mean())
            panel.hlines(height, found.min(), found.max(), color=colour, linewidth=2, alpha=0.5)
            panel.plot(found.mean(), height, "o", color=colour, markersize=6)
        panel.axvline(means[0], color=FAINT, linewidth=0.8, zorder=0)
        panel.set_title(names[place], loc="left", size="medium")
        panel.set_yticks(range(len(METHODS)), list(METHODS) if place % columns == 0 else [""] * len(METHODS))
        panel.invert_yaxis()
        panel.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g}%")
        tidy(panel)
    for panel in grid[-1]:
        panel.set_xlabel("test error")
    return figure
