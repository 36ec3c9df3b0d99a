"""Evaluation of a model on rows that it has not seen, beside a constant and a linear model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost.cli.console import Console
from radboost.cli.rows import LabeledRows
from radboost.cli.source import RowSplit
from radboost.model_file import Schema
from radboost.report.build import assemble, put
from radboost.report.figures import count
from radboost.report.scores import Score, rare_class
from radboost.report.subject import Outputs, Predictions, Subject, read
from radboost.report.verdict import copies_text

MIN_DIFFERENT_ROWS = 20  # with fewer a remark says that they are too few
CLASS_MEASURES = ("precision", "recall", "F1")


@dataclass(frozen=True)
class Evaluation:
    """Score with its 95% interval beside two baselines, and further measures."""

    measure: str
    rows: int
    different_rows: int
    """Number of rows in which equal ones count once; with --group the number of groups."""
    score: float
    low: float
    high: float
    baseline: float | None
    """Score of the most frequent class, of the cheapest one, or of the mean."""
    linear: float | None
    better_than_linear: str
    """Either "yes", "not clearly", "no, worse" or "not compared"."""
    further: dict[str, dict[str, Any]]
    """Further measure -> score, low, high, baseline, linear."""
    alone: str
    """Name of the baseline."""
    rare: str | None = None
    """Class of precision, recall and F1; None: means over the classes."""
    grouped: bool = False
    """True if rows were held out by --group."""
    copies: dict[str, Any] = field(default_factory=dict)
    """Held-out copies of training rows: rows, score, low, high, and the fraction of all rows that have a copy."""
    remarks: tuple[str, ...] = ()

    def text(self, of: str) -> str:
        """Headline: score, interval, rows and baselines in one line."""
        interval = (
            "" if math.isnan(self.low) else f" (95% interval {number_text(self.low)} to {number_text(self.high)})"
        )
        text = f"{self.measure} {number_text(self.score)}{interval} on {self.rows:,} {of}"
        if self.different_rows < self.rows:
            text += (
                f" ({count(self.different_rows, 'group') if self.grouped else f'{self.different_rows:,} different'})"
            )
        if self.baseline is not None:
            text += f"; {self.alone} alone {number_text(self.baseline)}"
        return text if self.linear is None else f"{text}, linear model {number_text(self.linear)}"

    def lines(self, of: str) -> list[str]:
        """Lines of the full evaluation."""
        return [one for one in (self.text(of), self.comparison(), *self._more(), *self.remarks) if one]

    def _more(self) -> list[str]:
        """Lines of further measures with their intervals: of all rows, and of the rare class."""
        whole = [_measure_text(name, one) for name, one in self.further.items() if name not in CLASS_MEASURES]
        by_class = [_measure_text(name, one) for name, one in self.further.items() if name in CLASS_MEASURES]
        whose = "means over the classes" if self.rare is None else f"of {self.rare!r}"
        return [", ".join(whole), f"{whose}: {', '.join(by_class)}" if by_class else ""]

    def comparison(self) -> str:
        """Sentence that compares with the linear model; empty without one."""
        by = "" if self.measure in ("error", "RMSE", "mean cost") else f", by {self.measure}"
        try_this = "try --tune" if self.measure == "mean cost" else "try --estimator sparse, or --tune"
        words = {
            "yes": f"The model is better than the linear one beyond chance{by}.",
            "not clearly": f"The model is not clearly better than the linear one{by}: the difference may be chance.",
            "no, worse": f"The linear model is better beyond chance{by}; {try_this}.",
        }
        return words.get(self.better_than_linear, "")


def _measure_text(name: str, one: dict[str, Any]) -> str:
    """Measure with three decimals; costs and measures in units of the target with four digits."""
    in_units = name in ("RMSE", "MAE", "quantile loss", "mean cost")
    score, low, high = (number_text(one[key]) if in_units else f"{one[key]:.3f}" for key in ("score", "low", "high"))
    return f"{name} {score}" + ("" if math.isnan(one["low"]) else f" ({low} to {high})")


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
        context={key: str(value) for key, value in (facts or {}).items()},
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
    copies = subject_of(model, schema, rows.copies)
    return replace(subject, copies=copies, share_of_copies=rows.copied_fraction)


def evaluate(subject: Subject, metric: str | None = None) -> Evaluation:
    """Evaluation by all measures, with that of --metric as the headline."""
    scores = subject.scores
    name = next(iter(scores)) if metric is None else metric
    if name not in scores:
        raise ValueError(f"--metric: the {name} says nothing of these rows; measures that do are {', '.join(scores)}")
    first = scores[name]
    low, high = first.interval or (math.nan, math.nan)
    beside = first.over_linear
    better = "not compared" if beside is None else "yes" if beside.better else "no, worse" if beside.worse else None
    rare = subject.class_names[rare_class(subject)] if len(subject.classes) == 2 else None
    of_costs = subject.cost is not None
    return Evaluation(
        measure=name,
        rows=len(subject.test),
        different_rows=subject.test.n_different,
        score=first.value,
        low=low,
        high=high,
        baseline=first.constant,
        linear=first.linear,
        better_than_linear="not clearly" if better is None else better,
        further={one: _document(score) for one, score in scores.items() if one != name},
        alone="cheapest class" if of_costs else "most frequent class" if subject.classifies else "mean of the target",
        rare=rare,
        grouped=subject.test.units is not None,
        copies=_of_copies(subject, name),
        remarks=_remarks(subject),
    )


def _document(score: Score) -> dict[str, Any]:
    low, high = score.interval or (math.nan, math.nan)
    return {"score": score.value, "low": low, "high": high, "baseline": score.constant, "linear": score.linear}


def _of_copies(subject: Subject, measure: str) -> dict[str, Any]:
    if subject.copies is None:
        return {}
    own = subject.copies.scores.get(measure)
    low, high = (None if own is None else own.interval) or (math.nan, math.nan)
    score = {"rows": len(subject.copies.test), "score": None if own is None else own.value, "low": low, "high": high}
    return {**score, "share_of_all_rows": subject.share_of_copies}


def _remarks(subject: Subject) -> tuple[str, ...]:
    said = []
    n = subject.test.n_different
    if n < MIN_DIFFERENT_ROWS:
        one = "group" if subject.test.units is not None else "different row"
        what = f"{one} is" if n == 1 else f"{one}s are"
        said.append(
            f"Only {n} {what} held out: too few to say how good the model is on new {one.rsplit(maxsplit=1)[-1]}s."
        )
    if subject.copies is not None:
        said.append(f"{copies_text(subject, lambda _, value: number_text(value))}.")
    return tuple(said)


def write_report(subject: Subject, path: Path, target: str, console: Console) -> None:
    """Write the page over any earlier one; `check_report` has refused where that is not allowed."""
    with console.progress("report"), console.warnings_as_notes():
        put(assemble(subject, f"{target} by {type(subject.model).__name__}"), path, overwrite=True)


def pooled(model: Any, parts: list[tuple[Subject, np.ndarray]]) -> tuple[Predictions, Predictions | None]:
    """Predictions of the models of a cross-validation, and of their linear models (None if one fold has none).

    `parts` has the subject and the row indices of each fold. Class ids are those of `model`.
    """
    order = np.argsort(np.concatenate([rows for _, rows in parts]), kind="stable")
    classes = getattr(model, "classes_", np.zeros(0)).tolist()

    def of_all_classes(subject: Subject, given: Predictions) -> Predictions:
        if not subject.classifies:
            return given
        ids = np.array([classes.index(label) for label in subject.classes])
        probabilities = np.zeros((len(subject.test), len(classes)))
        probabilities[:, ids] = given.probabilities
        return Predictions(ids[given.predicted], probabilities)

    def joined(of_folds: list[Predictions]) -> Predictions:
        predicted, probabilities = zip(*of_folds, strict=True)
        has_none = any(one is None for one in probabilities)
        return Predictions(np.concatenate(predicted)[order], None if has_none else np.concatenate(probabilities)[order])

    own = joined([of_all_classes(one, one.own) for one, _ in parts])
    linear = [of_all_classes(one, one.baselines.linear) for one, _ in parts if one.baselines.linear is not None]
    return own, joined(linear) if len(linear) == len(parts) else None
