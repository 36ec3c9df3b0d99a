"""Trees as coordinates: which two are the same hypothesis up to sign."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from radboost import DeepBoostClassifier
from radboost.trees import Tree


def tree(**changes: Any) -> Tree:
    """Two layers: x0 <= 0, then x1 <= 0 on the left and x1 <= 1 on the right."""
    arrays = {
        "feature": [0, 1, 1, -1, -1, -1, -1],
        "threshold": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        "left": [1, 3, 5, -1, -1, -1, -1],
        "missing_left": [0, 0, 0, 0, 0, 0, 0],
        "value": [0.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0],
        "cover": [8.0, 4.0, 4.0, 2.0, 2.0, 2.0, 2.0],
        "gain": [0.5, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0],
        **changes,
    }
    dtypes = [np.int32, float, np.int32, np.uint8, float, float, float]
    return Tree([np.array(a, dtype=t) for a, t in zip(arrays.values(), dtypes, strict=True)], 2, 3)


def test_a_tree_and_its_mirror_image_are_one_coordinate() -> None:
    mirrored = tree(value=[0.0, 0.0, 0.0, -1.0, 1.0, 1.0, -1.0])
    assert tree().key()[0] == mirrored.key()[0]
    assert tree().key()[1] == -mirrored.key()[1]


def test_what_does_not_change_the_function_does_not_change_the_key() -> None:
    assert tree(cover=[1.0] * 7, gain=[0.0] * 7).key() == tree().key()


@pytest.mark.parametrize(
    "changes",
    [
        {"feature": [1, 1, 1, -1, -1, -1, -1]},
        {"threshold": [0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]},
        {"missing_left": [0, 1, 0, 0, 0, 0, 0]},
        {"value": [0.0, 0.0, 0.0, 1.0, -1.0, -1.0, -1.0]},
        {"left": [1, 5, 3, -1, -1, -1, -1]},
    ],
    ids=lambda c: next(iter(c)),
)
def test_every_other_difference_is_another_coordinate(changes: dict[str, Any]) -> None:
    assert tree(**changes).key()[0] != tree().key()[0]


def test_shape_and_prediction() -> None:
    assert (tree().n_splits, tree().n_nodes, tree().depth) == (3, 7, 2)
    X = np.array([[-1.0, -1.0], [-1.0, 0.5], [1.0, 1.0], [1.0, 2.0], [np.nan, np.nan]])
    assert tree().predict(X).tolist() == [1, -1, -1, 1, 1]
    swapped = tree(left=[1, 5, 3, -1, -1, -1, -1])
    assert swapped.predict(X).tolist() == [-1, 1, 1, -1, -1]
    with pytest.raises(ValueError, match="read-only"):
        tree().threshold[0] = 1.0


def test_a_tree_prints_its_questions_and_answers() -> None:
    """Names, counts and labels; every row gets the answer of the line that it is led to."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"width": rng.normal(size=80), "age": rng.normal(size=80)})
    labels = np.where(frame["width"] > 0, "wide", "narrow")
    model = DeepBoostClassifier(n_rounds=3, max_depth=2).fit(frame, labels)
    tree = model.ensemble_.hypotheses[0]
    lines = str(tree).splitlines()
    assert len(lines) == tree.n_nodes
    assert lines[0].endswith("? (80)")
    assert lines[0].split(" <= ")[0] in ("width", "age")
    answers = [line for line in lines if "?" not in line]
    assert all(re.fullmatch(r" +(yes|no): (\+1: 'wide'|-1: 'narrow') \(\d+\)", line) for line in answers)
    assert sum(int(line.split("(")[1][:-1]) for line in answers) == 80
    assert str(pickle.loads(pickle.dumps(model)).ensemble_.hypotheses[0]) == str(tree)
