"""`python -m benchmarks.regression`: regressors at their defaults, by cross-validation on seven sets.

Three sets come from scikit-learn's generators, one from its package, three from the folder of data sets; a set that is
not there is left out. The figure is the root mean squared error, mean of five folds, relative to CatBoost's; seconds
are those of all fits, on one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

Numbers = NDArray[np.float64]
FOLDS = 5
REFERENCE = "CatBoost"


def _diabetes(_: Path) -> tuple[Numbers, Numbers]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, y


def _friedman(number: int) -> Callable[[Path], tuple[Numbers, Numbers]]:
    def make(_: Path) -> tuple[Numbers, Numbers]:
        from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

        makers = {1: (make_friedman1, 1.0), 2: (make_friedman2, 100.0), 3: (make_friedman3, 0.1)}
        function, noise = makers[number]
        X, y = function(1500, noise=noise, random_state=number)
        return X, y

    return make


def _file(name: str) -> Callable[[Path], tuple[Numbers, Numbers]]:
    def read(folder: Path) -> tuple[Numbers, Numbers]:
        import pandas as pd

        frame = pd.read_csv(folder / f"{name}.csv.gz")
        columns = pd.get_dummies(frame.drop(columns="target"))
        return columns.to_numpy(np.float64), frame["target"].to_numpy(np.float64)

    return read


SETS = {
    "diabetes (442 x 10)": _diabetes,
    "housing (506 x 13)": _file("housing"),
    "abalone (4,177 x 10)": _file("abalone"),
    "ailerons (13,750 x 40)": _file("ailerons"),
    "Friedman 1 (1,500 x 10)": _friedman(1),
    "Friedman 2 (1,500 x 4)": _friedman(2),
    "Friedman 3 (1,500 x 4)": _friedman(3),
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
    REFERENCE: _catboost,
    "RGB": _rgb,
    "RGB, 200 rounds": lambda: _rgb(n_rounds=200),
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "HistGradientBoosting": _hist_gradient_boosting,
    "RandomForest": _random_forest,
}


def errors_of(make: Callable[[], Any], X: Numbers, y: Numbers) -> float:
    """The root mean squared error, the mean of the folds."""
    errors = []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        predicted = np.asarray(make().fit(X[train], y[train]).predict(X[test]))
        errors.append(np.sqrt(np.mean((predicted - y[test]) ** 2)))
    return float(np.mean(errors))


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
    print("| root mean squared error / CatBoost's | " + " | ".join([*problems, "**mean**", "seconds"]) + " |")
    print("|---" + "|---:" * (len(problems) + 2) + "|")
    reference = np.ones(len(problems))
    with threadpool_limits(1):
        for name, make_model in COMPETITORS.items():
            started = time.perf_counter()
            errors = np.array([errors_of(make_model, X, y) for X, y in problems.values()])
            seconds = time.perf_counter() - started
            if name == REFERENCE:
                reference = errors
            shares = errors / reference
            cells = [f"{share:.3f}" for share in [*shares, float(np.mean(shares))]]
            line = [*cells[:-1], f"**{cells[-1]}**", f"{seconds:.0f}"]
            print(f"| {name} | " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    main()
