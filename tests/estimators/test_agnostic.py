"""ALMO for linear models: the minimax value, mixtures, the frontier of Pareto, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost import AgnosticClassifier, Mixtures, ModelFileError, load
from radboost.linear.minimax import on_polytope, on_simplex
from turns import in_turns

CONVEX = ("cross_entropy", "hinge")


def noisy(seed: int, n: int = 60, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Columns with a mean of 0 and a spread of 1, so that they are those of the problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0.3 * rng.normal()).astype(int)


def minimax_by_a_solver(X: np.ndarray, y: np.ndarray, radius: float, vertices: np.ndarray) -> float:
    """The smallest t above all mixtures of cross-entropy and hinge, whose slacks are variables, by SLSQP."""
    n, d = X.shape
    D, signs = np.hstack([X, np.ones((n, 1))]), 2.0 * y - 1.0

    def entropy(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (D @ w)
        return float(np.logaddexp(0.0, -margins).mean()), -(signs / (1.0 + np.exp(margins))) @ D / n

    def mixed(z: np.ndarray, share: np.ndarray) -> float:
        return float(z[-1] - share[0] * entropy(z[: d + 1])[0] - share[1] * z[d + 1 : -1].mean())

    def slope(z: np.ndarray, share: np.ndarray) -> np.ndarray:
        return np.concatenate([-share[0] * entropy(z[: d + 1])[1], np.full(n, -share[1] / n), [1.0]])

    constraints: list[dict[str, Any]] = [
        {"type": "ineq", "fun": mixed, "jac": slope, "args": (share,)} for share in vertices
    ]
    constraints += [
        {
            "type": "ineq",
            "fun": lambda z: z[d + 1 : -1] - 1.0 + signs * (D @ z[: d + 1]),
            "jac": lambda z: np.hstack([signs[:, None] * D, np.eye(n), np.zeros((n, 1))]),
        },
        {
            "type": "ineq",
            "fun": lambda z: radius**2 - z[: d + 1] @ z[: d + 1],
            "jac": lambda z: np.concatenate([-2.0 * z[: d + 1], np.zeros(n + 1)]),
        },
    ]
    found = minimize(
        lambda z: z[-1],
        np.concatenate([np.zeros(d + 1), np.ones(n), [2.0]]),
        jac=lambda z: np.eye(len(z))[-1],
        constraints=constraints,
        bounds=[(None, None)] * (d + 1) + [(0.0, None)] * n + [(None, None)],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success, found.message
    return float(found.fun)


@in_turns(
    "solver, seed, vertices", ["descent_ascent", "mirror_prox"], range(4), [None, [[0.8, 0.2], [0.4, 0.6]]], one_in=4
)
def test_the_minimax_value_of_a_convex_solver(solver: str, seed: int, vertices: Any) -> None:
    X, y = noisy(seed, n=30)
    least = minimax_by_a_solver(X, y, 10.0, np.eye(2) if vertices is None else np.array(vertices))
    model = AgnosticClassifier(CONVEX, solver=solver, n_rounds=3000, mixtures=vertices).fit(X, y)
    assert least - 1e-7 <= model.agnostic_loss_ <= least + 1e-3
    uniform = AgnosticClassifier(CONVEX, n_rounds=3000, mixtures=[[0.5, 0.5]]).fit(X, y)
    values = np.array(list(uniform.loss_values_.values()))
    worst = values.max() if vertices is None else (np.array(vertices) @ values).max()
    assert model.agnostic_loss_ <= worst + 1e-3


@pytest.mark.parametrize("vertices", [None, [[0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 0.0]]])
@pytest.mark.parametrize("batch_size", [None, 8])
def test_mixtures_stay_where_they_should(vertices: Any, batch_size: int | None) -> None:
    X, y = noisy(1)
    model = AgnosticClassifier(n_rounds=300, mixtures=vertices, batch_size=batch_size).fit(X, y)
    shares = np.array([model.history_[f"mixture[{name}]"] for name in model.mixture_])
    for found in (*shares.T, np.array(list(model.mixture_.values()))):
        assert found.min() >= -1e-12
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        if vertices is not None:
            np.testing.assert_allclose(on_polytope(found, np.array(vertices)), found, atol=1e-6)
    assert list(model.mixture_) == ["cross_entropy", "hinge", "zero_one", "l1"]
    assert model.agnostic_loss_ == pytest.approx(
        max(np.atleast_2d(np.eye(4) if vertices is None else vertices) @ list(model.loss_values_.values()))
    )


def test_projections() -> None:
    """Nothing in the set is nearer."""
    rng = np.random.default_rng(0)
    vertices = rng.dirichlet(np.ones(4), 5)
    for _ in range(50):
        point = rng.normal(size=4)
        for found, others in (
            (on_simplex(point), rng.dirichlet(np.ones(4), 300)),
            (on_polytope(point, vertices), rng.dirichlet(np.ones(5), 300) @ vertices),
        ):
            assert found.min() >= 0.0
            assert found.sum() == pytest.approx(1.0, abs=1e-12)
            assert np.linalg.norm(found - point) <= np.linalg.norm(others - point, axis=1).min() + 1e-9


def test_the_rate_of_theorem_5_4() -> None:
    """The distance to the minimax value is below the theorem's bound, and falls like 1 / sqrt(T) or faster."""
    X, y = noisy(3)
    least = minimax_by_a_solver(X, y, 5.0, np.eye(2))
    D = np.hstack([X, np.ones((len(X), 1))])
    steepest = np.linalg.norm(D, axis=1).mean()  # G_w: losses have slopes of at most 1
    largest = np.sqrt(2.0) * (1.0 + 5.0 * np.linalg.norm(D, axis=1).max())  # G_lambda
    gaps = []
    for n_rounds in (25, 100, 400, 1600):
        found = AgnosticClassifier(CONVEX, radius=5.0, n_rounds=n_rounds).fit(X, y)
        gaps.append(found.agnostic_loss_ - least)
        assert gaps[-1] <= (3.0 * 5.0 * steepest + 3.0 * largest) / np.sqrt(n_rounds)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] <= gaps[0] / 8.0  # 64 times the rounds


def test_one_loss_is_plain_training() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = noisy(4, n=200)
    model = AgnosticClassifier(("cross_entropy",), n_rounds=5000).fit(X, y)
    other = LogisticRegression(C=1e6).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=0.05)
    assert model.mixture_ == {"cross_entropy": 1.0}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_batches_come_near(n_classes: int) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 4))
    y = (X @ rng.normal(size=(4, n_classes)) + rng.normal(size=(2000, n_classes))).argmax(axis=1)
    whole = AgnosticClassifier(CONVEX, n_rounds=1500).fit(X, y)
    drawn = AgnosticClassifier(CONVEX, n_rounds=1500, batch_size=64).fit(X, y)
    assert drawn.agnostic_loss_ < 1.05 * whole.agnostic_loss_
    assert drawn.score(X, y) > whole.score(X, y) - 0.02


def test_penalties_of_the_thesis() -> None:
    """beta_1 shortens the weights; beta_2 shifts the mixture to losses with a large M_k, if these are not divided."""
    X, y = noisy(6)
    lengths = [
        np.linalg.norm(AgnosticClassifier(CONVEX, norm_penalty=beta).fit(X, y).coef_) for beta in (0.0, 0.05, 0.5)
    ]
    assert lengths[0] > lengths[1] > lengths[2]
    assert lengths[2] < 0.5 * lengths[0]

    class Steep(Hinge):  # smaller than the cross-entropy, and said to be steeper
        lipschitz_of_value = 3.0

        def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return 0.2 * super().value(targets, scores)

        def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return 0.2 * super().derivative(targets, scores)

    plain, shifted = (
        AgnosticClassifier(("cross_entropy", Steep()), normalize=False, lipschitz_penalty=beta).fit(X, y)
        for beta in (0.0, 0.2)
    )
    assert shifted.mixture_["Steep"] > plain.mixture_["Steep"] + 0.1


class Hinge:
    """As a user would write it."""

    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - targets * scores)

    def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.where(targets * scores < 1.0, -targets, 0.0)


def test_losses_of_ones_own(tmp_path: Path) -> None:
    X, y = noisy(7)
    own = AgnosticClassifier(("cross_entropy", Hinge())).fit(X, y)
    ours = AgnosticClassifier(CONVEX).fit(X, y)
    np.testing.assert_array_equal(own.coef_, ours.coef_)
    assert list(own.mixture_) == ["cross_entropy", "Hinge"]
    own.save(tmp_path / "model.radboost")
    loaded = load(tmp_path / "model.radboost")
    np.testing.assert_array_equal(loaded.predict_proba(X), own.predict_proba(X))
    assert loaded.mixture_ == own.mixture_
    assert loaded.agnostic_loss_ == own.agnostic_loss_
    with pytest.raises(ModelFileError, match="does not store objects of your own"):
        loaded.losses_on(X, y)
    assert loaded.set_params(losses=("cross_entropy", Hinge())).losses_on(X, y) == own.losses_on(X, y)


def test_losses_on_other_rows() -> None:
    X, y = noisy(8, n=300)
    names = np.array(["no", "yes"])[y]
    model = AgnosticClassifier().fit(X[:200], names[:200])
    found = model.losses_on(X[200:], names[200:])
    assert found["zero_one"] == pytest.approx(1.0 - model.score(X[200:], names[200:]))
    margins = (2.0 * y[200:] - 1.0) * model.decision_function(X[200:])
    assert found["hinge"] == pytest.approx(np.maximum(0.0, 1.0 - margins).mean())
    with pytest.raises(ValueError, match="y holds the label 'maybe', which is not one of the classes"):
        model.losses_on(X[:2], ["no", "maybe"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.losses_on(X[:2], ["no"])
    with pytest.raises(ValueError, match="y should be a 1d array"):
        model.losses_on(X[:2], [["no", "yes"], ["no", "yes"]])


class Broken(Hinge):
    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.full(len(scores), np.nan)


class Infinite(Hinge):
    lipschitz_of_value = np.inf


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"losses": ("cross_entropy", "hinges")}, ValueError, r"losses has 'hinges'; known are 'cross_entropy'"),
        ({"losses": "hinge"}, ValueError, r"losses must be a tuple or list"),
        ({"losses": ()}, ValueError, r"losses must be a tuple or list of one or more"),
        ({"losses": ("hinge", "hinge")}, ValueError, r"'hinge' more than once"),
        ({"losses": ("hinge", 3)}, TypeError, r"losses has 3, which is no name"),
        ({"losses": (Broken(),)}, ValueError, r"Broken.value must return 60 finite numbers.*NaN"),
        ({"losses": (Infinite(),)}, ValueError, r"Infinite.lipschitz_of_value"),
        ({"mixtures": []}, ValueError, r"mixtures must be a table"),
        ({"mixtures": [[0.5, 0.5]]}, ValueError, r"mixtures has 2 columns"),
        ({"mixtures": [[0.5, 0.6, 0.0, 0.0]]}, ValueError, r"sum to 1"),
        ({"mixtures": Mixtures(penalty=1.0)}, ValueError, r"a mixture of losses has none"),
        ({"radius": 0.0}, ValueError, r"radius"),
        ({"norm_penalty": -1.0}, ValueError, r"norm_penalty"),
        ({"lipschitz_penalty": "a"}, TypeError, r"lipschitz_penalty"),
        ({"normalize": "yes"}, TypeError, r"normalize must be True or False"),
        ({"solver": "sgd"}, ValueError, r"solver"),
        ({"batch_size": 0}, ValueError, r"batch_size"),
        ({"learning_rate": 0.0}, ValueError, r"learning_rate"),
    ],
)
def test_refusals(wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    X, y = noisy(9)
    model = AgnosticClassifier(**wrong)
    with pytest.raises(error, match=message):
        model.fit(X, y)
    assert not hasattr(model, "ensemble_")
