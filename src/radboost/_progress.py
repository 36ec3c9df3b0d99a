"""Progress bars of long fits, on standard error. Whatever happens to the stream, the fit goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

Progress = Callable[[Mapping[str, float]], None]

REFRESH_SECONDS = 0.1
SECONDS_BEFORE_A_PART = 2.0  # parts of a fit that are over sooner have no bar
SECONDS_BETWEEN_LINES = 10.0  # in a part of a fit, where no bar can be drawn
GLYPHS = "━╸╺…•"  # what rich draws with
ROUND = "round"

# Function that gets the lines of this thread instead of standard error.
_SINK: ContextVar[Callable[[str], object] | None] = ContextVar("sink", default=None)
# Function that makes the bars of this thread, of a total, a number done and a unit; None: standard error.
_DRAWN_BY: ContextVar[Callable[[int, int, str], Any] | None] = ContextVar("drawn by", default=None)
# The part of a fit that is under way: a trial, say.
_PART: ContextVar[str] = ContextVar("part", default="")


@contextmanager
def _set_to(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def drawn_by(make: Callable[[int, int, str], Any] | None) -> AbstractContextManager[None]:
    """Bars of this thread are made by `make`, whatever `verbose` is; None for the usual bars."""
    return _set_to(_DRAWN_BY, make)


def part_of_fit(name: str) -> AbstractContextManager[None]:
    """Name the part of a fit that bars count meanwhile."""
    return _set_to(_PART, name)


def lines_sent_to(sink: Callable[[str], object]) -> AbstractContextManager[None]:
    """Lines of this thread go to a function, and no bars are drawn."""
    return _set_to(_SINK, sink)


@contextmanager
def progress_bar(n_rounds: int, verbose: int, n_done: int = 0, what: str = ROUND) -> Iterator[Progress]:
    """Bar on standard error; calls of the yielded function, with a record of the history, advance it by one round.

    `what` is the unit that is counted. Bars are drawn by rich where that is installed and the stream can show them;
    otherwise a line is printed ten times. After an error of the stream nothing more is shown.
    """
    make, part = _DRAWN_BY.get(), _PART.get()
    what = f"{part}, {what}" if part else what
    if make is not None and n_rounds:
        bar = make(n_rounds, n_done, what)
    else:
        bar = _make_bar(n_rounds, n_done, what) if verbose and _SINK.get() is None else None
    quiet = _Quiet(bar)
    quiet.do("start")
    try:
        with drawn_by(_no_bar if make is not None else None):  # a drawn bar counts everything inside
            yield quiet.advance
    finally:
        quiet.do("stop")


def _no_bar(n_rounds: int, n_done: int, what: str) -> None:
    """Draws nothing."""


def say(verbose: int, text: str) -> None:
    """Print a line on standard error if `verbose`."""
    sink = _SINK.get()
    if verbose and sink is not None:
        sink(text)
    elif verbose:
        with suppress(Exception):
            print(text, file=sys.stderr)


class _Quiet:
    """Passes calls on to a bar until one fails."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def advance(self, record: Mapping[str, float]) -> None:
        self.do("advance", record)

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
            # The count comes first: a narrow terminal cuts off the end.
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

    def advance(self, record: Mapping[str, float]) -> None:
        now = time.monotonic()
        if not self._started:
            self.start()
        refresh = self._started and now - self._refreshed >= REFRESH_SECONDS
        self._bar.update(self._task, advance=1, status=_status(record), refresh=refresh)
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

    def advance(self, record: Mapping[str, float]) -> None:
        self._done += 1
        now = time.monotonic()
        if self._is_part:
            due = now - self._last >= SECONDS_BETWEEN_LINES
        else:
            due = self._done % self._every == 0 or self._done == self._n_rounds
        if due:
            self._last, status = now, _status(record)
            done = f"{self._what} {self._done}/{self._n_rounds}{self._left.text(self._done, self._n_rounds)}"
            print(f"{done}{f': {status}' if status else ''}", file=sys.stderr)

    def stop(self) -> None:
        """Every line is out."""


class TimeLeft:
    """Estimate of the remaining time, by the time taken so far."""

    def __init__(self, done: int = 0) -> None:
        self._began, self._first = time.monotonic(), done

    def text(self, done: int, total: int) -> str:
        """The estimate in words; empty in the first seconds and at the end."""
        seconds = time.monotonic() - self._began
        if seconds < SECONDS_BEFORE_A_PART or done <= self._first or done >= total:
            return ""
        left = seconds * (total - done) / (done - self._first)
        return f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"


def _status(record: Mapping[str, float]) -> str:
    """Numbers of a round in words; regression has no error rate, and models of all columns no number of members."""
    parts = [f"{name} {record[name]:.4f}" for name in ("objective", "score") if name in record]
    if "train_error" in record:
        parts.append(f"error {record['train_error']:.4f}")
    for name, unit in (("n_hypotheses", "hypotheses"), ("n_features", "features")):
        if name in record:
            parts.append(f"{int(record[name])} {unit}")
    return ", ".join(parts)
