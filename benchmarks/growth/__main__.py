"""`python -m benchmarks.growth`: measure how a fit grows, write data, plots and exponents."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import machine, report
from benchmarks.growth import page, sweeps
from benchmarks.settings import PERFORMANCE, ROOT

PICTURE = ROOT / "docs" / "images" / "growth.svg"


def load(path: Path) -> dict[str, Any]:
    """What earlier runs found."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main(argv: list[str] | None = None) -> int:
    """Each sweep is kept when it is done, so that they can be run one at a time on a machine that is seldom idle."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--sweeps", default=",".join(sweeps.SWEEPS), help="comma-separated choice of: %(default)s")
    parser.add_argument("--most", type=int, help="leave out larger values, to try the code")
    parser.add_argument(
        "--output", type=Path, default=Path("bench-output") / "growth.json", help="file for the figures"
    )
    parser.add_argument("--write-docs", action="store_true", help=f"put them into {PERFORMANCE.relative_to(ROOT)}")
    options = parser.parse_args(argv)
    chosen = [name for name in options.sweeps.split(",") if name]
    if unknown := [name for name in chosen if name not in sweeps.SWEEPS]:
        parser.error(f"unknown sweep {', '.join(unknown)}; choose from {', '.join(sweeps.SWEEPS)}")
    kept = load(options.output)
    for name in chosen:
        with machine.OtherLoad() as load_meanwhile:
            points = sweeps.run(sweeps.SWEEPS[name], options.most)
        kept[name] = {"points": points, "load": load_meanwhile.sentence()}
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        print(f"{name}: {load_meanwhile.sentence()}", flush=True)
    results = {name: kept[name]["points"] for name in sweeps.SWEEPS if name in kept}
    lines = page.table(results)
    print("\n".join(lines))
    page.draw(results, PICTURE if options.write_docs else options.output.with_suffix(".svg"))
    if options.write_docs:
        report.replace_part(PERFORMANCE, "growth", "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
