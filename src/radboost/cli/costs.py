"""Cost matrices from the command line."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.cli.cells import is_number


def read_costs(given: str, classes: npt.NDArray[Any], task: str) -> FloatArray:
    """Cost matrix of --cost; shape (n_classes, n_classes), entry (true class, predicted class), classes sorted.

    `given` is the matrix written out, rows divided by ";" ("0,1;5,0"). Or it names a CSV file whose first row and first
    column have the names of the classes.
    """
    if task != "classes":
        raise ValueError("--cost is for classes, and the target holds numbers; leave it out, or use --task classes")
    names = [str(label) for label in classes.tolist()]
    if _is_file(given):
        return _from_file(Path(given), names)
    rows = [row.split(",") for row in given.split(";")]
    if len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        raise ValueError(
            f"--cost {given!r} is no file, and no matrix of {len(names)} lines with {len(names)} numbers each, divided "
            f"by ';' and ',', for the classes {', '.join(names)}"
        )
    by_name = {true: dict(zip(names, row, strict=True)) for true, row in zip(names, rows, strict=True)}
    return _matrix(by_name, names, given)


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except OSError:  # a matrix that is longer than the name of a file may be
        return False


def _from_file(path: Path, names: list[str]) -> FloatArray:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line]
        except csv.Error as error:
            raise ValueError(f"--cost {path} cannot be read as CSV: {error}") from error
    columns = lines[0][1:] if lines else []
    rows = [line[0] for line in lines[1:]]
    if sorted(columns) != sorted(names) or sorted(rows) != sorted(names):
        raise ValueError(
            f"--cost {path}: its first line names the answers {', '.join(columns)}, its first column the true classes "
            f"{', '.join(rows)}; both must be {', '.join(names)}, each once"
        )
    if any(len(line) != len(names) + 1 for line in lines):
        raise ValueError(f"--cost {path}: every line must have a name and {len(names)} numbers")
    by_name = {line[0]: dict(zip(columns, line[1:], strict=True)) for line in lines[1:]}
    return _matrix(by_name, names, str(path))


def _matrix(cells: Mapping[str, Mapping[str, str]], names: Sequence[str], where: str) -> FloatArray:
    """Costs by true and predicted class, as numbers."""

    def number(true: str, predicted: str) -> float:
        text = cells[true][predicted].strip()
        if not is_number(text) or not 0.0 <= float(text) < float("inf"):
            raise ValueError(
                f"--cost {where}: predicting {predicted!r} for {true!r} costs {text!r}; costs are finite numbers, 0 or "
                "more, of which only the differences within a row matter"
            )
        return float(text)

    return np.array([[number(true, predicted) for predicted in names] for true in names])
