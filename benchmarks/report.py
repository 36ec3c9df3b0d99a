"""Results as a table for the terminal and the docs, and as JSON."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.results import Result, Row, Target

INTRODUCTION = """\
# Benchmarks

Made by `make bench BENCH_ARGS=--write-docs` on an otherwise idle machine. Every competitor gets the same
threads (two), depth, bins (255) and rounds; the time is the best of {repeats}, and competitors take turns.
The gradient boosting libraries use `learning_rate=0.1`. *RadBoost edge* and *RadBoost gini* are the paper's full
search (`DeepBoostClassifier.paper`) with either split criterion, *RadBoost default* is the estimator at its
defaults for votes (`TreeOptions(leaves="votes")`). The last columns of each table hold the figure of RadBoost divided
by that of the row: below 1, RadBoost
needs less. The first tables compare fits at equal error, the later ones at equal rounds.
"s per tree" is the slope between {few} and {many} rounds, so binning and other one-time work cancels out.
With more than two classes RadBoost grows one tree per round, the others one per class and round.
AdaBoost from scikit-learn has neither bins nor threads and is measured once, on the large sets between
{slow_few} and {slow_many} rounds.
"""

TARGETS_INTRODUCTION = """\
# Targets of the benchmarks

The figure of RadBoost divided by that of a peer, from the runs of [the benchmarks](../benchmarks.md), beside the
target. [Where it falls short, and why](../performance.md#where-it-falls-short-of-its-targets-and-why).
"""


def table(result: Result) -> list[str]:
    """A Markdown table: the figure, the error beside it, and what each RadBoost takes relative to the row."""
    ours = [row for row in result.rows if row.ours]
    notes = any(row.note for row in result.rows)
    head = ["", result.unit, "error", "trees", *(f"{row.competitor} / this" for row in ours)]
    lines = [head + ["notes"] * notes, ["---"] + ["---:"] * (len(head) - 1) + ["---"] * notes]
    for row in result.rows:
        cells = [
            row.competitor,
            _number(row.figure, ".4g"),
            _number(row.error, ".4f"),
            _number(row.trees, "d"),
        ]
        cells += ["" if row is our else _number(our.figure / row.figure, ".2f") for our in ours]
        lines.append(cells + [row.note] * notes)
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _number(value: float | None, form: str) -> str:
    """A cell; empty where there is nothing to tell."""
    return "" if value is None or math.isnan(value) else format(value, form)


def targets(results: list[Result]) -> list[str]:
    """The promises of all tasks, met or missed, as one Markdown table."""
    lines = [["task", "ours", "peer", "ratio", "target", ""], ["---", "---", "---", "---:", "---:", "---"]]
    for result in results:
        for target in result.targets:
            ratio = result.ratio(target)
            if not math.isnan(ratio):
                verdict = "met" if ratio <= target.ratio else "MISSED"
                names = [result.task, target.ours, result.peer(target)]
                lines.append([*names, f"{ratio:.2f}", f"{target.ratio:g}", verdict])
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def section(result: Result) -> str:
    """Title, table, notes."""
    parts = [f"## {result.title}"]
    if result.rows:
        parts.append("\n".join(table(result)))
    parts += [text for text in (result.note, result.other_load) if text]
    return "\n\n".join(parts) + "\n"


def markdown(results: list[Result], machine: dict[str, str], introduction: str) -> str:
    """The whole page."""
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    return "\n".join([introduction, facts, "", *(section(result) for result in results)])


def targets_page(results: list[Result]) -> str:
    """What developers have promised themselves, apart from what users read."""
    return "\n".join([TARGETS_INTRODUCTION, *targets(results), ""])


def as_json(results: list[Result], machine: dict[str, str]) -> str:
    """Everything, single runs included."""

    def without_nan(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in fields}

    tables = [asdict(result, dict_factory=without_nan) for result in results]
    return json.dumps({"machine": machine, "results": tables}, indent=1)


def from_json(text: str) -> list[Result]:
    """What `as_json` wrote."""

    def row(fields: dict[str, Any]) -> Row:
        return Row(**{**fields, "figure": math.nan if fields["figure"] is None else fields["figure"]})

    return [
        Result(
            **{
                **fields,
                "rows": [row(entry) for entry in fields["rows"]],
                "targets": [Target(**entry) for entry in fields["targets"]],
            }
        )
        for fields in json.loads(text)["results"]
    ]


def put_together(files: list[Path], order: list[str]) -> list[Result]:
    """The tasks of several runs in that order; where two have the same task, the later file counts."""
    found = {result.task: result for file in files for result in from_json(file.read_text())}
    return [found[task] for task in order if task in found]


def write(path: Path, text: str) -> None:
    """Write a file, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def replace_part(path: Path, name: str, text: str) -> None:
    """Put text between the marks of a part of a page, and leave the rest alone."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    page = path.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise ValueError(f"{path} has no part named {name!r}: it needs the lines {begin.strip()} and {end}")
    head, rest = page.split(begin, 1)
    path.write_text(head + begin + text + end + rest.split(end, 1)[1], encoding="utf-8")
