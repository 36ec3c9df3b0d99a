"""Probabilities Q(k | x) of sources along the first principal component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from radboost.estimators import MultiSourceBoostClassifier
from radboost.plot._style import COLOURS, axes, tidy, verbatim
from radboost.rows.read import read_matrix
from radboost.rows.sources import ids_among, read_sources

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sources(model: Any, X: Any, sources: Any, ax: Axes | None = None, *, bins: int = 20) -> Axes:
    """Draw the mean of Q(k | x) over the rows of each source k, along the first principal component of all rows.

    Storcheus (2021), Figures 4.3 and B.2. A line near 1 says that the hypotheses of the source speak almost alone
    there; where lines are low, sources overlap, and share the hypotheses of each other.

    Parameters
    ----------
    model : fitted MultiSourceBoostClassifier
    X, sources : array-like
        Rows and the source of each, usually those of the training set.
    bins : int
        Intervals of the component, with equally many rows each.
    """
    if not isinstance(model, MultiSourceBoostClassifier):
        raise TypeError(f"Expected a fitted MultiSourceBoostClassifier, got {model!r}.")
    check_is_fitted(model)
    probabilities = model.source_probabilities(X)
    names = model.source_names_
    ids = ids_among(read_sources(sources, len(probabilities)), names, "sources")
    scores = _first_component(read_matrix(model, X, model.ensemble_.categories))
    edges = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, bins + 1)))
    box = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, max(len(edges) - 2, 0))
    ax = axes(ax)
    for source, name in enumerate(names.tolist()):
        own = ids == source
        used = np.unique(box[own])
        middles = [float(scores[own & (box == b)].mean()) for b in used]
        means = [float(probabilities[own & (box == b), source].mean()) for b in used]
        color = COLOURS[source % len(COLOURS)]
        ax.plot(middles, means, color=color, linewidth=1.8, marker="o", markersize=3, label=str(name))
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel("first principal component")
    ax.set_ylabel("mean of Q(k | x), rows of source k")
    verbatim(ax.legend(frameon=False).get_texts())
    tidy(ax)
    return ax


def _first_component(matrix: Any) -> NDArray[np.float64]:
    """First principal component of standardized columns; sparse rows are not centered."""
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    if sparse.issparse(matrix):
        return np.asarray(TruncatedSVD(2, random_state=0).fit_transform(matrix)[:, 1 if matrix.shape[1] > 1 else 0])
    values = StandardScaler().fit_transform(SimpleImputer().fit_transform(matrix))
    return np.asarray(PCA(1, svd_solver="full").fit_transform(values)[:, 0])
