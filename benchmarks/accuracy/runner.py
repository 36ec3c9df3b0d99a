"""Runs what is missing, keeps every result, and makes the table of means."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.tasks import NOISES, Parts, Source, Task

ResultKey = tuple[str, str, int, float, int]


class Results:
    """A file of JSON lines, one fit each, appended when the fit ends: stopping loses nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._errors: dict[ResultKey, float] = {}
        self._seconds: dict[ResultKey, float] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self._remember(json.loads(line))

    def __contains__(self, entry: tuple[Competitor, Task]) -> bool:
        return _key(*entry) in self._errors

    def add(self, competitor: Competitor, task: Task, error: float, seconds: float) -> None:
        record = {
            "name": competitor.name,
            "key": competitor.key,
            "dataset": task.dataset,
            "seed": task.seed,
            "noise": task.noise,
            "fold": task.fold,
            "error": error,
            "seconds": seconds,
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        self._remember(record)

    def mean_error(self, competitor: Competitor, tasks: Iterable[Task]) -> float:
        """NaN while a fit is missing: a mean over a part would not be comparable."""
        return float(np.mean([self._errors.get(_key(competitor, task), np.nan) for task in tasks]))

    def total_seconds(self, competitor: Competitor, tasks: Iterable[Task]) -> float:
        return float(np.sum([self._seconds.get(_key(competitor, task), np.nan) for task in tasks]))

    def _remember(self, record: dict[str, object]) -> None:
        key: ResultKey = tuple(record[k] for k in ("key", "dataset", "seed", "noise", "fold"))  # type: ignore[assignment]
        self._errors[key] = float(record["error"])  # type: ignore[arg-type]
        self._seconds[key] = float(record["seconds"])  # type: ignore[arg-type]


def _key(competitor: Competitor, task: Task) -> ResultKey:
    return competitor.key, task.dataset, task.seed, task.noise, task.fold


def run(
    competitors: Sequence[Competitor],
    tasks: Sequence[Task],
    results: Results,
    source: Source,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Fit what is not in `results` yet, one competitor after the other, `jobs` fits at a time."""
    for competitor in competitors:
        missing = [task for task in tasks if (competitor, task) not in results]
        if not missing:
            continue
        started = time.perf_counter()
        fits = (delayed(_fit)(competitor, task, source.parts(task)) for task in missing)
        for task, error, seconds in Parallel(jobs, return_as="generator_unordered")(fits):
            results.add(competitor, task, error, seconds)
        say(f"{competitor.name}: {len(missing)} fits in {time.perf_counter() - started:.0f} s")


def _fit(competitor: Competitor, task: Task, parts: Parts) -> tuple[Task, float, float]:
    estimator = competitor.build(task.seed)
    started = time.perf_counter()
    # HistGradientBoosting has no parameter for its threads
    with threadpool_limits(1), warnings.catch_warnings():
        # LightGBM names the columns in fit and then warns at predict that a plain array has none
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        estimator.fit(parts.X_train, parts.y_train)
        seconds = time.perf_counter() - started
        wrong = np.asarray(estimator.predict(parts.X_test)).ravel() != parts.y_test
    return task, float(np.mean(wrong)), seconds


def table(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: a row per competitor, with `clean / noisy` error per set and over all, and seconds to fit."""
    names = list(dict.fromkeys(task.dataset for task in tasks))
    lines = [
        "| mean test error, clean / noisy | " + " | ".join([*names, "**all**", "fit seconds"]) + " |",
        "|---" * (len(names) + 3) + "|",
    ]
    for competitor in competitors:
        cells = []
        for chosen in [[name] for name in names] + [names]:
            means = [
                results.mean_error(competitor, [t for t in tasks if t.dataset in chosen and t.noise == noise])
                for noise in NOISES
            ]
            cells.append(" / ".join(_short(mean) for mean in means))
        cells[-1] = f"**{cells[-1]}**"
        cells.append(f"{results.total_seconds(competitor, tasks):.0f}")
        lines.append(f"| {competitor.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _short(error: float) -> str:
    return "-" if np.isnan(error) else f"{error:.4f}".removeprefix("0")
