"""Splits by categories: search, growth and prediction against their naive twins, and against all subsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from native_rows import ClassRows
from native_tools import NO_WEIGHTS, bin_natively, categories_left, forest_of, grow_natively, state_with_weights
from radboost import _native
from radboost.rows.hashing import keyed
from reference import categories as naive
from reference import chance
from reference.binning import MISSING

SEEDS = st.integers(0, 10**6)
PAIRS = [
    ("sum", "exponential"),
    ("compsum", "logistic"),
    ("maxsum", "logistic"),
    ("max", "exponential"),
]


@dataclass(frozen=True)
class Problem:
    """A column of numbers and two of categories, as the engine has them and as the twin does."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    data: Any
    state: Any
    rows: naive.Rows

    @property
    def n_categories(self) -> list[int]:
        return [int(n) if c else -1 for n, c in zip(self.data.n_bins(), self.data.is_categorical(), strict=True)]


def make_problem(
    seed: int,
    m: int = 30,
    n_classes: int = 2,
    pair: tuple[str, str] = PAIRS[0],
    most: int = 6,
    weighted: bool = False,
    criterion: str = "edge",
    copies: int = 1,
    D: np.ndarray | None = None,
) -> Problem:
    """Rows sorted by class, with weights that tie and vanish where ties are exact (edges)."""
    rng = np.random.default_rng(seed)
    n_categories = [-1, int(rng.integers(1, most + 1)), int(rng.integers(1, most + 1))]
    X = np.column_stack([rng.integers(0, 4 if q < 0 else q, m).astype(float) for q in n_categories])
    y = (X @ rng.integers(0, 3, 3) + rng.integers(0, 3, m)).astype(int) % n_classes
    y[:n_classes] = range(n_classes)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    tied = rng.choice([0.0, 1.0, 1.0, 2.0, 3.7], m) * rng.choice([1.0, 1e-12], m, p=[0.9, 0.1])
    D = D if D is not None else (tied if criterion == "edge" else rng.random(m))
    D[0] = 1.0
    w = rng.integers(1, 4, m).astype(float) if weighted else None
    if copies > 1:
        X, y, D = np.repeat(X, copies, axis=0), np.repeat(y, copies), np.repeat(D, copies)
        w = None if w is None else np.repeat(w, copies)
    data = bin_natively(X, w, categories=n_categories)
    if n_classes == 2:
        state, gains = state_with_weights(np.where(y > 0, 1, -1), D, w), None
    else:
        state = walked_state(pair, y, n_classes, w, rng)
        by_gains = criterion == "edge" and pair[0] != "maxsum"
        gains = state.gains(False).reshape(len(y), n_classes + 1)[:, :-1].tolist() if by_gains else None
    return Problem(X, y, w, data, state, twin(data, state, y, n_classes, w, gains))


def walked_state(pair: tuple[str, str], y: np.ndarray, n_classes: int, w: np.ndarray | None, rng: Any) -> Any:
    """The state of several classes after a few random steps."""
    state = ClassRows(*pair, y.astype(np.uint16), n_classes, NO_WEIGHTS if w is None else w)
    columns = _native.HypothesisColumns(len(y), n_classes)
    for _ in range(3):
        slot = columns.take_slot()
        answers = rng.integers(-1, n_classes, len(y)).astype(np.int32)
        columns.set_answers(slot, np.arange(len(y), dtype=np.int32), answers, 1)
        state.step(columns, slot, int(rng.integers(1, 9)) / 8, 1)
    state.reweigh(1)
    return state


def twin(data: Any, state: Any, y: np.ndarray, n_classes: int, w: np.ndarray | None, gains: Any) -> naive.Rows:
    codes = data.codes().reshape(data.n_rows, data.n_columns).astype(int)
    counts = data.n_bins().astype(int)
    codes = np.where((codes == counts) & (data.has_missing() > 0), MISSING, codes)
    return naive.Rows(
        codes.tolist(),
        counts.tolist(),
        (data.is_categorical() > 0).tolist(),
        y.tolist(),
        n_classes,
        [int(v) for v in state.growth_weights()],
        [1] * len(y) if w is None else [int(v) for v in w],
        gains,
    )


def asked(tree: Any, data: Any) -> dict[str, tuple[int, frozenset[int], bool]]:
    """The questions of a native tree in the twin's words."""
    out, stack = {}, [(0, "")]
    while stack:
        i, path = stack.pop()
        column = int(tree.feature[i])
        if column < 0:
            continue
        left = categories_left(tree, i)
        assert (left is not None) == bool(data.is_categorical()[column])
        if left is None:
            last = int(np.searchsorted(data.thresholds(column), tree.threshold[i]))
            left = frozenset(range(min(last + 1, int(data.n_bins()[column]))))
        out[path] = (column, left, bool(tree.missing_left[i]))
        stack += [(int(tree.left[i]), path + "L"), (int(tree.left[i]) + 1, path + "R")]
    return out


def grown_by_twin(problem: Problem, criterion: str, depth: int, minimum: float, some: list[int] | None = None) -> Any:
    def choose(rows: Any, path: str) -> naive.Question | None:
        found = naive.best_question(problem.rows, rows, criterion, minimum)
        return found[0] if found else None

    return naive.grow(problem.rows, problem.rows.all if some is None else some, depth, choose)


CASES = st.tuples(st.sampled_from(["edge", "gini"]), st.sampled_from([(2, PAIRS[0]), *((3, p) for p in PAIRS)]))


@given(SEEDS, CASES, st.booleans(), st.integers(1, 3), st.sampled_from([0.0, 3.0, 5.0]))
def test_layers(seed: int, case: Any, weighted: bool, depth: int, minimum: float) -> None:
    criterion, (n_classes, pair) = case
    problem = make_problem(seed, n_classes=n_classes, pair=pair, weighted=weighted, criterion=criterion)
    made, sizes, _, trees = grow_natively(
        problem.data, problem.state, criterion=criterion, max_depth=depth, minimum_leaf_weight=minimum
    )
    assert asked(trees[-1], problem.data) == grown_by_twin(problem, criterion, depth, minimum)
    check_predictions(problem, made, sizes, trees, n_classes)


def check_predictions(problem: Problem, made: Any, sizes: list[int], trees: Any, n_classes: int) -> None:
    """What a tree says of raw codes is what it stored of the training rows."""
    m, n_outputs = len(problem.y), 1 if n_classes == 2 else n_classes
    columns = _native.HypothesisColumns(m, n_classes)
    for size, tree in zip(sizes, trees, strict=True):
        slot = columns.take_slot()
        made.store(size, columns, slot)
        for X in (problem.X, problem.X.astype(np.float32), np.asfortranarray(problem.X)):
            scores = forest_of([tree], problem.data.n_columns, n_outputs).scores(X, np.ones(1), 1)
            np.testing.assert_array_equal(scores, columns.predictions(slot))


@settings(max_examples=12)
@given(SEEDS, CASES, st.sampled_from([0.0, 40.0]))
def test_many_rows(seed: int, case: Any, minimum: float) -> None:
    """Nodes with enough rows for histograms and for the subtraction of the smaller child."""
    criterion, (n_classes, pair) = case
    problem = make_problem(seed, m=400, n_classes=n_classes, pair=pair, criterion=criterion)
    _, _, _, trees = grow_natively(
        problem.data, problem.state, criterion=criterion, max_depth=3, minimum_leaf_weight=minimum
    )
    assert asked(trees[-1], problem.data) == grown_by_twin(problem, criterion, 3, minimum)


@given(SEEDS, st.sampled_from(["edge", "gini"]), st.sampled_from([12, 300]))
def test_no_subset_is_better_with_two_classes(seed: int, criterion: str, m: int) -> None:
    """Breiman's theorem for gini, and for the edge the sign of every category: the order has the best subset."""
    problem = make_problem(seed, m=m, criterion=criterion)
    rows = problem.rows
    best = naive.best_question(rows, rows.all, criterion, ask=naive.subsets)
    _, sizes, _, trees = grow_natively(problem.data, problem.state, criterion=criterion, max_depth=1)
    assert (best is None) == (sizes == [0])
    if best is not None:
        column, left, missing_left = asked(trees[0], problem.data)[""]
        question = naive.Question(column, left, missing_left, frozenset(range(rows.n_codes[column])))
        found = naive.split_score(rows, rows.all, question, criterion)
        assert found is not None
        assert found == best[1] if criterion == "edge" else float(found) == pytest.approx(float(best[1]), rel=1e-12)


@given(SEEDS, st.booleans())
def test_no_pair_of_subsets_is_better_with_two_classes(seed: int, weighted: bool) -> None:
    """The second question of a stump pair, asked at both leaves, among all subsets of another column."""
    problem = make_problem(seed, m=40, most=5, weighted=weighted)
    rows = problem.rows
    made, sizes, _, trees = grow_natively(problem.data, problem.state, growth="stump_pair", max_depth=2)
    check_predictions(problem, made, sizes, trees, 2)
    if sizes == [0]:
        return
    first, *_ = asked(trees[0], problem.data)[""]
    halves = naive.parts(rows, rows.all, naive.Question(*asked(trees[0], problem.data)[""], frozenset()))

    def together(question: naive.Question) -> int:
        return sum(naive.score(rows, part, "edge") for half in halves for part in naive.parts(rows, half, question))  # type: ignore[misc]

    best = sum(naive.score(rows, half, "edge") for half in halves)  # type: ignore[misc]
    for column in {0, 1, 2} - {first}:
        best = max([best, *(together(question) for question in naive.subsets(rows, rows.all, column))])
    quarters = leaves_of(trees[-1], problem)
    assert sum(naive.score(rows, quarter, "edge") for quarter in quarters) == best  # type: ignore[misc]


def leaves_of(tree: Any, problem: Problem) -> list[list[int]]:
    """The training rows of each leaf, by the questions of the tree alone."""
    questions = asked(tree, problem.data)

    def below(some: list[int], path: str) -> list[list[int]]:
        if path not in questions:
            return [some]
        left, right = naive.parts(problem.rows, some, naive.Question(*questions[path], frozenset()))
        return below(left, path + "L") + below(right, path + "R")

    return below(problem.rows.all, "")


@given(SEEDS, st.sampled_from(PAIRS), st.sampled_from([0.0, 4.0]), st.booleans())
def test_pairs_of_several_classes_ask_both_leaves_the_same(
    seed: int, pair: tuple[str, str], minimum: float, random: bool
) -> None:
    problem = make_problem(seed, m=60, n_classes=3, pair=pair)
    options = {"growth": "stump_pair", "max_depth": 2, "random_thresholds": random}
    made, sizes, _, trees = grow_natively(problem.data, problem.state, seed, **options, minimum_leaf_weight=minimum)
    check_predictions(problem, made, sizes, trees, 3)
    questions = asked(trees[-1], problem.data)
    if "L" in questions:
        seen = {code for code in np.unique(np.array(problem.rows.codes)[:, questions["L"][0]]) if code != MISSING}
        weighed = set(naive.counting(problem.rows, problem.rows.all, questions["L"][0])) if not random else seen
        assert questions["L"][1] & weighed == questions["R"][1] & weighed
    for leaf in leaves_of(trees[-1], problem):
        assert len(leaf) >= minimum


@given(SEEDS, CASES, st.integers(0, 2), st.sampled_from([0.0, 4.0]), st.integers(0, 9))
@example(seed=4, case=("gini", (2, PAIRS[0])), max_features=0, minimum=0.0, round_number=0)
def test_random_subsets_are_drawn_by_node_column_and_category(
    seed: int, case: Any, max_features: int, minimum: float, round_number: int
) -> None:
    criterion, (n_classes, pair) = case
    problem = make_problem(seed, m=40, n_classes=n_classes, pair=pair, criterion=criterion)
    options = {"criterion": criterion, "random_thresholds": True, "max_features": max_features, "seed": seed}
    made, sizes, _, trees = grow_natively(
        problem.data, problem.state, round_number, **options, minimum_leaf_weight=minimum
    )

    def choose(some: Any, path: str) -> naive.Question | None:
        key = chance.node_key(seed, round_number, path)
        return naive.random_question(problem.rows, some, criterion, key, max_features, minimum)

    assert asked(trees[-1], problem.data) == naive.grow(problem.rows, problem.rows.all, 3, choose)
    check_predictions(problem, made, sizes, trees, n_classes)


@given(SEEDS, st.integers(1, 3), st.booleans())
def test_subsampled_rows_grow_the_tree(seed: int, depth: int, weighted: bool) -> None:
    """Rows outside the draw may hold categories that no node has seen: they follow the heavier child."""
    problem = make_problem(seed, m=30, weighted=weighted)
    made, sizes, edges, trees = grow_natively(problem.data, problem.state, seed, max_depth=depth, subsample=0.4)
    hashes = keyed(problem.data.row_hashes(1), problem.y.astype(np.uint64))
    drawn = chance.drawn_rows(0, seed, hashes.tolist(), 0.4)
    assert asked(trees[-1], problem.data) == grown_by_twin(problem, "edge", depth, 0.0, drawn)
    check_predictions(problem, made, sizes, trees, 2)
    assert np.all(np.diff([0.0, *edges]) >= 0)


@pytest.mark.parametrize("criterion", ["edge", "gini"])
@pytest.mark.parametrize("m", [600, 20_000])
def test_as_many_categories_as_there_can_be(criterion: str, m: int) -> None:
    """Each of 255 categories has a label of its own: one subset tells all rows apart, with missing values too."""
    rng = np.random.default_rng(1)
    codes = np.concatenate([np.arange(255), rng.integers(0, 255, m - 255)]).astype(float)
    answers = rng.choice([-1, 1], 255)
    y = answers[codes.astype(int)]
    codes[(codes == 7) & (y == answers[7])] = np.nan
    order = np.argsort(y, kind="stable")
    X, y = codes[order][:, None], y[order]
    data = bin_natively(X, categories=[255])
    assert (int(data.n_bins()[0]), bool(data.has_missing()[0])) == (255, True)
    _, sizes, edges, trees = grow_natively(data, state_with_weights(y, np.ones(m)), criterion=criterion, max_depth=2)
    assert (sizes[0], edges[0]) == (1, pytest.approx(1.0))
    np.testing.assert_array_equal(forest_of([trees[0]], 1).scores(X, np.ones(1), 1), y)
    left = categories_left(trees[0], 0)
    assert left is not None
    assert left - {7} == {code for code in range(255) if answers[code] == -1} - {7}
    assert bool(trees[0].missing_left[0]) == (answers[7] == -1)


def test_unseen_categories_follow_the_heavier_child() -> None:
    X = np.array([[0.0]] * 6 + [[2.0]] * 4)
    y = np.array([-1] * 6 + [1] * 4)
    for m_left, left in ((6, {0, 1, 3}), (3, {0})):
        keep = np.r_[np.arange(6 - m_left, 6), np.arange(6, 10)]
        data = bin_natively(X[keep], categories=[4])
        tree = grow_natively(data, state_with_weights(y[keep], np.ones(len(keep))), max_depth=1)[3][0]
        assert categories_left(tree, 0) == left
        assert bool(tree.missing_left[0]) == (m_left == 6)
        # What is no category at all, and NaN, goes the way of the missing values.
        strangers = np.array([[np.nan], [255.0], [-1.0], [1e300], [-np.inf], [np.inf]])
        expected = np.full(6, -1.0 if m_left == 6 else 1.0)
        np.testing.assert_array_equal(forest_of([tree], 1).scores(strangers, np.ones(1), 1), expected)


def test_a_column_of_missing_values_asks_nothing() -> None:
    X = np.column_stack([np.full(20, np.nan), np.zeros(20), np.r_[np.zeros(10), np.ones(10)]])
    y = np.repeat([-1, 1], 10)
    data = bin_natively(X, categories=[0, 1, 2])
    for options in ({}, {"random_thresholds": True}, {"growth": "stump_pair", "max_depth": 2}):
        _, _, edges, trees = grow_natively(data, state_with_weights(y, np.ones(20)), **options)
        assert edges[0] == 1.0
        assert trees[0].feature[0] == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_codes_are_checked(dtype: Any) -> None:
    good = np.array([[0.0, 1.0], [2.0, np.nan]], dtype=dtype)
    data = bin_natively(good, categories=[3, 2])
    assert data.codes().tolist() == [0, 1, 2, 2]
    assert data.is_categorical().tolist() == [1, 1]
    assert data.subset(np.array([1])).is_categorical().tolist() == [1, 1]
    for bad in (-1.0, 3.0, 0.5, np.inf, -np.inf, 1e30):
        with pytest.raises(ValueError, match="category"):
            bin_natively(np.array([[bad, 0.0]], dtype=dtype), categories=[3, 2])
    for counts in ([256, 2], [-2, 2], [3], [3, 2, 1]):
        with pytest.raises(ValueError, match="categories"):
            bin_natively(good, categories=counts)
