"""Command `fit`: from a table to a saved model that was evaluated on held-out rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from radboost.cli.console import Console
from radboost.cli.evaluation import Evaluation, evaluate, pooled, subject_of, subject_of_fit, write_report
from radboost.cli.leaks import warnings_of
from radboost.cli.models import Plan, plan_fit, search_facts
from radboost.cli.options import FitOptions, check_options
from radboost.cli.source import RowSource, RowSplit
from radboost.model_file import Schema, save_model
from radboost.report.baselines import constant_of
from radboost.report.figures import count


def run_fit(options: FitOptions, console: Console) -> int:
    """Read, fit, evaluate and save; files are checked before anything is computed."""
    check_options(options)
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
        console.note(*warnings_of(rows.train, schema))
    if rows.folds:
        result = _cross_validated(source, plan, schema, rows, console)
    else:
        result = _evaluated_once(source, options, plan, schema, rows, console)
    result.model.schema_ = replace(result.schema, facts=_facts(options, source, rows, result))
    save_model(result.model, options.out)
    console.say(f"model: {options.out} ({_fitted_to(result)})")
    if options.report is not None:
        console.say(f"report: {options.report}")
    document = _document(options, plan, source, rows, result)
    console.finish({**document, "search": None if plan.search is None else search_facts(result.fitted)})
    return 0


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
    source: RowSource, options: FitOptions, plan: Plan, schema: Schema, rows: RowSplit, console: Console
) -> FitResult:
    """Model of the training rows, evaluated on the test rows; fitted again to all rows if some were held out."""
    fitted, chosen, train_schema = source.fit(plan, schema, rows.learned, "fitting", console, rows.train)
    model = getattr(fitted, "best_estimator_", fitted)
    model.schema_ = train_schema
    evaluation: Evaluation | None = None
    if rows.test_rows is not None and rows.train is not None:
        facts = {"command": options.command, "data": source.name, "rows": source.n_rows, "judged on": rows.what}
        subject = subject_of_fit(fitted, train_schema, rows, facts)
        evaluation = evaluate(subject, plan.measure)
        console.result(*evaluation.lines(rows.what))
        if options.report is not None:
            write_report(subject, options.report, schema.target, console)
    if rows.holds_out and not options.keep_judged:
        final = replace(plan, estimator=chosen, search=None)
        model, _, schema = source.fit(final, schema, None, "fitting to all rows", console)
        return FitResult(model, schema, evaluation, fitted, all_rows=True)
    return FitResult(model, train_schema, evaluation, fitted, all_rows=not rows.holds_out)


def _cross_validated(source: Any, plan: Plan, schema: Schema, rows: RowSplit, console: Console) -> FitResult:
    """Model of all rows, and the evaluation of models that have each left out a fold."""
    whole, parts = rows.test_rows, []
    assert whole is not None
    for number, (learn, out) in enumerate(rows.folds, 1):
        title = f"fold {number} of {len(rows.folds)}"
        train, test = whole.take(learn), whole.take(out)
        model, _, learned = source.fit(plan, schema, learn, title, console, train)
        parts.append((subject_of(model, learned, test, train), out[np.argsort(test.keys, kind="stable")]))
    final, _, final_schema = source.fit(plan, schema, None, "fitting to all rows", console)
    ranks = np.empty(len(whole.y), dtype=np.int64)
    ranks[np.argsort(whole.keys, kind="stable")] = np.arange(len(whole.y))
    own, linear = pooled(final, [(subject, ranks[taken]) for subject, taken in parts])
    labels = final.classes_[own.predicted] if own.probabilities is not None else own.predicted
    subject = subject_of(final, final_schema, whole, outputs=(labels, own.probabilities))
    subject = replace(subject, given_baselines=replace(constant_of(subject), linear=linear))
    evaluation = evaluate(subject, plan.measure)
    console.result(*evaluation.lines(rows.what))
    return FitResult(final, final_schema, evaluation, final, all_rows=True)


def _facts(options: FitOptions, source: RowSource, rows: RowSplit, result: FitResult) -> dict[str, Any]:
    """Facts that the model file keeps."""
    evaluation = result.evaluation
    facts: dict[str, Any] = {
        "command": options.command,
        "data": options.title,
        "rows": source.n_rows,
        "rows_hash": source.rows_hash(),
        "fitted_to": "all rows" if result.all_rows else "the rows that were not held out",
        "verdict": None if evaluation is None else evaluation.text(rows.what),
    }
    if evaluation is not None:
        facts |= {"baseline": evaluation.baseline, "measure": evaluation.measure, "score": evaluation.score}
    return facts


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
    """Result of the command for JSON, without the search."""
    schema, evaluation = source.schema, result.evaluation
    return {
        "command": "fit",
        "data": options.title,
        "rows": source.n_rows,
        "target": schema.target,
        "task": schema.task,
        "reason": source.reason,
        "classes": getattr(result.model, "classes_", np.zeros(0)).tolist(),
        "columns": {column.name: column.kind for column in schema.columns},
        "left_out": list(schema.left_out),
        "estimator": type(result.model).__name__,
        "seconds_of_search": plan.seconds,
        "judged_on": rows.what or None,
        "verdict": None if evaluation is None else asdict(evaluation),
        "fitted_to": result.model.schema_.facts["fitted_to"],
        "model": str(options.out),
        "report": None if options.report is None else str(options.report),
    }
