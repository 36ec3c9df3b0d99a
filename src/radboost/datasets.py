"""Synthetic problems: the noisy one that defeats convex boosters, Madelon's relatives, label noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from radboost._validation import check_integer, check_real, generator_from

_LEADING, _COLUMNS = 11, 21  # of the problem of Long and Servedio


def make_noisy(y: ArrayLike, rate: float, random_state: Any = None) -> NDArray[Any]:
    """Label noise: labels of which a fraction is wrong (Soft-max boosting, section 5.4).

    Each of round(rate * n) rows, drawn at random, gets the label of another class, all others being equally likely. The
    paper speaks of labels "randomly exchanged" and says no more; with two classes its errors fit this reading only.

    Parameters
    ----------
    y : array of labels
        Of any kind, at least two different ones.
    rate : float in [0, 1]
        Fraction of rows whose label changes.
    random_state : int, generator or None
        Which rows, and to what.

    Returns
    -------
    array like y, a copy
    """
    labels = np.asarray(y)
    fraction = check_real("rate", rate, low=0.0, high=1.0)
    if labels.ndim != 1:
        raise ValueError(f"y must be 1-dimensional, one label per row; got {labels.ndim} dimensions.")
    classes, codes = np.unique(labels, return_inverse=True)
    n_wrong = round(fraction * len(labels))
    if n_wrong and len(classes) < 2:
        raise ValueError(f"y holds only the label {classes.tolist()[0]!r}; label noise needs at least two.")
    rng = generator_from(random_state)
    chosen = rng.permutation(len(labels))[:n_wrong]
    codes[chosen] = (codes[chosen] + rng.integers(1, max(2, len(classes)), n_wrong)) % len(classes)
    return np.asarray(classes[codes])


def make_long_servedio(
    n_samples: int = 4000, *, noise: float = 0.0, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The problem that defeats every convex booster (Long and Servedio 2010; Soft-max boosting, section 5.5.2).

    21 columns of 0 and 1, labels 0 and 1. A quarter of the rows have a large margin: every column is the label. A
    quarter are pullers: the first eleven columns are the label, the others its opposite. Half are penalizers: five of
    the first eleven and six of the last ten columns are the label, the others its opposite. The majority of the columns
    is right on every row. Then each label is turned around with probability `noise`.

    Parameters
    ----------
    n_samples : int
        Rows; 4,000 train and 10,000 test in the paper.
    noise : float in [0, 1]
        Probability that a label is turned around; 0 for rows to test with.
    random_state : int, generator or None
        Seed of the draws.

    Returns
    -------
    X of shape (n_samples, 21), y of shape (n_samples,); the three kinds in random order
    """
    n_rows = check_integer("n_samples", n_samples, 1)
    probability = check_real("noise", noise, low=0.0, high=1.0)
    rng = generator_from(random_state)
    y = rng.integers(0, 2, n_rows)
    n_large = n_pullers = n_rows // 4
    kind = np.repeat([0, 1, 2], [n_large, n_pullers, n_rows - n_large - n_pullers])[rng.permutation(n_rows)]
    leading = np.arange(_COLUMNS) < _LEADING
    right = np.ones((n_rows, _COLUMNS), dtype=bool)
    right[kind == 1] = leading
    # the positions of the smallest of random numbers are a random subset of the required size
    luck = rng.random((n_rows, _COLUMNS))
    label_columns = np.concatenate([_ranks(luck[:, leading]) < 5, _ranks(luck[:, ~leading]) < 6], axis=1)
    right[kind == 2] = label_columns[kind == 2]
    X = np.where(right, y[:, None], 1 - y[:, None]).astype(np.float64)
    return X, np.where(rng.random(n_rows) < probability, 1 - y, y)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return values.argsort(axis=1).argsort(axis=1)


def make_madelon_like(random_state: Any = None, *, n_test: int = 10_000) -> Bunch:
    """A random problem of the kind that section 5.3 of Soft-max boosting compares algorithms on.

    All numbers are drawn uniformly. There are 2 to 10 informative columns; 0 to 3 redundant, repeated and useless ones
    each. There are 2 to 5 classes of 2 to 5 clusters each, and 300 to 3,000 training rows. Up to a quarter of these
    have a class that is drawn anew, from all classes, as by scikit-learn's `make_classification`, which the paper used.
    Every cluster needs a corner of the cube: if there are too few (a case that the paper omits) all is drawn again.

    Parameters
    ----------
    random_state : int, generator or None
        Seed of everything.
    n_test : int
        Test rows, with right labels.

    Returns
    -------
    Bunch
        X, y of the training rows; X_test, y_test; and what was drawn: n_informative, n_redundant, n_repeated,
        n_useless, n_classes, n_clusters_per_class, and noise, the fraction of training rows (on average) whose class
        is drawn anew.
    """
    from sklearn.datasets import make_classification  # takes a second to import, and only this function needs it

    n_test = check_integer("n_test", n_test, 1)
    rng = generator_from(random_state)
    while True:
        n_informative = int(rng.integers(2, 11))
        n_redundant, n_repeated, n_useless = (int(n) for n in rng.integers(0, 4, 3))
        n_classes, n_clusters = (int(n) for n in rng.integers(2, 6, 2))
        noise, n_train = float(rng.uniform(0.0, 0.25)), int(rng.integers(300, 3001))
        if n_classes * n_clusters <= 2**n_informative:
            break
    X, y = make_classification(
        n_train + n_test,
        n_informative + n_redundant + n_repeated + n_useless,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_repeated=n_repeated,
        n_classes=n_classes,
        n_clusters_per_class=n_clusters,
        flip_y=0.0,
        shift=None,
        scale=None,
        random_state=int(rng.integers(2**31)),
    )
    labels = np.where(rng.random(n_train) < noise, rng.integers(0, n_classes, n_train), y[:n_train])
    return Bunch(
        X=X[:n_train],
        y=labels,
        X_test=X[n_train:],
        y_test=y[n_train:].astype(np.int64),
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_repeated=n_repeated,
        n_useless=n_useless,
        n_classes=n_classes,
        n_clusters_per_class=n_clusters,
        noise=noise,
    )
