"""`python -m benchmarks.regression`: regressors at their defaults, by cross-validation on five sets.

Two sets come from scikit-learn's generators, one from its package, two from the folder of data sets; a set that is not
there is left out. The figure is the mean squared error of five folds as a share of the variance of the targets.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

Numbers = NDArray[np.float64]
FOLDS = 5
MOST_ROWS = 2000


def _diabetes(_: Path) -> tuple[Numbers, Numbers]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, y


def _friedman(number: int) -> Callable[[Path], tuple[Numbers, Numbers]]:
    def make(_: Path) -> tuple[Numbers, Numbers]:
        from sklearn.datasets import make_friedman1, make_friedman2

        X, y = (
            make_friedman1(1200, noise=1.0, random_state=0)
            if number == 1
            else make_friedman2(1500, noise=100.0, random_state=1)
        )
        return X, y

    return make


def _file(name: str) -> Callable[[Path], tuple[Numbers, Numbers]]:
    def read(folder: Path) -> tuple[Numbers, Numbers]:
        import pandas as pd

        frame = pd.read_csv(folder / f"{name}.csv.gz").iloc[:MOST_ROWS]
        columns = pd.get_dummies(frame.drop(columns="target"))
        return columns.to_numpy(np.float64), frame["target"].to_numpy(np.float64)

    return read


SETS = {
    "diabetes (442 x 10)": _diabetes,
    "housing (506 x 13)": _file("housing"),
    "abalone (2,000 x 10)": _file("abalone"),
    "Friedman 1 (1,200 x 10)": _friedman(1),
    "Friedman 2 (1,500 x 4)": _friedman(2),
}


def _rgb(**parameters: Any) -> Any:
    from radboost import RGBRegressor

    return RGBRegressor(n_jobs=1, **parameters)


def _lightgbm() -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbose=-1)


def _xgboost() -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_jobs=1)


def _catboost() -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(thread_count=1, verbose=False, allow_writing_files=False)


def _hist_gradient_boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=0)


def _random_forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=0, n_jobs=1)


COMPETITORS: dict[str, Callable[[], Any]] = {
    "RGB": _rgb,
    "RGB, 1 candidate": lambda: _rgb(n_candidates=1),
    "RGB, all rows": lambda: _rgb(subsample=1.0),
    "RGB, no penalty": lambda: _rgb(complexity_penalty=0.0),
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "HistGradientBoosting": _hist_gradient_boosting,
    "RandomForest": _random_forest,
    "CatBoost": _catboost,
}


def unexplained(make: Callable[[], Any], X: Numbers, y: Numbers) -> float:
    """The squared error of the folds, as a share of the variance."""
    errors = []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        predicted = np.asarray(make().fit(X[train], y[train]).predict(X[test]))
        errors.append(np.mean((predicted - y[test]) ** 2))
    return float(np.mean(errors) / np.var(y))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path(os.environ.get("RADBOOST_DATA", ".")))
    folder = parser.parse_args().data_dir
    problems = {}
    for name, make in SETS.items():
        try:
            problems[name] = make(folder)
        except FileNotFoundError:
            print(f"{name} is not in {folder}, and left out", file=sys.stderr)
    print("| unexplained share of the variance | " + " | ".join([*problems, "**all**"]) + " |")
    print("|---" + "|---:" * (len(problems) + 1) + "|")
    for name, make_model in COMPETITORS.items():
        shares = [unexplained(make_model, X, y) for X, y in problems.values()]
        cells = [f"{share:.4f}".removeprefix("0") for share in [*shares, float(np.mean(shares))]]
        print(f"| {name} | " + " | ".join([*cells[:-1], f"**{cells[-1]}**"]) + " |", flush=True)


if __name__ == "__main__":
    main()
