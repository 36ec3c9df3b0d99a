"""Command `fit`: from a table to a saved model that was evaluated on held-out rows."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import typer

from radboost.cli.console import Console
from radboost.cli.evaluation import Evaluation, subject_of, subject_of_fit, write_report
from radboost.cli.models import Plan, plan_fit, search_facts
from radboost.cli.options import FitOptions
from radboost.cli.rows import LabeledRows
from radboost.cli.source import RowSource, RowSplit
from radboost.cli.splitting import Rows
from radboost.model_file import Schema, save_model
from radboost.report.baselines import constant_of
from radboost.report.figures import count
from radboost.report.leaks import FEWEST_ROWS, Suspicion, TargetValues, findings, is_id
from radboost.report.subject import Predictions, Subject
from radboost.rows.hashing import drawn, folds

MOST_ROWS, MOST_COLUMNS = 10_000, 1000  # that are searched for leaks


def fit(options: FitOptions, console: Console, context: typer.Context) -> None:
    """Model of a table: evaluated on held-out rows, saved to a file.

    Several files are one table with the same columns. Parquet of any size is read by parts.
    """
    options.check()
    source = RowSource(options, console)
    plan = plan_fit(options, source, console)
    schema = replace(source.schema, form=plan.form)
    console.say(
        f"{source.name}: {source.n_rows:,} rows; the target {schema.target!r} is taken as {schema.task}: "
        f"{source.reason}"
    )
    rows = source.divide(console)
    console.say(f"estimator: {plan.about}; {_kinds_of(schema)}")
    if rows.train is not None:
        console.note(*_suspicious(rows.train, schema))
    facts: dict[str, Any] = {
        "command": shlex.join(["radboost", *context.obj]),
        "data": options.title,
        "rows": source.n_rows,
    }
    if rows.folds:
        result = _cross_validated(source, plan, schema, rows, console)
    else:
        about = {**facts, "data": source.name, "judged on": rows.what}
        result = _evaluated_once(source, options, plan, schema, rows, about, console)
    evaluation, model = result.evaluation, result.model
    fitted_to = "all rows" if result.all_rows else "the rows that were not held out"
    facts |= {"rows_hash": source.rows_hash(), "fitted_to": fitted_to, "verdict": None}
    if evaluation is not None:
        first = evaluation.first
        facts["verdict"] = evaluation.headline(rows.what)
        facts |= {"baseline": first.constant, "measure": first.name, "score": first.value}
    model.schema_ = replace(result.schema, facts=facts)
    save_model(model, options.out)
    console.say(f"model: {options.out} ({_fitted_to(result)})")
    if options.report is not None:
        console.say(f"report: {options.report}")
    console.finish(_document(options, plan, source, rows, result))


@dataclass(frozen=True)
class FitResult:
    """Model to save, and its evaluation (None without test rows)."""

    model: Any
    schema: Schema
    evaluation: Evaluation | None
    fitted: Any
    """Model, or search for its settings, that was evaluated."""
    all_rows: bool
    """True if the model was fitted to all rows."""


def _evaluated_once(
    source: RowSource,
    options: FitOptions,
    plan: Plan,
    schema: Schema,
    rows: RowSplit,
    facts: dict[str, Any],
    console: Console,
) -> FitResult:
    """Model of the training rows, evaluated on the test rows; fitted again to all rows if some were held out."""
    fitted, chosen, train_schema = source.fit(plan, schema, rows.learned, "fitting", console, rows.train)
    model = getattr(fitted, "best_estimator_", fitted)
    model.schema_ = train_schema
    evaluation = None
    if rows.test_rows is not None:
        subject = subject_of_fit(fitted, train_schema, rows, facts)
        evaluation = Evaluation(subject, plan.measure)
        console.result(*evaluation.lines(rows.what))
        if options.report is not None:
            write_report(subject, options.report, schema.target, console)
    if rows.holds_out and not options.keep_judged:
        final = replace(plan, estimator=chosen, search=None)
        model, _, schema = source.fit(final, schema, None, "fitting to all rows", console)
        return FitResult(model, schema, evaluation, fitted, all_rows=True)
    return FitResult(model, train_schema, evaluation, fitted, all_rows=not rows.holds_out)


def _cross_validated(source: RowSource, plan: Plan, schema: Schema, rows: RowSplit, console: Console) -> FitResult:
    """Model of all rows, and the evaluation of models that have each left out a fold."""
    assert rows.test_rows is not None
    order = np.argsort(rows.test_rows.keys, kind="stable")
    whole, parts = rows.test_rows.take(order), []  # in the order of subjects
    for number, (learn, out) in enumerate(rows.folds, 1):
        train, test = (np.flatnonzero(np.isin(order, chosen)) for chosen in (learn, out))
        title = f"fold {number} of {len(rows.folds)}"
        model, _, learned = source.fit(plan, schema, learn, title, console, whole.take(train))
        parts.append((test, subject_of(model, learned, whole.take(test), whole.take(train))))
    final, _, final_schema = source.fit(plan, schema, None, "fitting to all rows", console)
    own = _pooled(final, [(test, subject, subject.own) for test, subject in parts])
    linear = _pooled(final, [(test, subject, subject.baselines.linear) for test, subject in parts])
    assert own is not None
    labels = own.predicted if own.probabilities is None else final.classes_[own.predicted]
    subject = subject_of(final, final_schema, whole, outputs=(labels, own.probabilities))
    subject = replace(subject, given_baselines=replace(constant_of(subject), linear=linear))
    evaluation = Evaluation(subject, plan.measure)
    console.result(*evaluation.lines(rows.what))
    return FitResult(final, final_schema, evaluation, final, all_rows=True)


def _pooled(model: Any, parts: list[tuple[Rows, Subject, Predictions | None]]) -> Predictions | None:
    """Predictions for the test rows of all folds, with the class ids of `model`; None if a fold has none."""
    classes, n_rows = getattr(model, "classes_", np.zeros(0)).tolist(), sum(len(test) for test, *_ in parts)
    predicted = np.zeros(n_rows, dtype=np.int64 if classes else np.float64)
    probabilities = np.zeros((n_rows, len(classes)))
    for test, subject, given in parts:
        if given is None:
            return None
        predicted[test] = given.predicted
        if classes:
            ids = np.array([classes.index(label) for label in subject.classes])
            predicted[test], probabilities[np.ix_(test, ids)] = ids[given.predicted], given.probabilities
    return Predictions(predicted, probabilities if classes else None)


def _suspicious(part: LabeledRows, schema: Schema) -> list[str]:
    """Warnings of columns that give the target away, or only name the rows."""
    if len(part.y) < FEWEST_ROWS:
        return []
    rows = drawn(part.keys, MOST_ROWS)
    halves = folds(part.hashes[rows], 2)
    if schema.task == "classes":
        target = TargetValues.of_classes(np.unique(part.y, return_inverse=True)[1][rows])
    else:
        target = TargetValues.of_numbers(part.y[rows])
    suspicions = []
    for column in part.table.columns[:MOST_COLUMNS]:
        is_text, values = column.kind == "category", np.asarray(part.table.values[column.name], dtype=np.float64)
        values = np.where(values < 0, np.nan, values) if is_text else values
        alone, threshold = target.alone(values[rows], halves, is_text=is_text)
        gaps = target.decided_by_gaps(np.isnan(values[rows]), halves)
        known = values[~np.isnan(values)]
        named = column.kind == "number" and is_id(column.name, known, len(np.unique(known)), is_text=False)
        suspicions.append(Suspicion(column.name, alone, threshold, gaps, named))
    return [one.text for one in findings(suspicions)]


def _fitted_to(result: FitResult) -> str:
    if not result.all_rows:
        return "the model that was judged; --keep-judged"
    return "fitted to all rows" + (
        "" if result.evaluation is None else ", with the settings of the one that was judged"
    )


def _kinds_of(schema: Schema) -> str:
    nouns = {
        "number": ["number"],
        "category": ["category", "categories"],
        "date": ["date"],
        "boolean": ["true or false"] * 2,
    }
    counts = {kind: sum(column.kind == kind for column in schema.columns) for kind in nouns}
    kinds = ", ".join(count(n, *nouns[kind]) for kind, n in counts.items() if n)
    return f"{count(len(schema.columns), 'column')} ({kinds})"


def _document(options: FitOptions, plan: Plan, source: RowSource, rows: RowSplit, result: FitResult) -> dict[str, Any]:
    """Result of the command for JSON."""
    schema, evaluation = source.schema, result.evaluation
    return {
        "command": "fit",
        "data": options.title,
        "rows": source.n_rows,
        "target": schema.target,
        "task": schema.task,
        "reason": source.reason,
        "classes": getattr(result.model, "classes_", []),
        "columns": {column.name: column.kind for column in schema.columns},
        "left_out": schema.left_out,
        "estimator": type(result.model).__name__,
        "seconds_of_search": plan.seconds,
        "judged_on": rows.what or None,
        "verdict": None if evaluation is None else evaluation.document(),
        "fitted_to": result.model.schema_.facts["fitted_to"],
        "model": options.out,
        "report": options.report,
        "search": None if plan.search is None else search_facts(result.fitted),
    }
