"""`python -m benchmarks.curves`: test error against rows and against time, for docs/defaults.md.

python -m benchmarks.curves rows   votes against leaves with numbers, with more and more rows
python -m benchmarks.curves small  what might help on small data: several seeds, growth by the edge, stumps, more rounds
python -m benchmarks.curves time   everybody at the defaults, error against seconds; the picture, and when each reaches
                                   the error of the best other library (on an idle machine, one thread)
python -m benchmarks.curves look   how long the look at the data takes on these sets, clean and noisy (the same)
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.competitors import PEERS, ours
from benchmarks.accuracy.tasks import NOISES as TASK_NOISES
from benchmarks.accuracy.tasks import TWO_CLASSES, WHOLE, Parts, Source, Task, all_tasks
from radboost import DeepBoostClassifier, TreeOptions, datasets
from radboost.estimators import _look

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "error-time.png"
ROWS = (3_000, 6_000, 12_000, 24_000)
NOISES = (0.0, 0.2, 0.35)
SMALL_FOLDS = 3
SETS = ("adult", "higgs_part", "letters", "mnist49")
#: rounds of the other libraries, whose default is 100
PEER_ROUNDS = (10, 20, 40, 70, 100)
ROUNDS_PARAMETER = {"HistGradientBoosting": "max_iter", "LightGBM": "n_estimators", "XGBoost": "n_estimators"}

Curve = tuple[list[float], list[float]]  # seconds, test errors


def with_more_rows(data_dir: str | None, seed: int) -> None:
    """Votes, and leaves with numbers whatever the look says of them."""
    source = Source(data_dir)
    print("| votes / numbers | " + " | ".join([f"{n:,}" for n in ROWS] + ["all"]) + " |")
    print("|---" * (len(ROWS) + 2) + "|")
    for name in ("higgs_part", "adult"):
        parts = source.parts(Task(name, seed, 0.0, WHOLE))
        for noise in NOISES:
            labels = datasets.make_noisy(parts.y_train, noise, random_state=seed) if noise else parts.y_train
            cells = [_votes_and_numbers(parts, labels, n, seed) for n in (*ROWS, len(labels))]
            print(f"| {name}, {noise:.0%} wrong | " + " | ".join(cells) + " |", flush=True)


def _votes_and_numbers(parts: Parts, labels: NDArray[Any], n: int, seed: int) -> str:
    errors = []
    with patch.object(_look, "BEYOND_CHANCE", -np.inf):
        for options in (TreeOptions(leaves="votes"), None):
            model = DeepBoostClassifier(random_state=seed, calibration=None, tree_options=options)
            model.fit(parts.X_train[:n], labels[:n])
            errors.append(1.0 - model.score(parts.X_test, parts.y_test))
    return " / ".join(f"{error:.4f}".removeprefix("0") for error in errors)


class Seeds:
    """Fits that differ in their seed; their scores are added up."""

    def __init__(self, n: int, **parameters: Any) -> None:
        self._models = [_votes(seed=seed, **parameters) for seed in range(n)]

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Seeds:
        for model in self._models:
            model.fit(X, y)
        return self

    def score(self, X: NDArray[Any], y: NDArray[Any]) -> float:
        scores = np.sum([model.decision_function(X) for model in self._models], axis=0)
        return float(np.mean((scores > 0.0) == y))


def _votes(seed: int = 0, **parameters: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(random_state=seed, calibration=None, n_jobs=1, **parameters)


BY_EDGE = TreeOptions(split_criterion="edge")
SMALL: dict[str, Callable[[], Any]] = {
    "the default": _votes,
    "by the edge": lambda: _votes(tree_options=BY_EDGE),
    "four seeds": lambda: Seeds(4),
    "four seeds, by the edge": lambda: Seeds(4, tree_options=BY_EDGE),
    "trees and stumps": lambda: _votes(family=["trees", "stumps"]),
    "900 rounds, learning rate 0.033": lambda: _votes(n_rounds=900, learning_rate=0.033),
}


def on_small_data(data_dir: str | None, seed: int) -> None:
    """Three folds of one draw of the rows, clean and noisy."""
    source = Source(data_dir)
    tasks = [task for task in all_tasks(tuple(TWO_CLASSES), [seed]) if task.fold < SMALL_FOLDS]
    print("| | clean / noisy | processor seconds |")
    print("|---" * 3 + "|")
    for name, make in SMALL.items():
        started, found = time.process_time(), []
        for task in tasks:
            parts = source.parts(task)
            found.append(1.0 - make().fit(parts.X_train, parts.y_train).score(parts.X_test, parts.y_test))
        errors = [np.mean([e for e, task in zip(found, tasks, strict=True) if task.noise == n]) for n in TASK_NOISES]
        cells = " / ".join(f"{error:.4f}".removeprefix("0") for error in errors)
        print(f"| {name} | {cells} | {time.process_time() - started:.0f} |", flush=True)


class Stopwatch:
    """A callback that notes the seconds since `fit` began, after each round."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.seconds: list[float] = []

    def on_round_end(self, context: Any) -> None:
        self.seconds.append(time.perf_counter() - self.started)


class OnlyTheLook(Stopwatch):
    """Ends the fit when its rounds begin."""

    def on_fit_begin(self, context: Any) -> None:
        self.seconds.append(time.perf_counter() - self.started)
        context.stop()


def looks(data_dir: str | None, seed: int) -> None:
    """Seconds until the first round of the whole fit; reading and binning the rows are among them."""
    source = Source(data_dir)
    print("| seconds before the first round | clean | noisy |")
    print("|---" * 3 + "|")
    for name in SETS:
        found = []
        for noise in TASK_NOISES:
            parts, watch = source.parts(Task(name, seed, noise, WHOLE)), OnlyTheLook()
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a model without a round is empty
                ours("large")[0].build(seed).fit(parts.X_train, parts.y_train, callbacks=[watch])
            found += watch.seconds
        print(f"| {name} | " + " | ".join(f"{seconds:.2f}" for seconds in found) + " |", flush=True)


def our_curve(estimator: Any, parts: Parts) -> Curve:
    """The look comes first; errors are those of the rounds of the whole fit."""
    watch = Stopwatch()
    estimator.fit(parts.X_train, parts.y_train, callbacks=[watch])
    errors = [float(np.mean(labels != parts.y_test)) for labels in estimator.staged_predict(parts.X_test)]
    return watch.seconds[: len(errors)], errors


def peer_curve(peer: Any, parts: Parts, seed: int) -> Curve:
    """A fit for each number of rounds."""
    seconds, errors = [], []
    for rounds in PEER_ROUNDS:
        estimator = peer.build(seed).set_params(**{ROUNDS_PARAMETER[peer.name]: rounds})
        started = time.perf_counter()
        estimator.fit(parts.X_train, parts.y_train)
        seconds.append(time.perf_counter() - started)
        errors.append(float(np.mean(np.asarray(estimator.predict(parts.X_test)).ravel() != parts.y_test)))
    return seconds, errors


def against_time(data_dir: str | None, seed: int) -> None:
    """Draws the curves and prints when each first has the error that the best other library ends with."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, PercentFormatter

    source = Source(data_dir)
    figure = Figure(figsize=(10.5, 7.6), layout="constrained")
    print("| set | goal | " + " | ".join(["DeepBoost", *ROUNDS_PARAMETER]) + " |")
    print("|---" * (3 + len(ROUNDS_PARAMETER)) + "|")
    for panel, name in zip(figure.subplots(2, 2).ravel(), SETS, strict=True):
        parts = source.parts(Task(name, seed, 0.0, WHOLE))
        with threadpool_limits(1):
            curves = {"DeepBoost": our_curve(ours("large")[0].build(seed), parts)}
            curves |= {peer.name: peer_curve(peer, parts, seed) for peer in PEERS if peer.name in ROUNDS_PARAMETER}
        for competitor, (seconds, errors) in curves.items():
            style = {"linewidth": 2} if competitor == "DeepBoost" else {"linewidth": 1, "marker": "o", "markersize": 3}
            panel.plot(seconds, errors, label=competitor, **style)
        goal = min(errors[-1] for competitor, (_, errors) in curves.items() if competitor != "DeepBoost")
        panel.axhline(goal, color="#999999", linewidth=0.7, linestyle=":")
        lowest = min(min(errors) for _, errors in curves.values())
        panel.set(xscale="log", xlabel="seconds since fit began, one thread", ylabel="test error")
        panel.set_ylim(goal - 1.5 * (goal - lowest), goal + 5.0 * (goal - lowest))
        panel.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], labels=["0.1", "0.2", "0.5", "1", "2", "5", "10"])
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_formatter(PercentFormatter(1.0))
        panel.set_title(f"{name}, {len(parts.y_train):,} rows", loc="left", fontsize=10)
        cells = [_first(curve, goal) for curve in curves.values()]
        print(f"| {name} | {goal:.4f} | " + " | ".join(cells) + " |", flush=True)
        panel.legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, dpi=100)
    print(f"Written to {PICTURE}")


def _first(curve: Curve, goal: float) -> str:
    reached = [seconds for seconds, error in zip(*curve, strict=True) if error <= goal]
    return f"{reached[0]:.2f} s" if reached else f"not ({min(curve[1]):.4f})"


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.curves", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=tuple(COMMANDS))
    parser.add_argument("--data-dir", help="folder of the data sets (default: RADBOOST_DATA)")
    parser.add_argument(
        "--seed",
        type=int,
        default=None,
        help="draw of the rows (default: 3 for rows, 5 for small, 0 for time and look)",
    )
    given = parser.parse_args(argv)
    command, seed = COMMANDS[given.command]
    command(given.data_dir, seed if given.seed is None else given.seed)


COMMANDS: dict[str, tuple[Callable[[str | None, int], None], int]] = {
    "rows": (with_more_rows, 3),
    "small": (on_small_data, 5),
    "time": (against_time, 0),
    "look": (looks, 0),
}

if __name__ == "__main__":
    main()
