"""From a CSV file to a model and a report, and what wrong labels do, in less than a minute (``make demo``)."""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import radboost
from radboost import DeepBoostClassifier, RGBClassifier, cli
from radboost.datasets import make_noisy
from radboost.plot.noise import draw_noise_curves

RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
SPLITS = 3
TRAIN = 600
WIDTH = 100  # characters of a line of text

Method = Callable[[], Any]
#: only classes are compared, so that probabilities need no calibration
METHODS: dict[str, Method] = {
    "DeepBoost": lambda: DeepBoostClassifier(calibration=None),
    "RGB": lambda: RGBClassifier(calibration=None),
    "RandomForest": lambda: RandomForestClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
}

Errors = dict[str, NDArray[np.float64]]  # name -> errors, shape (n_rates, n_splits)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration."""
    parser = argparse.ArgumentParser("python -m radboost.demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo-output"), help="for the table, the model, the pages")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    X, y = digits()
    print(f"\nRadBoost {radboost.__version__}: boosting that knows what complexity costs")
    show(
        "In about a minute, from one CSV file: a model, its error on rows it has not seen, a report that you can open "
        "in a browser, and a comparison with other methods on labels that are partly wrong. Nothing is tuned."
    )
    report = from_a_table(X, y, folder)
    errors = wrong_labels(X, y)
    picture = draw(errors, folder / "wrong-labels.png")
    print("\nWhat to look at")
    for what, path in (("the report on the model", report), ("the picture", picture)):
        print(f"  {what}: {path.resolve().as_uri()}")
    print(f"\nDone in {time.perf_counter() - started:.0f} seconds. Next: README.md, docs/five-minutes.md.")
    return 0


def show(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, WIDTH, break_on_hyphens=False))


def digits() -> tuple[NDArray[Any], NDArray[np.str_]]:
    """Return handwritten digits, 8 x 8 levels of gray each, and whether they are odd."""
    bunch = load_digits()
    return bunch.data.astype(np.int64), np.where(bunch.target % 2, "odd", "even")


def from_a_table(X: NDArray[Any], y: NDArray[np.str_], folder: Path) -> Path:
    """Write a CSV file and go from there as a user would: `radboost fit`, `radboost predict`. Return the report."""
    print("\n1. From a CSV file to a model, a report and predictions")
    table, model, report = folder / "digits.csv", folder / "digits.rad", folder / "report.html"
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    write(table, [*names, "parity"], [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)])
    write(folder / "new.csv", names, X[:5].tolist())
    show(f"{len(y):,} handwritten digits of 8 x 8 pixels: is it odd or even? They are in {table}.")
    run(["fit", str(table), "--target", "parity", "--out", str(model), "--report", str(report), "--force"])
    show(
        "So the error is measured on rows that the model has not seen, beside a guess and a linear model. The model "
        "that is kept has then seen all rows. It predicts for new ones:"
    )
    run(["predict", str(model), str(folder / "new.csv"), "--proba"])
    return report


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def run(command: list[str]) -> None:
    """Print a command and run it."""
    print(f"\n$ radboost {shlex.join(command)}", flush=True)
    if status := cli.main(command):
        raise RuntimeError(f"radboost {command[0]} ended with {status}: what is wrong stands above.")
    sys.stdout.flush()


def wrong_labels(X: NDArray[Any], y: NDArray[np.str_]) -> Errors:
    """Print the test errors of five methods as more and more of the labels they learn from are wrong."""
    print("\n2. What if some labels are wrong?")
    show(
        f"{TRAIN} of these digits to learn from, with 0 to {RATES[-1]:.0%} of their labels exchanged, the others to "
        f"test on, with the right ones. Mean error of {SPLITS} splits, everybody at the defaults:"
    )
    errors: Errors = {name: np.zeros((len(RATES), SPLITS)) for name in METHODS}
    for split in range(SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=TRAIN, stratify=y, random_state=split)
        for i, rate in enumerate(RATES):
            labels = make_noisy(y_train, rate, random_state=split)
            for name, make in METHODS.items():
                # the threads of OpenMP, in HistGradientBoosting, wait busily where cores are few
                with threadpool_limits(1):
                    errors[name][i, split] = 1.0 - make().fit(X_train, labels).score(X_test, y_test)
    width = max(len("wrong labels"), *map(len, errors))
    print(f"\n  {'wrong labels':{width}}", *(f"{rate:>6.0%}" for rate in RATES))
    for name, of_name in errors.items():
        print(f"  {name:{width}}", *(f"{error:>6.1%}" for error in of_name.mean(axis=1)))
    return errors


def draw(errors: Errors, path: Path) -> Path:
    """Save the errors as a picture, a curve for each method. Return its path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), layout="constrained", facecolor="white")
    draw_noise_curves(figure.subplots(), RATES, errors)
    figure.savefig(path, dpi=150)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
