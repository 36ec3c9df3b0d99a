"""Commands on a model file: `predict`, `evaluate`, `explain`, `report`, `export` and `info`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost.cli.columns import FeatureTable, find_column, match_columns
from radboost.cli.console import Console
from radboost.cli.evaluation import evaluate, subject_of, write_report
from radboost.cli.files import check_new, check_report, write_whole
from radboost.cli.reading import STDIN, RawTable, ReadOptions, read_table
from radboost.cli.rows import LabeledRows, labeled_rows
from radboost.cli.splitting import fingerprint
from radboost.cli.writing import format_to_write, write_table
from radboost.estimators._predicting import labels_and_probabilities
from radboost.explain.explanation import Contribution
from radboost.model_file import Schema, load_model
from radboost.report.baselines import constant_of
from radboost.report.kinds import date_text, in_words_of_the_table, kinds_of
from radboost.report.subject import Subject

EXPORTS = ("onnx", "c", "treelite", "json")


def load(path: str) -> Any:
    """Model in a file."""
    file = Path(path)
    if not file.exists():
        raise ValueError(f"{path}: there is no such file; radboost fit makes model files")
    return load_model(file)


def load_with_schema(path: str) -> Any:
    """Model of a file, which must have the schema of its table as `schema_`."""
    model = load(path)
    if not isinstance(getattr(model, "schema_", None), Schema):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, and does not know the columns of a "
            "table; use it from Python (radboost.load), or fit the model with radboost fit"
        )
    return model


def read_data(path: str, options: ReadOptions, console: Console) -> RawTable:
    """Table from a file; remarks on how it was read become notes."""
    given = read_table(path, options)
    console.note(*given.remarks)
    return given


def run_predict(
    model_path: str,
    data: str,
    read: ReadOptions,
    console: Console,
    *,
    out: str | None,
    to: str | None,
    proba: bool,
    contributions: bool,
    keep: tuple[str, ...],
    force: bool,
) -> int:
    """Write a row of predictions for each row of the table."""
    kind = format_to_write(out, to)
    to_file = out is not None and out != STDIN
    if to_file:
        check_new("--out", Path(str(out)), force=force, inputs=(model_path, data))
    model = load_with_schema(model_path)
    if proba and model.schema_.task != "classes":
        raise ValueError(f"--proba: {model_path} predicts numbers, which have no probabilities; leave it out")
    given = read_data(data, read, console)
    kept = [find_column(given, name, "--keep") for name in keep]
    table, notes = match_columns(given, model.schema_)
    console.note(*notes)
    predictions = _predictions(model, table.for_model(model.schema_.form), proba=proba, contributions=contributions)
    import pyarrow as pa

    twice = [name for name in kept if name in predictions]
    if twice:
        raise ValueError(
            f"--keep {twice[0]!r}: the predictions have a column of this name; rename the one of the table"
        )
    output = pa.table({**{name: _kept(given, name) for name in kept}, **predictions})
    if to_file or not console.as_json:
        write_table(output, out, kind)
    if to_file:
        console.say(f"predictions: {out} ({given.n_rows:,} rows)")
    document = {"command": "predict", "model": model_path, "rows": given.n_rows, "out": out}
    console.finish(document if to_file else {**document, "predictions": output.to_pylist()})
    return 0


def _kept(given: RawTable, name: str) -> Any:
    """Column of the table, without the spaces around fields of CSV."""
    import pyarrow.compute

    column = given.table.column(name)
    return pyarrow.compute.utf8_trim_whitespace(column.cast("string")) if given.as_text else column


def _predictions(model: Any, X: Any, *, proba: bool, contributions: bool) -> dict[str, Any]:
    """Columns of the output, by their names."""
    predicted, probabilities = labels_and_probabilities(model, X) if proba else (model.predict(X), None)
    columns: dict[str, Any] = {"prediction": np.asarray(predicted).tolist()}
    if probabilities is not None:
        columns |= {f"probability_{label}": probabilities[:, k] for k, label in enumerate(model.classes_.tolist())}
    if contributions:
        columns |= _contributions(model, X)
    return columns


def _contributions(model: Any, X: Any) -> dict[str, Any]:
    if not hasattr(model, "predict_contributions"):
        raise ValueError(f"--contributions: a {type(model).__name__} is no sum of trees; use radboost explain")
    values = model.predict_contributions(X)
    names = [*(f"contribution_{name}" for name in model.feature_names_in_), "mean_score"]
    if not hasattr(model, "classes_"):
        return {name: values[:, index] for index, name in enumerate(names)}
    labels = model.classes_.tolist()
    if values.ndim == 2:  # two classes have one score, that of the second
        labels, values = labels[1:], values[:, None, :]
    return {
        f"{name} ({label})": values[:, k, index] for k, label in enumerate(labels) for index, name in enumerate(names)
    }


def run_evaluate(model_path: str, data: str, read: ReadOptions, console: Console) -> int:
    """Print the evaluation on rows with the true target, and the confusion matrix of classes."""
    model = load_with_schema(model_path)
    part = _labeled_rows_of(model, data, read, console)
    subject = subject_of(model, model.schema_, part)
    subject = replace(subject, given_baselines=constant_of(subject))
    evaluation = evaluate(subject)
    what = f"rows of {data if data != STDIN else 'standard input'}"
    console.result(*evaluation.lines(what))
    document = {"command": "evaluate", "model": model_path, "data": data, "verdict": asdict(evaluation)}
    if model.schema_.task == "classes":
        table = _confusion(subject)
        console.result(_confusion_text(table))
        document["confusion"] = table
    console.finish(document)
    return 0


def _labeled_rows_of(model: Any, data: str, read: ReadOptions, console: Console) -> LabeledRows:
    schema = model.schema_
    part = labeled_rows(read_table(data, read), schema, getattr(model, "classes_", None), console)
    if schema.facts.get("rows_hash") == fingerprint(part.hashes, part.y):
        console.note(
            "these are the very rows that the model was fitted to, so that the figures are better than it is; judge it "
            "by other rows, or by the verdict of radboost fit (radboost info shows it)"
        )
    return part


def _confusion(subject: Subject) -> dict[str, dict[str, int]]:
    """True class -> predicted class -> number of rows."""
    truth, known = subject.test.y.tolist(), subject.class_names
    rows = [*known, *sorted({str(label) for label in truth} - set(known))]
    table = {true: dict.fromkeys(known, 0) for true in rows}
    for true, predicted in zip(truth, subject.predicted.tolist(), strict=True):
        table[str(true)][str(predicted)] += 1
    return table


def _confusion_text(table: dict[str, dict[str, int]]) -> str:
    predicted = {label: max(len(label), 7) for label in next(iter(table.values()))}  # with the widths of their columns
    width = max(len("true class"), *map(len, table))
    head = f"{'true class':<{width}}  " + "  ".join(f"{label:>{w}}" for label, w in predicted.items())
    rows = [
        f"{true:<{width}}  " + "  ".join(f"{row[label]:>{w},}" for label, w in predicted.items())
        for true, row in table.items()
    ]
    return "\n".join(["", "answers given", head, *rows])


def run_explain(model_path: str, data: str, row: int, read: ReadOptions, console: Console) -> int:
    """Print the explanation of one prediction."""
    model = load_with_schema(model_path)
    given = read_data(data, read, console)
    if not 1 <= row <= given.n_rows:
        raise ValueError(
            f"--row is {row}; {given.name} has the rows 1 to {given.n_rows:,}, the line of names not counted"
        )
    table, notes = match_columns(given, model.schema_)
    console.note(*notes)
    one = table.take(np.array([row - 1]))
    plain = model.explain(one.for_model(model.schema_.form, with_others=True))
    kinds = kinds_of(model, list(map(str, model.feature_names_in_)))
    explanation = in_words_of_the_table(plain, kinds)
    console.result(str(explanation))
    if explanation.formula:
        console.result(*_dates_in_words(one))
    console.finish(
        {
            "command": "explain",
            "row": row,
            "answer": explanation.answer,
            "probability": explanation.probability,
            "score": explanation.score,
            "base": explanation.base,
            "contributions": [
                {"name": one.name, "value": _json_value(one, kinds), "effect": one.effect}
                for one in explanation.contributions
            ],
            "text": str(explanation),
        }
    )
    return 0


def _json_value(one: Contribution, kinds: Mapping[int, str]) -> Any:
    if one.column is not None and kinds.get(one.column) == "boolean" and one.value in ("true", "false"):
        return one.value == "true"
    return one.value


def _dates_in_words(one: FeatureTable) -> list[str]:
    """Lines that translate the numbers of dates in a formula."""
    lines = []
    for column in one.columns:
        days = float(one.values[column.name][0])
        if column.kind == "date" and not np.isnan(days):
            lines.append(f"{column.name!r} is counted in days since 1970: {days:.7g} is {date_text(days)}.")
    return [f"\n{lines[0]}", *lines[1:]] if lines else []


def run_report(model_path: str, data: str, out: Path, read: ReadOptions, console: Console, *, force: bool) -> int:
    """Write a report on the model, evaluated on the rows of a table."""
    check_report(out, force=force, inputs=(model_path, data), option="--out")
    model = load_with_schema(model_path)
    part = _labeled_rows_of(model, data, read, console)
    facts = {"command": f"radboost report {model_path} {data} --out {out}", "data": data, "rows": len(part.y)}
    subject = subject_of(model, model.schema_, part, facts=facts)
    write_report(subject, out, model.schema_.target, console)
    console.say(f"report: {out}")
    console.finish({"command": "report", "model": model_path, "data": data, "rows": len(part.y), "report": str(out)})
    return 0


def run_export(model_path: str, to: str, out: Path, name: str, console: Console, *, force: bool) -> int:
    """Write the model in a form that other programs run."""
    if to not in EXPORTS:
        raise ValueError(f"--to is {to!r}; known are {', '.join(EXPORTS)}")
    check_new("--out", out, force=force, inputs=(model_path,))
    model = load(model_path)
    write_whole(out, _exported(model, to, name))
    console.say(f"exported: {out} ({to}; columns and categories in their order: radboost info {model_path} --json)")
    console.finish({"command": "export", "model": model_path, "to": to, "out": str(out), "bytes": out.stat().st_size})
    return 0


def _exported(model: Any, to: str, name: str) -> bytes:
    if to == "onnx":
        return bytes(model.to_onnx().SerializeToString())
    if to == "treelite":
        return bytes(model.to_treelite().serialize_bytes())
    if to == "c":
        return str(model.to_c(name)).encode()
    return json.dumps(model.to_dict()).encode()


def run_info(model_path: str, console: Console) -> int:
    """Print the contents of a model file."""
    model = load(model_path)
    facts = _facts(model, model_path)
    for key, value in facts.items():
        if value not in (None, [], {}):
            console.result(f"{key.replace('_', ' ')}: {_shown(value)}")
    console.finish({"command": "info", **facts})
    return 0


def _facts(model: Any, path: str) -> dict[str, Any]:
    schema = getattr(model, "schema_", None)
    ensemble = getattr(model, "ensemble_", None)
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "file": path,
        "bytes": Path(path).stat().st_size,
        "classes": getattr(model, "classes_", np.zeros(0)).tolist(),
        "rounds": getattr(model, "n_iter_", None),
        "hypotheses": None if ensemble is None else len(ensemble.hypotheses),
        "chosen": dict(getattr(model, "chosen_", {})),
        "stopped_because": getattr(model, "stop_reason_", None),
    }
    if not isinstance(schema, Schema):
        return {**facts, "columns": list(map(str, getattr(model, "feature_names_in_", ())))}
    return {
        **facts,
        "target": schema.target,
        "task": schema.task,
        "columns": [{"name": one.name, "kind": one.kind, "categories": list(one.categories)} for one in schema.columns],
        "left_out": list(schema.left_out),
        "missing_words": list(schema.missing_words),
        **schema.facts,
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_shown_item(item) for item in value)
    if isinstance(value, float):
        return number_text(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown_item(item: Any) -> str:
    if not isinstance(item, dict):
        return repr(item) if isinstance(item, str) else str(item)
    kind = f"{len(item['categories'])} categories" if item["kind"] == "category" else item["kind"]
    return f"{item['name']} ({kind})"
