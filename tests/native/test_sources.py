"""Several weightings over one vector of scores, sums by groups, factors on the rows; beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radboost import _native
from radboost.losses import get_loss
from radboost.objectives import Objective

M, P = 700, 3


class Rows:
    def __init__(self, n_classes: int, weighted: str, seed: int = 0, loss: str = "logistic") -> None:
        rng = np.random.default_rng([seed, n_classes])
        self.rng = rng
        self.y = np.sort(rng.integers(0, n_classes, M)).astype(np.uint16)
        self.w = {"none": None, "copies": rng.integers(1, 4, M).astype(float), "factors": rng.random(M) + 0.1}[weighted]
        self.objective = Objective("sum", get_loss(loss), self.y, n_classes, self.w, 2)
        self.ids = rng.integers(0, P, M).astype(np.uint16)
        self.groups = _native.RowGroups(self.ids, P)
        self.q = np.rint(rng.dirichlet(np.ones(P), M) * 2**8) / 2**8
        self.columns = _native.HypothesisColumns(M, n_classes)
        self.slot = self.columns.take_slot()
        self.answers = rng.integers(0, n_classes, M).astype(np.int32)
        self.columns.set_answers(self.slot, self.answers, np.arange(n_classes, dtype=np.int32), 1)
        self.n_classes = n_classes

    @property
    def weights(self) -> Any:
        return np.ones(M) if self.w is None else self.w

    @property
    def h(self) -> Any:
        if self.n_classes == 2:
            return np.where(self.answers == 1, 1.0, -1.0)
        return np.eye(self.n_classes)[self.answers]

    def start(self) -> Any:
        scores: Any = self.objective.scores
        f = self.rng.integers(-400, 400, M if self.n_classes == 2 else (M, self.n_classes)) / 256.0
        if self.n_classes == 2:
            scores.set(f)
        else:
            scores.set(np.ascontiguousarray(f).ravel(), np.zeros(0))
        return f

    def terms(self, f: Any) -> tuple[Any, Any, Any]:
        """Loss, Phi' summed over the wrong classes, and whether the row is wrong."""
        if self.n_classes == 2:
            margins = np.where(self.y == 1, f, -f)
            loss: Any = self.objective.loss
            return loss.value(1 - margins), loss.derivative(1 - margins), margins <= 0
        own = f[np.arange(M), self.y][:, None]
        wrong = np.arange(self.n_classes) != self.y[:, None]
        u = 1 - own + f
        loss = self.objective.loss
        best = np.where(wrong, f, -np.inf).max(axis=1)
        return (loss.value(u) * wrong).sum(1), (loss.derivative(u) * wrong).sum(1), best >= own[:, 0]

    def by_group(self, values: Any) -> Any:
        return np.bincount(self.ids, self.weights * values, minlength=P)


EVERY = pytest.mark.parametrize("n_classes", [2, 4])
WEIGHTED = pytest.mark.parametrize("weighted", ["none", "copies", "factors"])


@EVERY
@WEIGHTED
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_sums_of_groups(n_classes: int, weighted: str, loss: str) -> None:
    rows = Rows(n_classes, weighted, 1, loss)
    f = rows.start()
    scores: Any = rows.objective.scores
    found = scores.reweigh_groups([rows.objective.weighting], rows.groups, 2).reshape(P, 3)
    for column, values in zip(found.T, rows.terms(f), strict=True):
        np.testing.assert_allclose(column, rows.by_group(values), rtol=1e-9)
    np.testing.assert_array_equal(
        found, scores.reweigh_groups([rows.objective.weighting], rows.groups, 1).reshape(P, 3)
    )
    values = rows.rng.normal(size=M)
    sums = rows.objective.row_weights.native.group_sums(values, rows.groups, 2)
    np.testing.assert_allclose(sums, rows.by_group(values), atol=1e-9)


@EVERY
@WEIGHTED
def test_edges_of_groups_are_derivatives(n_classes: int, weighted: str) -> None:
    """Beside a difference quotient of the losses of the groups along eta Q h."""
    rows = Rows(n_classes, weighted, 2)
    f = rows.start()
    scores: Any = rows.objective.scores
    lines = scores.reweigh_groups([rows.objective.weighting], rows.groups, 2).reshape(P, 3)
    q = np.ascontiguousarray(rows.q[:, 1])
    edges = rows.objective.weighting.group_edges(rows.columns, rows.slot, q, rows.groups, 2).reshape(P, 2)
    rates, masses = (edges * lines[:, 1].sum()).T
    direction = q[:, None] * rows.h if n_classes > 2 else q * rows.h
    eps = 1e-6
    ahead, behind = (rows.by_group(rows.terms(f + sign * eps * direction)[0]) for sign in (1, -1))
    np.testing.assert_allclose(rates, (behind - ahead) / (2 * eps), rtol=2e-5, atol=1e-6)
    assert np.all(masses >= np.abs(rates))
    if n_classes == 2:
        np.testing.assert_allclose(masses, rows.by_group(rows.terms(f)[1] * q), rtol=1e-6)


@EVERY
def test_steps_with_factors_are_exact_and_can_be_taken_back(n_classes: int) -> None:
    rows = Rows(n_classes, "none", 3)
    f = rows.start()
    scores: Any = rows.objective.scores
    before, q = scores.values().copy(), np.ascontiguousarray(rows.q[:, 0])
    scores.step(rows.columns, rows.slot, 0.3125, 2, q)
    moved = scores.values().reshape(f.shape)
    expected = f + 0.3125 * (q[:, None] * rows.h if n_classes > 2 else q * rows.h)
    if n_classes > 2:  # scores are known up to a constant in each row
        moved, expected = (array - array.max(axis=1, keepdims=True) for array in (moved, expected))
    np.testing.assert_array_equal(moved, expected)
    scores.step(rows.columns, rows.slot, -0.3125, 1, q)
    np.testing.assert_array_equal(scores.values(), before)


@EVERY
@WEIGHTED
def test_weightings_with_factors_of_groups(n_classes: int, weighted: str) -> None:
    """The edge under D times factors is the sum over the groups of theirs, times the numbers of the groups."""
    rows = Rows(n_classes, weighted, 4)
    rows.start()
    scores: Any = rows.objective.scores
    make: Any = _native.MarginWeighting if n_classes == 2 else _native.ClassWeighting
    q = np.ascontiguousarray(rows.q[:, 2])
    weighting = make(rows.objective.scores, factors=q)
    of_group = np.array([0.25, 1.0, 0.0])
    weighting.set_factors(q, rows.groups, of_group, 2)
    lines = scores.reweigh_groups([rows.objective.weighting, weighting], rows.groups, 2).reshape(P, 3)
    edge = weighting.edges(rows.columns, False, 1)[rows.slot]
    parts = rows.objective.weighting.group_edges(rows.columns, rows.slot, q, rows.groups, 1).reshape(P, 2)[:, 0]
    assert edge * weighting.slope == pytest.approx(float(of_group @ parts) * lines[:, 1].sum(), rel=1e-6, abs=1e-6)


def test_what_does_not_fit_is_refused() -> None:
    rows = Rows(2, "none")
    weighting: Any = _native.MarginWeighting(rows.objective.scores, factors=np.ones(M))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="group that does not exist"):
        _native.RowGroups(np.full(M, P, dtype=np.uint16), P)
    for shares, of_group in ((np.full(M, 1.5), np.ones(P)), (np.ones(M), np.full(P, np.nan))):
        with pytest.raises(ValueError, match=r"\[0, 1\]"):
            weighting.set_factors(shares, rows.groups, of_group, 2)
    with pytest.raises(ValueError, match="one share per row"):
        weighting.set_factors(np.ones(3), rows.groups, np.ones(P), 1)
    with pytest.raises(ValueError, match="one factor per row"):
        rows.objective.scores.step(rows.columns, rows.slot, 0.5, 1, np.ones(3))


def test_linear_rows_sum_each_row_by_itself() -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(300, 17)), rng.normal(size=(17, 4))
    X[rng.random(X.shape) < 0.1] = 0.0
    found = _native.linear_rows(X, weights, 2).reshape(300, 4)
    np.testing.assert_allclose(found, X @ weights, atol=1e-12)
    for part in (slice(0, 1), slice(7, 150)):
        alone = _native.linear_rows(np.ascontiguousarray(X[part]), weights, 1).reshape(-1, 4)
        np.testing.assert_array_equal(alone, found[part])
