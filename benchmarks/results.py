"""What a task reports."""

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


@dataclass(frozen=True)
class Target:
    """A promise: the figure of `ours` is at most `ratio` times that of `peer`."""

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
