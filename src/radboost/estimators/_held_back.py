"""Division of training rows for trials (short fits) and calibration: rows to learn from, and held-back rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from radboost.losses import NamedTargetLoss
from radboost.rows.fields import Rows
from radboost.rows.prepare import PreparedRows
from radboost.rows.splitting import NothingToHoldBackError

# All numbers of rows are of distinct rows.
MOST_ROWS_OF_FOLDS = 16_000  # rows of all folds together, sampled by content
MOST_CELLS = 2**25  # rows x columns of held-back rows, which are made dense
MOST_LEARNED = 12_000  # rows that a trial learns from
HELD_BACK = 0.25  # fraction of rows; more are held back if MOST_LEARNED leaves more
MOST_HELD_BACK = 12_000  # rows
MOST_HELD_BACK_SCORES = 2**16  # rows x classes; a limit of the time for each evaluation
ENOUGH_HELD_BACK = 4_000  # rows that MOST_HELD_BACK_SCORES allows for any number of classes
FEWEST_ROWS = 1_000  # for trials, held-back rows included: with fewer, differences are noise
N_FOLDS = 3  # one at a time is held back
ENOUGH_ROWS = 1_000  # rows held back so far after which further folds are skipped


@dataclass(frozen=True)
class Parts:
    """Numbers of distinct rows that trials learn from (`learned`), and that are held back."""

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


def sample(rows: PreparedRows, n_rows: int, n_different: int, seed: int, n_threads: int) -> PreparedRows:
    """Sample about `n_rows` of the `n_different` distinct rows, keyed by content and seed; all if there are no more."""
    return rows if n_rows >= n_different else rows.draw(n_rows / n_different, seed ^ 0x5EED, n_threads)


@dataclass(frozen=True)
class Fold:
    """Training rows and held-back rows of a trial; `n_different` is the number of distinct held-back rows."""

    learned: PreparedRows
    held_back: Rows
    n_different: int


def folds_of(
    rows: PreparedRows,
    seed: int,
    n_threads: int,
    *,
    most_rows: int = MOST_ROWS_OF_FOLDS,
    most_held_back: int = MOST_ROWS_OF_FOLDS,
) -> Iterator[Fold]:
    """Yield folds of a sample of `most_rows` rows; each holds back another third, at most `most_held_back` rows.

    There are no folds if no class has two distinct rows.
    """
    n_different = rows.n_different(n_threads)
    n_rows = min(MOST_ROWS_OF_FOLDS, most_rows, n_different)
    fraction = min(1.0 / N_FOLDS, most_held_back / n_rows, MOST_CELLS / (max(1, rows.n_features) * n_rows))
    try:
        rows = sample(rows, n_rows, n_different, seed, n_threads)
        for fold in range(N_FOLDS):
            if fold * n_rows >= N_FOLDS * ENOUGH_ROWS:
                return
            learned, held_back, _ = rows.hold_back((fold / N_FOLDS, fold / N_FOLDS + fraction), seed, n_threads)
            yield Fold(learned, held_back, int(fraction * n_rows))
    except NothingToHoldBackError:
        return


def rate_factor(steps: float, learning_rate: float, loss: object) -> float:
    """Factor on the learning rate of a trial: `steps`, limited so that the rate is at most 1.

    It is 1 with a user-defined loss: larger steps might reach scores for which it cannot be computed.
    """
    known = isinstance(loss, str | NamedTargetLoss)
    return max(1.0, min(steps, 1.0 / learning_rate)) if known else 1.0
