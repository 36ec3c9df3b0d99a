"""Cells of a table as text and as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from radboost.experiments.protocol import RULES, Cell
from radboost.experiments.spec import Table

_ROW = "{:<13}{:<16}{:>16}{:>17}  {:<6}{:>10}{:>10}{:>10}{:>7}{:>7}{:>7}{:>7}"


def header(table: Table) -> str:
    """The two lines above the cells."""
    names = ("data set", "algorithm", "error (std)", "paper (std)", "within", *_others(table))
    line = _ROW.format(*names, "size", "paper", "trees", "paper")
    return f"{line}\n{'-' * len(line)}"


def legend(table: Table) -> str:
    """The lines below the cells."""
    size = {"n_splits": "splits", "n_nodes": "nodes"}[table.tree_size]
    return "\n".join(
        [
            f"error: mean test error, {RULES[table.rule].about}",
            "within: the error is at most the paper's plus one of its standard deviations",
            *(f"{name}: {RULES[name].about}" for name in _others(table)),
            f"size, trees: mean size of a tree (in {size}), trees with a weight",
        ]
    )


def _others(table: Table) -> list[str]:
    return [name for name in RULES if name != table.rule]


def row(cell: Cell) -> str:
    """One line: ours beside the paper's."""
    return _ROW.format(
        cell.dataset,
        cell.algorithm,
        _error(cell.error, cell.std),
        _error(cell.paper.error, cell.paper.std),
        "yes" if cell.within else "no",
        *(f"{error:.4f}" for error in cell.others.values()),
        f"{cell.tree_size:.3g}" if cell.tree_size < 1000 else f"{cell.tree_size:.0f}",
        _number(cell.paper.tree_size, ".4g"),
        f"{cell.n_trees:.1f}",
        _number(cell.paper.n_trees, ".1f"),
    )


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _error(mean: float, std: float) -> str:
    return f"{mean:.4f} ({std:.4f})"


def write_json(path: Path, settings: Mapping[str, Any], cells: Iterable[Cell]) -> None:
    """Write everything, the chosen parameters of each run too; an older file is replaced in one move."""
    own = ("error", "std", "tree_size", "n_trees", "within")
    write_document(
        path, {**settings, "cells": [asdict(cell) | {key: getattr(cell, key) for key in own} for cell in cells]}
    )


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
