"""Regularized Gradient Boosting: what it promises about its steps, its families, and the rows it learns from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from radboost import RGBClassifier, RGBRegressor, TreeFamilies, TreeOptions, _validation, guarantees
from radboost.boosting.line_search import convex_search
from radboost.guarantees.bounds import every_statement
from radboost.losses import (
    REGRESSION_LOSSES,
    TWO_CLASS_LOSSES,
    ExponentialTargetLoss,
    HuberLoss,
    LogisticTargetLoss,
    QuantileLoss,
    SquaredLoss,
)
from reference import gradient as naive
from reference.data import smooth, smooth_classes

LOOSE = TreeOptions(min_leaf_weight=0.0)  # leaves of any weight
PLAIN = {"family": TreeFamilies(sizes=(4,), norms=(1e6,)), "subsample": 1.0, "complexity_penalty": 0.0}


def numbers(seed: int = 0, m: int = 150, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Counts that follow two columns and their product: every regression loss can learn them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, rng.poisson(np.exp(0.5 * X[:, 0] + 0.4 * X[:, 1] * X[:, 2])).astype(float)


def scores_of(model: Any, X: Any) -> np.ndarray:
    return model.ensemble_.decision_function(np.asarray(X, dtype=float))


def cases() -> list[Any]:
    """Estimators with every loss, and data for them."""
    X, y = numbers()
    found = [
        pytest.param(RGBRegressor, {"loss": loss}, X, y + 1.0 if loss == "gamma" else y, id=loss)
        for loss in REGRESSION_LOSSES
    ]
    X, y = smooth(1, m=150)
    found += [pytest.param(RGBClassifier, {"loss": loss}, X, y, id=f"two {loss}") for loss in TWO_CLASS_LOSSES]
    return [*found, pytest.param(RGBClassifier, {}, *smooth_classes(2), id="three classes")]


EVERY = pytest.mark.parametrize(("estimator", "parameters", "X", "y"), cases())


@pytest.mark.parametrize("case", ["squared", "logistic", "exponential", "poisson", "gamma"])
def test_one_family_that_never_binds_is_plain_gradient_boosting(case: str) -> None:
    regression = case in REGRESSION_LOSSES
    X, y = numbers(3, m=60) if regression else smooth(3, m=60)
    y = y + 1.0 if case == "gamma" else y
    loss = (REGRESSION_LOSSES if regression else TWO_CLASS_LOSSES)[case]()
    estimator = RGBRegressor if regression else RGBClassifier
    options = {**PLAIN, "step": "line_search", "learning_rate": 0.5, "tree_options": LOOSE}
    model = estimator(5, loss=case, **options).fit(X, y)
    start = float(model.ensemble_.steps["eta"][0] * model.ensemble_.entered[0].value[0])
    expected = naive.plain_boosting(
        X, y.astype(float), loss.derivative, start, n_rounds=5, n_splits=4, learning_rate=0.5
    )
    for ours, theirs in zip(model.ensemble_.staged_decision_function(X), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


@EVERY
@pytest.mark.parametrize("order", [1, 2, np.inf])
@pytest.mark.parametrize("learning_rate", [0.1, 1.0])
def test_the_loss_never_rises(
    estimator: Any, parameters: Any, X: Any, y: Any, order: float, learning_rate: float
) -> None:
    families = TreeFamilies(sizes=(1, 3, 12), norms=(0.01, 0.3, 4.0), norm_order=order)
    options = {"family": families, "learning_rate": learning_rate, "n_candidates": 3, "subsample": 0.7}
    model = estimator(15, **parameters, **options, tree_options=LOOSE).fit(X, y)
    objective = np.array(model.history_["objective"])
    assert (np.diff(objective) <= 1e-12 * np.abs(objective[:-1])).all()
    assert objective[-1] < objective[0]


@EVERY
def test_trees_belong_to_their_families(estimator: Any, parameters: Any, X: Any, y: Any) -> None:
    for order in (1, 2, np.inf):
        families = TreeFamilies(sizes=(2, 5), norms=(0.05, 1.0), norm_order=order)
        model = estimator(6, **parameters, family=families, tree_options=LOOSE).fit(X, y)
        trees = model.ensemble_.entered[1:] if model.ensemble_.entered[0].n_splits == 0 else model.ensemble_.entered
        assert len(trees) == model.n_iter_ - model.n_skipped_rounds_
        sizes = [size for size in model.history_["family_size"] if size > 0]  # 0: a round without a step
        for tree, size in zip(trees, sizes, strict=True):
            assert tree.n_splits <= size
            leaves = tree.value[tree.feature < 0] if tree.vectors is None else tree.vectors.reshape(-1)
            assert np.linalg.norm(leaves, order) <= 1.0 + 1e-12


@pytest.mark.parametrize("name", ["squared", "huber", "logistic", "exponential"])
def test_a_loss_of_ones_own(name: str) -> None:
    """The same numbers through Python as through the native core."""
    known = {
        "squared": SquaredLoss,
        "huber": lambda: HuberLoss(1.0),
        "logistic": LogisticTargetLoss,
        "exponential": ExponentialTargetLoss,
    }
    built_in = known[name]()

    class Own:
        lipschitz = built_in.lipschitz
        value = staticmethod(built_in.value)
        derivative = staticmethod(built_in.derivative)

    estimator = RGBRegressor if name in REGRESSION_LOSSES else RGBClassifier
    X, y = numbers(6) if estimator is RGBRegressor else smooth(6)
    if name == "huber":
        y = y - np.median(y) + 0.1  # its start is a median, which a search does not find
    options: dict[str, Any] = {"family": TreeFamilies(sizes=(3, 6), norms=(0.5, 5.0)), "learning_rate": 0.5}
    if estimator is RGBClassifier:
        options["calibration"] = None  # short fits with a loss of one's own have no longer steps
    native = estimator(8, loss=built_in if name == "huber" else name, **options).fit(X, y)
    own = estimator(8, loss=Own(), **options).fit(X, y)
    np.testing.assert_allclose(own.history_["objective"][-1], native.history_["objective"][-1], rtol=0.05)
    assert (np.diff(own.history_["objective"]) <= 1e-12).all()
    if estimator is RGBClassifier:
        np.testing.assert_allclose(own.predict_proba(X), native.predict_proba(X), atol=0.1)
        assert own.history_["train_error"][-1] == np.mean(own.predict(X) != y)


@pytest.mark.parametrize(("order", "thresholds"), [(1, "best"), (2, "best"), (2, "random"), (np.inf, "best")])
@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
def test_monotone(order: float, thresholds: str, loss: str) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 3))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 0] - np.abs(X[:, 1]) + 0.3 * rng.normal(size=400)
    estimator: Any = RGBRegressor if loss != "logistic" else RGBClassifier
    y = y if loss != "logistic" else (y > 0).astype(int)
    options = {"family": TreeFamilies(sizes=(4, 20), norms=(0.1, 2.0), norm_order=order), "subsample": 0.7}
    trees = TreeOptions(monotonic_constraints=[1, -1, 0], thresholds=thresholds)
    model = estimator(25, loss=loss, tree_options=trees, **options).fit(X, y)
    line = np.linspace(-3, 3, 200)
    for base in X[:25]:
        for column, direction in ((0, 1), (1, -1)):
            rows = np.tile(base, (200, 1))
            rows[:, column] = line
            assert (direction * np.diff(scores_of(model, rows)) >= 0).all()
    objective = np.array(model.history_["objective"])
    assert (np.diff(objective) <= 1e-12).all()
    assert objective[-1] < 0.95 * objective[0]
    free = estimator(25, loss=loss, **options).fit(X, y)
    rows = np.tile(X[0], (200, 1))
    rows[:, 0] = line
    assert (np.diff(scores_of(free, rows)) < 0).any()


def test_probabilities() -> None:
    X, y = smooth(11)
    logistic = RGBClassifier(10, calibration=None).fit(X, y)
    np.testing.assert_allclose(logistic.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores_of(logistic, X))), rtol=1e-12)
    steep = RGBClassifier(10, loss="exponential", calibration=None).fit(X, y)
    np.testing.assert_allclose(steep.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * scores_of(steep, X))), rtol=1e-9)
    X, y = smooth_classes(11)
    with pytest.raises(ValueError, match=r"(?s)exponential.*two classes.*3.*logistic"):
        RGBClassifier(loss="exponential").fit(X, y)


def test_quantiles_are_quantiles() -> None:
    rng = np.random.default_rng(12)
    X = rng.uniform(size=(2000, 1))
    y = X[:, 0] + (0.5 + X[:, 0]) * rng.exponential(size=2000)
    for level in (0.1, 0.5, 0.9):
        model = RGBRegressor(60, loss=QuantileLoss(level), tree_options=TreeOptions(min_leaf_weight=100)).fit(X, y)
        np.testing.assert_allclose(np.mean(y <= model.predict(X)), level, atol=0.05)


def test_complexity_penalty_chooses_simple_families() -> None:
    X, y = smooth(14, m=400)
    free, dear = (RGBClassifier(20, complexity_penalty=price).fit(X, y) for price in (0.0, 10.0))
    complexity = [
        np.multiply(m.history_["family_norm"], np.sqrt(m.history_["family_size"])).mean() for m in (free, dear)
    ]
    assert complexity[1] < 0.5 * complexity[0]


def test_the_constant_of_the_paper_can_raise_the_loss() -> None:
    """ERRATA 22: with lambda above 1 the C_k of Lemma A.1 bounds nothing; here it overshoots by far."""
    X, y = smooth(15, m=200, noise=0.0)
    families = TreeFamilies(sizes=(64,), norms=(4.0,))
    paper, ours = (
        RGBClassifier(20, family=families, step=step, learning_rate=1.0, tree_options=LOOSE).fit(X, y)
        for step in ("paper", "lipschitz")
    )
    assert (np.diff(ours.history_["objective"]) <= 0).all()
    assert paper.history_["objective"] != ours.history_["objective"]
    with pytest.raises(ValueError, match=r"(?s)paper.*Lipschitz.*line_search"):
        RGBClassifier(loss="exponential", step="paper").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_candidates": 0}, ValueError, "n_candidates"),
        ({"complexity_penalty": -1.0}, ValueError, "complexity_penalty"),
        ({"learning_rate": 1.5}, ValueError, "learning_rate"),
        ({"step": "newton"}, ValueError, "line_search"),
        ({"subsample": 0.0}, ValueError, "subsample"),
        ({"family": (2, 4)}, TypeError, "TreeFamilies"),
        ({"family": TreeFamilies(sizes=())}, ValueError, "at least one"),
        ({"family": TreeFamilies(sizes=(0, 2))}, ValueError, "entry of sizes"),
        ({"family": TreeFamilies(sizes=(4, 2))}, ValueError, "ascend"),
        ({"family": TreeFamilies(norms=(0.0, 1.0))}, ValueError, "entry of norms"),
        ({"family": TreeFamilies(norm_order=3)}, ValueError, "norm_order must be 1, 2 or infinity"),
        ({"family": TreeFamilies(weights="most")}, ValueError, "weights"),
        ({"family": TreeFamilies(weights=[1.0])}, ValueError, r"shape \(7, 7\)"),
        ({"family": TreeFamilies(sizes=(1,), norms=(1.0,), weights=[[0.0]])}, ValueError, "not all of them 0"),
        ({"tree_options": TreeOptions(growth="best_first", max_leaves=4)}, ValueError, "grow best-first"),
        ({"warm_start": "yes"}, TypeError, "warm_start"),
    ],
)
def test_parameters_that_are_refused(parameters: Any, error: type[Exception], message: str) -> None:
    X, y = numbers()
    with pytest.raises(error, match=message):
        RGBRegressor(**{"n_rounds": 2, **parameters}).fit(X, y)


def test_line_search() -> None:
    def parabola(step: float) -> tuple[float, float]:
        return (step - 3.7) ** 2, 2 * (step - 3.7)

    def kink(step: float) -> tuple[float, float]:
        return abs(step - 3.7), float(np.sign(step - 3.7))

    def exponential(step: float) -> tuple[float, float]:
        value = float(np.exp(min(step, 700.0)))
        return value - 5.0 * step, value - 5.0

    for first in (1e-6, 1.0, 700.0, 1e6):
        np.testing.assert_allclose(convex_search(exponential, 1.0, -4.0, first, 1e-10), np.log(5.0), rtol=1e-8)
        np.testing.assert_allclose(convex_search(parabola, 3.7**2, -7.4, first, 1e-10), 3.7, rtol=1e-8)
        np.testing.assert_allclose(convex_search(kink, 3.7, -1.0, first, 1e-4), 3.7, rtol=1e-3)
    assert convex_search(lambda step: (1.0 + step, 1.0), 1.0, -1e-9, 1.0, 1e-10) == 0.0


def test_the_bound_speaks_of_the_model() -> None:
    X, y = smooth(16, m=300)
    model = RGBClassifier(10, family=TreeFamilies(sizes=(2, 4), norms=(0.5, 3.0))).fit(X, y)
    found = {one.theorem: one for one in every_statement(model, X, y, (0.5,), 0.05)}
    bound = found["Regularized Gradient Boosting, Theorem 3.2"]
    assert guarantees.bound(model, X, y, rho=0.5).total == min(one.total for one in found.values())
    ensemble = model.ensemble_
    # h / lambda has leaves in [-1, 1]: it lies in the convex hull of the votes with as many splits.
    sizes = [max(tree.n_splits, 1) for tree in ensemble.hypotheses]
    counts = [math.comb(2 * n, n) / (n + 1) * (2 * X.shape[1] * 300.0) ** n for n in sizes]
    prices = np.sqrt(2 * np.log(counts) / 300)
    mean = (np.abs(ensemble.weights) * prices).sum() / np.abs(ensemble.weights).sum()
    np.testing.assert_allclose(bound.complexity, mean, rtol=1e-12)
    np.testing.assert_allclose(bound.complexity_term, bound.factor * mean, rtol=1e-12)
    assert 2 / 0.5 < bound.factor <= 4 / 0.5
    assert bound.n_families == max(sizes) + 1 <= 5  # one split, stump pairs, two splits, ...
    lead = y * scores_of(model, X) / np.abs(ensemble.weights).sum()
    np.testing.assert_allclose(guarantees.margins(model, X, y), lead, rtol=1e-12)
    several = RGBClassifier(10).fit(*smooth_classes(16))
    assert np.abs(guarantees.margins(several, *smooth_classes(16))).max() <= 1.0
    assert f"c = {len(several.classes_)} classes" in str(guarantees.bound(several, *smooth_classes(16)))
    with pytest.raises(TypeError, match="predicts numbers"):
        guarantees.bound(RGBRegressor(2).fit(*numbers()), *numbers())


def test_more_scores_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_validation, "free_memory", lambda: 1000.0)
    X, y = smooth_classes(17)
    with pytest.raises(ValueError, match=r"150 rows with 3 classes need about .* GiB.*fewer rows"):
        RGBClassifier(2).fit(X, y)


def test_the_exponential_loss_stays_finite_with_any_weights() -> None:
    """Rows that single leaves can tell apart: a line search goes far out, where weighted exponentials are summed."""
    for seed in range(6):
        draw = np.random.default_rng(seed)
        X, y = draw.normal(size=(40, 3)), draw.integers(0, 2, 40)
        options = TreeOptions(min_leaf_weight=0.0)
        model = RGBClassifier(20, loss="exponential", subsample=1.0, tree_options=options, calibration=None)
        for weights in (draw.random(40) * 3.0, np.full(40, 2.0**40)):
            assert np.isfinite(model.fit(X, y, sample_weight=weights).history_["objective"]).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_rounds", [4, "auto"])
def test_classes_of_next_to_no_weight(n_classes: int, n_rounds: Any) -> None:
    X, y = smooth_classes(0, m=60, n_classes=n_classes)
    places = np.unique(y, return_inverse=True)[1]
    model = RGBClassifier(n_rounds).fit(X, places, np.where(places == 1, 1e-310, 1.0))
    assert np.isfinite(model.predict_proba(X)).all()
    assert 1 not in model.predict(X)
