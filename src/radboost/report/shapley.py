"""Shapley values of some rows, computed once for all sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing as rows_of

from radboost._typing import FloatArray
from radboost.explain.importance import trees_of
from radboost.rows.hashing import Hashes, RowIndices, drawn

MOST_ROWS, FEWEST_ROWS, MOST_PAIRS = 1000, 50, 20_000_000


@dataclass(frozen=True)
class Contributions:
    """Shapley values of some held-out rows, shape (n_rows, n_outputs, n_columns)."""

    rows: RowIndices
    values: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Mean absolute contributions of the columns, over rows and outputs."""
        return np.asarray(np.abs(self.values).mean(axis=(0, 1)))


def contributions(model: Any, X: Any, keys: Hashes, n_outputs: int) -> Contributions | str:
    """Shapley values of rows drawn by content, fewer of a large model; or the reason why there are none."""
    if not hasattr(model, "predict_contributions"):
        return f"{type(model).__name__} has no Shapley values: it is no sum of trees."
    n_nodes = sum(tree.n_nodes for _, tree in trees_of(model.ensemble_))
    most = MOST_PAIRS // max(1, n_outputs * max(n_nodes, X.shape[1]))
    rows = drawn(keys, min(MOST_ROWS, max(FEWEST_ROWS, most)))
    try:
        values = np.asarray(model.predict_contributions(rows_of(X, rows)))[..., :-1]
    except TypeError as reason:
        return str(reason)
    return Contributions(rows, values[:, None, :] if values.ndim == 2 else values)
