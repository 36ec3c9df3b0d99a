"""The fit that is measured, in the same form on one machine, on MPI and on Dask."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cluster.watching import smaller_children, watched
from benchmarks.data import Data
from radboost import DeepBoostClassifier, TreeOptions
from radboost.distributed.learning import digest_of_model
from radboost.trees import with_tree_options

BINS = 255


@dataclass(frozen=True)
class Outcome:
    """One fit."""

    seconds: float  # from rows in memory to the model
    rounds: int
    digest: str = ""  # of the model; empty for other libraries
    workers: list[dict[str, Any]] = field(default_factory=list)  # what each saw, see `watching.Seen`
    histograms: float = 0.0  # that a tree needs, in the mean


@dataclass(frozen=True)
class Request:
    """Fits with these numbers of rounds, on the rows X.npy and y.npy of `folder`, which the workers share."""

    folder: str
    rounds: tuple[int, ...]
    depth: int = 6
    threads: int = 1
    criterion: str = "gini"
    delay: float = 0.0  # seconds that are added to each exchange
    pings: tuple[int, ...] = ()  # sums of so many bytes are measured first

    @classmethod
    def read(cls, text: str) -> Request:
        """What `json.dumps(asdict(request))` wrote."""
        fields = json.loads(text)
        return cls(**{**fields, "rounds": tuple(fields["rounds"]), "pings": tuple(fields["pings"])})


def estimator(rounds: int, depth: int, threads: int, criterion: str = "gini") -> DeepBoostClassifier:
    """The full search of the large benchmark (RadBoost gini and RadBoost edge): every column and threshold."""
    return DeepBoostClassifier.paper(
        **with_tree_options(
            {
                "loss": "logistic",
                "objective": "compsum",
                "n_rounds": rounds,
                "max_depth": depth,
                "n_jobs": threads,
                "random_state": 0,
                "calibration": None,
                "tree_options": TreeOptions(max_bins=BINS, leaves="votes"),
                "split_criterion": criterion,
            }
        )
    )


def looked_at(model: Any, seconds: float) -> Outcome:
    """What there is to say of a fitted model."""
    seen = getattr(model, "watched_", [])
    return Outcome(seconds, int(model.n_iter_), digest_of_model(model), seen, smaller_children(model))


def fit_locally(X: NDArray[Any], y: NDArray[np.int64], rounds: int, depth: int, threads: int, **options: Any) -> Any:
    """The fitted estimator and its outcome."""
    model = estimator(rounds, depth, threads, **options)
    start = time.perf_counter()
    model.fit(X, y)
    return model, looked_at(model, time.perf_counter() - start)


def fit_on_dask(client: Any, X: Any, y: Any, request: Request) -> list[Outcome]:
    """The outcomes of fits of Dask arrays that lie on the workers."""
    from radboost import distributed

    outcomes = []
    for rounds in request.rounds:
        model = estimator(rounds, request.depth, request.threads, request.criterion)
        start = time.perf_counter()
        with watched(request.delay, request.pings):
            distributed.fit(model, X, y, client=client)
        outcomes.append(looked_at(model, time.perf_counter() - start))
    return outcomes


@contextmanager
def stored(train: Data) -> Iterator[str]:
    """A folder with the rows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip("Xy", train, strict=True):
            np.save(Path(folder) / f"{name}.npy", array)
        yield folder


def arrays_on_workers(client: Any, folder: str, parts: int) -> tuple[Any, Any]:
    """X and y of a folder as Dask arrays whose parts lie on the workers, one after the other."""
    import dask.array
    from dask import delayed

    from distributed import wait

    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    placed = []
    for name in "Xy":
        there = np.load(f"{folder}/{name}.npy", mmap_mode="r")
        ends = [k * len(there) // parts for k in range(parts + 1)]
        pieces = []
        for k, (first, last) in enumerate(pairwise(ends)):
            read = delayed(_rows, pure=False)(folder, name, first, last)
            future = client.compute(read, workers=[workers[k * len(workers) // parts]], allow_other_workers=False)
            shape = (last - first, *there.shape[1:])
            pieces.append(dask.array.from_delayed(future, shape, dtype=there.dtype))
        placed.append(dask.array.concatenate(pieces).persist())
    wait(placed)
    return placed[0], placed[1]


def _rows(folder: str, name: str, first: int, last: int) -> NDArray[Any]:
    return np.array(np.load(f"{folder}/{name}.npy", mmap_mode="r")[first:last])


def slope(few: Sequence[Outcome], many: Sequence[Outcome]) -> tuple[float, float]:
    """Seconds per round, and what is left for reading, binning and the start: from the best of each."""
    least, most = (min(runs, key=lambda run: run.seconds) for runs in (few, many))
    per_round = (most.seconds - least.seconds) / (most.rounds - least.rounds)
    return per_round, least.seconds - per_round * least.rounds
