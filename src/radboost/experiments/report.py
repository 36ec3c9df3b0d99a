"""Cells of a table as text and as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from radboost.experiments.protocol import Cell

_ROW = "{:<13}{:<12}{:>16}{:>17}  {:<6}{:>10}{:>11}{:>7}{:>7}{:>7}{:>7}"


def header() -> str:
    """The two lines above the cells."""
    names = ("data set", "algorithm", "error (std)", "paper (std)", "within", "together", "hindsight")
    line = _ROW.format(*names, "size", "paper", "trees", "paper")
    return f"{line}\n{'-' * len(line)}"


def legend() -> str:
    """The lines below the cells."""
    return (
        "within: the error is at most the paper's plus one of its standard deviations\n"
        "together: error with one configuration for all runs, the best by mean validation error\n"
        "hindsight: the same, but the best by test error; no result, but the most that the grid could give\n"
        "size, trees: mean size of a tree (Table 1 counts splits, Tables 2 and 3 nodes), trees with a weight"
    )


def row(cell: Cell) -> str:
    """One line: ours beside the paper's."""
    return _ROW.format(
        cell.dataset,
        cell.algorithm,
        _error(cell.error, cell.std),
        _error(cell.paper.error, cell.paper.std),
        "yes" if cell.within else "no",
        f"{cell.together:.4f}",
        f"{cell.hindsight:.4f}",
        f"{cell.tree_size:.3g}",
        f"{cell.paper.tree_size:.3g}",
        f"{cell.n_trees:.1f}",
        f"{cell.paper.n_trees:.1f}",
    )


def _error(mean: float, std: float) -> str:
    return f"{mean:.4f} ({std:.4f})"


def write_json(path: Path, settings: Mapping[str, Any], cells: Iterable[Cell]) -> None:
    """Write everything, the chosen parameters of each run too; an older file is replaced in one move."""
    own = ("error", "std", "tree_size", "n_trees", "within")
    document = {
        **settings,
        "cells": [asdict(cell) | {key: getattr(cell, key) for key in own} for cell in cells],
    }
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(document, file, indent=1)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
