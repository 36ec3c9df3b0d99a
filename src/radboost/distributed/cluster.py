"""Fit on a Dask cluster, in the client: assigns partitions to workers, runs their actors, recovers from losses."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any

from radboost.boosting.callbacks import check_callbacks
from radboost.distributed.arguments import Arguments, beside
from radboost.distributed.callbacks import CallbackRunner, ProgressBar
from radboost.distributed.collections import delayed_parts, form_of, need_dask, plain_parts
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.learning import FitTask
from radboost.distributed.parquet import ParquetPartition, are_files, deal_out, parquet_parts
from radboost.distributed.worker import Worker, WorkerResult
from radboost.estimators._checkpoints import open_checkpoint
from radboost.rows.partitions import TRAINING, UNLABELLED, VALIDATION, LoadedPartition

POLL_SECONDS = 0.02  # between two checks of the actors
POLLS_PER_SCHEDULER_CHECK = 50  # checks of the actors for one of the scheduler's list of workers
WORKER_TIMEOUT = 30.0  # seconds to wait for a worker where none is left
MAX_LOSSES_IN_A_ROW = 3  # without a finished round between them


class RowsLostError(WorkerLostError):
    """Rows were on a worker that is lost, and cannot be computed again."""


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
        Validation rows, divided among themselves alike; or plain arrays and frames, which are sent to the workers.
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
        up to a small fraction; the model is then another one, and depends on the partitioning (docs/cluster.md).
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
        LoadedPartition(X, y, sample_weight, sources, offset, cost),
        LoadedPartition(X_val, y_val, sample_weight_val, sources_val, offset_val, cost_val, VALIDATION),
        LoadedPartition(X_unlabelled, sources=sources_unlabelled, role=UNLABELLED),
        eval_metric,
        callbacks,
        resume_from,
    )
    task = FitTask.of(estimator, arguments, bins)
    client = _client(client)
    parts = _parts(client, arguments, columns)
    earlier = None
    if resume_from is not None:
        task, earlier = task.resuming(open_checkpoint(resume_from, estimator))
    with ProgressBar(int(estimator.verbose)) as bar:
        runner = CallbackRunner(estimator, [bar, *(callbacks or ())], earlier)
        try:
            results = _run_until_done(client, task, parts, runner)
        except WorkerLostError as error:
            raise runner.final_error(error) from error
    fitted = results[0].model
    for message, category in dict.fromkeys(results[0].warnings):
        warnings.warn(message, category, stacklevel=2)
    estimator._warn(fitted)
    fitted.workers_ = [result.usage for result in results]
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


def _parts(client: Any, arguments: Arguments, columns: Sequence[str] | None) -> list[Any]:
    """Partitions of all rows: delayed (of Dask collections), loaded (of rows in memory), or of Parquet files."""
    if columns is not None and not are_files(arguments.training.X):
        raise ValueError("columns are for X that names Parquet files. Take the columns out of X itself.")
    n_workers = max(1, len(client.nthreads()))
    parts: list[Any] = []
    for rows in arguments.rows:
        if are_files(rows.X):
            from_files = parquet_parts(rows.X, beside(rows), columns, n_workers=n_workers, role=rows.role)
            columns = from_files[0].features
            parts += from_files
        elif rows.role == TRAINING or form_of(rows.X) is not None:
            parts += delayed_parts(rows)
        else:
            parts += plain_parts(rows, n_workers)
    return parts


def _run_until_done(client: Any, task: FitTask, parts: Sequence[Any], runner: CallbackRunner) -> list[WorkerResult]:
    """Results of all workers; after a loss the workers that are left go on after the last finished round."""
    losses, n_rounds = 0, 0
    while all(hasattr(part, "key") for part in parts) and not client.nthreads():
        time.sleep(POLL_SECONDS)  # until the first worker of a cluster that is starting is there
    while True:
        try:
            return Attempt(client, task, _assign(client, parts), runner).run()
        except RowsLostError:
            raise
        except WorkerLostError as error:
            losses, n_rounds = (0 if runner.trace.n_rounds > n_rounds else losses) + 1, runner.trace.n_rounds
            if losses >= MAX_LOSSES_IN_A_ROW:
                raise WorkerLostError(
                    f"{error} This was loss {losses} in a row without a round between them; is there enough "
                    "memory for the partitions?"
                ) from error
            _wait_for_workers(client, str(error))
            warnings.warn(
                f"{error} The fit goes on after round {n_rounds} with the workers that are left.",
                RuntimeWarning,
                stacklevel=3,
            )


def _wait_for_workers(client: Any, lost: str) -> None:
    """Ask the scheduler: `client.wait_for_workers` asks the cluster object, which may not have noticed a loss."""
    end = time.monotonic() + WORKER_TIMEOUT
    while not client.nthreads():
        if time.monotonic() > end:
            raise WorkerLostError(f"{lost} None has come within {WORKER_TIMEOUT:g} seconds.")
        time.sleep(POLL_SECONDS)


def _assign(client: Any, parts: Sequence[Any]) -> dict[str, list[Any]]:
    """Partitions by worker: futures on the worker where Dask computed them, files dealt out evenly by rows."""
    plain = [part for part in parts if isinstance(part, LoadedPartition)]
    delayed = [part for part in parts if hasattr(part, "key")]  # Dask's
    files = [part for part in parts if isinstance(part, ParquetPartition)]
    _wait_for_workers(client, "There is no worker.")
    assigned = deal_out(files, list(client.nthreads()))
    try:
        sent = client.scatter(plain, hash=False) if plain else []
    except OSError as error:
        raise WorkerLostError(f"A worker was lost while rows were sent to it ({error}).") from error
    futures = [*client.compute(delayed), *sent]
    _wait_for_parts(client, futures)
    for future in futures:
        if future.status == "error":
            future.result()  # raises
        if future.status == "cancelled":  # one that is lost is computed again
            if future in sent:  # its rows are in the client and are sent again
                raise WorkerLostError("A worker was lost while rows were sent to it.")
            raise RowsLostError(
                "A partition is lost and cannot be computed again: its data were on a worker that is gone. Give fit "
                "collections that know where their rows come from, such as files, or load the data again."
            )
    holders: dict[str, Any] = {}
    with suppress(CancelledError):  # of a part that was lost just now
        holders = client.who_has(futures)
    if not all(holders.get(future.key) for future in futures):
        raise WorkerLostError("A worker was lost while partitions were computed.")
    for future in futures:
        assigned.setdefault(min(holders[future.key]), []).append(future)
    return {worker: assigned[worker] for worker in sorted(assigned)}


def _wait_for_parts(client: Any, futures: Sequence[Any]) -> None:
    """Wait until the partitions are computed; those that are lost in the meantime are computed again."""
    n_polls = 0  # an error of Dask's `wait` would keep the futures, and Dask would compute lost ones for nobody
    while not all(future.done() for future in futures):
        time.sleep(POLL_SECONDS)
        n_polls += 1
        if n_polls % POLLS_PER_SCHEDULER_CHECK == 0:
            _wait_for_workers(client, "No worker is left to compute the partitions.")


class Attempt:
    """One attempt at a fit: an actor on each worker with partitions, until all have ended or one is lost.

    A call of a lost actor takes Dask half a minute to fail. So losses are looked for while the client waits.
    """

    def __init__(self, client: Any, task: FitTask, assigned: dict[str, list[Any]], runner: CallbackRunner) -> None:
        self._client, self._task, self._assigned, self._runner = client, task, assigned, runner
        self._workers = list(assigned)  # addresses, by rank
        self._submitted: list[Any] = []  # futures of the actors
        self._actors: list[Any] = []  # those that run
        self._event: Any = None  # call of the first actor that returns the next event for the callbacks
        self._n_polls = 0

    def run(self) -> list[WorkerResult]:
        """Results of all workers, by rank."""
        try:
            self._submit()
            self._actors = self._results(self._submitted)
            self._assigned.clear()  # so that Dask releases the partitions; before there are actors it might forget them
            addresses = [(worker, actor.key) for worker, actor in zip(self._workers, self._actors, strict=True)]
            calls = [self._call(rank, "fit", addresses) for rank in range(len(addresses))]
            try:
                self._event = self._call(0, "next_event") if self._task.reports else None
                return self._results(calls)
            except BaseException as error:
                self._abort(error)
                raise
        finally:
            self._client.cancel(self._submitted, force=True)  # also of a lost worker, which would wait for another

    def _submit(self) -> None:
        from distributed.protocol.pickle import dumps  # which takes functions of a notebook along

        given = len(self._workers), dumps((self._task, self._runner.trace.finished()))
        options: dict[str, Any] = {"actor": True, "allow_other_workers": False, "pure": False}
        for rank, (worker, parts) in enumerate(self._assigned.items()):
            self._submitted.append(self._client.submit(Worker, rank, *given, parts, workers=[worker], **options))

    def _results(self, calls: Sequence[Any]) -> list[Any]:
        """Results of all calls, or the error of one of them; handles events while it waits."""
        while True:
            outcomes = [_outcome(call) for call in calls if call.done()]
            errors = [one for one in outcomes if isinstance(one, Exception)]
            self._n_polls += 1
            lost = self._lost(thorough=bool(errors) or self._n_polls % POLLS_PER_SCHEDULER_CHECK == 0)
            if lost:
                raise WorkerLostError(f"Lost workers: {', '.join(lost)}.")
            for error in errors:
                if not isinstance(error, WorkerLostError | OSError | CancelledError):
                    raise error
            if errors:
                raise WorkerLostError(f"A worker is lost ({errors[0]}).")
            if len(outcomes) == len(calls):
                return outcomes
            self._handle_event()

    def _handle_event(self) -> None:
        """Wait a moment for the next event, and handle it; errors of callbacks are raised."""
        if self._event is None:
            time.sleep(POLL_SECONDS)
            return
        try:
            event = self._event.result(timeout=POLL_SECONDS)
        except TimeoutError:
            return
        except (OSError, RuntimeError):  # the worker is lost, which `_results` finds out
            event = None
        self._event = None if event is None else self._call(0, "next_event", self._runner.handle(pickle.loads(event)))

    def _abort(self, error: BaseException) -> None:
        """Abort the fits of the workers that are left; after a loss keep their finished rounds."""
        reason, keep = f"{type(error).__name__}: {error}", isinstance(error, WorkerLostError)
        left = [rank for rank in range(len(self._workers)) if not self._is_lost(rank)]
        calls = {rank: self._call(rank, "abort", reason, keep=keep) for rank in left}
        end = time.monotonic() + WORKER_TIMEOUT
        while any(not call.done() and not self._is_lost(rank) for rank, call in calls.items()):
            if time.monotonic() > end:
                break
            time.sleep(POLL_SECONDS)
        for rounds in [_outcome(call) for call in calls.values() if call.done()]:
            self._runner.take(rounds)

    def _call(self, rank: int, method: str, *arguments: Any, **named: Any) -> Any:
        """Future of a method of an actor; with an OSError where the actor is lost."""
        try:
            return getattr(self._actors[rank], method)(*arguments, **named)
        except RuntimeError as error:  # Dask's
            failed: Future[Any] = Future()
            failed.set_exception(OSError(str(error)))
            return failed

    def _is_lost(self, rank: int) -> bool:
        """True if the actor of this rank is not running any more."""
        return bool(self._actors) and self._submitted[rank].status != "finished"

    def _lost(self, *, thorough: bool) -> list[str]:
        """Workers whose actors are lost; if `thorough`, also those that the scheduler has dropped."""
        known = self._client.nthreads() if thorough else self._workers
        return [worker for rank, worker in enumerate(self._workers) if self._is_lost(rank) or worker not in known]


def _outcome(call: Any) -> Any:
    """Result of a call that has ended, or its error."""
    try:
        return call.result()
    except Exception as error:
        return error
