"""Cells of a table as text and as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from papers.protocol import RULES, Cell, paired_tests
from papers.spec import Table

_ROW = "{:<13}{:<16}{:>16}{:>17}  {:<6}{:>10}{:>10}{:>10}{:>10}{:>7}{:>7}{:>7}{:>7}"


def header(table: Table) -> str:
    """The two lines above the cells."""
    names = ("data set", "algorithm", "error (std)", "paper (std)", "within", *_others(table))
    line = _ROW.format(*names, "size", "paper", "trees", "paper")
    return f"{line}\n{'-' * len(line)}"


def legend(table: Table) -> str:
    """The lines below the cells."""
    size = {"n_splits": "splits", "n_nodes": "nodes"}[table.tree_size]
    kind = RULES[table.rule].reported.removesuffix("_error")
    return "\n".join(
        [
            f"error: mean {kind} error, {RULES[table.rule].about}",
            "within: the error is at most the paper's plus one of its standard deviations",
            *(f"{name}: {RULES[name].about}" for name in _others(table)),
            f"size, trees: mean size of a tree (in {size}), trees with a weight",
        ]
    )


def _others(table: Table) -> list[str]:
    return [name for name in RULES if name != table.rule]


def row(cell: Cell) -> str:
    """One line: ours beside the paper's."""
    paper = cell.paper
    return _ROW.format(
        cell.dataset,
        cell.algorithm,
        _error(cell.error, cell.std),
        "-" if paper is None else _error(paper.error, paper.std),
        {None: "-", True: "yes", False: "no"}[cell.within],
        *(f"{error:.4f}" for error in cell.others.values()),
        f"{cell.tree_size:.3g}" if cell.tree_size < 1000 else f"{cell.tree_size:.0f}",
        _number(None if paper is None else paper.tree_size, ".4g"),
        f"{cell.n_trees:.1f}",
        _number(None if paper is None else paper.n_trees, ".1f"),
    )


def tests(table: Table, cells: Sequence[Cell]) -> str:
    """The paired tests of the data sets that are complete, a line for each; empty where there are none."""
    found = paired_tests(table, cells)
    lines = []
    for name in dict.fromkeys(test.dataset for test in found):
        of_set = [test for test in found if test.dataset == name]
        against = ", ".join(f"{test.against} p = {test.p_value:.3f}" for test in of_set)
        lines.append(f"{name}: {of_set[0].algorithm} ahead of {against}")
    return "\n".join(["one-sided paired t-tests over the runs", *lines]) if lines else ""


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _error(mean: float, std: float) -> str:
    return f"{mean:.4f} ({std:.4f})"


def write_json(path: Path, settings: Mapping[str, Any], table: Table, cells: Sequence[Cell]) -> None:
    """Write everything, the chosen parameters of each run too; an older file is replaced in one move."""
    own = ("error", "std", "tree_size", "n_trees", "within")
    rows = [asdict(cell) | {key: getattr(cell, key) for key in own} for cell in cells]
    tests = [test._asdict() for test in paired_tests(table, cells)]
    write_document(path, {**settings, "cells": rows, "paired_tests": tests})


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write JSON in one move."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(document, file, indent=1)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:  # it names the temporary file, which the user knows nothing of
        raise OSError(error.errno, error.strerror, str(path)) from None
