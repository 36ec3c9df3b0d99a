"""Pictures of sparse models: error against size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.sparsity_fits import CHOSEN, LAMBDAS, ONE_AT_A_TIME, SMOOTH, boosted_at
from papers.sparsity_report import by_facts
from papers.structural_sparsity import (
    KERNEL_PENALTIES,
    PENALTIES,
    REGRESSORS,
    TOPICS,
    InducedRegression,
    KernelDigits,
    SparsityPaths,
    SparsityStudy,
    Topics,
)
from radboost.plot._style import COLOURS, FAINT, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_sparsity_study(study: SparsityStudy, outcomes: Sequence[Any]) -> Figure:
    """The figure of a study of "Boosting with Structural Sparsity" that has ended."""
    if isinstance(study, SparsityPaths):
        return _draw_paths(study, outcomes)
    if isinstance(study, Topics):
        return _draw_topics(outcomes)
    if isinstance(study, KernelDigits):
        return _draw_digits(outcomes)
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
        panel.set(xscale="log", yscale="log")
        panel.xaxis.set_minor_formatter("")
        tidy(panel)
    grid[0, 0].legend(frameon=False)
    return figure


def _draw_topics(outcomes: Sequence[Any]) -> Figure:
    """Figure 7: error and loss against features, a column for each topic; a star where boosting stopped by itself."""
    figure: Figure
    figure, grid = pyplot().subplots(
        2, len(TOPICS), figsize=(3.1 * len(TOPICS), 5.2), layout="constrained", sharex=True
    )
    names = (boosted_at(LAMBDAS[0]), SMOOTH, ONE_AT_A_TIME, CHOSEN)
    groups = by_facts(outcomes, "topic", "algorithm", "rounds")
    for column, topic in enumerate(TOPICS):
        for line, key in enumerate(("error", "loss")):
            panel = grid[line, column]
            for name, colour in zip(names, COLOURS, strict=False):
                chosen = [
                    results
                    for (of, algorithm, _), results in groups.items()
                    if of == topic and (algorithm == name or (name == names[0] and algorithm.startswith("L1")))
                ]
                x, y = ([np.mean([r[what] for r in results]) for results in chosen] for what in ("features", key))
                label = "L1, stops by itself" if name == names[0] else name
                marker = "*" if name == names[0] else "o-"
                panel.plot(x, y, marker, color=colour, markersize=9 if marker == "*" else 4, label=label)
            panel.set(xscale="log", ylim=(0.0, None), ylabel=f"test {key}" if column == 0 else "")
            panel.set_title(topic if line == 0 else "")
            tidy(panel)
        grid[1, column].set_xlabel("features")
    grid[0, 0].legend(frameon=False, fontsize="x-small")
    return figure


def _draw_digits(outcomes: Sequence[Any]) -> Figure:
    """Figure 13, left: coverage against the training rows per class, beside the features that are used."""
    figure: Figure
    figure, panels = pyplot().subplots(1, 2, figsize=(9.2, 3.4), layout="constrained")
    for panel, key in zip(panels, ("coverage", "features"), strict=True):
        for penalty, colour in zip(KERNEL_PENALTIES, COLOURS, strict=False):
            groups = by_facts([o for o in outcomes if o.facts["penalty"] == penalty], "digits")
            means = [np.mean([result[key] for result in results]) for results in groups.values()]
            panel.plot([size for (size,) in groups], means, "o-", color=colour, label=penalty, markersize=4)
        panel.set(xscale="log", yscale="log", xlabel="training rows per class")
        sizes = sorted({outcome.facts["digits"] for outcome in outcomes})
        panel.set_xticks(sizes, labels=[str(size) for size in sizes])
        panel.xaxis.set_minor_formatter("")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("{x:g}")
        tidy(panel)
    panels[0].set_ylabel("test coverage")
    panels[1].set_ylabel("kernels used")
    panels[0].legend(frameon=False)
    return figure


def _draw_rounds(outcomes: Sequence[Any]) -> Figure:
    """Figures 13 (right) and 14: the objective above the best one, test error and features, over the rounds."""
    figure: Figure
    figure, (left, middle, right) = pyplot().subplots(1, 3, figsize=(12.0, 3.4), layout="constrained")
    best = min(outcome.result["objective"][-1] for outcome in outcomes)
    for outcome, colour in zip(outcomes, COLOURS, strict=False):
        rounds = range(1, len(outcome.result["objective"]) + 1)
        above = np.maximum(np.array(outcome.result["objective"]) - best, 1e-12)
        left.plot(rounds, above, color=colour, label=outcome.facts["update"])
        middle.plot(outcome.facts["stages"], outcome.result["error"], "o-", color=colour, markersize=4)
        right.plot(rounds, outcome.result["features"], color=colour)
    left.set(xscale="log", yscale="log", xlabel="round", ylabel="objective above the best")
    middle.set(xscale="log", xlabel="round", ylabel="test error")
    right.set(xscale="log", xlabel="round", ylabel="features in the model")
    left.axhline(best * 1e-6, color=FAINT, linewidth=0.8)
    left.legend(frameon=False)
    for panel in (left, middle, right):
        tidy(panel)
    return figure
