"""Assembly of a report from its sections, and writing it as a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radboost.model_file.replacing import replacing
from radboost.report.blocks import Report, Section
from radboost.report.calibration import calibration
from radboost.report.data import data
from radboost.report.dependence import dependence
from radboost.report.figures import count
from radboost.report.guarantee import guarantee
from radboost.report.importance import importance
from radboost.report.learning import learning
from radboost.report.noise import noise
from radboost.report.page import render
from radboost.report.predictions import predictions
from radboost.report.reproducing import facts, reproducing
from radboost.report.residuals import residuals
from radboost.report.slices import slices
from radboost.report.subject import Subject, read
from radboost.report.verdict import assess

# Sections between the data and how to reproduce it, in their order; None where one has nothing to say of a model.
SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    noise,
    predictions,
    residuals,
    calibration,
    slices,
    importance,
    dependence,
    learning,
    guarantee,
)


def build(model: Any, X: Any, y: Any, *, title: str | None = None, **options: Any) -> Report:
    """Report on a fitted model as plain values.

    Parameters
    ----------
    model : fitted classifier or regressor of RadBoost
        Of a search its best estimator is meant.
    X, y : held-out rows and their targets
        The model must not have learned from them, and no setting may have been chosen by them.
    title : str or None
        The heading; None for the name of the estimator.
    **options
        `X_train`, `y_train`, `sample_weight`, `sources`, `row_numbers`, `row_numbers_train` and `context`, as for the
        method `report` of estimators.

    Returns
    -------
    Report
        The same for the same rows: nothing is random or depends on the time.
    """
    return assemble(read(model, X, y, **options), title)


def assemble(subject: Subject, title: str | None) -> Report:
    """Compute the report on a subject."""
    with warnings.catch_warnings():
        # The user was warned while the rows were read, and need not be warned at each prediction.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        card = data(subject)
        assessment = assess(subject, card)
        sections = [section for make in SECTIONS if (section := make(subject)) is not None]
        every: list[Section] = [assessment.section, card.section, *sections, reproducing(subject)]
    return Report(
        title=type(subject.asked).__name__ if title is None else title,
        subtitle=_subtitle(subject),
        verdict=assessment.sentence,
        verdict_tone=assessment.tone,
        figures=assessment.figures,
        sections=tuple(every),
        facts=facts(subject),
    )


def write(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    **others: Any,
) -> Report:
    """Write the report as one HTML file, which needs no network.

    Parameters
    ----------
    model, X, y, and others : as for `build`
    path : a name that ends in .html or .htm
    overwrite : bool
        Whether an existing file may be replaced. It is never left half written.

    Returns
    -------
    Report
    """
    check_path(path, overwrite=overwrite)
    report = build(model, X, y, **others)
    put(report, path, overwrite=overwrite)
    return report


def put(report: Report, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write the page of a report."""
    text = render(report).encode("utf-8")
    target = check_path(path, overwrite=overwrite)  # somebody may have written it meanwhile
    with replacing(target) as file:
        file.write(text)


def check_path(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuse a path before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"A report is an HTML file: let its name end in .html, not {target.name!r}.")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already. Choose another name, or pass overwrite=True to replace it.")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"Cannot write {path}: the folder {target.absolute().parent} does not exist.")
    return target


def _subtitle(subject: Subject) -> str:
    task = "regression" if not subject.classifies else f"{len(subject.classes)} classes"
    learned = f", {count(len(subject.train), 'training row')}" if subject.train is not None else ""
    return (
        f"{type(subject.model).__name__} for {task}, evaluated on {count(len(subject.test), 'held-out row')}{learned}, "
        f"{count(subject.n_columns, 'column')}"
    )
