"""The recipes of the documents are what they claim to be: their parameters, and descent in every round."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from radboost import DeepBoostClassifier, TreeOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
ROW = re.compile(r"^\| (?P<name>[^|`]+) \| `(?P<recipe>DeepBoostClassifier\.paper\([^`]*\))` \|$", re.MULTILINE)

MULTI_CLASS = ("AdaBoost.MR", "additive multinomial logistic regression")
EXPONENTIAL = ("AdaBoost", "AdaBoost.MR")


def recipes() -> list[tuple[str, bool, str]]:
    """Algorithm, whether it is the L1 version, and the line of Python, in the order of the table."""
    found, algorithm = [], ""
    for row in ROW.finditer(PAGE.read_text(encoding="utf-8")):
        l1 = row["name"] == "its L1 version"
        algorithm = algorithm if l1 else row["name"]
        found.append((algorithm, l1, row["recipe"]))
    return found


RECIPES = recipes()


def build(recipe: str) -> DeepBoostClassifier:
    return eval(recipe, {"DeepBoostClassifier": DeepBoostClassifier, "TreeOptions": TreeOptions})


def ids(recipe: tuple[str, bool, str]) -> str:
    return recipe[0] + (" L1" if recipe[1] else "")


def test_the_page_has_all_of_them() -> None:
    named = [(algorithm, l1) for algorithm, l1, _ in RECIPES]
    algorithms = ["AdaBoost", "additive logistic regression", *MULTI_CLASS]
    assert named == [(algorithm, l1) for algorithm in algorithms for l1 in (False, True)]


@pytest.mark.parametrize("recipe", RECIPES, ids=ids)
def test_parameters_are_those_of_the_algorithm(recipe: tuple[str, bool, str]) -> None:
    algorithm, l1, text = recipe
    model = build(text)
    assert model.complexity_penalty == 0.0
    assert (model.l1_penalty > 0.0) == l1
    assert model.loss == ("exponential" if algorithm in EXPONENTIAL else "logistic")
    # The papers' search: everything, on all rows, by the edge, with whole steps.
    options = model.tree_options
    assert (model.learning_rate, model.subsample, options.max_features) == (1.0, 1.0, None)
    assert (options.thresholds, options.split_criterion, model.step) == ("best", "edge", "closed_form")
    if algorithm in MULTI_CLASS:
        assert model.objective == ("sum" if algorithm == "AdaBoost.MR" else "compsum")
        assert model.tree_options.growth == "best_first"


@pytest.mark.parametrize("recipe", RECIPES, ids=ids)
@pytest.mark.parametrize("family", ["trees", "stumps"])
def test_descent(recipe: tuple[str, bool, str], family: str) -> None:
    algorithm, _, text = recipe
    X, y = (load_digits if algorithm in MULTI_CLASS else load_breast_cancer)(return_X_y=True)
    model = build(text).set_params(n_rounds=25, family=family, max_depth=3).fit(X, y)
    objective = np.array(model.history_["objective"])
    assert np.all(np.diff(objective) < 1e-14)
    penalty = model.l1_penalty * np.abs(model.ensemble_.weights).sum()
    assert objective[-1] == pytest.approx(mean_loss(model, X, y) + penalty, rel=1e-10)


def mean_loss(model: DeepBoostClassifier, X: Any, y: Any) -> float:
    """By the definitions: equation (4) of Deep Boosting; (7) and (9) of Multi-Class Deep Boosting."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        losses = np.exp(1 - np.where(y == 1, scores, -scores))
        return float(np.mean(losses if model.loss == "exponential" else np.log2(1 + losses)))
    terms = np.exp(1 - scores[np.arange(len(y)), y][:, None] + scores)
    terms[np.arange(len(y)), y] = 0.0
    total = terms.sum(axis=1)
    return float(np.mean(total if model.objective_ == "sum" else np.log2(1 + total)))
