"""Command line of the accuracy benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy import __doc__ as about
from benchmarks.accuracy.competitors import MAKERS, Competitor, candidate, ours, peers, tuned
from benchmarks.accuracy.noise import draw_noise, errors_of, noise_table
from benchmarks.accuracy.ranks import draw_ranks
from benchmarks.accuracy.regression import regression_table
from benchmarks.accuracy.runner import Results, run
from benchmarks.accuracy.tables import MEASURES, by_set, leads, mean_ranks, summary
from benchmarks.accuracy.tasks import GIVEN, MIXED, SEEDS, SUITES, WHOLE, Source, Task, all_tasks, tuned_tasks
from benchmarks.competitors import takes_part

#: fits of the suite tuned that docs/tuning.md shows
PUBLISHED = Path(__file__).parent / "published" / "tuned.jsonl"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.accuracy", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", help="folder of the data sets (default: RADBOOST_DATA)")
    parser.add_argument("--results", type=Path, default=Path("bench-output/accuracy.jsonl"), help="the kept results")
    parser.add_argument("--suite", choices=(*SUITES, "regression"), default="two", help="see above (default: two)")
    parser.add_argument("--datasets", help="a choice of the suite's sets, separated by commas (default: all)")
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=list(SEEDS), help="draws of the rows; tuned: folds or draws"
    )
    parser.add_argument("--rates", type=float, nargs="+", help="test errors at these fractions of wrong labels")
    parser.add_argument("--mixed", action="store_true", help="suite softmax: draw new parts of the given sizes")
    parser.add_argument("--budget", type=float, default=60.0, help="suite tuned: processor seconds of a fit (60)")
    parser.add_argument("--only", help="competitors to run and show, separated by commas (default: all)")
    parser.add_argument(
        "--candidate",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help='another estimator with these parameters; "of" among them is one of: ' + ", ".join(MAKERS),
    )
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time, each with one thread (default: 2)")
    parser.add_argument("--copies", action="store_true", help="print the fraction of copies in each set, fit nothing")
    parser.add_argument("--show", action="store_true", help="fit nothing")
    parser.add_argument("--published", action="store_true", help="suite tuned: show the fits of docs/tuning.md")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the mean ranks, or the errors by rate")
    options = parser.parse_args(argv)
    known = SUITES.get(options.suite, ())
    options.names = known if options.datasets is None else tuple(options.datasets.split(","))
    if unknown := set(options.names) - set(known):
        parser.error(f"unknown data sets {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    if options.mixed and options.suite != "softmax":
        parser.error("--mixed is for the sets with given parts, --suite softmax")
    if options.published and options.suite != "tuned":
        parser.error("--published is for --suite tuned")
    return options


def competitors_of(options: argparse.Namespace) -> list[Competitor]:
    """List the competitors that are wanted and whose libraries are installed; the others get a line."""
    candidates = {}
    for text in options.candidate:
        name, _, parameters = text.partition("=")
        candidates[name] = json.loads(parameters)
    if unknown := {str(given["of"]) for given in candidates.values() if "of" in given} - set(MAKERS):
        sys.exit(f'unknown "of": {", ".join(sorted(unknown))}; known are {", ".join(MAKERS)}')
    usual = "SoftmaxBoost" if options.suite == "softmax" else "DeepBoost"
    others = [candidate(name, usual, given) for name, given in candidates.items()]
    everyone = [*ours(options.suite), *others, *peers(options.suite)]
    if options.suite == "tuned":
        everyone = tuned(options.budget)
    names = [one.name for one in everyone]
    wanted = {*options.only.split(","), *candidates} if options.only else set(names)
    if unknown := wanted - set(names):
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(names)}")
    everyone = [one for one in everyone if one.name in wanted]
    return [one for one in everyone if options.published or takes_part(one.name, one.library)]


def tasks_of(options: argparse.Namespace) -> list[Task]:
    """List the tasks in the order of their fits."""
    if options.suite == "tuned":  # takes hours: turn by turn and set by set, so that it can be read before it ends
        return [task for turn in options.seeds for name in options.names for task in tuned_tasks([name], [turn])]
    parts = {"softmax": MIXED if options.mixed else GIVEN, "large": WHOLE}.get(options.suite)
    noises = {} if options.rates is None else {"noises": options.rates}
    return all_tasks(options.names, options.seeds, parts=parts, **noises)


def tables(options: argparse.Namespace, competitors: list[Competitor], tasks: list[Task], results: Results) -> str:
    """Make the tables of a suite, and its picture where one is asked for."""
    if options.rates is not None:
        errors = errors_of(competitors, tasks, results, options.rates)
        if options.picture is not None:
            draw_noise(errors, options.rates, options.picture)
        return noise_table(errors, options.rates)
    if options.picture is not None:
        draw_ranks(competitors, tasks, results, options.picture)
    shown = [show(competitors, tasks, results) for show in (mean_ranks, leads, summary)]
    return "\n\n".join([*shown, *(by_set(competitors, tasks, results, measure) for measure in MEASURES)])


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing, then print the tables."""
    options = arguments(argv)
    if options.suite == "regression":
        print(regression_table(Path(options.data_dir or os.environ.get("RADBOOST_DATA", "."))))
        return
    if options.copies:
        source, first = Source(options.data_dir), {task.dataset: task for task in reversed(tasks_of(options))}
        print("\n".join(f"{name}: {source.copies(first[name]):.3f}" for name in options.names))
        return
    competitors, tasks = competitors_of(options), tasks_of(options)
    results = Results(PUBLISHED if options.published else options.results, by_name=options.published)
    if not (options.show or options.published):
        by_task = options.suite == "tuned"
        wanted = [(one, task) for task in tasks for one in competitors]
        wanted = wanted if by_task else [(one, task) for one in competitors for task in tasks]
        run(wanted, results, Source(options.data_dir), options.jobs, lambda text: print(text, file=sys.stderr))
    print(tables(options, competitors, tasks, results))


if __name__ == "__main__":
    main()
