"""Probabilities by objective against what defines them: the expected loss is least at the scores they belong to."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost.losses import ExponentialLoss, LogisticLoss, MarginLoss
from radboost.objectives import OBJECTIVES, row_cost
from radboost.objectives import sum as sum_objective


class SquaredHinge(MarginLoss):
    """Phi(u) = max(0, u)^2, without a kernel."""

    def value(self, u: np.ndarray) -> np.ndarray:
        return np.maximum(u, 0.0) ** 2

    def derivative(self, u: np.ndarray) -> np.ndarray:
        assert u.ndim == 1
        return 2.0 * np.maximum(u, 0.0)


def probabilities(objective: str, loss, scores: np.ndarray) -> np.ndarray:
    """By margins of two classes, or by one column for each class, which may be two of them."""
    cost = OBJECTIVES[objective]() if scores.ndim == 2 else row_cost(objective, 2)
    return cost.probabilities(loss, scores)


IDENTIFIED = [
    ("sum", ExponentialLoss()),
    ("sum", LogisticLoss()),
    ("sum", SquaredHinge()),
    ("compsum", LogisticLoss()),
]


def expected_loss(objective: str, loss, p: np.ndarray, f: np.ndarray) -> float:
    """Multi-Class Deep Boosting, (7) and (9), for one row whose class is c with probability p[c]."""
    total = 0.0
    for c in range(len(p)):
        u = np.array([1.0 - f[c] + f[y] for y in range(len(p)) if y != c])
        total += p[c] * (np.log2(1.0 + np.exp(u).sum()) if objective == "compsum" else loss.value(u).sum())
    return total


@pytest.mark.parametrize(("objective", "loss"), IDENTIFIED, ids=str)
@given(st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=6))
def test_the_expected_loss_is_flat(objective: str, loss, scores: list[float]) -> None:
    f = np.array(scores)
    (p,) = probabilities(objective, loss, f[None, :])
    assert p.sum() == pytest.approx(1.0)
    assert (p >= 0).all()
    for direction in np.eye(len(f)):
        up, down = (expected_loss(objective, loss, p, f + h * direction) for h in (1e-5, -1e-5))
        assert abs(up - down) / 2e-5 < 1e-4


@pytest.mark.parametrize(("objective", "loss"), IDENTIFIED, ids=str)
def test_two_classes_in_two_columns_are_the_margin_column(objective: str, loss) -> None:
    columns = np.random.default_rng(0).normal(0.0, 1.0, (50, 2))
    margin = columns[:, 1] - columns[:, 0]
    np.testing.assert_allclose(
        probabilities(objective, loss, columns), probabilities(objective, loss, margin), rtol=1e-12, atol=1e-15
    )


def exact_balance(rates: list[list[Fraction]]) -> list[Fraction]:
    """The p with p_c sum_y rates[c][y] = sum_y p_y rates[y][c], sum of p = 1, by Gauss on fractions."""
    n = len(rates)
    rows = [
        [rates[y][c] if y != c else -sum(rates[c][z] for z in range(n) if z != c) for y in range(n)] + [Fraction(0)]
        for c in range(n - 1)
    ]
    rows.append([Fraction(1)] * (n + 1))
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


@given(st.lists(st.floats(-40, 40), min_size=2, max_size=6))
def test_small_probabilities_are_as_accurate_as_large_ones(scores: list[float]) -> None:
    loss, f = LogisticLoss(), np.array(scores)
    rates = [[Fraction(float(rate)) for rate in loss.derivative(1.0 - score + f)] for score in f]
    expected = [float(p) for p in exact_balance(rates)]
    np.testing.assert_allclose(probabilities("sum", loss, f[None, :])[0], expected, rtol=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("loss", [ExponentialLoss(), LogisticLoss(), SquaredHinge()], ids=repr)
def test_extreme_and_equal_scores(objective: str, loss) -> None:
    scores = np.array([[0.0, 0.0, 0.0], [1e4, 0.0, -1e4], [0.0, 1e4, 1e4], [-1e4, -1e4, -1e4]])
    p = probabilities(objective, loss, scores)
    np.testing.assert_allclose(p, [[1 / 3] * 3, [1, 0, 0], [0, 0.5, 0.5], [1 / 3] * 3], atol=1e-12)


def test_many_rows_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(4).normal(size=(100, 7))
    whole = probabilities("sum", LogisticLoss(), scores)
    for cells in (1, 49 * 3):
        monkeypatch.setattr(sum_objective, "BLOCK_CELLS", cells)
        np.testing.assert_array_equal(probabilities("sum", LogisticLoss(), scores), whole)


# --- names ------------------------------------------------------------------------------------------------
