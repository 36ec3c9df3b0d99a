"""Runs what is missing, keeps every result, and makes the table of means."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.judging import Judgement, calibration_error, judge
from benchmarks.accuracy.tasks import NOISES, Parts, Source, Task

ResultKey = tuple[str, str, int, float, int]


class Results:
    """A file of JSON lines, one fit each, appended when the fit ends: stopping loses nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._judged: dict[ResultKey, Judgement] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            self._remember(json.loads(line))

    def __contains__(self, entry: tuple[Competitor, Task]) -> bool:
        return _key(*entry) in self._judged

    def add(self, competitor: Competitor, task: Task, judgement: Judgement) -> None:
        record = {
            "name": competitor.name,
            "key": competitor.key,
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
        found = [self._judged.get(_key(competitor, task)) for task in tasks]
        return None if None in found else [one for one in found if one is not None]

    def _remember(self, record: dict[str, Any]) -> None:
        if "log_loss" not in record:  # of an older experiment, which asked for less
            return
        key: ResultKey = tuple(record[k] for k in ("key", "dataset", "seed", "noise", "fold"))
        self._judged[key] = Judgement(**{one.name: record[one.name] for one in fields(Judgement)})


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
        for task, judgement in Parallel(jobs, return_as="generator_unordered")(fits):
            results.add(competitor, task, judgement)
        say(f"{competitor.name}: {len(missing)} fits in {time.perf_counter() - started:.0f} s")


def _fit(competitor: Competitor, task: Task, parts: Parts) -> tuple[Task, Judgement]:
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
    return task, judge(probabilities, np.asarray(estimator.classes_), parts.y_test, answers, seconds)


def _mean_error(judged: Sequence[Judgement]) -> float:
    return float(np.mean([one.error for one in judged]))


def _mean_log_loss(judged: Sequence[Judgement]) -> float:
    return float(np.mean([one.log_loss for one in judged]))


def _beyond_chance(judged: Sequence[Judgement]) -> float:
    found, chance = calibration_error(judged)
    return found - chance


MEASURES: dict[str, Callable[[Sequence[Judgement]], float]] = {
    "mean test error": _mean_error,
    "mean log loss": _mean_log_loss,
    "calibration error beyond chance": _beyond_chance,
}


def table(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str) -> str:
    """Markdown: a row per competitor, with `clean / noisy` per set and over all, and seconds to fit.

    Over all sets is the mean of theirs.
    """
    names = list(dict.fromkeys(task.dataset for task in tasks))
    lines = [[f"{measure}, clean / noisy", *names, "**all**", "fit seconds"]]
    for competitor in competitors:
        found = _measured(competitor, tasks, results, measure)
        everywhere = [_pair(line) for line in found]
        lines.append([competitor.name, *everywhere, f"**{_mean(found)}**", _seconds(competitor, tasks, results)])
    return _markdown(lines)


def summary(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: a row per competitor, with every measure over all sets."""
    lines = [["clean / noisy", *MEASURES, "fit seconds"]]
    for competitor in competitors:
        means = [_mean(_measured(competitor, tasks, results, measure)) for measure in MEASURES]
        lines.append([competitor.name, *means, _seconds(competitor, tasks, results)])
    return _markdown(lines)


def _measured(competitor: Competitor, tasks: Sequence[Task], results: Results, measure: str) -> NDArray[np.float64]:
    """A line for each set, a column for each noise; NaN while fits are missing."""
    names = list(dict.fromkeys(task.dataset for task in tasks))
    found = np.full((len(names), len(NOISES)), np.nan)
    for place, name in enumerate(names):
        for column, noise in enumerate(NOISES):
            judged = results.of(competitor, [t for t in tasks if t.dataset == name and t.noise == noise])
            found[place, column] = np.nan if judged is None else MEASURES[measure](judged)
    return found


def _mean(found: NDArray[np.float64]) -> str:
    return _pair(found.mean(axis=0))


def _pair(numbers: Iterable[float]) -> str:
    return " / ".join(map(_short, numbers))


def _seconds(competitor: Competitor, tasks: Sequence[Task], results: Results) -> str:
    everything = results.of(competitor, tasks)
    return "-" if everything is None else f"{sum(one.seconds for one in everything):.0f}"


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rows])


def _short(number: float) -> str:
    if np.isnan(number):
        return "-"
    text = f"{abs(number):.4f}".removeprefix("0")
    return f"-{text}" if number < 0 and float(text) else text
