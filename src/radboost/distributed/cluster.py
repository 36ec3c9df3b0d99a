"""A fit on a Dask cluster, seen from the client: where partitions go, who takes part, and what becomes of it."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from radboost.distributed.collections import delayed_parts
from radboost.distributed.learning import Task
from radboost.distributed.meeting import WorkerLostError
from radboost.distributed.member import Address, Member, Result

PAUSE = 0.02  # seconds between two looks at the members


def fit(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, client: Any = None) -> Any:
    """Fits an estimator on the rows of a Dask cluster and returns it: the model is that of a fit on one machine.

    Every worker that holds partitions takes part, bins its own rows and keeps them; the workers exchange sums of
    integers, directly with each other. So the model is the same, bit for bit, for any number of workers and any
    partitioning, and the same as that of `estimator.fit` on all rows (docs/cluster.md).

    Parameters
    ----------
    estimator : DeepBoostClassifier, SoftmaxBoostClassifier, RGBClassifier or RGBRegressor
        With any parameters. n_jobs=None stands for the threads of each worker.
    X : Dask array, Dask data frame, or list of delayed parts or futures
        Rows; the parts of a list are what `estimator.fit` takes. Partitions may be empty.
    y : the same
        Labels or targets, divided like X.
    sample_weight : the same, or None
        A row of weight w counts as w copies of it.
    client : distributed.Client or None
        None takes the current one.

    Returns
    -------
    estimator : the estimator that was given, fitted
    """
    task = Task.of(estimator, weighted=sample_weight is not None)
    client = _client(client)
    placed = _place(client, delayed_parts(X, y, sample_weight))
    results = _run(client, task, placed)
    fitted = next(result.model for result in results if result.model is not None)
    if len({result.digest for result in results}) > 1:
        raise RuntimeError(
            "The workers ended with different models, which must not happen: do all of them have the same version of "
            "radboost, and processors that add integers alike? Please report it."
        )
    for message, category in dict.fromkeys(warning for result in results for warning in result.warnings):
        warnings.warn(message, category, stacklevel=2)
    estimator._warn(fitted)
    estimator.__dict__ = fitted.__dict__
    return estimator


def _client(client: Any) -> Any:
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise ImportError(
            "radboost.distributed needs Dask: install the extra, pip install 'radboost[dask]'."
        ) from error
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client. Start one, client = distributed.Client(...), or pass it as client=."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client or None; got {type(client).__name__}.")
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous, and a fit waits for its end. Pass one made without asynchronous=True."
        )
    return client


def _place(client: Any, parts: Sequence[Any]) -> dict[str, list[Any]]:
    """Computes the partitions, and says which worker has which of them, as futures."""
    from distributed import wait

    futures = client.compute(list(parts))
    wait(futures)
    for future in futures:
        if future.status == "error":
            future.result()  # raises
    holders = client.who_has(futures)
    placed: dict[str, list[Any]] = {}
    for future in futures:
        workers = holders.get(future.key, ())
        if not workers:
            raise WorkerLostError("A partition was lost before the fit began: its worker is gone. Call fit again.")
        placed.setdefault(min(workers), []).append(future)
    return {worker: placed[worker] for worker in sorted(placed)}


def _run(client: Any, task: Task, placed: dict[str, list[Any]]) -> list[Result]:
    pickled = pickle.dumps(task)
    made = [
        client.submit(Member, rank, pickled, parts, actor=True, workers=[worker], allow_other_workers=False, pure=False)
        for rank, (worker, parts) in enumerate(placed.items())
    ]
    placed_on = list(placed)
    placed.clear()  # the partitions themselves may go
    members = [future.result() for future in made]
    addresses = [Address(worker, member.key) for worker, member in zip(placed_on, members, strict=True)]
    for joined in [member.join(addresses) for member in members]:
        joined.result()
    with _giving_up(members, addresses):
        return _wait(client, [member.fit() for member in members], addresses)


@contextmanager
def _giving_up(members: Sequence[Any], addresses: Sequence[Address]) -> Iterator[None]:
    """Ends the fits of all members where one of them, or the client, has ended early."""
    try:
        yield
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        for member in members:
            try:
                member.give_up(reason)  # not waited for: a worker that is gone does not answer
            except RuntimeError:  # Dask's, for an actor that is gone
                continue
        raise


def _wait(client: Any, running: list[Any], addresses: Sequence[Address]) -> list[Result]:
    """The results of all members, or the error that one of them began."""
    while True:
        done = [future for future in running if future.done()]
        errors = [error for error in map(_error_of, done) if error is not None]
        own = [error for error in errors if not isinstance(error, WorkerLostError | OSError)]
        if own:
            raise own[0]
        lost = _lost(client, addresses) if errors or len(done) < len(running) else []
        if lost:
            raise WorkerLostError(
                f"The worker {' and '.join(lost)} is gone, and with it its rows. Call fit again: Dask computes its "
                "partitions on the workers that are left."
            )
        if len(done) == len(running):
            if errors:
                raise errors[0]
            return [future.result() for future in running]
        time.sleep(PAUSE)


def _error_of(future: Any) -> Exception | None:
    try:
        future.result()
    except Exception as error:
        return error
    return None


def _lost(client: Any, addresses: Sequence[Address]) -> list[str]:
    known = client.nthreads()
    return [address.worker for address in addresses if address.worker not in known]
