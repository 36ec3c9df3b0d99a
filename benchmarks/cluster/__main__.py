"""`python -m benchmarks.cluster`: fits on several workers, measured and on paper.

python -m benchmarks.cluster race [--rows 10000000]  two workers beside one process, xgboost.dask and lightgbm.dask
python -m benchmarks.cluster small                   the small measurements that the model's constants come from
python -m benchmarks.cluster check [--kinds ...]     more workers, slower networks (root on Linux) and slower messages
python -m benchmarks.cluster page [--write-docs]     what the model says beside what was measured; pictures and tables
python -m benchmarks.cluster large --folder DIR      rows from Parquet files: made in parts, learned, and removed

All but the race keep what they find in --output, so that they can be run one at a time.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import machine, report
from benchmarks.settings import ROOT, Sizes

PAGE = ROOT / "docs" / "scaling.md"
PICTURES = ROOT / "docs" / "images"
LARGE_SLOPE = (5, 25)
MANY_ROWS = 4_000_000  # races of more have fewer rounds


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("race", "small", "check", "page", "large"))
    parser.add_argument("--rows", type=int, help="of the race (default 1,000,000), or of all files (100,000,000)")
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many counts (default %(default)s)")
    parser.add_argument("--kinds", default="workers,bandwidth,latency,shape", help="of checks: %(default)s")
    parser.add_argument("--output", type=Path, default=Path("bench-output") / "cluster.json", help="file for figures")
    parser.add_argument("--write-docs", action="store_true", help=f"put them into {PAGE.relative_to(ROOT)}")
    parser.add_argument("--folder", type=Path, help="where files of rows go: 112 bytes a row")
    parser.add_argument("--workers", default="2,3", help="of fits of files (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of fits of files (default %(default)s)")
    parser.add_argument("--keep-files", action="store_true", help="leave the files of rows where they are")
    options = parser.parse_args(argv)
    if options.what == "large" and options.folder is None:
        parser.error("large needs --folder: a folder with room for the files, 11 GB for 100,000,000 rows")
    return options


def load(path: Path) -> dict[str, Any]:
    """What earlier runs found."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(path: Path, kept: dict[str, Any]) -> None:
    """Write it down."""
    report.write(path, json.dumps(kept, indent=1))


def race(options: argparse.Namespace) -> None:
    """The task of `make bench`, with any number of rows."""
    from benchmarks.tasks import cluster_large

    sizes = replace(Sizes(), cluster_repeats=options.repeats)
    if options.rows is not None:
        sizes = replace(sizes, cluster_rows=options.rows)
    if sizes.cluster_rows > MANY_ROWS:
        sizes = replace(sizes, cluster_slope=LARGE_SLOPE)
    with machine.OtherLoad() as load_meanwhile:
        result = cluster_large.run(sizes)
    result = replace(result, other_load=f"Meanwhile {load_meanwhile.sentence()}.")
    print(report.section(result))
    print("\n".join(report.targets([result])))
    kept = load(options.output)
    kept.setdefault("races", {})[str(sizes.cluster_rows)] = json.loads(report.as_json([result], machine.description()))
    store(options.output, kept)


def small(options: argparse.Namespace) -> None:
    """Measure what the constants come from."""
    from benchmarks.cluster import small as measurements

    with machine.OtherLoad() as load_meanwhile:
        found = measurements.measure(options.repeats)
    kept = load(options.output)
    kept["small"] = found | {"load": load_meanwhile.sentence()}
    store(options.output, kept)
    print(measurements.constants(found))
    print(load_meanwhile.sentence())


def check(options: argparse.Namespace) -> None:
    """Measure what is held against the model; what the file has is not measured again."""
    from benchmarks.cluster import checks

    kinds = options.kinds.split(",")
    kept = load(options.output)
    known = [checks.read(one) for one in kept.setdefault("checks", [])]

    def keep(found: dict[str, Any]) -> None:
        kept["checks"].append(found)
        store(options.output, kept)
        cluster = found["cluster"]
        where = f"{cluster['workers']} on {cluster['transport']}, {cluster['gigabits']} Gbit/s, {cluster['delay']} s"
        print(f"{found['kind']}: {where}: {found['seconds']:.4f} s, {found['sent'] / 1e6:.2f} MB", flush=True)

    wanted = [one for one in checks.all_checks() if one.kind in kinds and one not in known]
    checks.run(wanted, options.repeats, keep)


def page(options: argparse.Namespace) -> None:
    """Tables and pictures from what was kept."""
    from benchmarks.cluster import page as pages

    kept = load(options.output)
    parts = pages.parts(kept)
    for name, lines in parts.items():
        print("\n".join([f"## {name}", "", *lines, ""]))
        if options.write_docs:
            report.replace_part(PAGE, name, "\n".join(lines) + "\n")
    pages.draw(kept, PICTURES if options.write_docs else options.output.parent)


def large(options: argparse.Namespace) -> None:
    """Rows from files."""
    from benchmarks.cluster import large as files

    kept = load(options.output)
    kept["large"] = files.run(
        options.folder,
        options.rows or files.ROWS,
        [int(n) for n in options.workers.split(",")],
        options.rounds,
        keep_files=options.keep_files,
    )
    store(options.output, kept)


def end(*_: object) -> None:
    """Ends the process, once, in a way that takes networks and clusters down."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def main(argv: list[str] | None = None) -> int:
    """Run one of them."""
    options = arguments(argv)
    signal.signal(signal.SIGTERM, end)
    {"race": race, "small": small, "check": check, "page": page, "large": large}[options.what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
