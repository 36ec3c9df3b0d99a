"""Boosting over several sources: descent, optimality, the choice of each round, mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from radboost import (
    DeepBoostClassifier,
    Mixtures,
    MultiSourceBoostClassifier,
    WeightedL1,
)
from radboost.families.base import Family, Problem, Proposer, ValuesCandidate
from reference import multi_source as naive
from reference.multi_source import NAMES, rows
from turns import in_turns

OBJECTIVES = ("max", "softmax", "sum")


def plain(n_rounds: int = 60, **parameters: Any) -> MultiSourceBoostClassifier:
    """Without chance: all stumps are looked at."""
    return MultiSourceBoostClassifier.paper(n_rounds, **parameters)


# --- descent and optimality


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("source_objective", OBJECTIVES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"step": "line_search", "learning_rate": 1.0},
        {"loss": "exponential", "step": "closed_form"},
        {"family": "stumps", "learning_rate": 1.0, "complexity_penalty": 0.0},
        {"family": ["trees", "stumps"], "complexity_penalty": WeightedL1(0.02, 0.002)},
        {"family": "kernel", "learning_rate": 1.0},
        {"mixtures": [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.2, 0.2, 0.6]]},
        {"mixtures": Mixtures(penalty=0.3)},
    ],
    ids=str,
)
def test_the_objective_falls_in_every_round(source_objective: str, settings: Any, n_classes: int) -> None:
    X, y, s = rows(1, n_classes=n_classes)
    model = MultiSourceBoostClassifier(10, source_objective=source_objective, **settings).fit(X, y, sources=s)
    steps = model.ensemble_.steps
    objective = np.array(model.history_["objective"])
    assert len(steps) > 0
    assert np.all(np.diff(objective) <= 0)
    took = np.unique(steps["round"])
    assert np.all(np.diff(objective)[took[took > 0] - 1] < 0)


@in_turns("source_objective, loss", OBJECTIVES, ["logistic", "exponential"], one_in=4)
def test_it_falls_until_optimal(source_objective: str, loss: str) -> None:
    X, y, s = rows(2, m=60)
    X = np.round(X)  # few stumps, for the slow solver
    price = 0.02
    settings: Any = {"loss": loss, "source_objective": source_objective}
    model = plain(1000, complexity_penalty=WeightedL1(0.0, price), **settings).fit(X, y, sources=s)
    q = model.source_probabilities(X)
    D = naive.directions(naive.stumps(X), q)
    ids = np.searchsorted(NAMES, s)
    best = naive.optimum(D, 2.0 * y - 1.0, ids, 3, source_objective, loss, price)
    found = model.history_["objective"][-1]
    start = model.history_["objective"][0]
    assert best - 1e-6 <= found <= best + (1e-5 if source_objective == "max" else 0.02 * (start - best))


@pytest.mark.parametrize("source_objective", OBJECTIVES)
def test_history_says_what_the_model_predicts(source_objective: str) -> None:
    X, y, s = rows(3)
    model = MultiSourceBoostClassifier(30, source_objective=source_objective, mu=7.0).fit(X, y, sources=s)
    ids, signs = np.searchsorted(NAMES, s), 2.0 * y - 1.0
    for index, f in enumerate(model.staged_decision_function(X)):
        F = naive.losses(f, signs, ids, 3, "logistic")
        said = [model.history_[f"source_loss[{name}]"][index] for name in NAMES]
        np.testing.assert_allclose(said, F, rtol=1e-9)
        errors = [np.mean((signs * f <= 0)[ids == k]) for k in range(3)]
        np.testing.assert_allclose([model.history_[f"source_error[{name}]"][index] for name in NAMES], errors)
    weights, complexities = model.ensemble_.weights, model.ensemble_.complexities
    whole = naive.together(F, source_objective, 7.0) + 0.003 * np.abs(weights) @ complexities
    assert model.history_["objective"][-1] == pytest.approx(whole)
    assert model.agnostic_error_ == max(model.source_errors_.values()) == pytest.approx(max(errors))
    assert sum(model.source_weight_.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("source_objective", OBJECTIVES)
def test_line_searches_match_a_grid(source_objective: str) -> None:
    """The first step of a fit, by brute force along its own direction."""
    X, y, s = rows(4, m=120)
    model = plain(1, source_objective=source_objective).fit(X, y, sources=s)
    q, ids, signs = model.source_probabilities(X), np.searchsorted(NAMES, s), 2.0 * y - 1.0
    f = model.decision_function(X)
    grid = np.linspace(0.0, 3.0, 3001)
    values = [naive.together(naive.losses(t * f, signs, ids, 3, "exponential"), source_objective) for t in grid]
    assert grid[int(np.argmin(values))] == pytest.approx(1.0, abs=2e-3)
    assert q.shape == (120, 3)


@pytest.mark.parametrize("source_objective", ["softmax", "sum"])
def test_every_round_takes_the_steepest_hypothesis(source_objective: str) -> None:
    X, y, s = rows(5, m=100)
    model = plain(12, source_objective=source_objective).fit(X, y, sources=s)
    _check_choices(model, X, y, s, lambda F: np.ones(3) if source_objective == "sum" else softmax(10.0 * F))


def test_the_worst_source_takes_its_steepest_hypothesis() -> None:
    """Figure 4.1 where one source alone counts; and where all tie, as at the start, each brings its own."""
    X, y, s = rows(6, m=100)
    alone = plain(12, mixtures=[[0.0, 1.0, 0.0]]).fit(X, y, sources=s)
    _check_choices(alone, X, y, s, lambda F: np.array([0.0, 1.0, 0.0]))
    tied = plain(1).fit(X, y, sources=s)
    q, ids, signs = tied.source_probabilities(X), np.searchsorted(NAMES, s), 2.0 * y - 1.0
    assert {hypothesis.source for hypothesis in tied.ensemble_.entered} == {0, 1, 2}
    for hypothesis in tied.ensemble_.entered:
        own, k = (ids == hypothesis.source), hypothesis.source
        rates = (q[own, k] * naive.stumps(X)[:, own]) @ signs[own]
        assert abs(float((q[own, k] * hypothesis.base.predict(X)[own]) @ signs[own])) == pytest.approx(
            np.abs(rates).max()
        )


def _check_choices(model: Any, X: Any, y: Any, s: Any, mixture: Any) -> None:
    q, ids, signs = model.source_probabilities(X), np.searchsorted(NAMES, s), 2.0 * y - 1.0
    H, sizes = naive.stumps(X), np.bincount(ids)
    before = np.zeros(len(X))
    for index, after in enumerate(model.staged_decision_function(X)):
        F = naive.losses(before, signs, ids, 3, "exponential")
        lam = mixture(F)
        D = np.exp(1.0 - signs * before) * (lam / sizes)[ids]
        # With the maximum the worst source looks among its own, Q(k | x) h(x).
        among = range(3) if np.count_nonzero(lam) > 1 else [int(np.argmax(lam))]
        steepest = max(float(np.abs((q[:, k] * H) @ (D * signs)).max()) for k in among)
        (step,) = model.ensemble_.steps[model.ensemble_.steps["round"] == index]
        moved = (after - before) / step["eta"]
        assert abs(float(moved @ (D * signs))) == pytest.approx(steepest, rel=1e-4)
        before = after


@dataclass(frozen=True)
class _Constant:
    n_splits, n_nodes, depth = 0, 1, 0

    def predict(self, X: Any, n_threads: int = 1) -> Any:
        return np.ones(len(X))

    def key(self) -> tuple[object, float]:
        return "constant", 1.0


class Constants(Family):
    """h(x) = 1, and with it its mirror image."""

    def start(self, problem: Problem) -> Proposer:
        class Always(Proposer):
            def propose(self, round_index: int) -> Any:
                values = np.ones(len(problem.order), dtype=np.float32)
                return [ValuesCandidate(_Constant(), values, float(problem.edges(values[None])[0]), 0.0)]  # type: ignore[arg-type]

        return Always()

    def n_families(self, problem: Problem) -> int:
        return 1


def test_the_example_of_proposition_4_1_is_solved() -> None:
    """Two points, two sources, opposite labels, constant hypotheses: no convex combination is right about both."""
    X, y, s = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([1, 0], 10), np.repeat(["a", "b"], 10)
    settings: dict[str, Any] = {"family": Constants(), "complexity_penalty": 0.0, "loss": "exponential"}
    model = MultiSourceBoostClassifier(60, learning_rate=1.0, **settings).fit(X, y, sources=s)
    assert model.agnostic_error_ == 0.0
    assert model.score(X, y) == 1.0
    assert model.history_["objective"][-1] < 0.1 * np.e
    convex = DeepBoostClassifier(60, **settings).fit(X, y)
    assert convex.score(X, y) == 0.5


# --- one source, mixtures, the regulariser


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sources", [None, np.full(300, "only")])
def test_one_source_is_deepboost_bit_for_bit(n_classes: int, sources: Any) -> None:
    X, y, _ = rows(7, n_classes=n_classes)
    given = {"step": "line_search", "learning_rate": 0.1}
    for settings in ({}, {"family": ["stumps", "kernel"], **given}, {"early_stopping": 5}):
        ours = MultiSourceBoostClassifier(20, **settings).fit(X, y, sources=sources)  # type: ignore[arg-type]
        theirs = DeepBoostClassifier(20, **settings).fit(X, y)  # type: ignore[arg-type]
        np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
        assert ours.history_ == theirs.history_
        assert ours.domain_classifier_ is None
        assert ours.source_weight_ == {ours.source_names_[0]: 1.0}


def test_mixtures_and_their_vertices() -> None:
    X, y, s = rows(8, m=400)
    whole = MultiSourceBoostClassifier(40, mixtures=np.eye(3)).fit(X, y, sources=s)
    default = MultiSourceBoostClassifier(40).fit(X, y, sources=s)
    np.testing.assert_array_equal(whole.decision_function(X), default.decision_function(X))
    only = MultiSourceBoostClassifier(40, mixtures=[[1.0, 0.0, 0.0]]).fit(X, y, sources=s)
    assert only.source_errors_["clinic"] < default.source_errors_["clinic"]
    assert only.agnostic_error_ == only.source_errors_["clinic"]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], columns=["ward", "region", "clinic"])
    named = MultiSourceBoostClassifier(15, mixtures=frame).fit(X, y, sources=s)
    listed = MultiSourceBoostClassifier(15, mixtures=[[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]).fit(X, y, sources=s)
    np.testing.assert_array_equal(named.decision_function(X), listed.decision_function(X))


def test_a_penalty_keeps_a_small_source_from_ruling() -> None:
    X, y, s = rows(9, m=600, sizes=(0.6, 0.37, 0.03))
    errors = []
    for penalty in (0.0, 0.3, 1e4):
        model = MultiSourceBoostClassifier(60, mixtures=Mixtures(penalty=penalty)).fit(X, y, sources=s)
        errors.append(model.history_["train_error"][-1])
    assert errors[0] > max(errors[1:])
    # A penalty without bound: the mixture of the training rows, whose loss is that of all rows alike.
    losses = [model.history_[f"source_loss[{name}]"][-1] for name in NAMES]
    shares = [np.mean(s == name) for name in NAMES]
    penalty_of_weights = 0.003 * float(np.abs(model.ensemble_.weights) @ model.ensemble_.complexities)
    assert model.history_["objective"][-1] == pytest.approx(np.dot(losses, shares) + penalty_of_weights, abs=1e-3)
