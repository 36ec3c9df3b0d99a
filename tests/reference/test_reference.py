"""The oracles against each other, and against values worked out by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import adaboost, binning, convex, deepboost, growth, losses, rademacher, splits, steps
from reference.data import tiny

PHI = list(losses.LOSSES.values())


def sample_of(X: np.ndarray, y: np.ndarray, D: list[int], max_bins: int = 255) -> splits.Sample:
    columns, codes = binning.bin_matrix(X, None, max_bins)
    return splits.make_sample(columns, codes.tolist(), D, y.tolist())


def test_one_bin_per_distinct_value() -> None:
    column = binning.bin_column([3.0, 1.0, math.nan, 1.0, -0.0, 0.0])
    assert column == binning.Column((0.5, 2.0), 3, True)
    assert [column.code(v) for v in (-9, 0.5, 0.6, 2.0, 2.1, math.nan)] == [0, 0, 1, 1, 2, binning.MISSING]


def test_quantile_cuts_follow_the_cumulative_weight() -> None:
    assert binning.bin_column(list(range(8)), None, 4).thresholds == (1.5, 3.5, 5.5)
    heavy = binning.bin_column(list(range(8)), [1, 1, 1, 1, 1, 1, 1, 9], 4)
    assert heavy.thresholds == (2.5, 4.5, 6.5)
    inside = binning.bin_column(list(range(8)), [1, 1, 9, 1, 1, 1, 1, 1], 4)
    assert inside.thresholds == (1.5, 2.5, 5.5)


WEIGHTS = st.lists(st.one_of(st.integers(1, 4), st.integers(1, 200)), min_size=1, max_size=15)


@given(WEIGHTS, st.integers(2, 9))
def test_bins_are_as_many_and_as_light_as_they_can_be(counts: list[int], max_bins: int) -> None:
    """A bin of several values weighs less than twice the heaviest such bin of the best division."""
    weights = [Fraction(count) for count in counts]
    sizes = binning.divide(weights, max_bins)
    assert (len(sizes), sum(sizes)) == (min(max_bins, len(weights)), len(weights))
    least, first = binning.least_weight(counts, max_bins), 0
    for size in sizes:
        of_bin = weights[first : first + size]
        assert size == 1 or (sum(of_bin) < 2 * least and max(of_bin) <= least)
        first += size
    if len(weights) > max_bins and max(weights) * max_bins <= sum(weights):  # then the bins are the quantiles
        ends = np.cumsum(sizes)[:-1] - 1
        repeated = np.repeat(np.arange(len(counts)), counts)
        k = np.arange(1, max_bins) / max_bins
        assert ends.tolist() == np.quantile(repeated, k, method="inverted_cdf").tolist()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=25), st.integers(2, 6))
def test_weights_are_repetition_in_the_bins(pairs: list[tuple[int, int]], max_bins: int) -> None:
    repeated = [float(v) for v, w in pairs for _ in range(w)]
    weighted = binning.bin_column([float(v) for v, _ in pairs], [float(w) for _, w in pairs], max_bins)
    assert weighted == binning.bin_column(repeated, None, max_bins)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_midpoint_separates(a: float, b: float) -> None:
    a, b = sorted((a + 0.0, b + 0.0))
    if a < b:
        assert a <= binning.midpoint(a, b) < b


@pytest.mark.parametrize("criterion", ["edge", "gini"])
def test_histogram_sums_give_the_split_score(criterion: str) -> None:
    X, y = tiny(3, missing=0.2)
    sample = sample_of(X, y, list(range(1, 15)))
    for feature in range(3):
        for question in splits.questions(sample, feature):
            score = splits.split_score(sample, sample.rows, question, criterion)
            sides = {True: [0, 0], False: [0, 0]}
            for b, (g, d, _) in splits.histogram(sample, sample.rows, feature).items():
                sides[question.goes_left(b)][0] += g
                sides[question.goes_left(b)][1] += d
            if score is not None:
                assert score == sum(splits.node_score(criterion, *side) for side in sides.values())


def test_gini_score_is_the_fall_of_the_weighted_impurity() -> None:
    X, y = tiny(5)
    D = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7]
    sample = sample_of(X, y, D)

    def impurity(rows: list[int]) -> float:
        mass = sum(D[i] for i in rows)
        p = sum(D[i] for i in rows if y[i] > 0) / mass
        return mass * 2 * p * (1 - p)

    scored = []
    for feature in range(3):
        for question in splits.questions(sample, feature):
            left, right = splits.parts(sample, sample.rows, question)
            scored.append((impurity(left) + impurity(right), splits.split_score(sample, sample.rows, question, "gini")))
    assert min(scored, key=lambda p: p[0])[1] == max(s for _, s in scored)
    best = splits.best_split(sample, sample.rows, "gini")
    assert best is not None
    assert best.score == max(s for _, s in scored)


def test_edge_of_the_best_stump_is_that_of_exhaustive_search() -> None:
    for seed in range(20):
        X, y = tiny(seed)
        D = np.random.default_rng(seed).random(len(y))
        columns, codes = binning.bin_matrix(X)
        sample = splits.make_sample(columns, codes.tolist(), D.tolist(), y.tolist())
        trees = growth.grow_layers(sample, 1)
        edge = trees[0].edge
        error, *_ = adaboost.exhaustive_stump(X, y, D / D.sum())
        assert edge / D.sum() == pytest.approx(1 - 2 * error)
        dictionary = np.array(growth.all_stumps(sample))
        assert edge == pytest.approx(np.max(np.abs(dictionary @ (D * y))))


def test_missing_may_be_the_only_question() -> None:
    X = np.array([[1.0], [1.0], [math.nan], [math.nan]])
    y = np.array([1, 1, -1, -1])
    tree = growth.grow_layers(sample_of(X, y, [1, 1, 1, 1]), 1)[0]
    assert tree.threshold[0] == math.inf
    assert growth.predict(tree, X) == y.tolist()
    assert growth.predict(tree, np.array([[1e308], [math.nan]])) == [1, -1]


@pytest.mark.parametrize("criterion", ["edge", "gini"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_layers_cut_grow_and_predict_alike(criterion: str, missing: float) -> None:
    for seed in range(8):
        X, y = tiny(seed, m=24, missing=missing)
        sample = sample_of(X, y, [int(v) for v in np.random.default_rng(seed).integers(0, 6, len(y))])
        trees = growth.grow_layers(sample, 4, criterion)
        edges = [abs(sum(sample.signed))] + [t.edge for t in trees]
        assert edges == sorted(edges)
        for depth, tree in enumerate(trees, int(trees[0].n_splits > 0)):
            assert tree.depth == depth
            assert tree.n_nodes == 2 * tree.n_splits + 1
            assert growth.predict(tree, X) == tree.train_value
            assert tree.edge == sum(s * v for s, v in zip(sample.signed, tree.train_value, strict=True))
            assert all(below > i for i, below in enumerate(tree.left) if tree.feature[i] >= 0)
        everything = growth.grow_best_first(sample, 10**6, 4, criterion)
        assert everything[-1] == trees[-1]
        assert [t.n_splits for t in everything] == list(range(everything[0].n_splits, everything[-1].n_splits + 1))
        few = growth.grow_best_first(sample, 3, None, criterion)
        assert few == everything[:2]
        for tree in everything:
            assert growth.predict(tree, X) == tree.train_value
            assert len(growth.by_path(tree)) == tree.n_nodes


def test_stump_pair_is_the_best_second_question() -> None:
    for seed in range(8):
        X, y = tiny(seed, m=20)
        sample = sample_of(X, y, [int(v) for v in np.random.default_rng(seed).integers(1, 9, len(y))])
        trees = growth.grow_stump_pair(sample)
        if len(trees) == 2:
            first = trees[0].feature[0]
            h1 = np.array([1 if X[i, first] <= trees[0].threshold[0] else 0 for i in sample.rows])
            edges = []
            for j, t in itertools.product(range(3), np.arange(5) + 0.5):
                if j != first:
                    cell = 2 * h1 + (X[:, j] <= t)
                    edges.append(sum(abs(sum(sample.signed[i] for i in np.flatnonzero(cell == c))) for c in range(4)))
            assert trees[1].edge == max(edges)
            assert len({(f, t) for f, t in zip(trees[1].feature[1:3], trees[1].threshold[1:3], strict=True)}) == 1
            assert growth.predict(trees[1], X) == trees[1].train_value


@pytest.mark.parametrize("loss", PHI, ids=lambda p: p.name)
def test_losses_are_convex_increasing_bounds(loss: losses.Loss) -> None:
    u = np.linspace(-6, 6, 241)
    np.testing.assert_allclose(losses.numeric_derivative(loss.value, u), loss.derivative(u), rtol=1e-9, atol=1e-12)
    assert np.all(loss.derivative(u) > 0)
    assert np.all(np.diff(loss.derivative(u)) >= 0)
    assert np.all(loss.value(u) >= (u >= 0))


@given(st.floats(-3, 3), st.floats(0.01, 0.99), st.floats(0, 1.5))
def test_closed_form_is_the_minimum_of_its_bound(alpha: float, eps: float, q: float) -> None:
    eta = steps.closed_form(alpha, eps, q)
    best, _ = steps.grid(lambda e: steps.bound(e, alpha, eps, q), -8, 8, 2001)
    assert steps.bound(eta, alpha, eps, q) <= best + 1e-12
    assert eta == pytest.approx(steps.closed_form_as_printed(alpha, eps, q), abs=1e-9)


def test_closed_form_where_the_printed_one_fails() -> None:
    q = 1e-9
    eta = steps.closed_form(0.0, 1e-30, q)
    assert eta == pytest.approx(-math.log(q), rel=1e-12)
    assert steps.closed_form(0.0, 0.0, 0.0, cap=7.0) == 7.0
    assert steps.closed_form(0.0, 1.0, 0.0, cap=7.0) == -7.0


@pytest.mark.parametrize("loss", PHI, ids=lambda p: p.name)
def test_line_search_finds_the_kink_and_the_valley(loss: losses.Loss) -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        y, h, f, w = rng.choice([-1, 1], 9), rng.choice([-1, 1], 9), rng.normal(size=9), rng.random(9)
        for alpha, Lambda in itertools.product((0.0, 0.4, -0.7), (0.0, 0.1, 60.0)):
            F = steps.along(loss, f, h, y, w, alpha, Lambda)
            low, _ = steps.grid(F, -6, 6, 2001)
            eta = steps.exact_line_search(F, alpha)
            assert F(eta) <= low + 1e-9
            if Lambda == 60.0:
                assert eta == -alpha


@pytest.mark.parametrize("loss", ["exponential", "logistic", "smooth_hinge"])
@pytest.mark.parametrize("family", ["stumps", "stump_pairs", "trees"])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_naive_deepboost_descends(loss: str, family: str, rate: float) -> None:
    for seed, (lam, beta) in enumerate([(0.0, 0.0), (0.02, 0.0), (0.0, 0.02), (0.01, 0.03)]):
        X, y = tiny(seed, missing=0.1)
        settings = deepboost.Settings(
            rounds=8, loss=loss, family=family, lam=lam, beta=beta, learning_rate=rate, max_depth=2
        )
        run = deepboost.fit(X, y, settings)
        start = float(losses.LOSSES[loss].value(np.array(1.0)))
        assert np.all(np.diff([start, *run.objectives]) <= 1e-12)
        assert run.objectives
        np.testing.assert_allclose(run.scores, sum(m.alpha * m.h for m in run.members), atol=1e-12)


def test_naive_deepboost_is_adaboost() -> None:
    for seed in range(4):
        X, y = tiny(seed, m=18)
        w = np.random.default_rng(seed).random(18) + 0.5
        theirs = adaboost.adaboost(X, y, 12, w)
        ours = deepboost.fit(X, y, deepboost.Settings(rounds=12, family="stumps", tolerance=1e-12), w)
        assert len(theirs) >= 5
        for r, (_, _, eta) in zip(theirs[:5], ours.steps, strict=False):
            assert abs(eta) == pytest.approx(r.alpha, rel=1e-9)
        np.testing.assert_allclose(
            [np.mean(w * np.exp(1 - y * r.scores)) * 18 / w.sum() for r in theirs],
            ours.objectives[: len(theirs)],
            rtol=1e-9,
        )


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["exponential", "logistic", "smooth_hinge"])
@pytest.mark.parametrize(("lam", "beta"), [(0.0, 0.05), (0.03, 0.01)])
def test_naive_deepboost_reaches_the_optimum(loss: str, lam: float, beta: float) -> None:
    X, y = tiny(2, m=12)
    y[3] = -y[3]
    run = deepboost.fit(
        X, y, deepboost.Settings(rounds=400, loss=loss, family="stumps", lam=lam, beta=beta, tolerance=1e-9)
    )
    columns, codes = binning.bin_matrix(X)
    H = np.array(growth.all_stumps(splits.make_sample(columns, codes.tolist(), [1] * 12, y.tolist()))).T
    Lambda = np.full(H.shape[1], lam * rademacher.stumps(12, 3) + beta)
    best = convex.minimise(losses.LOSSES[loss], H, y, np.ones(12), Lambda)
    assert best.violation < 1e-6
    assert run.objectives[-1] == pytest.approx(best.value, abs=1e-7)


def test_rademacher_bounds_hold_and_drawing_agrees_with_counting() -> None:
    X, y = tiny(1, m=10, d=2, levels=30)
    sample = sample_of(X, y, [1] * 10)
    H = np.array(growth.all_stumps(sample))
    exact = rademacher.by_all_signs(H)
    mean, error = rademacher.by_drawing(H, 4000)
    assert abs(mean - exact) < 5 * error
    assert exact <= rademacher.stumps(10, 2)
    pairs = np.array([np.where(a > 0, b * s, b * t) for a in H for b in H for s in (1, -1) for t in (1, -1)])
    assert rademacher.by_all_signs(pairs) <= rademacher.stump_pairs(10, 2)
