"""What each rank of an MPI job runs in `test_mpi.py`: fits a part of the rows and compares with all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[1]))

from distributed_tools import everything
from fingerprints import fractions, table
from radboost import (
    Checkpoint,
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
)
from radboost.distributed import mpi

ESTIMATORS = [
    DeepBoostClassifier(4, complexity_penalty=0.01, random_state=np.random.RandomState(3)),
    RGBRegressor(4, early_stopping=2),
]


def own(rows: np.ndarray) -> np.ndarray:
    """The first rank of several has no rows."""
    rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    return rows if size == 1 else rows[:0] if rank == 0 else rows[rank - 1 :: size - 1]


def equal_models() -> None:
    X, y = table(1, 200, 5, 3, missing=0.05)
    weights = fractions(200)
    for estimator in ESTIMATORS:
        expected = clone(estimator).fit(X, y, weights)
        model = mpi.fit(clone(estimator), own(X), own(y), sample_weight=own(weights))
        assert everything(model)[:-1] == everything(expected)[:-1], estimator
    seeds = DeepBoostClassifier(3, complexity_penalty=0.01, random_state=None, calibration=None)
    models = MPI.COMM_WORLD.allgather(everything(mpi.fit(seeds, own(X), own(y))))
    assert all(one == models[0] for one in models)


def what_else_fit_takes() -> None:
    """Rows to watch, offsets, costs and a metric; callbacks on the first rank, and a checkpoint to go on from."""
    X, y = table(1, 200, 5, 3, missing=0.05)
    first, path = MPI.COMM_WORLD.Get_rank() == 0, sys.argv[2]
    given = {"offset": 0.1 * np.nan_to_num(X[:, :3]), "X_val": X[::2], "y_val": y[::2]}
    given["offset_val"] = given["offset"][::2]
    estimator = DeepBoostClassifier(4, complexity_penalty=0.01, calibration=None)
    expected = clone(estimator).fit(X, y, **given, eval_metric="accuracy")
    parts = {name: own(rows) for name, rows in given.items()}
    parts |= {"eval_metric": "accuracy"}
    callbacks = [Checkpoint(path)] if first else []
    short = clone(estimator).set_params(n_rounds=2)
    mpi.fit(short, own(X), own(y), **parts, callbacks=callbacks)
    model = mpi.fit(clone(estimator), own(X), own(y), **parts, resume_from=path)
    assert everything(model) == everything(expected)
    assert model.history_ == expected.history_
    cost = 1.0 + np.abs(np.nan_to_num(X[:, :3]))
    expected = SoftmaxBoostClassifier(2, calibration=None).fit(X, y, cost=cost)
    model = mpi.fit(SoftmaxBoostClassifier(2, calibration=None), own(X), own(y), cost=own(cost))
    assert everything(model) == everything(expected)
    sources = np.random.default_rng(5).choice(["a", "b", "c"], 200)
    expected = MultiSourceBoostClassifier(3).fit(X, y, sources=sources)
    model = mpi.fit(MultiSourceBoostClassifier(3), own(X), own(y), sources=own(sources))
    assert everything(model) == everything(expected)


def long_letters() -> None:
    """More bytes than go at once."""
    mpi.MAX_COUNT = 10
    workers, rank = mpi.MPICollective(MPI.COMM_WORLD), MPI.COMM_WORLD.Get_rank()
    size = MPI.COMM_WORLD.Get_size()
    assert workers.gather(b"abcdefg" * 5 * rank) == [b"abcdefg" * 5 * other for other in range(size)]
    numbers = np.arange(37) * (rank + 1)
    workers.sum(numbers)
    assert numbers.tolist() == (np.arange(37) * size * (size + 1) // 2).tolist()
    traffic = workers.traffic
    assert (traffic.n_exchanges, traffic.bytes_sent) == (2, 35 * rank + 37 * 8)
    assert traffic.seconds_waiting > 0.0


def failing() -> None:
    X, y = table(1, 60, 4)
    if MPI.COMM_WORLD.Get_rank() == 1:
        y = np.full(60, np.nan)
    mpi.fit(RGBClassifier(3), X, y)
    print("nobody should come here")


if __name__ == "__main__":
    tests = (equal_models, what_else_fit_takes, long_letters, failing)
    {test.__name__: test for test in tests}[sys.argv[1]]()
