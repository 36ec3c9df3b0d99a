"""Errors by the rate of wrong labels, and who detects the wrong ones: docs/guide-label-noise.md.

    python -m benchmarks.wrong_labels            both tables
    python -m benchmarks.wrong_labels --write    the same, and the picture

The data come with scikit-learn. Everybody is at the defaults, on one thread; without calibration in the first table,
because calibration does not change what is predicted. What is not installed is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from benchmarks.accuracy.competitors import DEEPBOOST, PEERS, RGB, SOFTMAX, Competitor
from benchmarks.competitors import is_installed, takes_part
from benchmarks.markdown import number, table
from radboost.datasets import make_noisy

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "wrong-labels.png"
RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
FINDING_RATES = (0.05, 0.1, 0.2)
OURS = (SOFTMAX, DEEPBOOST, RGB)
OTHERS = tuple(peer for peer in PEERS if peer.name != "CatBoost")
LEARNERS = (*(replace(one, parameters={"calibration": None}) for one in OURS), *OTHERS)
FINDERS = (*OURS, *(peer for peer in OTHERS if peer.name != "XGBoost"))
SETS = ("breast_cancer", "digits", "wine")  # 2, 10 and 3 classes

Errors = Mapping[str, Mapping[str, NDArray[np.float64]]]


def load(name: str) -> tuple[Any, Any]:
    """Load rows and labels."""
    X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
    return X, y


def errors(repeats: int, learners: Sequence[Competitor], rates: Sequence[float] = RATES) -> Errors:
    """Measure test errors by set and learner, shape (n_rates, n_repeats): draws of rows and of wrong labels."""
    result = {name: {one.name: np.zeros((len(rates), repeats)) for one in learners} for name in SETS}
    for name in SETS:
        X, y = load(name)
        for repeat in range(repeats):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=repeat)
            for k, rate in enumerate(rates):
                noisy = make_noisy(y_train, rate, random_state=np.random.default_rng([repeat, k]))
                for one in learners:
                    wrong = 1.0 - one.build(repeat).fit(X_train, noisy).score(X_test, y_test)
                    result[name][one.name][k, repeat] = wrong
            print(f"{name}, draw {repeat + 1} of {repeats}", flush=True)
    return result


def hits(
    repeats: int, finders: Sequence[Competitor], rates: Sequence[float] = FINDING_RATES
) -> dict[str, NDArray[np.float64]]:
    """Measure by finder and rate the fraction of wrong labels among as many suspects as there are wrong labels."""
    result = {one.name: np.zeros((len(rates), len(SETS), repeats)) for one in finders}
    for n, name in enumerate(SETS):
        X, y = load(name)
        for repeat in range(repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
            for k, rate in enumerate(rates):
                noisy = make_noisy(y, rate, random_state=np.random.default_rng([repeat, k]))
                wrong = noisy != y
                for one in finders:
                    given = cross_val_predict(one.build(repeat), X, noisy, cv=folds, method="predict_proba")
                    order = np.argsort(-suspicion(given, noisy, np.unique(noisy)), kind="stable")
                    result[one.name][k, n, repeat] = wrong[order[: wrong.sum()]].mean()
            print(f"{name}, draw {repeat + 1} of {repeats}", flush=True)
    return {finder: values.mean(axis=(1, 2)) for finder, values in result.items()}


def suspicion(probabilities: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    """Compute how improbable each label is to a model that has not learned from its row."""
    return np.asarray(1.0 - probabilities[np.arange(len(y)), np.searchsorted(classes, y)])


def by_rate(head: str, rates: Sequence[float], values: Mapping[str, NDArray[np.float64]], digits: int) -> str:
    """Table with a row for each name and a column for each rate."""
    rows = [[name, *(number(value, digits) for value in of_one)] for name, of_one in values.items()]
    return table([head, *(f"{100 * rate:.0f} percent" for rate in rates)], rows)


def draw(measured: Errors, rates: Sequence[float], path: Path) -> None:
    """Draw a panel for each set but wine."""
    from matplotlib.figure import Figure

    from radboost.plot.noise import draw_noise_curves

    shown = [name for name in measured if name != "wine"]
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    for panel, name in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
        kept = {learner: values for learner, values in measured[name].items() if learner != "HistGradientBoosting"}
        draw_noise_curves(panel, rates, kept)
        panel.set_title(name.replace("_", " "), loc="left")
    figure.savefig(path, dpi=110)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables; on demand draw the picture."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.wrong_labels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5, help="draws of the test rows and of the wrong labels (5)")
    parser.add_argument("--write", action="store_true", help="also draw the picture of the page")
    given = parser.parse_args(argv)
    learners = [one for one in LEARNERS if takes_part(one.name, one.library)]
    measured = errors(given.repeats, learners)
    if given.write:
        draw(measured, RATES, PICTURE)
    everywhere = {
        one.name: np.mean([of_set[one.name] for of_set in measured.values()], axis=(0, 2)) for one in learners
    }
    print(by_rate("mean test error, by wrong labels", RATES, everywhere, 3))
    for name, of_set in measured.items():
        print("\n" + by_rate(name, RATES, {learner: values.mean(axis=1) for learner, values in of_set.items()}, 3))
    detected = hits(max(1, given.repeats // 2), [one for one in FINDERS if is_installed(one.library)])
    print("\n" + by_rate("wrong labels among the suspects", FINDING_RATES, detected, 2))


if __name__ == "__main__":
    main()
