"""Every table and figure of the papers: its claim, our verdict, and the command that leads to it.

`claims.csv` is the one source of `python -m papers list` and of the tables in `docs/paper-tables.md`. An item is tables
or figures ("Figures 1 to 3"), or a part of one after a comma. The command follows `python -m`, and is empty where
nothing can be run. `stored` names the file of our result in `results/`, `more` a place in `docs/`; both may be empty.
"""

from __future__ import annotations

from itertools import groupby

from papers.harness import FOLDER, as_dictionaries

VERDICTS = ("reproduced", "in part", "contradicted", "not run")


def claims() -> list[dict[str, str]]:
    """Rows of `claims.csv`, by the names of its columns."""
    return as_dictionaries(FOLDER / "claims.csv")


def as_markdown() -> str:
    """Tables of all papers; a command of `python -m papers run` is shown by what follows."""
    lines = []
    for paper, rows in groupby(claims(), lambda one: one["paper"]):
        lines += [f"## {paper}", "", "| the paper | here |", "|---|---|"]
        for one in rows:
            more = f" ([more]({one['more']}))" if one["more"] else ""
            command = f"`{one['command'].removeprefix('papers run ')}`" if one["command"] else ""
            linked = f"[{command}](../papers/results/{one['stored']}.csv)" if one["stored"] else command
            here = f"**{one['verdict']}**: {one['result']}{more}" + (f": {linked}" if linked else "")
            lines.append(f"| {one['item']}: {one['claim']} | {here} |")
        lines.append("")
    return "\n".join(lines)
