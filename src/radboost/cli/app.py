"""The commands for tables and models, declared with typer: each returns what is to be done, and does nothing itself."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from radboost.cli.entry import COMMANDS
from radboost.cli.fitting import run_fit
from radboost.cli.judging import METRICS
from radboost.cli.options import FitOptions
from radboost.cli.reading import ReadOptions
from radboost.cli.talking import Talk
from radboost.cli.using import PredictOptions, run_evaluate, run_explain, run_export, run_info, run_predict, run_report

Job = Callable[[], int]

MODEL_IS = "MODEL is a file that radboost fit wrote."
DATA_IS = "DATA is a table: CSV, TSV, Parquet, Arrow or JSON lines, also with .gz; - is standard input."

# All that typer complains of. The class is that of click, which is a package of its own or, with newer versions, a part
# of typer.
MISTAKES: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(add_completion=False, no_args_is_help=True)

IN_DATA = "The table"
IN_FILES = "Files"
IN_MODEL = "The model"

ModelFile = Annotated[str, typer.Argument(metavar="MODEL")]
Data = Annotated[str, typer.Argument(metavar="DATA")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="csv, tsv, parquet, arrow or jsonl, where the name does not say so.",
        rich_help_panel=IN_DATA,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Character between fields of CSV, or the word tab; found out otherwise.", rich_help_panel=IN_DATA
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV has the names of the columns; found out otherwise.",
        rich_help_panel=IN_DATA,
    ),
]
Names = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Names of the columns of CSV.", rich_help_panel=IN_DATA)
]
Skip = Annotated[int, typer.Option(min=0, help="Lines above the table in CSV.", rich_help_panel=IN_DATA)]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=IN_FILES)]
Json = Annotated[bool, typer.Option("--json", help="Write the result as one JSON object to standard output.")]


def run(arguments: list[str]) -> int:
    """Runs a command; mistakes in the call are errors of one line."""
    command = typer.main.get_command(app)
    try:
        job = command.main(args=arguments, prog_name="radboost", standalone_mode=False, obj=arguments)
    except typer.Exit as end:
        return int(end.exit_code)
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except MISTAKES as error:
        message = str(getattr(error, "format_message", error.__str__)())
        raise ValueError(f"{message.rstrip('.')}; see radboost {arguments[0]} --help") from error
    # after --help there is nothing to be done
    return int(job()) if callable(job) else 0


def _about(command: str, *arguments: str) -> str:
    """What the page of a command begins with."""
    text = COMMANDS[command]
    return "\n\n".join([f"{text[0].upper()}{text[1:]}.", *arguments])


def _listed(given: str | None) -> tuple[str, ...]:
    return () if given is None else tuple(one.strip() for one in given.split(","))


def _reading(
    format_: str | None, separator: str | None, header: bool | None, names: str | None, skip: int
) -> ReadOptions:
    return ReadOptions(format_, separator, header, None if names is None else _listed(names), skip)


@app.command(help=_about("fit", DATA_IS, "Several files are one table: they have the same columns."))
def fit(
    context: typer.Context,
    data: Annotated[list[str], typer.Argument(metavar="DATA...")],
    target: Annotated[str, typer.Option(metavar="COL", help="Column to predict.", rich_help_panel=IN_DATA)],
    estimator: Annotated[
        str,
        typer.Option(
            help="deepboost, softmax, rgb, sparse, or auto: deepboost for classes, rgb for numbers.",
            rich_help_panel=IN_MODEL,
        ),
    ] = "auto",
    out: Annotated[Path, typer.Option(help="Model file to write.", rich_help_panel=IN_FILES)] = Path("model.rad"),
    report: Annotated[
        Path | None, typer.Option(help="Page about the model to write (.html).", rich_help_panel=IN_FILES)
    ] = None,
    tune: Annotated[
        str | None,
        typer.Option(
            metavar="quick|thorough",
            help="Search for settings: quick for about a minute, thorough for about ten.",
            rich_help_panel=IN_MODEL,
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Judge the model on these rows, and hold none out.",
            rich_help_panel=IN_DATA,
        ),
    ] = None,
    holdout: Annotated[
        float, typer.Option(help="Share of the rows that are held out to judge the model.", rich_help_panel=IN_DATA)
    ] = 0.2,
    keep_judged: Annotated[
        bool,
        typer.Option(
            "--keep-judged",
            help="Save the model that was judged, and not one of all rows.",
            rich_help_panel=IN_MODEL,
        ),
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="classes|numbers",
            help="What the target is; decided by its values otherwise.",
            rich_help_panel=IN_DATA,
        ),
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns to leave out.", rich_help_panel=IN_DATA)
    ] = None,
    categorical: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Columns of numbers that are names.", rich_help_panel=IN_DATA),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of rows.", rich_help_panel=IN_DATA)
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Further words for missing values.", rich_help_panel=IN_DATA),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|MATRIX",
            help='What answers cost: "0,1;5,0", a line for each true class, or a CSV file with names.',
            rich_help_panel=IN_MODEL,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the estimator, such as max_depth=3; may be given several times.",
            rich_help_panel=IN_MODEL,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the verdict is about first, and searches and early stopping choose by: "
            + ", ".join(name for of_task in METRICS.values() for name in of_task)
            + ".",
            rich_help_panel=IN_MODEL,
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|CLASS=W,...", help="Weights of the classes in the fit.", rich_help_panel=IN_MODEL
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Rows with the same value here are held out together; no column of the model.",
            rich_help_panel=IN_DATA,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Hold out the latest rows by this column.", rich_help_panel=IN_DATA),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Judge by cross-validation, for small tables: K models, each judged on the rows it has not seen.",
            rich_help_panel=IN_DATA,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the rows held out and of the fit.", rich_help_panel=IN_MODEL)] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores otherwise.", rich_help_panel=IN_MODEL)] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local|local:4",
            help="Fit on a Dask cluster: that of the scheduler at this address, or one on this machine with so many "
            "workers. DATA are then Parquet files that all workers see.",
            rich_help_panel=IN_MODEL,
        ),
    ] = None,
    force: Force = False,
    format_: Format = None,
    separator: Separator = None,
    header: Header = None,
    names: Names = None,
    skip: Skip = 0,
    json: Json = False,
) -> Job:
    _among("--tune", tune, ("quick", "thorough"))
    _among("--task", task, ("classes", "numbers"))
    options = FitOptions(
        data=tuple(data),
        target=target,
        estimator=estimator,
        out=out,
        report=report,
        tune=tune,
        test=test,
        holdout=holdout,
        keep_judged=keep_judged,
        task=task,
        ignore=_listed(ignore),
        categorical=_listed(categorical),
        weights=weights,
        missing=_listed(missing),
        cost=cost,
        seed=seed,
        jobs=jobs,
        force=force,
        read=_reading(format_, separator, header, names, skip),
        command=shlex.join(["radboost", *context.find_root().obj]) if context.find_root().obj else "radboost fit",
        dask=dask,
        settings=tuple(settings or ()),
        metric=metric,
        class_weight=class_weight,
        group=group,
        time=time,
        folds=folds,
    )
    return partial(run_fit, options, Talk(as_json=json))


def _among(option: str, given: str | None, known: tuple[str, ...]) -> None:
    if given is not None and given not in known:
        raise ValueError(f"{option} is {given!r}; known are {', '.join(known)}")


@app.command(help=_about("predict", MODEL_IS, DATA_IS))
def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        str | None,
        typer.Option(
            help="File to write, its format by its ending; standard output otherwise.", rich_help_panel=IN_FILES
        ),
    ] = None,
    to: Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or arrow.", rich_help_panel=IN_FILES)] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probabilities of the classes.")] = False,
    contributions: Annotated[
        bool,
        typer.Option(
            "--contributions", help="Also what each column contributes to the score, of the class in brackets."
        ),
    ] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of the table to write beside the answers.")
    ] = None,
    force: Force = False,
    format_: Format = None,
    separator: Separator = None,
    header: Header = None,
    names: Names = None,
    skip: Skip = 0,
    json: Json = False,
) -> Job:
    read = _reading(format_, separator, header, names, skip)
    options = PredictOptions(model, data, out, to, proba, contributions, _listed(keep), force, read)
    return partial(run_predict, options, Talk(as_json=json))


@app.command(help=_about("evaluate", MODEL_IS, DATA_IS))
def evaluate(
    model: ModelFile,
    data: Data,
    format_: Format = None,
    separator: Separator = None,
    header: Header = None,
    names: Names = None,
    skip: Skip = 0,
    json: Json = False,
) -> Job:
    read = _reading(format_, separator, header, names, skip)
    return partial(run_evaluate, model, data, read, Talk(as_json=json))


@app.command(help=_about("explain", MODEL_IS, DATA_IS))
def explain(
    model: ModelFile,
    data: Data,
    row: Annotated[int, typer.Option(metavar="N", help="Which row, counted from 1 without the line of names.")],
    format_: Format = None,
    separator: Separator = None,
    header: Header = None,
    names: Names = None,
    skip: Skip = 0,
    json: Json = False,
) -> Job:
    read = _reading(format_, separator, header, names, skip)
    return partial(run_explain, model, data, row, read, Talk(as_json=json))


@app.command(help=_about("report", MODEL_IS, DATA_IS))
def report(
    model: ModelFile,
    data: Data,
    out: Annotated[Path, typer.Option(help="Page to write (.html).", rich_help_panel=IN_FILES)],
    force: Force = False,
    format_: Format = None,
    separator: Separator = None,
    header: Header = None,
    names: Names = None,
    skip: Skip = 0,
    json: Json = False,
) -> Job:
    read = _reading(format_, separator, header, names, skip)
    return partial(run_report, model, data, out, read, Talk(as_json=json), force=force)


@app.command(help=_about("export", MODEL_IS))
def export(
    model: ModelFile,
    to: Annotated[str, typer.Option(metavar="onnx|c|treelite|json", help="The form.")],
    out: Annotated[Path, typer.Option(help="File to write.", rich_help_panel=IN_FILES)],
    name: Annotated[str, typer.Option(help="What functions of C are called.")] = "model",
    force: Force = False,
    json: Json = False,
) -> Job:
    return partial(run_export, model, to, out, name, Talk(as_json=json), force=force)


@app.command(help=_about("info", MODEL_IS))
def info(model: ModelFile, json: Json = False) -> Job:
    return partial(run_info, model, Talk(as_json=json))
