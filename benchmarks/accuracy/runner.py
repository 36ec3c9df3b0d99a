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
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import Competitor, at_defaults
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


def mean_ranks(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: the mean place of each competitor among the others, of equals the mean of theirs.

    A place is one of a set and noise, by the mean over the fits that everybody has there. The standard error is that
    of a mean over clean and noisy sets, as if their places were independent.
    """
    lines = [["mean rank, clean / noisy / both ± standard error", *MEASURES, "sets"]]
    ranks: dict[str, list[str]] = {competitor.name: [] for competitor in competitors}
    for measure in MEASURES:
        found = np.stack([_in_common(competitors, tasks, results, measure, noise) for noise in NOISES])
        places = [rankdata(one[:, ~np.isnan(one).any(axis=0)], axis=0) for one in found]
        for competitor, *pair in zip(competitors, *places, strict=True):
            both = np.concatenate(pair)
            shown = [f"{place.mean():.2f}" if len(place) else "-" for place in (*pair, both)]
            error = f" ± {both.std(ddof=1) / np.sqrt(len(both)):.2f}" if len(both) > 1 else ""
            ranks[competitor.name].append(" / ".join(shown) + error)
    n_sets = " / ".join(str(place.shape[1]) for place in places)
    return _markdown([*lines, *([name, *shown, n_sets] for name, shown in ranks.items())])


def gains(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, defaults: Results) -> str:
    """Markdown: what tuning takes off each measure, on average over the sets where both fits are there."""
    lines = [["less than at the defaults, clean / noisy", *MEASURES, "sets"]]
    for competitor in competitors:
        plain, shown, n_sets = at_defaults(competitor), [], [0, 0]
        shared = [task for task in tasks if (competitor, task) in results and (plain, task) in defaults]
        for measure in MEASURES:
            pair = []
            for noise in NOISES:
                before = _in_common([plain], shared, defaults, measure, noise)
                after = _in_common([competitor], shared, results, measure, noise)
                known = ~np.isnan(before)
                pair.append((before - after)[known].mean() if known.any() else np.nan)
                n_sets[NOISES.index(noise)] = int(known.sum())
            shown.append(_pair(pair))
        lines.append([competitor.name, *shown, " / ".join(map(str, n_sets))])
    return _markdown(lines)


def _in_common(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str, noise: float
) -> NDArray[np.float64]:
    """A line for each competitor, a column for each set, over the fits that all have; NaN where there are none."""
    names = list(dict.fromkeys(task.dataset for task in tasks))
    found = np.full((len(competitors), len(names)), np.nan)
    for column, name in enumerate(names):
        shared = [t for t in tasks if t.dataset == name and t.noise == noise]
        shared = [t for t in shared if all((competitor, t) in results for competitor in competitors)]
        for place, competitor in enumerate(competitors if shared else ()):
            found[place, column] = MEASURES[measure](results.of(competitor, shared) or [])
    return found


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
