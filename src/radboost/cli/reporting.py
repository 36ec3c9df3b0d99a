"""Reports on models, from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from radboost.cli.console import Console
from radboost.cli.files import check_new
from radboost.report.build import assemble, put
from radboost.report.subject import Subject


def check_report(path: Path, *, force: bool, inputs: Sequence[str | None], option: str = "--report") -> None:
    """Refuse a file that cannot be written, before the work begins."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} {path}: a report is a page; give a name that ends with .html")
    check_new(option, path, force=force, inputs=inputs)


def write_report(subject: Subject, path: Path, target: str, console: Console) -> None:
    """Write the page over any earlier one; `check_report` has refused where that is not allowed."""
    with console.progress("report"), console.warnings_as_notes():
        put(assemble(subject, f"{target} by {type(subject.model).__name__}"), path, overwrite=True)
