"""A progress bar for fits that take a while. Whatever happens to its stream, the fit goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

Progress = Callable[[Mapping[str, float]], None]

REFRESH_SECONDS = 0.1
GLYPHS = "━╸╺…•"  # what rich draws with
ROUND = "round"

# Who hears the lines of this thread in place of standard error.
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Lines of this thread are told to a function, and no bars are drawn: somebody else shows them."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def progress_bar(n_rounds: int, verbose: int, n_done: int = 0, what: str = ROUND) -> Iterator[Progress]:
    """Calls to the yielded function, with a line of the history, advance the bar by one round; on standard error.

    `what` is counted, where it is no rounds.

    Drawn by rich where that is installed and the stream can show it; otherwise a line is printed ten times. A stream
    that is closed, full, or cannot hold a character makes the bar fall silent for the rest of the fit.
    """
    bar = _make_bar(n_rounds, n_done, what) if verbose and _LISTENER.get() is None else None
    quiet = _Quiet(bar)
    quiet.do("start")
    try:
        yield quiet.advance
    finally:
        quiet.do("stop")


def say(verbose: int, text: str) -> None:
    """A line on standard error, where progress is to be shown."""
    listener = _LISTENER.get()
    if verbose and listener is not None:
        listener(text)
    elif verbose:
        with suppress(Exception):
            print(text, file=sys.stderr)


class _Quiet:
    """Hands calls on to a bar until one fails."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def advance(self, line: Mapping[str, float]) -> None:
        self.do("advance", line)

    def do(self, method: str, *arguments: Any) -> None:
        if self._bar is None:
            return
        try:
            getattr(self._bar, method)(*arguments)
        except (Exception, SystemExit):  # rich ends the process where its pipe is broken
            self._bar = None


def _make_bar(n_rounds: int, n_done: int, what: str) -> Any:
    try:
        GLYPHS.encode(sys.stderr.encoding)
        return _RichBar(n_rounds, n_done, what)
    except Exception:  # no rich, no stream, or one that cannot show the bar
        return _PlainLines(n_rounds, n_done, what)


class _RichBar:
    def __init__(self, n_rounds: int, n_done: int, what: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            *([] if what == ROUND else [TextColumn(what)]),
            # What people look for stands first: a narrow terminal cuts off the end.
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            BarColumn(bar_width=10),
            TextColumn("{task.fields[status]}"),
        )
        # Refreshed here and not by a thread of rich's, whose errors nobody could catch.
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False)
        self._task = self._bar.add_task("fit", total=n_rounds, completed=n_done, status="")
        self._refreshed = 0.0

    def start(self) -> None:
        self._bar.start()

    def advance(self, line: Mapping[str, float]) -> None:
        now = time.monotonic()
        refresh = now - self._refreshed >= REFRESH_SECONDS
        self._bar.update(self._task, advance=1, status=_status(line), refresh=refresh)
        self._refreshed = now if refresh else self._refreshed

    def stop(self) -> None:
        self._bar.stop()


class _PlainLines:
    def __init__(self, n_rounds: int, n_done: int, what: str) -> None:
        self._n_rounds = n_rounds
        self._done = n_done
        self._what = what
        self._every = max(1, n_rounds // 10)

    def start(self) -> None:
        """Nothing is shown before the first round."""

    def advance(self, line: Mapping[str, float]) -> None:
        self._done += 1
        if self._done % self._every == 0 or self._done == self._n_rounds:
            status = _status(line)
            print(f"{self._what} {self._done}/{self._n_rounds}{f': {status}' if status else ''}", file=sys.stderr)

    def stop(self) -> None:
        """Every line is out."""


def _status(line: Mapping[str, float]) -> str:
    """Regression has no error rate, and models with all columns no number of members."""
    parts = [f"{name} {line[name]:.4f}" for name in ("objective", "score") if name in line]
    if "train_error" in line:
        parts.append(f"error {line['train_error']:.4f}")
    for name, what in (("n_hypotheses", "hypotheses"), ("n_features", "features")):
        if name in line:
            parts.append(f"{int(line[name])} {what}")
    return ", ".join(parts)
