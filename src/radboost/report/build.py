"""A report put together, and written."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from radboost.model_file.replacing import replacing
from radboost.report.blocks import Report, Section
from radboost.report.data import data
from radboost.report.figures import count
from radboost.report.reproducing import facts, reproducing
from radboost.report.sections import SECTIONS
from radboost.report.subject import Subject, read
from radboost.report.verdict import verdict


def build(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    sample_weight: Any = None,
    sources: Any = None,
    row_numbers: Any = None,
    row_numbers_train: Any = None,
    context: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> Report:
    """What can be said about a fitted model, as plain values.

    Parameters
    ----------
    model : fitted classifier or regressor of RadBoost; of a search its best estimator is meant
    X, y : held-out rows and their targets
        The model must not have learned from them, and no setting may have been chosen by them.
    X_train, y_train : the rows that the model learned from, or None
        For the bound, the error on training rows, copies of training rows among the held-out ones, baselines that saw
        what the model saw, and an estimate of wrong labels among them.
    sample_weight : array or None
        Of the held-out rows: measures are then averages by weight. Rows of weight 0 are left out.
    sources : array or None
        Where each held-out row comes from; errors are then shown by source, too.
    row_numbers, row_numbers_train : arrays of whole numbers, or None
        Where the rows stand in the table that they were taken from, counted from 1: the page then calls them so. None
        for places in `X` and `X_train`, counted from 0.
    context : dict of texts, or None
        What else the page should say: names of files, a date. "command" is shown as a line to type.
    title : str or None
        The heading; None for the name of the estimator.

    Returns
    -------
    Report
        The same for the same rows: nothing is drawn by chance or depends on the time.
    """
    subject = read(
        model,
        X,
        y,
        X_train=X_train,
        y_train=y_train,
        sample_weight=sample_weight,
        sources=sources,
        row_numbers=row_numbers,
        row_numbers_train=row_numbers_train,
        context=context,
    )
    return assemble(subject, title)


def assemble(subject: Subject, title: str | None) -> Report:
    """The report on a subject that was read."""
    with warnings.catch_warnings():
        # It was said while the rows were read, and need not be said at each question.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        card = data(subject)
        found = verdict(subject, card)
        sections = [section for make in SECTIONS if (section := make(subject)) is not None]
        every: list[Section] = [found.section, card.section, *sections, reproducing(subject)]
    return Report(
        title=type(subject.asked).__name__ if title is None else title,
        subtitle=_subtitle(subject),
        verdict=found.sentence,
        verdict_tone=found.tone,
        figures=found.figures,
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
    """Writes the report as one HTML file, which needs no network.

    Parameters
    ----------
    model, X, y, and others : as for `build`
    path : a name that ends in .html or .htm
    overwrite : bool
        Whether a file that is there may be replaced. It is never left half written.

    Returns
    -------
    Report
    """
    check_path(path, overwrite=overwrite)
    report = build(model, X, y, **others)
    put(report, path, overwrite=overwrite)
    return report


def put(report: Report, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes the page of a report."""
    from radboost.report.page import render

    text = render(report).encode("utf-8")
    target = check_path(path, overwrite=overwrite)  # somebody may have written it meanwhile
    with replacing(target) as file:
        file.write(text)


def check_path(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuses a path before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"A report is an HTML file: let its name end in .html, not {target.name!r}.")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already. Choose another name, or pass overwrite=True to replace it.")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"Cannot write {path}: the folder {target.absolute().parent} does not exist.")
    return target


def _subtitle(subject: Subject) -> str:
    task = "numbers" if not subject.classifies else f"{len(subject.classes)} classes"
    learned = f", {count(len(subject.train), 'training row')}" if subject.train is not None else ""
    return (
        f"{type(subject.model).__name__} for {task}, judged on {count(len(subject.test), 'held-out row')}{learned}, "
        f"{count(subject.n_columns, 'column')}"
    )
