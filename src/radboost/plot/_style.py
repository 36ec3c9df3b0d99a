"""Style of all charts, and arguments that several of them take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Okabe and Ito's palette without its yellow: distinct for color-blind readers and in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
INK = "#333333"
FAINT = "#8c8c8c"


def pyplot() -> Any:
    """matplotlib.pyplot; importing it late keeps matplotlib optional."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'radboost.plot draws with matplotlib, which is not installed. Run: pip install "radboost[plot]"'
        ) from error
    return plt


def axes(ax: Axes | None, size: tuple[float, float] = (5.6, 3.8)) -> Axes:
    """Return ``ax`` or the Axes of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax


def by_name(models: Any | Mapping[str, Any], function: str) -> dict[str, Any]:
    """Models by their names; a single model has the empty name."""
    if not isinstance(models, Mapping):
        return {"": models}
    if not models:
        raise ValueError(f"{function} was given an empty dict; pass at least one model.")
    return {str(name): model for name, model in models.items()}


def in_percent(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def verbatim(texts: Iterable[Text]) -> None:
    """Show names as they are: matplotlib takes text between two dollars for mathematics."""
    for text in texts:
        text.set_parse_math(False)


def tidy(ax: Axes) -> Axes:
    """Remove what carries no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(colors=INK, length=3)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    ax.set_axisbelow(True)
    return ax
