"""Fits on several workers that count what they send, and can be slowed down on purpose.

`watched` puts `WatchedTask` in the place of the task that all workers run, on Dask and on MPI. The fitted estimator
then has `watched_`, with what each worker saw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from radboost.distributed import cluster, mpi
from radboost.distributed.learning import FitTask, RoundRecorder
from radboost.distributed.metadata import WorkerCollective

Answer = TypeVar("Answer")


@dataclass
class Seen:
    """What one worker saw of a fit."""

    exchanges: int = 0  # of the rounds alone, like the next two
    sent: int = 0  # bytes in one direction, before any packing
    packed: int = 0  # and as they went to another worker; 0 from the first of a tree, which sends none up
    waiting: float = 0.0  # seconds in exchanges, waiting for slower workers included
    preparing: float = 0.0  # seconds until the first round: reading, binning
    rounds: float = 0.0  # seconds of the rounds
    peak: int = 0  # bytes of memory, the most of the process so far
    pings: list[tuple[int, float]] = field(default_factory=list)  # bytes of an exchange, and its seconds


def peak_memory() -> int:
    """The most memory that this process has had, in bytes; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


class Watch(WorkerCollective):
    """The same workers, with a count of what goes through, and `delay` seconds added to every exchange."""

    def __init__(self, inner: WorkerCollective, delay: float = 0.0) -> None:
        super().__init__()
        self.seen = Seen()
        self._inner, self._delay = inner, delay
        self._start = time.perf_counter()
        self._sent_before = 0

    @property
    def alone(self) -> bool:
        return self._inner.alone

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self._count(values.nbytes, lambda: self._inner.sum(values))

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        self._count(values.nbytes, lambda: self._inner.maximum(values))

    def gather(self, data: bytes) -> list[bytes]:
        return self._count(len(data), lambda: self._inner.gather(data))

    def rounds_begin(self) -> None:
        """All that was counted so far belongs to reading and binning."""
        now = time.perf_counter()
        self.seen = Seen(preparing=now - self._start, pings=self.seen.pings)
        self._start, self._sent_before = now, self._sent()

    def ping(self, size: int, repeats: int = 25) -> None:
        """Measures sums of so many bytes: the median of several."""
        values = np.random.default_rng(size).integers(0, 2**60, max(1, size // 8))
        times = []
        for _ in range(repeats):
            numbers = values.copy()
            start = time.perf_counter()
            self._inner.sum(numbers)
            times.append(time.perf_counter() - start)
        self.seen.pings.append((size, float(np.median(times))))
        self._start = time.perf_counter()

    def end(self) -> Seen:
        """What was seen of the rounds."""
        self.seen.rounds, self.seen.peak = time.perf_counter() - self._start, peak_memory()
        self.seen.packed = self._sent() - self._sent_before
        return self.seen

    def _sent(self) -> int:
        return self._inner.traffic.bytes_sent

    def _count(self, size: int, exchange: Callable[[], Answer]) -> Answer:
        if self._inner.alone:
            return exchange()
        start = time.perf_counter()
        if self._delay:
            time.sleep(self._delay)
        answer = exchange()
        self.seen.waiting += time.perf_counter() - start
        self.seen.exchanges += 1
        self.seen.sent += size
        return answer


class Beginning(RoundRecorder):
    """Tells a watch when the rounds begin."""

    def __init__(self, watch: Watch, recorder: RoundRecorder | None) -> None:
        super().__init__()
        self._watch, self._recorder = watch, recorder

    def on_fit_begin(self, context: Any) -> None:
        self._watch.rounds_begin()
        if self._recorder is not None:
            self._recorder.on_fit_begin(context)


@dataclass(frozen=True)
class WatchedTask(FitTask):
    """What all workers do, watched."""

    delay: float = 0.0
    pings: tuple[int, ...] = ()  # sums of so many bytes are measured before the fit

    def run(
        self, parts: Sequence[Any], workers: WorkerCollective, *, recorder: RoundRecorder | None = None, **options: Any
    ) -> Any:
        watch = Watch(workers, self.delay)
        for size in self.pings:
            watch.ping(size)
        fitted = super().run(parts, watch, recorder=Beginning(watch, recorder), **options)
        fitted.watched_ = workers.all_gather(asdict(watch.end()))
        return fitted


class _Maker:
    def __init__(self, delay: float, pings: tuple[int, ...]) -> None:
        self._more = {"delay": delay, "pings": pings}

    def of(self, estimator: Any, **options: Any) -> WatchedTask:
        return WatchedTask(**vars(FitTask.of(estimator, **options)) | self._more)


@contextmanager
def watched(delay: float = 0.0, pings: tuple[int, ...] = ()) -> Iterator[None]:
    """Fits within have `watched_`: what each worker saw, as `Seen` in a dictionary."""
    maker = _Maker(delay, pings)
    with patch.object(cluster, "FitTask", maker), patch.object(mpi, "FitTask", maker):
        yield


def smaller_children(model: Any) -> float:
    """The mean number of histograms that a tree needs.

    The root's, and that of the smaller child of every node whose children are searched; the other is the difference.
    With depth d they are at most 2^(d - 1).
    """
    deepest = model.max_depth - 2
    counts = []
    for tree in model.ensemble_.hypotheses:
        depth = np.zeros(tree.n_nodes, dtype=np.int64)
        divided = np.flatnonzero(tree.feature >= 0)
        for node in divided:  # parents stand before their children
            depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
        counts.append(1 + int(np.count_nonzero(depth[divided] <= deepest)))
    return float(np.mean(counts))
