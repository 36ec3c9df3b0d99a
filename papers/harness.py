"""Harness of all scripts: the fits of a table or figure, their results in a file, the rows that are printed.

A script has one or more studies. A study lists its fits, each described by its facts alone, and makes rows of their
results. Fits whose facts are in the file of `--keep` are not made again, in whichever study they occur.
"""

from __future__ import annotations

import csv
import json
import signal
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import ttest_rel

from papers import datasets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
SECONDS_BETWEEN_MESSAGES = 30.0

Facts = dict[str, Any]
"""Names and JSON values that the result of a fit depends on."""
Result = dict[str, Any]
"""Names and JSON values that a fit led to."""
Row = Sequence[str]
"""Cells of a printed row, one for each column."""
Grid = Mapping[str, Sequence[Any]]
"""Parameter -> values to try."""
Choice = dict[str, Any]
"""Parameter -> value."""


@dataclass(frozen=True)
class Outcome:
    """A fit that was made."""

    facts: Facts
    result: Result


@dataclass(frozen=True)
class Study(ABC):
    """A table or figure of a paper: its fits, and the rows that report them."""

    name: str
    title: str

    legend: ClassVar[str]
    """Text below the rows."""
    runs: ClassVar[int] = 1
    """Repeats of the whole, on other folds or draws."""
    quick_runs: ClassVar[int] = 1

    @property
    @abstractmethod
    def columns(self) -> Row:
        """Heads of the columns."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets that can be chosen, under the paper's names; empty for a study that chooses or makes its own."""
        return ()

    @abstractmethod
    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        """Facts of every fit, in order; `chosen` are names of `datasets`."""

    def further(self, outcomes: Sequence[Outcome]) -> list[Facts]:
        """Facts of fits that the outcomes so far call for; empty when the study is complete."""
        del outcomes
        return []

    @abstractmethod
    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Make one fit, in any process."""

    @abstractmethod
    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        """Rows of the report."""

    def draw(self, outcomes: Sequence[Outcome]) -> Figure:
        """Draw the picture of the study."""
        del outcomes
        raise ValueError(f"{self.name} has no picture; leave out --plot")

    def wanted(
        self, names: Sequence[str] | None = None, *, quick: bool = False, runs: int | None = None, seed: int = 0
    ) -> list[Facts]:
        """Check what was asked for and return the facts of every fit."""
        n_runs = runs if runs is not None else self.quick_runs if quick else self.runs
        if not 1 <= n_runs <= self.runs:
            raise ValueError(f"{self.name} has {self.runs} runs and not {n_runs}; ask for 1 to {self.runs}")
        same = {"radboost": version("radboost"), "seed": seed}
        return [same | facts for facts in self.units(quick, n_runs, self.select(names))]

    def select(self, names: Sequence[str] | None) -> tuple[str, ...]:
        """Check names of data sets, which may be aliases; the study's own names, in its order."""
        if names is None:
            return self.datasets
        if not self.datasets:
            raise ValueError(f"{self.name} chooses or makes its own data; leave out the names of data sets")
        wanted = {official(name): name for name in names}
        lacking = [name for key, name in wanted.items() if key not in map(official, self.datasets)]
        if lacking:
            raise ValueError(f"{self.name} lacks {', '.join(lacking)}; its sets are {', '.join(self.datasets)}")
        return tuple(name for name in self.datasets if official(name) in wanted)


def official(name: str) -> str:
    """Name in the registry of data sets, which knows aliases; other names are left as they are."""
    try:
        return datasets.entry(name).name
    except datasets.DatasetError:
        return name


@lru_cache(maxsize=1)
def load(name: str, data_dir: str | None) -> datasets.Dataset:
    """Data set by name; the last one stays in memory, since many fits share it."""
    return datasets.load(name, data_dir)


# --- fits ---------------------------------------------------------------------------------------------------


class KeptResults:
    """Results by their facts, in a file of JSON lines that grows by one line per fit.

    Stopping a run loses only the fits under way. Without a path nothing outlives the process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._results: dict[str, Result] = {}
        if path is None or not path.exists():
            return
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            try:
                record = json.loads(line)
                self._results[_key(record["facts"])] = record["result"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {path} is not a kept result ({error!r}); remove that line, or name another file"
                ) from error

    def get(self, facts: Facts) -> Result | None:
        """Result for these facts; None if it is not known yet."""
        return self._results.get(_key(facts))

    def add(self, facts: Facts, result: Result) -> None:
        """Keep one more result, on the disk at once."""
        self._results[_key(facts)] = result
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as file:
                file.write(json.dumps({"facts": facts, "result": result}) + "\n")


def _key(facts: Facts) -> str:
    return json.dumps(facts, sort_keys=True)


def run(
    study: Study,
    wanted: Sequence[Facts],
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    kept: KeptResults | None = None,
) -> list[Outcome]:
    """Make the wanted fits, and those that they call for, in `jobs` processes of one thread each."""
    known = kept or KeptResults()
    outcomes: list[Outcome] = []
    last = time.monotonic()
    same = {key: wanted[0][key] for key in ("radboost", "seed") if wanted and key in wanted[0]}
    while wanted:
        total = len(outcomes) + len(wanted)
        fits = (delayed(study.fit)(facts, data_dir) for facts in wanted if known.get(facts) is None)
        fitted = _in_processes(fits, jobs)
        for facts in wanted:
            result = known.get(facts)
            if result is None:
                result = next(fitted)
                known.add(facts, result)
            outcomes.append(Outcome(facts, result))
            if time.monotonic() - last >= SECONDS_BETWEEN_MESSAGES:
                last = time.monotonic()
                print(f"{study.name}: {len(outcomes)} of {total} fits", file=sys.stderr, flush=True)
        wanted = [same | facts for facts in study.further(outcomes)]
    return outcomes


def _in_processes(fits: Iterable[Any], jobs: int) -> Iterator[Any]:
    # A run that Ctrl-C stops has not used all results, and joblib need not say so.
    warnings.filterwarnings("ignore", ".*tasks (have been successfully executed|which were still being).*", UserWarning)
    # Processes started here ignore Ctrl-C: a terminal sends it to all, and the first one ends the others.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return iter(Parallel(n_jobs=jobs, return_as="generator")(fits))
    finally:
        signal.signal(signal.SIGINT, before)


# --- tables -------------------------------------------------------------------------------------------------


def as_text(columns: Row, rows: Sequence[Row]) -> str:
    """Rows below their heads, columns of numbers to the right."""
    cells = list(zip(columns, *rows, strict=True))
    widths = [max(map(len, column)) for column in cells]
    left = [not any(cell[:1].isdigit() for cell in column[1:]) for column in cells]

    def line(row: Row) -> str:
        aligned = (
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(columns), "-" * (sum(widths) + 2 * len(widths) - 2), *map(line, rows)])


def write_csv(path: Path, columns: Row, rows: Sequence[Row]) -> None:
    """Write the cells of a table as they are printed."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


def read_csv(path: Path) -> list[list[str]]:
    """Heads and rows of a file that `write_csv` made."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def stored(name: str) -> list[Path]:
    """Stored tables of a study: of the full run first, then of others, which their names describe."""
    return sorted((FOLDER / "results").glob(f"{name}.*csv"), key=lambda path: len(path.name))


def as_dictionaries(path: Path) -> list[dict[str, str]]:
    """Rows of a file of cells, each by the heads of the columns."""
    head, *rows = read_csv(path)
    return [dict(zip(head, row, strict=True)) for row in rows]


@cache
def published(name: str) -> list[dict[str, str]]:
    """Figures of a paper, from `published/NAME.csv`."""
    return as_dictionaries(FOLDER / "published" / f"{name}.csv")


def mean_std(values: Any, digits: int = 4) -> str:
    """Mean, and standard deviation in brackets."""
    return f"{np.mean(values):.{digits}f} ({np.std(values):.{digits}f})"


def chance_of_lead(errors: Sequence[float], others: Sequence[float]) -> float:
    """One-tailed paired t-test: chance of so large a lead over the others; 1/2 where all errors are the same."""
    if np.array_equal(errors, others):
        return 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about differences that are all alike
        return float(ttest_rel(errors, others, alternative="less").pvalue)


def combine(grid: Grid) -> list[Choice]:
    """Every choice of one value for each parameter."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def results_of(outcomes: Sequence[Outcome], **facts: Any) -> list[Result]:
    """Results of the fits with these facts."""
    return [one.result for one in outcomes if all(one.facts[key] == value for key, value in facts.items())]


def distinct(outcomes: Sequence[Outcome], key: str) -> list[Any]:
    """Values of a fact, in the order in which they come first."""
    return list(dict.fromkeys(one.facts[key] for one in outcomes))
