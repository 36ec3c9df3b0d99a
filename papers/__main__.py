"""Rerun a table of a paper: `python -m papers list`, `run NAME` or `datasets`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers import datasets
from radboost import __version__
from radboost.cli.files import check_output, cores


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 means done, 2 a mistake in the call or the data, 130 stopped by Ctrl-C."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except KeyboardInterrupt:
        print("papers: stopped", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"papers: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("papers", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_commands(commands)
    return parser


def _add_commands(commands: Any) -> None:
    commands.add_parser("list", help="names and titles of all tables").set_defaults(run=_list)
    reproduce = commands.add_parser("run", help="rerun a table, beside the paper's figures")
    reproduce.set_defaults(run=_reproduce)
    reproduce.add_argument(
        "table",
        help="a name from `python -m papers list`",
    )
    reproduce.add_argument("--quick", action="store_true", help="a coarse grid, fewer rounds, not all of the runs")
    reproduce.add_argument("--runs", type=int, metavar="N", help="so many of the runs (deep boosting only)")
    reproduce.add_argument("--datasets", metavar="A,B", help="only these data sets")
    reproduce.add_argument("--seed", type=int, default=0, help="of random folds, labels and problems (default: 0)")
    reproduce.add_argument("--jobs", type=int, default=cores(), help="fits at a time (default: all cores)")
    reproduce.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    reproduce.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="keep every fit in this file: a second run, or a table that shares fits, computes only what is new",
    )
    reproduce.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="also draw it (not tables of deep boosting; needs matplotlib)",
    )
    reproduce.add_argument(
        "--split-criterion",
        choices=("edge", "gini"),
        help="how trees choose a split (deep-boosting only): by the edge as in the paper (default), or by weighted "
        "impurity",
    )
    reproduce.add_argument(
        "--folds",
        choices=("shuffled", "contiguous", "one-fifth"),
        help="how rows are dealt (rgb-3.1 only): shuffled (default), in the order of the file, or shuffled with one "
        "fold to train and four to test",
    )
    _add_data_dir(reproduce)

    listing = commands.add_parser("datasets", help="list the data sets and where each would come from")
    listing.set_defaults(run=_datasets)
    listing.add_argument("--json", action="store_true", help="write the list as one JSON object to standard output")
    _add_data_dir(listing)


def _add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", metavar="DIR", help="folder with data sets (default: RADBOOST_DATA)")


def _list(_: argparse.Namespace) -> int:
    import papers as experiments

    for tables in (experiments.TABLES, experiments.STUDIES, experiments.COMPARISONS):
        for name, table in tables.items():
            print(f"{name:<36} {table.title}")
    return 0


def _reproduce(given: argparse.Namespace) -> int:
    # scikit-learn takes a second to import, and the other commands do without
    import papers as experiments

    if given.jobs < 1:
        raise ValueError(f"--jobs is {given.jobs}; give how many fits may run at a time, 1 or more")
    if given.seed < 0:
        raise ValueError(f"--seed is {given.seed}; give a number that is not negative")
    for option, path in (("--json", given.json), ("--keep", given.keep), ("--plot", given.plot)):
        if path is not None:
            check_output(option, path)
    names = None if given.datasets is None else [name.strip() for name in given.datasets.split(",")]
    if given.folds is not None and given.table not in experiments.COMPARISONS:
        raise ValueError(f"{given.table} has its paper's folds; leave out --folds")
    if given.runs is not None and given.table in {**experiments.STUDIES, **experiments.COMPARISONS}:
        raise ValueError(f"{given.table} has no runs to choose; leave out --runs")
    if given.table in experiments.STUDIES:
        return _reproduce_study(given, names)
    if given.table in experiments.COMPARISONS:
        return _reproduce_comparison(given, names)
    return _reproduce_table(given, names)


def _check_picture(path: Path) -> None:
    from radboost.plot._style import pyplot

    pyplot()  # a missing matplotlib shows before hours of fits
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in endings:
        raise ValueError(
            f"--plot {path}: the end of the name says what kind of picture is wanted, and {path.suffix!r} is none of "
            f"{', '.join(f'.{ending}' for ending in endings)}"
        )


def _reproduce_table(given: argparse.Namespace, names: list[str] | None) -> int:
    import papers as experiments
    from papers import protocol, report
    from papers.progress import progress

    table = experiments.table(given.table)
    if given.plot is not None:
        raise ValueError(f"{table.name} has no picture; leave out --plot")
    criterion = given.split_criterion or "edge"
    settings = {
        "table": table.name,
        "radboost": __version__,
        "quick": given.quick,
        "seed": given.seed,
        "split_criterion": criterion,
        "rounds": protocol.ROUNDS,
        "rule": table.rule,
    }
    runs = settings["runs"] = table.runs(quick=given.quick, wanted=given.runs)
    cells = []
    kept = experiments.KeptResults(given.keep)
    with progress(protocol.count_fits(table, names, quick=given.quick, runs=given.runs)) as display:
        display.say(f"{table.name}: {table.title}; means over {runs} runs, seed {given.seed}\n\n{report.header(table)}")
        for cell in protocol.reproduce(
            table,
            names,
            quick=given.quick,
            runs=given.runs,
            seed=given.seed,
            jobs=given.jobs,
            data_dir=given.data_dir,
            split_criterion=criterion,
            kept=kept,
            advance=display.advance,
            expect=display.expect,
        ):
            display.say(report.row(cell))
            cells.append(cell)
            if given.json is not None:
                report.write_json(given.json, settings, table, cells)
        display.say("\n".join(["", report.legend(table), report.tests(table, cells)]).rstrip())
    return 0


def _reproduce_study(given: argparse.Namespace, names: list[str] | None) -> int:
    import papers as experiments
    from papers import report, studies, studies_report
    from papers.progress import progress

    study = experiments.STUDIES[given.table]
    if given.split_criterion is not None:
        raise ValueError(
            f"{study.name} has no choice of how trees are split, as in its paper; leave out --split-criterion"
        )
    draw = None
    if given.plot is not None:
        _check_picture(given.plot)
        from papers.plots import draw_study

        draw = draw_study
    wanted = studies.units(study, names, quick=given.quick, seed=given.seed)
    kept = experiments.KeptResults(given.keep)
    settings = {"table": study.name, "radboost": __version__, "quick": given.quick, "seed": given.seed}
    outcomes = []
    with progress(len(wanted)) as display:
        display.say(f"{study.name}: {study.title}; seed {given.seed}\n\n{studies_report.header(study)}")
        for outcome in studies.run(
            study, wanted, jobs=given.jobs, data_dir=given.data_dir, kept=kept, advance=display.advance
        ):
            outcomes.append(outcome)
            if study.line_by_line:
                display.say("\n".join(study.rows([outcome])))
        if not study.line_by_line:
            display.say("\n".join(study.rows(outcomes)))
        display.say(f"\n{study.legend}")
    if given.json is not None:
        report.write_document(given.json, studies_report.as_document(settings, outcomes))
    if draw is not None:
        draw(study, outcomes).savefig(given.plot, dpi=100)
    return 0


def _reproduce_comparison(given: argparse.Namespace, names: list[str] | None) -> int:
    import papers as experiments
    from papers import comparison, report
    from papers.progress import progress

    table = experiments.COMPARISONS[given.table]
    if given.plot is not None:
        raise ValueError(f"{table.name} has no picture; leave out --plot")
    if given.split_criterion is not None:
        raise ValueError(f"{table.name} grows regression trees; leave out --split-criterion")
    folds = given.folds or "shuffled"
    settings = {
        "table": table.name,
        "radboost": __version__,
        "quick": given.quick,
        "folds": folds,
        "seed": given.seed,
    }
    contests = []
    with progress(comparison.count_fits(table, names, quick=given.quick)) as display:
        display.say(f"{table.name}: {table.title}; seed {given.seed}\n\n{comparison.header(table)}")
        for contest in comparison.compare(
            table,
            names,
            quick=given.quick,
            folds=folds,
            seed=given.seed,
            jobs=given.jobs,
            data_dir=given.data_dir,
            kept=experiments.KeptResults(given.keep),
            advance=display.advance,
        ):
            display.say(comparison.row(contest))
            contests.append(contest)
            if given.json is not None:
                report.write_document(given.json, comparison.as_document(settings, contests))
        display.say(f"\n{comparison.legend(table, quick=given.quick, folds=folds)}")
    return 0


NOT_AVAILABLE = "not available"


def _datasets(given: argparse.Namespace) -> int:
    line, missing = "{:<14}{:>7}{:>9}{:>8}  {:<13} {}", False
    titles = ("name", "rows", "features", "classes", "found", "about")
    rows: list[tuple[str | int, ...]] = []
    for name in datasets.available():
        entry = datasets.entry(name)
        if datasets.locate(name, given.data_dir) is not None:
            found = "here"
        else:
            found = NOT_AVAILABLE if entry.openml is None else f"OpenML {entry.openml}"
            missing |= entry.openml is None
        rows.append((name, entry.rows, entry.features, entry.classes, found, entry.about))
    if given.json:
        print(json.dumps({"datasets": [dict(zip(titles, row, strict=True)) for row in rows]}))
        return 0
    for row in (titles, *rows):
        print(line.format(*row))
    if missing:
        print(f"{NOT_AVAILABLE}: put <name>.csv.gz (images, texts: .npz) into the folder --data-dir or RADBOOST_DATA")
    return 0


if __name__ == "__main__":
    sys.exit(main())
