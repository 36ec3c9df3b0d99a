"""Tiny problems where every stump can be tried: the model takes the best, and in the end reaches the best mixture."""

from __future__ import annotations

import numpy as np
import pytest

from multiclass_tools import PAIRS, SMOOTH, paper
from radboost import KernelFamily
from reference import convex, growth, losses, multiclass, rademacher
from reference.data import smooth_classes, tiny, tiny_classes
from reference.multiclass import ABSTAIN, Objective, vertex
from turns import in_turns

SOLVED = [*((pair, 2) for pair in PAIRS[:2]), *((pair, 3) for pair in SMOOTH)]


def optimum(objective: Objective, X: np.ndarray, price: float) -> float:
    """Lowest value over all stumps. With two classes silence is half of two answers, and not needed."""
    n_classes = objective.n_classes
    answers = [a for a in growth.all_stump_answers(X, n_classes) if n_classes > 2 or ABSTAIN not in a]
    H = convex.dictionary(answers, n_classes)
    best = convex.minimise(objective, H, np.full(len(H), price))
    assert best.violation < 1e-5
    return best.value


@in_turns(
    "kind, penalties, step", SOLVED, [(0.0, 0.05), (0.03, 0.0), (0.02, 0.02)], ["closed_form", "line_search", "damped"]
)
def test_long_runs_reach_the_optimum_over_all_stumps(
    kind: tuple[tuple[str, str], int], penalties: tuple[float, float], step: str
) -> None:
    """Theorem 2. (0, beta) with (sum, exponential) is L1-AdaBoost.MR, with compsum L1 multinomial regression."""
    (pair, n_classes), (lam, beta) = kind, penalties
    X, y = tiny_classes(4, m=14, n_classes=n_classes)
    w = np.random.default_rng(4).integers(1, 4, 14).astype(float)
    objective = multiclass.make_objective(pair[0], losses.LOSSES[pair[1]], y, w)
    best = optimum(objective, X, lam * rademacher.stumps(w.sum(), 2) + beta)
    model = paper(
        n_rounds=3000 if n_classes == 2 else 8000,
        objective=pair[0],
        loss=pair[1],
        family="stumps",
        complexity_penalty=lam,
        l1_penalty=beta,
        step="closed_form" if step == "damped" else step,
        learning_rate=0.3 if step == "damped" else 1.0,
    ).fit(X, y, sample_weight=w)
    start = objective.value(multiclass.start(14, n_classes))
    reached = model.history_["objective"][-1]
    slack = (1e-7 if n_classes == 2 else 1e-4 * (start - best)) * (10.0 if step == "damped" else 1.0)
    assert best - 1e-7 <= reached <= best + slack


def test_imbalanced_data_reach_the_optimum_too() -> None:
    """No stump beats the constant in round 1, so the constant comes first and stumps refine it."""
    X, y = tiny(0, m=30)
    y = ((X[:, 0] >= 4) & (X[:, 1] >= 2)).astype(int)
    y[:1] = 1
    best = optimum(multiclass.make_objective("sum", losses.LOGISTIC, y), X, 0.01)
    model = paper(n_rounds=3000, loss="logistic", family="stumps", l1_penalty=0.01).fit(X, y)
    assert model.history_["objective"][-1] == pytest.approx(best, abs=1e-7)


def test_abstaining_beats_every_answer_where_no_class_has_half() -> None:
    """Errata 9: MaxSum leaves 0 only by a stump that keeps silent where the classes are mixed."""
    X = np.array([[0.0], [0], [0], [1], [1], [1]])
    y = np.array([0, 0, 0, 0, 1, 2])
    for name in ("maxsum", "max"):
        model = paper(n_rounds=1, objective=name, family="stumps").fit(X, y)
        (tree,) = model.ensemble_.hypotheses
        np.testing.assert_array_equal(tree.predict(np.array([[0.0], [1.0]])), [[1, 0, 0], [0, 0, 0]])
        at = multiclass.start(6, 3)
        objective = multiclass.make_objective(name, losses.EXPONENTIAL, y)
        silent = vertex(np.array([0, 0, 0, -1, -1, -1]), 3)
        assert growth.best_stump_edge(objective, at, X)[0] == pytest.approx(objective.edge(at, silent)) == 0.5


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_every_round_takes_the_best_kernel_there_is(pair: tuple[str, str]) -> None:
    """All rows as centres, for all classes: exp(-gamma |c - x|^2) for one class, 0 for the others."""
    X, y = smooth_classes(3, m=16, d=2)
    model = paper(n_rounds=5, objective=pair[0], loss=pair[1], family=KernelFamily(gamma=0.5), l1_penalty=0.01)
    ensemble = model.fit(X, y).ensemble_
    objective = multiclass.make_objective(pair[0], losses.LOSSES[pair[1]], y, tie=1e-5)
    kernel = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    dictionary = [kernel[k][:, None] * unit for k in range(16) for unit in np.eye(3)]
    at = multiclass.start(16, 3)
    weights = np.zeros(len(ensemble.entered))
    assert len(ensemble.steps)
    for _, j, eta in ensemble.steps.tolist():
        h = ensemble.entered[j].predict(X)
        assert min(np.abs(h - other).max() for other in dictionary) < 2**-20
        if weights[j] == 0:
            best = max(objective.edge(at, other) for other in dictionary)
            assert objective.edge(at, h) == pytest.approx(best, abs=1e-4)
        at = at.moved(eta, h, y)
        weights[j] += eta
