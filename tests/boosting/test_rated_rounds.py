"""Rounds made in the native core are those that `CoordinateDescent` makes itself, to the last bit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from boosting_cases import everything
from radboost import DeepBoostClassifier
from radboost.boosting.coordinate import CoordinateDescent
from radboost.trees import TreeOptions


def two_classes() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True)


def ten_classes() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def with_categories() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 9, 300), rng.integers(0, 5, 300), rng.normal(size=(300, 3))])
    return X, (X[:, 0] % 3 == 1) ^ (X[:, 2] > 0)


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "two classes": (two_classes, {}),
    "best thresholds": (two_classes, {"thresholds": "best", "max_features": None}),
    "best first": (two_classes, {"growth": "best_first", "max_leaves": 8}),
    "monotone": (two_classes, {"monotonic_constraints": [1] * 5 + [0] * 25}),
    "exponential": (two_classes, {"loss": "exponential"}),
    "an L1 penalty": (two_classes, {"l1_penalty": 0.05}),
    "rounds without a step": (two_classes, {"complexity_penalty": 0.05, "n_rounds": 120}),
    "no step at all": (two_classes, {"complexity_penalty": 5.0}),
    "no penalty": (two_classes, {"complexity_penalty": 0.0}),
    "sampled rows": (two_classes, {"subsample": 0.5}),
    "ten classes": (ten_classes, {}),
    "compsum": (ten_classes, {"objective": "compsum"}),
    "categories": (with_categories, {"categorical_features": [0, 1]}),
}


@pytest.mark.parametrize("case", CASES)
def test_native_rounds_are_those_of_python(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data, given = CASES[case]
    given = dict(given)
    options = {name: given.pop(name) for name in list(given) if name in TreeOptions.__dataclass_fields__}
    parameters = {"n_rounds": 40, "learning_rate": 0.1, "complexity_penalty": 0.01, "calibration": None, **given}
    estimator = DeepBoostClassifier(**parameters, tree_options=TreeOptions(leaves="rated", **options))
    X, y = make_data()
    made_at_once = []
    next_made = CoordinateDescent._next_made

    def counted(self: CoordinateDescent, round_index: int) -> Any:
        steps = next_made(self, round_index)
        made_at_once.append(len(self._made))
        return steps

    with monkeypatch.context() as patched:
        patched.setattr(CoordinateDescent, "_next_made", counted)
        native = estimator.fit(X, y)
        facts = everything(native)
    assert max(made_at_once) > 0 or not len(native.ensemble_)
    monkeypatch.setattr(CoordinateDescent, "_native_rounds", lambda self: None)
    assert everything(estimator.fit(X, y)) == facts


def test_validation_rows_and_callbacks_see_each_round() -> None:
    X, y = two_classes()
    seen: list[int] = []
    callback = SimpleNamespace(on_round_end=lambda context: seen.append(len(context.ensemble)))
    estimator = DeepBoostClassifier(30, learning_rate=0.1, complexity_penalty=0.001, calibration=None)
    estimator.tree_options = TreeOptions(leaves="rated")
    objectives, scores = estimator.fit(X, y).history_["objective"], estimator.decision_function(X)
    watched = estimator.fit(X, y, X_val=X[::3], y_val=y[::3], callbacks=[callback])
    assert seen == list(range(1, 31))
    assert len(watched.history_["validation_loss"]) == 30
    assert watched.history_["objective"] == objectives
    np.testing.assert_array_equal(watched.decision_function(X), scores)
