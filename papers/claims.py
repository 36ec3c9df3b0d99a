"""Every table and figure of the papers: its claim, our verdict, and the command that leads to it.

`claims.csv` is the one source of `python -m papers list` and of the tables in `docs/paper-tables.md`. Its columns:

- paper; item: its tables or figures ("Figures 1 to 3"), or a part of one after a comma
- claim; verdict: one of `VERDICTS`; result: ours, what contradicts the claim, or why nothing was run
- command: follows `python -m`; empty where there is nothing to run
- stored: the file of the result in `results/`; more: a place in `docs/` that says more; either may be empty
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
        lines += [f"## {paper}", "", "| the paper | here | command |", "|---|---|---|"]
        for one in rows:
            command = f"`{one['command'].removeprefix('papers run ')}`" if one["command"] else ""
            linked = f"[{command}](../papers/results/{one['stored']}.csv)" if one["stored"] else command
            result = f"**{one['verdict']}**: {one['result']}" + (f" ([more]({one['more']}))" if one["more"] else "")
            lines.append(f"| {one['item']}: {one['claim']} | {result} | {linked} |")
        lines.append("")
    return "\n".join(lines)
