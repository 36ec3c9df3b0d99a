"""Progress of a fit on a cluster: reported by each worker, displayed by the client."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from radboost._progress import ROUND, Progress, progress_bar, say
from radboost.boosting import FitContext
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.learning import RoundRecorder
from radboost.rows.partitions import LoadedPartition, Partition
from radboost.rows.prepare import PreparedRows

# Signature of `progress_bar`, without `verbose`.
Bar = Callable[..., AbstractContextManager[Progress]]

SECONDS_BETWEEN_REQUESTS = 0.5  # for progress, of each worker
REPORT_TIMEOUT = 10.0  # seconds
TUNING = "looking at the data"  # title of the bar while values for "auto" are chosen


@dataclass(frozen=True)
class WorkerUsage:
    """Rows, memory and traffic of one worker in a fit: an entry of `workers_`.

    Attributes
    ----------
    address : str
    n_partitions, n_rows : int
        Partitions of the worker, and rows with a positive weight in them.
    bytes_of_bins, bytes_of_scores : int
        Bins of the rows, one byte for each value by row and one by column; and 8 bytes for each score.
    n_exchanges, bytes_sent : int
        Collective operations with the other workers, and bytes sent to the parent in their tree (0 for the first
        worker; replies are not counted).
    seconds_waiting : float
        Time in these operations.
    """

    address: str
    n_partitions: int
    n_rows: int
    bytes_of_bins: int
    bytes_of_scores: int
    n_exchanges: int = 0
    bytes_sent: int = 0
    seconds_waiting: float = 0.0


@dataclass(frozen=True)
class ProgressReport:
    """Progress of one worker since the last report."""

    n_parts: int
    n_loaded: int  # loads of partitions, in all passes over them
    n_rounds: int | None = None  # largest number of rounds of the fit; None before the first
    history: tuple[Mapping[str, float], ...] = ()  # one entry for each new round
    messages: tuple[tuple[int, str], ...] = ()  # new ones: number of rounds before it, and its text
    binned: bool = False  # whether the rows are ready to learn from


@dataclass
class WorkerState(RoundRecorder):
    """Present state of a worker's fit: written by the thread of the fit, read by the event loop."""

    n_parts: int = 0
    n_loaded: int = 0
    n_rows: int = 0
    bytes_of_bins: int = 0
    bytes_of_scores: int = 0
    binned: bool = False
    messages: list[tuple[int, str]] = field(default_factory=list)  # number of rounds before it, and its text
    abort_reason: str | None = None  # ends the fit at the next round or partition

    def __post_init__(self) -> None:
        super().__init__()

    def count_loads(self, parts: Sequence[Partition]) -> list[Partition]:
        """Partitions whose loads are counted here."""
        self.n_parts = len(parts)
        return [_CountedPartition(part, self) for part in parts]

    def add_message(self, text: str) -> None:
        """Keep a message of the fit for the client to print."""
        self.messages.append((0 if self._context is None else self._context.round + 1, text))

    def on_rows_binned(self, prepared: PreparedRows) -> None:
        self.n_rows = prepared.n_rows
        self.bytes_of_bins = 2 * prepared.data.n_rows * prepared.data.n_columns
        self.bytes_of_scores = 8 * prepared.n_rows * prepared.n_outputs
        self.binned = True

    def on_fit_begin(self, context: FitContext) -> None:
        super().on_fit_begin(context)
        self.check_aborted()

    def on_round_end(self, context: FitContext) -> None:
        """Needed by a worker that has all rows: no collective operation would end its fit."""
        self.check_aborted()

    def check_aborted(self) -> None:
        """End the fit if the client has asked for it."""
        if self.abort_reason is not None:
            raise WorkerLostError(self.abort_reason)

    def report(self, n_rounds: int, n_messages: int) -> ProgressReport:
        """Progress beyond the first `n_rounds` rounds and `n_messages` messages."""
        messages = tuple(self.messages[n_messages:])
        if self._context is None:
            return ProgressReport(self.n_parts, self.n_loaded, messages=messages, binned=self.binned)
        history = self._context.history
        n_made = min(map(len, history.values()), default=0)  # another thread may be writing a round
        rows = [{name: history[name][index] for name in history} for index in range(n_rounds, n_made)]
        return ProgressReport(self.n_parts, self.n_loaded, self._context.n_rounds, tuple(rows), messages)


@dataclass(frozen=True)
class _CountedPartition:
    part: Partition
    state: WorkerState

    @property
    def n_rows(self) -> int:
        return self.part.n_rows

    @property
    def role(self) -> str:
        return self.part.role

    def load(self) -> LoadedPartition:
        self.state.check_aborted()
        loaded = self.part.load()
        self.state.n_loaded += 1
        return loaded


class ProgressDisplay:
    """Progress bar of a fit in the client, which polls the workers and never waits for their reports."""

    def __init__(self, verbose: int, request: Callable[[Any, str, int, int], Any], bar: Bar | None = None) -> None:
        self._verbose, self._request_of = verbose if bar is None else 1, request
        self._bar = partial(progress_bar, verbose=verbose) if bar is None else bar
        self._prints = bar is None
        self._stack = ExitStack()
        self._advance: Progress | None = None
        self._title = ""
        self._n_shown = 0  # steps of the present bar
        self._n_rounds, self._n_messages = 0, 0  # received so far
        self._workers: list[Any] = []
        self._requests: list[Any] = []
        self._last_request = 0.0  # seconds, of time.monotonic

    def follow(self, workers: Sequence[Any]) -> None:
        """Show the progress of these workers; after a loss they are others."""
        self._workers, self._requests = list(workers), []

    def poll(self) -> None:
        """Request reports, or show those that have arrived; called often."""
        if not self._verbose or not self._workers:
            return
        if self._requests:
            if all(report is None or report.done() for report in self._requests):
                self._receive()
        elif time.monotonic() - self._last_request >= SECONDS_BETWEEN_REQUESTS:
            self._request()

    def finish(self) -> None:
        """Wait for the last report of a fit that has ended well."""
        if self._verbose:
            self._request()
            self._receive()

    def stop(self) -> None:
        """Close the bar; nothing is shown until `follow` is called again."""
        self._stack.close()
        self._title, self._workers, self._requests = "", [], []

    def _request(self) -> None:
        self._last_request = time.monotonic()
        # The first worker has all rounds; before them each loads partitions of its own.
        workers = self._workers[:1] if self._n_rounds else self._workers
        self._requests = [self._request_of(worker, "progress", self._n_rounds, self._n_messages) for worker in workers]

    def _receive(self) -> None:
        requests, self._requests = self._requests, []
        try:
            reports: list[ProgressReport] = [request.result(timeout=REPORT_TIMEOUT) for request in requests]
        except Exception:  # of a worker that is lost, which `WorkerMonitor` reports
            return
        first = reports[0]
        messages = list(first.messages)
        if first.n_rounds is None and first.binned:
            self._start_bar(TUNING, 1)
        elif first.n_rounds is None:
            self._show_loads(sum(one.n_loaded for one in reports), sum(one.n_parts for one in reports))
        for values in first.history:
            self._print(messages, self._n_rounds)
            self._start_bar(ROUND, int(first.n_rounds or 0), self._n_rounds)
            self._advance_bar(values)
            self._n_rounds += 1
        self._print(messages, self._n_rounds)
        self._n_messages += len(first.messages) - len(messages)

    def _print(self, messages: list[tuple[int, str]], n_rounds: int) -> None:
        """Print and remove the messages from before the next round."""
        while messages and messages[0][0] <= n_rounds:
            say(self._prints, messages.pop(0)[1])

    def _show_loads(self, n_loaded: int, n_parts: int) -> None:
        if not n_loaded:
            return
        n_passes = (n_loaded - 1) // n_parts  # finished ones
        self._start_bar("reading, part" if not n_passes else f"reading, pass {n_passes + 1}, part", n_parts)
        while self._n_shown < n_loaded - n_passes * n_parts:
            self._advance_bar({})

    def _start_bar(self, title: str, total: int, n_done: int = 0) -> None:
        """Start a bar with this title, unless it is the present one."""
        if title == self._title:
            return
        self._stack.close()
        self._title, self._n_shown = title, n_done
        self._advance = self._stack.enter_context(self._bar(total, n_done=n_done, what=title))

    def _advance_bar(self, values: Mapping[str, float]) -> None:
        assert self._advance is not None
        self._advance(values)
        self._n_shown += 1
