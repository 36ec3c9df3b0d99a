"""Fits on MPI: every rank calls `fit` with its own rows, and all end with the model of all rows."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.distributed.learning import Task, digest_of_model
from radboost.distributed.parts import Part
from radboost.distributed.talking import Workers
from radboost.estimators._checkpoints import describe_parameters

WITHOUT_EFFECT = {"n_jobs", "verbose"}  # on what all ranks do together
MOST_AT_ONCE = 2**28  # entries of one exchange: MPI counts in 32 bits, and bytes have to fit too


class MPIWorkers(Workers):
    """The ranks of a communicator."""

    def __init__(self, comm: Any) -> None:
        super().__init__()
        self._comm = comm

    @property
    def alone(self) -> bool:
        return bool(self._comm.Get_size() == 1)

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self._reduce(values, "SUM")

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        self._reduce(values, "MAX")

    def gather(self, data: bytes) -> list[bytes]:
        sizes = np.array(self._comm.allgather(len(data)), dtype=np.int64)
        pieces: list[list[bytes]] = [[] for _ in sizes]
        for first in range(0, int(sizes.max()), MOST_AT_ONCE // len(sizes)):
            own = np.frombuffer(data[first : first + MOST_AT_ONCE // len(sizes)], dtype=np.uint8)
            counts = np.clip(sizes - first, 0, MOST_AT_ONCE // len(sizes))
            together = np.empty(int(counts.sum()), dtype=np.uint8)
            self._comm.Allgatherv(own, [together, counts])
            for rank, part in enumerate(np.split(together, np.cumsum(counts)[:-1])):
                pieces[rank].append(part.tobytes())
        return [b"".join(of_rank) for of_rank in pieces]

    def _reduce(self, values: npt.NDArray[Any], operation: str) -> None:
        from mpi4py import MPI

        for first in range(0, len(values), MOST_AT_ONCE):
            own = values[first : first + MOST_AT_ONCE]
            self._comm.Allreduce(MPI.IN_PLACE, own, op=getattr(MPI, operation))


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    sources: Any = None,
    bins: str = "exact",
    comm: Any = None,
) -> Any:
    """Fits an estimator on the rows of all ranks; each calls with its own, and has the same model at the end.

    The model is that of `estimator.fit` on all rows, bit for bit, for any number of ranks. A rank may have no rows: it
    passes an X without any. Where one rank fails, it writes its error and ends all of them (`comm.Abort`), because the
    others wait for it.

    Parameters
    ----------
    estimator : as for `radboost.distributed.fit`, with the same parameters on every rank
        n_jobs=None stands for all cores that the rank may use.
    X, y, sample_weight, sources : the rows of this rank, as `estimator.fit` takes them
        Either all ranks give weights, or none; the same of sources.
    bins : "exact" or "sketch"
        As for `radboost.distributed.fit`; the same on every rank.
    comm : mpi4py.MPI.Comm or None
        None is COMM_WORLD.

    Returns
    -------
    estimator : the estimator that was given, fitted
    """
    comm = _comm(comm)
    task = Task.of(estimator, weighted=sample_weight is not None, sourced=sources is not None, bins=bins)
    workers = MPIWorkers(comm)
    try:
        task = _same_for_all(task, workers)
        fitted = task.run([Part(X, y, sample_weight, sources)], workers, first=comm.Get_rank() == 0)
        if len(set(workers.tell(digest_of_model(fitted)))) > 1:
            raise RuntimeError("The ranks ended with different models, which must not happen. Please report it.")
    except Exception as error:
        if not workers.alone:
            # The error first: MPI may end the process before all of the traceback is out.
            print(f"Rank {comm.Get_rank()} failed, {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            traceback.print_exc()
            sys.stderr.flush()
            comm.Abort(1)
        raise
    if comm.Get_rank() == 0:
        estimator._warn(fitted)
    estimator.__dict__ = fitted.__dict__
    return estimator


def _comm(comm: Any) -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("radboost.distributed.mpi needs mpi4py: pip install 'radboost[mpi]'.") from error
    if comm is None:
        return MPI.COMM_WORLD
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm must be a communicator of mpi4py's or None; got {type(comm).__name__}.")
    return comm


def _same_for_all(task: Task, workers: Workers) -> Task:
    """The task with the seed of the first rank; refuses ranks with other parameters, or some with weights alone."""
    described = describe_parameters(task.estimator)
    parameters = {name: described[name] for name in described if name not in WITHOUT_EFFECT}
    told = workers.tell(
        (type(task.estimator).__name__, json.dumps([parameters, task.bins]), (task.weighted, task.sourced), task.seed)
    )
    if len({one[2] for one in told}) > 1:
        raise ValueError(
            "Some ranks have a sample_weight or sources, and others none. Give weights of 1 where rows count once."
        )
    if len({one[:2] for one in told}) > 1:
        raise ValueError("The ranks have different estimators or parameters. Give every rank the same.")
    return replace(task, seed=told[0][3])
