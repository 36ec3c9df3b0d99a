"""Figures 8 to 12 and 14 of "Boosting with Structural Sparsity" (Duchi and Singer 2009), run again.

The paper has curves and no tables, so that what is checked is what it says about them: who needs fewer features for the
same coverage, and where boosting stops. Its lambda is for a sum over rows, alpha here is for a mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from radboost import datasets as registry
from radboost.estimators.sparse import SparseBoostClassifier, SparseBoostRegressor
from radboost.metrics import coverage

PENALTIES = ("l1", "l1/l2", "l1/linf")
BOOSTED, SEQUENTIAL, LINEAR = "L1, totally corrective", "sequential", "L1, raw columns"
REGRESSORS = (BOOSTED, SEQUENTIAL, LINEAR)
UPDATES = ("adaboost", "gradboost", "newton")
N_ALPHAS = 25


@dataclass(frozen=True)
class SparsityPaths:
    """Figures 9 to 12: test coverage along alpha, for each penalty, on products of columns."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    repeats: int = 10
    quick_repeats: int = 2


@dataclass(frozen=True)
class InducedRegression:
    """Figure 8: regression on products of columns."""

    name: str
    title: str
    datasets: tuple[str, ...] = ("housing", "ailerons")
    repeats: int = 10
    quick_repeats: int = 2
    rounds: int = 1000
    quick_rounds: int = 200


@dataclass(frozen=True)
class InAndOut:
    """Figures 13 (right) and 14: objective, test error and features in the model, round by round, for each update."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    rounds: int = 3000
    quick_rounds: int = 300


SparsityStudy = SparsityPaths | InducedRegression | InAndOut

STUDIES: tuple[SparsityStudy, ...] = (
    InducedRegression("structural-sparsity-8", "regression on products, 70 percent of the rows train"),
    SparsityPaths("structural-sparsity-9", "LandSat, products, 240 rows per class", "satimage", 240, 2000),
    SparsityPaths("structural-sparsity-10", "vowels, products, 20 rows per class", "vowel", 20, 462),
    SparsityPaths("structural-sparsity-11", "pen digits, products, 300 rows per class", "pendigits", 300, 3498),
    SparsityPaths("structural-sparsity-12", "waves, products, 600 rows per class", "waveform40", 600, 2500),
    InAndOut("structural-sparsity-14", "LandSat, features in and out", "satimage", 240, 2000),
)


def units_of(study: SparsityStudy, quick: bool) -> list[dict[str, Any]]:
    """The facts of every fit, in order."""
    if isinstance(study, SparsityPaths):
        return [
            {"paths": study.dataset, "per_class": study.per_class, "n_test": study.n_test, "repeat": repeat,
             "penalty": penalty}
            for repeat in range(study.quick_repeats if quick else study.repeats)
            for penalty in PENALTIES
        ]  # fmt: skip
    if isinstance(study, InducedRegression):
        return [
            {"regression": name, "repeat": repeat, "algorithm": algorithm,
             "rounds": study.quick_rounds if quick else study.rounds}
            for name in study.datasets
            for repeat in range(study.quick_repeats if quick else study.repeats)
            for algorithm in REGRESSORS
        ]  # fmt: skip
    return [
        {"rounds_of": study.dataset, "per_class": study.per_class, "n_test": study.n_test, "update": update,
         "rounds": study.quick_rounds if quick else study.rounds}
        for update in UPDATES
    ]  # fmt: skip


def fit_unit(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """One fit, or one path of them."""
    if "paths" in facts:
        return _path(facts, data_dir)
    return _regression(facts, data_dir) if "regression" in facts else _rounds(facts, data_dir)


@dataclass(frozen=True)
class _Parts:
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


def _products(facts: dict[str, Any], name: str, data_dir: str | None) -> _Parts:
    """So many rows of each class train and others test; columns and their products, all in [0, 1]."""
    data = registry.load(name, data_dir)
    rng = np.random.default_rng([facts["seed"], facts.get("repeat", 0)])
    X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
    order = rng.permutation(len(y))
    if data.split is not None:
        pool, rest = order[data.split[order] == "train"], order[data.split[order] == "test"]
    else:
        pool, rest = order[facts["n_test"] :], order[: facts["n_test"]]
    train = np.concatenate([pool[y[pool] == label][: facts["per_class"]] for label in np.unique(y)])
    expand = PolynomialFeatures(2, include_bias=False)
    scale = MinMaxScaler().fit(X[train])
    learn, test = (expand.fit_transform(scale.transform(X[part])) for part in (train, rest[: facts["n_test"]]))
    return _Parts(learn, y[train], test, y[rest[: facts["n_test"]]])


def _path(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    parts = _products(facts, facts["paths"], data_dir)
    model = SparseBoostClassifier(penalty=facts["penalty"], tol=1e-4, n_jobs=1)
    alphas, coefs, intercepts = model.path(parts.X, parts.y, n_alphas=N_ALPHAS, eps=2e-3)
    lines: dict[str, list[float]] = {key: [] for key in ("alpha", "rows", "weights", "coverage", "error", "loss")}
    for alpha, coef, intercept in zip(alphas, coefs, intercepts, strict=True):
        scores = parts.X_test @ coef.T + intercept
        own = scores[np.arange(len(scores)), parts.y_test]
        lines["alpha"].append(float(alpha))
        lines["rows"].append(int(coef.any(axis=0).sum()))
        lines["weights"].append(float(np.mean(coef != 0.0)))
        lines["coverage"].append(coverage(parts.y_test, scores))
        lines["error"].append(float(np.mean(scores.argmax(axis=1) != parts.y_test)))
        lines["loss"].append(float(np.mean(np.logaddexp.reduce(scores, axis=1) - own)))
    return lines


def _regression(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Section 10: columns and targets in [0, 1]; lambda = 0.02 is 0.02 divided by the number of rows here."""
    data = registry.load(facts["regression"], data_dir)
    order = np.random.default_rng([facts["seed"], facts["repeat"]]).permutation(len(data.y))
    train, test = order[: round(0.7 * len(order))], order[round(0.7 * len(order)) :]
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    scale, unit = MinMaxScaler().fit(X[train]), MinMaxScaler().fit(y[train, None])
    rows, targets = scale.transform(X), unit.transform(y[:, None])[:, 0]
    sequential = facts["algorithm"] == SEQUENTIAL
    model = SparseBoostRegressor(
        0.0 if sequential else 0.02 / len(train),
        epsilon=0.01,
        penalty="l1",
        update="adaboost" if sequential else "newton",
        features="given" if facts["algorithm"] == LINEAR else "products",
        features_per_round=1 if sequential else None if facts["algorithm"] == LINEAR else 8,
        totally_corrective=not sequential,
        max_rounds=facts["rounds"] if sequential or facts["algorithm"] == LINEAR else 100,
        standardize=False,
        tol=1e-5,
        n_jobs=1,
    ).fit(rows[train], targets[train])
    residual = model.predict(rows[test]) - targets[test]
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "absolute": float(np.mean(np.abs(residual))),
        "features": model.n_features_used_,
        "rounds": model.n_iter_,
        "stopped": model.stop_reason_,
    }


def _rounds(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    parts = _products(facts, facts["rounds_of"], data_dir)
    model = SparseBoostClassifier(
        0.002, penalty="l1/linf", update=facts["update"], template="one", max_rounds=facts["rounds"], tol=1e-5, n_jobs=1
    ).fit(parts.X, parts.y)
    return {
        "objective": model.history_["objective"],
        "features": model.history_["n_features"],
        "error": float(np.mean(model.predict(parts.X_test) != parts.y_test)),
        "gap": model.optimality_gap_,
    }
