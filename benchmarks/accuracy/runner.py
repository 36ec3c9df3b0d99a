"""Runs what is missing and keeps every result."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.judging import Judgement, judge
from benchmarks.accuracy.tasks import Parts, Source, Task

ResultKey = tuple[str, str, int, float, int]


class Results:
    """A file of JSON lines, one fit each, appended when the fit ends: stopping loses nothing.

    A fit counts for who has the same key, which follows the versions of libraries too. Published results are for
    reading, on machines that have others or none: `by_name` they count for who has the same name.
    """

    def __init__(self, path: Path, *, by_name: bool = False) -> None:
        self._path = path
        self._by_name = by_name
        self._judged: dict[ResultKey, Judgement] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self._remember(json.loads(line))

    def __contains__(self, entry: tuple[Competitor, Task]) -> bool:
        return self._key(*entry) in self._judged

    def add(self, competitor: Competitor, task: Task, judgement: Judgement) -> None:
        record = {
            "name": competitor.name,
            "key": competitor.key,
            "version": competitor.version,
            "dataset": task.dataset,
            "seed": task.seed,
            "noise": task.noise,
            "fold": task.fold,
            **judgement.record(),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self._remember(record)

    def of(self, competitor: Competitor, tasks: Iterable[Task]) -> list[Judgement] | None:
        """None while a fit is missing: a mean over a part would not be comparable."""
        found = [self._judged.get(self._key(competitor, task)) for task in tasks]
        return None if None in found else [one for one in found if one is not None]

    def _remember(self, record: dict[str, Any]) -> None:
        if "log_loss" not in record:  # of an older experiment, which asked for less
            return
        who = "name" if self._by_name else "key"
        key: ResultKey = tuple(record[k] for k in (who, "dataset", "seed", "noise", "fold"))
        self._judged[key] = Judgement(**{one.name: record[one.name] for one in fields(Judgement)})

    def _key(self, competitor: Competitor, task: Task) -> ResultKey:
        who = competitor.name if self._by_name else competitor.key
        return who, task.dataset, task.seed, task.noise, task.fold


def run(
    competitors: Sequence[Competitor],
    tasks: Sequence[Task],
    results: Results,
    source: Source,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Fit what is not in `results` yet, one competitor after the other, `jobs` fits at a time."""
    run_in_order([(competitor, task) for competitor in competitors for task in tasks], results, source, jobs, say)


def run_in_order(
    wanted: Iterable[tuple[Competitor, Task]],
    results: Results,
    source: Source,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """The same in any order: a fit begins as soon as there is room for it, whoever's the last one was."""
    missing = [one for one in wanted if one not in results]
    groups = Counter((competitor.name, task.dataset) for competitor, task in missing)
    done, seconds = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    fits = (delayed(_fit)(competitor, task, source.parts(task)) for competitor, task in missing)
    for competitor, task, judgement in Parallel(jobs, return_as="generator_unordered")(fits):
        results.add(competitor, task, judgement)
        group = competitor.name, task.dataset
        done[group] += 1
        seconds[group] += judgement.seconds
        if done[group] == groups[group]:
            say(f"{', '.join(group)}: {done[group]} fits, {seconds[group]:.0f} s")


def _fit(competitor: Competitor, task: Task, parts: Parts) -> tuple[Competitor, Task, Judgement]:
    estimator = competitor.build(task.seed)
    started = time.perf_counter()
    # HistGradientBoosting has no parameter for its threads
    with threadpool_limits(1), warnings.catch_warnings():
        # LightGBM names the columns in fit and then warns at predict that a plain array has none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        estimator.fit(parts.X_train, parts.y_train)
        seconds = time.perf_counter() - started
        answers = np.asarray(estimator.predict(parts.X_test)).ravel()
        probabilities = np.asarray(estimator.predict_proba(parts.X_test), dtype=np.float64)
    return competitor, task, judge(probabilities, np.asarray(estimator.classes_), parts.y_test, answers, seconds)
