"""Output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from radboost._progress import ROUND, TimeLeft, drawn_by

SECONDS_BETWEEN_LINES = 30.0
_HALF = re.compile("[\ud800-\udfff]")
# Characters that move the cursor, change colors or the direction of text, or cannot be written: names in tables and
# in model files come from anywhere.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Console:
    """Output of one command. With `as_json` the result is one JSON object, and no text."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.notes: list[str] = []

    def say(self, text: str) -> None:
        """Print a line for people that is no part of the result."""
        print(visible(text), file=sys.stderr, flush=True)

    def note(self, *texts: str) -> None:
        """Print facts that the user should know about the data, each once; they are in the JSON object too."""
        for text in (" ".join(given.split()) for given in texts):
            if text not in self.notes:
                self.notes.append(text)
                self.say(f"note: {text}")

    def result(self, *lines: str) -> None:
        """Print lines of the result, unless it is JSON."""
        for line in () if self.as_json else lines:
            print(visible(line))

    def finish(self, document: dict[str, Any]) -> None:
        """Print the whole result, if it is JSON."""
        if self.as_json:
            text = json.dumps(plain({**document, "notes": self.notes}), ensure_ascii=False, allow_nan=False)
            # names of files may hold bytes that are no text, which Python keeps as halves of pairs
            print(_HALF.sub(lambda match: f"\\u{ord(match[0]):04x}", text))

    @contextmanager
    def warnings_as_notes(self, *kinds: type[Warning]) -> Iterator[None]:
        """Turn warnings within the block into notes: those of UserWarning and of these kinds."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, (UserWarning, *kinds)):
                self.note(str(warning.message))

    @contextmanager
    def progress(self, title: str) -> Iterator[RoundProgress]:
        """Show progress within the block, as a bar in a terminal and as lines elsewhere."""
        progress = RoundProgress(title)
        try:
            with drawn_by(progress.bar):
                yield progress
        finally:
            progress.stop()


class RoundProgress:
    """Display of progress: a bar in a terminal, at first without a number of rounds, and lines elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = self._shown = title
        self._left, self._last = TimeLeft(), time.monotonic()
        self._bar: Any = _rich_bar() if sys.stderr.isatty() else None
        if self._bar is not None:
            self._task = self._bar.add_task(title, total=None, left="")
            self._bar.start()

    def show(self, done: int, total: int) -> None:
        """Display that `done` of `total` are done."""
        now, left = time.monotonic(), self._left.text(done, total)
        if self._bar is not None:
            left = left.removeprefix(", ")
            self._bar.update(self._task, completed=done, total=total, description=self._shown, left=left)
        elif now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(f"{self._shown}: {done:,} of {total:,}{left}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def bar(self, total: int, done: int, what: str) -> _RoundCounter:
        """Counter for the rounds of a fit."""
        self._shown = self._title if what == ROUND else f"{self._title}, {what}"
        self._left = TimeLeft(done)
        return _RoundCounter(self, done, total)


class _RoundCounter:
    def __init__(self, progress: RoundProgress, done: int, total: int) -> None:
        self._progress, self._done, self._total = progress, done, total

    def start(self) -> None:
        self._progress.show(self._done, self._total)

    def advance(self, record: Any) -> None:
        self._done += 1
        self._progress.show(self._done, self._total)

    def stop(self) -> None:
        """Do nothing: the next fit has a counter of its own."""


def _rich_bar() -> Any:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        BarColumn(bar_width=20),
    )
    # rich would otherwise send standard output to the terminal too, even when it is meant for a file
    return Progress(*columns, console=RichConsole(stderr=True), transient=True, redirect_stdout=False)


def visible(text: str) -> str:
    """Text for a terminal, in which control characters are spelled out."""
    return _UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)


def plain(value: Any) -> Any:
    """Value in the types that JSON has; NaN and infinity become None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
