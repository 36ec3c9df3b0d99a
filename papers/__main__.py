"""Rerun a table or figure of a paper: `python -m papers list`, `run NAME` or `show NAME`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from joblib import cpu_count

from papers.claims import as_markdown
from papers.harness import KeptResults, Study, as_text, read_csv, run, stored, write_csv
from radboost.cli.files import check_output

SCRIPTS = (
    "deep_boosting",
    "multi_class_deep_boosting",
    "soft_max_boosting",
    "rgb",
    "sparsity_texts",
    "sparsity_regression",
    "sparsity_paths",
    "sparsity_kernels",
    "multi_boost",
    "fed_multi_boost",
    "almo",
    "structured",
    "structured_alignment",
    "kernel_projection",
)


def studies() -> dict[str, Study]:
    """Import all scripts; their studies by name."""
    scripts = (importlib.import_module(f"papers.{script}") for script in SCRIPTS)
    return {study.name: study for script in scripts for study in script.STUDIES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 means done, 2 a mistake in the call or the data, 130 stopped by Ctrl-C."""
    given = _parser().parse_args(arguments)
    try:
        given.command(given)
    except KeyboardInterrupt:
        print("papers: stopped", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"papers: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("papers", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listed = commands.add_parser("list", help="every table and figure of the papers: claim, result, verdict, command")
    listed.set_defaults(command=lambda _: print(as_markdown()))
    show = commands.add_parser("show", help="print the stored results of a study")
    show.set_defaults(command=_show)
    again = commands.add_parser("run", help="rerun a study, beside the paper's figures")
    again.set_defaults(command=_run)
    for one in (show, again):
        one.add_argument("name", help="a name from `python -m papers list`")
    again.add_argument("--quick", action="store_true", help="coarse grids, fewer rounds, not all of the runs")
    again.add_argument("--runs", type=int, metavar="N", help="number of folds or draws")
    again.add_argument("--datasets", metavar="A,B", help="only these data sets")
    again.add_argument("--seed", type=int, default=0, help="of random folds, labels and problems (default: 0)")
    again.add_argument("--jobs", type=int, default=cpu_count(), help="fits at a time (default: all cores)")
    again.add_argument("--keep", type=Path, metavar="FILE", help="keep every fit; what is there is not fitted again")
    again.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file")
    again.add_argument("--plot", type=Path, metavar="FILE", help="also draw it (some studies; needs matplotlib)")
    again.add_argument("--data-dir", metavar="DIR", help="folder with data sets (default: RADBOOST_DATA)")
    return parser


def _study(name: str) -> Study:
    known = studies()
    if name not in known:
        raise ValueError(f"unknown study {name!r}; known are {', '.join(known)}")
    return known[name]


def _show(given: argparse.Namespace) -> None:
    study = _study(given.name)
    files = stored(study.name)
    if not files:
        raise ValueError(f"{study.name} has no stored results; `python -m papers run {study.name}` makes them")
    for path in files:
        columns, *rows = read_csv(path)
        print(f"{path.name}: {study.title}\n\n{as_text(columns, rows)}\n")


def _run(given: argparse.Namespace) -> None:
    study = _study(given.name)
    if given.jobs < 1:
        raise ValueError(f"--jobs is {given.jobs}; give how many fits may run at a time, 1 or more")
    if given.seed < 0:
        raise ValueError(f"--seed is {given.seed}; give a number that is not negative")
    for option, path in (("--csv", given.csv), ("--keep", given.keep), ("--plot", given.plot)):
        if path is not None:
            check_output(option, path)
    if given.plot is not None:
        _check_picture(study, given.plot)
    names = None if given.datasets is None else [name.strip() for name in given.datasets.split(",")]
    wanted = study.wanted(names, quick=given.quick, runs=given.runs, seed=given.seed)
    print(f"{study.name}: {study.title}; {len(wanted)} fits, seed {given.seed}\n", flush=True)
    outcomes = run(study, wanted, jobs=given.jobs, data_dir=given.data_dir, kept=KeptResults(given.keep))
    rows = study.rows(outcomes)
    print(f"{as_text(study.columns, rows)}\n\n{study.legend}")
    if given.csv is not None:
        write_csv(given.csv, study.columns, rows)
    if given.plot is not None:
        study.draw(outcomes).savefig(given.plot, dpi=100)


def _check_picture(study: Study, path: Path) -> None:
    """Raise before hours of fits what would otherwise be raised after them."""
    if type(study).draw is Study.draw:
        raise ValueError(f"{study.name} has no picture; leave out --plot")
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in endings:
        kinds = ", ".join(f".{ending}" for ending in endings)
        raise ValueError(f"--plot {path}: the ending {path.suffix!r} names no kind of picture; take one of {kinds}")


if __name__ == "__main__":
    sys.exit(main())
