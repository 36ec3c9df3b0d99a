"""What every registered family promises; a new one joins by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from native_tools import by_class
from radboost import DeepBoostClassifier, KernelFamily, TreeOptions, complexity
from radboost._native import HypothesisColumns
from radboost.families import FAMILIES, Problem, get_families
from radboost.families.kinds import predictions
from radboost.losses import get_loss
from radboost.objectives import Objective
from radboost.trees import GrowthSettings, bin_rows
from reference import rademacher
from reference.data import smooth, tiny

CASES: dict[str, Any] = {
    **{name: name for name in FAMILIES},
    "laplacian": KernelFamily("laplacian", 0.3),
    "cosine": KernelFamily("cosine", n_centres=20),
    "own kernel": KernelFamily(lambda c, x: 1 / (1 + ((c[:, None] - x[None]) ** 2).sum(axis=2))),
}
EVERY = pytest.mark.parametrize("name", sorted(CASES))
GROWTH = [
    GrowthSettings(max_depth=3, criterion="edge"),
    GrowthSettings(max_depth=3, criterion="gini", subsample=0.5, random_thresholds=True, max_features=2, seed=5),
    GrowthSettings(max_depth=4, criterion="gini", options=TreeOptions(growth="best_first", max_leaves=5)),
]


def problem(X: np.ndarray, y: np.ndarray, settings: GrowthSettings, w: np.ndarray | None = None) -> Problem:
    """A problem on rows that stand in the engine's order already."""
    order = np.arange(len(y))
    data = bin_rows(X, w, order, settings.options.max_bins, 1)
    return Problem(X, order, data, Objective("sum", get_loss("logistic"), (y > 0).astype(np.uint16), 2, w, 1), settings)


@EVERY
@pytest.mark.parametrize("settings", GROWTH, ids=["paper", "random", "best first"])
@pytest.mark.parametrize("weighted", [False, True])
def test_candidates_are_what_they_say(name: str, settings: GrowthSettings, weighted: bool) -> None:
    """Edge, predictions on the training rows and raw predictions agree, round after round."""
    X, y = by_class(*smooth(1, m=50, d=4))
    w = np.random.default_rng(0).random(50) + 0.5 if weighted else None
    setting = problem(X, y, settings, w)
    (family,) = get_families(CASES[name])
    proposer = family.start(setting)
    columns = HypothesisColumns(50)
    scores = np.zeros(50)
    for round_index in range(4):
        setting.objective.reweigh()
        slope = (1.0 if w is None else w) / (1 + np.exp(y * scores - 1))
        D = slope / slope.sum()
        candidates = proposer.propose(round_index)
        assert candidates
        for candidate in candidates:
            hypothesis = candidate.hypothesis()
            h = predictions(hypothesis, X, 1)
            assert np.all(np.abs(h) <= 1)
            assert candidate.edge == pytest.approx(float(np.sum(D * y * h)), abs=1e-9)
            assert candidate.complexity > 0
            slot = candidate.enter(columns)
            np.testing.assert_array_equal(columns.predictions(slot), h)
            edge = setting.objective.weighting.edges(columns, False, 1)[slot]
            assert edge == pytest.approx(candidate.edge, abs=1e-12)
            assert hypothesis.n_splits >= 0
            assert hypothesis.n_nodes >= 1
            assert hypothesis.depth >= 0
            np.testing.assert_array_equal(predictions(hypothesis, X[:3], 1), h[:3])
        setting.objective.step(columns, slot, 0.25)
        scores += 0.25 * h


def test_p_counts_the_families_of_different_price() -> None:
    """p of Theorem 1: H_1; H_1 and H_2; T_0 ... T_n for the largest tree that the options and the rows allow."""
    X, y = by_class(*smooth(2, m=30, d=4))

    def count(name: str, settings: GrowthSettings) -> int:
        return get_families(name)[0].n_families(problem(X, y, settings))

    assert count("stumps", GROWTH[0]) == 1
    assert count("stump_pairs", GROWTH[0]) == 2
    assert count("kernel", GROWTH[0]) == 1
    assert count("trees", GROWTH[0]) == 8
    assert count("trees", GROWTH[2]) == 5
    assert count("trees", GrowthSettings(max_depth=20)) == 30
    model = DeepBoostClassifier(3, family=["stump_pairs", "trees"], max_depth=3).fit(X, y)
    assert model.ensemble_.n_families == 2 + 8


def prices(
    name: str, X: np.ndarray, y: np.ndarray, settings: GrowthSettings, w: np.ndarray | None = None
) -> dict[int, float]:
    setting = problem(X, y, settings, w)
    (family,) = get_families(name)
    proposer = family.start(setting)
    setting.objective.reweigh()
    return {c.hypothesis().n_splits: c.complexity for c in proposer.propose(0)}


@pytest.mark.parametrize("name", ["stumps", "stump_pairs", "trees"])
def test_the_constant_of_imbalanced_data_belongs_to_the_first_family(name: str) -> None:
    X, _ = tiny(5, m=40)
    X, y = by_class(X, np.where(np.arange(40) == 3, 1, -1))
    found = prices(name, X, y, GROWTH[0])
    expected = rademacher.trees(40, 3, 0) if name == "trees" else rademacher.stumps(40, 3)
    assert found == {0: pytest.approx(expected)}


def test_kernel_complexity_is_the_trace_bound() -> None:
    X, y = by_class(*smooth(6, m=50))
    found = prices("kernel", X, y, GROWTH[0])
    assert found == {0: pytest.approx(complexity.kernel(50.0, 50.0))}


@pytest.mark.parametrize("flip", [1, -1])
def test_the_steepest_kernel_is_proposed_whatever_its_sign(flip: int) -> None:
    X, y = by_class(*smooth(6, m=40, d=3))
    y = flip * np.where(np.sum(X**2, axis=1) < 2.0, 1, -1)
    setting = problem(X, y, GROWTH[0])
    proposer = KernelFamily(gamma=0.2).start(setting)
    setting.objective.reweigh()
    (candidate,) = proposer.propose(0)
    K = np.exp(-0.2 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    edges = K @ y / 40
    assert candidate.edge == pytest.approx(edges[np.argmax(np.abs(edges))], abs=1e-6)


def test_kernel_centres_are_drawn_by_content() -> None:
    X, y = by_class(*smooth(8, m=60))
    order = np.random.default_rng(0).permutation(60)
    doubled = np.repeat(X, 2, axis=0)
    family = KernelFamily(n_centres=10)
    centres = [
        sorted(map(tuple, family.start(problem(rows, labels, GROWTH[0], w))._centres.tolist()))
        for rows, labels, w in (
            (X, y, None),
            (X[order], y[order], None),
            (doubled, np.repeat(y, 2), None),
            (X, y, np.full(60, 2.0)),
        )
    ]
    assert len(centres[0]) == 10
    assert centres.count(centres[0]) == 4


def test_own_kernels_are_checked() -> None:
    X, y = by_class(*smooth(9, m=20))
    for kernel, message in (
        (lambda c, x: 2 * np.ones((len(c), len(x))), r"\[-1, 1\]"),
        (lambda c, x: np.ones(3), "shape"),
        (lambda c, x: np.full((len(c), len(x)), np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelFamily(kernel).start(problem(X, y, GROWTH[0]))
    with pytest.raises(ValueError, match="missing"):
        KernelFamily().start(problem(np.where(X > 1, np.nan, X), y, GROWTH[0]))
    for wrong in (
        KernelFamily("poly"),
        KernelFamily(gamma=-1.0),
        KernelFamily(gamma="auto"),
        KernelFamily(n_centres=0),
    ):
        with pytest.raises(ValueError, match=r"kernel|gamma|n_centres"):
            wrong.start(problem(X, y, GROWTH[0]))


def test_unknown_families() -> None:
    with pytest.raises(ValueError, match=r"(?s)forest.*stumps"):
        get_families("forest")
    with pytest.raises(ValueError, match="empty"):
        get_families([])
    for wrong in (3, None, ["trees", 3], KernelFamily):
        with pytest.raises(TypeError, match="family must be"):
            get_families(wrong)
