"""Settings that every competitor gets alike, and the sizes of the tasks."""

from __future__ import annotations

from dataclasses import dataclass

WARM_UP_ROWS = 1_000  # a first fit on these rows loads the code of a library


@dataclass(frozen=True)
class Settings:
    """One fit: rounds, depth, bins and threads."""

    rounds: int
    depth: int
    bins: int = 255
    threads: int = 2
    seed: int = 0
    leaf_wise: bool = False  # grow by leaves, at any depth

    @property
    def leaves(self) -> int:
        """Leaves of a full tree, for libraries that limit leaves as well as depth."""
        return 1 << self.depth


@dataclass(frozen=True)
class Sizes:
    """Sizes of the tasks; None means all rows."""

    large_rows: int = 1_000_000
    large_test_rows: int = 100_000
    large_columns: int = 28
    slope: tuple[int, int] = (20, 120)
    slow_slope: tuple[int, int] = (1, 3)
    real_rows: int | None = None  # of each set that is no generated one
    rounds: int = 100
    reach_rows: int = 200_000
    reach_grid: tuple[int, ...] = (10, 15, 22, 33, 50, 75, 100, 150, 225, 340, 500)
    predict_rows: int = 500_000
    train_rows: int = 100_000  # of models that predict
    slow_train_rows: int = 5_000
    single_calls: int = 500
    softmax_rounds: tuple[int, int] = (10, 1000)
    sparse_dense: tuple[int, int] = (5_000, 2_000)
    table_copies: int = 100  # of the census table
    repeats: int = 5

    @classmethod
    def quick(cls) -> Sizes:
        """Sizes to try the code with: seconds instead of minutes."""
        return cls(
            large_rows=3_000,
            large_test_rows=500,
            large_columns=6,
            slope=(2, 5),
            slow_slope=(1, 2),
            real_rows=400,
            rounds=5,
            reach_rows=2_000,
            reach_grid=(2, 5, 10),
            predict_rows=1_000,
            train_rows=500,
            slow_train_rows=300,
            single_calls=10,
            softmax_rounds=(2, 5),
            sparse_dense=(200, 30),
            table_copies=2,
            repeats=1,
        )
