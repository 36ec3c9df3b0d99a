"""Evaluation of a model on rows that it has not seen, beside a constant and a linear model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from radboost._numbers import number_text
from radboost.cli.console import Console
from radboost.cli.rows import LabeledRows
from radboost.cli.source import RowSplit
from radboost.model_file import Schema
from radboost.report.build import assemble, put
from radboost.report.figures import between, count
from radboost.report.scores import Score, rare_class
from radboost.report.subject import Outputs, Subject, read
from radboost.report.verdict import comparison_text, constant_name, copies_text

MIN_DIFFERENT_ROWS = 20  # with fewer a remark says that they are too few
CLASS_MEASURES = ("precision", "recall", "F1")
IN_UNITS = ("RMSE", "MAE", "quantile loss", "mean cost")  # measures in units of the target or of costs


class Evaluation:
    """Scores of a model with their 95% intervals beside two baselines; that of --metric is the headline."""

    def __init__(self, subject: Subject, metric: str | None = None) -> None:
        scores = dict(subject.scores)
        name = next(iter(scores)) if metric is None else metric
        if name not in scores:
            raise ValueError(
                f"--metric: the {name} says nothing of these rows; measures that do are {', '.join(scores)}"
            )
        self.subject, self.first, self.further = subject, scores.pop(name), scores
        self.rare = subject.class_names[rare_class(subject)] if len(subject.classes) == 2 else None
        """Class of precision, recall and F1; None: means over the classes."""

    def headline(self, of: str) -> str:
        """Score, interval, rows and baselines in one line."""
        first, test = self.first, self.subject.test
        interval = "" if first.interval is None else f" (95% interval {between(first.interval, number_text)})"
        text = f"{first.name} {number_text(first.value)}{interval} on {len(test):,} {of}"
        if test.n_different < len(test):
            n = test.n_different
            text += f" ({f'{n:,} different' if test.units is None else count(n, 'group')})"
        if first.constant is not None:
            text += f"; {constant_name(self.subject)} alone {number_text(first.constant)}"
        return text if first.linear is None else f"{text}, linear model {number_text(first.linear)}"

    def lines(self, of: str) -> list[str]:
        """Lines of the full evaluation."""
        texts = {name: _measure_text(score) for name, score in self.further.items()}
        by_class = ", ".join(text for name, text in texts.items() if name in CLASS_MEASURES)
        whose = "means over the classes" if self.rare is None else f"of {self.rare!r}"
        whole = ", ".join(text for name, text in texts.items() if name not in CLASS_MEASURES)
        more = (whole, f"{whose}: {by_class}" if by_class else "")
        return [one for one in (self.headline(of), *self._comparison(), *more, *self._remarks()) if one]

    def _comparison(self) -> tuple[str, ...]:
        """Sentence that compares with the linear model, as in the report."""
        beside = self.first.over_linear
        if beside is None:
            return ()
        said = comparison_text(self.first.name, "the linear model", beside).paragraphs
        return (f"{said[0]} Try --estimator sparse, or --tune.",) if beside.worse else said

    @property
    def better_than_linear(self) -> str:
        """Either "yes", "not clearly", "no, worse" or "not compared"."""
        beside = self.first.over_linear
        if beside is None:
            return "not compared"
        return "yes" if beside.better else "no, worse" if beside.worse else "not clearly"

    def _remarks(self) -> list[str]:
        test, remarks = self.subject.test, []
        if test.n_different < MIN_DIFFERENT_ROWS:
            noun, adjective = ("row", "different ") if test.units is None else ("group", "")
            verb = "is" if test.n_different == 1 else "are"
            few = f"Only {count(test.n_different, adjective + noun)} {verb} held out"
            remarks.append(f"{few}: too few to say how good the model is on new {noun}s.")
        if self.subject.copies is not None:
            remarks.append(f"{copies_text(self.subject, lambda _, value: number_text(value))}.")
        return remarks

    def document(self) -> dict[str, Any]:
        """Evaluation for JSON."""
        subject, copies = self.subject, {}
        if subject.copies is not None:
            own = subject.copies.scores.get(self.first.name)
            copies = {"rows": len(subject.copies.test), **_figures(own), "share_of_all_rows": subject.share_of_copies}
        return {
            "measure": self.first.name,
            "rows": len(subject.test),
            "different_rows": subject.test.n_different,
            **_figures(self.first),
            "baseline": self.first.constant,
            "linear": self.first.linear,
            "better_than_linear": self.better_than_linear,
            "further": {
                name: {**_figures(one), "baseline": one.constant, "linear": one.linear}
                for name, one in self.further.items()
            },
            "alone": constant_name(subject),
            "rare": self.rare,
            "grouped": subject.test.units is not None,
            "copies": copies,
            "remarks": self._remarks(),
        }


def _figures(score: Score | None) -> dict[str, float | None]:
    low, high = (None if score is None else score.interval) or (None, None)
    return {"score": None if score is None else score.value, "low": low, "high": high}


def _measure_text(score: Score) -> str:
    """Measure with three decimals; costs and measures in units of the target with four digits."""
    show = number_text if score.name in IN_UNITS else "{:.3f}".format
    return f"{score.name} {show(score.value)}" + (f" ({between(score.interval, show)})" if score.interval else "")


def subject_of(
    model: Any,
    schema: Schema,
    part: LabeledRows,
    train: LabeledRows | None = None,
    facts: dict[str, Any] | None = None,
    outputs: Outputs | None = None,
) -> Subject:
    """Subject of a report: a model with its test rows, in an order that depends on their content alone."""

    def seen(one: LabeledRows) -> Any:
        return replace(one.table, columns=schema.columns).for_model(schema.form, with_others=True)

    part = part.in_order()
    training = {}
    if train is not None:
        train = train.in_order()
        training = {"X_train": seen(train), "y_train": train.y, "row_numbers_train": train.numbers}
    subject = read(
        model,
        seen(part),
        part.y,
        **training,
        sample_weight=part.weights,
        row_numbers=part.numbers,
        context=facts,
        outputs=outputs,
    )
    subject = replace(subject, test=replace(subject.test, units=part.units))
    if train is None or subject.train is None:
        return subject
    return replace(subject, train=replace(subject.train, weights=train.weights, units=train.units))


def subject_of_fit(model: Any, schema: Schema, rows: RowSplit, facts: dict[str, Any]) -> Subject:
    """Subject of a report on the held-out rows, with copies of training rows apart."""
    assert rows.test_rows is not None
    subject = subject_of(model, schema, rows.test_rows, rows.train, facts)
    if rows.copies is None:
        return subject
    return replace(subject, copies=subject_of(model, schema, rows.copies), share_of_copies=rows.copied_fraction)


def write_report(subject: Subject, path: Path, target: str, console: Console) -> None:
    """Write the page over any earlier one; `check_page` has refused where that is not allowed."""
    with console.progress("report"), console.warnings_as_notes():
        put(assemble(subject, f"{target} by {type(subject.model).__name__}"), path, overwrite=True)
