"""Reports on models, from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radboost.cli.files import check_new
from radboost.model_file import Schema

if TYPE_CHECKING:
    from radboost.report.subject import Subject


def check_report(path: Path, *, force: bool, inputs: Sequence[str | None], option: str = "--report") -> None:
    """Refuse a file that cannot be written, before the work begins."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} {path}: a report is a page; give a name that ends with .html")
    check_new(option, path, force=force, inputs=inputs)


def write_report(subject: Subject, path: Path, title: str) -> None:
    """Write the page over any earlier one; `check_report` has refused where that is not allowed."""
    from radboost.report.build import assemble, put

    put(assemble(subject, title), path, overwrite=True)


def title_of(model: Any, schema: Schema) -> str:
    """Title of the page."""
    return f"{schema.target} by {type(getattr(model, 'best_estimator_', model)).__name__}"
