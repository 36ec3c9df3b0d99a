"""What a task reports."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One competitor in one task; `figure` is what ratios are taken of, NaN when there is none."""

    competitor: str
    figure: float
    ours: bool = False
    error: float | None = None
    trees: int | None = None
    note: str = ""
    runs: list[float] = field(default_factory=list)


FASTEST = "the fastest other"


@dataclass(frozen=True)
class Target:
    """A promise: the figure of `ours` is at most `ratio` times that of `peer`, which may be `FASTEST`."""

    ours: str
    peer: str
    ratio: float


@dataclass(frozen=True)
class Result:
    """A task's table."""

    task: str
    title: str
    unit: str
    rows: list[Row]
    targets: list[Target] = field(default_factory=list)
    note: str = ""
    other_load: str = ""

    def figure(self, competitor: str) -> float:
        """The figure of a competitor."""
        return next(row.figure for row in self.rows if row.competitor == competitor)

    def peer(self, target: Target) -> str:
        """The competitor that a target is about."""
        if target.peer != FASTEST:
            return target.peer
        others = [row for row in self.rows if not row.ours and not math.isnan(row.figure)]
        return min(others, key=lambda row: row.figure).competitor

    def ratio(self, target: Target) -> float:
        """What a target bounds; NaN where a figure is missing."""
        return self.figure(target.ours) / self.figure(self.peer(target))
