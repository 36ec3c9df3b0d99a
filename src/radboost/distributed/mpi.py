"""Fits on MPI: every rank calls `fit` with its own rows, and all end with the model of all rows."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.boosting.callbacks import check_callbacks
from radboost.distributed.arguments import Arguments
from radboost.distributed.callbacks import CallbackRunner
from radboost.distributed.collective import WorkerCollective
from radboost.distributed.learning import FitTask
from radboost.estimators._checkpoints import describe_parameters, open_checkpoint
from radboost.rows.partitions import UNLABELLED, VALIDATION, LoadedPartition

WITHOUT_EFFECT = {"n_jobs", "verbose"}  # on the model: may differ between ranks
MAX_COUNT = 2**28  # entries of one exchange: MPI counts in 32 bits, and bytes have to fit too


class MPICollective(WorkerCollective):
    """Collective of the ranks of a communicator."""

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
        self.traffic.bytes_sent += len(data)
        with self.traffic.exchange():
            height, longest = MAX_COUNT // self._comm.Get_size(), max(self._comm.allgather(len(data)))
            pieces = [self._comm.allgather(data[first : first + height]) for first in range(0, max(1, longest), height)]
        return [b"".join(of_rank) for of_rank in zip(*pieces, strict=True)]

    def _reduce(self, values: npt.NDArray[Any], operation: str) -> None:
        from mpi4py import MPI

        self.traffic.bytes_sent += values.nbytes
        with self.traffic.exchange():
            for first in range(0, len(values), MAX_COUNT):
                own = values[first : first + MAX_COUNT]
                self._comm.Allreduce(MPI.IN_PLACE, own, op=getattr(MPI, operation))


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    sources: Any = None,
    offset: Any = None,
    cost: Any = None,
    X_val: Any = None,
    y_val: Any = None,
    sample_weight_val: Any = None,
    sources_val: Any = None,
    offset_val: Any = None,
    cost_val: Any = None,
    X_unlabelled: Any = None,
    sources_unlabelled: Any = None,
    eval_metric: Any = None,
    callbacks: Any = None,
    resume_from: Any = None,
    bins: str = "exact",
    comm: Any = None,
) -> Any:
    """Fits an estimator on the rows of all ranks; each calls with its own, and has the same model at the end.

    The model is that of `estimator.fit` on all rows, bit for bit, for any number of ranks. A rank may have no rows: it
    passes an X without any. Where one rank fails, it writes its error and ends all of them (`comm.Abort`), because the
    others wait for it.

    Parameters
    ----------
    estimator, eval_metric, bins : as for `radboost.distributed.fit`, the same on every rank
        n_jobs=None stands for all cores that the rank may use.
    X, y, sample_weight, sources, offset, cost : the rows of this rank, as `estimator.fit` takes them
        Either all ranks give weights, or none; the same of all others.
    X_val, y_val, sample_weight_val, sources_val, offset_val, cost_val, X_unlabelled, sources_unlabelled : the same
        Rows of this rank alone: together with those of the others each is used once.
    callbacks : list of objects, or None
        Those of the first rank are called, and the others wait for them; all ranks give some, perhaps an empty list.
    resume_from : path or None
        A checkpoint that the first rank reads; all ranks give it.
    comm : mpi4py.MPI.Comm or None
        None is COMM_WORLD.

    Returns
    -------
    estimator : the estimator that was given, fitted
    """
    comm = _comm(comm)
    callbacks = None if callbacks is None else check_callbacks(callbacks)
    arguments = Arguments(
        LoadedPartition(X, y, sample_weight, sources, offset, cost),
        LoadedPartition(X_val, y_val, sample_weight_val, sources_val, offset_val, cost_val, VALIDATION),
        LoadedPartition(X_unlabelled, sources=sources_unlabelled, role=UNLABELLED),
        eval_metric,
        callbacks,
        resume_from,
    )
    task = FitTask.of(estimator, arguments, bins)
    workers, first = MPICollective(comm), comm.Get_rank() == 0
    try:
        task, earlier = _same_for_all(task, workers), None
        if resume_from is not None:
            checkpoint = workers.all_gather(open_checkpoint(resume_from, estimator) if first else None)[0]
            assert checkpoint is not None
            task, earlier = task.resuming(checkpoint)
        receiver = CallbackRunner(estimator, callbacks).handle if first and callbacks is not None else None
        fitted = task.run(arguments.rows, workers, first=first, earlier=earlier, receiver=receiver)
    except Exception as error:
        if not workers.alone:
            # The error first: MPI may end the process before all of the traceback is out.
            print(f"Rank {comm.Get_rank()} failed, {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            traceback.print_exc()
            sys.stderr.flush()
            comm.Abort(1)
        raise
    if first:
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


def _same_for_all(task: FitTask, workers: WorkerCollective) -> FitTask:
    """Task with the seed of the first rank; refuses ranks whose parameters or kinds of arguments differ."""
    described = describe_parameters(task.estimator)
    parameters = {name: described[name] for name in described if name not in WITHOUT_EFFECT}
    settings = json.dumps([parameters, task.bins])
    of_ranks = workers.all_gather((type(task.estimator).__name__, settings, sorted(task.given), task.seed))
    for name in sorted(set().union(*(one[2] for one in of_ranks))):
        if not all(name in one[2] for one in of_ranks):
            raise ValueError(
                f"Some ranks have {name}, and others none. All must give the same arguments: weights of 1 where rows "
                "count once, and for a rank without rows those of no rows."
            )
    if len({one[:2] for one in of_ranks}) > 1:
        raise ValueError("The ranks have different estimators or parameters. Give every rank the same.")
    return replace(task, seed=of_ranks[0][3])
