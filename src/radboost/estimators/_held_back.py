"""Rows for short fits, and rows that these do not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from radboost.losses import NamedTargetLoss
from radboost.rows.prepare import PreparedRows, Watched
from radboost.rows.splitting import NothingToHoldBackError

# So many different rows are looked at in thirds, at most, drawn by their content.
LOOK_ROWS = 16_000
# Held-back rows are made dense: no more cells of them than this.
MOST_CELLS = 2**25
# Short fits learn from so many different rows at most. A quarter of the rows is held back; with more rows than short
# fits learn from, all of the others, within limits of their number and of the scores that are computed in each round.
MOST_LEARNED, HELD_BACK = 12_000, 0.25
MOST_HELD_BACK, MOST_HELD_BACK_SCORES, ENOUGH_HELD_BACK = 12_000, 2**16, 4_000
# Fewer different rows than this, held-back ones included, could not tell anything beyond chance: no look.
FEWEST_ROWS = 1_000
# A third of the rows is held back, then another third, until there have been enough.
N_FOLDS, ENOUGH_ROWS = 3, 1_000


@dataclass(frozen=True)
class Parts:
    """How many different rows short fits learn from, and how many are held back."""

    learned: int
    held_back: int

    @property
    def total(self) -> int:
        return self.learned + self.held_back


def parts_of(n_different: int, n_features: int, n_classes: int) -> Parts:
    """The more rows are held back, the smaller a difference they can tell from chance."""
    most = min(MOST_HELD_BACK, max(ENOUGH_HELD_BACK, MOST_HELD_BACK_SCORES // n_classes), MOST_CELLS // n_features)
    learned = int(min(MOST_LEARNED, (1.0 - HELD_BACK) * n_different, (1.0 / HELD_BACK - 1.0) * most))
    return Parts(learned, min(n_different - learned, most))


def drawn(rows: PreparedRows, n_rows: int, n_different: int, seed: int, n_threads: int) -> PreparedRows:
    """So many of the different rows; all of them where that is all there are."""
    return rows if n_rows >= n_different else rows.draw(n_rows / n_different, seed ^ 0x5EED, n_threads)


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, and those that are held back meanwhile; `n_different` counts the latter without copies."""

    learned: PreparedRows
    held_back: Watched
    n_different: int


def thirds(
    rows: PreparedRows, seed: int, n_threads: int, *, most_rows: int = LOOK_ROWS, most_held_back: int = LOOK_ROWS
) -> Iterator[Fold]:
    """The rows, or so many of them at most, in thirds, of which one at a time is held back, or so many rows of it.

    None where no class has two rows.
    """
    n_different = rows.n_different(n_threads)
    n_rows = min(LOOK_ROWS, most_rows, n_different)
    share = min(1.0 / N_FOLDS, most_held_back / n_rows, MOST_CELLS / (max(1, rows.n_features) * n_rows))
    try:
        rows = drawn(rows, n_rows, n_different, seed, n_threads)
        for fold in range(N_FOLDS):
            if fold * n_rows >= N_FOLDS * ENOUGH_ROWS:
                return
            learned, held_back, _ = rows.hold_back((fold / N_FOLDS, fold / N_FOLDS + share), seed, n_threads)
            yield Fold(learned, held_back, int(share * n_rows))
    except NothingToHoldBackError:
        return


def how_much_longer(steps: float, learning_rate: float, loss: object) -> float:
    """By what factor the steps of a short fit may be longer: none is more than whole.

    With a loss of the user's own they are as long as ever: longer ones might reach scores that it cannot compute.
    """
    known = isinstance(loss, str | NamedTargetLoss)
    return max(1.0, min(steps, 1.0 / learning_rate)) if known else 1.0
