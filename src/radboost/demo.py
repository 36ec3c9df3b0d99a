"""From a CSV file to a model and a report, and what wrong labels do, in less than a minute (``make demo``)."""

from __future__ import annotations

import argparse
import csv
import importlib.util
import shlex
import shutil
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

RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
SPLITS = 3
TRAIN = 600

Method = Callable[[], Any]
#: ours first; only classes are compared, so that probabilities need no calibration
METHODS: dict[str, Method] = {
    "DeepBoost": lambda: DeepBoostClassifier(calibration=None),
    "RGB": lambda: RGBClassifier(calibration=None),
    "RandomForest": lambda: RandomForestClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
}
OURS = 2
COLORS = ("#0072b2", "#56b4e9", "#8c8c8c", "#d55e00", "#cc79a7")

Errors = dict[str, NDArray[np.float64]]  # name -> errors, shape (n_rates, n_splits)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration."""
    parser = argparse.ArgumentParser("python -m radboost.demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo-output"), help="for the table, the model, the pages")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    show = Screen()
    X, y = digits()
    show.title(f"RadBoost {radboost.__version__}: boosting that knows what complexity costs")
    show.text(
        "In about a minute, from one CSV file: a model, its error on rows it has not seen, a report that you can open "
        "in a browser, and a comparison with other methods on labels that are partly wrong. Nothing is tuned."
    )
    report = from_a_table(show, X, y, folder)
    errors = wrong_labels(show, X, y)
    picture = draw(show, errors, folder / "wrong-labels.png")
    show.heading("What to look at")
    for what, path in (("the report on the model", report), ("the picture", picture)):
        if path is not None:
            show.lines(f"  {what}: {path.resolve().as_uri()}")
    show.text(f"\nDone in {time.perf_counter() - started:.0f} seconds. Next: README.md, docs/five-minutes.md.")
    return 0


# --- the parts ----------------------------------------------------------------------------------------------


def digits() -> tuple[NDArray[Any], NDArray[np.str_]]:
    """Return handwritten digits, 8 x 8 levels of gray each, and whether they are odd."""
    bunch = load_digits()
    return bunch.data.astype(np.int64), np.where(bunch.target % 2, "odd", "even")


def from_a_table(show: Screen, X: NDArray[Any], y: NDArray[np.str_], folder: Path) -> Path | None:
    """Write a CSV file and go from there as a user would: `radboost fit`, `radboost predict`. Return the report."""
    show.heading("1. From a CSV file to a model, a report and answers")
    table, model, report = folder / "digits.csv", folder / "digits.rad", folder / "report.html"
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    write(table, [*names, "parity"], [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)])
    write(folder / "new.csv", names, X[:5].tolist())
    show.text(f"{len(y):,} handwritten digits of 8 x 8 pixels: is it odd or even? They are in {table}.")
    if importlib.util.find_spec("typer") is None:
        show.text('The command line needs an extra: pip install "radboost[cli]"')
        return None
    files = ["--out", str(model), "--report", str(report), "--force"]
    run(show, ["fit", str(table), "--target", "parity", *files])
    show.text(
        "So the error is measured on rows that the model has not seen, beside a guess and a linear model. The model "
        "that is kept has then seen all rows. It answers for new ones:"
    )
    run(show, ["predict", str(model), str(folder / "new.csv"), "--proba"])
    return report


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def run(show: Screen, command: list[str]) -> None:
    """Show a command and run it."""
    show.command(f"radboost {shlex.join(command)}")
    sys.stdout.flush()
    if status := cli.main(command):
        raise RuntimeError(f"radboost {command[0]} ended with {status}: what is wrong stands above.")
    sys.stdout.flush()


def wrong_labels(show: Screen, X: NDArray[Any], y: NDArray[np.str_]) -> Errors:
    """Print the test errors of five methods as more and more of the labels they learn from are wrong."""
    show.heading("2. What if some labels are wrong?")
    show.text(
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
    rows = [[name, *(f"{error:.1%}" for error in of_name.mean(axis=1))] for name, of_name in errors.items()]
    show.table(["wrong labels", *(f"{rate:.0%}" for rate in RATES)], rows, strong=OURS)
    show.text(conclusion(errors))
    return errors


def conclusion(errors: Errors) -> str:
    """Say in a sentence what the table shows at the rate in its middle, whoever is ahead."""
    middle = len(RATES) // 2
    means = {name: float(of_name.mean(axis=1)[middle]) for name, of_name in errors.items()}
    ours, others = list(means)[:OURS], list(means)[OURS:]
    said = [", ".join(f"{name} {means[name]:.1%}" for name in names) for names in (ours, others)]
    best = min(means, key=lambda name: means[name])
    return f"With {RATES[middle]:.0%} of the labels wrong: {said[0]}; {said[1]}. The lowest error is that of {best}."


def draw(show: Screen, errors: Errors, path: Path) -> Path | None:
    """Save the errors as a picture, a curve for each method, the splits as a band. Return its path."""
    if importlib.util.find_spec("matplotlib") is None:
        show.text('The picture needs matplotlib: pip install "radboost[plot]"')
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), layout="constrained", facecolor="white")
    ax = figure.subplots()
    for index, ((name, of_name), color) in enumerate(zip(errors.items(), COLORS, strict=True)):
        ax.fill_between(RATES, of_name.min(axis=1), of_name.max(axis=1), color=color, alpha=0.15, linewidth=0)
        ax.plot(RATES, of_name.mean(axis=1), "o-", color=color, linewidth=2.8 if index < OURS else 1.6, label=name)
    ax.set_title("Odd or even? Test error as labels are wrong", loc="left", fontweight="bold")
    ax.set_xlabel("share of wrong labels among those learned from (bands: lowest and highest of the splits)")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_xticks(RATES)
    ax.grid(axis="y", color="#e6e6e6")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=150)
    return path


# --- on the screen ------------------------------------------------------------------------------------------


class Screen:
    """Prints text and tables, in color if rich is installed."""

    def __init__(self) -> None:
        self.width = min(100, shutil.get_terminal_size().columns)
        self.console: Any = None
        if importlib.util.find_spec("rich") is not None:
            from rich.console import Console

            self.console = Console(highlight=False, width=self.width)

    def title(self, text: str) -> None:
        """Print the first line."""
        self._print(f"\n{text}", "bold")

    def heading(self, text: str) -> None:
        """Print the heading of a part."""
        self._print(f"\n{text}", "bold cyan")

    def text(self, text: str) -> None:
        """Print a paragraph."""
        paragraphs = (textwrap.fill(part, self.width, break_on_hyphens=False) for part in text.split("\n"))
        self._print("\n".join(paragraphs), None)

    def lines(self, text: str) -> None:
        """Print text as it is."""
        self._print(text, None)

    def command(self, text: str) -> None:
        """Print a command as a user would type it."""
        self._print(f"\n$ {text}", "bold")

    def table(self, header: list[str], rows: list[list[str]], strong: int) -> None:
        """Print rows of a label and numbers; the first `strong` rows stand out."""
        if self.console is not None:
            self._rich_table(header, rows, strong)
            return
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        print()
        for row in [header, ["-" * width for width in widths], *rows]:
            numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            print(" ", row[0].ljust(widths[0]), *numbers, sep="  ")
        print()

    def _rich_table(self, header: list[str], rows: list[list[str]], strong: int) -> None:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, header_style="bold")
        for index, name in enumerate(header):
            table.add_column(name, justify="right" if index else "left")
        for index, row in enumerate(rows):
            table.add_row(*row, style="bold" if index < strong else None)
        self.console.print(table)

    def _print(self, text: str, style: str | None) -> None:
        if self.console is None:
            print(text)
        else:
            self.console.print(text, style=style, markup=False, soft_wrap=True)


if __name__ == "__main__":
    raise SystemExit(main())
