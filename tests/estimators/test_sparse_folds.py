"""Cross-validation of sparse models: folds by content, folds of the user's own, and little memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold

from radboost import (
    MultiTaskSparseBoostClassifierCV,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
)

RNG = np.random.default_rng(2)
X = RNG.normal(size=(150, 6))
T = X[:, 0] - 0.5 * X[:, 1] + RNG.normal(size=150)
CASES: dict[str, Any] = {
    "numbers": (SparseBoostRegressorCV, T),
    "two classes": (SparseBoostClassifierCV, T > 0.3),
    "three classes": (SparseBoostClassifierCV, np.digitize(T, [-1.0, 1.0])),
    "tasks": (MultiTaskSparseBoostClassifierCV, np.column_stack([T > 0, X[:, 2] > 0.1])),
}
EVERY = pytest.mark.parametrize("name", sorted(CASES))


def same(one: Any, other: Any) -> None:
    assert one.alpha_ == other.alpha_
    np.testing.assert_array_equal(one.alphas_, other.alphas_)
    np.testing.assert_array_equal(one.validation_losses_, other.validation_losses_)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@EVERY
def test_sparse_rows_have_folds_too(name: str) -> None:
    estimator, y = CASES[name]
    order, rows = RNG.permutation(150), np.where(np.abs(X) < 0.7, 0.0, X)
    for form in (sparse.csr_array, sparse.csc_array):
        model = estimator(n_alphas=5, cv=3).fit(form(rows), y)
        same(model, estimator(n_alphas=5, cv=3).fit(form(rows[order]), y[order]))


def test_each_fold_has_its_share_of_every_class_and_copies_stay_together() -> None:
    labels = np.repeat([0.0, 1.0, 2.0], [100, 30, 20])[None]
    model = SparseBoostClassifierCV(cv=5)
    folds, (rows, ordered, _) = model._folds_by_content(X, labels, np.ones(150))
    for train, test in folds:
        assert len(set(train) | set(test)) == 150
        np.testing.assert_array_equal(np.bincount(ordered[0, test].astype(int)), [20, 6, 4])
    twice = np.vstack([X, X])
    folds, (rows, ordered, weights) = model._folds_by_content(twice, np.hstack([labels, labels]), np.ones(300))
    assert rows.shape == X.shape
    np.testing.assert_array_equal(weights, 2.0)


def test_the_losses_are_those_of_models_that_never_saw_the_rows() -> None:
    model = SparseBoostRegressorCV(n_alphas=5, cv=4).fit(X, T)
    checked = SparseBoostRegressorCV(cv=4)
    folds, (rows, targets, _) = checked._folds_by_content(X, T[None], np.ones(150))
    for fold, (train, test) in enumerate(folds):
        fitted = SparseBoostRegressor(model.alphas_[3], epsilon=model.epsilon_).fit(rows[train], targets[0, train])
        excess = fitted.predict(rows[test]) - targets[0, test]
        losses = np.logaddexp(0, excess - model.epsilon_) + np.logaddexp(0, -excess - model.epsilon_)
        assert model.validation_losses_[3, fold] == pytest.approx(losses.mean(), abs=1e-4)


def test_folds_of_the_users_own_stay_as_given() -> None:
    splits = list(KFold(3).split(X))
    one = SparseBoostRegressorCV(n_alphas=5, cv=KFold(3)).fit(X, T)
    same(one, SparseBoostRegressorCV(n_alphas=5, cv=splits).fit(X, T))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cv must be at least 2; got 1"):
        SparseBoostRegressorCV(cv=1).fit(X, T)
    with pytest.raises(ValueError, match=r"cv=5 needs as many different rows.*there are n_samples=3"):
        SparseBoostRegressorCV().fit(np.repeat(X[:3], 4, axis=0), np.repeat(T[:3], 4))
    with pytest.raises(ValueError, match=r"Folds need a class with at least two different rows"):
        SparseBoostClassifierCV(cv=2).fit(np.repeat(X[:2], 3, axis=0), [0, 0, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match=r"cv=5 is more than the 3 different rows"):
        few = SparseBoostClassifierCV(n_alphas=4).fit(X[:6], [0, 1, 0, 1, 0, 1])
    assert few.validation_losses_.shape == (4, 3)
    with pytest.warns(UserWarning, match=r"cv=5 is more than the 3 different rows of the smallest class"):
        SparseBoostClassifierCV(n_alphas=4).fit(X[:60], np.arange(60) < 3)


LITTLE_MEMORY = """
import resource, sys
import numpy as np
from radboost import SparseBoostClassifierCV, SparseBoostRegressorCV
import sklearn.model_selection

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 30))
y = X[:, 0] + rng.normal(size=3000)
used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize:"))
limit = 1024 * used + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
settings = {"n_jobs": 1, "n_alphas": 4, "cv": 2}
classes = np.digitize(y, [-1.0, 1.0])
for model, target in ((SparseBoostRegressorCV(**settings), y), (SparseBoostClassifierCV(**settings), classes)):
    try:
        model.fit(X, target)
    except MemoryError:
        print("MemoryError")
print("alive")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are Linux's")
@pytest.mark.parametrize("megabytes", [0, pytest.param(16, marks=pytest.mark.slow)])
def test_little_memory_does_not_end_the_process(megabytes: int) -> None:
    """OpenBLAS would: its buffers are larger than that."""
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(megabytes)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("alive\n")
