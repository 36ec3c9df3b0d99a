"""Families and generators of users that misbehave: an error names the class and says what is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from radboost import (
    DeepBoostClassifier,
    MultiTaskSparseBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
)
from radboost.families import Candidate, Family, Hypothesis, Proposer, ValuesCandidate
from radboost.sparsity import Generator

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=90) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
T = X[:, 0] + 0.1 * RNG.normal(size=90)


@dataclass(frozen=True)
class Sign(Hypothesis):
    column: int
    output: int | None = None
    n_outputs: int = 1
    answer: str = ""

    def values(self, rows: Any, n_threads: int = 1) -> Any:
        values = np.where(rows[:, self.column] > 0, 1.0, -1.0 if self.output is None else 0.0)
        if self.answer == "nan":
            values[0] = np.nan
        if self.answer == "few":
            values = values[:3]
        if self.answer == "other":
            values = -values
        if self.answer == "nan later" and len(rows) < 50:
            values[0] = np.nan
        if self.output is None:
            return values
        return values[:, None] * np.eye(self.n_outputs)[self.output]


class Owned(Candidate):
    """A candidate with an `enter` of its own."""

    real_valued = True

    def __init__(self, hypothesis: Any, predictions: Any, edge: Any, complexity: Any) -> None:
        self._hypothesis, self._stored, self.edge, self.complexity = hypothesis, predictions, edge, complexity

    def hypothesis(self) -> Any:
        return self._hypothesis

    def enter(self, columns: Any) -> int:
        return columns.add_values(np.ascontiguousarray(self._stored, dtype=np.float32))


class SignProposer(Proposer):
    def __init__(self, problem: Any, fault: str) -> None:
        self.problem, self.fault = problem, fault

    def propose(self, round_index: int) -> Any:
        fault, problem = self.fault, self.problem
        if fault in LISTS:
            return LISTS[fault]
        several = problem.n_outputs > 1
        place = 2 if several else None
        hypothesis = Sign(0, place, problem.n_outputs, HYPOTHESES.get(fault, ""))
        rows = problem.X[problem.order]
        values = np.where(rows[:, 0] > 0, 1.0, 0.0 if several else -1.0)
        edges = problem.edges(values[None].astype(np.float32))
        edge: Any = float(edges[0, 2] if several else edges[0])
        values = VALUES.get(fault, lambda values: values)(values)
        edge = edge + 5e-5 if fault == "rounded edge" else edge
        edge, complexity = EDGES.get(fault, edge), COMPLEXITIES.get(fault, 0.1)
        if fault.startswith("owned"):
            return [Owned(hypothesis, values, edge, complexity)]
        if fault == "no key":
            return [ValuesCandidate("text", values, edge, complexity, place)]  # type: ignore[arg-type]
        return [ValuesCandidate(hypothesis, values, edge, complexity, 7 if fault == "class" and several else place)]


LISTS: dict[str, Any] = {"none": None, "no list": 3, "numbers": [1], "text": "abc"}
VALUES: dict[str, Any] = {
    "few values": lambda values: values[:-1],
    "two columns": lambda values: np.column_stack([values, values]),
    "nan values": lambda values: np.where(np.arange(len(values)) == 3, np.nan, values),
    "large values": lambda values: 2.0 * values,
    "text values": lambda values: values.astype(str),
}
EDGES: dict[str, Any] = {
    "nan edge": np.nan, "lying edge": 0.999, "huge edge": 1e9, "text edge": "a", "owned, lying edge": 0.999,
}  # fmt: skip
COMPLEXITIES: dict[str, Any] = {"negative": -1.0, "nan complexity": np.nan, "infinite": np.inf, "no number": None}
HYPOTHESES = {"predicts nan": "nan", "predicts few": "few", "predicts others": "other", "nan later": "nan later"}

EXPECTED = {
    "none": r"SignProposer\.propose must return a list of candidates.*\[\].*got None",
    "no list": r"SignProposer\.propose must return a list of candidates.*got 3",
    "text": r"SignProposer\.propose must return a list of candidates.*got 'abc'",
    "numbers": r"SignProposer\.propose must return candidates, objects with edge, complexity.*among them is 1",
    "few values": r"SignProposer\.propose .*for each of the 90 training rows.*89 numbers",
    "two columns": r"SignProposer\.propose .*for each of the 90 training rows.*shape \(90, 2\)",
    "nan values": r"SignProposer\.propose .*one number in .*nan",
    "large values": r"SignProposer\.propose .*one number in \[(-1|0), 1\].*to 2\.",
    "text values": r"SignProposer\.propose .*one number in .*type <U",
    "nan edge": r"SignProposer\.propose .*edge is a finite number; got nan",
    "text edge": r"SignProposer\.propose .*edge is a finite number; got 'a'",
    "lying edge": r"SignProposer\.propose .*an edge of 0\.999.*problem\.edges",
    "huge edge": r"SignProposer\.propose .*an edge of 1e\+09.*problem\.edges",
    "negative": r"SignProposer\.propose .*complexity of -1.*at least 0",
    "nan complexity": r"SignProposer\.propose .*complexity is a finite number; got nan",
    "infinite": r"SignProposer\.propose .*complexity is a finite number; got inf",
    "no number": r"SignProposer\.propose .*complexity is a finite number; got None",
    "predicts nan": r"Sign must return .*finite number.*NaN",
    "predicts few": r"Sign must return .*for each of 90 rows.*shape \(3",
    "predicts others": r"Sign predicts something else for the training rows than SignProposer\.propose.*engine's order",
    "no key": r"SignProposer\.propose .*'text'.*no key or .*radboost\.families\.Hypothesis",
}


class Signs(Family):
    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def start(self, problem: Any) -> Any:
        return None if self.fault == "no proposer" else SignProposer(problem, self.fault)

    def n_families(self, problem: Any) -> int:
        return 1


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("fault", sorted(EXPECTED))
def test_a_family_that_misbehaves(fault: str, y: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"(?s){EXPECTED[fault]}"):
        DeepBoostClassifier(3, family=Signs(fault)).fit(X, y)


def test_families_that_behave() -> None:
    for kind, y, least in (("", Y, 0.8), ("owned", Y, 0.8), ("", THREE, 0.4), ("rounded edge", THREE, 0.4)):
        assert DeepBoostClassifier(3, family=Signs(kind)).fit(X, y).score(X, y) > least
    with pytest.raises(ValueError, match=r"SignProposer\.propose .*an edge of 0\.999"):
        DeepBoostClassifier(3, family=Signs("owned, lying edge")).fit(X, Y)
    with pytest.raises(TypeError, match=r"Signs\.start must return a Proposer.*got None"):
        DeepBoostClassifier(3, family=Signs("no proposer")).fit(X, Y)
    with pytest.raises(ValueError, match=r"class_index from 0 to 2.*got 7"):
        DeepBoostClassifier(3, family=Signs("class")).fit(X, THREE)


def test_predictions_of_new_rows_are_looked_over() -> None:
    model = DeepBoostClassifier(3, family=Signs("nan later"), calibration=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"Sign must return one finite number for each of 5 rows.*NaN"):
        model.decision_function(X[:5])


@dataclass(frozen=True)
class Power:
    column: int
    fault: str

    def values(self, rows: Any, /) -> Any:
        values = rows[:, self.column] ** 2
        if self.fault == "text":
            return np.array(["a"] * len(rows))
        if self.fault == "few":
            return values[:2]
        if self.fault == "nan" or (self.fault == "nan later" and len(rows) < 20):
            return values * np.nan
        return {"large": 1e200, "small": 1e-200}.get(self.fault, 1.0) * values

    def describe(self, names: Any, /) -> str:
        return "power"


@dataclass
class Unhashable:
    values: Any = None

    def __post_init__(self) -> None:
        self.values = lambda rows: rows[:, 0]


class Powers(Generator):
    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def start(self, training: Any) -> Any:
        given: Any = [Power(0, self.fault)]
        if self.fault == "no function":
            return given
        faults: dict[str, Any] = {"none": None, "numbers": [1], "no list": 3, "unhashable": [Unhashable()]}
        return lambda members, residual: faults.get(self.fault, given)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("none", r"Powers\.start returned must return a list of hypotheses.*\[\].*got None"),
        ("no list", r"Powers\.start returned must return a list of hypotheses.*got 3"),
        ("numbers", r"Powers\.start returned must return hypotheses.*values\(X\).*among them is 1"),
        ("unhashable", r"Powers\.start returned must return hypotheses with a hash, and Unhashable has none"),
        ("no function", r"Powers\.start must return a function.*Power\("),
        ("text", r"Power must return one finite number for each of \d+ rows.*<U1"),
        ("few", r"Power must return one finite number for each of \d+ rows.*shape \(2,\)"),
        ("nan", r"Power must return one finite number for each of \d+ rows.*NaN"),
        ("large", r"values of Power .*between 1e-150 and 1e150.*Rescale"),
        ("small", r"values of Power .*between 1e-150 and 1e150.*Rescale"),
    ],
)
@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (SparseBoostClassifier, Y),
        (SparseBoostRegressor, T),
        (MultiTaskSparseBoostClassifier, np.column_stack([Y, 1 - Y])),
    ],
)
def test_a_generator_that_misbehaves(estimator: Any, y: Any, fault: str, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"(?s){message}"):
        estimator(0.01, family=Powers(fault)).fit(X, y)


def test_generators_that_behave() -> None:
    model = SparseBoostRegressor(0.01, family=Powers("nan later")).fit(X, X[:, 0] ** 2)
    assert model.score(X, X[:, 0] ** 2) > 0.9
    with pytest.raises(ValueError, match=r"Power must return one finite number for each of 5 rows"):
        model.predict(X[:5])
