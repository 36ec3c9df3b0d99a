"""Studies without a grid: every fit stands for itself.

A study is a list of units, each of them one fit that is told by its facts alone: what is in a file of kept results is
not fitted again, and studies share what they have in common (Figures 1 and 3 of "Soft-max boosting" their problems and
sm-boost).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from joblib import delayed

from papers.kept import KeptResults
from papers.study import Facts, Study
from papers.workers import in_processes


@dataclass(frozen=True)
class Outcome:
    """One fit: its facts and the errors it led to."""

    facts: Facts
    result: dict[str, Any]


def units(study: Study, datasets: Sequence[str] | None = None, *, quick: bool = False, seed: int = 0) -> list[Facts]:
    """The facts of every fit, in order."""
    if datasets is not None and not study.takes_datasets:
        raise ValueError(f"{study.name} chooses or makes its own data; leave out the names of data sets")
    same: Facts = {"radboost": version("radboost"), "seed": seed}
    return [same | facts for facts in study.units(quick, datasets)]


def run(
    study: Study,
    wanted: Sequence[Facts],
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    kept: KeptResults | None = None,
    advance: Callable[[str], None] = lambda _: None,
) -> Iterator[Outcome]:
    """The outcomes of units of a study, in order, in `jobs` processes of one thread each.

    `advance` is called after each.
    """
    known = kept or KeptResults()
    fits = (delayed(study.fit)(facts, data_dir) for facts in wanted if known.get(facts) is None)
    fitted = in_processes(fits, jobs)
    for facts in wanted:
        result = known.get(facts)
        if result is None:
            result = next(fitted)
            known.add(facts, result)
        advance(str(facts[study.named_by]))
        yield Outcome(facts, result)
