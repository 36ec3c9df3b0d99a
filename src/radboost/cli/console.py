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
            print(json.dumps(plain({**document, "notes": self.notes}), allow_nan=False))

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Turn warnings for users within the block into notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, UserWarning):
                self.note(str(warning.message))

    @contextmanager
    def progress(self, title: str) -> Iterator[None]:
        """Show the rounds of fits within the block: as a bar in a terminal, and as lines elsewhere."""
        rounds = RoundProgress(title)
        with rounds.bar, drawn_by(rounds.begin):
            yield


class RoundProgress:
    """Display of progress: one bar in a terminal, at first without a number of rounds, and lines elsewhere."""

    def __init__(self, title: str) -> None:
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
        terminal, self._in_lines = RichConsole(stderr=True), not sys.stderr.isatty()
        self.bar = Progress(*columns, console=terminal, transient=True, redirect_stdout=False, disable=self._in_lines)
        self._task, self._title, self._last = self.bar.add_task(title, total=None, left=""), title, time.monotonic()

    def begin(self, total: int, done: int, what: str) -> RoundProgress:
        """Count from `done` to `total`: the rounds of a fit, or parts of a search."""
        self._shown = self._title if what == ROUND else f"{self._title}, {what}"
        self._done, self._total, self._left = done, total, TimeLeft(done)
        return self

    def start(self) -> None:
        """Display what is done."""
        now, left = time.monotonic(), self._left.text(self._done, self._total)
        self.bar.update(self._task, completed=self._done, total=self._total, description=self._shown, left=left[2:])
        if self._in_lines and now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(f"{self._shown}: {self._done:,} of {self._total:,}{left}", file=sys.stderr, flush=True)

    def advance(self, record: Any) -> None:
        """Display that one more is done."""
        self._done += 1
        self.start()

    def stop(self) -> None:
        """Do nothing: the next fit goes on with the same bar."""


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
