"""Constraints on columns, kept by whole models: monotone predictions, and which columns stand together in a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from radboost import DeepBoostClassifier, TreeOptions
from radboost.families import KernelFamily, StumpPairs, Stumps, Trees
from reference.data import smooth_classes

SETTINGS: dict[str, dict[str, Any]] = {
    "votes, drawn thresholds": {"leaves": "votes", "thresholds": "random"},
    "votes, best thresholds": {"leaves": "votes", "thresholds": "best", "max_features": None},
    "numbers, drawn thresholds": {"leaves": "rated", "thresholds": "random"},
    "numbers, best thresholds": {"leaves": "rated", "thresholds": "best"},
    "best first by the edge": {
        "growth": "best_first",
        "max_leaves": 12,
        "split_criterion": "edge",
        "thresholds": "best",
    },
}


def wavy(seed: int, m: int = 500, missing: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose classes rise and fall with every column, with missing values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 4)), 1)
    score = np.sin(3 * X[:, 0]) + 0.6 * X[:, 0] - np.abs(X[:, 1]) + X[:, 2] * X[:, 3] + 0.4 * rng.normal(size=m)
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.where(score > np.median(score), "yes", "no")


def assert_monotone(model: Any, X: np.ndarray, directions: dict[int, int], seed: int = 0) -> None:
    """Scores and probabilities along a grid, whatever the other columns hold, missing values among them."""
    rng = np.random.default_rng(seed)
    line = np.concatenate([[-1e9], np.linspace(-4, 4, 161), [1e9]])
    for _ in range(25):
        base = np.array([rng.choice(X[:, c]) for c in range(X.shape[1])])
        for column, direction in directions.items():
            rows = np.tile(base, (len(line), 1))
            rows[:, column] = line
            for values in (model.decision_function(rows), model.predict_proba(rows)[:, 1]):
                assert (direction * np.diff(values) >= 0).all()


@pytest.mark.parametrize(
    "step", [{"learning_rate": 0.3}, {"learning_rate": 1.0, "step": "line_search"}], ids=["damped", "whole"]
)
@pytest.mark.parametrize("setting", SETTINGS)
def test_two_classes_are_monotone_and_descend(setting: str, step: dict[str, Any]) -> None:
    X, y = wavy(1)
    trees = TreeOptions(monotonic_constraints={0: 1, 1: -1}, **SETTINGS[setting])
    common: dict[str, Any] = {"max_depth": 5, "complexity_penalty": 0.003, "subsample": 0.8, **step}
    model = DeepBoostClassifier(25, tree_options=trees, **common).fit(X, y)
    assert_monotone(model, X, {0: 1, 1: -1})
    assert (model.ensemble_.weights >= 0.0).all()
    objective = np.array(model.history_["objective"])
    assert (np.diff(objective) <= 1e-12).all()
    assert objective[-1] < 0.97 * objective[0]
    free = DeepBoostClassifier(25, tree_options=TreeOptions(**SETTINGS[setting]), **common).fit(X, y)
    with pytest.raises(AssertionError):
        assert_monotone(free, X, {0: 1, 1: -1})
    for tree in model.ensemble_.hypotheses:  # each by itself, and no weight is negative
        for column, direction in ((0, 1), (1, -1)):
            rows = np.tile(X[3], (81, 1))
            rows[:, column] = np.linspace(-4, 4, 81)
            assert (direction * np.diff(tree.predict(rows)) >= 0).all()


@pytest.mark.parametrize("family", [Stumps(), StumpPairs(), [Trees(2), Stumps()]], ids=["stumps", "pairs", "both"])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_algorithm_of_the_paper_with_constraints(family: Any, loss: str) -> None:
    """Whole steps revise weights again and again: a mirror image must shrink a weight and not turn it round."""
    X, y = wavy(2, m=200)
    options = TreeOptions(monotonic_constraints=[1, -1, 0, 0])
    model = DeepBoostClassifier.paper(60, family=family, loss=loss, tree_options=options).fit(X, y)
    assert (model.ensemble_.weights > 0.0).all()
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert_monotone(model, X, {0: 1, 1: -1})


def test_a_flawless_tree_the_wrong_way_round_gets_no_weight() -> None:
    """All rows speak against the constraint: nothing but constants is left, and no weight is below zero."""
    X, y = np.arange(40.0)[:, None], np.arange(40) < 15
    options = TreeOptions(monotonic_constraints=[1])
    model = DeepBoostClassifier.paper(10, family="stumps", tree_options=options).fit(X, y)
    assert (model.ensemble_.weights >= 0.0).all()
    assert np.ptp(model.decision_function(X)) == 0.0


def test_the_look_keeps_constraints() -> None:
    X, y = wavy(3, m=1500)
    options = TreeOptions(monotonic_constraints={0: 1})
    model = DeepBoostClassifier(30, tree_options=options).fit(X, y)
    assert_monotone(model, X, {0: 1})


def test_constraints_that_hold_anyway_cost_little() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 3))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=1000) > 0
    common: dict[str, Any] = {"n_rounds": 60, "complexity_penalty": 0.003, "max_depth": 3, "learning_rate": 0.3}
    scores = [
        DeepBoostClassifier(tree_options=TreeOptions(monotonic_constraints=given), **common)
        .fit(X[:500], y[:500])
        .score(X[500:], y[500:])
        for given in (None, {0: 1, 1: -1})
    ]
    assert scores[1] > scores[0] - 0.01


def test_what_deepboost_refuses() -> None:
    X, y = wavy(4, m=80, missing=0.0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = DeepBoostClassifier(4, complexity_penalty=0.0, tree_options=TreeOptions(monotonic_constraints={"b": -1}))
    by_list = DeepBoostClassifier(
        4, complexity_penalty=0.0, tree_options=TreeOptions(monotonic_constraints=[0, -1, 0, 0])
    )
    np.testing.assert_array_equal(
        by_name.fit(frame, y).decision_function(frame), by_list.fit(frame, y).decision_function(frame)
    )
    for wrong, message in (
        ({"z": 1}, "names the column 'z'"),
        ([1, 0], "for each of the 4 columns"),
        ([2, 0, 0, 0], "-1, 0 or 1; got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            DeepBoostClassifier(2, tree_options=TreeOptions(monotonic_constraints=wrong)).fit(frame, y)
    with pytest.raises(ValueError, match="more classes"):
        DeepBoostClassifier(2, tree_options=TreeOptions(monotonic_constraints=[1, 0, 0, 0, 0])).fit(*smooth_classes(1))
    with pytest.raises(ValueError, match=r"for trees, and the family KernelFamily.*Take family"):
        DeepBoostClassifier(
            2, family=["trees", KernelFamily()], tree_options=TreeOptions(monotonic_constraints={0: 1})
        ).fit(X, y)
    frame["a"] = pd.Categorical(np.where(X[:, 0] > 0, "x", "y"))
    with pytest.raises(ValueError, match="categorical"):
        DeepBoostClassifier(2, tree_options=TreeOptions(monotonic_constraints={"a": 1})).fit(frame, y)
    warm = DeepBoostClassifier(
        2, complexity_penalty=0.0, warm_start=True, tree_options=TreeOptions(monotonic_constraints={"b": 1})
    ).fit(frame, y)
    with pytest.raises(ValueError, match="other monotonic_constraints"):
        warm.set_params(n_rounds=3, tree_options=None).fit(frame, y)
