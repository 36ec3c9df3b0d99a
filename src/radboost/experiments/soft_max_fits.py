"""The fits of the studies of "Soft-max boosting"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from radboost import datasets as registry
from radboost.baselines import MartiBoostClassifier
from radboost.experiments.soft_max_boosting import STAGES, make_model, make_noise_model
from radboost.experiments.study import Facts, Fit


def _fit_split(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    data = registry.load(facts["dataset"], data_dir)
    if data.split is None:
        raise ValueError(
            f"{data.name} from {data.source} does not say which rows train and which test, and this table needs the "
            "given parts; use a file with a column 'split'"
        )
    train = data.split == "train"
    y = registry.make_noisy(data.y[train], facts["noise"], random_state=facts["seed"])
    return _staged_errors(facts, data.X[train], y, data.X[~train], data.y[~train])


def _fit_problem(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    problem = registry.make_madelon_like(np.random.default_rng([facts["seed"], facts["problem"]]))
    return _staged_errors(facts, problem.X, problem.y, problem.X_test, problem.y_test)


def _staged_errors(
    facts: Facts, X: NDArray[Any], y: NDArray[Any], X_test: NDArray[Any], y_test: NDArray[Any]
) -> dict[str, Any]:
    """Training and test errors after 10, 100, ... rounds; a fit that ended before counts as it ended."""
    model = make_model(facts["algorithm"], facts["rounds"], facts["seed"]).fit(X, y)
    wanted = [stage for stage in STAGES if stage <= facts["rounds"]]
    rounds = [min(stage, model.n_iter_) for stage in wanted]
    tests = {}
    for number, predicted in enumerate(model.staged_predict(X_test), start=1):
        if number in rounds:
            tests[number] = float(np.mean(predicted != y_test))
    train = model.history_["train_error"]
    return {"train": [float(train[number - 1]) for number in rounds], "test": [tests[number] for number in rounds]}


def _fit_noisy(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    rng = np.random.default_rng([facts["seed"], facts["repeat"]])
    X_test, y_test = registry.make_long_servedio(facts["n_test"], random_state=rng)
    X, y = registry.make_long_servedio(facts["n_train"], noise=facts["flipped"], random_state=rng)
    model = make_noise_model(facts["algorithm"], facts["size"], facts["seed"], facts["n_train"]).fit(X, y)
    scores = model.decision_function(X_test)
    error = float(np.mean((scores > 0) != y_test))
    if isinstance(model, MartiBoostClassifier):
        # the paper's rule is one random walk; its expected error needs no draw
        right = model.predict_proba(X_test)[np.arange(len(y_test)), y_test]
        return {"error": error, "walk": float(np.mean(1.0 - right))}
    return {"error": error}


FITS: dict[str, Fit] = {"dataset": _fit_split, "problem": _fit_problem, "flipped": _fit_noisy}
