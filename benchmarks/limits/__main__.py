"""`python -m benchmarks.limits`: a table of what is possible and what the kernels do, for one core."""

import argparse
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine, report
from benchmarks.limits.build import build
from benchmarks.settings import PERFORMANCE, ROOT

LIMITS = {
    "read memory": "",
    "write memory": "",
    "bin a value": "4 bytes read from and 2 written to memory",
    "histogram, all rows": "additions to known places in the first-level cache",
    "histogram, half": "the same, or reading the rows without adding, whichever takes longer",
    "partition": "a code and an index read, an index written",
    "predict": "three bytes read and one written in the first-level cache for each node",
    "exponential": "20 multiplications and additions, or reading and writing memory, whichever takes longer",
}


@dataclass(frozen=True)
class Loop:
    """One inner loop: how often a second it could go round, and how often ours does (NaN: there is none)."""

    name: str
    unit: str
    possible: float
    ours: float


def measure(program: Path, rows: int) -> list[Loop]:
    """Run the program and read what it prints."""
    printed = subprocess.run([str(program), str(rows)], check=True, capture_output=True, text=True).stdout
    lines = [line.split("\t") for line in printed.splitlines()]
    return [Loop(name, unit, float(possible), float(ours)) for name, unit, possible, ours in lines]


def table(loops: list[Loop]) -> list[str]:
    """Markdown."""
    lines = [
        "| loop, one core | unit | possible | ours | share | the limit is |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for loop in loops:
        reason = next(text for start, text in LIMITS.items() if loop.name.startswith(start))
        known = not math.isnan(loop.ours)
        ours, share = (f"{loop.ours:.3g}", f"{loop.ours / loop.possible:.0%}") if known else ("", "")
        lines.append(f"| {loop.name} | {loop.unit} | {loop.possible:.3g} | {ours} | {share} | {reason} |")
    return lines


def main(argv: list[str] | None = None) -> int:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the data (default %(default)s)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "limits", help="folder for the program")
    parser.add_argument("--write-docs", action="store_true", help=f"put it into {PERFORMANCE.relative_to(ROOT)}")
    options = parser.parse_args(argv)
    if options.rows < 1000:
        parser.error(f"--rows is {options.rows}; below 1000 there is nothing to measure")
    program = build(options.build)
    with machine.OtherLoad() as load:
        loops = measure(program, options.rows)
    lines = table(loops)
    print("\n".join(lines), f"\nMeanwhile {load.sentence()}.", sep="\n")
    if options.write_docs:
        if load.idle is False:
            print("The docs hold figures of an idle machine only: try again when it is.", file=sys.stderr)
            return 1
        report.replace_part(PERFORMANCE, "limits", "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
