"""The made-up problems have the shape that the papers give them."""

from __future__ import annotations

import numpy as np
import pytest

from radboost import datasets


def test_noisy_labels_are_other_labels_at_the_asked_rate() -> None:
    y = np.array(list("abcd") * 250)
    noisy = datasets.make_noisy(y, 0.2, random_state=3)
    wrong = noisy != y
    assert wrong.sum() == 200
    assert set(noisy) == set("abcd")
    for label in "abcd":  # every other class takes its share of each
        counts = np.unique(noisy[wrong & (y == label)], return_counts=True)[1]
        assert len(counts) == 3
        assert counts.min() > 5
    np.testing.assert_array_equal(noisy, datasets.make_noisy(y, 0.2, random_state=3))
    assert (noisy != datasets.make_noisy(y, 0.2, random_state=4)).any()
    assert (y == np.array(list("abcd") * 250)).all()


def test_noise_of_none_and_of_all() -> None:
    y = np.array([3, 5, 5, 3])
    np.testing.assert_array_equal(datasets.make_noisy(y, 0.0, random_state=0), y)
    np.testing.assert_array_equal(datasets.make_noisy(y, 1.0, random_state=0), [5, 3, 3, 5])


@pytest.mark.parametrize(
    ("y", "rate", "message"),
    [([1, 2], 1.5, "rate must lie"), ([1, 1], 0.5, "only the label 1"), ([[1, 2]], 0.5, "1-dimensional")],
)
def test_noise_that_cannot_be_made(y: list[int], rate: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        datasets.make_noisy(y, rate)


def test_long_servedio() -> None:
    X, y = datasets.make_long_servedio(2000, random_state=1)
    assert X.shape == (2000, 21)
    right = y[:, None] == X
    assert set(np.unique(X)) == {0.0, 1.0}
    leading, trailing = right[:, :11].sum(axis=1), right[:, 11:].sum(axis=1)
    kinds, counts = np.unique(np.column_stack([leading, trailing]), axis=0, return_counts=True)
    assert kinds.tolist() == [[5, 6], [11, 0], [11, 10]]
    assert counts.tolist() == [1000, 500, 500]
    assert (right.sum(axis=1) >= 11).all()  # the majority of the columns is always right
    penalisers = leading == 5
    np.testing.assert_allclose(right[penalisers].mean(axis=0), [5 / 11] * 11 + [6 / 10] * 10, atol=0.06)
    assert abs(y.mean() - 0.5) < 0.05


def test_long_servedio_with_noise() -> None:
    X, clean = datasets.make_long_servedio(4000, random_state=2)
    noisy_X, noisy = datasets.make_long_servedio(4000, noise=0.25, random_state=2)
    np.testing.assert_array_equal(X, noisy_X)
    assert abs((clean != noisy).mean() - 0.25) < 0.03
    generator = np.random.default_rng(0)
    first, second = (datasets.make_long_servedio(100, random_state=generator)[0] for _ in range(2))
    assert (first != second).any()
    with pytest.raises(ValueError, match="noise must lie"):
        datasets.make_long_servedio(noise=2)
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        datasets.make_long_servedio(0)


def test_madelon_like() -> None:
    problems = [datasets.make_madelon_like(seed, n_test=50) for seed in range(30)]
    for problem in problems:
        columns = problem.n_informative + problem.n_redundant + problem.n_repeated + problem.n_useless
        assert 300 <= len(problem.y) <= 3000
        assert problem.X.shape == (len(problem.y), columns)
        assert problem.X_test.shape == (50, columns)
        assert problem.n_classes * problem.n_clusters_per_class <= 2**problem.n_informative
        assert set(problem.y) <= set(range(problem.n_classes))
    drawn = {name: {getattr(p, name) for p in problems} for name in ("n_classes", "n_redundant", "n_useless")}
    assert drawn == {"n_classes": {2, 3, 4, 5}, "n_redundant": {0, 1, 2, 3}, "n_useless": {0, 1, 2, 3}}
    again = datasets.make_madelon_like(7, n_test=50)
    np.testing.assert_array_equal(again.X_test, problems[7].X_test)
    np.testing.assert_array_equal(again.y, problems[7].y)
