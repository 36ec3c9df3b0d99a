"""Tables and pictures of docs/case-study.md: who gets a loan, when mistakes cost 5 to 1.

    python -m benchmarks.case_study --data-dir DIR --write

The set is `german`. Predictions for every row, from fits that have not seen it, are kept in a file, so that a second
run fits only what is new. What is not installed is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.competitors import catboost, hist_gradient_boosting, lightgbm, random_forest, takes_part
from benchmarks.markdown import table
from papers import datasets
from radboost import DeepBoostClassifier, RGBClassifier, SoftmaxBoostClassifier
from radboost.plot._style import FAINT, INK, tidy

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
FOLDS = 5
#: cost of a decision: rows good, bad; columns granted, refused
COST = np.array([[0.0, 1.0], [5.0, 0.0]])
THRESHOLD = 1 / 6  # refuse from this probability of a bad loan on: 5 p > 1 - p
AMOUNT, PERSONAL = 3, (6, 9, 14)  # hundreds of marks; personal status and sex, age, foreign worker
THRESHOLDS = np.linspace(0.005, 0.6, 200)  # of the picture
LOST = 0.1  # of the amount, for each unit of cost: a tenth is not earned, a half is lost
BEST, SECOND = "DeepBoost", "HistGradientBoosting"
BEST_DECISION = f"{BEST}, threshold 1/6"
OURS = ("DeepBoost", "RGB", "SoftmaxBoost")
COLORS = {BEST: "#0072b2", "LightGBM": "#d55e00", SECOND: "#a6761d"}

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
Predictions = Mapping[str, NDArray[np.float64]]  # method -> shape (n_repeats, n_rows)
Method = Callable[[Rows, Labels, Rows], NDArray[np.float64]]  # probabilities of a bad loan, or decisions


def probability(make: Callable[[], Any], columns: Sequence[int] | None = None) -> Method:
    """Make a method that predicts probabilities from these columns, or from all."""

    def method(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
        kept = slice(None) if columns is None else list(columns)
        return np.asarray(make().fit(X[:, kept], y).predict_proba(X_new[:, kept])[:, 1])

    return method


def decision(make: Callable[[], Any], *, weighted: bool = False) -> Method:
    """Make a method that decides by itself; rows may be weighted by what a mistake costs."""

    def method(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
        weights = {"sample_weight": COST[y].sum(axis=1)} if weighted else {}
        return np.asarray(make().fit(X, y, **weights).predict(X_new), dtype=np.float64)

    return method


def by_amount(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
    """Decide with the cost matrix times the amount of each loan."""
    model = SoftmaxBoostClassifier(n_jobs=1).fit(X, y, cost=COST[y] * X[:, [AMOUNT]])
    return np.asarray(model.predict(X_new), dtype=np.float64)


def negative_cost(labels: Labels, decisions: Labels) -> float:
    """Score decisions for a search that wants the largest."""
    return -float(COST[labels, decisions].mean())


def calibrated() -> Any:
    """Make LightGBM with probabilities calibrated in five folds."""
    return CalibratedClassifierCV(lightgbm.classifier(0), cv=5)


def searched() -> Any:
    """Make LightGBM with a threshold searched for in five folds."""
    return TunedThresholdClassifierCV(lightgbm.classifier(0), scoring=make_scorer(negative_cost), cv=5)


def deepboost() -> Any:
    """Make DeepBoost at its defaults."""
    return DeepBoostClassifier(n_jobs=1)


IMPERSONAL = [column for column in range(24) if column not in PERSONAL]
#: methods that predict probabilities
PROBABILITIES: dict[str, Method] = {
    "HistGradientBoosting": probability(lambda: hist_gradient_boosting.classifier(0)),
    "LightGBM": probability(lambda: lightgbm.classifier(0)),
    "LightGBM, calibrated": probability(calibrated),
    "CatBoost": probability(lambda: catboost.classifier(0)),
    "random forest": probability(lambda: random_forest.classifier(0)),
    "logistic regression": probability(lambda: make_pipeline(StandardScaler(), LogisticRegression())),
    "DeepBoost": probability(deepboost),
    "RGB": probability(lambda: RGBClassifier(n_jobs=1)),
    "SoftmaxBoost": probability(lambda: SoftmaxBoostClassifier(n_jobs=1)),
    "DeepBoost, without sex, age and origin": probability(deepboost, IMPERSONAL),
}
#: methods that get the costs and decide
DECISIONS: dict[str, Method] = {
    "HistGradientBoosting, rows weighted 5:1": decision(lambda: hist_gradient_boosting.classifier(0), weighted=True),
    "LightGBM, threshold searched for": decision(searched),
    "DeepBoost, rows weighted 5:1": decision(lambda: DeepBoostClassifier(n_jobs=1, calibration=None), weighted=True),
    "SoftmaxBoost(cost=matrix)": decision(lambda: SoftmaxBoostClassifier(n_jobs=1, cost=COST, decision="argmax")),
    "SoftmaxBoost, costs by amount": by_amount,
}


def read(data_dir: str | None) -> tuple[Rows, Labels]:
    """Read the rows, and whether a loan went bad."""
    data = datasets.load("german", data_dir)
    return np.asarray(data.X, dtype=np.float64), (np.asarray(data.y) == "bad").astype(np.int64)


def predict(method: Method, X: Rows, y: Labels, repeats: int) -> NDArray[np.float64]:
    """Predict every row by a fit that has not seen it, shape (n_repeats, n_rows)."""
    predicted = np.full((repeats, len(y)), np.nan)
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    for i, (train, test) in enumerate(folds.split(X, y)):
        with threadpool_limits(1):
            predicted[i // FOLDS, test] = method(X[train], y[train], X[test])
    return predicted


def fold_means(values: NDArray[np.float64], y: Labels) -> NDArray[np.float64]:
    """Average values of shape (n_repeats, n_rows) over each test fold."""
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=len(values), random_state=0)
    return np.array([values[i // FOLDS, test].mean() for i, (_, test) in enumerate(folds.split(y, y))])


def interval(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean and 95 percent limits of paired differences of folds, whose training parts overlap.

    The variance is multiplied by 1/n + 1/(k - 1) in place of 1/n (Nadeau and Bengio, 2003, corrected resampled t-test).
    """
    n = len(differences)
    half = t.ppf(0.975, n - 1) * np.sqrt((1 / n + 1 / (FOLDS - 1)) * differences.var(ddof=1))
    mean = float(differences.mean())
    return mean, mean - float(half), mean + float(half)


def decide(predicted: Predictions) -> dict[str, Labels]:
    """List who is refused, for each method and threshold of the page, the simplest first."""
    shape = predicted[BEST].shape
    shown = {"grant every loan": np.zeros(shape, np.int64), "refuse every loan": np.ones(shape, np.int64)}
    for name in (SECOND, "LightGBM", BEST):
        if name in predicted:
            shown[f"{name}, `predict`"] = (predicted[name] > 0.5).astype(np.int64)
    shown |= {name: predicted[name].astype(np.int64) for name in DECISIONS if name in predicted}
    thresholded = (name for name in PROBABILITIES if name in predicted)
    return shown | {f"{name}, threshold 1/6": (predicted[name] > THRESHOLD).astype(np.int64) for name in thresholded}


def beside_best(shown: Mapping[str, Labels], y: Labels) -> dict[str, tuple[float, float, float]]:
    """Compute how much more each decision costs than the best, with 95 percent limits."""
    costs = {name: COST[y, refused] for name, refused in shown.items()}
    return {name: interval(fold_means(cost - costs[BEST_DECISION], y)) for name, cost in costs.items()}


def cost_table(shown: Mapping[str, Labels], X: Rows, y: Labels) -> str:
    """Table of the costs, the cheapest last."""
    marks = 100 * X[:, AMOUNT] * LOST
    costs = {name: COST[y, refused] for name, refused in shown.items()}
    rows = []
    for name, (mean, low, high) in sorted(beside_best(shown, y).items(), key=lambda item: -item[1][0]):
        more = "" if name == BEST_DECISION else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
        money, wrong = (costs[name] * marks).mean(), (shown[name] != y).mean()
        rows.append(
            [name, f"{costs[name].mean():.3f}", more, f"{money:.0f}", f"{shown[name].mean():.0%}", f"{wrong:.1%}"]
        )
    head = ["", "cost per applicant", f"more than {BEST_DECISION}", "marks per applicant", "refused", "wrong"]
    return table(head, rows)


def granted_table(predicted: Predictions, y: Labels) -> str:
    """Table of the loans below the threshold: expected and real failures, and the best threshold afterwards."""
    rows = []
    for name in (name for name in PROBABILITIES if name in predicted):
        below = predicted[name] <= THRESHOLD
        bad = np.broadcast_to(y, below.shape)[below].mean()
        costs = cost_curve(predicted[name], y)
        best = f"{THRESHOLDS[costs.argmin()]:.0%}, {costs.min():.3f}"
        rows.append([name, f"{below.mean():.0%}", f"{predicted[name][below].mean():.1%}", f"{bad:.1%}", best])
    head = ["", "granted", "expected to go bad", "went bad", "best threshold afterwards, and its cost"]
    return table(head, rows)


def cost_curve(probabilities: NDArray[np.float64], y: Labels) -> NDArray[np.float64]:
    """Compute the cost per applicant at each of `THRESHOLDS`."""
    return np.array([COST[y, (probabilities > one).astype(int)].mean() for one in THRESHOLDS])


def draw_costs(shown: Mapping[str, Labels], y: Labels, path: Path) -> None:
    """Draw the cost of each way to decide, with the interval of its difference from the best."""
    from matplotlib.figure import Figure

    costs = {name: float(COST[y, refused].mean()) for name, refused in shown.items()}
    names = sorted(costs, key=lambda name: -costs[name])
    best = costs[BEST_DECISION]
    figure = Figure(figsize=(9.0, 0.34 * len(names) + 1.0), layout="constrained", facecolor="white")
    ax = figure.subplots()
    beside = beside_best(shown, y)
    for height, name in enumerate(names):
        _, low, high = beside[name]
        color = COLORS[BEST] if name.startswith(OURS) else FAINT
        ax.plot([best + low, best + high], [height, height], color=color, linewidth=2.2, alpha=0.45)
        ax.scatter([costs[name]], [height], s=48, color=color, zorder=3)
        ax.text(costs[name], height + 0.28, f"{costs[name]:.3f}", ha="center", fontsize=8, color=INK)
    ax.axvline(best, color=COLORS[BEST], linewidth=1.0, linestyle="--", zorder=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlabel(f"cost per applicant; bars: 95% interval of the distance to {BEST_DECISION}", loc="right")
    tidy(ax).tick_params(axis="y", length=0)
    figure.savefig(path, dpi=150)


def draw_thresholds(predicted: Predictions, y: Labels, path: Path) -> None:
    """Draw cost against the threshold: with right probabilities the best one is where theory puts it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.9), layout="constrained", facecolor="white")
    ax = figure.subplots()
    for name in (name for name in COLORS if name in predicted):
        curve = cost_curve(predicted[name], y)
        lowest = int(curve.argmin())
        ax.plot(THRESHOLDS, curve, color=COLORS[name], linewidth=2.6 if name == BEST else 1.6, label=name)
        ax.scatter([THRESHOLDS[lowest]], [curve[lowest]], s=44, color=COLORS[name], zorder=3)
    ax.axvline(THRESHOLD, color=FAINT, linewidth=1.0, linestyle="--")
    ax.axvline(0.5, color=FAINT, linewidth=1.0, linestyle=":")
    top = ax.get_ylim()[1]
    ax.text(THRESHOLD + 0.004, top, "1/6: what the costs say", va="top", fontsize=9, color=INK)
    ax.text(0.496, top, "1/2: what predict does", va="top", ha="right", fontsize=9, color=INK)
    ax.set(xlabel="refuse from this probability of a bad loan on", ylabel="cost per applicant")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.legend(frameon=False, loc="lower right")
    tidy(ax)
    figure.savefig(path, dpi=150)


def main(argv: Sequence[str] | None = None) -> None:
    """Fit what is missing, print the tables, draw."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.case_study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", help="folder of the data sets (default: RADBOOST_DATA)")
    parser.add_argument("--repeats", type=int, default=10, help="of the cross-validation in five folds (default: 10)")
    parser.add_argument("--results", type=Path, default=Path("bench-output"), help="folder of the kept predictions")
    parser.add_argument("--write", action="store_true", help="draw the pictures into the documents")
    arguments = parser.parse_args(argv)
    X, y = read(arguments.data_dir)
    arguments.results.mkdir(parents=True, exist_ok=True)
    kept = arguments.results / f"case-study-{arguments.repeats}.npz"
    predicted = dict(np.load(kept)) if kept.exists() else {}
    for name, method in (PROBABILITIES | DECISIONS).items():
        library = next((one for one in ("LightGBM", "CatBoost") if name.startswith(one)), "radboost")
        if name not in predicted and takes_part(name, library.lower()):
            predicted[name] = predict(method, X, y, arguments.repeats)
            np.savez_compressed(kept, allow_pickle=False, **predicted)
            print(f"{name}: fitted", flush=True)
    shown = decide(predicted)
    print(cost_table(shown, X, y), granted_table(predicted, y), sep="\n\n")
    folder = IMAGES if arguments.write else arguments.results
    draw_costs(shown, y, folder / "case-study-costs.png")
    draw_thresholds(predicted, y, folder / "case-study-thresholds.png")


if __name__ == "__main__":
    main()
