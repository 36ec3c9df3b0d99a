"""Two Dask workers of one thread beside one process of two threads, and beside other libraries on Dask."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.competitors import installed, is_installed
from benchmarks.data import Data, MissingError
from benchmarks.results import Result, Row
from benchmarks.settings import Settings, Sizes
from benchmarks.tasks.memory import store
from benchmarks.timing import seconds_per_round

WORKERS = 2
OURS = "RadBoost gini"
NAMES = (OURS, "XGBoost", "LightGBM")
ALONE = "one process"
DEPTH = 6


def run(sizes: Sizes) -> Result:
    """Measure seconds per round; the note of our row has what a worker sends for each tree."""
    if not is_installed("distributed"):
        raise MissingError("Dask is not installed: pip install 'radboost[dask]'")
    train = data.synthetic(sizes.large_rows, sizes.large_columns, seed=1)
    models: dict[str, Any] = {}
    with TemporaryDirectory() as folder, local_workers() as client:
        store(Path(folder), train)
        X, y = on_workers(client, folder)

        def fit_alone(rounds: int) -> None:
            models[ALONE] = installed(OURS)[0].fit(*train, Settings(rounds, DEPTH, threads=WORKERS))

        def fit(competitor: Any, rounds: int) -> None:
            models[competitor.name] = competitor.fit_on_dask(client, X, y, Settings(rounds, DEPTH, threads=1))

        fits: dict[str, Callable[[int], None]] = {ALONE: fit_alone}
        fits |= {one.name: partial(fit, one) for one in installed(*NAMES)}
        for one in fits.values():
            one(1)  # loads the code of a library, on the workers too
        measured = seconds_per_round(fits, sizes.slope, sizes.repeats)
    return Result(
        title=f"Fit {sizes.large_rows:,} x {sizes.large_columns}, depth {DEPTH}, {WORKERS} Dask workers of one thread",
        unit="s per round",
        rows=[
            Row(name, figure, ours=name in (ALONE, OURS), note=traffic(models[name]))
            for name, figure in measured.items()
        ],
    )


def traffic(model: Any) -> str:
    """Describe what the worker that sends most sends for each round; empty without workers."""
    workers = getattr(model, "workers_", [])
    if not workers:
        return ""
    busiest = max(workers, key=lambda worker: worker.bytes_sent)
    return (
        f"{busiest.n_exchanges / model.n_iter_:.1f} exchanges and {busiest.bytes_sent / model.n_iter_ / 1e6:.2f} MB "
        "sent a round, with those before the first"
    )


@contextmanager
def local_workers() -> Iterator[Any]:
    """Start processes of one thread on this machine, and give their client."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"memory_limit": None, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        yield client


def on_workers(client: Any, folder: str) -> Data:
    """Read X and y of a folder as Dask arrays, a part on each worker."""
    import dask.array
    from dask import delayed

    from distributed import wait

    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    arrays = []
    for name in "Xy":
        whole = np.load(f"{folder}/{name}.npy", mmap_mode="r")
        parts = []
        for address, (first, last) in zip(addresses, pairwise(_ends(len(whole), len(addresses))), strict=True):
            read = delayed(_rows, pure=False)(folder, name, first, last)
            future = client.compute(read, workers=[address], allow_other_workers=False)
            parts.append(dask.array.from_delayed(future, (last - first, *whole.shape[1:]), dtype=whole.dtype))
        arrays.append(dask.array.concatenate(parts).persist())
    wait(arrays)
    return arrays[0], arrays[1]


def _ends(n_rows: int, n_parts: int) -> list[int]:
    return [k * n_rows // n_parts for k in range(n_parts + 1)]


def _rows(folder: str, name: str, first: int, last: int) -> Any:
    return np.array(np.load(f"{folder}/{name}.npy", mmap_mode="r")[first:last])
