"""DeepBoost beside AdaBoost, a guarantee, a picture and a saved model, in less than a minute (``make demo``)."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

import radboost
from radboost import DeepBoostClassifier, guarantees

NOISE = 0.2
FOLDS, REPEATS = 5, 2
SENSORS, READINGS = 9, 20_000
COVERAGE = 0.95

Method = Callable[[], Any]
METHODS: dict[str, Method] = {
    "DeepBoost": DeepBoostClassifier,
    "DeepBoost.paper": lambda: DeepBoostClassifier.paper(loss="logistic", complexity_penalty=0.01),
    "AdaBoost (sklearn)": lambda: AdaBoostClassifier(n_estimators=100, random_state=0),
}


@dataclass
class Score:
    """The means over all splits for one method."""

    clean_error: float
    noisy_error: float
    n_trees: float
    nodes: float
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration."""
    parser = argparse.ArgumentParser("python -m radboost.demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo-output"), help="for the picture and the model")
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    show = Screen()
    bunch = load_breast_cancer()
    X, y = bunch.data, bunch.target_names[bunch.target]
    show.title(f"RadBoost {radboost.__version__}: boosting that knows what complexity costs")
    compare(show, X, y)
    model, X_train, y_train = explain(show, X, y)
    promise(show, model, X_train, y_train)
    hold_out(show, model, X, y)
    draw(show, model, X_train, y_train, folder / "radboost-demo.png")
    keep(show, model, X, folder / "radboost-demo.model")
    show.text(f"\nDone in {time.perf_counter() - started:.0f} seconds. Next: the ten lines of Python in README.md.")
    return 0


# --- the five parts -----------------------------------------------------------------------------------------


def compare(show: Screen, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Print the test errors of DeepBoost and AdaBoost, with clean and with noisy training labels."""
    splits = list(RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(X, y))
    show.heading("1. How well does it predict?")
    show.text(
        f"Is a tumour malignant? {len(X)} patients, {X.shape[1]} measurements each (Wisconsin breast cancer "
        f"data). Error on patients the model has not seen, mean of {len(splits)} splits; once with the labels as they "
        f"are, once with label noise: {NOISE:.0%} of the training labels flipped."
    )
    rows = []
    for name, make in METHODS.items():
        score = evaluate(make, X, y, splits)
        rows.append(
            [
                name,
                f"{score.clean_error:.1%}",
                f"{score.noisy_error:.1%}",
                f"{score.n_trees:.0f}",
                f"{score.nodes:.1f}",
                f"{score.seconds:.2f}",
            ]
        )
    show.table(["", "error", "with noise", "trees", "nodes each", "seconds"], rows)
    show.text(
        "DeepBoost: the defaults. DeepBoost.paper: the published algorithm, without randomness and shrinkage, with "
        "complexity_penalty=0.01. AdaBoost: 100 stumps. Nothing is tuned."
    )


def evaluate(make: Method, X: NDArray[Any], y: NDArray[Any], splits: Sequence[Any]) -> Score:
    """Fit on every split, with the labels as they are and with a part of them flipped."""
    rng = np.random.default_rng(0)
    results = []
    for train, test in splits:
        noisy = y[train].copy()
        flip = rng.random(len(noisy)) < NOISE
        noisy[flip] = np.where(noisy[flip] == y[0], next(label for label in y if label != y[0]), y[0])
        started = time.perf_counter()
        model = make().fit(X[train], y[train])
        seconds = time.perf_counter() - started
        on_noise = make().fit(X[train], noisy)
        sizes = tree_sizes(model)
        errors = [float(np.mean(m.predict(X[test]) != y[test])) for m in (model, on_noise)]
        results.append([*errors, len(sizes), float(np.mean(sizes)), seconds])
    return Score(*np.mean(results, axis=0).tolist())


def tree_sizes(model: Any) -> list[int]:
    """Return the number of nodes of each tree, for our models and scikit-learn's."""
    if hasattr(model, "ensemble_"):
        return [hypothesis.n_nodes for hypothesis in model.ensemble_.hypotheses]
    return [estimator.tree_.node_count for estimator in model.estimators_]


def explain(show: Screen, X: NDArray[Any], y: NDArray[Any]) -> tuple[DeepBoostClassifier, Any, Any]:
    """Fit one model and print what is inside."""
    show.heading("2. What is inside?")
    X_train, X_test, y_train, y_test = halves(X, y)
    model = DeepBoostClassifier().fit(X_train, y_train, X_val=X_test, y_val=y_test)
    names = load_breast_cancer().feature_names
    show.lines(re.sub(r"x\[(\d+)\]", lambda match: str(names[int(match[1])]), repr(model.ensemble_)))
    importances = model.feature_importances_
    order = np.argsort(importances)[::-1][:3]
    most = ", ".join(f"{names[column]} ({importances[column]:.0%})" for column in order)
    show.text(f"It looks most at: {most}.")
    return model, X_train, y_train


def halves(X: NDArray[Any], y: NDArray[Any]) -> list[Any]:
    """Return one half of the rows, the other, and their labels, each class divided evenly."""
    return list(train_test_split(X, y, test_size=0.5, stratify=y, random_state=0))


def promise(show: Screen, model: DeepBoostClassifier, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Print the bound on the true error where it cannot say anything yet and where it can."""
    show.heading("3. What can it promise?")
    X_many, y_many = sensors(READINGS)
    stumps = DeepBoostClassifier.paper(family="stumps", n_rounds=30).fit(X_many, y_many)
    small = guarantees.bound(model, X, y)
    large = guarantees.bound(stumps, X_many, y_many)
    X_new, y_new = sensors(READINGS, seed=1)
    error = float(np.mean(stumps.predict(X_new) != y_new))
    show.text(
        "A theorem bounds the error on unseen rows by what the training rows show, whatever their distribution. Such a "
        "bound needs many rows or simple trees, so here is a generated set beside the patients, learned by trees of "
        f"one split: {SENSORS} noisy sensors that measure the same level."
    )
    rows = [
        ["training rows", f"{small.sample_size:,.0f}", f"{large.sample_size:,.0f}"],
        ["  without a clear margin", f"{small.margin_error:.3f}", f"{large.margin_error:.3f}"],
        ["+ complexity of the trees", f"{small.complexity_term:.3f}", f"{large.complexity_term:.3f}"],
        ["+ price of several sizes", f"{small.family_term:.3f}", f"{large.family_term:.3f}"],
        ["+ chance (95% confidence)", f"{small.confidence_term:.3f}", f"{large.confidence_term:.3f}"],
        ["= true error is at most", f"{small.total:.3f}", f"{large.total:.3f}"],
    ]
    show.table(["", "patients", "sensors"], rows, strong=len(rows) - 1)
    if small.vacuous:
        show.text(
            f"Patients: an error rate is never above 1, so a bound of {small.total:.1f} is vacuous. "
            f"{small.sample_size:,.0f} rows are too few for {small.hypotheses}; that says nothing against the model."
        )
    else:
        show.text(f"Patients: {small.explain()}")
    show.text(f"Sensors: {large.explain()} (The error on {READINGS:,} new rows: {error:.1%}.)")


def hold_out(show: Screen, model: DeepBoostClassifier, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Print what the other half of the patients says: limits on the error, and sets that hold the right answer."""
    X_train, X_other, y_train, y_other = halves(X, y)
    X_cal, X_new, y_cal, y_new = halves(X_other, y_other)
    bound = guarantees.bound(model, X_train, y_train)
    limit = guarantees.holdout(model, X_other, y_other)
    sets = guarantees.conformal(model, X_cal, y_cal, coverage=COVERAGE).predict_set(X_new)
    right = sets[np.arange(len(y_new)), np.searchsorted(model.classes_, y_new)]
    one = sets.sum(axis=1) == 1
    show.text("Patients that the model has not seen say more. Three answers to how wrong it can be:")
    rows = [
        ["bound: error is at most", f"{bound.total:.3f}", f"{len(y_train)} patients it has learned from"],
        ["held-out limit: error is at most", f"{limit.upper:.3f}", f"{limit.n_wrong} of {limit.n_rows} others wrong"],
        [
            f"sets for {COVERAGE:.0%} hold the truth for",
            f"{right.mean():.1%}",
            f"{len(y_new)} others, {one.mean():.0%} with one class",
        ],
    ]
    show.table(["", "", "counted on"], rows, strong=1)
    show.text(
        f"The first two hold with 95% confidence. The sets are conformal: calibrated on {len(y_cal)} of the others, "
        f"counted on the {len(y_new)} left. A set with both classes, or none, says that the model is not sure."
    )


def sensors(n_rows: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return readings of several noisy sensors and whether what they watch is above its usual level."""
    rng = np.random.default_rng(seed)
    level = rng.choice([-1.0, 1.0], n_rows) * rng.uniform(0.2, 2.0, n_rows)
    return level[:, None] + 0.6 * rng.standard_normal((n_rows, SENSORS)), (level > 0).astype(np.int64)


def draw(show: Screen, model: DeepBoostClassifier, X: NDArray[Any], y: NDArray[Any], path: Path) -> None:
    """Save margins, tree sizes and learning curve as one picture."""
    show.heading("4. What does it look like?")
    if importlib.util.find_spec("matplotlib") is None:
        show.text('The picture needs matplotlib: pip install "radboost[plot]"')
        return
    from matplotlib.figure import Figure

    from radboost import plot

    adaboost = DeepBoostClassifier.paper(family="stumps", complexity_penalty=0.0, l1_penalty=0.0).fit(X, y)
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    plot.margins({"DeepBoost": model, "AdaBoost": adaboost}, X, y, ax=left)
    plot.tree_sizes(model, ax=middle)
    plot.learning_curve(model, ax=right)
    figure.savefig(path, dpi=150)
    show.text("Margins (how clearly the vote goes to the right class), tree sizes and learning curve:")
    show.lines(f"  {path}")


def keep(show: Screen, model: DeepBoostClassifier, X: NDArray[Any], path: Path) -> None:
    """Save the model, load it again and compare."""
    show.heading("5. Can it be kept?")
    model.save(path)
    same = np.array_equal(model.decision_function(X), radboost.load(path).decision_function(X))
    if not same:
        raise AssertionError("The loaded model does not score like the saved one.")
    show.text("Saved and loaded again, with every score equal bit for bit, to a file without pickle:")
    show.lines(f"  {path} ({path.stat().st_size / 1000:,.0f} kB)")


# --- on the screen ------------------------------------------------------------------------------------------


class Screen:
    """Prints text and tables, with colours where rich is installed."""

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
        """Print the headline of a part."""
        self._print(f"\n{text}", "bold cyan")

    def text(self, text: str) -> None:
        """Print a paragraph."""
        paragraphs = (textwrap.fill(part, self.width, break_on_hyphens=False) for part in text.split("\n"))
        self._print("\n".join(paragraphs), None)

    def lines(self, text: str) -> None:
        """Print lines as they are."""
        self._print(text, None)

    def table(self, header: list[str], rows: list[list[str]], strong: int = 0) -> None:
        """Print rows whose first cell is a label and whose others are numbers; one of them stands out."""
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
            table.add_row(*row, style="bold" if index == strong else None)
        self.console.print(table)

    def _print(self, text: str, style: str | None) -> None:
        if self.console is None:
            print(text)
        else:
            self.console.print(text, style=style, markup=False, soft_wrap=True)


if __name__ == "__main__":
    raise SystemExit(main())
