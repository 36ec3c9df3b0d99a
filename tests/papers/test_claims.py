"""The table of all tables and figures: complete, on the page of conclusions, and with commands that exist."""

from __future__ import annotations

import re

import pytest

from benchmarks.examples import EXAMPLES
from papers.__main__ import _parser, studies
from papers.claims import VERDICTS, as_markdown, claims
from papers.harness import FOLDER

ROOT = FOLDER.parent
# Numbers of the tables and figures of each paper, by the beginning of its name.
NUMBERS = {
    "Deep Boosting": {"Table": ["1", "2", "3", "4"], "Figure": ["1", "2", "3", "4"]},
    "Multi-Class": {"Table": ["1", "2", "3", "4"], "Figure": ["1", "2", "3"]},
    "Soft-max": {"Table": ["1", "2", "3"], "Figure": list("1234567")},
    "Boosting with": {"Table": [], "Figure": [str(i) for i in range(1, 15)]},
    "Storcheus": {
        "Table": ["3.1", "4.1", "5.1", "5.2", "A.1", "B.1", "B.2", *(f"C.{i}" for i in range(1, 8))],
        "Figure": [
            *("1.1", "2.1", "2.2", "2.3", "3.1", "4.1", "4.2", "4.3", "5.1", "5.2", "5.3"),
            *("6.1", "6.2", "6.3", "6.4", "6.5", "7.1", "7.2", "B.1", "B.2", "B.3", "B.4", "D.1"),
        ],
    },
}


def numbers(item: str) -> set[str]:
    """Numbers that `Figures 1 to 3 and D.1, left` names."""
    found = set()
    for first, _, last in re.findall(r"\b((?:[A-D]\.|\d\.)?\d+)( to ((?:[A-D]\.|\d\.)?\d+))?", item):
        chapter, _, start = first.rpartition(".")
        end = (last or first).rpartition(".")[2]
        found |= {f"{chapter}.{i}".removeprefix(".") for i in range(int(start), int(end) + 1)}
    return found


def test_every_table_and_figure_is_there() -> None:
    papers = list(dict.fromkeys(one["paper"] for one in claims()))
    assert len(papers) == len(NUMBERS)
    for paper, (beginning, expected) in zip(papers, NUMBERS.items(), strict=True):
        assert paper.startswith(beginning)
        for kind, wanted in expected.items():
            items = [one["item"] for one in claims() if one["paper"] == paper and one["item"].startswith(kind)]
            assert set().union(*map(numbers, items)) == set(wanted), (paper, kind)


def test_verdicts_have_a_result() -> None:
    for one in claims():
        assert one["verdict"] in VERDICTS, one["item"]
        assert one["result"], one["item"]
        assert one["command"] or one["verdict"] == "not run", one["item"]
        assert not one["stored"] or (FOLDER / "results" / f"{one['stored']}.csv").is_file(), one["stored"]


@pytest.mark.parametrize("command", sorted({one["command"] for one in claims()} - {""}))
def test_commands_exist(command: str) -> None:
    program, *arguments = command.split()
    if program == "pytest":
        assert [(ROOT / path).is_file() for path in arguments] == [True]
    elif program == "benchmarks.examples":
        assert arguments[0] in EXAMPLES
    else:
        assert program == "papers"
        given = _parser().parse_args(arguments)
        names = given.datasets.split(",") if given.datasets else None
        assert studies()[given.name].wanted(names, quick=given.quick, runs=given.runs)


def test_every_study_is_named() -> None:
    assert {one["command"].split()[2] for one in claims() if one["command"].startswith("papers run ")} == set(studies())


def test_the_page_has_the_table() -> None:
    """`python -m papers list` prints what the page of conclusions has to hold."""
    page = (ROOT / "docs/paper-tables.md").read_text(encoding="utf-8")
    for part in as_markdown().split("\n\n"):
        assert part.strip() in page, "paste the output of `python -m papers list` into the page"
    assert sum(line.startswith(("| Table", "| Figure")) for line in page.splitlines()) == sum(
        one["item"].startswith(("Table", "Figure")) for one in claims()
    )
