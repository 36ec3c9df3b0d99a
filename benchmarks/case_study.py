"""`python -m benchmarks.case_study --data-dir DIR`: who gets a loan, when mistakes cost 5 to 1 (docs/case-study.md).

The set is `german`. Predictions for every row, from fits that have not seen it, are kept in a file, so that a second
run fits only what is new. Prints the tables of the page; with --write draws its pictures into the documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from papers import datasets
from radboost import DeepBoostClassifier, RGBClassifier, SoftmaxBoostClassifier
from radboost.plot._style import COLOURS, FAINT, INK, tidy

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
FOLDS = 5
#: what an answer costs: rows good, bad; columns granted, refused
COST = np.array([[0.0, 1.0], [5.0, 0.0]])
THRESHOLD = 1 / 6  # refuse from this probability of a bad loan on: 5 p > 1 - p
AMOUNT, PERSONAL = 3, (6, 9, 14)  # hundreds of marks; personal status and sex, age, foreign worker
PLACES = np.linspace(0.005, 0.6, 200)  # thresholds to look at
LOST = 0.1  # of the amount, for each unit of cost: a tenth is not earned, a half is lost

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
Method = Callable[[Rows, Labels, Rows], NDArray[np.float64]]  # probabilities of a bad loan, or answers


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)


def catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=0, thread_count=1, verbose=False, allow_writing_files=False)


def saved(labels: Labels, answers: Labels) -> float:
    """The cost of answers, negative, for a search that wants the largest."""
    return -float(COST[labels, answers].mean())


def probability(make: Callable[[], Any], columns: Sequence[int] | None = None) -> Method:
    def method(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
        kept = slice(None) if columns is None else list(columns)
        found: NDArray[np.float64] = make().fit(X[:, kept], y).predict_proba(X_new[:, kept])[:, 1]
        return found

    return method


def answer(make: Callable[[], Any], *, weighted: bool = False) -> Method:
    def method(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
        weights = {"sample_weight": COST[y].sum(axis=1)} if weighted else {}
        found: NDArray[np.float64] = np.asarray(make().fit(X, y, **weights).predict(X_new), dtype=np.float64)
        return found

    return method


def by_amount(X: Rows, y: Labels, X_new: Rows) -> NDArray[np.float64]:
    """Each loan has costs of its own: the matrix times its amount."""
    model = SoftmaxBoostClassifier(n_jobs=1).fit(X, y, cost=COST[y] * X[:, [AMOUNT]])
    return np.asarray(model.predict(X_new), dtype=np.float64)


IMPERSONAL = [column for column in range(24) if column not in PERSONAL]
#: methods whose answer is the probability; each is shown with the thresholds below
PROBABILITIES: dict[str, Method] = {
    "HistGradientBoosting": probability(lambda: HistGradientBoostingClassifier(random_state=0)),
    "LightGBM": probability(lightgbm),
    "LightGBM, calibrated": probability(lambda: CalibratedClassifierCV(lightgbm(), cv=5)),
    "CatBoost": probability(catboost),
    "random forest": probability(lambda: RandomForestClassifier(random_state=0, n_jobs=1)),
    "logistic regression": probability(lambda: make_pipeline(StandardScaler(), LogisticRegression())),
    "DeepBoost": probability(lambda: DeepBoostClassifier(n_jobs=1)),
    "RGB": probability(lambda: RGBClassifier(n_jobs=1)),
    "SoftmaxBoost": probability(lambda: SoftmaxBoostClassifier(n_jobs=1)),
    "DeepBoost, without sex, age and origin": probability(lambda: DeepBoostClassifier(n_jobs=1), IMPERSONAL),
}
#: methods that are told the costs and answer themselves
ANSWERS: dict[str, Method] = {
    "HistGradientBoosting, rows weighted 5:1": answer(
        lambda: HistGradientBoostingClassifier(random_state=0), weighted=True
    ),
    "LightGBM, threshold searched for": answer(
        lambda: TunedThresholdClassifierCV(lightgbm(), scoring=make_scorer(saved), cv=5)
    ),
    "DeepBoost, rows weighted 5:1": answer(lambda: DeepBoostClassifier(n_jobs=1, calibration=None), weighted=True),
    "SoftmaxBoost(cost=matrix)": answer(lambda: SoftmaxBoostClassifier(n_jobs=1, cost=COST, decision="argmax")),
    "SoftmaxBoost, costs by amount": by_amount,
}
BEST, SECOND = "DeepBoost", "HistGradientBoosting"
OURS = ("DeepBoost", "RGB", "SoftmaxBoost")


def read(data_dir: str | None) -> tuple[Rows, Labels]:
    """The rows, and whether a loan went bad."""
    data = datasets.load("german", data_dir)
    return np.asarray(data.X, dtype=np.float64), (np.asarray(data.y) == "bad").astype(np.int64)


def predict(method: Method, X: Rows, y: Labels, repeats: int) -> NDArray[np.float64]:
    """A line for each repeat: what the fit that had not seen a row says of it."""
    found = np.full((repeats, len(y)), np.nan)
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    for i, (train, test) in enumerate(folds.split(X, y)):
        with threadpool_limits(1):
            found[i // FOLDS, test] = method(X[train], y[train], X[test])
    return found


def fold_means(values: NDArray[np.float64], y: Labels) -> NDArray[np.float64]:
    """The mean of each test fold, of values with a line for each repeat."""
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


def decisions(predicted: dict[str, NDArray[np.float64]]) -> dict[str, Labels]:
    """Who is refused, for each method and threshold that the page shows, the simplest first."""
    shape = predicted[BEST].shape
    shown = {"grant every loan": np.zeros(shape, np.int64), "refuse every loan": np.ones(shape, np.int64)}
    for name in (SECOND, "LightGBM", BEST):
        shown[f"{name}, as it answers"] = (predicted[name] > 0.5).astype(np.int64)
    shown |= {name: predicted[name].astype(np.int64) for name in ANSWERS}
    shown |= {f"{name}, threshold 1/6": (predicted[name] > THRESHOLD).astype(np.int64) for name in PROBABILITIES}
    return shown


def table(shown: dict[str, Labels], X: Rows, y: Labels) -> tuple[str, dict[str, tuple[float, float, float]]]:
    """Markdown, and the paired differences from the best; the cheapest last."""
    marks = 100 * X[:, AMOUNT] * LOST
    costs = {name: COST[y, refused] for name, refused in shown.items()}
    best = f"{BEST}, threshold 1/6"
    beside = {name: interval(fold_means(cost - costs[best], y)) for name, cost in costs.items()}
    lines = [
        "| | cost per applicant | more than DeepBoost, threshold 1/6 | marks per applicant | refused | wrong |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for name in sorted(costs, key=lambda name: -costs[name].mean()):
        mean, low, high = beside[name]
        more = "" if name == best else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
        money, wrong = (costs[name] * marks).mean(), (shown[name] != y).mean()
        cells = [name, f"{costs[name].mean():.3f}", more, f"{money:.0f}", f"{shown[name].mean():.0%}", f"{wrong:.1%}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines), beside


def money(shown: dict[str, Labels], X: Rows, y: Labels) -> str:
    """Of a thousand applicants, and what the best saves in marks beside two others, with 95 percent limits."""
    marks = 100 * X[:, AMOUNT] * LOST
    best = shown[f"{BEST}, threshold 1/6"]
    lines = []
    for name in (f"{SECOND}, as it answers", f"{SECOND}, threshold 1/6", f"{BEST}, threshold 1/6"):
        refused = shown[name]
        bad, good = 1000 * ((refused == 0) & (y == 1)).mean(), 1000 * ((refused == 1) & (y == 0)).mean()
        saved_marks = interval(fold_means((COST[y, refused] - COST[y, best]) * marks, y))
        saved_text = "{:.0f} ({:.0f} to {:.0f})".format(*saved_marks)
        lines.append(
            f"{name}: {bad:.0f} bad loans granted, {good:.0f} good customers refused, "
            f"{1000 * (COST[y, refused] * marks).mean():,.0f} marks; the best saves {saved_text} per applicant"
        )
    return "\n".join(lines)


def granted(predicted: dict[str, NDArray[np.float64]], y: Labels) -> str:
    """Markdown: of those below the threshold, how many are expected to go bad and how many do; the best threshold."""
    lines = [
        "| | granted | expected to go bad | went bad | best threshold afterwards, and its cost |",
        "|---|---:|---:|---:|---|",
    ]
    for name in PROBABILITIES:
        below = predicted[name] <= THRESHOLD
        bad = np.broadcast_to(y, below.shape)[below].mean()
        costs = _costs(predicted[name], y)
        best = f"{PLACES[costs.argmin()]:.0%}, {costs.min():.3f}"
        lines.append(f"| {name} | {below.mean():.0%} | {predicted[name][below].mean():.1%} | {bad:.1%} | {best} |")
    return "\n".join(lines)


def _costs(probabilities: NDArray[np.float64], y: Labels) -> NDArray[np.float64]:
    return np.array([COST[y, (probabilities > place).astype(int)].mean() for place in PLACES])


def draw_costs(shown: dict[str, Labels], y: Labels, beside: dict[str, tuple[float, float, float]], path: Path) -> None:
    """The cost of each way to decide, with the interval of its difference from the best."""
    from matplotlib.figure import Figure

    costs = {name: float(COST[y, refused].mean()) for name, refused in shown.items()}
    names = sorted(costs, key=lambda name: costs[name])
    best = costs[f"{BEST}, threshold 1/6"]
    figure = Figure(figsize=(9.0, 0.34 * len(names) + 1.0), layout="constrained", facecolor="white")
    ax = figure.subplots()
    for place, name in enumerate(reversed(names)):
        _, low, high = beside[name]
        colour = COLOURS[0] if name.startswith(OURS) else FAINT
        ax.plot([best + low, best + high], [place, place], color=colour, linewidth=2.2, alpha=0.45)
        ax.scatter([costs[name]], [place], s=48, color=colour, zorder=3)
        ax.text(costs[name], place + 0.28, f"{costs[name]:.3f}", ha="center", fontsize=8, color=INK)
    ax.axvline(best, color=COLOURS[0], linewidth=1.0, linestyle="--", zorder=1)
    ax.set_yticks(range(len(names)), list(reversed(names)))
    ax.set_xlabel("cost per applicant; bars: 95% interval of the distance to DeepBoost, threshold 1/6", loc="right")
    tidy(ax).tick_params(axis="y", length=0)
    figure.savefig(path, dpi=150)


def draw_thresholds(predicted: dict[str, NDArray[np.float64]], y: Labels, path: Path) -> None:
    """Cost against the threshold: where probabilities mean what they say, the best one is where theory puts it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.9), layout="constrained", facecolor="white")
    ax = figure.subplots()
    for name, colour in (("HistGradientBoosting", "#a6761d"), ("LightGBM", COLOURS[1]), (BEST, COLOURS[0])):
        curve = _costs(predicted[name], y)
        lowest = int(curve.argmin())
        ax.plot(PLACES, curve, color=colour, linewidth=2.6 if name == BEST else 1.6, label=name)
        ax.scatter([PLACES[lowest]], [curve[lowest]], s=44, color=colour, zorder=3)
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
    parser = argparse.ArgumentParser("python -m benchmarks.case_study", description=__doc__)
    parser.add_argument("--data-dir", help="folder of the data sets (default: RADBOOST_DATA)")
    parser.add_argument("--repeats", type=int, default=10, help="of the cross-validation in five folds (default: 10)")
    parser.add_argument("--results", type=Path, default=Path("bench-output"), help="folder of the kept predictions")
    parser.add_argument("--write", action="store_true", help="draw the pictures into the documents")
    arguments = parser.parse_args(argv)
    X, y = read(arguments.data_dir)
    arguments.results.mkdir(parents=True, exist_ok=True)
    kept = arguments.results / f"case-study-{arguments.repeats}.npz"
    predicted = dict(np.load(kept)) if kept.exists() else {}
    for name, method in (PROBABILITIES | ANSWERS).items():
        if name not in predicted:
            predicted[name] = predict(method, X, y, arguments.repeats)
            np.savez_compressed(kept, **predicted)
            print(f"{name}: fitted", flush=True)
    shown = decisions(predicted)
    text, beside = table(shown, X, y)
    print(text, granted(predicted, y), money(shown, X, y), sep="\n\n")
    folder = IMAGES if arguments.write else arguments.results
    draw_costs(shown, y, beside, folder / "case-study-costs.png")
    draw_thresholds(predicted, y, folder / "case-study-thresholds.png")


if __name__ == "__main__":
    main()
