"""What every competitor is given alike, and the sizes of the tasks."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PERFORMANCE = ROOT / "docs" / "performance.md"  # where limits and growth are written down
WARM_UP_ROWS = 1_000  # a first fit on so many loads the code of a library


@dataclass(frozen=True)
class Settings:
    """One fit: the same rounds, depth, bins and threads for everybody."""

    rounds: int
    depth: int
    bins: int = 255
    threads: int = 2
    seed: int = 0

    @property
    def leaves(self) -> int:
        """Leaves of a full tree, for libraries that bound leaves as well as depth."""
        return 1 << self.depth


@dataclass(frozen=True)
class Sizes:
    """How large the tasks are; `quick` is for trying the code, not for figures."""

    large_rows: int = 1_000_000
    large_test_rows: int = 100_000
    large_columns: int = 28
    slope: tuple[int, int] = (20, 120)
    slow_slope: tuple[int, int] = (1, 3)
    mnist17_rows: int | None = None
    mnist17_rounds: int = 100
    letters_rows: int | None = None
    letters_rounds: int = 20
    middle_rows: int | None = None
    reach_rounds: int = 300
    reach_large_rows: int = 200_000
    reach_peer_rounds: int = 100
    reach_grid: tuple[int, ...] = (10, 15, 22, 33, 50, 75, 100, 150, 225, 340, 500)
    mnist_train_rows: int = 60_000
    mnist_rounds: int = 100
    mnist_repeats: int = 2
    small_rounds: int = 100
    predict_rows: int = 500_000
    predict_train_rows: int = 100_000
    predict_slow_train_rows: int = 5_000
    predict_trees: int = 100
    single_calls: int = 500
    memory_rounds: int = 100
    rgb_rounds: int = 100
    sources_slope: tuple[int, int] = (5, 65)
    softmax_rounds: int = 1000
    softmax_slow_rounds: int = 10
    amazon_rows: int | None = None
    sparse_dense: tuple[int, int] = (5_000, 2_000)
    satimage_rows: int | None = None
    structured_length: int = 30
    growth_rows: int = 10_000
    growth_rounds: tuple[int, int] = (5, 25)
    growth_repeats: int = 2
    cluster_rows: int = 1_000_000
    cluster_slope: tuple[int, int] = (10, 60)
    cluster_repeats: int = 3
    repeats: int = 5

    @classmethod
    def quick(cls) -> "Sizes":
        """Seconds instead of minutes."""
        return cls(
            large_rows=20_000,
            large_test_rows=5_000,
            slope=(5, 15),
            slow_slope=(1, 2),
            mnist17_rows=500,
            mnist17_rounds=10,
            letters_rows=3_000,
            letters_rounds=3,
            middle_rows=2_000,
            reach_rounds=30,
            reach_large_rows=5_000,
            reach_peer_rounds=10,
            reach_grid=(5, 10, 20),
            mnist_train_rows=1_000,
            mnist_rounds=3,
            mnist_repeats=1,
            small_rounds=20,
            predict_rows=20_000,
            predict_train_rows=5_000,
            predict_slow_train_rows=1_000,
            predict_trees=20,
            single_calls=50,
            memory_rounds=10,
            rgb_rounds=10,
            sources_slope=(2, 5),
            softmax_rounds=20,
            softmax_slow_rounds=2,
            amazon_rows=500,
            sparse_dense=(300, 100),
            satimage_rows=300,
            structured_length=6,
            growth_rows=500,
            growth_rounds=(2, 6),
            growth_repeats=1,
            cluster_rows=20_000,
            cluster_slope=(2, 5),
            cluster_repeats=1,
            repeats=2,
        )
