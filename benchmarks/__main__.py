"""Command line of the speed benchmarks.

    python -m benchmarks                      every task, with the ratios of RadBoost to the others
    python -m benchmarks --tasks reach-adult,predict
    python -m benchmarks --show --write-docs  the table and the picture of the documents, from kept results

A task's result is kept in a file, so that tasks can be run one at a time. What is not installed is left out.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks import machine, picture, report
from benchmarks.competitors import ALL, takes_part
from benchmarks.data import MissingError
from benchmarks.markdown import replace_part
from benchmarks.results import Result, load, store
from benchmarks.settings import Sizes
from benchmarks.tasks import TASKS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
PICTURE = PAGE.parent / "images" / "speed.png"


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the code; the figures mean nothing")
    parser.add_argument("--tasks", default=",".join(TASKS), help="comma-separated choice of: %(default)s")
    parser.add_argument("--repeats", type=int, help="number of runs, of which the best counts (default 5)")
    parser.add_argument("--output", type=Path, default=Path("bench-output/speed.json"), help="file of kept results")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    parser.add_argument("--write-docs", action="store_true", help=f"write the table of {PAGE.name} and its picture")
    options = parser.parse_args(argv)
    options.tasks = options.tasks.split(",")
    if unknown := [task for task in options.tasks if task not in TASKS]:
        parser.error(f"unknown task {', '.join(unknown)}; choose from {', '.join(TASKS)}")
    if options.repeats is not None and options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}, but at least one run is needed")
    if options.write_docs and options.quick:
        parser.error("--write-docs wants the real sizes: leave out --quick")
    return options


def run(task: str, sizes: Sizes) -> Result:
    """Run one task and note the load of other processes; without its data or library a note replaces the rows."""
    with machine.OtherLoad() as load:
        try:
            result = TASKS[task](sizes)
        except MissingError as missing:
            return Result(title=task, unit="", note=f"Left out: {missing}")
    return replace(result, other_load=f"Meanwhile {load.sentence()}.")


def main(argv: list[str] | None = None) -> int:
    """Measure, print and keep; return the exit status."""
    options = arguments(argv)
    sizes = Sizes.quick() if options.quick else Sizes()
    if options.repeats is not None:
        sizes = replace(sizes, repeats=options.repeats)
    results = load(options.output)
    print("\n".join(machine.description()), flush=True)
    if not options.show:
        for one in ALL:
            takes_part(one.name, one.package)
        before = machine.observe()
        print(f"Before the start {before.sentence()}.\n", flush=True)
        if options.write_docs and before.idle is False:
            print("The documents hold figures of an idle machine only: try again when it is.", file=sys.stderr)
            return 1
        for task in options.tasks:
            results[task] = run(task, sizes)
            store(options.output, results)
    for task in options.tasks:
        if task in results:
            print(report.section(results[task]), flush=True)
    if options.write_docs:
        replace_part(PAGE, "speed", report.overview(results))
        picture.draw(results, PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
