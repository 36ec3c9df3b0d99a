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
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
)
from radboost.distributed import mpi

ESTIMATORS = [
    DeepBoostClassifier(4, complexity_penalty=0.01, random_state=np.random.RandomState(3)),
    SoftmaxBoostClassifier(3, calibration=None),
    RGBClassifier(3, calibration=None),
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
    sources = np.random.default_rng(5).choice(["a", "b", "c"], 200)
    ready = MultiSourceBoostClassifier(1).fit(X, y, sources=sources).domain_classifier_
    several = MultiSourceBoostClassifier(3, domain_classifier=ready)
    expected = clone(several).fit(X, y, sources=sources)
    model = mpi.fit(clone(several), own(X), own(y), sources=own(sources))
    assert everything(model)[:-1] == everything(expected)[:-1]
    seeds = DeepBoostClassifier(3, complexity_penalty=0.01, random_state=None, calibration=None)
    models = MPI.COMM_WORLD.allgather(everything(mpi.fit(seeds, own(X), own(y))))
    assert all(one == models[0] for one in models)


def long_letters() -> None:
    """More bytes than go at once."""
    mpi.MOST_AT_ONCE = 10
    workers, rank = mpi.MPIWorkers(MPI.COMM_WORLD), MPI.COMM_WORLD.Get_rank()
    size = MPI.COMM_WORLD.Get_size()
    assert workers.gather(b"abcdefg" * 5 * rank) == [b"abcdefg" * 5 * other for other in range(size)]
    numbers = np.arange(37) * (rank + 1)
    workers.sum(numbers)
    assert numbers.tolist() == (np.arange(37) * size * (size + 1) // 2).tolist()
    traffic = workers.traffic
    assert (traffic.n_exchanges, traffic.bytes_brought) == (2, 35 * rank + 37 * 8)
    assert traffic.bytes_sent == traffic.bytes_brought
    assert traffic.seconds_waiting > 0.0


def failing() -> None:
    X, y = table(1, 60, 4)
    if MPI.COMM_WORLD.Get_rank() == 1:
        y = np.full(60, np.nan)
    mpi.fit(RGBClassifier(3), X, y)
    print("nobody should come here")


if __name__ == "__main__":
    {"equal_models": equal_models, "long_letters": long_letters, "failing": failing}[sys.argv[1]]()
