"""`python -m benchmarks.wrong_labels`: errors against the share of wrong labels, and who finds the wrong ones.

python -m benchmarks.wrong_labels                the two tables of docs/guide-label-noise.md
python -m benchmarks.wrong_labels --write        the same, and its picture

The data come with scikit-learn. Everybody is at the defaults, on one thread; without calibration in the first table,
because calibration does not change what is predicted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy import competitors

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "wrong-labels.png"
RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
NO_CALIBRATION = {"calibration": None}
LEARNERS: Mapping[str, Callable[[int], Any]] = {
    "SoftmaxBoost": lambda seed: competitors.softmax_boost(seed, **NO_CALIBRATION),
    "DeepBoost": lambda seed: competitors.deepboost(seed, **NO_CALIBRATION),
    "RGB": lambda seed: competitors.rgb(seed, **NO_CALIBRATION),
    "RandomForest": competitors.random_forest,
    "LightGBM": competitors.lightgbm,
    "HistGradientBoosting": competitors.hist_gradient_boosting,
    "XGBoost": competitors.xgboost,
}
FINDERS: Mapping[str, Callable[[int], Any]] = {
    "SoftmaxBoost": competitors.softmax_boost,
    "DeepBoost": competitors.deepboost,
    "RGB": competitors.rgb,
    "RandomForest": competitors.random_forest,
    "LightGBM": competitors.lightgbm,
    "HistGradientBoosting": competitors.hist_gradient_boosting,
}


def sets() -> dict[str, tuple[Any, Any]]:
    """Rows and labels that come with scikit-learn, of 2, 10 and 3 classes."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    return {loader.__name__[5:]: loader(return_X_y=True) for loader in (load_breast_cancer, load_digits, load_wine)}


def errors(repeats: int, rates: Sequence[float] = RATES) -> dict[str, dict[str, NDArray[np.float64]]]:
    """By set and learner: test errors, a line for each rate and a column for each draw of rows and wrong labels."""
    from sklearn.model_selection import train_test_split

    from radboost.datasets import make_noisy

    found = {name: {learner: np.zeros((len(rates), repeats)) for learner in LEARNERS} for name in sets()}
    for name, (X, y) in sets().items():
        for repeat in range(repeats):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=repeat)
            for place, rate in enumerate(rates):
                noisy = make_noisy(y_train, rate, random_state=np.random.default_rng([repeat, place]))
                for learner, build in LEARNERS.items():
                    wrong = 1.0 - build(repeat).fit(X_train, noisy).score(X_test, y_test)
                    found[name][learner][place, repeat] = wrong
            print(f"{name}, draw {repeat + 1} of {repeats}", flush=True)
    return found


def suspicion(probabilities: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    """How improbable each label is to a model that has not learned from its row."""
    return np.asarray(1.0 - probabilities[np.arange(len(y)), np.searchsorted(classes, y)])


def hits(repeats: int, rates: Sequence[float] = (0.05, 0.1, 0.2)) -> dict[str, NDArray[np.float64]]:
    """By finder: the share of wrong labels among as many of the most suspicious rows as there are wrong labels."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from radboost.datasets import make_noisy

    found = {finder: np.zeros((len(rates), len(sets()), repeats)) for finder in FINDERS}
    for number, (name, (X, y)) in enumerate(sets().items()):
        for repeat in range(repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
            for place, rate in enumerate(rates):
                noisy = make_noisy(y, rate, random_state=np.random.default_rng([repeat, place]))
                wrong = noisy != y
                for finder, build in FINDERS.items():
                    given = cross_val_predict(build(repeat), X, noisy, cv=folds, method="predict_proba")
                    order = np.argsort(-suspicion(given, noisy, np.unique(noisy)), kind="stable")
                    found[finder][place, number, repeat] = wrong[order[: wrong.sum()]].mean()
            print(f"{name}, draw {repeat + 1} of {repeats}", flush=True)
    return {finder: values.mean(axis=(1, 2)) for finder, values in found.items()}


def table(first: str, heads: Sequence[str], lines: Mapping[str, Any], digits: int) -> str:
    """A table of Markdown."""
    rows = [
        f"| {name} | " + " | ".join(f"{value:.{digits}f}"[1:] for value in line) + " |" for name, line in lines.items()
    ]
    return "\n".join([f"| {first} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|", *rows])


def draw(found: Mapping[str, Mapping[str, NDArray[np.float64]]], rates: Sequence[float], path: Path) -> None:
    """A panel for each set."""
    from matplotlib.figure import Figure

    from radboost.plot.noise import draw_noise_curves

    shown = [name for name in found if name != "wine"]
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    for panel, name in zip(figure.subplots(1, len(shown)), shown, strict=True):
        kept = {learner: values for learner, values in found[name].items() if learner != "HistGradientBoosting"}
        draw_noise_curves(panel, rates, kept)
        panel.set_title(name.replace("_", " "), loc="left")
    figure.savefig(path, dpi=110)
    print(f"Written to {path}")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables; on demand draw the picture."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.wrong_labels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5, help="draws of the test rows and of the wrong labels (5)")
    parser.add_argument("--write", action="store_true", help="also draw the picture of the page")
    given = parser.parse_args(argv)
    found = errors(given.repeats)
    heads = [f"{rate:.0%}".replace("%", " percent") for rate in RATES]
    means = {learner: np.mean([values[learner] for values in found.values()], axis=(0, 2)) for learner in LEARNERS}
    print("\n" + table("mean test error, by wrong labels", heads, means, 3), flush=True)
    for name, values in found.items():
        print(
            "\n" + table(name, heads, {learner: line.mean(axis=1) for learner, line in values.items()}, 3), flush=True
        )
    if given.write:
        draw(found, RATES, PICTURE)
    shares = hits(max(1, given.repeats // 2))
    print("\n" + table("wrong labels among the suspects", ["5 percent", "10 percent", "20 percent"], shares, 2))


if __name__ == "__main__":
    main()
