"""The native state of several classes against the formulas written out, bit for bit where it promises that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiclass_tools import PAIRS
from native_rows import ClassRows, MarginRows
from native_tools import NO_WEIGHTS
from radboost import _native
from reference import losses
from reference.multiclass import Objective, Sums, base_margin, make_objective

GRID = 2.0**20
EVERY = pytest.mark.parametrize(("name", "loss"), PAIRS)


def on_grid(x: Any) -> Any:
    return np.rint(np.asarray(x) * GRID) / GRID


@dataclass
class Rows:
    """Training rows, and the scores that a naive learner keeps beside the native ones."""

    n: int
    n_classes: int
    weights: str = "none"
    seed: int = 0
    y: np.ndarray = field(init=False)
    w: np.ndarray | None = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([self.seed, self.n, self.n_classes])
        self.y = np.sort(self.rng.integers(0, self.n_classes, self.n)).astype(np.uint16)
        choices = {
            "none": None,
            "whole": self.rng.integers(1, 5, self.n).astype(float),
            "real": self.rng.random(self.n) + 0.1,
        }
        self.w = choices[self.weights]
        self.f = np.zeros((self.n, self.n_classes))
        self.s = np.zeros(self.n)

    @property
    def counts(self) -> np.ndarray:
        return np.ones(self.n) if self.w is None else self.w

    def state(self, name: str, loss: str) -> Any:
        return ClassRows(name, loss, self.y, self.n_classes, NO_WEIGHTS if self.w is None else self.w)

    def columns(self) -> Any:
        return _native.HypothesisColumns(self.n, self.n_classes)

    def add(self, columns: Any, kind: str) -> tuple[int, np.ndarray]:
        """A random hypothesis: its slot and its predictions, rows x classes."""
        h = np.zeros((self.n, self.n_classes))
        if kind == "values":
            k = int(self.rng.integers(self.n_classes))
            h[:, k] = on_grid(self.rng.random(self.n) * (self.rng.random(self.n) < 0.8))
            return columns.add_values(h[:, k].astype(np.float32), k), h
        low = -1 if kind == "abstains" else 0
        answers = np.where(
            self.rng.random(self.n) < 0.4, self.y, self.rng.integers(low, self.n_classes, self.n)
        ).astype(np.int32)
        slot = columns.take_slot()
        columns.set_answers(slot, np.arange(self.n, dtype=np.int32), answers, 1)
        h[np.flatnonzero(answers >= 0), answers[answers >= 0]] = 1.0
        return slot, h

    def naive(self, name: str, loss: str) -> tuple[Objective, Sums]:
        objective = make_objective(name, losses.LOSSES[loss], self.y, self.counts, self.n_classes)
        return objective, Sums(self.f, self.s)

    def loss_at(self, name: str, loss: str, h: np.ndarray, eta: float) -> float:
        objective, at = self.naive(name, loss)
        return objective.m * objective.value(at.moved(eta, h, self.y))

    def step(self, columns: Any, slot: int, state: Any, h: np.ndarray, eta: float) -> None:
        state.step(columns, slot, eta, 1)
        self.f += on_grid(eta * h)
        self.s += on_grid(eta * base_margin(h, self.y))


def gains(state: Any, rows: Rows, shrinking: bool = False) -> np.ndarray:
    table = state.gains(shrinking).reshape(rows.n, rows.n_classes + 1)
    assert np.all(table[:, -1] == 0)
    return table[:, :-1]


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@EVERY
def test_everything_a_round_needs(name: str, loss: str, weights: str, n_classes: int) -> None:
    rows = Rows(41, n_classes, weights)
    state, columns = rows.state(name, loss), rows.columns()
    assert state.total_weight == pytest.approx(rows.counts.sum(), rel=1e-15)
    for kind in ("vertices", "abstains", "values", "vertices", "values", "abstains"):
        if n_classes == 2 and kind == "abstains":
            continue
        sums = state.reweigh(1)
        naive, at = rows.naive(name, loss)
        assert sums.loss == pytest.approx(naive.m * naive.value(at), rel=1e-13)
        assert sums.slope == pytest.approx(naive.normaliser(at), rel=1e-13)
        assert sums.error == pytest.approx(naive.m * naive.error(at), rel=1e-14, abs=1e-14)
        found = gains(state, rows)
        np.testing.assert_allclose(found * state.edge_unit, naive.gradients(at), atol=2e-8)
        np.testing.assert_allclose(
            gains(state, rows, True) * state.edge_unit, naive.gradients(at, shrinking=True), atol=2e-8
        )
        np.testing.assert_allclose(state.growth_weights() / 2.0**30, naive.row_weights(at), atol=2e-8)
        own = np.take_along_axis(found, rows.y[:, None].astype(int), axis=1)[:, 0]
        assert own.sum() * state.edge_unit == pytest.approx(1.0, rel=1e-15)  # without an error the edge is 1
        if name in ("sum", "compsum"):
            assert np.all(found.sum(axis=1) == 0)
        slot, h = rows.add(columns, kind)
        shape = (rows.n,) if n_classes == 2 else (rows.n, n_classes)
        if n_classes == 2 and kind == "vertices":
            np.testing.assert_array_equal(columns.predictions(slot), h[:, 1] - h[:, 0])
        elif n_classes > 2:
            np.testing.assert_array_equal(columns.predictions(slot).reshape(shape), h)
        rows.step(columns, slot, state, h, float(on_grid(rows.rng.random())))
        np.testing.assert_array_equal(state.values().reshape(rows.n, n_classes), rows.f)
        if name == "maxsum":
            np.testing.assert_array_equal(state.margins(), rows.s)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@EVERY
def test_edges(name: str, loss: str, weights: str) -> None:
    """Of answers, of values, of leaves: all from the same integers, and seen from the left where that differs."""
    rows = Rows(60, 4, weights, seed=1)
    state, columns = rows.state(name, loss), rows.columns()
    kept: dict[int, np.ndarray] = {}
    for k in range(12):
        slot, h = rows.add(columns, ("vertices", "abstains", "values")[k % 3])
        kept[slot] = h
    columns.release(1)
    del kept[1]
    for slot in (0, 3, 5):
        rows.step(columns, slot, state, kept[slot], 0.5)
    state.reweigh(1)
    for shrinking in (False, True):
        table = gains(state, rows, shrinking)
        edges = state.edges(columns, shrinking, 1)
        assert edges[1] == 0.0
        for slot, h in kept.items():
            scaled = (h * GRID).astype(np.int64).astype(object)
            exact = float(np.sum(table.astype(object) * scaled)) * state.edge_unit / GRID
            assert edges[slot] == pytest.approx(exact, rel=1e-15)
    table = gains(state, rows)
    labels = rows.rng.integers(0, 7, rows.n).astype(np.int32)
    sums = state.leaf_sums(labels, 7, 1).reshape(7, 4)
    for label in range(7):
        np.testing.assert_array_equal(sums[label], table[labels == label].sum(axis=0))
    values = on_grid(rows.rng.random((3, rows.n))).astype(np.float32)
    found = state.value_edges(values, 2).reshape(3, 4)
    exact = (values.astype(float) * GRID).astype(np.int64).astype(object) @ table.astype(object)
    np.testing.assert_allclose(found, exact.astype(float) * state.edge_unit / GRID, rtol=1e-15)


def test_a_loss_is_evaluated_here_or_elsewhere() -> None:
    """contracts/test_objectives.py has the sums of a loss that is evaluated elsewhere."""
    rows = Rows(3, 4)
    own, given = rows.state("sum", "logistic"), rows.state("sum", "")
    with pytest.raises(ValueError, match="one value"):
        given.reweigh_from(np.zeros(3), np.zeros(3), 1)
    with pytest.raises(ValueError, match="no loss"):
        given.reweigh(1)
    with pytest.raises(ValueError, match="loss of their own"):
        own.reweigh_from(np.ones(12), np.ones(12), 1)


@EVERY
def test_three_hundred_classes(name: str, loss: str) -> None:
    """Answers of two bytes, rows that fill a block alone, classes without a row."""
    rows = Rows(90, 300, "none", seed=8)
    state, columns = rows.state(name, loss), rows.columns()
    for kind in ("vertices", "abstains"):
        slot, h = rows.add(columns, kind)
        sums = state.reweigh(1)
        naive, at = rows.naive(name, loss)
        assert sums.slope == pytest.approx(naive.normaliser(at), rel=1e-12)
        assert state.edges(columns, False, 2)[slot] == pytest.approx(naive.edge(at, h), abs=1e-6)
        assert state.along(columns, slot, 0.5, 1)[0] == pytest.approx(rows.loss_at(name, loss, h, 0.5), rel=1e-12)
        rows.step(columns, slot, state, h, 1.5)
        np.testing.assert_array_equal(state.values().reshape(90, 300), rows.f)


@given(st.integers(0, 10**6))
def test_weights_of_all_magnitudes(seed: int) -> None:
    """The integers stay in range whatever the weights and scores; what they stand for stays close."""
    rng = np.random.default_rng(seed)
    rows = Rows(20, int(rng.integers(2, 9)), "none", seed)
    largest = float(rng.choice([1.0, 1e3, 1e9, 2.0**45]))
    rows.w = np.maximum(1.0, np.floor(rng.random(20) ** 3 * largest)) + float(rng.choice([0.0, 0.5]))
    name, loss = PAIRS[int(rng.integers(len(PAIRS)))]
    state, columns = rows.state(name, loss), rows.columns()
    for _ in range(3):
        slot, h = rows.add(columns, "vertices")
        rows.step(columns, slot, state, h, float(on_grid(rng.exponential(4))))
    sums = state.reweigh(1)
    naive, at = rows.naive(name, loss)
    assert sums.slope == pytest.approx(naive.normaliser(at), rel=1e-12)
    growing = naive.gradients(at)
    # Integer weights count as copies up to a sum of 2^24; beyond that they are part of the quantised terms.
    copies = bool(np.all(np.floor(rows.counts) == rows.counts)) and rows.counts.sum() < 2.0**24
    times = rows.counts if copies else np.ones(rows.n)
    bits = min(30, 60 - int(np.log2(times.sum())))
    one = (
        2.0 ** (2 - bits) * np.max(naive.row_weights(at) / times) * times[:, None]
    )  # what rounding may move, in each row
    found = gains(state, rows) * state.edge_unit
    assert np.all(np.abs(found - growing) <= 1e-12 + rows.n_classes * (one + np.abs(growing) * one.sum()))


@EVERY
def test_scores_may_grow_without_end(name: str, loss: str) -> None:
    """Steps that would leave 32 bits: differences stay right up to 1024, and everything stays finite."""
    rows = Rows(12, 3, "none", seed=9)
    state, columns = rows.state(name, loss), rows.columns()
    slot = columns.take_slot()
    columns.set_answers(slot, np.zeros(12, dtype=np.int32), np.array([1], dtype=np.int32), 1)
    other = columns.take_slot()
    columns.set_answers(other, np.zeros(12, dtype=np.int32), np.array([2], dtype=np.int32), 1)
    for _ in range(20):
        for one in (slot, other):
            state.step(columns, one, 250.0, 1)
        sums = state.reweigh(1)
        assert np.isfinite([sums.loss, sums.slope, *state.edges(columns, False, 1)]).all()
    f = state.values().reshape(12, 3)
    np.testing.assert_array_equal(f[:, 1], f[:, 2])
    assert np.all(f[:, 1] - f[:, 0] >= 1000)
    state.step(columns, other, -3.0, 1)
    f = state.values().reshape(12, 3)
    np.testing.assert_array_equal(f[:, 1] - f[:, 2], 3.0)


def test_a_line_follows_what_is_in_the_slot_and_the_scores() -> None:
    rows = Rows(40, 3, "none", seed=10)
    state, columns = rows.state("compsum", "logistic"), rows.columns()
    state.reweigh(1)
    slot, h = rows.add(columns, "vertices")
    first = state.along(columns, slot, 0.5, 1)
    columns.release(slot)
    again, other = rows.add(columns, "vertices")
    assert again == slot
    second = state.along(columns, slot, 0.5, 1)
    assert second[0] == pytest.approx(rows.loss_at("compsum", "logistic", other, 0.5), rel=1e-13)
    assert first != second
    group = np.arange(40, dtype=np.int32)
    columns.set_answers(slot, group, h.argmax(axis=1).astype(np.int32), 1)
    assert state.along(columns, slot, 0.5, 1) == first
    rows.step(columns, slot, state, h, 0.5)
    with pytest.raises(ValueError, match="reweigh"):
        state.along(columns, slot, 0.5, 1)
    assert state.reweigh(1).loss == pytest.approx(first[0], rel=1e-13)


def test_refusals() -> None:
    y = np.array([0, 1, 2], dtype=np.uint16)
    make = ClassRows
    for bad, match in (
        (("mean", "logistic", y, 3, NO_WEIGHTS), "objectives are"),
        (("sum", "hinge", y, 3, NO_WEIGHTS), "losses of margins are"),
        (("compsum", "exponential", y, 3, NO_WEIGHTS), "logistic"),
        (("compsum", "", y, 3, NO_WEIGHTS), "logistic"),
        (("sum", "logistic", y[::-1].copy(), 3, NO_WEIGHTS), "sorted"),
        (("sum", "logistic", y, 2, NO_WEIGHTS), "class"),
        (("sum", "logistic", y, 1, NO_WEIGHTS), "number of classes"),
        (("sum", "logistic", y, 3, np.array([1.0, 0.0, 1.0])), "weights"),
    ):
        with pytest.raises(ValueError, match=match):
            make(*bad)
    state, columns = make("sum", "logistic", y, 3, NO_WEIGHTS), _native.HypothesisColumns(3, 3)
    slot = columns.take_slot()
    group = np.arange(3, dtype=np.int32)
    for answers, match in (([0, 1, 3], "no such class"), ([0, 1], "out of range")):
        with pytest.raises(ValueError, match=match):
            columns.set_answers(slot, group, np.array(answers, dtype=np.int32), 1)
    for values, label, match in (([0.5, -0.5, 0.0], 1, r"\[0, 1\]"), ([0.0] * 3, 3, "no such class")):
        with pytest.raises(ValueError, match=match):
            columns.add_values(np.array(values, dtype=np.float32), label)
    for eta, match in ((2.0**-21, "multiples"), (np.nan, "multiples"), (np.inf, "longer"), (257.0, "longer")):
        with pytest.raises(ValueError, match=match):
            state.step(columns, slot, eta, 1)
    with pytest.raises(ValueError, match="slot"):
        state.step(columns, slot + 1, 1.0, 1)
    with pytest.raises(ValueError, match="label"):
        state.leaf_sums(np.array([0, 1, 2], dtype=np.int32), 2, 1)
    two = _native.HypothesisColumns(3, 2)
    two_slot = two.take_slot()
    with pytest.raises(ValueError, match="abstain"):
        two.set_answers(two_slot, group, np.array([0, 1, -1], dtype=np.int32), 1)
    state.reweigh(1)
    for wrong, match in ((two, "number of classes"), (_native.HypothesisColumns(4, 3), "number of rows")):
        with pytest.raises(ValueError, match=match):
            state.edges(wrong, False, 1)
    with pytest.raises(ValueError, match="number of classes"):
        state.step(two, two_slot, 1.0, 1)
    with pytest.raises(ValueError, match="number of classes"):
        MarginRows(np.ones(3)).step(columns, slot, 1.0, 1)
