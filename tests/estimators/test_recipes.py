"""The recipes of the documents are what they claim to be: their parameters, and descent in every round."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
