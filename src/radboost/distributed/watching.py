"""How far a fit on a cluster is: what each worker knows of it, and what the client shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from radboost._progress import ROUND, Progress, progress_bar, say
from radboost.boosting import FitContext
from radboost.distributed.learning import Keeper
from radboost.distributed.meeting import WorkerLostError
from radboost.distributed.parts import LazyPart, Part
from radboost.rows.prepare import PreparedRows

# Like `progress_bar`, with the verbosity settled.
Bar = Callable[..., AbstractContextManager[Progress]]

SECONDS_BETWEEN_QUESTIONS = 0.5
SECONDS_FOR_THE_LAST_ANSWER = 10.0


@dataclass(frozen=True)
class WorkerShare:
    """What a worker held in a fit, and what it sent: an entry of `workers_`.

    Attributes
    ----------
    address : str
    n_partitions, n_rows : int
        Partitions that it was given, and rows with a positive weight in them.
    bytes_of_bins, bytes_of_scores : int
        The rows as bins, a byte for each value, by row and by column; and a number of 8 bytes for each score.
    n_exchanges, bytes_sent : int
        How often it met the other workers, and what it sent them.
    seconds_waiting : float
        For the others, at these meetings.
    """

    address: str
    n_partitions: int
    n_rows: int
    bytes_of_bins: int
    bytes_of_scores: int
    n_exchanges: int = 0
    bytes_sent: int = 0
    seconds_waiting: float = 0.0


@dataclass(frozen=True)
class News:
    """Where the fit of a worker stands."""

    n_parts: int
    n_loaded: int  # in all passes over them
    n_rounds: int | None = None  # of the whole fit, at most; None before the first
    lines: tuple[Mapping[str, float], ...] = ()  # of the history, as many as were not known
    said: tuple[tuple[int, str], ...] = ()  # after how many rounds, and what


@dataclass
class Doing(Keeper):
    """What a worker does just now: written by the thread of its fit, read by its event loop."""

    n_parts: int = 0
    n_loaded: int = 0
    n_rows: int = 0
    bytes_of_bins: int = 0
    bytes_of_scores: int = 0
    said: list[tuple[int, str]] = field(default_factory=list)
    reason_to_end: str | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def counted(self, parts: Sequence[LazyPart]) -> list[LazyPart]:
        """The parts, of which each load is counted."""
        self.n_parts = len(parts)
        return [_Counted(part, self) for part in parts]

    def hear(self, text: str) -> None:
        """A line that the fit would show."""
        self.said.append((0 if self._context is None else self._context.round + 1, text))

    def hold(self, prepared: PreparedRows) -> None:
        self.n_rows = prepared.n_rows
        self.bytes_of_bins = 2 * prepared.data.n_rows * prepared.data.n_columns
        self.bytes_of_scores = 8 * prepared.n_rows * prepared.n_outputs

    def on_fit_begin(self, context: FitContext) -> None:
        super().on_fit_begin(context)
        self.go_on()

    def on_round_end(self, context: FitContext) -> None:
        """A worker that has all rows meets nobody who could end its fit."""
        self.go_on()

    def go_on(self) -> None:
        """Ends the fit where that was asked for."""
        if self.reason_to_end is not None:
            raise WorkerLostError(self.reason_to_end)

    def news(self, n_rounds: int, n_said: int) -> News:
        """For somebody who knows so many rounds, and so many of the lines that were said."""
        said = tuple(self.said[n_said:])
        if self._context is None:
            return News(self.n_parts, self.n_loaded, said=said)
        history = self._context.history
        n_made = min(map(len, history.values()), default=0)  # a round may be written just now
        lines = [{name: history[name][place] for name in history} for place in range(n_rounds, n_made)]
        return News(self.n_parts, self.n_loaded, self._context.n_rounds, tuple(lines), said)


@dataclass(frozen=True)
class _Counted:
    part: LazyPart
    doing: Doing

    @property
    def n_rows(self) -> int:
        return self.part.n_rows

    @property
    def role(self) -> str:
        return self.part.role

    def load(self) -> Part:
        self.doing.go_on()
        loaded = self.part.load()
        self.doing.n_loaded += 1
        return loaded


class Show:
    """The bar of a fit in the client: workers are asked now and then, and nobody waits for their answers."""

    def __init__(self, verbose: int, ask: Callable[[Any, str, int, int], Any], bar: Bar | None = None) -> None:
        self._verbose, self._ask = verbose if bar is None else 1, ask
        self._bar = partial(progress_bar, verbose=verbose) if bar is None else bar
        self._says = bar is None
        self._stack = ExitStack()
        self._advance: Progress | None = None
        self._title = ""
        self._n_shown = 0  # of what the bar counts
        self._n_rounds, self._n_said = 0, 0
        self._members: list[Any] = []
        self._asked: list[Any] = []
        self._last = 0.0

    def follow(self, members: Sequence[Any]) -> None:
        """The members of the fit, which may be other ones after a loss."""
        self._members, self._asked = list(members), []

    def look(self) -> None:
        """Called often; asks, or takes the answers that have come."""
        if not self._verbose or not self._members:
            return
        if self._asked:
            if all(answer is None or answer.done() for answer in self._asked):
                self._take()
        elif time.monotonic() - self._last >= SECONDS_BETWEEN_QUESTIONS:
            self._question()

    def finish(self) -> None:
        """Waits for the last news of a fit that has ended well."""
        if self._verbose:
            self._question()
            self._take()

    def stop(self) -> None:
        """Nothing more is shown before other members are followed."""
        self._stack.close()
        self._title, self._members, self._asked = "", [], []

    def _question(self) -> None:
        self._last = time.monotonic()
        # the first one knows all rounds; before them each has parts of its own to read
        members = self._members[:1] if self._n_rounds else self._members
        self._asked = [self._ask(member, "news", self._n_rounds, self._n_said) for member in members]

    def _take(self) -> None:
        asked, self._asked = self._asked, []
        try:
            found: list[News] = [answer.result(timeout=SECONDS_FOR_THE_LAST_ANSWER) for answer in asked]
        except Exception:  # of a worker that is gone, which others notice
            return
        first = found[0]
        said = list(first.said)
        if first.n_rounds is None:
            self._show_parts(sum(one.n_loaded for one in found), sum(one.n_parts for one in found))
        for line in first.lines:
            self._say(said, self._n_rounds)
            self._count(ROUND, int(first.n_rounds or 0), self._n_rounds)
            self._step(line)
            self._n_rounds += 1
        self._say(said, self._n_rounds)
        self._n_said += len(first.said) - len(said)

    def _say(self, said: list[tuple[int, str]], n_rounds: int) -> None:
        """What was said before the next round."""
        while said and said[0][0] <= n_rounds:
            say(self._says, said.pop(0)[1])

    def _show_parts(self, n_loaded: int, n_parts: int) -> None:
        if not n_loaded:
            return
        place = (n_loaded - 1) // n_parts
        self._count("reading, part" if not place else f"reading, pass {place + 1}, part", n_parts)
        while self._n_shown < n_loaded - place * n_parts:
            self._step({})

    def _count(self, title: str, total: int, n_done: int = 0) -> None:
        """A bar of its own for each thing that is counted."""
        if title == self._title:
            return
        self._stack.close()
        self._title, self._n_shown = title, n_done
        self._advance = self._stack.enter_context(self._bar(total, n_done=n_done, what=title))

    def _step(self, line: Mapping[str, float]) -> None:
        assert self._advance is not None
        self._advance(line)
        self._n_shown += 1
