"""Native losses, sums and weights against NumPy and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_rows import MarginRows, row_weights
from native_tools import bin_natively, by_class, grower, state_with_weights, stored_predictions
from radboost import _native


@given(st.floats(-700, 700))
def test_exp(x: float) -> None:
    assert _native.exp(x) == pytest.approx(math.exp(x), rel=4e-16)


@given(st.floats(1e-300, 1e300))
def test_log(x: float) -> None:
    assert _native.log(x) == pytest.approx(math.log(x), rel=4e-16, abs=4e-16)


def test_exp_and_log_at_the_ends() -> None:
    assert _native.exp(0.0) == 1.0
    assert _native.exp(1.0) == pytest.approx(math.e, rel=2e-16)
    assert 0 < _native.exp(-1e9) < 1e-300
    assert math.isfinite(_native.exp(1e9))
    assert _native.log(1.0) == 0.0
    for bad in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            _native.log(bad)


@pytest.mark.parametrize("name", ["exponential", "logistic"])
def test_loss_kernels_do_not_depend_on_the_length(name: str) -> None:
    """Vector units and remainders must give the same bits."""
    u = np.random.default_rng(0).normal(scale=5, size=67)
    value, derivative = _native.evaluate_loss(name, u)
    for i in range(len(u)):
        one_value, one_derivative = _native.evaluate_loss(name, u[i : i + 1])
        assert (one_value[0], one_derivative[0]) == (value[i], derivative[i])


def test_weighted_sum_is_exact_and_order_free() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=200) * 10.0 ** rng.integers(-6, 6, 200)
    order = rng.permutation(200)
    one = row_weights(200).sum(values, 1)
    assert one == row_weights(200).sum(values[order], 2)
    assert row_weights(200).mean(values, 2) == one / 200
    assert row_weights(200).maximum(values, 2) == values.max()
    assert one == pytest.approx(float(sum(Fraction(v) for v in values.tolist())), rel=1e-14)
    w = rng.integers(1, 9, 200).astype(float)
    repeated = np.repeat(values, w.astype(int))
    assert row_weights(200, w).sum(values, 1) == row_weights(len(repeated)).sum(repeated, 1)
    assert row_weights(200, w).total == len(repeated)


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_packed_signs_give_the_edges(seed: int, n_hypotheses: int) -> None:
    """Eight hypotheses to a byte: every edge as if it were added up alone, also when slots are reused."""
    rng = np.random.default_rng(seed)
    X, y = by_class(rng.integers(0, 6, (30, 4)).astype(float), rng.choice([-1, 1], 30))
    data = bin_natively(X)
    columns = _native.HypothesisColumns(30)
    kept: dict[int, np.ndarray] = {}
    for k in range(n_hypotheses):
        state = state_with_weights(y, rng.random(30))
        made = grower(data, state, max_depth=2)
        sizes, _ = made.grow(k)
        if not sizes:
            continue
        if kept and rng.random() < 0.3:
            slot = int(rng.choice(list(kept)))
            columns.release(slot)
            del kept[slot]
        slot = columns.take_slot()
        assert slot not in kept
        made.store(sizes[-1], columns, slot)
        kept[slot] = np.array(stored_predictions(made, sizes[-1], 30))
    state = state_with_weights(y, rng.random(30))
    edges = state.edges(columns, False, 1)
    sums = state.edge_sums(columns, False, 1)
    signed = state.edge_weights().astype(object)
    for slot, h in kept.items():
        np.testing.assert_array_equal(columns.predictions(slot), h)
        assert sums[slot] == int(np.sum(signed * h.astype(int)))
        assert edges[slot] == float(sums[slot]) / 2.0**61
    assert all(edge == 0 for slot, edge in enumerate(edges) if slot not in kept)


def test_columns_refuse_what_is_not_there() -> None:
    columns = _native.HypothesisColumns(5)
    with pytest.raises(ValueError, match="slot"):
        columns.predictions(0)
    with pytest.raises(ValueError, match="slot"):
        columns.release(3)
    slot = columns.take_slot()
    columns.release(slot)
    with pytest.raises(ValueError, match="slot"):
        columns.release(slot)
    with pytest.raises(ValueError, match="row"):
        columns.add_values(np.zeros(4, dtype=np.float32))
    with pytest.raises(ValueError, match="rows"):
        MarginRows(np.ones(4)).edges(columns, False, 1)


def test_scores_refuse_bad_classes_and_weights() -> None:
    with pytest.raises(ValueError, match="class that does not exist"):
        _native.MarginScores("logistic", np.array([2, 1], dtype=np.uint16), row_weights(2))
    with pytest.raises(ValueError, match="one class per row"):
        _native.MarginScores("logistic", np.array([0, 1], dtype=np.uint16), row_weights(3))
    for weights in ([0.0, 1.0], [-1.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [1.0]):
        with pytest.raises(ValueError, match="weight"):
            row_weights(2, np.array(weights))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_kernel_values(kernel: str) -> None:
    rng = np.random.default_rng(6)
    C, X = rng.normal(size=(4, 3)), rng.normal(size=(9, 3))
    found = _native.kernel_values(kernel, 0.4, C, X, 2).reshape(4, 9)
    for k, i in np.ndindex(4, 9):
        a, b = C[k], X[i]
        exact = {
            "rbf": math.exp(-0.4 * float(np.sum((a - b) ** 2))),
            "laplacian": math.exp(-0.4 * float(np.sum(np.abs(a - b)))),
            "cosine": float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b)),
        }[kernel]
        assert found[k, i] == pytest.approx(exact, abs=2**-20)
        assert found[k, i] * 2**20 == round(found[k, i] * 2**20)
    assert np.all(np.abs(found) <= 1)
