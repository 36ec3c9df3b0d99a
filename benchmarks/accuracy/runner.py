"""Runner of the fits that are missing, and the file that keeps every result."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.evaluation import Evaluation, evaluate
from benchmarks.accuracy.tasks import Parts, Source, Task

ResultKey = tuple[str, str, int, float, int]


class Results:
    """A file of JSON lines, one fit each, appended when the fit ends: stopping loses nothing.

    A fit counts for a competitor with the same key, which follows the versions of libraries. Published results are for
    reading with any version or none: `by_name` they count for a competitor with the same name.
    """

    def __init__(self, path: Path, *, by_name: bool = False) -> None:
        self._path = path
        self._by_name = by_name
        self._kept: dict[ResultKey, Evaluation] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self._remember(json.loads(line))

    def __contains__(self, entry: tuple[Competitor, Task]) -> bool:
        return self._key(*entry) in self._kept

    def add(self, competitor: Competitor, task: Task, evaluation: Evaluation) -> None:
        """Append a fit."""
        record = {
            "name": competitor.name,
            "key": competitor.key,
            "version": competitor.version,
            **asdict(task),
            **asdict(evaluation),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self._remember(record)

    def of(self, competitor: Competitor, tasks: Iterable[Task]) -> list[Evaluation] | None:
        """Return the evaluations; None while a fit is missing: a mean over a part would not be comparable."""
        kept = [self._kept.get(self._key(competitor, task)) for task in tasks]
        return None if None in kept else [one for one in kept if one is not None]

    def _remember(self, record: dict[str, Any]) -> None:
        who = "name" if self._by_name else "key"
        key: ResultKey = tuple(record[k] for k in (who, "dataset", "seed", "noise", "fold"))
        self._kept[key] = Evaluation(**{one.name: record[one.name] for one in fields(Evaluation)})

    def _key(self, competitor: Competitor, task: Task) -> ResultKey:
        who = competitor.name if self._by_name else competitor.key
        return who, task.dataset, task.seed, task.noise, task.fold


def run(
    wanted: Iterable[tuple[Competitor, Task]],
    results: Results,
    source: Source,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Make the fits that `results` does not have, in this order, `jobs` at a time."""
    missing = [one for one in wanted if one not in results]
    groups = Counter((competitor.name, task.dataset) for competitor, task in missing)
    done, seconds = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    fits = (delayed(fit)(competitor, task, source.parts(task)) for competitor, task in missing)
    for competitor, task, evaluation in Parallel(jobs, return_as="generator_unordered")(fits):
        results.add(competitor, task, evaluation)
        group = competitor.name, task.dataset
        done[group] += 1
        seconds[group] += evaluation.seconds
        if done[group] == groups[group]:
            say(f"{', '.join(group)}: {done[group]} fits, {seconds[group]:.0f} s")


def fit(competitor: Competitor, task: Task, parts: Parts) -> tuple[Competitor, Task, Evaluation]:
    """Fit and evaluate on one thread."""
    estimator = competitor.build(task.seed)
    started = time.perf_counter()
    # HistGradientBoosting has no parameter for its threads
    with threadpool_limits(1), warnings.catch_warnings():
        # LightGBM names the columns in fit and then warns at predict that a plain array has none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        estimator.fit(parts.X_train, parts.y_train)
        seconds = time.perf_counter() - started
        predicted = np.asarray(estimator.predict(parts.X_test)).ravel()
        probabilities = np.asarray(estimator.predict_proba(parts.X_test), dtype=np.float64)
    classes = np.asarray(estimator.classes_)
    return competitor, task, evaluate(probabilities, classes, parts.y_test, predicted, seconds)
