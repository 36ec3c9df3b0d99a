"""The command `fit`: from a table to a model that was judged on rows held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from radboost.cli.judging import Verdict, judge, pooled, subject_of, subject_of_fit
from radboost.cli.leaks import warnings_of
from radboost.cli.models import Plan, plan_fit, search_facts
from radboost.cli.options import FitOptions, check_options
from radboost.cli.reporting import title_of, write_report
from radboost.cli.rows import Divided, InMemory, Source
from radboost.cli.talking import Talk
from radboost.model_file import Schema, save_model


def run_fit(options: FitOptions, talk: Talk) -> int:
    """Reads, judges, fits, saves; files are looked at before anything is computed."""
    check_options(options)
    if options.dask is None:
        return _fit(InMemory(options, talk), options, talk)
    from radboost.cli.cluster_rows import on_cluster  # Dask takes a while to load

    with on_cluster(options, talk) as source:
        return _fit(source, options, talk)


def _fit(source: Source, options: FitOptions, talk: Talk) -> int:
    plan = plan_fit(options, source, talk)
    schema = replace(source.schema, form=plan.form)
    talk.say(
        f"{source.name}: {source.n_rows:,} rows; the target {schema.target!r} is taken as {schema.task}: "
        f"{source.reason}"
    )
    rows = source.divide(talk)
    talk.say(f"estimator: {plan.about}; {_kinds_of(schema)}")
    if rows.train is not None:
        for text in warnings_of(rows.train, schema):
            talk.note(text)
    if rows.folds:
        final, final_schema, verdict = _cross_validated(source, plan, schema, rows, talk)
        return _finish(source, options, plan, final, final_schema, verdict, final, rows, talk)
    found, chosen, judged_schema = source.fit(plan, schema, talk)
    judged = getattr(found, "best_estimator_", found)
    judged.schema_ = judged_schema
    judgement: Verdict | None = None
    if rows.judged_on is not None and rows.train is not None:
        facts = {"command": options.command, "data": source.name, "rows": source.n_rows, "judged on": rows.what}
        subject = subject_of_fit(found, judged_schema, rows, facts)
        judgement = judge(subject, subject.baselines, plan.measure)
        _say(judgement, rows, talk)
        if options.report is not None:
            with talk.progress("report"), talk.warnings_as_notes():
                write_report(subject, options.report, title_of(found, judged_schema))
    final, final_schema = judged, judged_schema
    if rows.holds_out and not options.keep_judged:
        final, final_schema = source.fit_all(plan, chosen, schema, talk)
    all_rows = final is not judged or not rows.holds_out
    return _finish(source, options, plan, final, final_schema, judgement, found, rows, talk, all_rows=all_rows)


def _cross_validated(source: Any, plan: Plan, schema: Schema, rows: Divided, talk: Talk) -> tuple[Any, Schema, Verdict]:
    """A model of all rows, and the verdict on models that have each left out a fold."""
    whole, parts = source.whole, []
    for number, (learn, out) in enumerate(rows.folds, 1):
        title = f"fold {number} of {len(rows.folds)}"
        train, part = whole.take(learn), whole.take(out)
        model, _, learned = source.fit_part(plan, schema, train, title, talk)
        parts.append((subject_of(model, learned, part, train), out[np.argsort(part.keys(), kind="stable")]))
    final, final_schema = source.fit_all(plan, plan.estimator, schema, talk)
    places = np.empty(len(whole.y), dtype=np.int64)
    places[np.argsort(whole.keys(), kind="stable")] = np.arange(len(whole.y))
    subject, found = pooled(
        subject_of(final, final_schema, whole), [(subject, places[taken]) for subject, taken in parts]
    )
    verdict = judge(subject, found, plan.measure)
    _say(verdict, rows, talk)
    return final, final_schema, verdict


def _finish(
    source: Source,
    options: FitOptions,
    plan: Plan,
    final: Any,
    schema: Schema,
    verdict: Verdict | None,
    found: Any,
    rows: Divided,
    talk: Talk,
    *,
    all_rows: bool = True,
) -> int:
    final.schema_ = replace(schema, facts=_facts(options, source, verdict, rows.what, all_rows=all_rows))
    save_model(final, options.out)
    talk.say(f"model: {options.out} ({_fitted_to(not all_rows, verdict)})")
    if options.report is not None:
        talk.say(f"report: {options.report}")
    document = _document(options, plan, source, verdict, rows.what, final)
    talk.finish({**document, "search": None if plan.search is None else search_facts(found)})
    return 0


def _say(verdict: Verdict, rows: Divided, talk: Talk) -> None:
    for line in verdict.lines(rows.what):
        talk.result(line)


def _facts(
    options: FitOptions, source: Source, verdict: Verdict | None, what: str, *, all_rows: bool
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "command": options.command,
        "data": options.title,
        "rows": source.n_rows,
        "rows_hash": source.rows_hash(),
        "fitted_to": "all rows" if all_rows else "the rows that were not held out",
        "verdict": None if verdict is None else verdict.text(what),
    }
    if verdict is not None:
        facts |= {"baseline": verdict.baseline, "measure": verdict.measure, "score": verdict.score}
    return facts


def _fitted_to(judged: bool, verdict: Verdict | None) -> str:
    if judged:
        return "the model that was judged; --keep-judged"
    return "fitted to all rows" + ("" if verdict is None else ", with the settings of the one that was judged")


def _kinds_of(schema: Schema) -> str:
    from radboost.report.figures import count  # which takes a while to load

    nouns = {
        "number": ["number"],
        "category": ["category", "categories"],
        "date": ["date"],
        "boolean": ["true or false"] * 2,
    }
    found = {kind: sum(column.kind == kind for column in schema.columns) for kind in nouns}
    kinds = ", ".join(count(n, *nouns[kind]) for kind, n in found.items() if n)
    return f"{count(len(schema.columns), 'column')} ({kinds})"


def _document(
    options: FitOptions, plan: Plan, source: Source, verdict: Verdict | None, what: str, model: Any
) -> dict[str, Any]:
    schema = source.schema
    return {
        "command": "fit",
        "data": options.title,
        "rows": source.n_rows,
        "target": schema.target,
        "task": schema.task,
        "reason": source.reason,
        "classes": getattr(model, "classes_", np.zeros(0)).tolist(),
        "columns": {column.name: column.kind for column in schema.columns},
        "left_out": list(schema.left_out),
        "estimator": type(model).__name__,
        "seconds_of_search": plan.seconds,
        "judged_on": what or None,
        "verdict": None if verdict is None else verdict.as_document(),
        "fitted_to": model.schema_.facts["fitted_to"],
        "model": str(options.out),
        "report": None if options.report is None else str(options.report),
    }
