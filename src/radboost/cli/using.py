"""The commands that use a model file: `predict`, `evaluate`, `explain`, `report`, `export` and `info`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import number_text
from radboost.cli.columns import Table, find_column, match_columns
from radboost.cli.files import check_new, write_whole
from radboost.cli.judging import Verdict, judge, subject_of, without_linear
from radboost.cli.models import probabilities_of
from radboost.cli.reading import STDIN, Given, ReadOptions, read_table
from radboost.cli.reporting import check_report, title_of, write_report
from radboost.cli.rows import Part, part_of
from radboost.cli.splitting import fingerprint, row_hashes
from radboost.cli.talking import Talk
from radboost.cli.writing import format_to_write, write_table
from radboost.explain.explanation import Contribution
from radboost.model_file import Schema, load_model

EXPORTS = ("onnx", "c", "treelite", "json")


@dataclass(frozen=True)
class Loaded:
    """A model from a file, with what is known of its table."""

    model: Any
    schema: Schema


def load(path: str) -> Any:
    """The model in a file."""
    file = Path(path)
    if not file.exists():
        raise ValueError(f"{path}: there is no such file; radboost fit makes model files")
    return load_model(file)


def load_with_schema(path: str) -> Loaded:
    """A model that knows the table it was fitted to."""
    model = load(path)
    schema = getattr(model, "schema_", None)
    if not isinstance(schema, Schema):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, and does not know the columns of a "
            "table; use it from Python (radboost.load), or fit the model with radboost fit"
        )
    return Loaded(model, schema)


def read_data(path: str, options: ReadOptions, talk: Talk) -> Given:
    """A table, and what is to be said of how it was read."""
    given = read_table(path, options)
    for remark in given.remarks:
        talk.note(remark)
    return given


@dataclass(frozen=True)
class PredictOptions:
    """What `radboost predict` was called with."""

    model: str
    data: str
    out: str | None
    to: str | None
    proba: bool
    contributions: bool
    keep: tuple[str, ...]
    force: bool
    read: ReadOptions


def run_predict(options: PredictOptions, talk: Talk) -> int:
    """Writes a row of answers for each row of the table."""
    kind = format_to_write(options.out, options.to)
    to_file = options.out is not None and options.out != STDIN
    if to_file:
        check_new("--out", Path(str(options.out)), force=options.force, inputs=(options.model, options.data))
    loaded = load_with_schema(options.model)
    given = read_data(options.data, options.read, talk)
    kept = [find_column(given, name, "--keep") for name in options.keep]
    table, notes = match_columns(given, loaded.schema)
    for note in notes:
        talk.note(note)
    found = _answers(loaded, table.for_model(loaded.schema.form), options)
    import pyarrow as pa

    twice = [name for name in kept if name in found]
    if twice:
        raise ValueError(
            f"--keep {twice[0]!r}: the predictions have a column of this name; rename the one of the table"
        )
    answers = pa.table({**{name: _kept(given, name) for name in kept}, **found})
    if to_file or not talk.as_json:
        write_table(answers, options.out, kind)
    if to_file:
        talk.say(f"predictions: {options.out} ({given.n_rows:,} rows)")
    document = {"command": "predict", "model": options.model, "rows": given.n_rows, "out": options.out}
    talk.finish(document if to_file else {**document, "predictions": answers.to_pylist()})
    return 0


def _kept(given: Given, name: str) -> Any:
    """A column of the table, without the spaces around fields of CSV."""
    import pyarrow.compute

    column = given.table.column(name)
    return pyarrow.compute.utf8_trim_whitespace(column) if given.as_text else column


def _answers(loaded: Loaded, X: Any, options: PredictOptions) -> dict[str, Any]:
    model = loaded.model
    found: dict[str, Any] = {"prediction": np.asarray(model.predict(X)).tolist()}
    if options.proba:
        if loaded.schema.task != "classes":
            raise ValueError(f"--proba: {options.model} predicts numbers, which have no probabilities; leave it out")
        probabilities = probabilities_of(model, X)
        assert probabilities is not None
        for place, label in enumerate(model.classes_.tolist()):
            found[f"probability_{label}"] = probabilities[:, place]
    if options.contributions:
        found |= _contributions(model, X)
    return found


def _contributions(model: Any, X: Any) -> dict[str, Any]:
    if not hasattr(model, "predict_contributions"):
        raise ValueError(f"--contributions: a {type(model).__name__} is no sum of trees; use radboost explain")
    values = model.predict_contributions(X)
    names = [*(f"contribution_{name}" for name in model.feature_names_in_), "mean_score"]
    if not hasattr(model, "classes_"):
        return {name: values[:, place] for place, name in enumerate(names)}
    labels = model.classes_.tolist()
    if values.ndim == 2:  # two classes have one score, which speaks for the second
        labels, values = labels[1:], values[:, None, :]
    return {
        f"{name} ({label})": values[:, of, place] for of, label in enumerate(labels) for place, name in enumerate(names)
    }


def run_evaluate(model_path: str, data: str, read: ReadOptions, talk: Talk) -> int:
    """Says how often the model is wrong on rows with the right answers."""
    loaded = load_with_schema(model_path)
    part = _with_answers(loaded, data, read, talk)
    verdict = _verdict(loaded, part)
    what = f"rows of {data if data != STDIN else 'standard input'}"
    for line in verdict.lines(what):
        talk.result(line)
    document = {"command": "evaluate", "model": model_path, "data": data, "verdict": verdict.as_document()}
    if loaded.schema.task == "classes":
        table = _confusion(loaded, part)
        talk.result(_confusion_text(table))
        document["confusion"] = table
    talk.finish(document)
    return 0


def _with_answers(loaded: Loaded, data: str, read: ReadOptions, talk: Talk) -> Part:
    schema = loaded.schema
    given = read_data(data, read, talk)
    if schema.target not in given.names:
        raise ValueError(
            f"{given.name} has no column {schema.target!r}, which would have the right answers; its columns are "
            f"{', '.join(given.names[:10])}. radboost predict needs none"
        )
    part, notes = part_of(given, schema, getattr(loaded.model, "classes_", None))
    for note in notes:
        talk.note(note)
    if schema.facts.get("rows_hash") == fingerprint(row_hashes(part.table), part.y):
        talk.note(
            "these are the very rows that the model was fitted to, so that the figures are better than it is; judge it "
            "by other rows, or by the verdict of radboost fit (radboost info shows it)"
        )
    return part


def _verdict(loaded: Loaded, part: Part) -> Verdict:
    subject = subject_of(loaded.model, loaded.schema, part)
    return judge(subject, without_linear(subject))


def _confusion(loaded: Loaded, part: Part) -> dict[str, dict[str, int]]:
    """For each true class how often each answer was given."""
    answers = loaded.model.predict(part.table.for_model(loaded.schema.form)).tolist()
    truth = part.y.tolist()
    known = [str(label) for label in loaded.model.classes_.tolist()]
    rows = [*known, *sorted({str(label) for label in truth} - set(known))]
    table = {true: dict.fromkeys(known, 0) for true in rows}
    for true, answer in zip(truth, answers, strict=True):
        table[str(true)][str(answer)] += 1
    return table


def _confusion_text(table: dict[str, dict[str, int]]) -> str:
    answers = list(next(iter(table.values())))
    width = max(len("true class"), *map(len, table))
    widths = [max(len(answer), 7) for answer in answers]
    head = f"{'true class':<{width}}  " + "  ".join(f"{a:>{w}}" for a, w in zip(answers, widths, strict=True))
    lines = [
        f"{true:<{width}}  " + "  ".join(f"{row[a]:>{w},}" for a, w in zip(answers, widths, strict=True))
        for true, row in table.items()
    ]
    return "\n".join(["", "answers given", head, *lines])


def run_explain(model_path: str, data: str, row: int, read: ReadOptions, talk: Talk) -> int:
    """Says in words why the model answers as it does for one row."""
    loaded = load_with_schema(model_path)
    given = read_data(data, read, talk)
    if not 1 <= row <= given.n_rows:
        raise ValueError(
            f"--row is {row}; {given.name} has the rows 1 to {given.n_rows:,}, the line of names not counted"
        )
    table, notes = match_columns(given, loaded.schema)
    for note in notes:
        talk.note(note)
    one = table.take(np.array([row - 1]))
    from radboost.report.kinds import in_words_of_the_table, kinds_of  # which takes a while to load

    plain = loaded.model.explain(one.for_model(loaded.schema.form, with_others=True))
    kinds = kinds_of(loaded.model, list(map(str, loaded.model.feature_names_in_)))
    explanation = in_words_of_the_table(plain, kinds)
    talk.result(str(explanation))
    if explanation.formula:
        for line in _dates_in_words(one):
            talk.result(line)
    talk.finish(
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


def _dates_in_words(one: Table) -> list[str]:
    """What the numbers of dates in a formula mean."""
    from radboost.report.kinds import date_text

    lines = []
    for column in one.columns:
        days = float(one.values[column.name][0])
        if column.kind == "date" and not np.isnan(days):
            lines.append(f"{column.name!r} is counted in days since 1970: {days:.7g} is {date_text(days)}.")
    return [f"\n{lines[0]}", *lines[1:]] if lines else []


def run_report(model_path: str, data: str, out: Path, read: ReadOptions, talk: Talk, *, force: bool) -> int:
    """Writes a page about the model, judged by the rows of a table."""
    check_report(out, force=force, inputs=(model_path, data), option="--out")
    loaded = load_with_schema(model_path)
    part = _with_answers(loaded, data, read, talk)
    facts = {"command": f"radboost report {model_path} {data} --out {out}", "data": data, "rows": len(part.y)}
    with talk.progress("report"), talk.warnings_as_notes():
        write_report(
            subject_of(loaded.model, loaded.schema, part, facts=facts), out, title_of(loaded.model, loaded.schema)
        )
    talk.say(f"report: {out}")
    talk.finish({"command": "report", "model": model_path, "data": data, "rows": len(part.y), "report": str(out)})
    return 0


def run_export(model_path: str, to: str, out: Path, name: str, talk: Talk, *, force: bool) -> int:
    """Writes the model in a form that other programs run."""
    if to not in EXPORTS:
        raise ValueError(f"--to is {to!r}; known are {', '.join(EXPORTS)}")
    check_new("--out", out, force=force, inputs=(model_path,))
    model = load(model_path)
    write_whole(out, _exported(model, to, name))
    talk.say(f"exported: {out} ({to}; columns and categories in their order: radboost info {model_path} --json)")
    talk.finish({"command": "export", "model": model_path, "to": to, "out": str(out), "bytes": out.stat().st_size})
    return 0


def _exported(model: Any, to: str, name: str) -> bytes:
    if to == "onnx":
        return bytes(model.to_onnx().SerializeToString())
    if to == "treelite":
        return bytes(model.to_treelite().serialize_bytes())
    if to == "c":
        return str(model.to_c(name)).encode()
    return json.dumps(model.to_dict()).encode()


def run_info(model_path: str, talk: Talk) -> int:
    """Says what a model file holds."""
    model = load(model_path)
    facts = _facts(model, model_path)
    for key, value in facts.items():
        if value not in (None, [], {}):
            talk.result(f"{key.replace('_', ' ')}: {_shown(value)}")
    talk.finish({"command": "info", **facts})
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
        return {**facts, "columns": _names(getattr(model, "feature_names_in_", None))}
    return {
        **facts,
        "target": schema.target,
        "task": schema.task,
        "columns": [{"name": one.name, "kind": one.kind, "categories": list(one.categories)} for one in schema.columns],
        "left_out": list(schema.left_out),
        "missing_words": list(schema.missing_words),
        **schema.facts,
    }


def _names(names: npt.NDArray[Any] | None) -> list[str]:
    return [] if names is None else list(map(str, names))


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
