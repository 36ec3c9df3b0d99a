"""Every loss with every penalty: each solver reaches the optimum of a general one, and falls in every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost._validation import check_needs
from radboost.linear.bounds import NEEDS, progress, solve_by_bounds
from radboost.linear.columns import DesignMatrix
from radboost.linear.newton import solve_by_newton
from radboost.linear.problem import SparseProblem, Trail
from radboost.losses import EpsilonInsensitiveScores, ExponentialScores, LogisticScores, MultinomialScores
from radboost.penalties import ROW_PENALTIES, get_row_penalty
from reference import sparsity as naive

M, N = 60, 6
RNG = np.random.default_rng(11)
X = RNG.normal(size=(M, N))
X[:, 5] = X[:, 4]  # a column that comes twice
W = RNG.normal(size=(N, 3)) * (np.arange(N) < 3)[:, None]
CLASSES = (X @ W + RNG.gumbel(size=(M, 3))).argmax(axis=1).astype(np.uint16)
SIGNS = np.where(np.arange(3)[:, None] == CLASSES, 1.0, -1.0)
MISSING = SIGNS.copy()
MISSING[2, ::4] = 0.0
LOSSES: dict[str, Any] = {
    "logistic": LogisticScores(SIGNS[:1]),
    "exponential": ExponentialScores(SIGNS[:1]),
    "multinomial": MultinomialScores(CLASSES, 3),
    "tasks": LogisticScores(MISSING),
    "epsilon_insensitive": EpsilonInsensitiveScores(X @ W[:, 0], 0.2),
}
ALPHA = 0.03
EVERY_LOSS = pytest.mark.parametrize("loss", sorted(LOSSES))
EVERY_PENALTY = pytest.mark.parametrize("penalty", sorted(ROW_PENALTIES))


def problem_of(loss: Any, penalty: str, alpha: float = ALPHA) -> SparseProblem:
    weights = np.full(M, 1.0 / M)
    columns = DesignMatrix.of(X, np.arange(M), weights, intercept=True, n_threads=1)
    return SparseProblem(columns, loss, get_row_penalty(penalty), weights, np.full(N, alpha))


def solve(problem: SparseProblem, update: str, tolerance: float, template: str | int = "auto") -> tuple[Any, Trail]:
    trail = Trail()
    if update == "newton":
        return solve_by_newton(problem, problem.start(), tolerance, 1000, trail), trail
    point = solve_by_bounds(problem, problem.start(), tolerance, 20000, trail, update=update, template=template)
    return point, trail


@EVERY_LOSS
@EVERY_PENALTY
def test_all_solvers_reach_the_optimum(loss: str, penalty: str) -> None:
    problem = problem_of(LOSSES[loss], penalty)
    scaled = (X - problem.columns.centres) * problem.columns.factors
    best = naive.optimum(
        lambda scores: float(problem.loss.value(scores).mean()),
        scaled,
        problem.loss.n_outputs,
        penalty,
        ALPHA,
        lambda scores: problem.loss.gradient(scores) / M,
    )
    updates = ["newton"]
    if problem.penalty.exponential:
        updates.append("adaboost")
    if problem.loss.lipschitz is not None:
        updates.append("gradboost")
    for update in updates:
        point, trail = solve(problem, update, 1e-9 if update == "newton" else 1e-7)
        assert trail.stop_reason == "optimal"
        assert problem.objective(point) <= best + 1e-8
        assert problem.objective(point) >= best - 1e-6
        assert np.diff(trail.objective).max(initial=0.0) <= 1e-13
        certificate = problem.certify(point)
        assert certificate.violation <= 1e-6
        assert 0.0 <= certificate.duality_gap <= 1e-5
        # The gap is a bound on the distance to the optimum, here and at the start.
        assert problem.objective(point) - certificate.duality_gap <= best + 1e-9
        start = problem.start()
        assert problem.objective(start) - problem.certify(start).duality_gap <= best + 1e-9


@pytest.mark.parametrize("update", ["adaboost", "gradboost"])
@pytest.mark.parametrize("template", ["one", "all", 2])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_templates(update: str, template: str | int, loss: str) -> None:
    problem = problem_of(LOSSES[loss], "l1/linf", 0.08)
    fast, _ = solve(problem, "newton", 1e-10)
    point, trail = solve(problem, update, 1e-5, template)
    assert np.diff(trail.objective).max() <= 1e-13
    assert problem.objective(point) == pytest.approx(problem.objective(fast), abs=1e-7)


@EVERY_LOSS
@EVERY_PENALTY
def test_progress_bounds(loss: str, penalty: str) -> None:
    """No bound promises more than a step along its column gives, and it is zero exactly where the feature stays out."""
    problem = problem_of(LOSSES[loss], penalty, 0.15)
    point = problem.start()
    before = problem.objective(point)
    slopes = problem.slopes(problem.residual(point.scores), problem.everything)
    stays_out = problem.penalty.dual_norm(slopes) <= problem.prices
    updates = [] if problem.loss.lipschitz is None else ["gradboost"]
    updates += ["adaboost"] if problem.penalty.exponential else []
    for update in updates:
        gains = progress(problem, point, problem.everything, update)
        np.testing.assert_array_equal(gains <= 1e-15, stays_out)
        for column in np.flatnonzero(~stays_out):
            moved = point.copy()
            solve_by_bounds(problem, moved, 0.0, 1, Trail(), update=update, template="one", columns=np.array([column]))
            moved.scores -= (moved.intercept - point.intercept)[:, None]
            moved.intercept = point.intercept
            assert before - problem.objective(moved) >= gains[column] - 1e-12


def test_progress_of_one_feature_in_closed_form() -> None:
    """(36), (37) and (38) with the mean in place of the sum, for columns scaled to a spread of 1."""
    problem = problem_of(LOSSES["logistic"], "l1", 0.05)
    point = problem.start()
    slopes = problem.slopes(problem.residual(point.scores), problem.everything)[:, 0]
    np.testing.assert_allclose(
        progress(problem, point, problem.everything, "gradboost"), 2.0 * np.maximum(np.abs(slopes) - 0.05, 0.0) ** 2
    )
    rows = problem_of(LOSSES["multinomial"], "l1/l2", 0.05)
    point = rows.start()
    lengths = np.linalg.norm(rows.slopes(rows.residual(point.scores), rows.everything), axis=1)
    np.testing.assert_allclose(
        progress(rows, point, rows.everything, "gradboost"), np.maximum(lengths - 0.05, 0.0) ** 2, rtol=1e-9
    )
    point = problem.start()
    q = np.exp(-np.logaddexp(0.0, problem.loss.signs[0] * point.scores[0])) / M
    for column in range(N):
        x = (X[:, column] - problem.columns.centres[column]) * problem.columns.factors[column]
        largest = np.abs(x).max()
        agree = problem.loss.signs[0] * x > 0
        plus, minus = (q * np.abs(x))[agree].sum() / largest, (q * np.abs(x))[~agree].sum() / largest
        lam = 0.05 / largest  # of the feature divided by its largest entry
        nu = (-lam + np.sqrt(lam**2 + 4 * plus * minus)) / (2 * minus)
        if minus > plus:
            nu = (lam + np.sqrt(lam**2 + 4 * plus * minus)) / (2 * minus)
        expected = plus + minus - plus / nu - minus * nu - lam * abs(np.log(nu)) if abs(plus - minus) > lam else 0.0
        assert progress(problem, point, np.array([column]), "adaboost")[0] == pytest.approx(expected, abs=1e-12)


@EVERY_PENALTY
def test_price_of_entry(penalty: str) -> None:
    problem = problem_of(LOSSES["tasks"], penalty, 1.0)
    if not problem.penalty.sparse:
        assert np.isinf(problem.price_of_entry())
        return
    largest = problem.price_of_entry()
    assert not solve(problem_of(LOSSES["tasks"], penalty, largest * 1.0001), "newton", 1e-9)[0].weights.any()
    assert solve(problem_of(LOSSES["tasks"], penalty, largest * 0.999), "newton", 1e-9)[0].weights.any()


def test_kept_slopes_belong_to_the_scores() -> None:
    problem = problem_of(LOSSES["logistic"], "l1", 0.05)
    point, _ = solve(problem, "newton", 1e-9)
    assert point.slopes is not None
    np.testing.assert_allclose(
        point.slopes, problem.slopes(problem.residual(point.scores), problem.everything), atol=1e-15
    )
    certificate = problem.certify(point)
    point.scores += 0.0
    assert point.slopes is None
    assert problem.certify(point) == certificate
    point.slopes = np.zeros((N, 1))
    point.scores = point.scores.copy()
    assert point.slopes is None


@pytest.mark.parametrize("update", sorted(NEEDS))
def test_solvers_say_what_they_need(update: str) -> None:
    """The message names what lacks it, and of penalties those that have it."""
    for need in NEEDS[update]:
        parts = {"loss": ExponentialScores(SIGNS[:1]), "penalty": get_row_penalty("l2")}
        with pytest.raises(ValueError, match=f'update="{update}".*{parts[need.part].name}.*newton'):
            check_needs([need], **parts)
        check_needs([need], loss=LOSSES["logistic"], penalty=get_row_penalty("l1"))
    if update == "adaboost":
        with pytest.raises(ValueError, match='use penalty="l1" or "l1/linf",'):
            check_needs(NEEDS[update], penalty=get_row_penalty("smooth_l1"))
