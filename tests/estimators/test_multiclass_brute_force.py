"""Tiny problems where every stump can be tried: the model takes the best, and in the end reaches the best mixture."""

from __future__ import annotations

import numpy as np
import pytest

from multiclass_tools import PAIRS, SMOOTH, paper
from radboost import KernelFamily
from reference import losses, multiclass, multiclass_convex, rademacher
from reference import multiclass_growth as trees
from reference.data import smooth_classes, tiny_classes
from reference.multiclass import vertex
from reference.multiclass_audit import predictions


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_every_round_takes_the_best_stump_there_is(pair: tuple[str, str], missing: float, n_classes: int) -> None:
    """By enumeration of all columns, thresholds, sides of missing values, and answers or silence of both leaves."""
    for seed in range(3):
        X, y = tiny_classes(seed, m=10, n_classes=n_classes, missing=missing)
        model = paper(n_rounds=4, objective=pair[0], loss=pair[1], family="stumps", l1_penalty=0.01).fit(X, y)
        objective = multiclass.make_objective(pair[0], losses.LOSSES[pair[1]], y)
        at = multiclass.start(10, n_classes)
        weights = np.zeros(len(model.ensemble_.entered))
        if not len(model.ensemble_.steps):
            assert pair[0] in ("max", "maxsum")  # no leaf of which one class has more than half (errata 9)
            assert trees.best_stump_edge(objective, at, X)[0] <= 0.01 * 10 / objective.normaliser(at) + 1e-9
        for _, j, eta in model.ensemble_.steps.tolist():
            h = predictions(model.ensemble_.entered[j], X, n_classes)
            if weights[j] == 0:
                best, _ = trees.best_stump_edge(objective, at, X)
                assert objective.edge(at, h) == pytest.approx(best, abs=1e-8)
            at = at.moved(eta, h, y)
            weights[j] += eta


@pytest.mark.parametrize("pair", SMOOTH, ids=" ".join)
@pytest.mark.parametrize(("lam", "beta"), [(0.0, 0.05), (0.03, 0.0), (0.02, 0.02)])
@pytest.mark.parametrize("step", ["closed_form", "line_search"])
def test_long_runs_reach_the_optimum_over_all_stumps(pair: tuple[str, str], lam: float, beta: float, step: str) -> None:
    """Theorem 2. (0, beta) with (sum, exponential) is L1-AdaBoost.MR, with compsum L1 multinomial regression."""
    X, y = tiny_classes(4, m=14)
    w = np.random.default_rng(4).integers(1, 4, 14).astype(float)
    objective = multiclass.make_objective(pair[0], losses.LOSSES[pair[1]], y, w)
    H = multiclass_convex.dictionary(trees.all_stump_answers(X, 3), 3)
    price = lam * rademacher.stumps(w.sum(), 2) + beta
    best = multiclass_convex.minimise(objective, H, np.full(len(H), price))
    assert best.violation < 1e-5
    model = paper(
        n_rounds=20000,
        objective=pair[0],
        loss=pair[1],
        family="stumps",
        complexity_penalty=lam,
        l1_penalty=beta,
        step=step,
    ).fit(X, y, sample_weight=w)
    start = objective.value(multiclass.start(14, 3))
    reached = model.history_["objective"][-1]
    assert best.value - 1e-7 <= reached <= best.value + 1e-4 * (start - best.value)


@pytest.mark.parametrize("pair", SMOOTH, ids=" ".join)
def test_damped_runs_reach_the_optimum_too(pair: tuple[str, str]) -> None:
    X, y = tiny_classes(2, m=14)
    objective = multiclass.make_objective(pair[0], losses.LOSSES[pair[1]], y)
    H = multiclass_convex.dictionary(trees.all_stump_answers(X, 3), 3)
    best = multiclass_convex.minimise(objective, H, np.full(len(H), 0.05))
    model = paper(
        n_rounds=20000, objective=pair[0], loss=pair[1], family="stumps", l1_penalty=0.05, learning_rate=0.3
    ).fit(X, y)
    start = objective.value(multiclass.start(14, 3))
    assert model.history_["objective"][-1] <= best.value + 1e-3 * (start - best.value)


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
        assert trees.best_stump_edge(objective, at, X)[0] == pytest.approx(objective.edge(at, silent)) == 0.5


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
