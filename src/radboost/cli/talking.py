"""What a command says: results on standard output, everything else on standard error."""

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

SECONDS_BEFORE_A_BAR = 1.0
SECONDS_BETWEEN_LINES = 30.0
_HALF = re.compile("[\ud800-\udfff]")
# What moves the cursor, changes colours or the direction of text, or cannot be written: names in tables and in files
# of models come from anywhere.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Talk:
    """Where a command tells what it finds. With `as_json` the result is one JSON object, and no text."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.notes: list[str] = []

    def say(self, text: str) -> None:
        """A line for people; no result."""
        print(visible(text), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """What the user should know about their data; part of the JSON object too."""
        text = " ".join(text.split())
        if text not in self.notes:
            self.notes.append(text)
            self.say(f"note: {text}")

    def result(self, text: str) -> None:
        """A line of the result."""
        if not self.as_json:
            print(visible(text))

    def finish(self, document: dict[str, Any]) -> None:
        """The whole result, for programs."""
        if self.as_json:
            text = json.dumps(plain({**document, "notes": self.notes}), ensure_ascii=False, allow_nan=False)
            # names of files may hold bytes that are no text, which Python keeps as halves of pairs
            print(_HALF.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    @contextmanager
    def warnings_as_notes(self, *kinds: type[Warning]) -> Iterator[None]:
        """What the library warns of meanwhile is a note; of these kinds too."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, (UserWarning, *kinds)):
                self.note(str(warning.message))

    @contextmanager
    def progress(self, title: str) -> Iterator[RoundWatch]:
        """Shows how far something is, where it takes longer than a second."""
        watch = _BarWatch(title) if sys.stderr.isatty() else _LineWatch(title)
        try:
            with drawn_by(watch.bar):
                yield watch
        finally:
            watch.stop()


class RoundWatch:
    """Shows how far something is: what it is told, and the rounds of fits that are made meanwhile."""

    def __init__(self, title: str) -> None:
        self.title = self.shown = title
        self.left = TimeLeft()

    def show(self, done: int, total: int) -> None:
        """So many of so many are done."""

    def stop(self) -> None:
        """It is over."""

    def bar(self, total: int, done: int, what: str) -> _Counted:
        """What counts the rounds of a fit."""
        self.shown = self.title if what == ROUND else f"{self.title}, {what}"
        self.left = TimeLeft(done)
        return _Counted(self, done, total)


class _Counted:
    def __init__(self, watch: RoundWatch, done: int, total: int) -> None:
        self._watch, self._done, self._total = watch, done, total

    def start(self) -> None:
        self._watch.show(self._done, self._total)

    def advance(self, line: Any) -> None:
        self._done += 1
        self._watch.show(self._done, self._total)

    def stop(self) -> None:
        """The next fit begins anew."""


class _LineWatch(RoundWatch):
    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._last = time.monotonic()

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(f"{self.shown}: {done:,} of {total:,}{self.left.text(done, total)}", file=sys.stderr, flush=True)


class _BarWatch(RoundWatch):
    """A bar that appears after a second, at first without a number of rounds."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        import threading

        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            BarColumn(bar_width=20),
        )
        # rich would otherwise send standard output to the terminal too, even when it is meant for a file
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
        self._task = self._bar.add_task(title, total=None, left="")
        self._lock, self._ended = threading.Lock(), False
        self._timer = threading.Timer(SECONDS_BEFORE_A_BAR, self._start)
        self._timer.daemon = True
        self._timer.start()

    def _start(self) -> None:
        with self._lock:
            if not self._ended:
                self._bar.start()

    def show(self, done: int, total: int) -> None:
        left = self.left.text(done, total).removeprefix(", ")
        self._bar.update(self._task, completed=done, total=total, description=self.shown, left=left)

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            self._bar.stop()


def visible(text: str) -> str:
    """A text for a terminal: characters that are instructions to it are spelled out."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def plain(value: Any) -> Any:
    """The value as JSON has it: numbers of NumPy's as Python's own, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
