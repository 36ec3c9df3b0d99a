"""The command `fit`: from a table to a model that was judged on rows held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from radboost.cli.columns import Table
from radboost.cli.costs import read_costs
from radboost.cli.judging import Verdict, costs_of, judge_classes, judge_numbers, linear_answers
from radboost.cli.models import Plan, plan_fit, probabilities_of, search_facts
from radboost.cli.options import FitOptions, check_options
from radboost.cli.reporting import write_report
from radboost.cli.rows import InMemory, Part, Source
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
    cost = None if options.cost is None else read_costs(options.cost, source.classes(), source.schema.task)
    plan = plan_fit(
        options.estimator,
        source.schema.task,
        tune=options.tune,
        cost=cost,
        seed=options.seed,
        jobs=options.jobs,
        talk=talk,
    )
    schema = replace(source.schema, form=plan.form)
    talk.say(
        f"{source.name}: {source.n_rows:,} rows; the target {schema.target!r} is taken as {schema.task}: "
        f"{source.reason}"
    )
    rows = source.divide(talk)
    talk.say(f"estimator: {plan.about}; {len(schema.columns)} columns ({_kinds_of(schema)})")
    found, chosen, judged_schema = source.fit(plan, schema, talk)
    judged = getattr(found, "best_estimator_", found)
    judged.schema_ = judged_schema
    verdict = None
    if rows.judged_on is not None and rows.train is not None:
        verdict = _judge(judged, judged_schema, rows.train, rows.judged_on)
        talk.result(verdict.text(rows.what))
        _say_more(verdict, talk)
    if options.report is not None and rows.judged_on is not None:
        facts = {"command": options.command, "data": source.name, "rows": source.n_rows, "judged on": rows.what}
        with talk.progress("report"), talk.warnings_as_notes():
            write_report(found, judged_schema, rows.judged_on, options.report, train=rows.train, facts=facts)
    final, final_schema = judged, judged_schema
    if rows.holds_out and not options.keep_judged:
        final, final_schema = source.fit_all(chosen, schema, talk)
    all_rows = final is not judged or not rows.holds_out
    final.schema_ = replace(final_schema, facts=_facts(options, source, verdict, rows.what, all_rows=all_rows))
    save_model(final, options.out)
    talk.say(f"model: {options.out} ({_fitted_to(not all_rows, verdict)})")
    if options.report is not None:
        talk.say(f"report: {options.report}")
    document = _document(options, plan, source, verdict, rows.what, final)
    talk.finish({**document, "search": None if plan.search is None else search_facts(found)})
    return 0


def _judge(model: Any, schema: Schema, train: Part, part: Part) -> Verdict:
    X, X_train = (Table(schema.columns, one.table.values).for_model(schema.form) for one in (part, train))
    answers = np.asarray(model.predict(X))
    linear = linear_answers(model, X_train, train.y, X, part.y, weights=train.weights)
    if schema.task != "classes":
        weights = np.ones(len(train.y)) if train.weights is None else train.weights
        order = np.lexsort((weights, train.y))
        mean = float(np.average(train.y[order], weights=weights[order]))
        return judge_numbers(part.y, answers, mean=mean, linear=linear, weights=part.weights)
    labels, places = np.unique(train.y, return_inverse=True)
    majority = labels[np.argmax(np.bincount(places.reshape(-1), weights=train.weights))].item()
    return judge_classes(
        part.y,
        answers,
        probabilities_of(model, X),
        model.classes_,
        majority=majority,
        linear=linear,
        weights=part.weights,
        costs=costs_of(model, train.y, train.weights),
    )


def _say_more(verdict: Verdict, talk: Talk) -> None:
    for line in verdict.more():
        talk.result(line)
    if verdict.comparison():
        talk.result(verdict.comparison())


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
        if verdict.mean_cost is not None:
            facts["mean_cost"] = verdict.mean_cost.score
    return facts


def _fitted_to(judged: bool, verdict: Verdict | None) -> str:
    if judged:
        return "the model that was judged; --keep-judged"
    return "fitted to all rows" + ("" if verdict is None else ", with the settings of the one that was judged")


def _kinds_of(schema: Schema) -> str:
    words = {"number": "numbers", "category": "categories", "date": "dates", "boolean": "true or false"}
    counts = {kind: sum(column.kind == kind for column in schema.columns) for kind in words}
    return ", ".join(f"{count} {words[kind]}" for kind, count in counts.items() if count)


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
