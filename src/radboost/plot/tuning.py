"""Settings that a search has tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost.plot._style import COLOURS, FAINT, axes, tidy, verbatim
from radboost.tuning.search import Search

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tuning(search: Search, against: str = "n_rounds", ax: Axes | None = None) -> Axes:
    """The scores of the settings that a search has tried, and the chosen one with its standard errors.

    Parameters
    ----------
    search : a fitted DeepBoostClassifierCV, RGBClassifierCV, RGBRegressorCV or SoftmaxBoostClassifierCV
    against : str
        "n_rounds" draws mean scores against the number of rounds, a line for each setting. The name of another
        parameter, such as "complexity_penalty", draws a point for each setting. Settings that were dropped early are
        grey: they were tried on fewer splits.
    """
    if not isinstance(search, Search):
        raise TypeError(f"plot.tuning draws searches such as DeepBoostClassifierCV; got {search!r}.")
    check_is_fitted(search)
    if against != "n_rounds" and f"param_{against}" not in search.cv_results_:
        known = sorted(name.removeprefix("param_") for name in search.cv_results_ if name.startswith("param_"))
        raise ValueError(f"No setting has a parameter {against!r}; there are {', '.join(known)}.")
    ax = axes(ax)
    if against == "n_rounds":
        _draw_curves(ax, search)
    else:
        _draw_points(ax, search, against)
    ax.set_ylabel("mean score of held-back rows")
    if ax.get_legend_handles_labels()[1]:
        verbatim(ax.legend(frameon=False, fontsize="small", loc="best").get_texts())
    return tidy(ax)


def _groups(search: Search) -> dict[int, str]:
    """Group of each setting, by its index: a key of `STYLES`."""
    n_splits = search.cv_results_["n_splits"]
    last = n_splits[search.best_index_]
    names = {i: "tried to the end" if n >= last else "dropped early" for i, n in enumerate(n_splits) if n}
    if search.param_grid is None and 0 in names:
        names[0] = "default"
    return {**names, search.best_index_: "chosen"}


STYLES: dict[str, dict[str, Any]] = {
    "dropped early": {"color": FAINT, "alpha": 0.45, "linewidth": 0.8, "zorder": 1},
    "tried to the end": {"color": COLOURS[4], "linewidth": 1.2, "zorder": 2},
    "default": {"color": COLOURS[1], "linewidth": 1.6, "zorder": 3},
    "chosen": {"color": COLOURS[0], "linewidth": 2.0, "zorder": 4},
}


def _draw_curves(ax: Axes, search: Search) -> None:
    named: set[str] = set()
    groups = _groups(search)
    for index, group in sorted(groups.items(), key=lambda item: list(STYLES).index(item[1])):
        rounds, means, errors = (
            search.validation_curves_[index].T if len(search.validation_curves_[index]) else [[]] * 3
        )
        ax.plot(rounds, means, label=None if group in named else group, **STYLES[group])
        named.add(group)
        if group == "chosen":
            low, high = np.subtract(means, errors), np.add(means, errors)
            ax.fill_between(rounds, low, high, color=COLOURS[0], alpha=0.15, linewidth=0, zorder=1.5)
            n_rounds = search.cv_results_["n_rounds"][index]
            ax.plot(n_rounds, search.best_score_, "o", color=COLOURS[0], markersize=8, zorder=5)
            ax.annotate(
                f"{n_rounds} rounds", (n_rounds, search.best_score_), xytext=(-6, 8), textcoords="offset points",
                ha="right", color=COLOURS[0],
            )  # fmt: skip
    ax.set(xscale="log", xlabel="rounds")
    _set_range(ax, search, groups)


def _set_range(ax: Axes, search: Search, groups: dict[int, str]) -> None:
    """From a little below most of the best scores to a little above all: the first rounds lie far below."""
    curves = [search.validation_curves_[index] for index in groups if len(search.validation_curves_[index])]
    if not curves:
        return
    ends = float(np.quantile([curve[:, 1].max() for curve in curves], 0.2))
    best = max(curve[:, 1].max() for curve in curves)
    chosen = search.validation_curves_[search.best_index_]
    errors = float(np.nan_to_num(chosen[:, 2]).min()) if len(chosen) else 0.0
    room = max(best - ends, 0.5 * errors, 1e-9)
    ax.set_ylim(ends - 0.6 * room, best + 0.6 * room)


def _draw_points(ax: Axes, search: Search, against: str) -> None:
    results = search.cv_results_
    named: set[str] = set()
    column = results[f"param_{against}"]
    groups = {index: group for index, group in _groups(search).items() if column[index] is not np.ma.masked}
    values = {index: column[index] for index in groups}
    indices = _positions(ax, list(values.values()))
    for (index, group), x in sorted(
        zip(groups.items(), indices, strict=True), key=lambda item: list(STYLES).index(item[0][1])
    ):
        curve = search.validation_curves_[index]
        error = curve[curve[:, 0] == results["n_rounds"][index], 2]
        style = {name: value for name, value in STYLES[group].items() if name != "linewidth"}
        ax.errorbar(
            x, results["mean_test_score"][index], yerr=error if len(error) and group == "chosen" else None,
            fmt="o", markersize=8 if group == "chosen" else 5, label=None if group in named else group,
            elinewidth=1.2, **style,
        )  # fmt: skip
        named.add(group)
    ax.set_xlabel(against)
    _set_range(ax, search, groups)


def _positions(ax: Axes, values: list[Any]) -> list[Any]:
    """Numbers as they are, on a logarithmic axis where they span much; others as texts."""
    if not all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
        return list(map(str, values))
    positive = [value for value in values if value > 0]
    if positive and max(positive) >= 10 * min(positive):
        ax.set_xscale("symlog", linthresh=min(positive))
    return values
