"""What every study without a grid says about itself: what is fitted, and how the outcomes are shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

Facts = dict[str, Any]
"""What the outcome of a fit depends on."""


class Study(ABC):
    """A list of fits that stand for themselves, and a report of their outcomes."""

    name: str
    title: str
    # The lines below the report.
    legend: ClassVar[str]
    # Whether each outcome has a line of its own, which can be shown before the study ends.
    line_by_line: ClassVar[bool] = False
    # Whether the data sets can be chosen.
    takes_datasets: ClassVar[bool] = False
    # The fact that tells what is being worked on, for the progress bar.
    named_by: ClassVar[str]

    @property
    @abstractmethod
    def heading(self) -> str:
        """The names of the columns of the report."""

    @abstractmethod
    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """The facts of every fit, in order; `datasets` only where they can be chosen."""

    @abstractmethod
    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        """The result of one unit, from its facts and the folder with data sets, in any process."""

    @abstractmethod
    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        """All lines of the report of a study that has ended; an outcome has `facts` and a `result`."""
