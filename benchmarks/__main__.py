"""`python -m benchmarks`: run the tasks, print the table of ratios, write it down."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks import machine, picture, report
from benchmarks.data import DataMissingError
from benchmarks.results import Result
from benchmarks.settings import Sizes
from benchmarks.tasks import TASKS

DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
TARGETS = DOCS.parent / "developers" / "benchmark-targets.md"
PICTURE = DOCS.parent / "images" / "speed.png"


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the code; the figures mean nothing")
    parser.add_argument("--tasks", default=",".join(TASKS), help="comma-separated choice of: %(default)s")
    parser.add_argument("--repeats", type=int, help="how many runs the best is taken of (default 5)")
    parser.add_argument("--output", type=Path, default=Path("bench-output"), help="folder for results.json and .md")
    parser.add_argument("--write-docs", action="store_true", help=f"also write {DOCS.parent.name}/{DOCS.name}")
    parser.add_argument(
        "--results", type=Path, nargs="+", metavar="FILE", help="measure nothing: take these results.json together"
    )
    options = parser.parse_args(argv)
    options.tasks = options.tasks.split(",")
    if unknown := [task for task in options.tasks if task not in TASKS]:
        parser.error(f"unknown task {', '.join(unknown)}; choose from {', '.join(TASKS)}")
    if options.repeats is not None and options.repeats < 1:
        parser.error(f"--repeats is {options.repeats}, but at least one run is needed")
    if options.write_docs and not options.results and (options.quick or options.tasks != list(TASKS)):
        parser.error("--write-docs wants the real sizes and all tasks: leave out --quick and --tasks")
    return options


def run(task: str, sizes: Sizes) -> Result:
    """One task, with the load of others meanwhile; a note in place of rows when its data is missing."""
    with machine.OtherLoad() as load:
        try:
            result = TASKS[task](sizes)
        except DataMissingError as missing:
            return Result(task=task, title=task, unit="", rows=[], note=f"Left out: {missing}")
    return replace(result, other_load=f"Meanwhile {load.sentence()}.")


def measure(options: argparse.Namespace, sizes: Sizes) -> list[Result] | None:
    """Run the tasks; None where the machine is too busy for figures that are kept."""
    before = machine.look_around()
    print(f"Before the start {before.sentence()}.\n", flush=True)
    if options.write_docs and before.idle is False:
        print("The docs hold figures of an idle machine only: try again when it is.", file=sys.stderr)
        return None
    results = []
    for task in options.tasks:
        results.append(run(task, sizes))
        print(report.section(results[-1]), flush=True)
    return results


def main(argv: list[str] | None = None) -> int:
    """Run and report."""
    options = arguments(argv)
    sizes = Sizes.quick() if options.quick else Sizes()
    if options.repeats is not None:
        sizes = replace(sizes, repeats=options.repeats)
    results = report.put_together(options.results, list(TASKS)) if options.results else measure(options, sizes)
    if results is None:
        return 1

    print("\n".join(["## Targets", "", *report.targets(results), ""]), flush=True)
    facts = machine.description()
    introduction = report.INTRODUCTION.format(
        repeats=sizes.repeats,
        few=sizes.slope[0],
        many=sizes.slope[1],
        slow_few=sizes.slow_slope[0],
        slow_many=sizes.slow_slope[1],
    )
    if options.results and len(options.results) > 1:
        introduction += f"This page is put together from {len(options.results)} runs (`--results`).\n"
    page = report.markdown(results, facts, introduction)
    report.write(options.output / "results.json", report.as_json(results, facts))
    report.write(options.output / "results.md", page)
    if options.write_docs:
        report.write(DOCS, page)
        report.write(TARGETS, report.targets_page(results))
        picture.draw(results, PICTURE)
    print(f"Written to {options.output}/results.json and results.md" + (f" and {DOCS}" if options.write_docs else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
