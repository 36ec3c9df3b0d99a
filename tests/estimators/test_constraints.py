"""Constraints on columns, kept by whole models: monotone predictions, and which columns stand together in a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import radboost
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor, TreeFamilies, TreeOptions
from radboost.families import KernelFamily, StumpPairs, Stumps, Trees
from reference.constraints import groups_of
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


def test_what_deepboost_refuses() -> None:
    X, y = wavy(4, m=80, missing=0.0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    kinds = frame.assign(a=pd.Categorical(np.where(X[:, 0] > 0, "x", "y")))

    def model(given: Any, **more: Any) -> DeepBoostClassifier:
        options = TreeOptions(monotonic_constraints=given)
        return DeepBoostClassifier(4, complexity_penalty=0.0, tree_options=options, **more)

    by_name, by_list = (model(given).fit(frame, y).decision_function(frame) for given in ({"b": -1}, [0, -1, 0, 0]))
    np.testing.assert_array_equal(by_name, by_list)
    for refused, rows, message in (
        (model({"z": 1}), (frame, y), "names the column 'z'"),
        (model([1, 0]), (frame, y), "for each of the 4 columns"),
        (model([2, 0, 0, 0]), (frame, y), "-1, 0 or 1; got 2"),
        (model([1, 0, 0, 0, 0]), smooth_classes(1), "more classes"),
        (
            model({0: 1}, family=["trees", KernelFamily()]),
            (X, y),
            "for trees, and the family KernelFamily.*Take family",
        ),
        (model({"a": 1}), (kinds, y), "categorical"),
    ):
        with pytest.raises(ValueError, match=message):
            refused.fit(*rows)
    warm = model({"b": 1}, warm_start=True).fit(kinds, y)
    with pytest.raises(ValueError, match="whose monotonic_constraints was"):
        warm.set_params(n_rounds=5, tree_options=None).fit(kinds, y)


def paths_of(model: Any) -> list[frozenset[int]]:
    """The columns on the way to every leaf of every tree."""
    found = []
    for tree in model.ensemble_.hypotheses:
        waiting = [(0, frozenset[int]())]
        while waiting:
            node, asked = waiting.pop()
            if tree.feature[node] < 0:
                found.append(asked)
                continue
            below = asked | {int(tree.feature[node])}
            waiting += [(int(tree.left[node]), below), (int(tree.left[node]) + 1, below)]
    return found


def products(seed: int, n_classes: int, m: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Targets of which products of columns say most, for as many classes, or numbers for 0."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, 6)), 1)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 4] + X[:, 5] + 0.1 * rng.normal(size=m)
    return X, y if n_classes == 0 else np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))


MAKERS: dict[str, tuple[Any, int]] = {
    "deep, votes": (lambda **o: DeepBoostClassifier(8, complexity_penalty=0.0, tree_options=TreeOptions(**o)), 2),
    "deep, numbers": (
        lambda **o: DeepBoostClassifier(8, complexity_penalty=0.0, tree_options=TreeOptions(leaves="rated", **o)),
        3,
    ),
    "deep, paper": (lambda **o: DeepBoostClassifier.paper(6, max_depth=4, tree_options=TreeOptions(**o)), 2),
    "rgb, classes": (lambda **o: RGBClassifier(8, tree_options=TreeOptions(min_leaf_weight=1.0, **o)), 3),
    "rgb, numbers": (lambda **o: RGBRegressor(8, tree_options=TreeOptions(min_leaf_weight=1.0, **o)), 0),
    "rgb, drawn": (
        lambda **o: RGBRegressor(8, tree_options=TreeOptions(max_features=2, thresholds="random", **o)),
        0,
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_path_keeps_to_one_group(name: str) -> None:
    make, n_classes = MAKERS[name]
    X, y = products(1, n_classes)
    free = set(paths_of(make().fit(X, y)))
    together: set[frozenset[int]] = set()
    for seed in range(6):
        groups = groups_of(np.random.default_rng(seed), 6)
        asked = paths_of(make(interaction_constraints=groups).fit(X, y))
        assert all(any(path <= set(group) for group in groups) for path in asked)
        together.update(asked)
    assert any(len(path) > 1 for path in together)  # groups do not make stumps of trees
    for given, most in (("pairwise", 2), ("no_interactions", 1)):
        found = {len(path) for path in paths_of(make(interaction_constraints=given).fit(X, y))}
        assert max(found) == most < max(map(len, free))


@pytest.mark.parametrize("name", MAKERS)
def test_one_group_of_all_columns_is_no_constraint(name: str) -> None:
    make, n_classes = MAKERS[name]
    X, y = products(2, n_classes, m=200)
    plain = make().fit(X, y)
    for given in ([list(range(6))], [], [list(range(6)), [0, 1]]):
        model = make(interaction_constraints=given).fit(X, y)
        assert model.ensemble_.hypotheses == plain.ensemble_.hypotheses
        np.testing.assert_array_equal(model.ensemble_.weights, plain.ensemble_.weights)


def test_without_interactions_a_model_is_a_sum_over_columns() -> None:
    """f(x) + f(z) = f(x with a column of z) + f(z with that column of x), for any rows and any column."""
    X, y = products(3, 0)
    options = TreeOptions(interaction_constraints="no_interactions")
    model = RGBRegressor(60, family=TreeFamilies(sizes=(16,)), tree_options=options).fit(X, y)
    one, other = X[:100], X[100:200]
    for column in range(6):
        left, right = one.copy(), other.copy()
        left[:, column], right[:, column] = other[:, column], one[:, column]
        np.testing.assert_allclose(
            model.predict(one) + model.predict(other), model.predict(left) + model.predict(right), atol=1e-9
        )


def test_groups_by_name_unlisted_columns_and_what_is_refused(tmp_path: Any) -> None:
    X, y = products(4, 0, m=200)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    made = [
        RGBRegressor(5, tree_options=TreeOptions(interaction_constraints=given)).fit(frame, y)
        for given in ([["a", "b"], ["b", "c"]], [[1, 0], (2, 1), [3, 4, 5]], [["a", 1], {"c", "b"}, ["f", "e", "d"]])
    ]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0].predict(frame), other.predict(frame))
    made[0].save(tmp_path / "model")
    loaded = radboost.load(tmp_path / "model")
    assert loaded.tree_options.interaction_constraints == [["a", "b"], ["b", "c"]]
    for wrong, message in (
        ([["a", "z"]], "interaction_constraints names the column 'z'"),
        ([[0, 6]], "names the column 6; X has the columns 0 to 5"),
        ([[0, -1]], "names the column -1"),
        ([0, 1], r'"pairwise", "no_interactions" or a list of groups of columns.*got \[0, 1\]'),
        ("none", 'must be "pairwise"'),
        ([[]], 'must be "pairwise"'),
    ):
        for estimator in (RGBRegressor(2), DeepBoostClassifier(2)):
            with pytest.raises(ValueError, match=message):
                estimator.set_params(tree_options=TreeOptions(interaction_constraints=wrong)).fit(frame, y > 0)
    with pytest.raises(ValueError, match="interaction_constraints are for trees"):
        DeepBoostClassifier(2, family="kernel", tree_options=TreeOptions(interaction_constraints="pairwise")).fit(
            frame, y > 0
        )
    warm = made[0].set_params(warm_start=True, n_rounds=6, tree_options=TreeOptions(interaction_constraints="pairwise"))
    with pytest.raises(ValueError, match="whose interaction_constraints was"):
        warm.fit(frame, y)


def test_both_constraints_together() -> None:
    X, y = wavy(6, missing=0.05)
    options = TreeOptions(monotonic_constraints={0: 1, 1: -1}, interaction_constraints=[[0, 2], [1, 3]])
    model = DeepBoostClassifier(20, complexity_penalty=0.0, learning_rate=0.5, tree_options=options).fit(X, y)
    assert_monotone(model, X, {0: 1, 1: -1})
    assert all(path <= {0, 2} or path <= {1, 3} for path in paths_of(model))
