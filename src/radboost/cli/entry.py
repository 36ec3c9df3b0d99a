"""Entry point of the command line: dispatch to a command, and its exit status."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from radboost import __version__
from radboost.cli.console import visible

HELP = """\
Usage: radboost COMMAND [OPTIONS]

From a table (CSV, TSV, Parquet, Arrow, JSON lines) to a model, its answers, and
a report on how far to trust it: boosting under Rademacher-complexity control.

commands:
  fit       a model of a table: judged on rows held out, saved to a file
  predict   the model's answers for the rows of a table
  evaluate  how often a model is wrong on a table with the answers
  explain   why a model answers as it does for one row
  report    a page about a model, judged by a table with the answers
  export    the model as ONNX, C, Treelite or JSON
  info      what a model file holds

examples:
  radboost fit people.csv --target income --out people.rad --report people.html
  radboost predict people.rad new.csv --proba --out answers.csv
  radboost explain people.rad new.csv --row 3
  radboost evaluate people.rad later.csv
  radboost export people.rad --to onnx --out people.onnx

radboost COMMAND --help lists the options of a command.
"""
NEEDED = ("typer", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 means done, 2 a mistake in the call or the data, 130 stopped by Ctrl-C."""
    _open_closed_streams()
    try:
        _run(list(sys.argv[1:] if arguments is None else arguments))
        # a reader that closed the pipe shows only when the rest is flushed
        sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        print("radboost: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader has closed the pipe (`radboost --help | head`)
        _let_go_of_stdout()
        return 0
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"radboost: {_one_line(error)}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # it was this that failed (`radboost > /dev/full`)
            _let_go_of_stdout()
        return 2


def _run(given: list[str]) -> None:
    """Run a command. Help and the version need nothing but RadBoost itself."""
    if given in ([], ["--help"], ["-h"]):
        print(HELP, end="")
    elif given == ["--version"]:
        print(f"radboost {__version__}")
    else:
        _require_extra(given[0])
        # loaded by name: importing typer takes a while, and it may not be there
        importlib.import_module("radboost.cli.app").run(given)


def _require_extra(command: str) -> None:
    for package in NEEDED:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"radboost {command} needs {package}, which is not installed; pip install 'radboost[cli]' installs "
                "what the commands for tables need"
            ) from error


def _one_line(error: BaseException) -> str:
    said = visible(" ".join(str(error).split()))
    if isinstance(error, MemoryError):
        return f"there is not enough memory; give fewer rows or columns{f' ({said})' if said else ''}"
    return said or type(error).__name__


def _open_closed_streams() -> None:
    """Open os.devnull for streams that were closed (`radboost >&-`): Python has None for them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def _let_go_of_stdout() -> None:
    """Redirect it to os.devnull, so that Python does not fail on closing it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
