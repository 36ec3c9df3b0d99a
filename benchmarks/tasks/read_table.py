"""From a file to bins: the command line's reader beside pyarrow with LightGBM, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.competitors import is_installed
from benchmarks.data import MissingError
from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.tasks.memory import MEGABYTE, resident

TARGET = "target"
OURS, THREADS = "RadBoost", (1, 2)


def run(ending: str, sizes: Sizes) -> Result:
    """Measure seconds from a file of this format to bins, with one and two threads."""
    if not is_installed("pyarrow"):
        raise MissingError("pyarrow is not installed: pip install 'radboost[cli]'")
    table, best = data.census(sizes.real_rows), dict[tuple[str, int], dict[str, Any]]()
    texts = [field.name for field in table.schema if field.type == "string"]
    sides = [(name, threads) for threads in THREADS for name, (package, _) in SIDES.items() if is_installed(package)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        data.write(path, table, sizes.table_copies)
        for side in sides * sizes.repeats:  # in turns: a slow spell of the machine hits all of them alike
            measured = measure(*side, path, texts)
            best[side] = min(best.get(side, measured), measured, key=lambda one: float(one["seconds"]))
    n_rows, n_columns = sizes.table_copies * table.num_rows, table.num_columns - 1
    coded = [table[name].dictionary_encode() if name in texts else table[name] for name in table.column_names]
    n_bytes = sizes.table_copies * sum(column.nbytes for column in coded)
    return Result(
        title=f"From {ending} to bins, {n_rows:,} x {n_columns}, {len(texts) - 1} columns of text",
        unit="s",
        rows=[
            Row(f"{name}, n_jobs={threads}", one["seconds"], ours=name == OURS, note=described(one, n_bytes))
            for (name, threads), one in best.items()
        ],
        note=f"Peak memory is beyond that of imports. The Arrow table, texts as codes: {n_bytes / MEGABYTE:.1f} MB, "
        f"the bins {n_rows * n_columns / MEGABYTE:.1f} MB. pyarrow is told the types of all columns; LightGBM gets an "
        "Arrow table of numbers and codes. Both make 255 bins.",
    )


def described(measured: dict[str, Any], n_bytes: int) -> str:
    """Seconds of each step and of the processor, and peak memory beside the bytes of the Arrow table."""
    steps = ", ".join(f"{name} {seconds:.2f}" for name, seconds in measured["steps"].items())
    peak, before = measured["peak"] / MEGABYTE, measured["before"] / MEGABYTE
    memory = f"peak {peak:,.0f} MB = {MEGABYTE * peak / n_bytes:.2f} Arrow tables (imports: {before:,.0f} MB)"
    return f"{steps}; processor {measured['processor']:.2f} s; {memory}"


def ours(path: str, threads: int, texts: list[str]) -> Iterator[str]:
    """Do what `radboost fit` does before the first round; the name of each step when it is done."""
    from radboost import DeepBoostClassifier
    from radboost.cli.console import Console
    from radboost.cli.options import FitOptions
    from radboost.cli.source import RowSource
    from radboost.cli.tables import ReadOptions

    given: dict[str, Any] = dict.fromkeys((field.name for field in fields(FitOptions)), ())
    given |= {"data": (path,), "target": TARGET, "read": ReadOptions()}
    given |= dict.fromkeys(("task", "weights", "group", "time"))
    yield "imports"
    source = RowSource(FitOptions(**given), Console(as_json=True))
    yield "read"
    source.prepared(DeepBoostClassifier(n_jobs=threads))
    yield "bins"


def peer(path: str, threads: int, texts: list[str]) -> Iterator[str]:
    """Read with pyarrow, and bin with LightGBM; the name of each step when it is done."""
    import pyarrow as pa
    from lightgbm import Dataset
    from pyarrow import csv, parquet

    yield "imports"
    if path.endswith(".parquet"):
        table = parquet.read_table(path, read_dictionary=texts, use_threads=threads > 1)
    else:
        with Path(path).open(encoding="utf-8") as file:
            types = dict.fromkeys(file.readline().strip().split(","), pa.int64())
        types |= dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.string()))  # to guess, it would keep the whole text
        kinds = csv.ConvertOptions(column_types=types)
        table = csv.read_csv(path, csv.ReadOptions(use_threads=threads > 1), convert_options=kinds)
    yield "read"
    table = table.unify_dictionaries()
    for name in texts:
        codes = pa.chunked_array([chunk.indices for chunk in table[name].chunks])
        table = table.set_column(table.column_names.index(name), name, codes)
    y, X = table[TARGET].to_numpy(), table.drop_columns([TARGET])
    yield "convert"
    parameters = {"num_threads": threads, "max_bin": 255, "verbosity": -1}
    Dataset(X, y, categorical_feature=[name for name in texts if name != TARGET], params=parameters).construct()
    yield "bins"


SIDES = {OURS: ("radboost", ours), "pyarrow and LightGBM": ("lightgbm", peer)}


def measure(name: str, threads: int, path: Path, texts: list[str]) -> dict[str, Any]:
    """Run `probe` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tasks.read_table", name, str(threads), str(path), *texts]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def probe(name: str, threads: int, path: str, texts: list[str]) -> dict[str, Any]:
    """Measure one side: seconds by step and of the processor, and bytes of memory."""
    import pyarrow as pa

    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    steps = SIDES[name][1](path, threads, texts)
    next(steps)
    Path("/proc/self/clear_refs").write_text("5")  # Linux then counts the peak anew
    before, start, processor = resident("VmRSS"), time.perf_counter(), time.process_time()
    ends = {step: time.perf_counter() for step in steps}
    return {
        "seconds": max(ends.values()) - start,
        "steps": dict(zip(ends, np.diff([start, *ends.values()]).tolist(), strict=True)),
        "processor": time.process_time() - processor,
        "peak": resident("VmHWM") - before,
        "before": before,
    }


TASKS: dict[str, Callable[[Sizes], Result]] = {f"read-{ending}": partial(run, ending) for ending in ("csv", "parquet")}

if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])))
