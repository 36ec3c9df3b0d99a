"""Native growth for several classes against the naive twin, with the very integers that the native core adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiclass_tools import PAIRS
from native_rows import ClassRows
from native_tools import NO_WEIGHTS, bin_natively, grow_natively, naive_columns
from radboost import _native
from reference import growth, multiclass, splits
from reference.data import smooth_classes, tiny_classes
from reference.losses import LOSSES
from reference.multiclass import make_objective, vertex
from turns import in_turns


class Walk:
    """A native state and its twin after the same few random steps. Rows are sorted by class."""

    def __init__(
        self, seed: int, pair: tuple[str, str], X: np.ndarray, y: np.ndarray, weights: str, steps: int
    ) -> None:
        order = np.argsort(y, kind="stable")
        self.X, self.y = X[order], y[order]
        m, self.n_classes = len(y), int(y.max()) + 1
        rng = np.random.default_rng(seed)
        w = {"none": np.ones(m), "whole": rng.integers(1, 4, m) * 1.0, "real": rng.random(m) + 0.5}[weights]
        self.weights = None if weights == "none" else w
        self.objective = make_objective(pair[0], LOSSES[pair[1]], self.y, w, self.n_classes)
        self.state = ClassRows(*pair, self.y.astype(np.uint16), self.n_classes, NO_WEIGHTS if weights == "none" else w)
        self.columns = _native.HypothesisColumns(m, self.n_classes)
        self.at = multiclass.start(m, self.n_classes)
        for _ in range(steps):
            answers, eta = rng.integers(-1, self.n_classes, m), int(rng.integers(1, 9)) / 8
            slot = self.columns.take_slot()
            self.columns.set_answers(slot, np.arange(m, dtype=np.int32), answers.astype(np.int32), 1)
            self.state.step(self.columns, slot, eta, 1)
            self.at = self.at.moved(eta, vertex(answers, self.n_classes), self.y)
        self.state.reweigh(1)

    def gains(self) -> np.ndarray:
        """g(i, c) as integers, copies counted; the native table has a column of zeros for silence."""
        table = self.state.gains(False).reshape(len(self.y), self.n_classes + 1)
        assert np.all(table[:, -1] == 0)
        return table[:, :-1]

    def sample(self, data: Any) -> splits.Sample:
        columns, codes = naive_columns(data)
        m = len(self.y)
        judged = [[int(v) for v in row] for row in self.gains()]
        mass = [int(v) for v in self.state.growth_weights()]
        w = np.ones(m) if self.weights is None else self.weights
        # Where the gains follow from labels and row weights, splits are found by the growth weights.
        by_label = [[q if c == own else -q for c in range(self.n_classes)] for q, own in zip(mass, self.y, strict=True)]
        g = by_label if self.objective.name == "maxsum" else judged
        return splits.Sample(columns, codes, self.y.tolist(), g, mass, w.tolist(), self.n_classes, judged)


WALKS = st.builds(
    lambda seed, pair, m, n_classes, weights, steps, missing: Walk(
        seed,
        pair,
        *(tiny_classes if seed % 2 else smooth_classes)(
            seed, m=max(m, n_classes), d=3, n_classes=n_classes, missing=missing
        ),
        weights,
        steps,
    ),
    seed=st.integers(0, 10**6),
    pair=st.sampled_from(PAIRS),
    m=st.integers(3, 24),
    n_classes=st.integers(3, 5),
    weights=st.sampled_from(["none", "whole", "real"]),
    steps=st.integers(0, 3),
    missing=st.sampled_from([0.0, 0.2]),
)


def check(walk: Walk, naive: list[growth.Tree], **options: Any) -> None:
    """Structure, answers, edges and stored answers, all exact."""
    data = bin_natively(walk.X, walk.weights, options.pop("max_bins", 255))
    grown, sizes, edges, found = grow_natively(data, walk.state, **options)
    assert sizes == [t.n_splits for t in naive]
    unit = None
    for n, edge, mine, theirs in zip(sizes, edges, found, naive, strict=True):
        assert growth.by_path(mine) == growth.by_path(theirs)
        if theirs.edge:
            unit = edge / theirs.edge if unit is None else unit
            assert edge == pytest.approx(theirs.edge * unit, rel=1e-12)
        else:
            assert edge == 0
        columns = _native.HypothesisColumns(len(walk.y), walk.n_classes)
        slot = columns.take_slot()
        grown.store(n, columns, slot)
        stored = columns.predictions(slot).reshape(len(walk.y), walk.n_classes)
        np.testing.assert_array_equal(stored, vertex(np.array(theirs.train_value), walk.n_classes))
        assert edge == pytest.approx(walk.objective.edge(walk.at, stored), abs=1e-6)


@given(
    walk=WALKS,
    criterion=st.sampled_from(["edge", "gini"]),
    depth=st.integers(1, 4),
    minimum=st.sampled_from([0.0, 0.0, 2.0]),
)
def test_layers(walk: Walk, criterion: str, depth: int, minimum: float) -> None:
    sample = walk.sample(bin_natively(walk.X, walk.weights))
    naive = growth.grow_layers(sample, depth, criterion, min_leaf_weight=minimum)
    check(walk, naive, criterion=criterion, max_depth=depth, minimum_leaf_weight=minimum)


@given(
    walk=WALKS,
    criterion=st.sampled_from(["edge", "gini"]),
    leaves=st.integers(2, 9),
    depth=st.integers(1, 4),
    minimum=st.sampled_from([0.0, 0.0, 2.0]),
)
def test_best_first(walk: Walk, criterion: str, leaves: int, depth: int, minimum: float) -> None:
    sample = walk.sample(bin_natively(walk.X, walk.weights))
    naive = growth.grow_best_first(sample, leaves, depth, criterion, min_leaf_weight=minimum)
    options = {"growth": "best_first", "max_leaves": leaves, "max_depth": depth, "minimum_leaf_weight": minimum}
    check(walk, naive, criterion=criterion, **options)


@given(walk=WALKS)
def test_stump_pairs(walk: Walk) -> None:
    sample = walk.sample(bin_natively(walk.X, walk.weights))
    naive = growth.grow_stump_pair(sample)
    data = bin_natively(walk.X, walk.weights)
    _, _, edges, found = grow_natively(data, walk.state, growth="stump_pair", max_depth=2)
    assert len(found) == len(naive)
    for mine, theirs in zip(found, naive, strict=True):
        assert growth.by_path(mine) == growth.by_path(theirs)
    assert edges == sorted(edges)


@in_turns("pair, criterion, growth_order", PAIRS, ["edge", "gini"], ["layers", "best_first"])
def test_many_rows(pair: tuple[str, str], criterion: str, growth_order: str) -> None:
    """Enough rows for histograms instead of rows, and for more than one thread."""
    X, y = smooth_classes(3, m=700, d=3, n_classes=4, missing=0.05)
    X = np.round(X, 1)
    walk = Walk(3, pair, X, y, "whole", 2)
    sample = walk.sample(bin_natively(walk.X, walk.weights, 12))
    options: dict[str, Any] = {"criterion": criterion, "max_depth": 3, "max_bins": 12}
    if growth_order == "layers":
        naive = growth.grow_layers(sample, 3, criterion)
    else:
        naive = growth.grow_best_first(sample, 6, 3, criterion)
        options |= {"growth": "best_first", "max_leaves": 6}
    for n_threads in (1, 2, 4):
        check(walk, naive, **options, n_threads=n_threads)
