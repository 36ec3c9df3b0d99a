"""Pictures of sparse models: error against size, paths, features in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost._typing import FloatArray
from radboost.experiments.structural_sparsity import (
    PENALTIES,
    REGRESSORS,
    InducedRegression,
    SparsityPaths,
    SparsityStudy,
)
from radboost.plot._style import COLOURS, FAINT, axes, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def regularization_path(alphas: FloatArray, coefs: FloatArray, *, ax: Axes | None = None) -> Axes:
    """The size of each feature's weights along alpha, as `path` returns them."""
    ax = axes(ax)
    coefs = np.asarray(coefs, dtype=np.float64)
    sizes = np.abs(coefs) if coefs.ndim == 2 else np.sqrt((coefs**2).sum(axis=1))
    for line in sizes.T:
        if line.any():
            ax.plot(alphas, line, linewidth=1.0)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set(xlabel="alpha", ylabel="size of the weights of a feature")
    return tidy(ax)


def features_over_time(history: Mapping[str, Sequence[float]], *, ax: Axes | None = None, label: str = "") -> Axes:
    """How many features the model has after each round, of `history_` (Figure 14, right)."""
    ax = axes(ax)
    values = history["n_features"]
    ax.plot(range(1, len(values) + 1), values, linewidth=1.6, label=label or None)
    ax.set(xlabel="round", ylabel="features in the model")
    return tidy(ax)


def draw_sparsity_study(study: SparsityStudy, outcomes: Sequence[Any]) -> Figure:
    """The figure of a study of "Boosting with Structural Sparsity" that has ended."""
    if isinstance(study, SparsityPaths):
        return _draw_paths(study, outcomes)
    return _draw_regression(study, outcomes) if isinstance(study, InducedRegression) else _draw_rounds(outcomes)


def _draw_paths(study: SparsityPaths, outcomes: Sequence[Any]) -> Figure:
    """Figures 9 to 12: coverage and loss against features used, and against weights that are not zero."""
    figure: Figure
    figure, grid = pyplot().subplots(1, 4, figsize=(12.5, 3.2), layout="constrained")
    views = (("rows", "coverage"), ("weights", "coverage"), ("rows", "loss"), ("weights", "loss"))
    names = {"rows": "features used", "weights": "share of weights that are not zero"}
    for panel, (x, y) in zip(grid, views, strict=True):
        for penalty, colour in zip(PENALTIES, COLOURS, strict=False):
            chosen = [o.result for o in outcomes if o.facts["penalty"] == penalty]
            first, second = (np.array([result[key] for result in chosen]).mean(axis=0) for key in (x, y))
            panel.plot(first[1:], second[1:], "o-", color=colour, markersize=3, linewidth=1.4, label=penalty)
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter("")  # the labels of 2, 3, 4, ... would run into each other
        panel.set(xlabel=names[x], ylabel=f"test {y}")
        tidy(panel)
    figure.suptitle(study.title, x=0.01, ha="left")
    grid[0].legend(frameon=False)
    return figure


def _draw_regression(study: InducedRegression, outcomes: Sequence[Any]) -> Figure:
    """Error against the number of features, a ring for each repeat."""
    figure: Figure
    names = [name for name in study.datasets if any(o.facts["regression"] == name for o in outcomes)]
    figure, grid = pyplot().subplots(
        1, len(names), figsize=(4.6 * len(names), 3.4), layout="constrained", squeeze=False
    )
    for panel, name in zip(grid[0], names, strict=True):
        for algorithm, colour in zip(REGRESSORS, COLOURS, strict=False):
            chosen = [o.result for o in outcomes if o.facts["regression"] == name and o.facts["algorithm"] == algorithm]
            panel.plot(
                [result["features"] for result in chosen], [result["rmse"] for result in chosen], "o",
                color=colour, label=algorithm,
            )  # fmt: skip
        panel.set(xlabel="features used", ylabel="test error (root mean square)", title=name)
        panel.set_ylim(bottom=0.0)
        tidy(panel)
    grid[0, 0].legend(frameon=False)
    return figure


def _draw_rounds(outcomes: Sequence[Any]) -> Figure:
    """Figures 13 (right) and 14 (right): the objective above the best one, and the features, round by round."""
    figure: Figure
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(9.2, 3.4), layout="constrained")
    best = min(outcome.result["objective"][-1] for outcome in outcomes)
    for outcome, colour in zip(outcomes, COLOURS, strict=False):
        rounds = range(1, len(outcome.result["objective"]) + 1)
        above = np.maximum(np.array(outcome.result["objective"]) - best, 1e-12)
        left.plot(rounds, above, color=colour, label=outcome.facts["update"])
        right.plot(rounds, outcome.result["features"], color=colour)
    left.set(xscale="log", yscale="log", xlabel="round", ylabel="objective above the best")
    right.set(xscale="log", xlabel="round", ylabel="features in the model")
    left.axhline(best * 1e-6, color=FAINT, linewidth=0.8)
    left.legend(frameon=False)
    tidy(left)
    tidy(right)
    return figure
