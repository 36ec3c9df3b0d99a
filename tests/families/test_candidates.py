"""Given hypotheses as a family."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from radboost import DeepBoostClassifier, MultiSourceBoostClassifier
from radboost.families import Candidates, stumps_at
from radboost.families.candidates import draw
from reference.data import smooth, smooth_classes

GRID = [np.linspace(-2.0, 2.0, 9)] * 6


def test_stumps_at_thresholds() -> None:
    stumps = stumps_at([[1.0, 0.0], [], [3.0]])
    assert [stump.describe(None) for stump in stumps] == [
        stump.describe(None) for stump in stumps_at([[0, 1, 1], [], [3]])
    ]
    X = np.array([[0.5, 0.0, 9.0], [2.0, 0.0, np.nan], [1.0, 0.0, 3.0]])
    np.testing.assert_array_equal([stump.values(X) for stump in stumps], [[1, 1, 1], [-1, 1, -1], [1, -1, -1]])
    for wrong in ([[np.nan]], [["a"]], [[None]]):
        with pytest.raises(ValueError, match="column 0 must be finite"):
            stumps_at(wrong)
    with pytest.raises(TypeError, match="a sequence of numbers for each column"):
        stumps_at(3)  # type: ignore[arg-type]


def test_every_round_takes_the_best() -> None:
    """The edge of each candidate by hand, in every round."""
    X, y = smooth(1, m=200)
    given = Candidates(stumps_at(GRID))
    model = DeepBoostClassifier.paper(12, family=given).fit(X, y)
    values = np.array([one.values(X) for one in given.hypotheses])
    scores = np.zeros(len(X))
    for step in model.ensemble_.steps:
        weights = np.exp(-y * scores)
        edges = values @ (weights * y) / weights.sum()
        chosen = model.ensemble_.entered[step["hypothesis"]]
        assert abs(edges[list(given.hypotheses).index(chosen)]) >= np.abs(edges).max() - 1e-9
        scores += step["eta"] * chosen.values(X)
    assert model.score(X, y) > 0.7
    assert all(hypothesis in given.hypotheses for hypothesis in model.ensemble_.hypotheses)


def test_several_classes_and_deep_trees() -> None:
    X, y = smooth_classes(2, m=300, n_classes=4)
    trees = DeepBoostClassifier(15).fit(X, y).ensemble_.hypotheses
    model = DeepBoostClassifier(30, family=Candidates(trees)).fit(X, y)
    assert model.score(X, y) > 0.6
    both = DeepBoostClassifier(30, family=["stumps", Candidates(trees)]).fit(X, y)
    assert len(both.ensemble_) > 0


def test_copies_and_mirror_images_are_one() -> None:
    X, y = smooth(3, m=100)
    stumps = stumps_at(GRID)
    mirror = DeepBoostClassifier.paper(3, family=Candidates(stumps)).fit(X, -y).ensemble_.hypotheses
    assert len(Candidates([*stumps, *stumps, *mirror]).hypotheses) == len(stumps)


def test_draws() -> None:
    for n, size in ((10, 3), (100, 99), (5, 5), (5, None), (1, 1)):
        for round_index in range(20):
            found = draw(4, round_index, n, size)
            assert found == sorted(set(found)) == draw(4, round_index, n, size)
            assert len(found) == min(n, size or n)
            assert set(found) <= set(range(n))
    drawn = Counter(place for round_index in range(3000) for place in draw(7, round_index, 10, 3))
    assert all(750 < drawn[place] < 1050 for place in range(10))
    assert draw(7, 0, 50, 5) != draw(8, 0, 50, 5) != draw(7, 1, 50, 5)


def test_some_in_each_round() -> None:
    X, y = smooth(4, m=150)
    one, again, other = (
        DeepBoostClassifier.paper(20, family=Candidates(stumps_at(GRID), 4), random_state=seed).fit(X, y)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), again.decision_function(X))
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))


def test_sources_have_their_own_draws() -> None:
    X, y = smooth(5, m=200)
    sources = np.where(X[:, 0] > 0, "a", "b")
    model = MultiSourceBoostClassifier(20, family=Candidates(stumps_at(GRID), 5)).fit(X, y, sources=sources)
    assert len(model.ensemble_) > 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Candidates("stumps"), TypeError, "must be a sequence of hypotheses"),
        (lambda: Candidates([3]), TypeError, "must have the methods values and key"),
        (lambda: Candidates([]).validate(), ValueError, "has no hypothesis"),
        (lambda: Candidates(stumps_at(GRID), 0).validate(), ValueError, "per_round of Candidates"),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_hypotheses_for_other_rows_are_refused() -> None:
    X, y = smooth(6, m=60)
    with pytest.raises(ValueError, match=r"for rows of 2 columns; here rows have 6 columns"):
        DeepBoostClassifier(family=Candidates(stumps_at([[0.0], [1.0]]))).fit(X, y)
    X, y = smooth_classes(6, m=60, n_classes=3)
    with pytest.raises(ValueError, match=r"1 output\(s\).*3 output\(s\) are needed"):
        DeepBoostClassifier(family=Candidates(stumps_at(GRID))).fit(X, y)
