"""The worst mixture of several losses on trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from radboost import AgnosticBoostClassifier, AgnosticClassifier, Mixtures, TreeFamilies, TreeOptions
from radboost.engine import current
from radboost.losses.model_evaluation import check_evaluation_losses
from radboost.objectives.several_losses import SeveralLosses, SeveralLossRows
from radboost.rows.weights import RowWeights

CONVEX = ("cross_entropy", "hinge")
FREE: dict[str, Any] = {
    "complexity_penalty": 0.0,
    "learning_rate": 1.0,
    "subsample": 1.0,
    "tree_options": TreeOptions(min_leaf_weight=0.0),
}


def xor(seed: int, n: int = 400, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Nothing that a line could part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y if n_classes == 2 else y + (X[:, 2] > 1.0) * 2 * (n_classes > 3) + (X[:, 2] < -1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("losses", [CONVEX, ("cross_entropy", "hinge", "l1"), ("l1",)])
def test_the_soft_maximum_falls_in_every_round(n_classes: int, losses: tuple[str, ...]) -> None:
    X, y = xor(1, n_classes=n_classes)
    model = AgnosticBoostClassifier(40, losses=losses).fit(X, y)
    objective = np.array(model.history_["objective"])
    assert np.all(np.diff(objective) <= 1e-12)
    assert objective[-1] < 0.9 * objective[0]
    for t in (0, 20, 39):
        values = np.array([model.history_[f"loss[{name}]"][t] for name in losses])
        assert objective[t] == pytest.approx(np.log(np.exp(20.0 * values).sum()) / 20.0)
        shares = np.array([model.history_[f"mixture[{name}]"][t] for name in losses])
        np.testing.assert_allclose(shares, softmax(20.0 * values))
    assert model.score(X, y) > 0.85
    assert model.agnostic_loss_ == max(model.loss_values_.values())
    assert model.agnostic_loss_ <= objective[-1] <= model.agnostic_loss_ + np.log(len(losses)) / 20.0 + 1e-12


@pytest.mark.parametrize("n_classes", [2, 4])
def test_losses_by_hand(n_classes: int) -> None:
    X, y = xor(2, n_classes=n_classes)
    model = AgnosticBoostClassifier(15).fit(X, y)
    scores = model.decision_function(X)
    lines = scores[None] if n_classes == 2 else scores.T
    several = SeveralLosses(check_evaluation_losses(model.losses), n_classes, None, 20.0)
    targets = 2.0 * y - 1.0 if n_classes == 2 else y.astype(float)
    for name, loss in zip(several.names, several.of(targets), strict=True):
        assert model.loss_values_[name] == pytest.approx(loss.value(lines).mean() / loss.lipschitz_of_value, rel=1e-9)
    assert model.history_["train_error"][-1] == pytest.approx(1.0 - model.score(X, y), abs=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_slopes_along_a_tree_are_those_of_the_soft_maximum(n_outputs: int) -> None:
    rng = np.random.default_rng(3)
    n_classes = max(2, n_outputs)
    targets = rng.integers(0, n_classes, 80).astype(float)
    targets = 2.0 * targets - 1.0 if n_outputs == 1 else targets
    several = SeveralLosses(check_evaluation_losses(("cross_entropy", "hinge", "zero_one", "l1")), n_classes, None, 5.0)
    weights = RowWeights(rng.integers(1, 4, 80).astype(float), 80)
    rows = SeveralLossRows(
        current().gradient_scores("given", 0.0, n_outputs, targets, weights.native), weights, several, targets, 1
    )
    shape = (80,) if n_outputs == 1 else (80, n_outputs)
    rows.set_scores(rng.normal(size=shape).reshape(-1))
    direction = rng.normal(size=shape)

    class Grower:
        def answers(self, cut: Any) -> np.ndarray:
            return direction.reshape(-1)

    grower: Any = Grower()
    for step in (0.0, 0.3, -0.7):
        (ahead, _), (back, _) = (rows.along(grower, None, step + shift) for shift in (1e-6, -1e-6))  # type: ignore[arg-type]
        assert rows.along(grower, None, step)[1] == pytest.approx((ahead - back) / 2e-6, rel=1e-4, abs=1e-7)  # type: ignore[arg-type]
    assert rows.along(grower, None, 0.0)[0] == pytest.approx(rows.mean_loss)  # type: ignore[arg-type]


def test_stumps_come_near_to_the_linear_minimax() -> None:
    """On signs of columns, where sums of stumps are linear models, both minimise the same thing."""
    rng = np.random.default_rng(4)
    X = rng.choice([-1.0, 1.0], size=(300, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=300) > 0).astype(int)
    linear = AgnosticClassifier(CONVEX, n_rounds=5000).fit(X, y)
    trees = AgnosticBoostClassifier(
        300, losses=CONVEX, mu=500.0, family=TreeFamilies(sizes=(1,), norms=(1.0,)), **FREE
    ).fit(X, y)
    assert trees.agnostic_loss_ == pytest.approx(linear.agnostic_loss_, abs=0.01)


def test_mixtures_and_the_worst_of_them() -> None:
    X, y = xor(5)
    vertices = [[0.9, 0.1], [0.4, 0.6]]
    model = AgnosticBoostClassifier(30, losses=CONVEX, mixtures=vertices).fit(X, y)
    values = np.array(list(model.loss_values_.values()))
    assert model.agnostic_loss_ == pytest.approx(max(np.array(vertices) @ values))
    for share in model.history_["mixture[cross_entropy]"]:
        assert 0.4 - 1e-12 <= share <= 0.9 + 1e-12
    # Prices are counted in the uniform mixture, and would not be the same.
    only = AgnosticBoostClassifier(30, losses=CONVEX, mixtures=[[1.0, 0.0]], complexity_penalty=0.0).fit(X, y)
    single = AgnosticBoostClassifier(30, losses=("cross_entropy",), complexity_penalty=0.0).fit(X, y)
    np.testing.assert_allclose(only.decision_function(X), single.decision_function(X), atol=1e-9)


def test_early_stopping_watches_the_worst_mixture() -> None:
    X, y = xor(6, n=600)
    model = AgnosticBoostClassifier(300, losses=CONVEX, learning_rate=1.0, early_stopping=8).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert "early stopping" in model.stop_reason_
    margins = (2.0 * y[300:] - 1.0) * model.decision_function(X[300:])
    values = [np.logaddexp(0.0, -margins).mean(), np.maximum(0.0, 1.0 - margins).mean()]
    assert model.best_score_ == pytest.approx(max(values), rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"losses": ("hinges",)}, ValueError, "losses has 'hinges'"),
        ({"mixtures": Mixtures(penalty=1.0)}, ValueError, "a mixture of losses has none"),
        ({"mu": 0.0}, ValueError, "mu"),
        ({"n_rounds": "auto"}, TypeError, "n_rounds"),
        ({"subsample": "auto"}, TypeError, "subsample"),
    ],
)
def test_refusals(wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    """What is particular to trees: AgnosticClassifier has the same checks of losses, and runs no trials either."""
    X, y = xor(8)
    with pytest.raises(error, match=message):
        AgnosticBoostClassifier(**wrong).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("losses", [CONVEX, ("cross_entropy", "hinge", "zero_one", "l1")])
def test_the_optimality_gap_is_about_weights_of_the_same_size(n_classes: int, losses: tuple[str, ...]) -> None:
    """No other weights of the trees, of the same total size, have a soft maximum below the bound."""
    X, y = xor(2, n=150, n_classes=n_classes)
    model = AgnosticBoostClassifier(15, losses=losses, **FREE).fit(X, y)
    trees, weights = model.ensemble_.hypotheses, model.ensemble_.weights
    values = np.array([tree.values(X).reshape(len(X), -1) for tree in trees])
    several = SeveralLosses(check_evaluation_losses(losses), n_classes, None, model.mu)
    made = several.of(2.0 * y - 1.0 if n_classes == 2 else y.astype(float))

    def soft_maximum(weights: np.ndarray) -> float:
        means = several.values(made, np.squeeze(np.tensordot(weights, values, 1))).mean(axis=0)
        return float(np.log(np.exp(model.mu * means).sum()) / model.mu)

    assert soft_maximum(weights) == pytest.approx(model.history_["objective"][-1])
    lower = soft_maximum(weights) - model.optimality_gap_
    n, size = len(weights), np.abs(weights).sum()
    found = minimize(
        lambda parts: soft_maximum(parts[:n] - parts[n:]),
        0.99 * np.concatenate([np.maximum(weights, 0.0), np.maximum(-weights, 0.0)]),
        bounds=[(0.0, None)] * (2 * n),
        constraints={"type": "ineq", "fun": lambda parts: size - parts.sum()},
        method="SLSQP",
    )
    assert lower <= found.fun <= soft_maximum(weights) + 1e-3


def test_the_gap_closes_where_weights_are_best() -> None:
    """One stump: its weight is all there is, and the line search finds the best."""
    X = np.repeat([0.0, 1.0], 20)[:, None]
    y = np.array([1] * 5 + [0] * 15 + [0] * 5 + [1] * 15)
    model = AgnosticBoostClassifier(60, losses=("cross_entropy",), **FREE).fit(X, y)
    assert model.optimality_gap_ <= 1e-6
    assert model.stop_reason_ == (
        "converged over the trees of the ensemble: 10 rounds in a row found no tree that lowers the loss"
    )
