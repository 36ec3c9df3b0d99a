"""Tables with columns of every kind, and bins in a form that can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost.engine import BinnedData
from radboost.trees import RowBlocks

BINS = 31


def described(data: BinnedData) -> list[Any]:
    facts = [data.n_bins().tolist(), data.has_missing().tolist(), data.is_categorical().tolist()]
    return facts + [data.thresholds(column).tobytes() for column in range(data.n_columns)]


def table(m: int, dtype: Any = np.float64) -> np.ndarray:
    """Columns of many values, of few, of one, of none; missing values in some; zeros of both signs; categories."""
    rng = np.random.default_rng(m)
    X = np.column_stack(
        [
            rng.normal(size=m),
            np.floor(rng.normal(size=m) * 300.0),
            rng.integers(0, 20, m) / 4.0,
            np.full(m, 7.0),
            np.full(m, np.nan),
            np.where(rng.random(m) < 0.3, -0.0, rng.normal(size=m)),
            rng.integers(0, 9, m),
            rng.integers(0, 40, m) * 1e-3,
        ]
    ).astype(dtype)
    X[rng.random(m) < 0.1, 1] = np.nan
    X[0, 2] = np.nan  # one worker alone has a missing value here
    return X


def weights_of(kind: str, m: int) -> np.ndarray | None:
    rng = np.random.default_rng(7)
    if kind == "none":
        return None
    return rng.integers(1, 5, m).astype(float) if kind == "whole" else rng.integers(1, 50, m) / 7.0


class Loaded(RowBlocks):
    """Blocks of a matrix, copied every time; every other one column after column."""

    def __init__(self, X: np.ndarray, ends: list[int]) -> None:
        self.blocks = np.split(X, ends)
        self.loads = [0] * len(self.blocks)
        super().__init__([len(block) for block in self.blocks], X.shape[1], X.dtype)

    def load(self, block: int) -> np.ndarray:
        self.loads[block] += 1
        return np.array(self.blocks[block], order="FC"[block % 2])
