"""The native state of soft-max boosting against the formulas, and its draws against what they should be in the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_rows import SoftmaxRows
from native_tools import NO_WEIGHTS, bin_natively
from radboost.trees import GrowthSettings, TreeOptions
from radboost.trees.grower import make_weighted_trees
from reference import softmax as naive
from reference import softmax_draws
from reference.data import smooth_classes

SEEDS = st.integers(0, 10**6)


class Problem:
    """Rows, costs in [0, 1], scores on the grid, and the native state of the same."""

    def __init__(
        self,
        seed: int,
        m: int = 60,
        n_classes: int = 4,
        weights: str = "none",
        per_row: bool = True,
        spread: float = 2.0,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.X, y = smooth_classes(seed, m=m, n_classes=n_classes)
        self.y = y.astype(np.uint16)
        self.weights = {"none": np.ones(m), "whole": rng.integers(1, 4, m) * 1.0, "real": rng.random(m) + 0.5}[weights]
        table = rng.random((m if per_row else n_classes, n_classes)).astype(np.float32)
        self.table, self.per_row, self.seed = table, per_row, seed
        self.costs = (table if per_row else table[self.y]).astype(float)
        self.scores = np.rint(rng.normal(size=(m, n_classes)) * spread * 2**20) / 2**20
        self.data = bin_natively(self.X)
        self.native_weights = NO_WEIGHTS if weights == "none" else self.weights
        self.state = self.native(n_classes, table)
        self.state.set(self.scores)

    def native(self, n_classes: int, table: np.ndarray) -> Any:
        settings = {"costs_per_row": self.per_row, "seed": self.seed, "n_threads": 1}
        return SoftmaxRows(self.data, self.y, n_classes, self.native_weights, table, **settings)

    def trees(self, **changes: Any) -> Any:
        options = TreeOptions(growth="best_first", max_leaves=changes.pop("max_leaves", 6))
        return make_weighted_trees(self.data, 2, GrowthSettings(max_depth=20, options=options, **changes))

    def directions(self) -> np.ndarray:
        return self.state.directions().reshape(-1, len(self.y)).T.astype(float)


WEIGHTS = st.sampled_from(["none", "whole", "real"])


@given(SEEDS, WEIGHTS, st.booleans(), st.sampled_from([2, 4]))
def test_rule_risk_and_error(seed: int, weights: str, per_row: bool, n_classes: int) -> None:
    problem = Problem(seed, weights=weights, per_row=per_row, n_classes=n_classes)
    sums = problem.state.evaluate(1)
    expected = naive.soft_max(problem.scores)
    np.testing.assert_allclose(problem.state.rule().reshape(expected.shape), expected, atol=1e-7)
    np.testing.assert_allclose(problem.state.row_costs(), (expected * problem.costs).sum(axis=1), rtol=1e-12)
    assert sums.risk == pytest.approx(naive.risk(problem.scores, problem.costs, problem.weights), rel=1e-12)
    size = np.abs(naive.gradient(problem.scores, problem.costs)).sum(axis=1)
    assert sums.size == pytest.approx(np.average(size, weights=problem.weights), rel=1e-12)
    wrong = problem.scores.argmax(axis=1) != problem.y
    assert sums.error == pytest.approx(np.average(wrong, weights=problem.weights), rel=1e-12)


@given(SEEDS, WEIGHTS, st.sampled_from([1e-7, 2.0, 300.0]))
def test_two_classes_are_the_first_of_three_to_the_last_bit(seed: int, weights: str, spread: float) -> None:
    """Two classes have a kernel of their own; a third one that is far behind changes no sum."""
    two = Problem(seed, m=1100, n_classes=2, weights=weights, spread=spread)
    scores = np.column_stack([two.scores, two.scores.max(axis=1) - 1000.0])
    table = np.column_stack([two.table, np.zeros(1100, dtype=np.float32)])
    three = two.native(3, table)
    three.set(scores)
    for n_threads in (1, 2):
        one, other = two.state.evaluate(n_threads), three.evaluate(n_threads)
        assert (one.risk, one.error, one.size) == (other.risk, other.error, other.size)
        np.testing.assert_array_equal(two.state.row_costs(), three.row_costs())
        np.testing.assert_array_equal(two.state.rule().reshape(-1, 2), three.rule().reshape(-1, 3)[:, :2])


@given(SEEDS, WEIGHTS, st.sampled_from(["all", "by_rule", "by_gradient"]))
def test_slopes_are_those_of_proposition_2_and_of_the_risk(seed: int, weights: str, pairs: str) -> None:
    problem = Problem(seed, weights=weights)
    problem.state.evaluate(1)
    edge = problem.state.grow(problem.trees(), pairs, 50, 3, 1)
    h = problem.directions()
    assert set(np.unique(h)) <= {-1.0, 0.0, 1.0}
    slope = problem.state.slope(1)
    assert slope == pytest.approx(naive.slope(problem.scores, problem.costs, problem.weights, h), abs=1e-6)
    if pairs == "all":  # then the trees were grown on the gradient itself
        assert edge == pytest.approx(slope, abs=1e-6)
    step = 2.0**-6
    high, low = (naive.risk(problem.scores - a * h, problem.costs, problem.weights) for a in (-step, step))
    assert slope == pytest.approx((high - low) / (2 * step), abs=2e-4)
    for a in (0.0, 0.75, -0.5):
        value, slope_there = problem.state.along(a, 1)
        moved = problem.scores - a * h
        assert value == pytest.approx(naive.risk(moved, problem.costs, problem.weights), rel=1e-12)
        assert slope_there == pytest.approx(naive.slope(moved, problem.costs, problem.weights, h), abs=1e-12)
    problem.state.step(0.75, 1)
    moved = problem.scores - 0.75 * h
    differences = problem.state.values().reshape(moved.shape) - moved
    np.testing.assert_array_equal(differences, np.broadcast_to(differences[:, :1], moved.shape))


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("pairs", ["by_rule", "by_gradient"])
def test_the_sampled_edge_is_unbiased(weights: str, pairs: str) -> None:
    # The gradient has one sign in each class, so that every tree is a constant whatever is drawn: the edge is then
    # linear in the sample, and its mean must be the exact slope.
    problem = Problem(5, m=40, n_classes=3, weights=weights, spread=0.3)
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.random(40) * 0.2, rng.random(40) * 0.1 + 0.9, rng.random(40) * 0.1 + 0.9])
    costs = table.astype(np.float32)
    problem.seed = 1
    state = problem.native(3, costs)
    state.set(problem.scores)
    state.evaluate(1)
    gradient = naive.gradient(problem.scores, costs.astype(float))
    assert ((gradient > 0) == [False, True, True]).all()
    exact = float(np.average(np.abs(gradient).sum(axis=1), weights=problem.weights))
    trees = problem.trees(max_leaves=2)
    edges = [state.grow(trees, pairs, 200, round_index, 1) for round_index in range(400)]
    error = np.std(edges) / np.sqrt(len(edges))
    assert abs(np.mean(edges) - exact) < max(4 * error, 1e-6)
    assert error < 0.02 * exact


@given(
    SEEDS,
    WEIGHTS,
    st.booleans(),
    st.sampled_from(["by_rule", "by_gradient"]),
    st.integers(2, 5),
    st.sampled_from([1, 40, 150]),
    st.integers(0, 3),
)
def test_the_pairs_are_those_of_the_naive_draws(
    seed: int, weights: str, per_row: bool, pairs: str, n_classes: int, n_samples: int, round_index: int
) -> None:
    """The tree of each class is the one that grows on the pairs drawn naively, with as many of them in every leaf."""
    problem = Problem(seed, m=40, n_classes=n_classes, weights=weights, per_row=per_row)
    problem.state.evaluate(1)
    trees = problem.trees(max_leaves=30)
    edge = problem.state.grow(trees, pairs, n_samples, round_index, 1)
    rows = softmax_draws.Rows(
        problem.data.codes().reshape(40, -1),
        problem.y.tolist(),
        None if weights == "none" else problem.weights,
        problem.table if per_row else problem.table[problem.y],
        per_row,
        problem.state.rule().reshape(40, n_classes),
        problem.state.row_costs(),
    )
    sizes = np.abs(naive.gradient(problem.scores, problem.costs)).sum(axis=1).tolist()
    drawn = softmax_draws.draw(rows, n_samples, seed, round_index, sizes if pairs == "by_gradient" else None)
    for label, found in enumerate(problem.state.trees()):
        classes, mass, counts = softmax_draws.problem_of(drawn, label, 40)
        assert (found is None) == (not mass.any())
        if found is None:
            continue
        lines = classes.astype(np.uint16)[None], mass.astype(np.uint32)[None]
        (expected,) = trees.grow(*lines, np.maximum(counts, 1.0), round_index, 1)
        assert trees.arrays(found)[5][0] == counts.sum()
        for one, other in zip(trees.arrays(found), trees.arrays(expected), strict=True):
            np.testing.assert_array_equal(one, other)
    gained = sum(float(pair.weight) * problem.directions()[pair.row, pair.label] for pair in drawn) / n_samples
    if pairs == "by_gradient":  # in units of the mean size of the gradient
        gained *= float(np.average(sizes, weights=problem.weights))
    assert edge == pytest.approx(gained, rel=1e-6, abs=1e-9)


def test_a_class_that_is_never_drawn_keeps_its_scores() -> None:
    problem = Problem(3, m=40, n_classes=4)
    scores = problem.scores.copy()
    scores[:, 2] = -900.0
    problem.state.set(scores)
    problem.state.evaluate(1)
    problem.state.grow(problem.trees(), "by_rule", 100, 0, 1)
    assert [tree is None for tree in problem.state.trees()] == [False, False, True, False]
    assert (problem.directions()[:, 2] == 0).all()


@pytest.mark.parametrize("top", [0.0, 1e-300, 700.0, 1e9, -1e9])
def test_no_score_overflows(top: float) -> None:
    problem = Problem(0, m=10, n_classes=3)
    scores = np.zeros((10, 3))
    scores[:, 1] = top
    problem.state.set(scores)
    sums = problem.state.evaluate(1)
    rule = problem.state.rule().reshape(10, 3)
    assert np.isfinite(rule).all()
    np.testing.assert_allclose(rule.sum(axis=1), 1.0, rtol=1e-6)
    assert 0.0 <= sums.risk <= 1.0


def test_long_walks_are_moved_back() -> None:
    problem = Problem(0, m=30, n_classes=3)
    problem.state.set(np.zeros((30, 3)))
    problem.state.evaluate(1)
    problem.state.grow(problem.trees(), "all", 1, 0, 1)
    h = problem.directions()
    for _ in range(20):
        problem.state.step(200.0, 1)
    problem.state.evaluate(1)
    rule = problem.state.rule().reshape(30, 3)
    cheapest = h == h.min(axis=1, keepdims=True)
    np.testing.assert_allclose(rule, cheapest / cheapest.sum(axis=1, keepdims=True), atol=1e-7)


def test_bad_states_are_refused() -> None:
    problem = Problem(0, m=10, n_classes=3)

    def make(**changes: Any) -> None:
        given = {"classes": problem.y, "costs": np.zeros((3, 3), dtype=np.float32), "costs_per_row": False} | changes
        SoftmaxRows(problem.data, n_classes=3, weights=NO_WEIGHTS, seed=0, n_threads=1, **given)

    with pytest.raises(ValueError, match="different numbers of rows"):
        make(classes=problem.y[:4])
    with pytest.raises(ValueError, match="classes x classes or rows x classes"):
        make(costs_per_row=True)
    with pytest.raises(ValueError, match=r"costs must lie in \[0, 1\]"):
        make(costs=np.full((3, 3), 2.0, dtype=np.float32))
    with pytest.raises(ValueError, match="a class that does not exist"):
        make(classes=problem.y + np.uint16(3))
    with pytest.raises(ValueError, match="multiples of 2"):
        problem.state.step(0.3, 1)
    other = Problem(1, m=12).trees()
    with pytest.raises(ValueError, match="these rows and two classes"):
        problem.state.grow(other, "all", 1, 0, 1)
