"""The models and the fits of the studies of "Soft-max boosting"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers import datasets as registry
from papers.study import Facts
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.datasets import make_long_servedio, make_madelon_like, make_noisy
from radboost.estimators.softmax import SoftmaxBoostClassifier

STAGES = (10, 100, 1000)
# Of the curves: their points.
POINTS = (1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1000)

ADABOOST_MH, SAMME, SM_BOOST, MARTIBOOST = "AdaBoost.MH", "SAMME", "sm-boost", "MartiBoost"

# Beside the paper's algorithms in Figure 7 (docs/decisions/algorithms.md).
FEW_DRAWS, DEFAULTS = "sm-boost, M = N/8", "SoftmaxBoost"


def make_model(algorithm: str, size: int, seed: int, **parameters: Any) -> Any:
    """An estimator with one thread, as the paper has it; `size` is rounds, or layers for MartiBoost."""
    if algorithm == SM_BOOST:
        return SoftmaxBoostClassifier.paper(n_rounds=size, random_state=seed, n_jobs=1, **parameters)
    makers = {ADABOOST_MH: AdaBoostMHClassifier, SAMME: SAMMEClassifier, MARTIBOOST: MartiBoostClassifier}
    return makers[algorithm](size, n_jobs=1, **parameters)


def make_noise_model(algorithm: str, size: int, seed: int, n_train: int) -> Any:
    """An estimator of Figure 7: over stumps, except for ours with its defaults."""
    if algorithm == DEFAULTS:
        return SoftmaxBoostClassifier(size, random_state=seed, n_jobs=1)
    if algorithm == FEW_DRAWS:
        return make_model(SM_BOOST, size, seed, max_leaves=2, samples_per_round=max(1, n_train // 8))
    return make_model(algorithm, size, seed, max_leaves=2)


def fit_split(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    """Tables 2 and 3: the rows that the data set gives for training and testing."""
    data = _with_parts(facts["dataset"], data_dir)
    train = data.split == "train"
    y = make_noisy(data.y[train], facts["noise"], random_state=facts["seed"])
    return _staged_errors(facts, data.X[train], y, data.X[~train], data.y[~train])


def _with_parts(name: str, data_dir: str | None) -> registry.Dataset:
    data = registry.load(name, data_dir)
    if data.split is None:
        raise ValueError(
            f"{data.name} from {data.source} does not say which rows train and which test, and this table needs the "
            "given parts; use a file with a column 'split'"
        )
    return data


def fit_problem(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    """Section 5.3: a random problem."""
    problem = make_madelon_like(np.random.default_rng([facts["seed"], facts["problem"]]))
    return _staged_errors(facts, problem.X, problem.y, problem.X_test, problem.y_test)


def fit_shuffled(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    """Figures 5 and 6: all rows mixed, and as many for training and testing as the data set gives."""
    data = _with_parts(facts["shuffled"], data_dir)
    rng = np.random.default_rng([facts["seed"], facts["repeat"]])
    order = rng.permutation(len(data.y))
    train, test = np.split(order, [int(np.sum(data.split == "train"))])
    y = make_noisy(data.y[train], facts["noise"], random_state=rng)
    return _staged_errors(facts, data.X[train], y, data.X[test], data.y[test], POINTS)


def _staged_errors(
    facts: Facts,
    X: NDArray[Any],
    y: NDArray[Any],
    X_test: NDArray[Any],
    y_test: NDArray[Any],
    stages: tuple[int, ...] = STAGES,
) -> dict[str, Any]:
    """Training and test errors after so many rounds; a fit that ended before counts as it ended."""
    model = make_model(facts["algorithm"], facts["rounds"], facts["seed"]).fit(X, y)
    wanted = [stage for stage in stages if stage <= facts["rounds"]]
    rounds = [min(stage, model.n_iter_) for stage in wanted]
    tests = {}
    for number, predicted in enumerate(model.staged_predict(X_test), start=1):
        if number in rounds:
            tests[number] = float(np.mean(predicted != y_test))
    train = model.history_["train_error"]
    return {"train": [float(train[number - 1]) for number in rounds], "test": [tests[number] for number in rounds]}


def fit_noisy(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    """Section 5.5: the problem of Long and Servedio."""
    rng = np.random.default_rng([facts["seed"], facts["repeat"]])
    X_test, y_test = make_long_servedio(facts["n_test"], random_state=rng)
    X, y = make_long_servedio(facts["n_train"], noise=facts["flipped"], random_state=rng)
    model = make_noise_model(facts["algorithm"], facts["size"], facts["seed"], facts["n_train"]).fit(X, y)
    scores = model.decision_function(X_test)
    error = float(np.mean((scores > 0) != y_test))
    if isinstance(model, MartiBoostClassifier):
        # the paper's rule is one random walk; its expected error needs no draw
        right = model.predict_proba(X_test)[np.arange(len(y_test)), y_test]
        return {"error": error, "walk": float(np.mean(1.0 - right))}
    return {"error": error}
