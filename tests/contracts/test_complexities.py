"""The complexities are the paper's formulas, and they bound what is measured by drawing signs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from radboost import complexity
from reference import binning, growth, rademacher, splits
from reference.data import smooth

SIZES = [(2.0, 1), (7.0, 3), (150.5, 10), (1e6, 28), (50.0, 100_000)]


@pytest.mark.parametrize(("m", "d"), SIZES)
def test_formulas(m: float, d: int) -> None:
    assert complexity.stumps(m, d) == pytest.approx(rademacher.stumps(m, d), rel=1e-14)
    for n in (0, 1, 2, 63, 1000):
        assert complexity.trees(n, m, d) == pytest.approx(rademacher.trees(m, d, n), rel=1e-14)
    if d > 1:
        assert complexity.stump_pairs(m, d) == pytest.approx(rademacher.stump_pairs(m, d), rel=1e-14)
    assert complexity.kernel(m * 0.7, m) == pytest.approx(math.sqrt(m * 0.7) / m, rel=1e-15)


def test_order_of_the_families() -> None:
    for m, d in SIZES:
        assert 0 < complexity.stumps(m, d) <= complexity.stump_pairs(m, d)
        assert np.all(np.diff([complexity.trees(n, m, d) for n in range(1, 30)]) > 0)
        assert complexity.trees(3, m, 2 * d) > complexity.trees(3, m, d)


def test_one_column_has_a_stump_pair_bound() -> None:
    """(8) is undefined at d = 1; two questions about one column label m points in at most (2m)^2 ways."""
    assert complexity.stump_pairs(20, 1) == pytest.approx(math.sqrt(2 * math.log(1600) / 20))


def test_tiny_samples_have_no_negative_logarithm() -> None:
    for m in (0.01, 0.3, 1.0):
        for value in (complexity.stumps(m, 1), complexity.stump_pairs(m, 1), complexity.trees(1, m, 1)):
            assert math.isfinite(value)
            assert value >= 0


@pytest.mark.parametrize(("m", "d", "missing"), [(12, 2, 0.0), (40, 3, 0.0), (40, 3, 0.2), (150, 4, 0.0)])
def test_stump_bound_covers_the_measured_complexity(m: int, d: int, missing: float) -> None:
    X, _ = smooth(m, m=m, d=d, missing=missing)
    columns, _ = binning.bin_matrix(X)
    H = growth.all_sign_stumps(X)
    mean, error = rademacher.by_drawing(H, 2000, seed=m)
    questions = d + sum(c.has_missing for c in columns)
    assert mean + 4 * error <= complexity.stumps(m, questions)
    assert mean - 4 * error >= 0.3 * complexity.stumps(m, questions)


def test_stump_pair_bound_covers_the_measured_complexity() -> None:
    m, d = 20, 3
    X, _ = smooth(5, m=m, d=d)
    by_column = [growth.all_sign_stumps(X[:, [j]]) for j in range(d)]
    best = []
    for signs in np.random.default_rng(0).choice([-1, 1], size=(300, m)):
        largest = 0.0
        for i in range(d):
            for j in range(i):
                for a in by_column[i]:
                    upper, lower = by_column[j] @ (signs * (a > 0)), by_column[j] @ (signs * (a < 0))
                    largest = max(largest, float(np.max(np.abs(upper) + np.abs(lower))))
        best.append(largest / m)
    assert np.mean(best) + 4 * np.std(best) / math.sqrt(300) <= complexity.stump_pairs(m, d)


@pytest.mark.parametrize("n", [1, 3])
def test_tree_bound_covers_a_lower_estimate(n: int) -> None:
    """Greedy trees find a large correlation with random signs; no tree of that size may exceed (9)."""
    m, d = 30, 2
    X, _ = smooth(6, m=m, d=d)
    columns, codes = binning.bin_matrix(X)
    depth = {1: 1, 3: 2}[n]
    found = []
    for signs in np.random.default_rng(1).choice([-1, 1], size=(25, m)):
        trees = growth.grow_layers(splits.make_sample(columns, codes.tolist(), [1] * m, signs.tolist()), depth)
        found.append(trees[-1].edge / m)
    assert np.mean(found) <= complexity.trees(n, m, d)


def test_kernel_trace_bound_covers_the_measured_complexity() -> None:
    """x -> K(c, x) for all centres: the functions of norm at most 1 that section 4 bounds contain them."""
    X, _ = smooth(7, m=40, d=3)
    K = np.exp(-0.3 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    mean, error = rademacher.by_drawing(K, 2000)
    assert mean + 4 * error <= complexity.kernel(float(np.trace(K)), 40)
