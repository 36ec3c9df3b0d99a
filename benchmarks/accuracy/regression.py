"""Regressors at their defaults, by cross-validation on seven sets: the table of docs/rgb.md.

Three sets come from scikit-learn's generators, one from its package, three from the folder of data sets.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as generated
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from benchmarks.competitors import (
    catboost,
    hist_gradient_boosting,
    lightgbm,
    random_forest,
    takes_part,
    xgboost,
)
from benchmarks.markdown import table
from radboost import RGBRegressor

Numbers = NDArray[np.float64]
FOLDS = 5


def from_file(name: str, folder: Path) -> tuple[Numbers, Numbers]:
    """Read name.csv.gz, with a column for each category."""
    import pandas as pd

    frame = pd.read_csv(folder / f"{name}.csv.gz")
    columns = pd.get_dummies(frame.drop(columns="target"))
    return columns.to_numpy(np.float64), frame["target"].to_numpy(np.float64)


def friedman(number: int, noise: float, _: Path) -> tuple[Numbers, Numbers]:
    """Draw 1,500 rows of one of Friedman's functions."""
    made: tuple[Numbers, Numbers] = getattr(generated, f"make_friedman{number}")(1500, noise=noise, random_state=number)
    return made


def diabetes(_: Path) -> tuple[Numbers, Numbers]:
    """Load the set that comes with scikit-learn."""
    X, y = generated.load_diabetes(return_X_y=True)
    return X, y


SETS: Mapping[str, Callable[[Path], tuple[Numbers, Numbers]]] = {
    "diabetes (442 x 10)": diabetes,
    "housing (506 x 13)": partial(from_file, "housing"),
    "abalone (4,177 x 10)": partial(from_file, "abalone"),
    "ailerons (13,750 x 40)": partial(from_file, "ailerons"),
    "Friedman 1 (1,500 x 10)": partial(friedman, 1, 1.0),
    "Friedman 2 (1,500 x 4)": partial(friedman, 2, 100.0),
    "Friedman 3 (1,500 x 4)": partial(friedman, 3, 0.1),
}
#: name -> package and maker; errors are relative to the first
REGRESSORS: Mapping[str, tuple[str, Callable[[], Any]]] = {
    "CatBoost": ("catboost", catboost.regressor),
    "RGB": ("radboost", partial(RGBRegressor, n_jobs=1)),
    "RGB, 200 rounds": ("radboost", partial(RGBRegressor, 200, n_jobs=1)),
    "LightGBM": ("lightgbm", lightgbm.regressor),
    "XGBoost": ("xgboost", xgboost.regressor),
    "HistGradientBoosting": ("scikit-learn", hist_gradient_boosting.regressor),
    "RandomForest": ("scikit-learn", random_forest.regressor),
}


def mean_error(make: Callable[[], Any], X: Numbers, y: Numbers) -> float:
    """Average the root mean squared errors of the folds."""
    errors = []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        predicted = np.asarray(make().fit(X[train], y[train]).predict(X[test]))
        errors.append(np.sqrt(np.mean((predicted - y[test]) ** 2)))
    return float(np.mean(errors))


def regression_table(folder: Path) -> str:
    """Fit everybody; a set that is not in the folder is left out with a line, as is a library."""
    problems = {}
    for name, read in SETS.items():
        try:
            problems[name] = read(folder)
        except FileNotFoundError:
            print(f"{name} is not in {folder}, and left out", file=sys.stderr)
    able = {name: make for name, (package, make) in REGRESSORS.items() if takes_part(name, package)}
    rows: list[list[str]] = []
    reference = np.ones(len(problems))
    with threadpool_limits(1):
        for name, make in able.items():
            started = time.perf_counter()
            errors = np.array([mean_error(make, X, y) for X, y in problems.values()])
            seconds = time.perf_counter() - started
            reference = reference if rows else errors
            cells = [f"{ratio:.3f}" for ratio in errors / reference]
            rows.append([name, *cells, f"**{np.mean(errors / reference):.3f}**", f"{seconds:.0f}"])
    head = [f"root mean squared error / that of {next(iter(able))}", *problems, "**mean**", "seconds"]
    return table(head, rows)
