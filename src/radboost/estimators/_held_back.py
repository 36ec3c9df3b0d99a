"""Rows for short fits, and rows that these do not see."""

from __future__ import annotations

from collections.abc import Iterator

from radboost.rows.prepare import NothingToHoldBackError, PreparedRows, Watched

# So many different rows are looked at, at most, drawn by their content.
LOOK_ROWS = 16_000
# Held-back rows are made dense: no more cells of them than this.
MOST_CELLS = 2**25
# A third of the rows is held back, then another third, until there have been enough.
N_FOLDS, ENOUGH_ROWS = 3, 1_000


def rows_to_look_at(n_different: int, n_features: int, share_held_back: float) -> int:
    return min(LOOK_ROWS, n_different, int(MOST_CELLS / share_held_back / max(1, n_features)))


def drawn(rows: PreparedRows, n_rows: int, n_different: int, seed: int, n_threads: int) -> PreparedRows:
    """So many of the different rows; all of them where that is all there are."""
    return rows if n_rows >= n_different else rows.draw(n_rows / n_different, seed ^ 0x5EED, n_threads)


def thirds(
    rows: PreparedRows, seed: int, n_threads: int, most_held_back: int = LOOK_ROWS
) -> Iterator[tuple[PreparedRows, Watched]]:
    """Rows to learn from, and those that are held back meanwhile; none where no class has two different rows.

    They are thirds, or parts of these of so many rows at most.
    """
    n_different = rows.n_different(n_threads)
    n_rows = rows_to_look_at(n_different, rows.n_features, 1.0 / N_FOLDS)
    rows = drawn(rows, n_rows, n_different, seed, n_threads)
    share = min(1.0 / N_FOLDS, most_held_back / n_rows)
    for fold in range(N_FOLDS):
        if fold * n_rows >= N_FOLDS * ENOUGH_ROWS:
            return
        try:
            learned, held_back, _ = rows.hold_back((fold / N_FOLDS, fold / N_FOLDS + share), seed, n_threads)
        except NothingToHoldBackError:
            return
        yield learned, held_back
