"""Explanations of one row, feature by feature, and contributions of one feature, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from radboost._validation import check_integer
from radboost.explain.explanation import Explanation, largest_parts
from radboost.plot._style import COLOURS, FAINT, INK, axes, tidy, verbatim
from radboost.rows.read import dense_rows, read_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPEAKS_FOR, SPEAKS_AGAINST = COLOURS[0], COLOURS[1]
THICKNESS = 0.62  # of a bar
SPREAD = 0.3  # of the points of a category, to either side


def explanation(
    model: Any, x: Any, ax: Axes | None = None, *, max_features: int = 10, target: int | None = None
) -> Axes:
    """Draw how the score of one row comes about, from the top down.

    It begins where every row begins. Each bar is what a feature adds: blue for the predicted class, orange against it
    (of a regressor: blue raises the prediction, orange lowers it). The last line is the score.

    Parameters
    ----------
    model : fitted model with a method `explain`
    x : one row, as `explain` takes it; or the Explanation that it returned
    max_features : int
        Features with a bar of their own, those with the largest effects; the others share one.
    target : int or None
        The column of y that is explained, of models of several targets or tasks.
    """
    check_integer("max_features", max_features, 1)
    explained: Explanation = x if isinstance(x, Explanation) else model.explain(x, **_asked_of(model, target))
    bars = largest_parts(explained, max_features)
    ax = axes(ax, (6.8, 1.3 + 0.32 * (len(bars) + 2)))
    ends = explained.base + np.cumsum([0.0, *(effect for _, effect in bars)])
    _draw_bars(ax, bars, ends)
    last = len(bars) + 1
    for position, score in ((0, explained.base), (last, explained.score)):
        ax.plot([score], [position], "D", color=INK, markersize=5, zorder=3)
        ax.annotate(
            f"{score:.4g}", (score, position), (7, 0), textcoords="offset points", va="center", color=INK, fontsize=9
        )
    start = "intercept" if explained.formula else "mean score"
    ax.set_yticks(range(last + 1), [start, *(text for text, _ in bars), "score"])
    verbatim(ax.get_yticklabels())
    ax.set_ylim(last + 0.6, -0.6)
    ax.locator_params(axis="x", nbins=7)
    room = 0.2 * ((ends.max() - ends.min()) or 1.0)
    ax.set_xlim(ends.min() - room, ends.max() + room)
    if ends.min() - room < 0.0 < ends.max() + room:
        ax.axvline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xlabel(
        f"score for {explained.answer!r} against {explained.runner_up!r}" if explained.classifies else "score"
    )
    ax.set_title(explained.heading()[0].rstrip(".").replace(", with", ",\nwith"), loc="left", fontsize=11)
    verbatim([ax.title, ax.xaxis.label])
    tidy(ax)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ax


def _asked_of(model: Any, target: int | None) -> dict[str, int]:
    """How `explain` is explained which column of y is meant."""
    if target is None:
        return {}
    if hasattr(model, "task_labels_"):
        return {"task": target}
    if hasattr(model, "classes_"):
        raise ValueError(
            f"target={target!r} is for models of several targets, and {type(model).__name__} has one. Leave it out."
        )
    return {"target": target}


def _draw_bars(ax: Axes, bars: list[tuple[str, float]], ends: NDArray[np.float64]) -> None:
    """Bars that begin where the one above ends, with thin lines between them."""
    for position, end in enumerate(ends.tolist()):
        above = position + (0.5 * THICKNESS if position else 0.0)
        below = position + 1 - (0.5 * THICKNESS if position < len(bars) else 0.0)
        ax.plot([end, end], [above, below], color=FAINT, linewidth=0.8, zorder=1)
    for position, (_, effect) in enumerate(bars, start=1):
        begin, end = ends[position - 1], ends[position]
        color = SPEAKS_FOR if effect >= 0.0 else SPEAKS_AGAINST
        ax.barh(position, effect, left=begin, height=THICKNESS, color=color, zorder=2)
        ax.annotate(
            f"{effect:+.3g}",
            (end, position),
            (4 if effect >= 0.0 else -4, 0),
            textcoords="offset points",
            ha="left" if effect >= 0.0 else "right",
            va="center",
            fontsize=9,
            color=color,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )


def dependence(
    model: Any, X: Any, feature: int | str, ax: Axes | None = None, *, label: Any = None, target: int | None = None
) -> Axes:
    """Draw what a feature contributes to the scores of rows, against its value.

    A point is a row; points of one value differ in height by what the other features of the row make of it. Short lines
    at the bottom show where the rows are. Categories stand side by side with a bar at their mean, missing values and
    unknown categories at the right.

    Parameters
    ----------
    model : fitted model with a method `predict_contributions`
    X : the rows, as for `predict`
    feature : int or str
        The column, by index or by name.
    label : object, optional
        The class whose score is meant, for models of more than two classes: None draws all, which six have colors for.
        With two classes scores are those of the second.
    target : int or None
        The column of y whose prediction is meant, for models of several targets: None draws up to six.
    """
    check_is_fitted(model)
    if not hasattr(model, "predict_contributions"):
        raise TypeError(
            f"{type(model).__name__} has no predict_contributions: dependence draws models of trees. Of a linear model "
            "the coefficients say the same."
        )
    column = _column(model, feature)
    categories = model.ensemble_.categories.get(column)
    values = np.asarray(dense_rows(read_matrix(model, X, model.ensemble_.categories)[:, [column]]), dtype=np.float64)
    if not len(values):
        raise ValueError("X has no rows, so there is nothing to draw.")
    drawn = _outputs(model, np.asarray(model.predict_contributions(X)[..., column]), label, target)
    ax = axes(ax)
    ax.axhline(0.0, color=FAINT, linewidth=0.8, zorder=0)
    x = _set_positions(ax, values[:, 0], categories)
    size = float(np.clip(3000.0 / len(x), 6.0, 24.0))
    for (name, heights), color in zip(drawn, COLOURS, strict=False):
        ax.scatter(x, heights, s=size, color=color, alpha=0.55, linewidth=0, label=name)
        if categories is not None:
            _draw_means(ax, x, heights, color)
    if categories is None:
        here = x[~np.isnan(values[:, 0])]
        ax.plot(here, np.zeros(len(here)), "|", color=INK, alpha=0.35, markersize=7, transform=ax.get_xaxis_transform())
    if len(drawn) > 1:
        legend = ax.legend(frameon=False, title="score of")
        verbatim(legend.get_texts())
    ax.set_xlabel(_name(model, column))
    of = f" for {drawn[0][0]}" if len(drawn) == 1 and drawn[0][0] else ""
    ax.set_ylabel(f"contribution to the score{of}")
    verbatim([ax.xaxis.label, ax.yaxis.label])
    return tidy(ax)


def importance(model: Any, ax: Axes | None = None, *, kind: str | None = None, max_features: int = 20) -> Axes:
    """Draw the importance of the columns, the largest on top.

    Parameters
    ----------
    model : fitted model with `feature_importance`
    kind : str or None
        As in `model.feature_importance(kind)`; None for its first.
    max_features : int
        Columns at most.
    """
    check_integer("max_features", max_features, 1)
    sizes = model.feature_importance() if kind is None else model.feature_importance(kind)
    order = np.argsort(-sizes, kind="stable")[:max_features]
    ax = axes(ax)
    positions = np.arange(len(order))[::-1]
    ax.barh(positions, sizes[order], height=THICKNESS, color=COLOURS[0])
    ax.set_yticks(positions, [_name(model, column) for column in order])
    verbatim(ax.get_yticklabels())
    ax.set_xlabel("importance" if kind is None else f"importance by {kind}")
    return tidy(ax)


def _column(model: Any, feature: int | str) -> int:
    names = getattr(model, "feature_names_in_", None)
    if isinstance(feature, str):
        if names is None:
            raise ValueError(f"The model was fitted without names of columns; name {feature!r} by its index.")
        if feature not in names:
            raise ValueError(f"{feature!r} is none of the columns {', '.join(map(str, names[:10]))}.")
        return int(np.flatnonzero(names == feature)[0])
    return check_integer("feature", feature, 0, model.n_features_in_ - 1)


def _name(model: Any, column: int) -> str:
    names = getattr(model, "feature_names_in_", None)
    return f"x[{column}]" if names is None else str(names[column])


def _outputs(
    model: Any, heights: NDArray[np.float64], label: Any, target: int | None
) -> list[tuple[str, NDArray[np.float64]]]:
    """Names with heights of the rows: one pair, or one for each class or target."""
    classes = getattr(model, "classes_", np.zeros(0)).tolist()
    if not classes and label is None:
        return _targets(heights.reshape(len(heights), -1), target)
    if target is not None:
        raise ValueError(f"target={target!r} is for models of several targets; classes are chosen by label=.")
    if label is not None and label not in classes:
        raise ValueError(f"label={label!r} is none of the classes {', '.join(map(repr, classes[:10])) or '(none)'}.")
    if heights.ndim == 1:
        second = label is None or label == classes[1]
        return [(repr(classes[1] if second else classes[0]), heights if second else -heights)]
    if label is not None:
        index = classes.index(label)
        return [(repr(label), heights[:, index])]
    if len(classes) > len(COLOURS):
        raise ValueError(
            f"The model has {len(classes)} classes, and a picture has colors for {len(COLOURS)}: choose one by label=."
        )
    return [(repr(one), heights[:, index]) for index, one in enumerate(classes)]


def _targets(heights: NDArray[np.float64], target: int | None) -> list[tuple[str, NDArray[np.float64]]]:
    n_targets = heights.shape[1]
    if target is not None:
        check_integer("target", target, 0, n_targets - 1)
    elif n_targets > len(COLOURS):
        raise ValueError(
            f"The model has {n_targets} targets, and a picture has colors for {len(COLOURS)}: choose one by target=."
        )
    chosen = range(n_targets) if target is None else [target]
    return [("" if n_targets == 1 else f"target {index}", heights[:, index]) for index in chosen]


def _set_positions(ax: Axes, values: NDArray[np.float64], categories: Any) -> NDArray[np.float64]:
    """Horizontal positions of the points; sets ticks and their names."""
    missing = np.isnan(values)
    if categories is None:
        if not missing.any():
            return values
        low, high = (values[~missing].min(), values[~missing].max()) if not missing.all() else (0.0, 0.0)
        away = high + 0.12 * ((high - low) or 1.0)
        ticks = [tick for tick in ax.xaxis.get_major_locator().tick_values(low, high) if low <= tick <= high]
        ax.set_xticks([*ticks, away], [*(f"{tick:g}" for tick in ticks), "missing"])
        ax.axvline(high + 0.06 * ((high - low) or 1.0), color=FAINT, linewidth=0.8, linestyle=":")
        return np.where(missing, away, values)
    names = [str(known) for known in categories]
    if missing.any():
        names.append("missing\nor unknown")
    ax.set_xticks(
        range(len(names)), names, rotation=0 if len(names) <= 6 else 45, ha="center" if len(names) <= 6 else "right"
    )
    verbatim(ax.get_xticklabels())
    ax.set_xlim(-0.6, len(names) - 0.4)
    positions = np.where(missing, len(categories), values)
    spread = np.zeros(len(positions))
    for position in np.unique(positions):
        here = np.flatnonzero(positions == position)
        # Multiples of the golden ratio fill the width evenly, however many rows there are.
        spread[here] = SPREAD * (2.0 * np.modf(np.arange(1, len(here) + 1) * 0.6180339887498949)[0] - 1.0)
    return np.asarray(positions + spread)


def _draw_means(ax: Axes, x: NDArray[np.float64], heights: NDArray[np.float64], color: str) -> None:
    positions = np.rint(x)
    for position in np.unique(positions):
        mean = float(heights[positions == position].mean())
        ax.hlines(mean, position - 0.36, position + 0.36, color=color, linewidth=2.0, zorder=3)
