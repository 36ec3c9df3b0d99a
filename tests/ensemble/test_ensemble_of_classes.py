"""Trees, kernels and ensembles of several classes, put together by hand, against walks in Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand_made import naive_scores, random_ensemble, random_rows, tree
from radboost.boosting import Step, Trace
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.families.kernel import KernelHypothesis
from radboost.trees.describe import describe

STUMP = [(1, 0.5, 1, 0, 1.0), (2,), (-1,)]


# --- trees ------------------------------------------------------------------------------------------------


def test_trees_of_several_classes_have_no_mirror_image() -> None:
    one = tree(STUMP, 2, 4)
    same, other = tree(STUMP, 2, 4), tree([STUMP[0], (-1,), (2,)], 2, 4)
    assert one.key() == same.key()
    assert one.key() != other.key()
    assert {key.key()[1] for key in (one, other, tree([(-1,)], 2, 4))} == {1.0}


def test_the_text_of_a_tree_names_its_outputs() -> None:
    assert repr(tree(STUMP, 2, 4)) == "Tree(n_splits=1, n_nodes=3, depth=1, n_outputs=4)"
    assert repr(tree([(1,)], 2, 1)) == "Tree(n_splits=0, n_nodes=1, depth=0)"


# --- kernels ----------------------------------------------------------------------------------------------


def test_a_kernel_speaks_for_one_class() -> None:
    centre = np.array([0.5, 1.0])
    one = KernelHypothesis("rbf", 0.5, centre, class_index=2, n_outputs=4)
    plain = KernelHypothesis("rbf", 0.5, centre)
    X = np.array([[0.5, 1.0], [3.0, -1.0]])
    predictions = one.predict(X)
    assert predictions.shape == (2, 4)
    np.testing.assert_array_equal(predictions[:, 2], plain.predict(X))
    assert not np.delete(predictions, 2, axis=1).any()
    assert one.key() != KernelHypothesis("rbf", 0.5, centre, class_index=1, n_outputs=4).key()
    assert one.key() == KernelHypothesis("rbf", 0.5, centre.copy(), class_index=2, n_outputs=4).key()
    assert repr(one) == "KernelHypothesis(kernel='rbf', gamma=0.5, class_index=2)"
    assert repr(plain) == "KernelHypothesis(kernel='rbf', gamma=0.5)"


@pytest.mark.parametrize(("class_index", "n_outputs"), [(None, 3), (0, 1), (3, 3), (-1, 3)])
def test_the_class_of_a_kernel_must_exist(class_index: int | None, n_outputs: int) -> None:
    with pytest.raises(ValueError, match=f"class_index={class_index} does not fit n_outputs={n_outputs}"):
        KernelHypothesis("rbf", 1.0, np.zeros(2), class_index, n_outputs)


# --- ensembles --------------------------------------------------------------------------------------------


def with_two_dimensions(scores: np.ndarray) -> np.ndarray:
    return scores[:, None] if scores.ndim == 1 else scores


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 26]), st.booleans())
def test_scores_and_stages(seed: int, n_outputs: int, kernels: bool) -> None:
    ensemble = random_ensemble(seed, n_outputs, kernels=kernels)
    # Kernels need complete rows, and the cosine one that is not zero.
    X = np.abs(random_rows(seed + 1)) + 0.25 if kernels else random_rows(seed + 1, missing=0.1)
    scores = ensemble.decision_function(X)
    assert scores.shape == ((30,) if n_outputs == 1 else (30, n_outputs))
    atol = 1e-5 if kernels else 0.0  # a kernel value may round to a neighbour on its grid of 2^-20
    np.testing.assert_allclose(with_two_dimensions(scores), naive_scores(ensemble, X), rtol=0, atol=atol)
    np.testing.assert_array_equal(ensemble.decision_function(X, n_threads=3), scores)
    stages = list(ensemble.staged_decision_function(X))
    assert len(stages) == ensemble.n_rounds
    for n_rounds in (1, ensemble.n_rounds // 2, ensemble.n_rounds):
        expected = naive_scores(ensemble, X, n_rounds)
        np.testing.assert_allclose(with_two_dimensions(stages[n_rounds - 1]), expected, rtol=0, atol=atol)


def test_an_empty_ensemble_scores_zero() -> None:
    empty = Ensemble(
        [], [], np.zeros(0, STEP_TYPE), n_rounds=2, n_features=3, n_families=1, sample_size=1.0, n_outputs=5
    )
    np.testing.assert_array_equal(empty.decision_function(np.zeros((4, 3))), np.zeros((4, 5)))
    assert [s.shape for s in empty.staged_decision_function(np.zeros((4, 3)))] == [(4, 5), (4, 5)]
    assert repr(empty) == "Ensemble of 0 hypotheses: f(x) = 0"
    assert not empty.feature_importances().any()


def test_an_ensemble_of_a_trace() -> None:
    trace = Trace(
        hypotheses=[tree(STUMP, 2, 4), tree([(3,)], 2, 4), tree([(0,)], 2, 4)],
        complexities=[0.1, 0.2, 0.3],
        steps=[Step(0, 0, 0.5), Step(1, 1, 0.25), Step(2, 2, 1.0)],
    )
    ensemble = Ensemble.from_trace(
        trace, n_rounds=2, n_features=2, n_families=3, sample_size=9.0, feature_names=None, n_outputs=4
    )
    assert len(ensemble.entered) == 2
    np.testing.assert_array_equal(ensemble.decision_function(np.array([[0.0, 0.0]])), [[0, 0, 0.5, 0.25]])


def test_importances_weigh_gains_like_their_trees() -> None:
    nodes = [(0, 0.0, 1, 0, 2.0), (1, 0.0, 3, 0, 4.0), (1,), (0,), (2,)]
    steps = np.array([(0, 0, 0.5), (1, 1, 0.25)], dtype=STEP_TYPE)
    ensemble = Ensemble(
        [tree(nodes, 2, 3), tree(STUMP, 2, 3)],
        [0.1, 0.1],
        steps,
        n_rounds=2,
        n_features=2,
        n_families=1,
        sample_size=1.0,
        n_outputs=3,
    )
    np.testing.assert_allclose(ensemble.feature_importances(), np.array([1.0, 2.25]) / 3.25)


def test_the_text_names_classes_by_number() -> None:
    large = [(0, 0.0, 1, 0, 2.0), (1, 0.0, 3, 0, 4.0), (1,), (0,), (2,)]
    trees = [
        tree(STUMP, 2, 10),
        tree([(3,)], 2, 10),
        tree(large, 2, 10),
        tree([STUMP[0], (7, 0.0, 3, 0, 1.0), (-1,), (4,), (4,)], 8, 10),
        KernelHypothesis("rbf", 0.5, np.zeros(8), 9, 10),
    ]
    steps = np.array([(t, t, 1.0 - t / 8) for t in range(5)], dtype=STEP_TYPE)
    ensemble = Ensemble(trees, [0.1] * 5, steps, n_rounds=5, n_features=8, n_families=1, sample_size=1.0, n_outputs=10)
    assert repr(ensemble).splitlines() == [
        "Ensemble of 5 hypotheses for 10 classes with 0 to 2 splits, total weight 3.75",
        "  +1.0000 * [class 2 if x[1] <= 0.5 else abstains]",
        "  +0.8750 * class 3",
        "  +0.7500 * tree of 2 splits, depth 2, first asks x[0] <= 0, votes for classes 0, 1 and 2",
        "  +0.6250 * tree of 2 splits, depth 2, first asks x[1] <= 0.5, votes for class 4",
        "  +0.5000 * KernelHypothesis(kernel='rbf', gamma=0.5, class_index=9)",
    ]


def test_many_classes_are_counted_in_the_text() -> None:
    split = (0, 0.0, 0, 0, 1.0)
    nodes = [(*split[:2], left, *split[3:]) for left in (1, 3, 5)] + [(0,), (1,), (2,), (3,)]
    assert describe(tree(nodes, 1, 9), None).endswith("depth 2, first asks x[0] <= 0, votes for classes 0, 1, 2 and 3")
    nodes = [nodes[0], nodes[1], nodes[2], (0, 0.0, 7, 0, 1.0), *nodes[4:], (5,), (6,)]
    assert describe(tree(nodes, 1, 9), ["age"]).endswith("depth 3, first asks age <= 0, votes for 5 classes")
    silent = tree([*nodes[:3], (-1,), (-1,), (-1,), (-1,)], 1, 9)
    assert describe(silent, None).endswith("votes for no class")
    assert describe(tree([(0, np.inf, 1, 0, 1.0), (0,), (-1,)], 1, 9), ["age"]) == (
        "[class 0 if age is not missing else abstains]"
    )
