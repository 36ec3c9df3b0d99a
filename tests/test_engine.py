"""Everything that a fit asks of the native core goes through the engine."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import radboost
from boosting_cases import CASES, everything
from radboost import engine

PACKAGE = Path(radboost.__file__).parent
MADE_BY_THE_ENGINE = {name: made for name, made in vars(engine.Engine).items() if not name.startswith("_")}


class CountingEngine(engine.Engine):
    """The same handles, and how often each was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        for name in MADE_BY_THE_ENGINE:
            setattr(self, name, self._counting(name))

    def _counting(self, name: str) -> Any:
        make = getattr(engine.Engine, name)

        def counting(*arguments: Any, **named: Any) -> Any:
            self.asked[name] += 1
            return make(*arguments, **named)

        return counting


ASKS_FOR = {
    "deep": {"margin_scores", "margin_weighting", "grower", "members", "forest"},
    "deep, 4 classes": {"class_scores", "class_weighting", "grower", "members", "forest"},
    "soft-max": {"softmax_scores", "softmax_pairs", "weighted_trees", "forest"},
    "rgb": {"gradient_scores", "gradient_weighting", "regression_trees", "forest"},
    "samme": {"weighted_trees", "forest"},
    "martiboost": {"weighted_trees", "forest"},
}


@pytest.mark.parametrize("name", ASKS_FOR)
def test_another_engine_makes_everything(name: str) -> None:
    case = CASES[name]
    expected = case.fitted(case.model())
    counting = CountingEngine()
    with engine.use(counting):
        model = case.fitted(case.model())
        model.predict(case.data()[0])
    assert everything(model) == everything(expected)
    assert set(counting.asked) == {"bin", "row_weights", *ASKS_FOR[name]}
    before = counting.asked.copy()
    case.fitted(case.model())
    assert counting.asked == before


def test_no_module_makes_handles_itself() -> None:
    handles = {made.__name__ for made in MADE_BY_THE_ENGINE.values() if isinstance(made, type)} | {"bin_matrix"}
    handles -= {"RowWeights"}  # the wrapper in radboost.rows.weights has the name of what it wraps
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path.name != "engine.py" and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in handles, f"{path.name}:{node.lineno} makes a {node.func.id}"
