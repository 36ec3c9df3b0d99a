"""What every penalty on rows of weights promises; a new one joins by being listed."""

from __future__ import annotations

import numpy as np
import pytest

from radboost.penalties import ROW_PENALTIES, get_row_penalty
from radboost.penalties.rows import RowPenalty
from reference import sparsity as naive

EVERY = pytest.mark.parametrize("name", sorted(ROW_PENALTIES))
EXPONENTIAL = pytest.mark.parametrize("name", sorted(n for n, p in ROW_PENALTIES.items() if p.exponential))
SIZES = pytest.mark.parametrize("k", [1, 4])


@pytest.fixture
def penalty(name: str) -> RowPenalty:
    return get_row_penalty(name)


@EVERY
def test_size(name: str) -> None:
    W = np.random.default_rng(0).normal(size=(7, 4))
    np.testing.assert_allclose(get_row_penalty(name).size(W).sum(), naive.PENALTIES[name](W), rtol=1e-14)


@EVERY
@SIZES
def test_update_is_the_minimum_of_the_quadratic_bound(penalty: RowPenalty, name: str, k: int) -> None:
    """(25), Figure 2 for (26), and (35), with a curvature for each output."""
    rng = np.random.default_rng(k)
    curvatures, slopes = rng.uniform(0.2, 3.0, size=(5, k)), rng.normal(size=(5, k))
    prices = np.concatenate([[0.0, 100.0], rng.uniform(0.1, 2.0, size=3)])
    found = penalty.update(curvatures, slopes, prices)
    for row in range(5):
        a, b, price = curvatures[row], slopes[row], float(prices[row])
        best = naive.minimum(lambda w, a=a, b=b: float((0.5 * a * w**2 + b * w).sum()), k, name, price)
        value = naive.quadratic_bound(found[row], a, b, price, name)
        assert value <= best + 1e-9
        assert value >= best - 1e-6


@EXPONENTIAL
@SIZES
def test_exponential_update_is_the_minimum_of_its_bound(penalty: RowPenalty, name: str, k: int) -> None:
    """(8), Lemma 3, Figures 2 and 3, with errata 15 and 17."""
    rng = np.random.default_rng(10 + k)
    up, down = rng.uniform(0.01, 1.0, size=(5, k)), rng.uniform(0.01, 1.0, size=(5, k))
    up[2, 0], down[3, -1] = 0.0, 0.0  # one of the correlations is zero
    old, templates = rng.normal(size=(5, k)) * 0.5, rng.uniform(0.2, 1.0, size=5)
    prices = np.concatenate([[100.0], rng.uniform(0.05, 0.8, size=4)])
    found = penalty.exponential_update(up, down, old, templates, prices)
    assert not found[0].any()
    for row in range(5):
        data = (old[row], up[row], down[row], float(templates[row]))

        def smooth(w: np.ndarray, data: tuple = data) -> float:
            return naive.exponential_bound(w, *data, 0.0, "l1")

        best = naive.minimum(smooth, k, name, float(prices[row]))
        value = naive.exponential_bound(found[row], *data, float(prices[row]), name)
        assert value <= best + 1e-8
        assert value >= best - 1e-5


@EXPONENTIAL
def test_exponential_update_without_a_price_is_adaboost(penalty: RowPenalty) -> None:
    """With lambda = 0 the step is a/2 log(mu+ / mu-), capped where one of them is zero."""
    up, down = np.array([[0.4], [0.3], [0.0]]), np.array([[0.1], [0.0], [0.0]])
    found = penalty.exponential_update(up, down, np.zeros((3, 1)), np.full(3, 0.5), np.zeros(3))
    assert found[0, 0] == pytest.approx(0.25 * np.log(4.0), rel=1e-12)
    assert found[1, 0] == pytest.approx(8.0)
    assert found[2, 0] == 0.0


@EXPONENTIAL
def test_exponential_update_survives_small_templates(penalty: RowPenalty) -> None:
    found = penalty.exponential_update(
        np.array([[0.2, 0.1]]), np.array([[0.1, 0.3]]), np.array([[5.0, -3.0]]), np.array([1e-3]), np.array([0.05])
    )
    assert np.isfinite(found).all()
    assert np.abs(found - [[5.0, -3.0]]).max() <= 16e-3 + 1e-12


@EVERY
@SIZES
def test_violation_is_zero_at_the_minimum_and_nowhere_else(penalty: RowPenalty, name: str, k: int) -> None:
    rng = np.random.default_rng(20 + k)
    curvatures, slopes = rng.uniform(0.2, 3.0, size=(30, k)), rng.normal(size=(30, k))
    prices = rng.uniform(0.1, 5.0, size=30)
    weights = penalty.update(curvatures, slopes, prices)
    at_minimum = penalty.violation(weights, slopes + curvatures * weights, prices)
    assert at_minimum.max() < 1e-12
    moved = weights + rng.normal(size=weights.shape) * 0.1
    assert penalty.violation(moved, slopes + curvatures * moved, prices).min() > 1e-4
    assert weights.any(axis=1).any()
    if penalty.sparse:
        assert not weights.any(axis=1).all()


@SIZES
@pytest.mark.parametrize(("name", "norm"), [("l1", np.inf), ("l1/l2", 2), ("l1/linf", 1)])
def test_violation_is_the_distance_from_the_subdifferential_in_the_dual_norm(
    penalty: RowPenalty, name: str, norm: float, k: int
) -> None:
    """By a linear program where the norm is one of corners, and by the nearest point of a ball where it is round."""
    rng = np.random.default_rng(40 + k)
    rows = 40
    weights = np.round(rng.normal(size=(rows, k)), 0)  # with zeros and with ties for the largest
    weights[0] = 0.0
    slopes, prices = 2.0 * rng.normal(size=(rows, k)), rng.uniform(0.1, 4.0, size=rows)
    found = penalty.violation(weights, slopes, prices)
    for row in range(rows):
        w, pull, price = weights[row], -slopes[row], prices[row]
        if name == "l1/l2":
            length = np.linalg.norm(w)
            inside = price * w / length if length > 0 else pull * min(1.0, price / np.linalg.norm(pull))
            expected = np.linalg.norm(pull - inside)
        else:
            expected = naive.distance_to_hull(pull, price * naive.subgradients(name, w), norm)
        assert found[row] == pytest.approx(expected, abs=1e-8)


@EVERY
@SIZES
def test_conjugate(penalty: RowPenalty, name: str, k: int) -> None:
    """Young's inequality everywhere, and equality where the slopes are those of the penalty."""
    rng = np.random.default_rng(30 + k)
    curvatures, slopes = rng.uniform(0.2, 3.0, size=(9, k)), 2.0 * rng.normal(size=(9, k))
    prices = rng.uniform(0.1, 2.0, size=9)
    weights = penalty.update(curvatures, slopes, prices)
    pulls = -(slopes + curvatures * weights)  # a subgradient of the penalty at the weights
    assert penalty.feasible_fraction(pulls * (1 - 1e-12), prices) == 1.0
    price_at = float(prices @ penalty.size(weights))
    assert price_at + penalty.conjugate(pulls, prices) == pytest.approx(float((pulls * weights).sum()), rel=1e-10)
    share = penalty.feasible_fraction(10.0 * slopes, prices)
    assert share == 1.0 or 0.0 < share < 1.0
    assert (share < 1.0) == (name != "l2")
    feasible = share * 10.0 * slopes
    for scale in (0.01, 1.0, 100.0):
        other = scale * rng.normal(size=(9, k))
        paid = float(prices @ penalty.size(other)) + penalty.conjugate(feasible, prices)
        assert paid >= float((feasible * other).sum()) - 1e-9 * scale


@EVERY
def test_dual_norm_tells_who_stays_out(penalty: RowPenalty) -> None:
    """Corollaries 6 and 8, Lemma 10: zero is the minimum from this price on."""
    rng = np.random.default_rng(5)
    slopes, curvatures = rng.normal(size=(20, 3)), np.ones((20, 3))
    norms = penalty.dual_norm(slopes)
    if not penalty.sparse:
        assert np.isinf(norms).all()
        return
    assert not penalty.update(curvatures, slopes, norms * (1 + 1e-12)).any()
    assert penalty.update(curvatures, slopes, norms * 0.999).any(axis=1).all()


@EVERY
def test_columns_of_zeros_keep_zero_weights(penalty: RowPenalty) -> None:
    assert not penalty.update(np.zeros((2, 3)), np.zeros((2, 3)), np.array([0.1, 0.0])).any()


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"(?s)Unknown penalty 'l0'.*'l1'.*'l1/l2'.*'l1/linf'.*'smooth_l1'.*'l2'"):
        get_row_penalty("l0")
