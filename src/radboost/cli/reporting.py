"""The page about a model, from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radboost.cli.files import check_new
from radboost.model_file import Schema

if TYPE_CHECKING:
    from radboost.cli.rows import Part


def check_report(path: Path, *, force: bool, inputs: Sequence[str | None], option: str = "--report") -> None:
    """Refuses what could not be written, before the work begins."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} {path}: a report is a page; give a name that ends with .html")
    check_new(option, path, force=force, inputs=inputs)


def write_report(
    model: Any, schema: Schema, part: Part, path: Path, *, train: Part | None, facts: dict[str, Any]
) -> None:
    """Writes the page; whether an earlier one may go was asked before."""
    from radboost import report

    def seen(one: Part) -> Any:
        return replace(one.table, columns=schema.columns).for_model(schema.form, with_others=True)

    training = {}
    if train is not None:
        training = {"X_train": seen(train), "y_train": train.y, "row_numbers_train": train.numbers}
    report.write(
        model,
        seen(part),
        part.y,
        path,
        **training,
        sample_weight=part.weights,
        row_numbers=part.numbers,
        context={key: str(value) for key, value in facts.items()},
        title=f"{schema.target} by {type(getattr(model, 'best_estimator_', model)).__name__}",
        overwrite=True,
    )
