"""The oracles against calculus, chance and values worked out by hand, where nothing else checks them."""

from __future__ import annotations

import numpy as np
import pytest

from reference import baselines, binning, growth, losses, multiclass, splits
from reference.data import STUCK, smooth_classes, tiny_classes
from reference.multiclass import NAMES, Sums, make_objective, vertex

PHI = {name: losses.LOSSES[name] for name in ("exponential", "logistic", "smooth_hinge")}
PAIRS = [(name, loss) for name in NAMES for loss in PHI if name != "compsum" or loss == "logistic"]


def somewhere(seed: int, m: int = 9, n_classes: int = 4) -> tuple[Sums, np.ndarray, np.ndarray]:
    """Scores, labels and weights at random; the margins of MaxSum are free numbers too."""
    rng = np.random.default_rng(seed)
    at = Sums(rng.normal(size=(m, n_classes)), rng.normal(size=m))
    return at, rng.integers(0, n_classes, m), rng.random(m) + 0.2


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_edges_are_derivatives(name: str, loss: str) -> None:
    """Along any hypothesis F' = -(S / m) edge, by differences; where labels do not tie Max is smooth as well."""
    for seed in range(5):
        at, y, w = somewhere(seed)
        objective = make_objective(name, PHI[loss], y, w, 4)
        h = np.random.default_rng(seed + 99).random((9, 4))
        slope = losses.numeric_derivative(
            lambda eta, o=objective, a=at, d=h: np.array([o.value(a.moved(float(e), d, o.y)) for e in eta]),
            np.zeros(1),
            1e-5,
        )
        edge = objective.edge(at, h)
        assert edge == pytest.approx(objective.edge(at, h, shrinking=True))
        assert -objective.normaliser(at) / objective.m * edge == pytest.approx(slope[0], rel=1e-6, abs=1e-9)


def test_gradients_of_max_as_the_rules_of_active_labels() -> None:
    y = np.array([0, 0, 0])
    at = Sums(np.array([[0.0, 1, 1], [0.0, 1, 0.5], [3.0, 0, 0]]), np.zeros(3))
    objective = make_objective("max", PHI["exponential"], y, None, 3)
    D = np.exp([2.0, 2.0, -2.0])
    D = D / D.sum()
    growing = [[D[0], -D[0], -D[0]], [D[1], -D[1], 0], [D[2], -D[2], -D[2]]]
    shrinking = [[D[0], 0, 0], [D[1], -D[1], 0], [D[2], 0, 0]]
    np.testing.assert_allclose(objective.gradients(at), growing, atol=1e-15)
    np.testing.assert_allclose(objective.gradients(at, True), shrinking, atol=1e-15)


def test_gini_is_the_fall_of_the_weighted_impurity() -> None:
    X, y = tiny_classes(3, m=16)
    objective = make_objective("sum", PHI["exponential"], y, np.random.default_rng(3).integers(1, 4, 16))
    columns, codes = binning.bin_matrix(X)
    sample = splits.sample_at(objective, multiclass.start(16, 3), columns, codes.tolist())

    def impurity(rows: list[int]) -> float:
        mass = sum(sample.mass[i] for i in rows)
        shares = [sum(sample.mass[i] for i in rows if y[i] == c) / mass for c in range(3)]
        return mass * (1 - sum(p * p for p in shares))

    scored = []
    for feature in range(2):
        for question in splits.questions(sample, feature, sample.rows):
            left, right = splits.parts(sample, sample.rows, question)
            scored.append((impurity(left) + impurity(right), splits.split_score(sample, sample.rows, question, "gini")))
    best = splits.best_split(sample, sample.rows, "gini")
    assert best is not None
    assert best.score == max(s for _, s in scored) == min(scored)[1]


@pytest.mark.parametrize(("X", "y"), STUCK.values(), ids=STUCK)
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_a_stuck_point_of_max(X: np.ndarray, y: np.ndarray, loss: str) -> None:
    n_classes = int(y.max()) + 1
    objective = make_objective("max", PHI[loss], y)
    at = multiclass.start(len(y), n_classes)
    edges = [objective.edge(at, vertex(np.array(a), n_classes)) for a in growth.all_stump_answers(X, n_classes)]
    assert max(edges) <= 1e-15
    if n_classes == 4:
        assert sum(e > -1e-12 for e in edges) == 1  # only the one that abstains everywhere
    both = vertex(X[:, 0], n_classes) + vertex(X[:, 1], n_classes)
    assert objective.value(at.moved(0.1, both, y)) < objective.value(at) - 0.01


def test_masses_of_the_branching_program_are_those_of_random_walks() -> None:
    X, y = smooth_classes(6, m=60, n_classes=2, noise=0.2)
    layers = baselines.martiboost(X, y, 6, baselines.cart(2))
    rng = np.random.default_rng(0)
    many = np.repeat(np.arange(60), 2000)
    node = np.zeros(len(many), dtype=int)
    for layer in layers:
        right = np.column_stack([junction.goes_right(X) for junction in layer])[many, node]
        node = node + (rng.random(len(many)) < right)
    ended = np.bincount(many, weights=node > 3) / 2000
    np.testing.assert_allclose(ended, baselines.ends_right(layers, X), atol=0.06)
