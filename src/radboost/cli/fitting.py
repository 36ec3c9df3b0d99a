"""The command `fit`: from a table to a model that was judged on rows held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.cli.cells import MISSING_WORDS, as_numbers
from radboost.cli.columns import Table, cells_of, choose_columns, find_column, listed, match_columns, with_means
from radboost.cli.costs import read_costs
from radboost.cli.files import check_new, same_file
from radboost.cli.judging import Verdict, judge_classes, judge_numbers, linear_answers
from radboost.cli.models import Plan, fit_and_choose, fit_once, plan_fit, probabilities_of, search_facts
from radboost.cli.reading import Given, ReadOptions, read_table
from radboost.cli.reporting import check_report, write_report
from radboost.cli.splitting import fingerprint, hold_out, row_hashes
from radboost.cli.talking import Talk
from radboost.cli.targets import known_labels, present, read_target
from radboost.model_file import Schema, save_model

FEWEST_ROWS = 10


@dataclass(frozen=True)
class FitOptions:
    """What `radboost fit` was called with."""

    data: str
    target: str
    estimator: str
    out: Path
    report: Path | None
    tune: str | None
    test: str | None
    holdout: float
    keep_judged: bool
    task: str | None
    ignore: tuple[str, ...]
    categorical: tuple[str, ...]
    weights: str | None
    missing: tuple[str, ...]
    cost: str | None
    seed: int
    jobs: int | None
    force: bool
    read: ReadOptions
    command: str


@dataclass(frozen=True)
class Part:
    """Some rows with their targets and weights."""

    table: Table
    y: npt.NDArray[Any]
    weights: FloatArray | None
    numbers: npt.NDArray[np.int64]
    """Where the rows stand in their table, counted from 1."""

    def take(self, rows: npt.NDArray[Any]) -> Part:
        """Some of them."""
        weights = None if self.weights is None else self.weights[rows]
        return Part(self.table.take(rows), self.y[rows], weights, self.numbers[rows])


def run_fit(options: FitOptions, talk: Talk) -> int:
    """Reads, judges, fits, saves; files are looked at before anything is computed."""
    _check_options(options)
    given = read_table(options.data, options.read)
    for remark in given.remarks:
        talk.note(remark)
    schema, whole, reason = _read_rows(given, options, talk)
    cost = None if options.cost is None else read_costs(options.cost, np.unique(whole.y), schema.task)
    plan = plan_fit(
        options.estimator, schema.task, tune=options.tune, cost=cost, seed=options.seed, jobs=options.jobs, talk=talk
    )
    schema = replace(schema, form=plan.form)
    talk.say(f"{given.name}: {len(whole.y):,} rows; the target {schema.target!r} is taken as {schema.task}: {reason}")
    train, judged_on, what = _parts(whole, schema, options, talk)
    talk.say(f"estimator: {plan.about}; {len(schema.columns)} columns ({_kinds_of(schema)})")
    found, chosen, judged_schema = _fit_part(plan, schema, train, "fitting", talk)
    judged = getattr(found, "best_estimator_", found)
    verdict = None
    if judged_on is not None:
        verdict = _judge(judged, judged_schema, train, judged_on)
        talk.result(verdict.text(what))
        _say_more(verdict, talk)
    if options.report is not None and judged_on is not None:
        facts = {"command": options.command, "data": given.name, "rows": len(whole.y), "judged on": what}
        with talk.progress("report"), talk.warnings_as_notes():
            write_report(found, judged_schema, judged_on, options.report, train=train, facts=facts)
    final, final_schema = judged, judged_schema
    if train is not whole and not options.keep_judged:
        final, final_schema = _fit_all(chosen, schema, whole, talk)
    facts_of_file = _facts(options, whole, verdict, what, all_rows=final is not judged or train is whole)
    final.schema_ = replace(final_schema, facts=facts_of_file)
    save_model(final, options.out)
    talk.say(f"model: {options.out} ({_fitted_to(final is judged and train is not whole, verdict)})")
    if options.report is not None:
        talk.say(f"report: {options.report}")
    document = _document(options, plan, schema, reason, whole, verdict, what, final)
    talk.finish({**document, "search": None if plan.search is None else search_facts(found)})
    return 0


def _check_options(options: FitOptions) -> None:
    inputs = (options.data, options.test, options.cost)
    check_new("--out", options.out, force=options.force, inputs=inputs)
    if options.report is not None:
        check_report(options.report, force=options.force, inputs=inputs)
        if same_file(options.report, options.out):
            raise ValueError(f"--out and --report both name {options.out}; give them different names")
    if not 0.0 <= options.holdout < 1.0:
        raise ValueError(f"--holdout is {options.holdout:g}; give a share of the rows, at least 0 and below 1")
    if options.report is not None and options.holdout == 0.0 and options.test is None:
        raise ValueError("--report needs rows that the model has not seen; leave out --holdout 0, or give --test FILE")
    if options.seed < 0:
        raise ValueError(f"--seed is {options.seed}; give a number that is not negative")
    if options.jobs is not None and options.jobs < 1:
        raise ValueError(f"--jobs is {options.jobs}; give how many threads may run, 1 or more")


def _read_rows(given: Given, options: FitOptions, talk: Talk) -> tuple[Schema, Part, str]:
    """What the table is, its rows, and why the target is what it is taken for."""
    target_name = find_column(given, options.target, "--target")
    missing = tuple(sorted({*MISSING_WORDS, *(word.strip().lower() for word in options.missing)}))
    ignored = [find_column(given, name, "--ignore") for name in options.ignore]
    categorical = {find_column(given, name, "--categorical") for name in options.categorical}
    if target_name in ignored:
        raise ValueError(f"--ignore {target_name!r}: this is the target; leave it out of --ignore")
    weights, numbers = None, np.arange(1, given.n_rows + 1)
    if options.weights is not None:
        name = find_column(given, options.weights, "--weights")
        weights = _weights(given, name, missing)
        ignored.append(name)
        rows = np.flatnonzero(weights)
        if len(rows) < given.n_rows:
            talk.note(f"{given.n_rows - len(rows):,} of {given.n_rows:,} rows have the weight 0, and are left out")
        given, weights, numbers = replace(given, table=given.table.take(rows)), weights[rows], numbers[rows]
    cells = cells_of(given, target_name, missing)
    if 0 < len(present(cells)) < FEWEST_ROWS:
        n_rows = f"{len(present(cells))} {'row' if len(present(cells)) == 1 else 'rows'}"
        raise ValueError(
            f"{given.name} has {n_rows} with a target; {FEWEST_ROWS} or more are needed to fit and to judge a model"
        )
    target = read_target(cells, options.task)
    if len(target.kept) < given.n_rows:
        n_dropped = given.n_rows - len(target.kept)
        talk.note(f"{n_dropped:,} of {given.n_rows:,} rows have no {target_name!r}, and are left out")
    names = [name for name in given.names if name != target_name and name not in ignored]
    if not names:
        raise ValueError(f"{given.name} has no column beside the target; a model needs one at least to learn from")
    given = replace(given, table=given.table.take(target.kept))
    choice = choose_columns(given, names, categorical, missing)
    for text in _left_out(choice.left_out):
        talk.note(text)
    for text in choice.notes:
        talk.note(text)
    schema = Schema(
        target=target_name,
        task=target.task,
        form="table",
        columns=choice.table.columns,
        left_out=(*ignored, *choice.left_out),
        missing_words=missing,
    )
    weights = None if weights is None else weights[target.kept]
    return schema, Part(choice.table, target.y, weights, numbers[target.kept]), target.reason


def _left_out(reasons: Mapping[str, str]) -> list[str]:
    """A note for each reason, with the columns that it holds for."""
    notes = []
    for why in dict.fromkeys(reasons.values()):
        names = [name for name, other in reasons.items() if other == why]
        if len(names) == 1:
            notes.append(f"{names[0]!r} is left out: it {why}")
        else:
            notes.append(f"{listed(names)} are left out; of each of them: it {why}")
    return notes


def _weights(given: Given, name: str, missing: tuple[str, ...]) -> FloatArray:
    weights = as_numbers(cells_of(given, name, missing))
    if weights is None or np.isnan(weights).any() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"--weights {name!r}: weights must be numbers, none missing or negative, and not all of them 0"
        )
    return weights


def _parts(whole: Part, schema: Schema, options: FitOptions, talk: Talk) -> tuple[Part, Part | None, str]:
    """The rows to learn from, those to be judged on, and what these are called."""
    if options.test is not None:
        return whole, _read_test(options, schema, talk), f"rows of {options.test}"
    if options.holdout == 0.0:
        talk.note("no rows are held out, so that nothing is said about how good the model is")
        return whole, None, ""
    hashes = row_hashes(whole.table)
    if len(np.unique(hashes)) < 2:
        raise ValueError("all rows have the same values in the columns of the model; there is nothing to learn from")
    learn, out = hold_out(hashes, whole.y, options.holdout, options.seed, stratify=schema.task == "classes")
    if not len(out):
        raise ValueError("there are too few different rows to hold some out; give --holdout 0, or more rows")
    talk.say(
        f"held out: {len(out):,} rows, drawn by their content (seed {options.seed}); the verdict"
        f"{' and the report are' if options.report is not None else ' is'} about a model of the other {len(learn):,}"
    )
    return whole.take(learn), whole.take(out), "rows held out"


def _read_test(options: FitOptions, schema: Schema, talk: Talk) -> Part:
    assert options.test is not None
    given = read_table(options.test, options.read)
    if schema.target not in given.names:
        raise ValueError(f"--test {options.test}: there is no column {schema.target!r}, which has the right answers")
    part, notes = part_of(given, schema, None)
    for text in notes:
        talk.note(text)
    return part


def part_of(given: Given, schema: Schema, classes: npt.NDArray[Any] | None) -> tuple[Part, list[str]]:
    """The rows of a table that have the target of a model, as the model sees them, and notes about them.

    With the classes of a model labels are those that it knows; without them, as they stand there.
    """
    cells = cells_of(given, schema.target, schema.missing_words)
    notes = []
    if schema.task == "classes":
        if classes is None:
            target = read_target(cells, "classes")
            y, kept = target.y, target.kept
        else:
            y, kept, unknown = known_labels(cells, classes)
            if unknown:
                named = ", ".join(map(repr, unknown[:5]))
                notes.append(f"{schema.target!r} has classes that the model does not know ({named}); it is wrong there")
    else:
        numbers, kept = as_numbers(cells), present(cells)
        if numbers is None or not len(kept):
            raise ValueError(
                f"the column {schema.target!r} of {given.name} holds no numbers, and the model predicts them"
            )
        y = numbers[kept]
    if len(kept) < given.n_rows:
        notes.append(
            f"{given.n_rows - len(kept):,} of {given.n_rows:,} rows have no {schema.target!r}, and are left out"
        )
        given = replace(given, table=given.table.take(kept))
    table, said = match_columns(given, schema)
    return Part(table, y, None, kept + 1), [*notes, *said]


def _fit_part(plan: Plan, schema: Schema, part: Part, title: str, talk: Talk) -> tuple[Any, Any, Schema]:
    schema, X = _learned_columns(schema, part)
    model, chosen = fit_and_choose(plan, X, part.y, part.weights, title, talk)
    return model, chosen, schema


def _fit_all(chosen: Any, schema: Schema, whole: Part, talk: Talk) -> tuple[Any, Schema]:
    schema, X = _learned_columns(schema, whole)
    return fit_once(chosen, X, whole.y, whole.weights, "fitting to all rows", talk), schema


def _learned_columns(schema: Schema, part: Part) -> tuple[Schema, Any]:
    """The schema with the means of these rows, where the model needs numbers, and the rows as it sees them."""
    if schema.form == "numbers":
        schema = replace(schema, columns=with_means(schema.columns, part.table))
        twice = [name for name, often in Counter(schema.feature_names).items() if often > 1]
        if twice:
            raise ValueError(
                f"a sparse model has a column for each category (a=x) and for missing values (a is missing), and "
                f"{twice[0]!r} would be there twice; rename the column of that name, or leave it out with --ignore"
            )
    return schema, Table(schema.columns, part.table.values).for_model(schema.form)


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
    )


def _say_more(verdict: Verdict, talk: Talk) -> None:
    talk.result("; ".join(f"{name} {value:.4g}" for name, value in verdict.further.items()))
    if verdict.comparison():
        talk.result(verdict.comparison())


def _facts(options: FitOptions, whole: Part, verdict: Verdict | None, what: str, *, all_rows: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "command": options.command,
        "data": options.data,
        "rows": len(whole.y),
        "rows_hash": fingerprint(row_hashes(whole.table), whole.y),
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
    words = {"number": "numbers", "category": "categories", "date": "dates", "boolean": "true or false"}
    counts = {kind: sum(column.kind == kind for column in schema.columns) for kind in words}
    return ", ".join(f"{count} {words[kind]}" for kind, count in counts.items() if count)


def _document(
    options: FitOptions,
    plan: Plan,
    schema: Schema,
    reason: str,
    whole: Part,
    verdict: Verdict | None,
    what: str,
    model: Any,
) -> dict[str, Any]:
    return {
        "command": "fit",
        "data": options.data,
        "rows": len(whole.y),
        "target": schema.target,
        "task": schema.task,
        "reason": reason,
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
