"""Command line of the accuracy experiment."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.accuracy import __doc__ as about
from benchmarks.accuracy.competitors import MAKERS, Competitor, candidate, ours, peers, tuned_ours, tuned_peers
from benchmarks.accuracy.picture import draw_ranks
from benchmarks.accuracy.runner import Results, run_in_order
from benchmarks.accuracy.tables import MEASURES, gains, leads, mean_ranks, mean_ranks_by_turn, summary, table
from benchmarks.accuracy.tasks import GIVEN, MIXED, SEEDS, SUITES, WHOLE, Source, all_tasks, tuned_tasks

#: suite -> its results that the documents show; a run goes on with them as --results where libraries are the same
PUBLISHED = {"tuned": Path(__file__).parent / "published" / "tuned.jsonl"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.accuracy",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data-dir", help="folder of the data sets (default: RADBOOST_DATA)")
    parser.add_argument("--results", type=Path, default=Path("bench-output/accuracy.jsonl"), help="the kept results")
    parser.add_argument("--suite", choices=SUITES, default="two", help="which sets: see above (default: two)")
    parser.add_argument(
        "--budget", type=float, default=60.0, help="suite tuned: processor seconds of a fit (default: 60)"
    )
    parser.add_argument(
        "--defaults",
        type=Path,
        help="suite tuned: kept results of the suites two and many, to say what tuning is worth",
    )
    parser.add_argument("--datasets", help="a choice of the suite's sets, separated by commas (default: all)")
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        default=list(SEEDS),
        help="draws of the rows; suite tuned: folds or draws (default: 0 1 2)",
    )
    parser.add_argument("--mixed", action="store_true", help="suite softmax: draw new parts of the given sizes")
    parser.add_argument("--only", help="competitors to run and show, separated by commas (default: all)")
    parser.add_argument(
        "--candidate",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="one more DeepBoostClassifier (softmax: SoftmaxBoostClassifier) with these parameters (may be repeated); "
        '"of": "RGB", "DeepBoost" or "SoftmaxBoost" among them names another estimator',
    )
    parser.add_argument("--candidates", type=Path, help="the same from a file: one object {name: parameters}")
    parser.add_argument("--tag", default="", help="change it when the engine changed: old results then do not count")
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time, each with one thread (default: 2)")
    parser.add_argument(
        "--copies", action="store_true", help="print the share of copies among the rows of each set and fit nothing"
    )
    parser.add_argument("--show", action="store_true", help="print the table of what is there and fit nothing")
    parser.add_argument(
        "--published",
        action="store_true",
        help="suite tuned: the same of the results that come with the project, whatever libraries are installed",
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the mean ranks, too")
    return parser


def _competitors(arguments: argparse.Namespace) -> list[Competitor]:
    candidates: dict[str, dict[str, Any]] = {}
    if arguments.candidates:
        candidates |= json.loads(arguments.candidates.read_text())
    for text in arguments.candidate:
        name, _, parameters = text.partition("=")
        candidates[name] = json.loads(parameters)
    if unknown := {str(given["of"]) for given in candidates.values() if "of" in given} - set(MAKERS):
        sys.exit(f'unknown "of": {", ".join(sorted(unknown))}; known are {", ".join(MAKERS)}')
    if arguments.suite == "tuned":
        everyone = [*tuned_ours(arguments.budget, arguments.tag), *tuned_peers(arguments.budget)]
        return _wanted(everyone, arguments.only)
    usual = "SoftmaxBoost" if arguments.suite == "softmax" else "DeepBoost"
    everyone = [
        *ours(arguments.suite, arguments.tag),
        *(candidate(name, usual, given, arguments.tag) for name, given in candidates.items()),
        *peers(arguments.suite),
    ]
    return _wanted(everyone, arguments.only and ",".join([arguments.only, *candidates]))


def _wanted(everyone: list[Competitor], names: str | None) -> list[Competitor]:
    if names is None:
        return everyone
    wanted = names.split(",")
    if unknown := set(wanted) - {competitor.name for competitor in everyone}:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(c.name for c in everyone)}")
    return [competitor for competitor in everyone if competitor.name in wanted]


def main() -> None:
    """Run what is missing, then print the table."""
    arguments = _parser().parse_args()
    known = SUITES[arguments.suite]
    names = known if arguments.datasets is None else tuple(arguments.datasets.split(","))
    if unknown := set(names) - set(known):
        sys.exit(f"unknown data sets {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    if arguments.mixed and arguments.suite != "softmax":
        sys.exit("--mixed is for the sets with given parts, --suite softmax")
    if arguments.defaults is not None and (arguments.suite != "tuned" or not arguments.defaults.is_file()):
        sys.exit("--defaults is a file of kept results, for --suite tuned: run --suite two and --suite many first")
    if arguments.published and arguments.suite not in PUBLISHED:
        sys.exit(f"--published: results come with the project of --suite {', '.join(PUBLISHED)} alone")
    parts = {"softmax": MIXED if arguments.mixed else GIVEN, "large": WHOLE}.get(arguments.suite)
    tuned = arguments.suite == "tuned"
    tasks = tuned_tasks(names, arguments.seeds) if tuned else all_tasks(names, arguments.seeds, parts=parts)
    if arguments.copies:
        source = Source(arguments.data_dir)
        first = {task.dataset: task for task in reversed(tasks)}
        print("\n".join(f"{name}: {source.copies(first[name]):.3f}" for name in names))
        return
    kept = PUBLISHED[arguments.suite] if arguments.published else arguments.results
    competitors, results = _competitors(arguments), Results(kept, by_name=arguments.published)
    if not (arguments.show or arguments.published):
        source = Source(arguments.data_dir)
        # a tuned table takes hours: set by set, so that it can be read before it is complete
        parts_of_table = [tuned_tasks([n], [turn]) for turn in arguments.seeds for n in names] if tuned else [tasks]
        wanted = [(who, task) for part in parts_of_table for who in competitors for task in part]
        run_in_order(wanted, results, source, arguments.jobs, lambda text: print(text, file=sys.stderr))
    tables = [show(competitors, tasks, results) for show in (mean_ranks, leads, summary)]
    if tuned:
        turns = {turn: tuned_tasks(names, [turn]) for turn in arguments.seeds}
        tables.insert(2, mean_ranks_by_turn(competitors, turns, results))
    if arguments.defaults is not None:
        tables.append(gains(competitors, tasks, results, Results(arguments.defaults)))
    tables += [table(competitors, tasks, results, measure) for measure in MEASURES]
    print("\n\n".join(tables))
    if arguments.picture is not None:
        draw_ranks(competitors, tasks, results, arguments.picture)
        print(f"drawn: {arguments.picture}", file=sys.stderr)


if __name__ == "__main__":
    main()
