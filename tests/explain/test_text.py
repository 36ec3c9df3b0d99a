"""Whole models in words. The text of a model is read back, and must say what the model says."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from hand_made import fitted, random_ensemble
from properties.hooks import with_sources
from radboost import (
    DeepBoostClassifier,
    KernelFamily,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    SupervisedKernelProjection,
    TreeOptions,
)
from radboost.baselines import MartiBoostClassifier
from radboost.trees.describe import number_text
from reference.data import smooth

X, Y = smooth(0, m=120, d=5)


def score_by_text(text: str, row: dict[str, Any]) -> float:
    """f(x) of a model with one output, by nothing but its words."""
    total = 0.0
    for part in text.split("\n\n")[1:]:
        head, *lines = part.split("\n")
        total += float(head.split(" times ")[0]) * walked(lines, row)
    return total


def walked(lines: list[str], row: dict[str, Any]) -> float:
    """The answer of a tree whose questions are indented lines."""
    place, depth = 0, 1
    while True:
        text = re.sub(r"^(yes|no): ", "", lines[place].strip())
        asked = re.fullmatch(r"(.*)\? \([\d.e+]+\)", text)
        if asked is None:
            return float(re.match(r"[-+][\d.e-]+", text)[0])
        word = "yes" if is_true(asked[1], row) else "no"
        depth += 1
        below = [k for k in range(place + 1, len(lines)) if lines[k].startswith("  " * depth + f"{word}: ")]
        place = below[0]


def is_true(question: str, row: dict[str, Any]) -> bool:
    missing_too = question.endswith(" or missing")
    question = question.removesuffix(" or missing")
    if question.endswith(" is not missing"):
        return row[question.removesuffix(" is not missing")] == row[question.removesuffix(" is not missing")]
    if " in {" in question:
        name, known = question.removesuffix("}").split(" in {")
        value = row[name]
        return missing_too if value is None else value in known.split(", ")
    name, threshold = question.split(" <= ")
    value = row[name]
    return missing_too if np.isnan(value) else value <= float(threshold)


@pytest.mark.parametrize("leaves", ["votes", "rated"])
def test_the_text_says_what_the_model_says(leaves: str) -> None:
    """Values are whole numbers, and thresholds between them survive rounding."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.integers(0, 20, 200).astype(float), "size": rng.integers(0, 9, 200).astype(float)})
    rows.loc[::7, "size"] = np.nan
    rows["town"] = rng.choice([f"town {k}" for k in range(12)], 200)
    labels = np.where((rows["age"] > 9) ^ rows["town"].isin([f"town {k}" for k in range(6)]), "yes", "no")
    model = DeepBoostClassifier(
        n_rounds=15, complexity_penalty=0.001, categorical_features=["town"], tree_options=TreeOptions(leaves=leaves)
    ).fit(rows, labels)
    text = model.to_text()
    assert "f(x) > 0 speaks for 'yes', f(x) <= 0 for 'no'." in text
    told = [score_by_text(text, row) for row in rows.to_dict("records")]
    np.testing.assert_allclose(told, model.decision_function(rows), atol=0.02 * np.abs(model.ensemble_.weights).sum())
    assert np.mean((np.array(told) > 0) == (model.decision_function(rows) > 0)) > 0.99
    assert " more" not in text  # all categories are there


def test_every_hypothesis_is_there_the_largest_weight_first() -> None:
    model = DeepBoostClassifier(n_rounds=12).fit(X, Y)
    places = [int(found) for found in re.findall(r"times hypothesis (\d+)", model.to_text())]
    assert sorted(places) == list(range(len(model.ensemble_)))
    sizes = np.abs(model.ensemble_.weights)[places]
    assert (np.diff(sizes) <= 0).all()
    short = model.to_text(max_trees=2)
    assert short.count("times hypothesis") == 2
    assert f"... and {len(model.ensemble_) - 2} hypotheses with smaller weights." in short
    assert "smaller weights" not in model.to_text(max_trees=1000)
    assert model.to_text(max_trees=0).count("times hypothesis") == 0


def test_names_of_classes() -> None:
    rows, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    text = DeepBoostClassifier(n_rounds=5, tree_options=TreeOptions(leaves="votes")).fit(rows, labels).to_text()
    assert "petal" in text
    assert "'virginica'" in text
    assert "class with the largest f(x)" in text
    numbers = RGBClassifier(n_rounds=3).fit(rows, labels).to_text()
    assert "in the order 'setosa', 'versicolor', 'virginica'" in numbers
    ten = RGBClassifier(n_rounds=3).fit(rows, np.arange(150) % 10).to_text()
    assert "..." not in ten


def test_models_that_are_no_sums_of_trees() -> None:
    kernel = DeepBoostClassifier(n_rounds=3, family=KernelFamily(n_centres=10), complexity_penalty=0.0).fit(X, Y)
    assert "hypothesis 0: " in kernel.to_text()
    marti = MartiBoostClassifier(n_rounds=3, max_leaves=4).fit(X, Y).to_text()
    assert marti.count("right with probability") == 6
    assert "layers" in marti
    assert "x[0] <=" in marti
    sourced = with_sources(MultiSourceBoostClassifier(n_rounds=4)).fit(X, Y).to_text()
    assert "times Q(0 | x)" in sourced or "times Q(1 | x)" in sourced
    mixed = fitted(random_ensemble(0, 3), ["a", "b", "c"])
    assert mixed.to_text().count("times hypothesis") == len(mixed.ensemble_)


def test_formulas() -> None:
    model = SparseBoostClassifier(alpha=0.01).fit(X, Y)
    lines = model.to_text().split("\n")
    assert lines[0] == f"f(x) = {model.intercept_[0]:.4g}"
    assert len(lines) == 1 + model.n_features_used_
    assert "terms with smaller weights" in model.to_text(max_trees=1)
    trees = SparseBoostClassifier(alpha=0.05, family="trees", features_per_round=2, tol=0.03).fit(X, Y)
    assert "times the tree\n    x[" in trees.to_text()


def test_empty_models_and_bad_arguments() -> None:
    with pytest.warns(UserWarning, match="empty"):
        empty = DeepBoostClassifier(n_rounds=3, complexity_penalty=100.0).fit(X, Y)
    assert empty.to_text() == "f(x) = 0: the model is empty."
    with pytest.raises(ValueError, match="max_trees"):
        empty.to_text(max_trees=-1)
    constant = RGBRegressor(n_rounds=2).fit(np.zeros((20, 2)), np.arange(20.0))
    assert constant.to_text()
    assert not hasattr(SupervisedKernelProjection, "to_text")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10585.5, "10,586"),
        (226802.0, "226,802"),
        (1382.25, "1,382"),
        (1484705.0, "1,484,705"),
        (-4356.25, "-4,356"),
        (0.123456, "0.1235"),
        (0.0000123456, "0.00001235"),
        (1e-7, "1e-07"),
        (3e20, "3e+20"),
        (math.inf, "inf"),
    ],
)
def test_numbers_in_words_are_no_powers_of_ten(value: float, text: str) -> None:
    assert number_text(value) == text
