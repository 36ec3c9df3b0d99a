"""ALMO for linear models: the minimax value, mixtures, the frontier of Pareto, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

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


PROBLEMS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (CONVEX, {}),
    (("cross_entropy", "l1"), {}),
    (("cross_entropy", "hinge", "l1"), {}),
    (("cross_entropy", "hinge", "l1"), {"norm_penalty": 0.1}),
    (CONVEX, {"radius": 0.5}),
    (("cross_entropy", "hinge", "l1"), {"mixtures": [[0.6, 0.2, 0.2], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]]}),
    (("cross_entropy", "l1"), {"normalize": False, "lipschitz_penalty": 0.2}),
]


def least_by_a_solver(X: np.ndarray, y: np.ndarray, names: tuple[str, ...], options: dict[str, Any]) -> float:
    """Objective of (5.10), by SLSQP on an epigraph with kinks that are rounded less and less."""
    Z, signs = np.hstack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones((len(X), 1))]), 2.0 * y - 1.0
    radius, price = options.get("radius", 10.0), options.get("norm_penalty", 0.0)
    vertices = np.array(options.get("mixtures", np.eye(len(names))))

    def losses(w: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
        margins = signs * (Z @ w)
        root, both = np.hypot(1.0 - margins, width), (1.0 - margins) / np.hypot(1.0 - margins, width)
        known = {
            "cross_entropy": (np.logaddexp(0.0, -margins), -1.0 / (1.0 + np.exp(margins))),
            "hinge": (0.5 * (1.0 - margins + root), -0.5 * (1.0 + both)),
            "l1": (root, -both),
        }
        values = np.array([known[name][0].mean() for name in names]) + options.get("lipschitz_penalty", 0.0)
        return values, np.array([Z.T @ (signs * known[name][1]) / len(y) for name in names])

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        size = np.sqrt(z[:-2] @ z[:-2] + 1e-14)
        return z[-1] + price * size, np.concatenate([price * z[:-2] / size, [0.0, 1.0]])

    least, z = np.inf, np.append(np.zeros(Z.shape[1]), 2.0)
    for width in 10.0 ** -np.arange(1.0, 6.0):
        constraints: list[dict[str, Any]] = [
            {
                "type": "ineq",
                "fun": lambda z, width=width: z[-1] - vertices @ losses(z[:-1], width)[0],
                "jac": lambda z, width=width: np.column_stack(
                    [-vertices @ losses(z[:-1], width)[1], np.ones(len(vertices))]
                ),
            },
            {
                "type": "ineq",
                "fun": lambda z: radius**2 - z[:-1] @ z[:-1],
                "jac": lambda z: np.append(-2.0 * z[:-1], 0.0),
            },
        ]
        z = minimize(
            objective,
            z,
            jac=True,
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-12},
        ).x
        w = z[:-1] * min(1.0, radius / np.linalg.norm(z[:-1]))
        least = min(least, (vertices @ losses(w, 0.0)[0]).max() + price * np.linalg.norm(w[:-1]))
    return float(least)


@in_turns(
    "solver, seed, vertices", ["descent_ascent", "mirror_prox"], range(4), [None, [[0.8, 0.2], [0.4, 0.6]]], one_in=4
)
def test_the_minimax_value_of_a_convex_solver(solver: str, seed: int, vertices: Any) -> None:
    X, y = noisy(seed, n=30)
    options = {} if vertices is None else {"mixtures": vertices}
    model = AgnosticClassifier(CONVEX, solver=solver, n_rounds=300, **options).fit(X, y)
    assert model.agnostic_loss_ == pytest.approx(least_by_a_solver(X, y, CONVEX, options), abs=1e-6)
    uniform = AgnosticClassifier(CONVEX, n_rounds=300, mixtures=[[0.5, 0.5]]).fit(X, y)
    values = np.array(list(uniform.loss_values_.values()))
    worst = values.max() if vertices is None else (np.array(vertices) @ values).max()
    assert model.agnostic_loss_ <= worst + 1e-6


def check_certificate(seed: int, problem: int, solver: str, **others: Any) -> None:
    """The gap is never below the distance from the minimum, nor far above it; "converged" means both are small."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 0.0, -2.0]
    y = (X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=150) > 0.5).astype(int)
    names, options = PROBLEMS[problem]
    model = AgnosticClassifier(names, solver=solver, **options, **others).fit(X, y)
    price = options.get("norm_penalty", 0.0) * np.linalg.norm(model.coef_ * X.std(axis=0))
    shift = options.get("lipschitz_penalty", 0.0)
    above = model.agnostic_loss_ + shift + price - least_by_a_solver(X, y, names, options)
    assert above <= model.optimality_gap_
    if not others:
        assert model.stop_reason_ == "converged"
    if model.stop_reason_ == "converged":
        assert above <= 1e-5
        assert model.optimality_gap_ <= 10.0 * max(above, 0.0) + 1e-6


@pytest.mark.parametrize("problem", range(len(PROBLEMS)))
def test_the_optimality_gap(problem: int) -> None:
    check_certificate(problem % 3, problem, ["descent_ascent", "mirror_prox"][problem % 2])
    check_certificate(problem % 3, problem, "descent_ascent", n_rounds=100, batch_size=20)


@pytest.mark.slow
@pytest.mark.parametrize("problem", range(len(PROBLEMS)))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solver", ["descent_ascent", "mirror_prox"])
def test_the_optimality_gap_of_more_fits(problem: int, seed: int, solver: str) -> None:
    check_certificate(seed, problem, solver)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("losses", [("cross_entropy", "hinge", "zero_one", "l1"), ("hinge",), ("zero_one",)])
def test_the_lower_bound_is_below_every_model(n_classes: int, losses: tuple[str, ...]) -> None:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(80, 3))
    y = (X @ rng.normal(size=(3, n_classes)) + rng.normal(size=(80, n_classes))).argmax(axis=1)
    best = AgnosticClassifier(losses, random_state=0).fit(X, y)
    assert (best.stop_reason_ == "converged") == (losses != ("zero_one",))  # which is not convex: it counts as 0
    lower = best.agnostic_loss_ - best.optimality_gap_
    for radius, n_rounds, batch_size in ((10.0, 30, None), (3.0, 300, 8), (0.5, 10, 4)):
        other = AgnosticClassifier(losses, radius=radius, n_rounds=n_rounds, batch_size=batch_size).fit(X, y)
        assert lower <= other.agnostic_loss_ + 1e-9
        if radius == 10.0:
            assert other.agnostic_loss_ - other.optimality_gap_ <= best.agnostic_loss_ + 1e-9


class Constant:
    """1 for every score."""

    convex = True

    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.ones(len(scores))

    def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.zeros(len(scores))


class Rising(Constant):
    """Less than 1 for every score of the ball."""

    def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return 0.5 + 0.1 * scores

    def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return np.full(len(scores), 0.1)


def test_a_minimum_that_is_not_unique_need_not_be_pareto_optimal() -> None:
    """Storcheus (2021), Proposition 5.1, is about unique minima: max(1, 0.5 + 0.1 b) is 1 for every b in [-1, 1]."""
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    model = AgnosticClassifier((Constant(), Rising()), radius=1.0).fit(X, y)
    assert model.agnostic_loss_ == 1.0
    assert model.optimality_gap_ < 1e-3
    assert model.loss_values_["Rising"] > 0.45  # b = -1 has 0.4, and the other loss is the same
    unique = AgnosticClassifier((Rising(),), radius=1.0).fit(X, y)
    assert unique.loss_values_["Rising"] == pytest.approx(0.4)


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


def test_the_rate_of_theorem_5_4(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descent-ascent alone is below the bound for its steps, and falls like 1 / sqrt(T) or faster.

    The step by lambda is not the theorem's: the losses at w = 0 are no bound of the losses in the ball.
    """
    monkeypatch.setattr("radboost.linear.polishing.MOST_WEIGHTS", 0)
    X, y = noisy(3)
    least = least_by_a_solver(X, y, CONVEX, {"radius": 5.0})
    lengths = np.linalg.norm(np.hstack([X, np.ones((len(X), 1))]), axis=1)
    at_zero = np.hypot(np.log(2.0), 1.0)  # G_0
    largest = np.hypot(np.logaddexp(0.0, 5.0 * lengths).mean(), (1.0 + 5.0 * lengths).mean())  # G_lambda, at most
    gaps = []
    for n_rounds in (25, 100, 400, 1600):
        found = AgnosticClassifier(CONVEX, radius=5.0, n_rounds=n_rounds).fit(X, y)
        gaps.append(found.agnostic_loss_ - least)
        worst = np.array([found.history_[f"loss[{name}]"] for name in CONVEX])
        assert np.linalg.norm(worst, axis=0).max() <= largest
        bound = 3.0 * 5.0 * np.sqrt((lengths**2).mean()) + at_zero + largest**2 / at_zero
        assert gaps[-1] <= bound / np.sqrt(n_rounds)
        assert gaps[-1] <= found.optimality_gap_ <= bound / np.sqrt(n_rounds)
        assert found.stop_reason_ == "n_rounds"
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] <= gaps[0] / 8.0  # 64 times the rounds
    steep = AgnosticClassifier(CONVEX, radius=5.0, n_rounds=25, learning_rate=50.0).fit(X, y)
    assert max(steep.history_["loss[hinge]"]) > at_zero


def test_one_loss_is_plain_training() -> None:
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


class ConvexHinge(Hinge):
    convex = True


def test_losses_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(7)
    own = AgnosticClassifier(("cross_entropy", Hinge())).fit(X, y)
    assert np.isnan(own.optimality_gap_)
    convex, best = (AgnosticClassifier(("cross_entropy", loss)).fit(X, y) for loss in (ConvexHinge(), "hinge"))
    assert convex.agnostic_loss_ - best.agnostic_loss_ <= convex.optimality_gap_ < 0.02
    assert convex.stop_reason_ == "n_rounds"
    monkeypatch.setattr("radboost.linear.polishing.MOST_WEIGHTS", 0)
    ours = AgnosticClassifier(CONVEX).fit(X, y)
    for each in (own, convex):
        np.testing.assert_array_equal(each.coef_, ours.coef_)
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
