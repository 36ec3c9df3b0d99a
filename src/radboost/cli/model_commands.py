"""Commands on a model file: `predict`, `evaluate`, `explain`, `report`, `export` and `info`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from radboost._numbers import number_text
from radboost.cli.columns import FeatureTable, match_columns
from radboost.cli.console import Console
from radboost.cli.evaluation import Evaluation, subject_of, write_report
from radboost.cli.files import check_new, check_page, write_whole
from radboost.cli.options import NO_WORDS, Data, Force, Listed, ModelFile, file_option
from radboost.cli.reading import STDIN, format_of, read_table
from radboost.cli.rows import LabeledRows, labeled_rows
from radboost.cli.splitting import fingerprint
from radboost.cli.tables import RawTable, ReadOptions, find_column
from radboost.cli.writing import write_table
from radboost.estimators._predicting import labels_and_probabilities
from radboost.explain.explanation import Contribution
from radboost.model_file import Schema, load_model
from radboost.report.baselines import constant_of
from radboost.report.kinds import in_words_of_the_table, kinds_of
from radboost.report.subject import Subject


def predict(
    model: ModelFile,
    data: Data,
    read: ReadOptions,
    console: Console,
    out: Annotated[
        str | None, file_option(help="File to write, its format by its ending; standard output otherwise.")
    ] = None,
    to: Annotated[str | None, file_option(help="csv, tsv, jsonl, parquet or arrow.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probabilities of the classes.")] = False,
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions", help="Also what each column contributes to the score, of the class in brackets."
        ),
    ] = False,
    keep: Annotated[
        Listed,
        typer.Option(
            metavar="A,B,...",
            parser=Listed,
            show_default=False,
            help="Columns of the table to write beside the answers.",
        ),
    ] = NO_WORDS,
    force: Force = False,
) -> None:
    """Predictions for the rows of a table, one row for each, in the same order."""
    kind = format_of(out, to, "--to")
    path = None if out in (None, STDIN) else Path(str(out))
    if path is not None:
        check_new("--out", path, force=force, inputs=(model, data))
    fitted = _load_with_schema(model)
    if proba and fitted.schema_.task != "classes":
        raise ValueError(f"--proba: {model} predicts numbers, which have no probabilities; leave it out")
    given, table = _matched(fitted, data, read, console)
    kept = {name: _kept(given, name) for name in (find_column(given, name, "--keep") for name in keep)}
    predictions = _predictions(fitted, table.for_model(fitted.schema_.form), proba=proba, contributions=contributions)
    if twice := [name for name in kept if name in predictions]:
        raise ValueError(
            f"--keep {twice[0]!r}: the predictions have a column of this name; rename the one of the table"
        )
    import pyarrow as pa

    output = pa.table({**kept, **predictions})
    if path is not None or not console.as_json:
        write_table(output, out, kind)
    document = {"command": "predict", "model": model, "rows": given.n_rows, "out": out}
    if path is not None:
        console.say(f"predictions: {out} ({given.n_rows:,} rows)")
    elif console.as_json:
        document["predictions"] = output.to_pylist()
    console.finish(document)


def evaluate(model: ModelFile, data: Data, read: ReadOptions, console: Console) -> None:
    """Evaluation on a table with the true targets, with the confusion matrix of classes."""
    fitted = _load_with_schema(model)
    subject = subject_of(fitted, fitted.schema_, _labeled_rows_of(fitted, data, read, console))
    evaluation = Evaluation(replace(subject, given_baselines=constant_of(subject)))
    console.result(*evaluation.lines(f"rows of {data if data != STDIN else 'standard input'}"))
    document = {"command": "evaluate", "model": model, "data": data, "verdict": evaluation.document()}
    if subject.classifies:
        table = _confusion(subject)
        console.result("", "answers given", *_aligned(table))
        document["confusion"] = table
    console.finish(document)


def explain(
    model: ModelFile,
    data: Data,
    row: Annotated[int, typer.Option(metavar="N", help="Which row, counted from 1 without the line of names.")],
    read: ReadOptions,
    console: Console,
) -> None:
    """Explanation of the prediction for one row."""
    fitted = _load_with_schema(model)
    given, table = _matched(fitted, data, read, console)
    if not 1 <= row <= given.n_rows:
        raise ValueError(
            f"--row is {row}; {given.name} has the rows 1 to {given.n_rows:,}, the line of names not counted"
        )
    X = table.take(np.array([row - 1])).for_model(fitted.schema_.form, with_others=True)
    kinds = kinds_of(fitted, list(map(str, fitted.feature_names_in_)))
    explanation = in_words_of_the_table(fitted.explain(X), kinds)
    console.result(str(explanation))
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


def report(
    model: ModelFile,
    data: Data,
    out: Annotated[Path, file_option(help="Page to write (.html).")],
    read: ReadOptions,
    console: Console,
    context: typer.Context,
    force: Force = False,
) -> None:
    """Page about a model, evaluated on a table with the true targets."""
    check_page("--out", out, force=force, inputs=(model, data))
    fitted = _load_with_schema(model)
    part = _labeled_rows_of(fitted, data, read, console)
    facts = {"command": shlex.join(["radboost", *context.obj]), "data": data, "rows": len(part.y)}
    write_report(subject_of(fitted, fitted.schema_, part, facts=facts), out, fitted.schema_.target, console)
    console.say(f"report: {out}")
    console.finish({"command": "report", "model": model, "data": data, "rows": len(part.y), "report": out})


def export(
    model: ModelFile,
    to: Annotated[Literal["onnx", "c", "treelite", "json"], typer.Option(help="The form.")],
    out: Annotated[Path, file_option(help="File to write.")],
    console: Console,
    name: Annotated[str, typer.Option(help="What functions of C are called.")] = "model",
    force: Force = False,
) -> None:
    """Export of a model in a form that other programs run."""
    check_new("--out", out, force=force, inputs=(model,))
    fitted = load_model(model)
    contents: dict[str, Callable[[], bytes]] = {
        "onnx": lambda: fitted.to_onnx().SerializeToString(),
        "treelite": lambda: fitted.to_treelite().serialize_bytes(),
        "c": lambda: fitted.to_c(name).encode(),
        "json": lambda: json.dumps(fitted.to_dict()).encode(),
    }
    write_whole(out, contents[to]())
    console.say(f"exported: {out} ({to}; columns and categories in their order: radboost info {model} --json)")
    console.finish({"command": "export", "model": model, "to": to, "out": out, "bytes": out.stat().st_size})


def info(model: ModelFile, console: Console) -> None:
    """Content of a model file."""
    fitted = load_model(model)
    ensemble = getattr(fitted, "ensemble_", None)
    facts: dict[str, Any] = {
        "model": type(fitted).__name__,
        "file": str(model),
        "bytes": model.stat().st_size,
        "classes": getattr(fitted, "classes_", np.zeros(0)).tolist(),
        "rounds": getattr(fitted, "n_iter_", None),
        "hypotheses": None if ensemble is None else len(ensemble.hypotheses),
        "chosen": dict(getattr(fitted, "chosen_", {})),
        "stopped_because": getattr(fitted, "stop_reason_", None),
        "columns": list(map(str, getattr(fitted, "feature_names_in_", ()))),
    }
    if isinstance(schema := getattr(fitted, "schema_", None), Schema):
        columns = [{"name": one.name, "kind": one.kind, "categories": list(one.categories)} for one in schema.columns]
        facts |= {"target": schema.target, "task": schema.task, "columns": columns, "left_out": list(schema.left_out)}
        facts |= {"missing_words": list(schema.missing_words), **schema.facts}
    for key, value in facts.items():
        if value not in (None, [], {}):
            console.result(f"{key.replace('_', ' ')}: {_shown(value)}")
    console.finish({"command": "info", **facts})


def _load_with_schema(path: Path) -> Any:
    """Model of a file, which must have the schema of its table as `schema_`."""
    model = load_model(path)
    if not isinstance(getattr(model, "schema_", None), Schema):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, and does not know the columns of a "
            "table; use it from Python (radboost.load), or fit the model with radboost fit"
        )
    return model


def _matched(model: Any, data: str, read: ReadOptions, console: Console) -> tuple[RawTable, FeatureTable]:
    """Table of a file as it is there, and with the columns of the model."""
    given = read_table(data, read)
    table, notes = match_columns(given, model.schema_)
    console.note(*given.remarks, *notes)
    return given, table


def _labeled_rows_of(model: Any, data: str, read: ReadOptions, console: Console) -> LabeledRows:
    schema = model.schema_
    part = labeled_rows(read_table(data, read), schema, getattr(model, "classes_", None), console)
    if schema.facts.get("rows_hash") == fingerprint(part.hashes, part.y):
        console.note(
            "these are the very rows that the model was fitted to, so that the figures are better than it is; judge it "
            "by other rows, or by the verdict of radboost fit (radboost info shows it)"
        )
    return part


def _kept(given: RawTable, name: str) -> Any:
    """Column of the table, without the spaces around fields of CSV."""
    import pyarrow.compute

    column = given.table.column(name)
    return pyarrow.compute.utf8_trim_whitespace(column.cast("string")) if given.separator is not None else column


def _predictions(model: Any, X: Any, *, proba: bool, contributions: bool) -> dict[str, Any]:
    """Columns of the output, by their names."""
    predicted, probabilities = labels_and_probabilities(model, X) if proba else (model.predict(X), None)
    columns: dict[str, Any] = {"prediction": np.asarray(predicted).tolist()}
    if probabilities is not None:
        columns |= {f"probability_{label}": probabilities[:, k] for k, label in enumerate(model.classes_.tolist())}
    return columns | (_contributions(model, X) if contributions else {})


def _contributions(model: Any, X: Any) -> dict[str, Any]:
    if not hasattr(model, "predict_contributions"):
        raise ValueError(f"--contributions: a {type(model).__name__} is no sum of trees; use radboost explain")
    values = model.predict_contributions(X)
    labels = getattr(model, "classes_", np.zeros(0)).tolist()
    if values.ndim == 2:  # numbers, or two classes, which have one score, that of the second
        labels, values = labels[1:], values[:, None, :]
    names = [*(f"contribution_{name}" for name in model.feature_names_in_), "mean_score"]
    of_scores = [f" ({label})" for label in labels] or [""]
    return {f"{name}{of}": values[:, k, index] for k, of in enumerate(of_scores) for index, name in enumerate(names)}


def _confusion(subject: Subject) -> dict[str, dict[str, int]]:
    """True class -> predicted class -> number of rows."""
    truth, known = list(map(str, subject.test.y.tolist())), subject.class_names
    table = {true: dict.fromkeys(known, 0) for true in (*known, *sorted({*truth} - {*known}))}
    for true, predicted in zip(truth, subject.predicted.tolist(), strict=True):
        table[true][str(predicted)] += 1
    return table


def _aligned(table: dict[str, dict[str, int]]) -> list[str]:
    """Lines of a confusion matrix."""
    known = next(iter(table.values()))
    cells = [["true class", *known], *([true, *(f"{n:,}" for n in row.values())] for true, row in table.items())]
    first, *others = (max(map(len, column)) for column in zip(*cells, strict=True))
    widths = [max(width, 7) for width in others]
    return [
        "  ".join([f"{name:<{first}}", *(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))])
        for name, *row in cells
    ]


def _json_value(one: Contribution, kinds: Mapping[int, str]) -> Any:
    if one.column is not None and kinds.get(one.column) == "boolean" and one.value in ("true", "false"):
        return one.value == "true"
    return one.value


def _shown(value: Any) -> str:
    if isinstance(value, dict) and "kind" in value:
        kind = f"{len(value['categories'])} categories" if value["kind"] == "category" else value["kind"]
        return f"{value['name']} ({kind})"
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(repr(item) if isinstance(item, str) else _shown(item) for item in value)
    if isinstance(value, float):
        return number_text(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
