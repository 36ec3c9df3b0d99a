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
SECONDS_BEFORE_A_PART = 2.0  # parts of a fit that are over sooner have no bar
SECONDS_BETWEEN_LINES = 10.0  # of a part, where no bar can be drawn
GLYPHS = "━╸╺…•"  # what rich draws with
ROUND = "round"

# Who hears the lines of this thread in place of standard error.
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)
# What draws the bars of this thread in place of standard error: called with a total, what is done, and what is counted.
_DRAWN_BY: ContextVar[Callable[[int, int, str], Any] | None] = ContextVar("drawn by", default=None)
# The part of a fit that is under way: a trial, say.
_PART: ContextVar[str] = ContextVar("part", default="")


@contextmanager
def drawn_by(make: Callable[[int, int, str], Any] | None) -> Iterator[None]:
    """Bars of this thread are those that `make` makes, whatever `verbose` is; None: of no other kind either."""
    token = _DRAWN_BY.set(make)
    try:
        yield
    finally:
        _DRAWN_BY.reset(token)


@contextmanager
def part_of_fit(name: str) -> Iterator[None]:
    """What bars count meanwhile is done for this part of a fit."""
    token = _PART.set(name)
    try:
        yield
    finally:
        _PART.reset(token)


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
    make, part = _DRAWN_BY.get(), _PART.get()
    what = f"{part}, {what}" if part else what
    if make is not None and n_rounds:
        bar = make(n_rounds, n_done, what)
    else:
        bar = _make_bar(n_rounds, n_done, what) if verbose and _LISTENER.get() is None else None
    quiet = _Quiet(bar)
    quiet.do("start")
    try:
        with drawn_by(_no_bar if make is not None else None):  # what is drawn counts what goes on inside
            yield quiet.advance
    finally:
        quiet.do("stop")


def _no_bar(n_rounds: int, n_done: int, what: str) -> None:
    """Draws nothing."""


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
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=bool(_PART.get()))
        self._task = self._bar.add_task("fit", total=n_rounds, completed=n_done, status="")
        self._refreshed = 0.0
        self._starts = time.monotonic() + (SECONDS_BEFORE_A_PART if _PART.get() else 0.0)
        self._started = False

    def start(self) -> None:
        if time.monotonic() >= self._starts:
            self._bar.start()
            self._started = True

    def advance(self, line: Mapping[str, float]) -> None:
        now = time.monotonic()
        if not self._started:
            self.start()
        refresh = self._started and now - self._refreshed >= REFRESH_SECONDS
        self._bar.update(self._task, advance=1, status=_status(line), refresh=refresh)
        self._refreshed = now if refresh else self._refreshed

    def stop(self) -> None:
        if self._started:
            self._bar.stop()


class _PlainLines:
    def __init__(self, n_rounds: int, n_done: int, what: str) -> None:
        self._n_rounds = n_rounds
        self._done = n_done
        self._what = what
        self._every = max(1, n_rounds // 10)
        self._is_part, self._left = bool(_PART.get()), TimeLeft(n_done)
        self._last = time.monotonic()

    def start(self) -> None:
        """Nothing is shown before the first round."""

    def advance(self, line: Mapping[str, float]) -> None:
        self._done += 1
        now = time.monotonic()
        if self._is_part:
            due = now - self._last >= SECONDS_BETWEEN_LINES
        else:
            due = self._done % self._every == 0 or self._done == self._n_rounds
        if due:
            self._last, status = now, _status(line)
            told = f"{self._what} {self._done}/{self._n_rounds}{self._left.text(self._done, self._n_rounds)}"
            print(f"{told}{f': {status}' if status else ''}", file=sys.stderr)

    def stop(self) -> None:
        """Every line is out."""


class TimeLeft:
    """How long something will take, by how long it has taken."""

    def __init__(self, done: int = 0) -> None:
        self._began, self._first = time.monotonic(), done

    def text(self, done: int, total: int) -> str:
        """The estimate in words; empty in the first seconds and at the end."""
        seconds = time.monotonic() - self._began
        if seconds < SECONDS_BEFORE_A_PART or done <= self._first or done >= total:
            return ""
        left = seconds * (total - done) / (done - self._first)
        return f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"


def _status(line: Mapping[str, float]) -> str:
    """Regression has no error rate, and models with all columns no number of members."""
    parts = [f"{name} {line[name]:.4f}" for name in ("objective", "score") if name in line]
    if "train_error" in line:
        parts.append(f"error {line['train_error']:.4f}")
    for name, what in (("n_hypotheses", "hypotheses"), ("n_features", "features")):
        if name in line:
            parts.append(f"{int(line[name])} {what}")
    return ", ".join(parts)
