"""Pictures of sparse models: paths, features in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from radboost._typing import FloatArray
from radboost.plot._style import axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
