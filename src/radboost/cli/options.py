"""Options of `radboost fit`, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from radboost.cli.files import check_new, check_report, same_file
from radboost.cli.reading import ReadOptions


@dataclass(frozen=True)
class FitOptions:
    """Arguments of `radboost fit`, named as on the command line."""

    data: tuple[str, ...]
    target: str
    estimator: str
    out: Path
    report: Path | None
    tune: str | None
    test: str | None
    holdout: float
    keep_judged: bool
    task: str | None
    ignore: tuple[str, ...]
    categorical: tuple[str, ...]
    weights: str | None
    missing: tuple[str, ...]
    cost: str | None
    seed: int
    jobs: int | None
    force: bool
    read: ReadOptions
    command: str
    settings: tuple[str, ...] = ()
    metric: str | None = None
    class_weight: str | None = None
    group: str | None = None
    time: str | None = None
    folds: int | None = None

    @property
    def title(self) -> str:
        """Name of the first file, and the number of others."""
        more = len(self.data) - 1
        return self.data[0] + (f" and {more} more {'file' if more == 1 else 'files'}" if more else "")


def check_options(options: FitOptions) -> None:
    """Refuse all that can be refused before a file is read."""
    inputs = (*options.data, options.test, options.cost)
    check_new("--out", options.out, force=options.force, inputs=inputs)
    if options.report is not None:
        check_report(options.report, force=options.force, inputs=inputs)
        if same_file(options.report, options.out):
            raise ValueError(f"--out and --report both name {options.out}; give them different names")
    if not 0.0 <= options.holdout < 1.0:
        raise ValueError(f"--holdout is {options.holdout:g}; give a fraction of the rows, at least 0 and below 1")
    if options.report is not None and options.holdout == 0.0 and options.test is None:
        raise ValueError("--report needs rows that the model has not seen; leave out --holdout 0, or give --test FILE")
    if options.folds is not None and options.folds < 2:
        raise ValueError(f"--folds is {options.folds}; give 2 or more")
    if options.folds is not None:
        _refuse(
            {
                "--test": options.test,
                "--tune": options.tune,
                "--time": options.time,
                "--report": options.report,
                "--keep-judged": options.keep_judged or None,
                "--holdout 0": 0.0 if options.holdout == 0.0 else None,
            },
            "--folds judges every row by a model that has not seen it; leave out {}, or --folds",
        )
    if options.test is not None or options.holdout == 0.0:
        chosen_by = {"--group": options.group, "--time": options.time}
        _refuse(chosen_by, "{0} says which rows are held out; leave out --test and --holdout 0, or {0}")
    if options.group is not None and options.time is not None:
        raise ValueError("--group and --time say in different ways which rows are held out; give one of them")
    if options.seed < 0:
        raise ValueError(f"--seed is {options.seed}; give a number that is not negative")
    if options.jobs is not None and options.jobs < 1:
        raise ValueError(f"--jobs is {options.jobs}; give how many threads may run, 1 or more")


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse the first option that was given; `why` has its name in braces."""
    for option, given in options.items():
        if given is not None:
            raise ValueError(why.format(option))
