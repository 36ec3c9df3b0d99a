"""Division of training rows for trials (short fits): rows to learn from, and held-back rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from radboost.losses import NamedTargetLoss
from radboost.rows.prepare import PreparedRows, Watched
from radboost.rows.splitting import NothingToHoldBackError

# Largest number of distinct rows, sampled by content, that trials in thirds use.
LOOK_ROWS = 16_000
# Largest number of cells (rows x columns) of held-back rows, which are made dense.
MOST_CELLS = 2**25
# Largest number of distinct rows that trials learn from, and the fraction of rows that are held back.
MOST_LEARNED, HELD_BACK = 12_000, 0.25
# Limits of held-back rows where trials leave more: rows, scores per round, rows that the limit of scores still allows.
MOST_HELD_BACK, MOST_HELD_BACK_SCORES, ENOUGH_HELD_BACK = 12_000, 2**16, 4_000
# Smallest number of distinct rows, held-back ones included, for trials: with fewer, differences are noise.
FEWEST_ROWS = 1_000
# Number of parts of which one at a time is held back, and of held-back rows after which further parts are skipped.
N_FOLDS, ENOUGH_ROWS = 3, 1_000


@dataclass(frozen=True)
class Parts:
    """Numbers of distinct rows that trials learn from, and that are held back."""

    learned: int
    held_back: int

    @property
    def total(self) -> int:
        return self.learned + self.held_back


def parts_of(n_different: int, n_features: int, n_classes: int) -> Parts:
    """Choose the numbers of rows: the more are held back, the smaller the differences that are significant."""
    most = min(MOST_HELD_BACK, max(ENOUGH_HELD_BACK, MOST_HELD_BACK_SCORES // n_classes), MOST_CELLS // n_features)
    learned = int(min(MOST_LEARNED, (1.0 - HELD_BACK) * n_different, (1.0 / HELD_BACK - 1.0) * most))
    return Parts(learned, min(n_different - learned, most))


def drawn(rows: PreparedRows, n_rows: int, n_different: int, seed: int, n_threads: int) -> PreparedRows:
    """Sample `n_rows` of the `n_different` distinct rows, by content; all of them if there are no more."""
    return rows if n_rows >= n_different else rows.draw(n_rows / n_different, seed ^ 0x5EED, n_threads)


@dataclass(frozen=True)
class Fold:
    """Training rows and held-back rows of a trial; `n_different` is the number of distinct held-back rows."""

    learned: PreparedRows
    held_back: Watched
    n_different: int


def thirds(
    rows: PreparedRows, seed: int, n_threads: int, *, most_rows: int = LOOK_ROWS, most_held_back: int = LOOK_ROWS
) -> Iterator[Fold]:
    """Yield folds of a sample of `most_rows` rows; each holds back another third, at most `most_held_back` rows.

    There are no folds if no class has two rows.
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
    """Factor for the learning rate of a trial, limited so that the rate is at most 1.

    It is 1 with a loss of the user's own: larger steps might reach scores for which that cannot be computed.
    """
    known = isinstance(loss, str | NamedTargetLoss)
    return max(1.0, min(steps, 1.0 / learning_rate)) if known else 1.0
