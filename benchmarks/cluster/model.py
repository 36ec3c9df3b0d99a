"""How long a round takes on many workers, and what they send: a model with constants from small measurements.

A round is a tree and a step. With n rows of d columns in b bins, depth k, K classes, W workers of T threads:

    time   = work(n / W) (s + (1 - s) / T) + scan + exchanges           seconds per round
    work   = n (c1 d + c2 d (k - 1) + c3 k + c4 o)                      root, smaller children, division, weights
    scan   = c5 H d b K + c6                                            every worker looks at all sums: W does not help
    bytes  = 4 H d b K                                                  a worker sends these in one direction
    H      = 2^(k - 1)                                                  the root and all smaller children, at most

where o is 1 for two classes, otherwise K. The other child's sums are a difference, sums of weights have 32 bits, and
the last level is not searched. An exchange of m bytes over links of v bytes per second takes

    Dask   sum over the levels of a tree with 8 children_of each, of l + l' (q - 1) + 2 q m (1 / v + p)
    MPI    ceil(log2 W) l + (2 (V - 1) / V + 2 [W > V]) m (1 / v + p)   Rabenseifner's all-reduce

with V the largest power of two up to W: others send all to a partner first, and get all back. In Dask's tree there are
q workers children_of the busiest of a level, whose link takes in q messages and sends out q answers; l is the time that
a small message takes, l' that of each further one, p the seconds per byte for copies and additions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import nnls

from radboost.distributed.collective import children_of

BINS = 255
SAMPLE_ROWS = 131_072  # about so many are drawn for the bins, whatever the number of rows
WEIGHT_BYTES = 4
VALUE_BYTES = 8


@dataclass(frozen=True)
class Shape:
    """What is learned."""

    rows: float
    columns: int = 28
    depth: int = 6
    classes: int = 2
    bins: int = BINS

    @property
    def histograms(self) -> int:
        """Of the root and of the smaller children."""
        return int(2 ** (self.depth - 1))

    @property
    def slots(self) -> float:
        """Bins of all these histograms."""
        return float(self.histograms * self.columns * self.bins)

    @property
    def terms(self) -> list[float]:
        """What the constants c1 to c6 are multiplied by."""
        outputs = 1 if self.classes == 2 else self.classes
        cells = self.rows * self.columns
        divided = cells * (self.depth - 1), self.rows * self.depth
        return [cells, *divided, self.rows * outputs, self.slots * self.classes, 1.0]

    @property
    def sent(self) -> float:
        """Bytes of a worker and round, in one direction."""
        return WEIGHT_BYTES * self.slots * self.classes


@dataclass(frozen=True)
class Transport:
    """What an exchange takes besides the network: seconds per message, per further message, per byte."""

    latency: float
    further: float = 0.0
    per_byte: float = 0.0
    tree: bool = True  # Dask's; otherwise MPI's all-reduce

    def seconds(self, n_workers: int, size: float, bandwidth: float = math.inf) -> float:
        """An exchange of so many bytes; the bandwidth of each worker's link in bytes per second."""
        per_byte = 1.0 / bandwidth + self.per_byte
        if n_workers == 1:
            return 0.0
        if not self.tree:
            return math.ceil(math.log2(n_workers)) * self.latency + sent_in_all_reduce(n_workers) * size * per_byte
        return sum(
            self.latency + self.further * (busiest - 1) + 2 * busiest * size * per_byte for busiest in levels(n_workers)
        )


def sent_in_all_reduce(n_workers: int) -> float:
    """How many times its numbers the busiest rank sends."""
    paired = 1 << (n_workers.bit_length() - 1)
    return 2 * (1 - 1 / paired) + 2 * (n_workers > paired)


def levels(n_workers: int) -> list[int]:
    """The most workers right children_of one, at each level of the tree from the top."""
    found: list[int] = []
    level = [0]
    while any(lower := [children_of(rank, n_workers) for rank in level]):
        found.append(max(map(len, lower)))
        level = [rank for ranks in lower for rank in ranks]
    return found


@dataclass(frozen=True)
class Constants:
    """What was measured: seconds for each of the terms, the share that threads do not divide, exchanges, transports."""

    costs: tuple[float, ...]
    serial: float = 0.0
    exchanges: tuple[float, float, float] = (1.0, 1.0, 0.0)  # of a round, for each level, with several classes
    transports: dict[str, Transport] = field(default_factory=dict)
    packing: float = 1.0  # bytes sent for a byte of sums
    preparing: float = 0.0  # seconds per cell to read rows in memory and bin them
    per_row: float = 64.0  # bytes of memory besides two for each cell
    process: float = 3e8  # bytes of memory of a worker without rows

    def compute(self, shape: Shape, n_workers: int = 1, threads: int = 1) -> tuple[float, float]:
        """Seconds per round and worker: what is divided among workers and threads, and what is not."""
        own = replace(shape, rows=shape.rows / n_workers)
        parts = np.array(self.costs) * own.terms
        return float(parts[:4].sum()) * (self.serial + (1.0 - self.serial) / threads), float(parts[4:].sum())

    def n_exchanges(self, shape: Shape) -> float:
        """Per round."""
        per_round, per_level, several = self.exchanges
        return per_round + per_level * shape.depth + (several if shape.classes > 2 else 0.0)

    def memory(self, shape: Shape, n_workers: int) -> float:
        """Bytes of a worker: codes by row and by column, what a row takes besides, and histograms.

        With several classes a row has a score and a gradient of each, 4 bytes (docs/decisions, 15).
        """
        of_classes = 8.0 * shape.classes if shape.classes > 2 else 0.0
        per_row = 2 * shape.columns + self.per_row + of_classes
        return self.process + shape.rows / n_workers * per_row + 2 * shape.sent


@dataclass(frozen=True)
class Cluster:
    """Who learns it, and over which network."""

    workers: int
    threads: int = 1
    transport: str = "Dask"
    gigabits: float = math.inf
    delay: float = 0.0  # seconds added to each exchange
    cores: int | None = None  # of one machine that all workers share; None where each has its own

    @property
    def sharing(self) -> float:
        """How many times longer it takes where workers share cores."""
        return 1.0 if self.cores is None else max(1.0, self.workers * self.threads / self.cores)


@dataclass(frozen=True)
class Prediction:
    """Seconds of a round, and their parts; bytes of a round."""

    compute: float
    exchange: float
    network: float  # the part of the exchanges that is bandwidth
    sent: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.compute + self.exchange


def predict(constants: Constants, shape: Shape, cluster: Cluster) -> Prediction:
    """A round, by the model at the top of this file."""
    divided, repeated = constants.compute(shape, cluster.workers, cluster.threads)
    compute = (divided + repeated) * cluster.sharing
    if cluster.workers == 1:
        return Prediction(compute, 0.0, 0.0, 0.0)
    transport = constants.transports[cluster.transport]
    n_exchanges = constants.n_exchanges(shape)
    sent = shape.sent * (constants.packing if transport.tree else 1.0)
    messages = n_exchanges * (transport.seconds(cluster.workers, 0.0) + cluster.delay)
    without = transport.seconds(cluster.workers, sent) - transport.seconds(cluster.workers, 0.0)
    network = transport.seconds(cluster.workers, sent, cluster.gigabits * 1e9 / 8) - transport.seconds(
        cluster.workers, sent
    )
    return Prediction(compute, messages + without + network, network, sent)


def break_even(constants: Constants, shape: Shape, cluster: Cluster) -> float:
    """The Gbit/s at which the network takes as long as the computation."""
    found = predict(constants, shape, replace(cluster, gigabits=1.0))
    return found.network / found.compute


def once(constants: Constants, shape: Shape, cluster: Cluster) -> float:
    """Seconds before the first round: rows are binned, and the sample for the bins is gathered by all."""
    cells = shape.rows * shape.columns / cluster.workers / cluster.threads
    sample = min(shape.rows, SAMPLE_ROWS) * shape.columns * VALUE_BYTES
    return cells * constants.preparing * cluster.sharing + sample / (cluster.gigabits * 1e9 / 8)


def fit_costs(measured: Sequence[tuple[Shape, float]]) -> tuple[float, ...]:
    """The constants c1 to c6, none of them negative, with the least squares of relative errors."""
    seconds = np.array([one for _, one in measured])
    terms = np.array([shape.terms for shape, _ in measured]) / seconds[:, None]
    scale = terms.max(axis=0)
    found, _ = nnls(terms / scale, np.ones(len(measured)))
    return tuple(float(cost) for cost in found / scale)


def fit_memory(peaks: Sequence[tuple[float, float]], columns: int) -> tuple[float, float]:
    """Bytes of a row besides its codes, and of a process: the line through peaks of workers with (rows, bytes)."""
    rows, found = np.array(peaks).T
    slope, process = np.polyfit(rows, found, 1)
    return float(slope) - 2 * columns, float(process)


def fit_serial(costs: Sequence[float], measured: Sequence[tuple[Shape, int, float, float]]) -> float:
    """The share s of the work that threads do not divide, from (shape, threads, seconds with one, with these)."""
    shares = []
    for shape, threads, one, several in measured:
        repeated = float(np.dot(costs[4:], shape.terms[4:]))
        shares.append(((several - repeated) / (one - repeated) - 1.0 / threads) / (1.0 - 1.0 / threads))
    return float(np.clip(np.mean(shares), 0.0, 1.0))


def fit_transport(pings: Sequence[tuple[int, int, float]], *, tree: bool) -> Transport:
    """From exchanges of (workers, bytes, seconds): the least squares of relative errors, nothing negative."""
    seconds = np.array([one for *_, one in pings])
    rows: list[list[float]] = []
    for workers, size, _ in pings:
        if tree:
            below_each = levels(workers)
            rows.append([len(below_each), sum(below_each) - len(below_each), 2 * sum(below_each) * size])
        else:
            rows.append([math.ceil(math.log2(workers)), 0.0, sent_in_all_reduce(workers) * size])
    terms = np.array(rows) / seconds[:, None]
    scale = np.maximum(terms.max(axis=0), 1e-300)
    found, _ = nnls(terms / scale, np.ones(len(seconds)))
    latency, further, per_byte = (float(one) for one in found / scale)
    return Transport(latency, further if tree else 0.0, per_byte, tree)
