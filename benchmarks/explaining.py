"""`python -m benchmarks.explaining`: seconds for exact Shapley values of many rows, beside other libraries.

Every library fits its own trees, as many and as deep, to the same rows, and explains the same rows by them, with the
same number of threads. Trees of one depth have different numbers of leaves, so the table has the time for a leaf too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine
from benchmarks.data import synthetic
from benchmarks.timing import seconds

SIZES = ((100, 6), (300, 6), (100, 8), (300, 8))
ROWS, COLUMNS, THREADS = 10_000, 28, 2


@dataclass(frozen=True)
class Explained:
    """A fitted model: its leaves, its scores, and what explains rows."""

    name: str
    n_leaves: int
    scores: Callable[[NDArray[Any]], Any]
    contributions: Callable[[NDArray[Any]], Any]


def ours(X: NDArray[Any], y: NDArray[Any], trees: int, depth: int, threads: int) -> list[Explained]:
    """Trees of the full depth, whose leaves hold numbers."""
    from radboost import DeepBoostClassifier, TreeOptions

    model = DeepBoostClassifier(
        trees,
        max_depth=depth,
        complexity_penalty=0.0,
        learning_rate=0.1,
        n_jobs=threads,
        calibration=None,
        tree_options=TreeOptions(leaves="rated", max_features=1.0, thresholds="best"),
    ).fit(X, y)
    trees_made: tuple[Any, ...] = model.ensemble_.hypotheses
    leaves = sum(int((tree.feature < 0).sum()) for tree in trees_made)
    return [Explained("RadBoost", leaves, model.decision_function, model.predict_contributions)]


def lightgbm_and_shap(X: NDArray[Any], y: NDArray[Any], trees: int, depth: int, threads: int) -> list[Explained]:
    """The same trees explained by LightGBM itself and by `shap`, which uses one thread."""
    import lightgbm
    import shap

    model = lightgbm.LGBMClassifier(
        n_estimators=trees, max_depth=depth, num_leaves=2**depth, n_jobs=threads, verbosity=-1
    ).fit(X, y)
    booster = model.booster_
    leaves = int((booster.trees_to_dataframe()["left_child"].isna()).sum())
    explainer = shap.TreeExplainer(booster, feature_perturbation="tree_path_dependent")

    def with_mean(rows: NDArray[Any]) -> NDArray[Any]:
        found = explainer.shap_values(rows)
        return np.column_stack([found, np.full(len(rows), explainer.expected_value)])

    def raw(rows: NDArray[Any]) -> Any:
        return booster.predict(rows, raw_score=True)

    return [
        Explained("LightGBM `pred_contrib`", leaves, raw, lambda rows: booster.predict(rows, pred_contrib=True)),
        Explained("`shap.TreeExplainer`, LightGBM's trees", leaves, raw, with_mean),
    ]


def xgboost(X: NDArray[Any], y: NDArray[Any], trees: int, depth: int, threads: int) -> list[Explained]:
    """XGBoost's own."""
    import xgboost as library

    model = library.XGBClassifier(n_estimators=trees, max_depth=depth, learning_rate=0.1, n_jobs=threads).fit(X, y)
    booster = model.get_booster()
    leaves = int((booster.trees_to_dataframe()["Feature"] == "Leaf").sum())

    def raw(rows: NDArray[Any]) -> Any:
        return booster.predict(library.DMatrix(rows, nthread=threads), output_margin=True)

    def contributions(rows: NDArray[Any]) -> Any:
        return booster.predict(library.DMatrix(rows, nthread=threads), pred_contribs=True)

    return [Explained("XGBoost `pred_contribs`", leaves, raw, contributions)]


LIBRARIES = {"radboost": ours, "lightgbm": lightgbm_and_shap, "xgboost": xgboost}


def measure(trees: int, depth: int, n_rows: int, threads: int, repeats: int, libraries: list[str]) -> list[str]:
    """Lines of the table: the best time of several; every row must sum to its score."""
    X, y = synthetic(max(n_rows, 10_000), COLUMNS, seed=0)
    models = [one for name in libraries for one in LIBRARIES[name](X, y, trees, depth, threads)]
    rows, lines = X[:n_rows], []
    for model in models:
        gap = float(np.abs(model.contributions(rows[:200]).sum(axis=1) - model.scores(rows[:200])).max())
        best = min(seconds(lambda model=model: model.contributions(rows)) for _ in range(repeats))  # type: ignore[misc]
        nanoseconds = 1e9 * best / (n_rows * model.n_leaves)
        figures = f"{best:.3g} | {model.n_leaves / trees:.0f} | {nanoseconds:.3g} | {gap:.1e}"
        lines.append(f"| {trees} trees of depth {depth} | {model.name} | {figures} |")
        print(lines[-1], flush=True)
    return lines


def main(argv: list[str] | None = None) -> int:
    """All sizes, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explaining", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows to explain (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=THREADS, help="of each library (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=1, help="the best counts (default: %(default)s)")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="comma-separated choice of: %(default)s")
    parser.add_argument("--sizes", default=",".join(f"{t}x{d}" for t, d in SIZES), help="trees x depth: %(default)s")
    parser.add_argument("--output", type=Path, help="file for the table")
    options = parser.parse_args(argv)
    chosen = options.libraries.split(",")
    if unknown := sorted(set(chosen) - set(LIBRARIES)):
        parser.error(f"unknown library {', '.join(unknown)}; choose from {', '.join(LIBRARIES)}")
    lines = [
        "| model | | s | leaves of a tree | ns per row and leaf | sums to scores |",
        "|---|---|---:|---:|---:|---:|",
    ]
    with machine.OtherLoad() as load:
        for size in options.sizes.split(","):
            trees, depth = (int(number) for number in size.split("x"))
            lines += measure(trees, depth, options.rows, options.threads, options.repeats, chosen)
    text = "\n".join(lines) + "\n"
    print(f"\n{text}\n{load.sentence()}")
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
