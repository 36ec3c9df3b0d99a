"""A Dask cluster for a command: one that runs already, or one on this machine."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from radboost import __version__
from radboost.cli.console import Console
from radboost.cli.files import cores
from radboost.distributed.collections import need_dask

SECONDS_TO_CONNECT = 10.0
SECONDS_FOR_WORKERS = 30.0
_LOCAL = re.compile(r"local(?::(\d+))?$")


@contextmanager
def connected(address: str, jobs: int | None) -> Iterator[Any]:
    """A client of the cluster that --dask names."""
    need_dask()
    from distributed import Client, LocalCluster

    local = _LOCAL.match(address)
    if local is not None:
        n_workers = int(local[1]) if local[1] else max(1, cores() // (jobs or 1))
        if n_workers < 1:
            raise ValueError(f"--dask {address}: give a number of workers, 1 or more")
        threads = jobs or max(1, cores() // n_workers)
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=threads,
                dashboard_address=":0",
                silence_logs=logging.ERROR,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"--dask {address}: no scheduler answers there ({_first_line(error)}); start one, dask scheduler, and give "
            "its address, such as tcp://host:8786, or give local for a cluster on this machine"
        ) from error
    with client:
        _check_workers(client, address)
        yield client


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
    except TimeoutError as error:
        raise ValueError(
            f"--dask {address}: the scheduler has no workers, and none has come within {SECONDS_FOR_WORKERS:g} "
            f"seconds; start some, dask worker {address}"
        ) from error
    try:
        found = client.run(_version)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"--dask {address}: a worker has no radboost ({error}); install it there, radboost {__version__}"
        ) from error
    for worker, version in sorted(found.items()):
        if version != __version__:
            raise ValueError(
                f"--dask {address}: the worker {worker} has radboost {version}, and this is {__version__}; install one "
                "version everywhere"
            )


def _version() -> str:
    from importlib.metadata import version

    return version("radboost")


def run_on(
    client: Any, placed: dict[str, list[Any]], work: Callable[..., Any], title: str, console: Console, *common: Any
) -> dict[Any, Any]:
    """What `work(part, *common)` finds for each part, on the worker that it was dealt out to; by the parts."""
    from distributed import as_completed

    sent = client.scatter(list(common), broadcast=True, hash=False) if common else []
    asked = {
        client.submit(work, part, *sent, workers=[worker], allow_other_workers=True, pure=False): part
        for worker, parts in placed.items()
        for part in parts
    }
    found: dict[Any, Any] = {}
    with console.progress(title) as watch:
        try:
            for future in as_completed(list(asked)):
                found[asked[future]] = future.result()
                watch.show(len(found), len(asked))
                future.release()
        except BaseException:
            client.cancel(list(asked), force=True)
            raise
    return found


def shares_of(shares: Sequence[Any]) -> list[str]:
    """What each worker of a fit held, as lines of a table."""
    head = ("worker", "parts", "rows", "bins", "scores", "sent")
    counts = [
        (
            one.address,
            f"{one.n_partitions:,}",
            f"{one.n_rows:,}",
            *map(_bytes, (one.bytes_of_bins, one.bytes_of_scores, one.bytes_sent)),
        )
        for one in shares
    ]
    lines = [head, *counts]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    return [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(n) for cell, n in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]


def _bytes(n: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} B"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
