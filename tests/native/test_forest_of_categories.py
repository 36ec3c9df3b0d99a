"""Forests whose nodes split by categories: what they answer, and which parts they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import _native


def broken_forest(**changes: Any) -> Any:
    parts = {
        "offsets": [0, 1, 4],
        "feature": [-1, 0, -1, -1],
        "threshold": [0.0] * 4,
        "left": [0, 1, 0, 0],
        "missing_left": [0] * 4,
        "value": [1.0, 0.0, 1.0, -1.0],
        "nodes": [1],
        "sets": [5, 0, 0, 1 << 62],
        **changes,
    }
    return _native.Forest(
        np.array(parts["offsets"], dtype=np.int64),
        np.array(parts["feature"], dtype=np.int32),
        np.array(parts["threshold"], dtype=float),
        np.array(parts["left"], dtype=np.int32),
        np.array(parts["missing_left"], dtype=np.uint8),
        np.array(parts["value"], dtype=float),
        1,
        1,
        np.array(parts["nodes"], dtype=np.int64),
        np.array(parts["sets"], dtype=np.uint64),
    )


def test_a_forest_with_sets() -> None:
    X = np.array([[0.0], [1.0], [2.0], [254.0], [253.0], [np.nan]])
    scores = broken_forest().scores(X, np.array([10.0, 1.0]), 1)
    assert (scores - 10).tolist() == [1, -1, 1, 1, -1, -1]


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes": []},
        {"nodes": [1, 1], "sets": [0] * 8},
        {"nodes": [2]},
        {"nodes": [0]},
        {"nodes": [4]},
        {"nodes": [-1]},
        {"nodes": [2**62]},
        {"sets": [5, 0, 0]},
        {"sets": []},
        {"sets": [0] * 8},
    ],
    ids=str,
)
def test_broken_sets_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="categories"):
        broken_forest(**changes)
