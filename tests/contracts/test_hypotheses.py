"""What every kind of hypotheses promises; a new one joins by having a case here, and must have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from hand_made import random_tree
from radboost.ensemble import Ensemble, SparseEnsemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.families import Hypothesis, KernelHypothesis
from radboost.families.kinds import KINDS, OWN, Shape, by_kind, kind_of, scorers
from radboost.families.sourced import SourcedHypothesis
from radboost.sparsity import Centre, Column, Product, Stump
from radboost.trees import Tree

N_FEATURES = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, N_FEATURES))
CASES: dict[type[Any], list[Any]] = {
    Column: [Column(3), Column(0)],
    Product: [Product((0, 0, 2)), Product((4,)), Product((1, 3))],
    Centre: [Centre(X[0], 0.3), Centre(tuple(X[1]), 0.3), Centre(X[2], 1.5)],
    Stump: [Stump(2, 0.25), Stump(2, -0.5)],
    Tree: [random_tree(RNG, N_FEATURES, 1, max_splits=9) for _ in range(4)],
    KernelHypothesis: [KernelHypothesis(name, 0.4, X[i].copy()) for i, name in enumerate(("rbf", "rbf", "cosine"))],
    # Of rows with three columns and the shares of two sources behind them.
    SourcedHypothesis: [
        *(SourcedHypothesis(random_tree(RNG, 3, 1, max_splits=5), source, 3, 2) for source in (0, 1, 0)),
        SourcedHypothesis(KernelHypothesis("rbf", 0.4, X[0, :3].copy()), 1, 3, 2),
    ],
}
EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.of.__name__)
WEIGHTS = np.array([0.5, -1.25, 2.0, 0.75])


def test_every_kind_is_here() -> None:
    assert set(CASES) == set(KINDS)
    assert (
        len({kind.code for kind in KINDS.values()}) == len({kind.boosted_code for kind in KINDS.values()}) == len(KINDS)
    )


@EVERY
def test_together_and_alone(kind: Any) -> None:
    cases = CASES[kind.of]
    alone = np.array([h.values(X) for h in cases])
    assert alone.shape == (len(cases), len(X))
    np.testing.assert_array_equal(kind.values(cases, X), alone)
    np.testing.assert_array_equal(kind.values(cases, sparse.csr_array(X)), alone)
    lines, scores = RNG.normal(size=(len(cases), 3)), np.ones((len(X), 3))
    kind.add_outer(cases, lines, X, scores)
    np.testing.assert_allclose(scores, 1.0 + alone.T @ lines, atol=1e-12)
    weights, scores = WEIGHTS[: len(cases)], np.ones(len(X))
    kind.scorer(cases, weights)(X, scores, 2)
    np.testing.assert_allclose(scores, 1.0 + weights @ alone, atol=1e-12)


@EVERY
def test_words_keys_and_columns(kind: Any) -> None:
    cases = CASES[kind.of]
    names = [f"column {letter}" for letter in "abcde"]
    for hypothesis in cases:
        assert kind_of(hypothesis) is kind
        for text in (kind.describe(hypothesis, names, {}), kind.term(hypothesis, None)):
            assert text
            assert "\n" not in text
        key, sign = hypothesis.key()
        assert hash(key) == hash(key)
        assert sign in (1.0, -1.0)
        used = hypothesis.columns
        if used is not None:
            moved = X.copy()
            moved[:, [j for j in range(N_FEATURES) if j not in used]] += 1.0
            np.testing.assert_array_equal(hypothesis.values(moved), hypothesis.values(X))
        assert kind.spread(hypothesis) == 1.0


@EVERY
def test_files_of_both_models(kind: Any) -> None:
    """Every kind can be in a boosted and in a sparse model, beside any other."""
    others = [Column(1), CASES[Tree][0]]
    hypotheses = [*CASES[kind.of], *(other for other in others if other not in CASES[kind.of])]
    weights = RNG.normal(size=(len(hypotheses), 2))
    linear = SparseEnsemble(hypotheses, weights, np.array([0.5, -1.0]), None)
    header, arrays = linear.to_arrays(N_FEATURES)
    again, n_features = SparseEnsemble.from_arrays(header, arrays, None)
    assert n_features == N_FEATURES
    np.testing.assert_array_equal(again.scores(X), linear.scores(X))
    assert repr(again) == repr(linear)
    steps = np.array([(0, j, 0.5 * (j + 1)) for j in range(len(hypotheses))], dtype=STEP_TYPE)
    settings = {"n_rounds": 1, "n_features": N_FEATURES, "n_families": 1, "sample_size": 40.0}
    boosted = Ensemble(hypotheses, [0.1] * len(hypotheses), steps, **settings)
    loaded = Ensemble.from_arrays(*boosted.to_arrays())
    np.testing.assert_array_equal(loaded.decision_function(X), boosted.decision_function(X))
    np.testing.assert_array_equal(list(loaded.staged_decision_function(X)), list(boosted.staged_decision_function(X)))
    np.testing.assert_array_equal(loaded.feature_importances(), boosted.feature_importances())
    assert repr(loaded) == repr(boosted)
    assert [type(h) for h in loaded.hypotheses] == [type(h) for h in hypotheses]


@EVERY
def test_damaged_files(kind: Any) -> None:
    stored = kind.write(CASES[kind.of], N_FEATURES)
    n, shape = len(CASES[kind.of]), Shape(N_FEATURES)
    for name in stored.arrays:
        arrays = {key: array for key, array in stored.arrays.items() if key != name}
        with pytest.raises(ValueError, match=r"\w"):
            kind.read(n, stored.header, arrays, shape)
    with pytest.raises(ValueError, match=r"\w"):
        kind.read(n + 1, stored.header, stored.arrays, shape)
    with pytest.raises(ValueError, match=r"\w"):
        kind.read(n, stored.header, stored.arrays, Shape(1))
    if kind.of not in (Tree, KernelHypothesis, SourcedHypothesis):
        with pytest.raises(ValueError, match="one score per row"):
            kind.read(n, stored.header, stored.arrays, Shape(N_FEATURES, 3))


@dataclass(frozen=True)
class Absolute(Hypothesis):
    column: int

    def values(self, X: Any, n_threads: int = 1) -> Any:
        return np.abs(X[:, self.column])


def test_one_of_the_users_own() -> None:
    """A subclass needs `values` alone; it is printed, evaluated and not stored."""
    own = Absolute(2)
    assert kind_of(own) is OWN
    assert own.key() == (own, 1.0)
    assert (own.n_splits, own.n_nodes, own.depth, own.columns) == (0, 1, 0, None)
    assert OWN.describe(own, None, {}) == "Absolute(column=2)"
    mixed = [own, Column(0), own]
    assert list(by_kind(mixed).values()) == [[0, 2], [1]]
    scores = np.zeros(len(X))
    for add in scorers(mixed, np.array([1.0, 2.0, 3.0])):
        add(X, scores, 1)
    np.testing.assert_allclose(scores, 4.0 * np.abs(X[:, 2]) + 2.0 * X[:, 0])
    with pytest.raises(ValueError, match=r"hypotheses of your own \(Absolute\).*pickle"):
        SparseEnsemble([own], np.ones((1, 1)), np.zeros(1), None).to_arrays(N_FEATURES)


def test_equal_trees_are_the_same_feature() -> None:
    one, other = CASES[Tree][:2]
    again = Tree([array.copy() for array in one.arrays], one.n_features, one.n_splits)
    assert one == again
    assert hash(one) == hash(again)
    assert one != other
    assert one != Column(0)
