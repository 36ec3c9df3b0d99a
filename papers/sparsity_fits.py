"""The fits of the studies of "Boosting with Structural Sparsity"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from papers import datasets as registry
from radboost.estimators.sparse import SparseBoostClassifier, SparseBoostRegressor
from radboost.losses import MultinomialScores
from radboost.metrics import coverage
from radboost.sparsity import Kernel, Training

BOOSTED, SEQUENTIAL, LINEAR = "L1, totally corrective", "sequential", "L1, raw columns"
# With a looser tolerance, for the updates of the paper come close to the optimum slowly.
LOOSE, PLAIN_BOOSTED, LOOSE_TOLERANCE = "the same, tol 1e-3", "adaboost updates, tol 1e-3", 1e-3
# Figure 7: the L1 booster at several lambdas, one feature at a time with smooth penalties, chosen features.
LAMBDAS = (1.0, 2.0, 4.0)
SMOOTH, ONE_AT_A_TIME = "one feature a round, smooth L1", "one feature a round, squared penalty"
CHOSEN = "squared penalty, 800 chosen features"
N_ALPHAS = 25
N_CHOSEN = 800  # Appendix D
# Rows of length 1 and this gamma are the paper's kernel with rows of length 8^(1/2), where one pass of a perceptron
# over MNIST makes about as many mistakes as the paper has centres: 2766.
GAMMA = 4.0
N_VALIDATION = 2000


def boosted_at(weight: float) -> str:
    """The name of the L1 booster at a lambda."""
    return f"L1, lambda {weight:g}"


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


def fit_path(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Figures 9 to 12: what each alpha leads to."""
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


def fit_regression(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Section 10: columns and targets in [0, 1], those of the aircraft in [-1, 1]; lambda = 0.02 for a sum of rows.

    "newton" takes the paper's bounds to the same optimum faster, but scores candidates by its own model of the loss;
    "adaboost" has the paper's scores (36) and steps, so that products may enter in another order.
    """
    data = registry.load(facts["regression"], data_dir)
    order = np.random.default_rng([facts["seed"], facts["repeat"]]).permutation(len(data.y))
    train, test = order[: round(0.7 * len(order))], order[round(0.7 * len(order)) :]
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    bounds = (-1, 1) if facts["regression"] == "ailerons" else (0, 1)
    scale, unit = MinMaxScaler(bounds).fit(X[train]), MinMaxScaler(bounds).fit(y[train, None])
    rows, targets = scale.transform(X), unit.transform(y[:, None])[:, 0]
    sequential = facts["algorithm"] == SEQUENTIAL
    model = SparseBoostRegressor(
        0.0 if sequential else 0.02 / len(train),
        epsilon=0.01,
        penalty="l1",
        update="adaboost" if sequential or facts["algorithm"] == PLAIN_BOOSTED else "newton",
        family="given" if facts["algorithm"] == LINEAR else "products",
        features_per_round=1 if sequential else None if facts["algorithm"] == LINEAR else 8,
        totally_corrective=not sequential,
        n_rounds=facts["rounds"] if sequential or facts["algorithm"] == LINEAR else 100,
        standardize=False,
        tol=LOOSE_TOLERANCE if facts["algorithm"] in (LOOSE, PLAIN_BOOSTED) else 1e-5,
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


def fit_rounds(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """One fit for each stage, so that there is a test error for each; the last has the whole history."""
    parts = _products(facts, facts["rounds_of"], data_dir)
    errors = []
    for rounds in facts["stages"]:
        model = SparseBoostClassifier(
            0.002, penalty="l1/linf", update=facts["update"], template="one", n_rounds=rounds, tol=1e-5, n_jobs=1
        ).fit(parts.X, parts.y)
        errors.append(float(np.mean(model.predict(parts.X_test) != parts.y_test)))
    return {
        "objective": model.history_["objective"],
        "features": model.history_["n_features"],
        "error": errors,
        "gap": model.optimality_gap_,
    }


def fit_topic(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Section 10: words that are there or not, 70 percent of the texts train. A lambda is divided by their number."""
    data = registry.load("amazon", data_dir)
    X, y = data.X.copy(), data.domains == facts["topic"]
    X.data[:] = 1.0
    order = np.random.default_rng([facts["seed"], facts["repeat"]]).permutation(len(y))
    train, test = order[: round(0.7 * len(y))], order[round(0.7 * len(y)) :]
    used = np.arange(X.shape[1])
    settings: dict[str, Any] = {"standardize": False, "tol": 1e-5, "n_jobs": 1, "n_rounds": facts["rounds"]}
    if facts["algorithm"] == CHOSEN:
        used = _most_telling(X[train], y[train])
        settings |= {"alpha": 0.01 / len(train), "penalty": "l2"}
    elif facts["algorithm"] == SMOOTH:
        settings |= {"alpha": 2.0 / len(train), "penalty": "smooth_l1", "features_per_round": 1}
    elif facts["algorithm"] == ONE_AT_A_TIME:
        # Near zero the smooth L1 penalty at the paper's lambda = 2 is w^2 / 2.
        settings |= {"alpha": 1.0 / len(train), "penalty": "l2", "features_per_round": 1}
    else:
        weight = next(weight for weight in LAMBDAS if boosted_at(weight) == facts["algorithm"])
        settings |= {"alpha": weight / len(train), "penalty": "l1", "features_per_round": 30}
    model = SparseBoostClassifier(**settings).fit(X[train][:, used], y[train])
    scores = model.decision_function(X[test][:, used])
    return {
        "error": float(np.mean((scores > 0.0) != y[test])),
        "loss": float(np.mean(np.logaddexp(0.0, np.where(y[test], -scores, scores)))),
        "features": model.n_features_used_,
        "rounds": model.n_iter_,
        "stopped": model.stop_reason_,
    }


def _most_telling(X: Any, y: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Appendix D: the columns whose share of positive rows diverges most from that of all rows, times their rows."""
    with_it, share = np.asarray(X.sum(axis=0)).ravel(), y.mean()
    positive = np.asarray(X[y].sum(axis=0)).ravel()
    negative = with_it - positive
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(positive > 0, positive * np.log(positive / (with_it * share)), 0.0)
        down = np.where(negative > 0, negative * np.log(negative / (with_it * (1.0 - share))), 0.0)
    return np.sort(np.argsort(-(up + down), kind="stable")[:N_CHOSEN])


@dataclass(frozen=True)
class _Digits:
    rows: NDArray[np.float64]  # of length 1; the training part first
    y: NDArray[np.int64]
    n_train: int
    order: NDArray[np.int64]
    centres: NDArray[np.float64]


@lru_cache(maxsize=1)
def _mnist(seed: int, n_seen: int, data_dir: str | None) -> _Digits:
    data = registry.load("mnist", data_dir)
    assert data.split is not None
    n_train = int(np.sum(data.split == "train"))
    rows = data.X / np.linalg.norm(data.X.astype(np.float64), axis=1, keepdims=True)
    order = np.random.default_rng(seed).permutation(n_train)
    seen = order[:n_seen]
    loss = MultinomialScores(data.y[seen].astype(np.uint16), 10)
    training = Training(rows[seen], loss, np.full(len(seen), 1.0 / len(seen)), seed, 1)
    found = Kernel(gamma=GAMMA).start(training)([], np.zeros((10, len(seen))))
    return _Digits(rows, data.y, n_train, order, np.array([centre.centre for centre in found]))


def fit_digits(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """So many rows per class train; alpha has the best coverage on rows that do not."""
    data = _mnist(facts["seed"], facts["seen"], data_dir)
    order = np.roll(data.order, facts["repeat"] * len(data.order) // 7)
    held, pool = order[:N_VALIDATION], order[N_VALIDATION:]
    train = np.concatenate([pool[data.y[pool] == digit][: facts["digits"]] for digit in range(10)])
    test = np.arange(data.n_train, len(data.y))
    learn, validate, judge = (rbf_kernel(data.rows[part], data.centres, gamma=GAMMA) for part in (train, held, test))
    model = SparseBoostClassifier(penalty=facts["penalty"], tol=1e-4, n_jobs=1)
    alphas = np.geomspace(0.1, 1e-5, 14) if facts["penalty"] == "l2" else None
    alphas, coefs, intercepts = model.path(learn, data.y[train], alphas=alphas, n_alphas=14, eps=1e-3)
    covered = [coverage(data.y[held], validate @ W.T + b) for W, b in zip(coefs, intercepts, strict=True)]
    best = int(np.argmin(covered))
    scores = judge @ coefs[best].T + intercepts[best]
    return {
        "alpha": float(alphas[best]),
        "coverage": coverage(data.y[test], scores),
        "error": float(np.mean(scores.argmax(axis=1) != data.y[test])),
        "features": int(coefs[best].any(axis=0).sum()),
        "centres": len(data.centres),
    }
