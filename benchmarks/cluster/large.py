"""Rows that are made in parts, stored as Parquet files, and learned by several workers of this machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.cluster.fitting import estimator
from benchmarks.cluster.watching import watched
from benchmarks.cluster.workers import local_cluster

ROWS = 100_000_000
COLUMNS = 28
FILES = 100
GROUP_ROWS = 250_000  # of a row group, which is read at once
DEPTH = 6
MAKERS = 2  # processes


def write_part(folder: str, part: int, rows: int) -> None:
    """The rows of one file: 32-bit columns and a label, drawn with a seed of their own."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    X, y = data.synthetic(rows, COLUMNS, seed=1000 + part)
    columns = {f"x{k:02d}": X[:, k] for k in range(COLUMNS)} | {"y": y.astype("int8")}
    # Numbers of a normal distribution hold nothing to compress.
    parquet.write_table(
        pa.table(columns), path_of(folder, part), row_group_size=GROUP_ROWS, compression="none", use_dictionary=False
    )


def path_of(folder: str, part: int) -> Path:
    """Where a part is."""
    return Path(folder) / f"rows-{part:03d}.parquet"


def make(folder: Path, rows: int) -> list[Path]:
    """All files, the rows divided evenly among them; a file that is there and has its rows is left as it is."""
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    sizes = [(k + 1) * rows // FILES - k * rows // FILES for k in range(FILES)]
    paths = [path_of(str(folder), part) for part in range(FILES)]
    missing = [k for k in range(FILES) if not paths[k].exists() or parquet.read_metadata(paths[k]).num_rows != sizes[k]]
    with ProcessPoolExecutor(MAKERS, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(write_part, str(folder), part, sizes[part]) for part in missing]:
            done.result()
    return paths


def learn(paths: Sequence[Path], n_workers: int, rounds: int) -> dict[str, Any]:
    """One fit by so many processes of one thread: seconds, and what each worker saw."""
    from radboost import distributed

    with local_cluster(n_workers) as client:
        model = estimator(rounds, DEPTH, 1)
        start = time.perf_counter()
        with watched():
            distributed.fit(model, [str(path) for path in paths], "y", client=client)
        seconds = time.perf_counter() - start
    return {"workers": n_workers, "seconds": seconds, "rounds": int(model.n_iter_), "seen": model.watched_}


def sentence(found: dict[str, Any], rows: int) -> str:
    """What was found, in words."""
    seen = found["seen"]
    peaks = ", ".join(f"{one['peak'] / 1e9:.2f}" for one in seen)
    own = rows / found["workers"]
    return (
        f"{found['workers']} workers: reading and binning {max(one['preparing'] for one in seen):.0f} s, "
        f"{max(one['rounds'] for one in seen) / found['rounds']:.2f} s a round, in all {found['seconds']:.0f} s; "
        f"peak memory {peaks} GB; the rows of a worker are {own * COLUMNS * 4 / 1e9:.2f} GB in the files"
    )


def run(folder: Path, rows: int, workers: Sequence[int], rounds: int, *, keep_files: bool) -> dict[str, Any]:
    """Make the files, learn them with each number of workers, and remove them."""
    start = time.perf_counter()
    paths = make(folder, rows)
    size = sum(path.stat().st_size for path in paths)
    print(
        f"{rows:,} rows in {len(paths)} files of {size / 1e9:.1f} GB: {time.perf_counter() - start:.0f} s", flush=True
    )
    fits = []
    try:
        for n in workers:
            fits.append(learn(paths, n, rounds))
            print(sentence(fits[-1], rows), flush=True)
    finally:
        if not keep_files:
            for path in paths:
                path.unlink(missing_ok=True)
    return {"rows": rows, "bytes": size, "fits": fits}
