"""A fit on a Dask cluster, seen from the client: where partitions go, who takes part, and what becomes of it."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from radboost.boosting.callbacks import check_callbacks
from radboost.distributed.arguments import TRAINING, UNLABELLED, VALIDATION, Arguments
from radboost.distributed.collections import delayed_parts, is_collection, need_dask, plain_parts
from radboost.distributed.keeping import Hearing, Kept, RowsLostError, asked
from radboost.distributed.learning import Task
from radboost.distributed.meeting import WorkerLostError
from radboost.distributed.member import Address, Member, Result
from radboost.distributed.parquet import are_files, deal_out, parquet_parts
from radboost.distributed.parts import Part
from radboost.distributed.telling import Listener
from radboost.distributed.watching import Bar, Show
from radboost.estimators._checkpoints import open_checkpoint

PAUSE = 0.02  # seconds between two looks at the members
LOOKS_AT_SCHEDULER = 50  # of these, for one at the list of all workers
PATIENCE = 30.0  # seconds to wait for a worker where none is left
MOST_LOSSES = 3  # one after the other, without a round made between them


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
    columns: Sequence[str] | None = None,
    bins: str = "exact",
    client: Any = None,
) -> Any:
    """Fits an estimator on the rows of a Dask cluster and returns it: the model is that of a fit on one machine.

    Every worker that holds partitions takes part, bins its own rows and keeps them; the workers exchange sums of
    integers, directly with each other. So the model is the same, bit for bit, for any number of workers and any
    partitioning, and the same as that of `estimator.fit` on all rows (docs/cluster.md). Where a worker is lost, its
    partitions are computed again on the others, and the fit goes on after the last finished round.

    Parameters
    ----------
    estimator : DeepBoostClassifier, SoftmaxBoostClassifier, RGBClassifier, RGBRegressor or MultiSourceBoostClassifier
        With any parameters. n_jobs=None stands for the threads of each worker.
    X : Dask array, Dask data frame, list of delayed parts or futures, or the names of Parquet files
        Rows; the parts of a list are what `estimator.fit` takes. Partitions may be empty. Files are a path, a pattern
        such as "sales/*.parquet", a folder, or a list of these; the workers must see them by the same paths.
    y : the same; of files the name of a column, or a list of names for several targets
        Labels or targets, divided like X.
    sample_weight : the same, or None
        A row of weight w counts as w copies of it.
    offset, cost, sources : the same, or None
        As for `fit` of the estimator, where it takes them.
    X_val, y_val, sample_weight_val, offset_val, cost_val, sources_val : the same, or rows in memory, or None
        Rows to watch, divided among themselves alike; or plain arrays and frames, which are sent to the workers.
    X_unlabelled, sources_unlabelled : the same, or None
        More rows that Q of MultiSourceBoostClassifier may learn from; 131,072 at most.
    eval_metric : as for `fit` of the estimator
        The scores of all validation rows are gathered after each round.
    callbacks : list of objects, or None
        As for `fit` of the estimator. They are called here, in the client, with its files and objects, and the workers
        wait for them after each round. `radboost.Checkpoint` writes a file of the client's.
    resume_from : path or None
        A checkpoint of a fit on any number of workers with the same rows and parameters, to go on from.
    columns : list of names or None
        Of files: the columns of X. None takes all that are not beside X.
    bins : "exact" or "sketch"
        "exact": the bins of a fit on one machine. "sketch": quantiles from summaries of all rows, whose ranks are right
        up to a small share of them; the model is then another one, and depends on the partitioning (docs/cluster.md).
    client : distributed.Client or None
        None takes the current one.

    Returns
    -------
    estimator : the estimator that was given, fitted

    Raises
    ------
    WorkerLostError
        Where no worker is left, lost rows cannot be computed again, or workers are lost again and again. With a
        `Checkpoint` among the callbacks the rounds are kept, and the error says where.
    """
    callbacks = check_callbacks(callbacks) or None
    arguments = Arguments(
        sample_weight=sample_weight,
        sources=sources,
        offset=offset,
        cost=cost,
        X_val=X_val,
        y_val=y_val,
        sample_weight_val=sample_weight_val,
        sources_val=sources_val,
        offset_val=offset_val,
        cost_val=cost_val,
        X_unlabelled=X_unlabelled,
        sources_unlabelled=sources_unlabelled,
        eval_metric=eval_metric,
        callbacks=callbacks,
        resume_from=resume_from,
    )
    task = Task.of(
        estimator, weighted=sample_weight is not None, sourced=sources is not None, arguments=arguments, bins=bins
    )
    client = _client(client)
    parts = _parts(client, X, y, arguments, columns)
    return fit_parts(estimator, task, parts, client, arguments)


def fit_parts(
    estimator: Any,
    task: Task,
    parts: Sequence[Any],
    client: Any,
    arguments: Arguments | None = None,
    bar: Bar | None = None,
) -> Any:
    """The fit of parts that Dask computes, or that the workers load; `bar` is shown in place of that of `verbose`."""
    arguments, earlier = arguments or Arguments(), None
    if arguments.resume_from is not None:
        found = open_checkpoint(arguments.resume_from, estimator)
        task, earlier = task.resuming(found), estimator._supplied(found.saved.trace)
    listener = Listener(estimator, arguments.callbacks) if arguments.callbacks is not None else None
    kept = Kept(listener, earlier)
    try:
        results = _until_done(client, task, parts, kept, listener, Show(int(estimator.verbose), asked, bar))
    except WorkerLostError as error:
        raise kept.explained(error) from error
    fitted = next(result.model for result in results if result.model is not None)
    if len({result.digest for result in results}) > 1:
        raise RuntimeError(
            "The workers ended with different models, which must not happen: do all of them have the same version of "
            "radboost, and processors that add integers alike? Please report it."
        )
    for message, category in dict.fromkeys(warning for result in results for warning in result.warnings):
        warnings.warn(message, category, stacklevel=3)
    estimator._warn(fitted)
    fitted.workers_ = [result.share for result in results]
    estimator.__dict__ = fitted.__dict__
    return estimator


def _client(client: Any) -> Any:
    need_dask()
    from distributed import Client, get_client

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


def _parts(client: Any, X: Any, y: Any, arguments: Arguments, columns: Sequence[str] | None) -> list[Any]:
    """All rows: delayed where they are Dask's, as they are where they are in the client's memory, or parts of files."""
    if columns is not None and not are_files(X):
        raise ValueError("columns are for X that names Parquet files. Take the columns out of X itself.")
    n_workers = max(1, len(client.nthreads()))
    parts: list[Any] = []
    given = {TRAINING: (X, {"y": y}), VALIDATION: (arguments.X_val, {}), UNLABELLED: (arguments.X_unlabelled, {})}
    for role, (rows, labels) in given.items():
        beside = {**labels, **arguments.of_rows(role)}
        if rows is None:
            continue
        if are_files(rows):
            found = parquet_parts(rows, beside, columns, n_workers=n_workers, role=role)
            columns = found[0].features
            parts += found
        elif role == TRAINING or is_collection(rows):
            parts += delayed_parts(rows, beside, role)
        else:
            parts += plain_parts(rows, beside, role, n_workers)
    return parts


def _until_done(
    client: Any, task: Task, parts: Sequence[Any], kept: Kept, listener: Listener | None, show: Show
) -> list[Result]:
    """The results of all members; where workers are lost, the others go on after the last finished round."""
    losses, n_rounds, patience = 0, 0, None
    while True:
        try:
            return _run(client, task, _place(client, parts, patience), kept, listener, show)
        except RowsLostError:
            raise
        except WorkerLostError as error:
            losses, n_rounds = (0 if kept.n_rounds > n_rounds else losses) + 1, kept.n_rounds
            if losses >= MOST_LOSSES:
                raise WorkerLostError(
                    f"{error} This was the {losses}th loss in a row without a round between them; is there enough "
                    "memory for the partitions?"
                ) from error
            patience = PATIENCE
            _wait_for_workers(client, error)
            warnings.warn(
                f"{error} The fit goes on after round {kept.n_rounds} with the workers that are left.",
                RuntimeWarning,
                stacklevel=4,
            )


def _wait_for_workers(client: Any, error: WorkerLostError) -> None:
    """Asks the scheduler: `client.wait_for_workers` asks the cluster object, which may not have noticed a loss."""
    end = time.monotonic() + PATIENCE
    while not client.nthreads():
        if time.monotonic() > end:
            raise WorkerLostError(f"{error} None has come within {PATIENCE:g} seconds.") from error
        time.sleep(PAUSE)


def _place(client: Any, parts: Sequence[Any], patience: float | None) -> dict[str, list[Any]]:
    """Says which worker has which parts: those that Dask computes as futures, and files as parts to be loaded there."""
    plain = [part for part in parts if isinstance(part, Part)]
    delayed = [part for part in parts if hasattr(part, "key")]  # Dask's
    files = [part for part in parts if not isinstance(part, Part) and not hasattr(part, "key")]
    if files or plain:
        _wait_for_workers(client, WorkerLostError("There is no worker."))
    placed = deal_out(files, list(client.nthreads())) if files else {}
    sent = client.scatter(plain, hash=False) if plain else []
    computed = client.compute(delayed)
    futures = [*computed, *sent]
    with suppress(CancelledError):  # of some of them, which is seen below
        _wait_for_parts(client, futures, patience)
    for future in futures:
        if future.status == "error":
            future.result()  # raises
        if future.status != "finished":
            if future in sent:  # it is here and is sent again
                raise WorkerLostError("A worker was lost while rows were sent to it.")
            raise RowsLostError(
                "A partition is lost and cannot be computed again: its data were on a worker that is gone. Give fit "
                "collections that know where their rows come from, such as files, or load the data again."
            )
    holders = client.who_has(futures)
    for future in futures:
        workers = holders.get(future.key, ())
        if not workers:
            raise WorkerLostError("A worker was lost while partitions were computed.")
        placed.setdefault(min(workers), []).append(future)
    return {worker: placed[worker] for worker in sorted(placed)}


def _wait_for_parts(client: Any, futures: Sequence[Any], patience: float | None) -> None:
    """Waits as long as it takes, but, with patience, only while there are workers: Dask would wait for others forever.

    That is right before the first attempt, on a cluster that is still starting; not where workers were lost.
    """
    from distributed import wait

    while True:
        try:
            wait(futures, timeout=patience)
        except TimeoutError:
            _wait_for_workers(client, WorkerLostError("No worker is left to compute the partitions."))
        else:
            return


def _run(
    client: Any, task: Task, placed: dict[str, list[Any]], kept: Kept, listener: Listener | None, show: Show
) -> list[Result]:
    from distributed.protocol.pickle import dumps  # which takes functions of a notebook along

    pickled, earlier = dumps(task), dumps(kept.rounds)
    made = [
        client.submit(
            Member, rank, pickled, earlier, parts, actor=True, workers=[worker], allow_other_workers=False, pure=False
        )
        for rank, (worker, parts) in enumerate(placed.items())
    ]
    watch = Watch(client, list(placed), made, show.look)
    placed.clear()  # the partitions themselves may go
    try:
        members = watch.results(made)
        addresses = [Address(worker, member.key) for worker, member in zip(watch.workers, members, strict=True)]
        watch.results(_called(members, "join", addresses))
        with _giving_up(members, kept, watch):
            show.follow(members)
            running = _called(members, "fit")
            results = watch.results(running, None if listener is None else Hearing(members[0], listener))
        show.finish()
        return results
    finally:
        show.stop()
        client.cancel(made, force=True)  # also of those whose worker is gone, which would wait for another


def _called(members: Sequence[Any], method: str, *arguments: Any) -> list[Any]:
    calls = [asked(member, method, *arguments) for member in members]
    if any(call is None for call in calls):
        raise WorkerLostError("A worker is gone.")
    return calls


@contextmanager
def _giving_up(members: Sequence[Any], kept: Kept, watch: Watch) -> Iterator[None]:
    """Ends the fits of all members where one of them, or the client, has ended early; keeps the rounds they made."""
    try:
        yield
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        left = {rank: member for rank, member in enumerate(members) if not watch.is_lost(rank)}
        ending = {rank: asked(member, "give_up", reason) for rank, member in left.items()}
        for rank, answer in ending.items():
            watch.answer(rank, answer)
        if isinstance(error, WorkerLostError):
            for rank, member in left.items():
                found = watch.answer(rank, asked(member, "rounds"))
                kept.take(None if found is None else pickle.loads(found))
        raise


def _who_is_gone(workers: Sequence[str], errors: Sequence[BaseException]) -> str:
    """Where it is not known which worker, the first error says what happened."""
    if not workers:
        return f"A worker is gone ({errors[0]})."
    if len(workers) == 1:
        return f"The worker {workers[0]} is gone."
    return f"The workers {', '.join(workers[:-1])} and {workers[-1]} are gone."


class Watch:
    """Waits for members, and notices when one of them is gone."""

    def __init__(self, client: Any, workers: list[str], made: Sequence[Any], meanwhile: Callable[[], None]) -> None:
        self.workers = workers
        self._meanwhile = meanwhile
        self._client, self._made = client, made
        self._was_there = [False] * len(workers)
        self._n_looks = 0

    def results(self, running: Sequence[Any], hearing: Hearing | None = None) -> list[Any]:
        """Those of all members, or the error of one of them; meanwhile callbacks hear of the rounds."""
        while True:
            lost = [worker for rank, worker in enumerate(self.workers) if self.is_lost(rank)]
            lost = lost or self._unknown()
            done = [future for future in running if future.done()]
            errors = [error for error in map(_error_of, done) if error is not None]
            own = [error for error in errors if not isinstance(error, WorkerLostError | OSError | CancelledError)]
            if own and not lost:
                raise own[0]
            if lost or errors:
                raise WorkerLostError(_who_is_gone(lost, errors))
            if len(done) == len(running):
                return [future.result() for future in running]
            self._meanwhile()
            if hearing is None:
                time.sleep(PAUSE)
            else:
                hearing.wait(PAUSE)

    def answer(self, rank: int, call: Any) -> Any:
        """What this member answers; None where it does not, since that worker is gone as well.

        A call of a worker that is gone takes Dask half a minute to fail, so we look whether it is gone meanwhile.
        """
        end = time.monotonic() + PATIENCE
        while call is not None and not self.is_lost(rank) and time.monotonic() < end:
            try:
                return call.result(timeout=PAUSE)
            except TimeoutError:
                continue
            except (OSError, RuntimeError):
                break
        return None

    def is_lost(self, rank: int) -> bool:
        """Whether the actor of this rank was there and is not any more."""
        there = self._made[rank].status == "finished"
        self._was_there[rank] |= there
        return self._was_there[rank] and not there

    def _unknown(self) -> list[str]:
        """Workers that the scheduler does not know any more; asked now and then."""
        self._n_looks += 1
        if self._n_looks % LOOKS_AT_SCHEDULER:
            return []
        known = self._client.nthreads()
        return [worker for worker in self.workers if worker not in known]


def _error_of(future: Any) -> Exception | None:
    try:
        future.result()
    except Exception as error:
        return error
    return None
