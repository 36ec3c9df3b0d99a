"""Fit on a Dask cluster, in the client: assigns partitions to workers, runs their actors, recovers from losses."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from radboost.boosting.callbacks import check_callbacks
from radboost.distributed.arguments import Arguments
from radboost.distributed.callbacks import CallbackRunner, ProgressBar
from radboost.distributed.collections import delayed_parts, is_collection, need_dask, plain_parts
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.learning import FitTask
from radboost.distributed.parquet import are_files, deal_out, parquet_parts
from radboost.distributed.recovery import CallbackBridge, RowsLostError, call_actor
from radboost.distributed.worker import ActorAddress, Worker, WorkerResult
from radboost.estimators._checkpoints import open_checkpoint
from radboost.rows.partitions import TRAINING, LoadedPartition

POLL_SECONDS = 0.02  # between two checks of the actors
POLLS_PER_SCHEDULER_CHECK = 50  # checks of the actors for one of the scheduler's list of workers
WORKER_TIMEOUT = 30.0  # seconds to wait for a worker where none is left
MAX_LOSSES_IN_A_ROW = 3  # without a finished round between them


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
    arguments = Arguments.among(locals())
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
    fitted = next(result.model for result in results if result.model is not None)
    if len({result.digest for result in results}) > 1:
        raise RuntimeError(
            "The workers ended with different models, which must not happen: do all of them have the same version of "
            "radboost, and processors that add integers alike? Please report it."
        )
    for message, category in dict.fromkeys(warning for result in results for warning in result.warnings):
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
    if columns is not None and not are_files(arguments.X):
        raise ValueError("columns are for X that names Parquet files. Take the columns out of X itself.")
    n_workers = max(1, len(client.nthreads()))
    parts: list[Any] = []
    for role, rows, beside in arguments.by_role():
        if are_files(rows):
            from_files = parquet_parts(rows, beside, columns, n_workers=n_workers, role=role)
            columns = from_files[0].features
            parts += from_files
        elif role == TRAINING or is_collection(rows):
            parts += delayed_parts(rows, beside, role)
        else:
            parts += plain_parts(rows, beside, role, n_workers)
    return parts


def _run_until_done(client: Any, task: FitTask, parts: Sequence[Any], runner: CallbackRunner) -> list[WorkerResult]:
    """Results of all workers; after a loss the workers that are left go on after the last finished round."""
    losses, n_rounds, had_workers = 0, 0, bool(client.nthreads())
    while True:
        try:
            return _run(client, task, _assign(client, parts, had_workers), runner)
        except RowsLostError:
            raise
        except WorkerLostError as error:
            losses, n_rounds = (0 if runner.n_rounds > n_rounds else losses) + 1, runner.n_rounds
            if losses >= MAX_LOSSES_IN_A_ROW:
                raise WorkerLostError(
                    f"{error} This was loss {losses} in a row without a round between them; is there enough "
                    "memory for the partitions?"
                ) from error
            had_workers = True
            _wait_for_workers(client, error)
            warnings.warn(
                f"{error} The fit goes on after round {runner.n_rounds} with the workers that are left.",
                RuntimeWarning,
                stacklevel=3,
            )


def _wait_for_workers(client: Any, error: WorkerLostError) -> None:
    """Asks the scheduler: `client.wait_for_workers` asks the cluster object, which may not have noticed a loss."""
    end = time.monotonic() + WORKER_TIMEOUT
    while not client.nthreads():
        if time.monotonic() > end:
            raise WorkerLostError(f"{error} None has come within {WORKER_TIMEOUT:g} seconds.") from error
        time.sleep(POLL_SECONDS)


def _assign(client: Any, parts: Sequence[Any], had_workers: bool) -> dict[str, list[Any]]:
    """Partitions by worker: futures on the worker where Dask computed them, files dealt out evenly by rows."""
    plain = [part for part in parts if isinstance(part, LoadedPartition)]
    delayed = [part for part in parts if hasattr(part, "key")]  # Dask's
    files = [part for part in parts if not isinstance(part, LoadedPartition) and not hasattr(part, "key")]
    if files or plain:
        _wait_for_workers(client, WorkerLostError("There is no worker."))
    assigned = deal_out(files, list(client.nthreads())) if files else {}
    try:
        sent = client.scatter(plain, hash=False) if plain else []
    except OSError as error:
        raise WorkerLostError(f"A worker was lost while rows were sent to it ({error}).") from error
    computed = client.compute(delayed)
    futures = [*computed, *sent]
    _wait_for_parts(client, futures, had_workers)
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


def _wait_for_parts(client: Any, futures: Sequence[Any], had_workers: bool) -> None:
    """Wait until the partitions are computed, and forever for the first worker of a cluster that is starting."""
    n_polls = 0  # an error of Dask's `wait` would keep the futures, and Dask would compute lost ones for nobody
    while not all(future.done() for future in futures):  # those that are lost in the meantime are computed again
        time.sleep(POLL_SECONDS)
        n_polls += 1
        if had_workers and n_polls % POLLS_PER_SCHEDULER_CHECK == 0:
            _wait_for_workers(client, WorkerLostError("No worker is left to compute the partitions."))


def _run(client: Any, task: FitTask, assigned: dict[str, list[Any]], runner: CallbackRunner) -> list[WorkerResult]:
    """One attempt: an actor on each worker, until all have ended or one is lost."""
    from distributed.protocol.pickle import dumps  # which takes functions of a notebook along

    pickled, earlier = dumps(task), dumps(runner.rounds)
    submitted = [
        client.submit(
            Worker, rank, pickled, earlier, parts, actor=True, workers=[worker], allow_other_workers=False, pure=False
        )
        for rank, (worker, parts) in enumerate(assigned.items())
    ]
    monitor = WorkerMonitor(client, list(assigned), submitted)
    try:
        actors = monitor.results(submitted)
        assigned.clear()  # so that Dask releases the partitions; before there are actors it might forget them
        addresses = [ActorAddress(worker, actor.key) for worker, actor in zip(monitor.workers, actors, strict=True)]
        monitor.results(_call_all(actors, "connect", addresses))
        with _aborting_on_error(actors, runner, monitor):
            running = _call_all(actors, "fit")
            return monitor.results(running, CallbackBridge(actors[0], runner) if task.reports else None)
    finally:
        client.cancel(submitted, force=True)  # also of those whose worker is lost, which would wait for another


def _call_all(actors: Sequence[Any], method: str, *arguments: Any) -> list[Any]:
    calls = [call_actor(actor, method, *arguments) for actor in actors]
    if any(call is None for call in calls):
        raise WorkerLostError("A worker is gone.")
    return calls


@contextmanager
def _aborting_on_error(actors: Sequence[Any], runner: CallbackRunner, monitor: WorkerMonitor) -> Iterator[None]:
    """Abort the fits of all workers on an error of one of them or of the client; keep their finished rounds."""
    try:
        yield
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        left = {rank: actor for rank, actor in enumerate(actors) if not monitor.is_lost(rank)}
        aborting = {rank: call_actor(actor, "abort", reason) for rank, actor in left.items()}
        for rank, call in aborting.items():
            monitor.reply(rank, call)
        if isinstance(error, WorkerLostError):
            for rank, actor in left.items():
                rounds = monitor.reply(rank, call_actor(actor, "finished_rounds"))
                runner.take(None if rounds is None else pickle.loads(rounds))
        raise


class WorkerMonitor:
    """Waits for actors, and detects that one of their workers is lost."""

    def __init__(self, client: Any, workers: list[str], actors: Sequence[Any]) -> None:
        self.workers = workers  # addresses, by rank
        self._client, self._actors = client, actors
        self._was_running = [False] * len(workers)
        self._n_polls = 0

    def results(self, running: Sequence[Any], bridge: CallbackBridge | None = None) -> list[Any]:
        """Results of all futures, or the error of one of them; handles events of callbacks while it waits."""
        while True:
            done = [future for future in running if future.done()]
            errors = [error for error in map(_error_of, done) if error is not None]
            lost = [worker for rank, worker in enumerate(self.workers) if self.is_lost(rank)]
            lost = lost or self._gone_from_scheduler(at_once=bool(errors))
            if lost:
                raise WorkerLostError(f"Lost workers: {', '.join(lost)}.")
            own = [error for error in errors if not isinstance(error, WorkerLostError | OSError | CancelledError)]
            if own:
                raise own[0]
            if errors:
                raise WorkerLostError(f"A worker is lost ({errors[0]}).")
            if len(done) == len(running):
                return [future.result() for future in running]
            if bridge is None:
                time.sleep(POLL_SECONDS)
            else:
                bridge.wait(POLL_SECONDS)

    def reply(self, rank: int, call: Any) -> Any:
        """Result of a call of this worker's actor; None where the worker is lost.

        A call of a lost worker takes Dask half a minute to fail, so the loss is checked while waiting.
        """
        end = time.monotonic() + WORKER_TIMEOUT
        while call is not None and not self.is_lost(rank) and time.monotonic() < end:
            try:
                return call.result(timeout=POLL_SECONDS)
            except TimeoutError:
                continue
            except (OSError, RuntimeError):
                break
        return None

    def is_lost(self, rank: int) -> bool:
        """True if the actor of this rank was running and is not any more."""
        running = self._actors[rank].status == "finished"
        self._was_running[rank] |= running
        return self._was_running[rank] and not running

    def _gone_from_scheduler(self, *, at_once: bool) -> list[str]:
        """Workers that the scheduler has dropped; checked `at_once` or every `POLLS_PER_SCHEDULER_CHECK` polls."""
        self._n_polls += 1
        if self._n_polls % POLLS_PER_SCHEDULER_CHECK and not at_once:
            return []
        known = self._client.nthreads()
        return [worker for worker in self.workers if worker not in known]


def _error_of(future: Any) -> Exception | None:
    try:
        future.result()
    except Exception as error:
        return error
    return None
