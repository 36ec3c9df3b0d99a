"""Results of a task, and the file that keeps them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One competitor in one task."""

    competitor: str
    figure: float  # ratios are taken of it; NaN for none
    ours: bool = False
    error: float | None = None  # on rows that the fit has not seen
    trees: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Result:
    """Table of one task."""

    title: str
    unit: str
    rows: list[Row] = field(default_factory=list)
    note: str = ""
    other_load: str = ""  # of the machine meanwhile


def store(path: Path, results: Mapping[str, Result]) -> None:
    """Write results by task as JSON, NaN as null."""

    def without_nan(fields: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in fields}

    path.parent.mkdir(parents=True, exist_ok=True)
    tables = {task: asdict(result, dict_factory=without_nan) for task, result in results.items()}
    path.write_text(json.dumps(tables, indent=1))


def load(path: Path) -> dict[str, Result]:
    """Read results by task; a missing file has none."""
    tables = json.loads(path.read_text()) if path.exists() else {}
    return {task: Result(**fields | {"rows": [_row(row) for row in fields["rows"]]}) for task, fields in tables.items()}


def _row(fields: dict[str, Any]) -> Row:
    return Row(**fields | {"figure": math.nan if fields["figure"] is None else fields["figure"]})
