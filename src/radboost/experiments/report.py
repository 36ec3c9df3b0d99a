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

_ROW = "{:<13}{:<13}{:>17}{:>11}{:>19}  {:<6}{:>7}{:>8}{:>8}{:>8}"


def header() -> str:
    """The two lines above the cells."""
    line = _ROW.format(
        "data set", "algorithm", "error (std)", "hindsight", "paper (std)", "within", "size", "paper", "trees", "paper"
    )
    return f"{line}\n{'-' * len(line)}"


def row(cell: Cell) -> str:
    """One line. `within`: our error is at most the paper's plus one of its deviations.

    `hindsight` is the best that any one configuration of the grid would have done, chosen by the test folds
    themselves: no result, but a sign of how much of a difference lies in the choice.
    """
    return _ROW.format(
        cell.dataset,
        cell.algorithm,
        _error(cell.error, cell.std),
        f"{cell.hindsight:.4f}",
        _error(cell.paper.error, cell.paper.std),
        "yes" if cell.within else "no",
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
