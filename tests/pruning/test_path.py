"""The L1 path against general solvers, and the leaves against the equations of their minimum."""

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor
from radboost.pruning import leaves as leaves_module
from radboost.pruning.leaves import RIDGE, leaf_table, reached, refit, rounded_up, tree_of
from radboost.pruning.outputs import Outputs
from radboost.pruning.path import Distance, moments_of, predicted


def random_distance(seed: int, n: int, *, signed: bool, free: int = 0) -> Distance:
    draw = np.random.default_rng(seed)
    values = draw.choice([-1.0, 1.0], (60, n)) if signed else draw.random((60, n))
    whole = draw.normal(size=n) if signed else draw.random(n)
    prices = 0.5 + draw.random(n)
    prices[:free] = 0.0
    return Distance(values.T @ values / 60.0, whole, prices, signed)


def by_scipy(distance: Distance, c: float) -> float:
    """The least value by L-BFGS-B, on the positive and the negative parts of the weights."""
    n = len(distance.whole)

    def objective(parts):
        weights = parts[:n] - parts[n:]
        price = c * distance.prices
        slopes = distance.slopes(weights)
        away = weights - distance.whole
        value = 0.5 * away @ distance.moments @ away + price @ (parts[:n] + parts[n:])
        return value, np.concatenate([price - slopes, price + slopes])

    bounds = [(0.0, None)] * n + [(0.0, None if distance.signed else 0.0)] * n
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000, "maxfun": 100_000}
    return float(minimize(objective, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("free", [0, 1])
def test_minima_are_those_of_a_general_solver(signed: bool, free: int) -> None:
    distance = random_distance(free, 12, signed=signed, free=free)
    for part in (0.8, 0.3, 0.05, 1e-3):
        c = part * distance.first_price
        found = distance.minimize(np.zeros(12), c)
        assert distance.value(found, c) == pytest.approx(by_scipy(distance, c), rel=1e-7, abs=1e-10)
        assert signed or (found >= 0.0).all()


@pytest.mark.parametrize("signed", [True, False])
def test_above_the_first_price_nothing_is_left_and_below_it_something(signed: bool) -> None:
    distance = random_distance(5, 12, signed=signed)
    assert not distance.minimize(np.zeros(12), 1.0001 * distance.first_price).any()
    assert distance.minimize(np.zeros(12), 0.99 * distance.first_price).any()


def test_every_step_lowers_the_objective_and_a_warm_start_ends_where_a_cold_one_does() -> None:
    distance = random_distance(7, 20, signed=True)
    c, values, weights = 0.1 * distance.first_price, [], np.zeros(20)
    for _ in range(15):
        values.append(distance.value(weights, c))
        weights = distance.minimize(weights, c, most_sweeps=1)
    assert np.all(np.diff(values) <= 1e-15)
    warm = distance.minimize(distance.minimize(np.zeros(20), 2.0 * c), c)
    assert np.allclose(warm, distance.minimize(np.zeros(20), c), atol=1e-6)


def test_along_the_path_the_distance_falls_and_the_minimum_with_it() -> None:
    distance = random_distance(9, 20, signed=True)
    distances, minima = [], []
    for c, weights in distance.path():
        distances.append(distance.value(weights, 0.0))
        minima.append(distance.value(weights, c))
    assert distances[-1] < 1e-3 * distances[0]
    assert np.all(np.diff(minima) <= 1e-9)  # of smaller penalties
    assert np.all(np.diff(distances) <= 1e-3 * distances[0])  # minima on the path are rough


def test_supports_have_the_sizes_and_keep_what_is_free() -> None:
    distance = random_distance(11, 20, signed=False, free=2)
    for size, places in distance.supports([2, 5, 9, 19]).items():
        assert len(places) <= size
        assert {0, 1} <= set(places.tolist())
    assert len(distance.supports([5])[5]) == 5


def test_of_equal_columns_one_is_enough() -> None:
    moments = np.ones((3, 3))
    distance = Distance(moments, np.array([0.5, 0.3, 0.2]), np.ones(3), signed=True)
    found = distance.minimize(np.zeros(3), 1e-6 * distance.first_price)
    assert found.sum() == pytest.approx(1.0, abs=1e-5)
    assert np.count_nonzero(found) == 1


UNITS = np.array([1.0, 2.0**20])


def small_case(kind: str):
    """A model, its rows, how its outputs are compared, and what is compared of its scores."""
    if kind != "targets":
        X = np.random.default_rng(int(kind[0])).normal(size=(150, 4))
        y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (kind == "3 classes") * (X[:, 3] > 0.7)
        model = DeepBoostClassifier(12, calibration=None, n_jobs=1).fit(X, y)
        scores = model.decision_function(X).reshape(len(X), -1)
        scores = scores - scores.mean(axis=1, keepdims=True) if kind == "3 classes" else scores
        return model.ensemble_, X, Outputs(scores.shape[1]), scores
    X = np.random.default_rng(7).normal(size=(150, 4))
    model = RGBRegressor(12, n_jobs=1).fit(X, np.column_stack([X[:, 0] * X[:, 1], X[:, 2]]) * UNITS)
    return model.ensemble_, X, Outputs(2, UNITS), model.predict(X) / UNITS


KINDS = ["2 classes", "3 classes", "targets"]


@pytest.mark.parametrize("kind", KINDS)
def test_second_moments_measure_the_distance_between_scores(kind: str) -> None:
    ensemble, X, outputs, scores = small_case(kind)
    weights = np.random.default_rng(0).random(len(X))
    weights /= weights.sum()
    means, moments = moments_of(ensemble.hypotheses, X, weights, outputs, 1)
    assert np.allclose(means @ ensemble.weights, weights @ scores)
    assert ensemble.weights @ moments @ ensemble.weights == pytest.approx(weights @ (scores**2).sum(axis=1), rel=1e-10)
    columns = predicted(ensemble.hypotheses, X, outputs, 1)
    assert np.allclose(columns @ ensemble.weights, scores.reshape(-1))


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_solve_the_equations_of_their_minimum(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves_module, "EXACT", 1e-10)
    monkeypatch.setattr(leaves_module, "MOST_STEPS", 1_000)
    ensemble, X, outputs, scores = small_case(kind)
    trees, tree_weights = ensemble.hypotheses[:4], ensemble.weights[:4]
    weights = np.full(len(X), 1.0 / len(X))
    found = np.concatenate(refit(trees, tree_weights, X, scores, weights, outputs, 1))
    leaves = reached(trees, X, 1).toarray()
    assert (leaves.sum(axis=1) == 4).all()
    start = np.concatenate([w * leaf_table(tree, outputs) for w, tree in zip(tree_weights, trees, strict=True)])
    normal = leaves.T @ (weights[:, None] * leaves) + RIDGE * np.eye(leaves.shape[1])
    exact = start + np.linalg.solve(normal, leaves.T @ (weights[:, None] * (scores - leaves @ start)))
    assert np.abs(found - exact).max() < 1e-8 * np.abs(exact).max()
    before, after = (np.mean((scores - leaves @ values) ** 2) for values in (start, found))
    assert after < before


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_a_table_answers_with_it_and_stays_in_the_hull(kind: str) -> None:
    ensemble, X, outputs, _ = small_case(kind)
    tree = ensemble.hypotheses[-1]
    table = np.random.default_rng(1).normal(size=(int((tree.feature < 0).sum()), outputs.number))
    table -= table.mean(axis=1, keepdims=True) if outputs.of_classes else 0.0
    made, weight = tree_of(tree, table, outputs)
    numbered, _ = tree.leaf_numbers()
    expected = table[numbered.predict(X).astype(int)]
    found = outputs.in_units(weight * made.predict(X).reshape(len(X), -1))  # each target as precisely as the other
    assert np.allclose(found, expected, rtol=0.0, atol=1e-5 * weight)
    numbers = made.vectors if outputs.number > 1 else made.value[made.feature < 0][:, None]
    assert np.abs(numbers).max() <= 1.0
    assert not outputs.of_classes or np.abs(numbers).sum(axis=1).max() <= 2.0 + 1e-5
    assert tree_of(tree, 0.0 * table, outputs)[1] == 0.0


def test_votes_and_numbers_have_the_same_table_as_answers() -> None:
    X = np.random.default_rng(3).normal(size=(90, 3))
    y = (X > 0).sum(axis=1).clip(max=2)
    for model in (DeepBoostClassifier(3, n_jobs=1, calibration=None), RGBClassifier(3, n_jobs=1, calibration=None)):
        for tree in model.fit(X, y).ensemble_.hypotheses:
            values = tree.predict(X)
            table = leaf_table(tree, Outputs(3))[tree.leaf_numbers()[0].predict(X).astype(int)]
            assert np.allclose(values - values.mean(axis=1, keepdims=True), table)


def test_rounding_up_is_up_and_small() -> None:
    for number in (1e-30, 0.1, 1.0, 3.3e7):
        assert number <= rounded_up(number) <= number * (1.0 + 2.0**-22)
