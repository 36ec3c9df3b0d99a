"""Options of the commands, each declared once: groups of them are dataclasses whose fields typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from radboost.cli.console import Console
from radboost.cli.files import check_new, check_page, same_file
from radboost.cli.models import METRICS
from radboost.cli.tables import ReadOptions


class Listed(tuple[str, ...]):
    """Words of an option, divided by commas."""

    def __new__(cls, given: str | Listed = "") -> Listed:
        words = given.split(",") if isinstance(given, str) and given else given
        return super().__new__(cls, (word.strip() for word in words))


NO_WORDS = Listed()
DETECTED = ReadOptions()

# Options by the panel of the help that lists them.
table_option = partial(typer.Option, rich_help_panel="The table")
file_option = partial(typer.Option, rich_help_panel="Files")
model_option = partial(typer.Option, rich_help_panel="The model")
columns_option = partial(table_option, metavar="A,B,...", parser=Listed, show_default=False)

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", exists=True, dir_okay=False)]
Data = Annotated[str, typer.Argument(metavar="DATA")]
Force = Annotated[bool, file_option("--force", help="Replace files that exist.")]


@dataclass(frozen=True)
class FitOptions:
    """Arguments of `radboost fit`, named as on the command line."""

    data: Annotated[list[str], typer.Argument(metavar="DATA...")]
    target: Annotated[str, table_option(metavar="COL", help="Column to predict.")]
    estimator: Annotated[
        Literal["auto", "deepboost", "softmax", "rgb", "sparse"],
        model_option(help="Auto is deepboost for classes, rgb for numbers."),
    ] = "auto"
    out: Annotated[Path, file_option(help="Model file to write.")] = Path("model.rad")
    report: Annotated[Path | None, file_option(help="Page about the model to write (.html).")] = None
    tune: Annotated[
        Literal["quick", "thorough"] | None,
        model_option(help="Search for settings: quick for about a minute, thorough for about ten."),
    ] = None
    test: Annotated[
        str | None, table_option(metavar="FILE", help="Judge the model on these rows, and hold none out.")
    ] = None
    holdout: Annotated[float, table_option(help="Share of the rows that are held out to judge the model.")] = 0.2
    keep_judged: Annotated[
        bool, model_option("--keep-judged", help="Save the model that was judged, and not one of all rows.")
    ] = False
    task: Annotated[
        Literal["classes", "numbers"] | None, table_option(help="What the target is; decided by its values otherwise.")
    ] = None
    ignore: Annotated[Listed, columns_option(help="Columns to leave out.")] = NO_WORDS
    categorical: Annotated[Listed, columns_option(help="Columns of numbers that are names.")] = NO_WORDS
    weights: Annotated[str | None, table_option(metavar="COL", help="Column with the weights of rows.")] = None
    missing: Annotated[Listed, columns_option(help="Further words for missing values.")] = NO_WORDS
    cost: Annotated[
        str | None,
        model_option(metavar="MATRIX", help='What answers cost: "0,1;5,0", with a row for each true class.'),
    ] = None
    settings: Annotated[
        list[str] | None,
        model_option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the estimator, such as max_depth=3; may be given several times.",
        ),
    ] = None
    metric: Annotated[
        str | None,
        model_option(
            metavar="NAME",
            help="What the verdict is about first, and searches and early stopping choose by: "
            f"{', '.join(name for of_task in METRICS.values() for name in of_task)}.",
        ),
    ] = None
    class_weight: Annotated[
        str | None, model_option(metavar="balanced|CLASS=W,...", help="Weights of the classes in the fit.")
    ] = None
    group: Annotated[
        str | None,
        table_option(
            metavar="COL", help="Rows with the same value here are held out together; no column of the model."
        ),
    ] = None
    time: Annotated[str | None, table_option(metavar="COL", help="Hold out the latest rows by this column.")] = None
    folds: Annotated[
        int | None,
        table_option(
            metavar="K",
            min=2,
            help="Judge by cross-validation, for small tables: K models, each judged on the rows it has not seen.",
        ),
    ] = None
    seed: Annotated[int, model_option(min=0, help="Of the rows held out and of the fit.")] = 0
    jobs: Annotated[int | None, model_option(min=1, help="Threads; all cores otherwise.")] = None
    force: Force = False
    read: ReadOptions = DETECTED

    @property
    def title(self) -> str:
        """Name of the first file, and the number of others."""
        more = len(self.data) - 1
        return self.data[0] + (f" and {more} more {'file' if more == 1 else 'files'}" if more else "")

    def check(self) -> None:
        """Refuse all that can be refused before a file is read."""
        inputs = (*self.data, self.test)
        check_new("--out", self.out, force=self.force, inputs=inputs)
        if not 0.0 <= self.holdout < 1.0:
            raise ValueError(f"--holdout is {self.holdout:g}; give a fraction of the rows, at least 0 and below 1")
        none_out = self.test is not None or self.holdout == 0.0
        if self.report is not None:
            check_page("--report", self.report, force=self.force, inputs=inputs)
            if same_file(self.report, self.out):
                raise ValueError(f"--out and --report both name {self.out}; give them different names")
            if none_out and self.test is None:
                raise ValueError(
                    "--report needs rows that the model has not seen; leave out --holdout 0, or give --test FILE"
                )
        if self.folds is not None:
            no_folds = {
                "--test": self.test,
                "--tune": self.tune,
                "--time": self.time,
                "--report": self.report,
                "--keep-judged": self.keep_judged,
                "--holdout 0": self.holdout == 0.0,
            }
            _refuse(no_folds, "--folds judges every row by a model that has not seen it; leave out {}, or --folds")
        chosen_by = {"--group": self.group, "--time": self.time}
        if none_out:
            _refuse(chosen_by, "{0} says which rows are held out; leave out --test and --holdout 0, or {0}")
        if None not in chosen_by.values():
            raise ValueError("--group and --time say in different ways which rows are held out; give one of them")


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse the first option that was given; `why` has its name in braces."""
    for option, given in options.items():
        if given not in (None, False):
            raise ValueError(why.format(option))


def _read_options(
    format_: Annotated[
        str | None, table_option("--format", help="csv, tsv, parquet, arrow or jsonl, where the name does not say so.")
    ] = None,
    separator: Annotated[
        str | None, table_option(help="Character between fields of CSV, or the word tab; found out otherwise.")
    ] = None,
    header: Annotated[
        bool | None,
        table_option(help="Whether the first line of CSV has the names of the columns; found out otherwise."),
    ] = None,
    names: Annotated[Listed | None, columns_option(help="Names of the columns of CSV.")] = None,
    skip: Annotated[int, table_option(min=0, help="Lines above the table in CSV.")] = 0,
) -> ReadOptions:
    return ReadOptions(format_, separator, header, names, skip)


def _console(
    json: Annotated[
        bool, typer.Option("--json", help="Write the result as one JSON object to standard output.")
    ] = False,
) -> Console:
    return Console(as_json=json)


# Type of a parameter -> function or class that makes it from options.
GROUPS: dict[Any, Callable[..., Any]] = {FitOptions: FitOptions, ReadOptions: _read_options, Console: _console}


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Function that has the options of a group in place of a parameter whose type is in `GROUPS`."""
    groups: dict[str, Callable[..., Any]] = {}
    parameters: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.annotation in GROUPS:
            groups[name] = with_options(GROUPS[parameter.annotation])
            parameters |= inspect.signature(groups[name]).parameters
        else:
            parameters[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    @wraps(function)
    def flat(**given: Any) -> Any:
        for name, make in groups.items():
            given[name] = make(**{option: given.pop(option) for option in inspect.signature(make).parameters})
        return function(**given)

    flat.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    flat.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return flat
