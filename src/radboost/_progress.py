"""A progress bar for fits that take a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    def __call__(self, objective: float, train_error: float | None, n_hypotheses: int) -> None: ...


@contextmanager
def progress_bar(n_rounds: int, verbose: int) -> Iterator[Progress]:
    """Calls to the yielded function advance the bar by one round; without `verbose` nothing is shown.

    Drawn by rich where that is installed; otherwise a line is printed ten times.
    """
    if not verbose:
        yield lambda objective, train_error, n_hypotheses: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        yield _plain_lines(n_rounds)
        return
    columns = (
        TextColumn("boosting"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Bar(*columns) as bar:
        task = bar.add_task("fit", total=n_rounds, status="")

        def advance(objective: float, train_error: float | None, n_hypotheses: int) -> None:
            bar.update(task, advance=1, status=_status(objective, train_error, n_hypotheses))

        yield advance


def _status(objective: float, train_error: float | None, n_hypotheses: int) -> str:
    """Regression has no error rate."""
    error = "" if train_error is None else f"train error {train_error:.4f}, "
    return f"objective {objective:.4f}, {error}{n_hypotheses} hypotheses"


def _plain_lines(n_rounds: int) -> Progress:
    done = 0
    every = max(1, n_rounds // 10)

    def advance(objective: float, train_error: float | None, n_hypotheses: int) -> None:
        nonlocal done
        done += 1
        if done % every == 0 or done == n_rounds:
            print(f"round {done}/{n_rounds}: {_status(objective, train_error, n_hypotheses)}", file=sys.stderr)

    return advance
