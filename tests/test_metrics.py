from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import coverage_error

from radboost.metrics import coverage


def test_coverage_is_the_rank_of_the_true_class() -> None:
    scores = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 1.0], [1.0, 2.0, 3.0]])
    assert coverage([0, 1, 2], scores) == 0.0
    assert coverage([1, 0, 0], scores) == pytest.approx((2 + 2 + 2) / 3)
    assert coverage([2, 1, 0], scores, sample_weight=[1, 0, 1]) == pytest.approx((1 + 2) / 2)
    assert coverage(["b", "a", "c"], scores, classes=["a", "b", "c"]) == pytest.approx((2 + 2 + 0) / 3)


def test_against_scikit_learn_and_the_error() -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(50, 6)), rng.integers(0, 6, size=50)
    one_hot = np.eye(6, dtype=int)[y]
    assert coverage(y, scores) == pytest.approx(coverage_error(one_hot, scores) - 1.0)
    assert coverage(y, scores) >= np.mean(scores.argmax(axis=1) != y)


def test_two_classes_and_ties() -> None:
    assert coverage([0, 1, 1], np.array([-1.0, 2.0, -0.5])) == pytest.approx(1 / 3)
    assert coverage([0, 1, 2], np.zeros((3, 3))) == 1.0


def test_nonsense() -> None:
    with pytest.raises(ValueError, match="not one of the classes"):
        coverage([7], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="2 columns for 3 classes"):
        coverage([0], np.zeros((1, 2)), classes=[0, 1, 2])
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        coverage([0, 1], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="shape"):
        coverage([0], np.zeros((1, 2, 3)))
