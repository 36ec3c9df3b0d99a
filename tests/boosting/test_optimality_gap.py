"""`optimality_gap_` of coordinate descent, against minima over all stumps by a general solver and by longer fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost import DeepBoostClassifier, KernelFamily, TreeOptions, load
from radboost.families import Candidates, stumps_at
from radboost.losses import get_loss


def rows(seed: int, n: int = 120, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (n, 3)).astype(float)
    return X, np.digitize(X[:, 0] + X[:, 1] + 4.0 * rng.normal(size=n), np.linspace(5, 17, n_classes + 1)[1:-1])


def all_stumps(X: np.ndarray) -> np.ndarray:
    """Values of the constant and of every stump, up to their signs; shape (n_stumps, n_rows)."""
    cuts = [(column, low) for column in X.T for low in np.unique(column)[:-1]]
    return np.array([np.ones(len(X)), *(np.where(column > low, 1.0, -1.0) for column, low in cuts)])


def least_by_a_solver(
    H: np.ndarray, y: np.ndarray, loss: Any, price: float, weights: np.ndarray, offset: np.ndarray
) -> float:
    """Minimum over all weights of the mean loss plus the price of their sizes, by L-BFGS-B on both signs of each."""
    A, start, w = (H * y).T, 1.0 - y * offset, weights / weights.sum()

    def objective(parts: np.ndarray) -> tuple[float, np.ndarray]:
        u = start - A @ (parts[: len(H)] - parts[len(H) :])
        slopes = -A.T @ (w * loss.derivative(u))
        return w @ loss.value(u) + price * parts.sum(), price + np.concatenate([slopes, -slopes])

    parts = np.zeros(2 * len(H))
    for _ in range(5):
        options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 50}
        bounds = [(0.0, None)] * len(parts)
        parts = minimize(objective, parts, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return float(objective(parts)[0])


def check_certificate(seed: int, loss: str, price: float, learning_rate: float, n_rounds: int) -> None:
    X, y = rows(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    offset = 0.3 * X[:, 2] - 1.0 if seed % 2 else np.zeros(len(X))
    model = DeepBoostClassifier.paper(
        n_rounds, family="stumps", loss=loss, l1_penalty=price, step="line_search", learning_rate=learning_rate
    ).fit(X, y, weights, offset=offset if seed % 2 else None)
    least = least_by_a_solver(all_stumps(X), 2.0 * y - 1.0, get_loss(loss), price, weights, offset)
    above = model.history_["objective"][-1] - least
    assert above <= model.optimality_gap_ + 1e-10
    if n_rounds > 1000:
        assert model.stop_reason_ == "converged: no hypothesis lowers the objective"
        assert model.optimality_gap_ <= 10.0 * max(above, 0.0) + 1e-6
    else:
        # The gap falls with the largest excess of an edge over its price, the distance with its square.
        assert model.optimality_gap_ <= 10.0 * above + 10.0 * np.sqrt(max(above, 0.0)) + 1e-6
        assert not model.stop_reason_.startswith("converged") or model.optimality_gap_ <= 1e-5


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize(("learning_rate", "n_rounds"), [(1.0, 20), (0.3, 200), (1.0, 10000)])
def test_the_gap(loss: str, learning_rate: float, n_rounds: int) -> None:
    check_certificate(int(n_rounds > 50), loss, 0.05, learning_rate, n_rounds)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("price", [0.1, 0.03, 0.01])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("learning_rate", "n_rounds"), [(1.0, 1), (1.0, 100), (0.3, 1000), (1.0, 40000)])
def test_the_gap_of_more_fits(loss: str, price: float, seed: int, learning_rate: float, n_rounds: int) -> None:
    check_certificate(seed, loss, price, learning_rate, n_rounds)


STUMPS: dict[str, Any] = {"family": "stumps", "step": "line_search", "l1_penalty": 0.02}


@pytest.mark.parametrize("objective", ["sum", "compsum", "maxsum"])
def test_the_gap_with_more_classes(objective: str) -> None:
    X, y = rows(3, n_classes=3)
    options = {**STUMPS, "objective": objective, "loss": "logistic"}
    best = DeepBoostClassifier.paper(5000, **options).fit(X, y)
    least = best.history_["objective"][-1]
    assert best.optimality_gap_ <= 1e-5
    for n_rounds in (5, 50):
        model = DeepBoostClassifier.paper(n_rounds, **options).fit(X, y)
        above = model.history_["objective"][-1] - least
        assert above <= model.optimality_gap_ <= above + 5.0 * np.sqrt(above)


def test_prices_that_differ_by_column() -> None:
    """The stump with the largest edge need not violate its price most: the lowest price counts."""
    X, y = rows(4)
    X[:, 2] = np.random.default_rng(4).integers(0, 12, len(X))
    options = {**STUMPS, "l1_penalty": 0.0, "complexity_penalty": 0.1, "categorical_features": [2]}
    best = DeepBoostClassifier.paper(5000, **options).fit(X, y)
    for n_rounds in (3, 30, 300):
        model = DeepBoostClassifier.paper(n_rounds, **options).fit(X, y)
        assert model.history_["objective"][-1] - best.history_["objective"][-1] <= model.optimality_gap_


def test_other_families(tmp_path: Any) -> None:
    X, y = rows(5)
    for family in (KernelFamily(gamma=0.1), Candidates(stumps_at([np.arange(0.5, 11.0)] * 3))):
        model = DeepBoostClassifier.paper(5000, **{**STUMPS, "family": family}).fit(X, y)
        assert model.optimality_gap_ < 1e-3
        assert "ensemble" not in model.stop_reason_
    grown = DeepBoostClassifier(2000, max_depth=2, **{**STUMPS, "family": "trees"}, learning_rate=1.0)
    grown.set_params(tree_options=TreeOptions(leaves="votes"), complexity_penalty=0.05, calibration=None).fit(X, y)
    assert 0.0 < grown.optimality_gap_ < 0.1
    assert "hypotheses of the ensemble" in grown.stop_reason_ or grown.stop_reason_ == "all rounds done"
    grown.save(tmp_path / "model.radboost")
    assert load(tmp_path / "model.radboost").optimality_gap_ == grown.optimality_gap_


def test_bounds_that_are_not_known() -> None:
    X, y = rows(6, n_classes=3)
    assert np.isnan(DeepBoostClassifier.paper(20, **STUMPS, objective="max").fit(X, y).optimality_gap_)
    damped = DeepBoostClassifier(20, tree_options=TreeOptions(leaves="rated"), calibration=None).fit(X, y)
    assert np.isnan(damped.optimality_gap_)


def test_without_a_price_zero_is_the_bound() -> None:
    X, y = rows(7)
    model = DeepBoostClassifier.paper(50, family="stumps").fit(X, y)
    assert model.optimality_gap_ == pytest.approx(model.history_["objective"][-1])
