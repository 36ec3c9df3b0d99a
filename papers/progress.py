"""A progress bar on a terminal (with rich), otherwise a plain line now and then."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SECONDS_BETWEEN_LINES = 30.0


class Display(Protocol):
    """Where a long run tells how far it is."""

    def advance(self, name: str) -> None:
        """Count one fit; `name` is what is being worked on."""

    def expect(self, more: int) -> None:
        """There will be so many more fits than was said first."""

    def say(self, line: str) -> None:
        """Print a line of the result to standard output."""


@contextmanager
def progress(total: int) -> Iterator[Display]:
    """A display for that many fits; what it says of the progress goes to standard error."""
    if not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield _Lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # rich would otherwise send standard output to the terminal too, even when it is meant for a file
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        yield _Bar(bar, bar.add_task("starting", total=total), total)


class _Bar:
    def __init__(self, bar: Progress, task: TaskID, total: int) -> None:
        self._bar, self._task, self._total = bar, task, total

    def advance(self, name: str) -> None:
        self._bar.update(self._task, advance=1, description=name)

    def expect(self, more: int) -> None:
        self._total += more
        self._bar.update(self._task, total=self._total)

    def say(self, line: str) -> None:
        self._bar.stop()
        print(line, flush=True)
        self._bar.start()


class _Lines:
    def __init__(self, total: int) -> None:
        self._total, self._done, self._last = total, 0, time.monotonic()

    def advance(self, name: str) -> None:
        self._done += 1
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(f"{name}: {self._done} of {self._total} fits", file=sys.stderr, flush=True)

    def expect(self, more: int) -> None:
        self._total += more

    def say(self, line: str) -> None:
        print(line, flush=True)
