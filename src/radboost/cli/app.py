"""Commands for tables and models, as typer runs them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import typer

from radboost.cli.fitting import fit
from radboost.cli.model_commands import evaluate, explain, export, info, predict, report
from radboost.cli.options import with_options

# Base class of typer's errors. It belongs to click, which is a package of its own or, with newer versions, a part of
# typer.
MISTAKES: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

# Argument -> its help, in that of each command that has it.
ARGUMENTS = {
    "model": "MODEL is a file that radboost fit wrote.",
    "data": "DATA is a table: CSV, TSV, Parquet, Arrow or JSON lines, also with .gz; - is standard input.",
}

app = typer.Typer(add_completion=False)
for function in (fit, predict, evaluate, explain, report, export, info):
    command = with_options(function)
    about = [text for name, text in ARGUMENTS.items() if name in inspect.signature(command).parameters]
    app.command(help="\n\n".join([inspect.getdoc(command) or "", *about]))(command)


def run(arguments: Sequence[str]) -> None:
    """Run a command; a mistake in the call raises ValueError."""
    try:
        # not `main`, which has a status of its own for Ctrl-C and for a closed pipe
        with typer.main.get_command(app).make_context("radboost", list(arguments), obj=arguments) as context:
            context.command.invoke(context)
    except typer.Exit:
        return  # after --help
    except MISTAKES as error:
        message = str(getattr(error, "format_message", error.__str__)())
        path = getattr(getattr(error, "ctx", None), "command_path", "radboost")
        raise ValueError(f"{message.rstrip('.')}; see {path} --help") from error
