"""Commands for tables and models, declared with typer; each returns the job to run, and does nothing itself."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from radboost.cli.console import Console
from radboost.cli.entry import COMMANDS
from radboost.cli.fitting import run_fit
from radboost.cli.model_commands import run_evaluate, run_explain, run_export, run_info, run_predict, run_report
from radboost.cli.models import METRICS
from radboost.cli.options import FitOptions
from radboost.cli.reading import ReadOptions

Job = Callable[[], int]
DETECTED = ReadOptions()

MODEL_IS = "MODEL is a file that radboost fit wrote."
DATA_IS = "DATA is a table: CSV, TSV, Parquet, Arrow or JSON lines, also with .gz; - is standard input."

# Base class of typer's errors. It belongs to click, which is a package of its own or, with newer versions, a part of
# typer.
MISTAKES: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(add_completion=False, no_args_is_help=True)

# Options by the panel of the help that lists them.
table_option = partial(typer.Option, rich_help_panel="The table")
file_option = partial(typer.Option, rich_help_panel="Files")
model_option = partial(typer.Option, rich_help_panel="The model")

ModelFile = Annotated[str, typer.Argument(metavar="MODEL")]
Data = Annotated[str, typer.Argument(metavar="DATA")]
Format = Annotated[
    str | None, table_option("--format", help="csv, tsv, parquet, arrow or jsonl, where the name does not say so.")
]
Separator = Annotated[
    str | None, table_option(help="Character between fields of CSV, or the word tab; found out otherwise.")
]
Header = Annotated[
    bool | None,
    table_option(
        "--header/--no-header", help="Whether the first line of CSV has the names of the columns; found out otherwise."
    ),
]
Names = Annotated[str | None, table_option(metavar="A,B,...", help="Names of the columns of CSV.")]
Skip = Annotated[int, table_option(min=0, help="Lines above the table in CSV.")]
Force = Annotated[bool, file_option("--force", help="Replace files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Write the result as one JSON object to standard output.")]


def run(arguments: list[str]) -> int:
    """Run a command; a mistake in the call raises ValueError."""
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
    """First paragraphs of the help of a command."""
    text = COMMANDS[command]
    return "\n\n".join([f"{text[0].upper()}{text[1:]}.", *arguments])


def _listed(given: str | None) -> tuple[str, ...]:
    return () if given is None else tuple(one.strip() for one in given.split(","))


def _read_options(
    format_: Format = None, separator: Separator = None, header: Header = None, names: Names = None, skip: Skip = 0
) -> ReadOptions:
    return ReadOptions(format_, separator, header, None if names is None else _listed(names), skip)


def reads_tables(command: Callable[..., Job]) -> Callable[..., Job]:
    """Command that has the options of `_read_options` instead of a parameter `read`."""
    options = inspect.signature(_read_options, eval_str=True).parameters
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        parameters += options.values() if name == "read" else [parameter]

    @wraps(command)
    def with_options(**given: Any) -> Job:
        read = _read_options(**{name: given.pop(name) for name in options})
        return command(**given, read=read)

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options


@app.command(
    help=_about(
        "fit",
        DATA_IS,
        "Several files are one table with the same columns. Parquet of any size is read by parts.",
    )
)
@reads_tables
def fit(
    context: typer.Context,
    data: Annotated[list[str], typer.Argument(metavar="DATA...")],
    target: Annotated[str, table_option(metavar="COL", help="Column to predict.")],
    estimator: Annotated[
        str, model_option(help="deepboost, softmax, rgb, sparse, or auto: deepboost for classes, rgb for numbers.")
    ] = "auto",
    out: Annotated[Path, file_option(help="Model file to write.")] = Path("model.rad"),
    report: Annotated[Path | None, file_option(help="Page about the model to write (.html).")] = None,
    tune: Annotated[
        str | None,
        model_option(
            metavar="quick|thorough", help="Search for settings: quick for about a minute, thorough for about ten."
        ),
    ] = None,
    test: Annotated[
        str | None, table_option(metavar="FILE", help="Judge the model on these rows, and hold none out.")
    ] = None,
    holdout: Annotated[float, table_option(help="Share of the rows that are held out to judge the model.")] = 0.2,
    keep_judged: Annotated[
        bool, model_option("--keep-judged", help="Save the model that was judged, and not one of all rows.")
    ] = False,
    task: Annotated[
        str | None, table_option(metavar="classes|numbers", help="What the target is; decided by its values otherwise.")
    ] = None,
    ignore: Annotated[str | None, table_option(metavar="A,B,...", help="Columns to leave out.")] = None,
    categorical: Annotated[
        str | None, table_option(metavar="A,B,...", help="Columns of numbers that are names.")
    ] = None,
    weights: Annotated[str | None, table_option(metavar="COL", help="Column with the weights of rows.")] = None,
    missing: Annotated[str | None, table_option(metavar="A,B,...", help="Further words for missing values.")] = None,
    cost: Annotated[
        str | None,
        model_option(
            metavar="FILE|MATRIX",
            help='What answers cost: "0,1;5,0", a line for each true class, or a CSV file with names.',
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        model_option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the estimator, such as max_depth=3; may be given several times.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        model_option(
            metavar="NAME",
            help="What the verdict is about first, and searches and early stopping choose by: "
            + ", ".join(name for of_task in METRICS.values() for name in of_task)
            + ".",
        ),
    ] = None,
    class_weight: Annotated[
        str | None, model_option(metavar="balanced|CLASS=W,...", help="Weights of the classes in the fit.")
    ] = None,
    group: Annotated[
        str | None,
        table_option(
            metavar="COL", help="Rows with the same value here are held out together; no column of the model."
        ),
    ] = None,
    time: Annotated[str | None, table_option(metavar="COL", help="Hold out the latest rows by this column.")] = None,
    folds: Annotated[
        int | None,
        table_option(
            metavar="K",
            help="Judge by cross-validation, for small tables: K models, each judged on the rows it has not seen.",
        ),
    ] = None,
    seed: Annotated[int, model_option(help="Of the rows held out and of the fit.")] = 0,
    jobs: Annotated[int | None, model_option(help="Threads; all cores otherwise.")] = None,
    force: Force = False,
    read: ReadOptions = DETECTED,
    json: Json = False,
) -> Job:
    given = {name: value for name, value in locals().items() if name not in ("context", "json")}  # named as options
    _among("--tune", tune, ("quick", "thorough"))
    _among("--task", task, ("classes", "numbers"))
    lists = {name: _listed(given[name]) for name in ("ignore", "categorical", "missing")}
    typed = context.find_root().obj
    command = shlex.join(["radboost", *typed]) if typed else "radboost fit"
    others = {"data": tuple(data), "settings": tuple(settings or ()), "command": command}
    options = FitOptions(**{**given, **lists, **others})
    return partial(run_fit, options, Console(as_json=json))


def _among(option: str, given: str | None, known: tuple[str, ...]) -> None:
    if given is not None and given not in known:
        raise ValueError(f"{option} is {given!r}; known are {', '.join(known)}")


@app.command(help=_about("predict", MODEL_IS, DATA_IS))
@reads_tables
def predict(
    model: ModelFile,
    data: Data,
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
        str | None, typer.Option(metavar="A,B,...", help="Columns of the table to write beside the answers.")
    ] = None,
    force: Force = False,
    read: ReadOptions = DETECTED,
    json: Json = False,
) -> Job:
    return partial(
        run_predict,
        model,
        data,
        read,
        Console(as_json=json),
        out=out,
        to=to,
        proba=proba,
        contributions=contributions,
        keep=_listed(keep),
        force=force,
    )


@app.command(help=_about("evaluate", MODEL_IS, DATA_IS))
@reads_tables
def evaluate(
    model: ModelFile,
    data: Data,
    read: ReadOptions = DETECTED,
    json: Json = False,
) -> Job:
    return partial(run_evaluate, model, data, read, Console(as_json=json))


@app.command(help=_about("explain", MODEL_IS, DATA_IS))
@reads_tables
def explain(
    model: ModelFile,
    data: Data,
    row: Annotated[int, typer.Option(metavar="N", help="Which row, counted from 1 without the line of names.")],
    read: ReadOptions = DETECTED,
    json: Json = False,
) -> Job:
    return partial(run_explain, model, data, row, read, Console(as_json=json))


@app.command(help=_about("report", MODEL_IS, DATA_IS))
@reads_tables
def report(
    model: ModelFile,
    data: Data,
    out: Annotated[Path, file_option(help="Page to write (.html).")],
    force: Force = False,
    read: ReadOptions = DETECTED,
    json: Json = False,
) -> Job:
    return partial(run_report, model, data, out, read, Console(as_json=json), force=force)


@app.command(help=_about("export", MODEL_IS))
def export(
    model: ModelFile,
    to: Annotated[str, typer.Option(metavar="onnx|c|treelite|json", help="The form.")],
    out: Annotated[Path, file_option(help="File to write.")],
    name: Annotated[str, typer.Option(help="What functions of C are called.")] = "model",
    force: Force = False,
    json: Json = False,
) -> Job:
    return partial(run_export, model, to, out, name, Console(as_json=json), force=force)


@app.command(help=_about("info", MODEL_IS))
def info(model: ModelFile, json: Json = False) -> Job:
    return partial(run_info, model, Console(as_json=json))
