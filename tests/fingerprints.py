"""Fits whose models are known to the last bit.

`python tests/fingerprints.py` prints the fingerprint of each as JSON; `--write` puts them into data/fingerprints.json,
which is right only after a change that is meant to change models, and the changelog says so. `--add` puts in those
that are not there yet and leaves the others alone.

The sparse estimators are not here: their sums are of floating-point numbers, taken by NumPy and BLAS, whose last bits
depend on the processor.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from radboost import (
    DeepBoostClassifier,
    EarlyStopping,
    KernelFamily,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeFamilies,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.trees import with_tree_options

KEPT = Path(__file__).parent / "data" / "fingerprints.json"


def table(seed: int, m: int, d: int, n_classes: int = 2, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Columns of few and of many values; noisy labels. Made by additions and products alone: the same bits anywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-500, 501, (m, d)) / 256.0
    X[:, ::3] = np.floor(X[:, ::3] * 4.0)
    signal = X[:, 0] / 4.0 + X[:, 1] * X[:, 2] / 4.0 + X[:, 1] * rng.integers(-200, 201, m) / 256.0
    y = np.clip(np.floor((signal + 3.0) * (n_classes / 6.0)), 0, n_classes - 1).astype(int)
    y[:n_classes] = np.arange(n_classes)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def fractions(m: int) -> np.ndarray:
    return np.random.default_rng(m).integers(0, 40, m) / 8.0


def with_categories(seed: int, m: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Column 0 has 200 categories, column 3 three; the class follows the former without order."""
    X, y = table(seed, m, 6, n_classes, missing=0.05)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 200, m)
    X[:, 0], X[:, 3] = codes, rng.integers(0, 3, m)
    follows = rng.random(m) < 0.5
    y[follows] = (codes * 7 % 11 % n_classes)[follows]
    y[:n_classes] = np.arange(n_classes)
    return X, y


def fit(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    """Leaves vote, unless it is said otherwise."""
    given = with_tree_options({"leaves": "votes", "calibration": None, **parameters})
    return lambda n_jobs: DeepBoostClassifier(n_jobs=n_jobs, **given).fit(*data, weights)


def paper(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    return lambda n_jobs: DeepBoostClassifier.paper(n_jobs=n_jobs, **with_tree_options(parameters)).fit(*data, weights)


def gradient(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    return lambda n_jobs: RGBClassifier(n_jobs=n_jobs, **with_tree_options(parameters)).fit(*data, weights)


def numbers(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    """The regressor on numbers of classes, spread out: made without logarithms."""
    X, y = data
    return lambda n_jobs: RGBRegressor(n_jobs=n_jobs, **with_tree_options(parameters)).fit(X, y * y / 4.0, weights)


def softmax(
    data: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray | None = None,
    costs: np.ndarray | None = None,
    **parameters: Any,
) -> Callable[..., Any]:
    """`costs` are those of single rows."""
    return lambda n_jobs: SoftmaxBoostClassifier(n_jobs=n_jobs, **with_tree_options(parameters)).fit(
        *data, weights, cost=costs
    )


def plain_softmax(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    return lambda n_jobs: SoftmaxBoostClassifier.paper(n_jobs=n_jobs, **with_tree_options(parameters)).fit(
        *data, weights
    )


def baseline(
    algorithm: Any, data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[..., Any]:
    return lambda n_jobs: algorithm(n_jobs=n_jobs, **with_tree_options(parameters)).fit(*data, weights)


def several(
    data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None = None, **parameters: Any
) -> Callable[[int], Any]:
    """Two targets in different units, made of the columns of a table."""
    X = data[0]
    columns = np.nan_to_num(X)
    targets = np.column_stack([columns[:, 0] + columns[:, 1] * columns[:, 2], 300.0 * np.abs(columns[:, 3]) + 7.0])
    return lambda n_jobs: RGBRegressor(n_jobs=n_jobs, **with_tree_options(parameters)).fit(X, targets, weights)


def in_two_parts(estimator: Any, data: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None) -> Callable[..., Any]:
    """A fit of 5 rounds that goes on to 12."""

    def run(n_jobs: int) -> Any:
        model = clone(estimator).set_params(n_jobs=n_jobs, warm_start=True, n_rounds=5).fit(*data, weights)
        return model.set_params(n_rounds=12).fit(*data, weights)

    return run


def prices(seed: int, n_rows: int, n_classes: int) -> np.ndarray:
    """Costs of answers in eighths; a row for each class or for each example."""
    return np.random.default_rng(seed).integers(1, 40, (n_rows, n_classes)) / 8.0


def free_if_right(costs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    costs[np.arange(len(labels)), labels] = 0.0
    return costs


def as_float32_by_column(data: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.asfortranarray(data[0], dtype=np.float32), data[1]


@cache
def all_fits() -> dict[str, Callable[[int], Any]]:
    """Every family, objective, criterion, way to grow and to step; weights, missing values, categories."""
    best_first = TreeOptions(growth="best_first", max_leaves=12, min_leaf_weight=2.0)
    kernels = KernelFamily(gamma=0.25, n_centres=40)
    two, gaps = table(1, 700, 9), table(2, 900, 9, missing=0.05)
    three, four, many = table(3, 600, 7, 3, 0.03), table(4, 500, 6, 4), table(5, 2500, 8, 26)
    return {
        "default": fit(gaps, n_rounds=40),
        "votes, 40,000 rows": fit(table(6, 40_000, 6), n_rounds=5, leaves="votes"),
        "votes, 300,000 rows": fit(as_float32_by_column(table(7, 300_000, 3)), n_rounds=2, leaves="votes"),
        "looked at, 1,500 rows": fit(table(6, 1500, 6), n_rounds=5, leaves="auto"),
        "rated": fit(gaps, n_rounds=25, leaves="rated", complexity_penalty=0.003),
        "rated, four classes, compsum": fit(
            four, n_rounds=20, leaves="rated", complexity_penalty=0.003, objective="compsum", thresholds="best"
        ),
        "rated, whole steps": fit(two, n_rounds=6, leaves="rated", complexity_penalty=0.003, learning_rate=1.0),
        "half of the rows, weights": fit(gaps, fractions(900), n_rounds=25, subsample=0.5, thresholds="best"),
        "edge, random, whole steps": fit(
            two, n_rounds=20, split_criterion="edge", loss="exponential", learning_rate=1.0, step="line_search"
        ),
        "monotone": fit(gaps, fractions(900), n_rounds=20, monotonic_constraints={0: 1, 1: -1}),
        "monotone, rated, best thresholds, groups": fit(
            table(6, 4000, 6),
            n_rounds=8,
            leaves="rated",
            thresholds="best",
            complexity_penalty=0.003,
            monotonic_constraints={0: 1},
            interaction_constraints=[[0, 1], [1, 2, 3]],
        ),
        "pairwise, 3 classes": fit(three, n_rounds=12, interaction_constraints="pairwise"),
        "early stopping": fit(gaps, n_rounds=40, early_stopping=5, max_depth=3),
        "best first": fit(gaps, n_rounds=20, tree_options=best_first),
        "paper": paper(gaps, n_rounds=30, complexity_penalty=0.001),
        "paper, gini, 40,000 rows": paper(table(8, 40_000, 6), n_rounds=4, split_criterion="gini"),
        "paper, 400 columns": paper(table(9, 300, 400), n_rounds=5, l1_penalty=0.001, loss="logistic"),
        "stump pairs": paper(gaps, n_rounds=30, family="stump_pairs", complexity_penalty=0.002),
        "mixture with kernels": fit(two, n_rounds=30, family=["stumps", "trees", kernels], learning_rate=0.5),
        "categories": fit(with_categories(10, 900, 2), n_rounds=20, categorical_features=[0, 3]),
        "categories, best thresholds, 3 classes": fit(
            with_categories(11, 900, 3), n_rounds=10, categorical_features=[0, 3], thresholds="best"
        ),
        "5 classes, 20,000 rows, weights": fit(table(12, 20_000, 6, 5, missing=0.05), fractions(20_000), n_rounds=4),
        "5 classes, half of 20,000 rows": fit(table(12, 20_000, 6, 5), n_rounds=4, subsample=0.5, objective="maxsum"),
        "3 classes": fit(three, fractions(600), n_rounds=20),
        "3 classes, compsum": fit(three, n_rounds=20, objective="compsum", max_features="sqrt"),
        "3 classes, max": fit(three, n_rounds=10, objective="max"),
        "4 classes, maxsum": fit(four, n_rounds=20, objective="maxsum", subsample=0.7),
        "4 classes, kernels": fit(four, n_rounds=15, family=kernels, learning_rate=1.0),
        "4 classes, paper": paper(four, n_rounds=15, tree_options=best_first),
        "26 classes": fit(many, n_rounds=12),
        "26 classes, paper, gini": paper(many, n_rounds=5, split_criterion="gini"),
        "26 classes, edge, best first": paper(many, n_rounds=5, tree_options=best_first, objective="compsum"),
        "rgb": gradient(gaps, n_rounds=20),
        "rgb, 40,000 rows, weights": gradient(table(6, 40_000, 6), fractions(40_000), n_rounds=4),
        "rgb, exponential": gradient(two, n_rounds=8, loss="exponential", family=TreeFamilies(norm_order=1)),
        "rgb, 4 classes": gradient(four, fractions(500), n_rounds=8),
        "rgb, categories, 3 classes": gradient(with_categories(11, 900, 3), n_rounds=6, categorical_features=[0, 3]),
        "rgb, drawn thresholds, 4 classes": gradient(four, n_rounds=8, thresholds="random", complexity_penalty=0.0),
        "rgb, numbers, looks": numbers(gaps),
        "rgb, squared": numbers(many, n_rounds=8, subsample=1.0, family=TreeFamilies(norm_order=np.inf)),
        "rgb, absolute": numbers(many, fractions(2500), n_rounds=6, loss="absolute", max_features=1 / 3),
        "rgb, huber, monotone": numbers(many, n_rounds=8, loss="huber", monotonic_constraints={0: 1, 1: -1}),
        "rgb, quantile": numbers(gaps, n_rounds=6, loss="quantile", early_stopping=4),
        "rgb, poisson": numbers(many, n_rounds=6, loss="poisson"),
        "rgb, two targets": several(gaps, fractions(900), n_rounds=8, max_features=4),
        "rgb, two targets, absolute, groups": several(
            many, n_rounds=6, loss="absolute", interaction_constraints=[[0, 1, 2], [2, 3]]
        ),
        "rgb, warm start": in_two_parts(RGBClassifier(), gaps, fractions(900)),
        "rgb, numbers, warm start": in_two_parts(RGBRegressor(loss="huber", subsample=0.5), gaps, None),
        **softmax_fits(),
        **baseline_fits(),
    }


def softmax_fits() -> dict[str, Callable[[int], Any]]:
    """Every way to draw pairs, to step and to split; weights, costs of classes and of rows, categories."""
    gaps, three = table(2, 900, 9, missing=0.05), table(3, 600, 7, 3, 0.03)
    four, many = table(4, 500, 6, 4), table(5, 2500, 8, 26)
    named = with_categories(11, 900, 3)
    return {
        "softmax": softmax(gaps, n_rounds=20),
        "softmax, weights": softmax(gaps, fractions(900), n_rounds=15, thresholds="best"),
        "softmax, by the rule": softmax(three, n_rounds=15, sampling="rule", max_features=None),
        "softmax, by the rule, projection, weights": softmax(
            four, fractions(500), n_rounds=12, sampling="rule", step="projection"
        ),
        "softmax, 300 pairs, sampled steps": softmax(four, n_rounds=12, samples_per_round=300, step="sampled"),
        "softmax, all pairs, projection": softmax(
            three, fractions(600), n_rounds=12, samples_per_round="all", step="projection"
        ),
        "softmax, all pairs, line search": softmax(gaps, n_rounds=12, samples_per_round="all", step="line_search"),
        "softmax, line search": softmax(four, n_rounds=12, step="line_search", learning_rate=0.5, max_features="sqrt"),
        "softmax, costs of classes": softmax(three, n_rounds=12, cost=free_if_right(prices(1, 3, 3), np.arange(3))),
        "softmax, costs of rows, weights": softmax(
            four, fractions(500), free_if_right(prices(2, 500, 4), four[1]), n_rounds=12
        ),
        "softmax, costs of rows, all pairs": softmax(
            gaps, None, free_if_right(prices(3, 900, 2), gaps[1]), n_rounds=10, samples_per_round="all", max_leaves=5
        ),
        "softmax, categories": softmax(named, n_rounds=10, categorical_features=[0, 3]),
        "softmax, categories, best thresholds": softmax(
            named, n_rounds=8, categorical_features=[0, 3], thresholds="best", min_leaf_weight=8.0
        ),
        "softmax, early stopping": softmax(
            three, n_rounds=60, learning_rate=2.0, early_stopping=EarlyStopping(4, 0.25)
        ),
        "softmax, 26 classes": softmax(many, n_rounds=5, max_bins=31),
        "softmax, paper": plain_softmax(gaps, fractions(900), n_rounds=12),
        "softmax, paper, 26 classes": plain_softmax(many, n_rounds=4),
        "softmax, 40,000 rows": softmax(table(6, 40_000, 6), n_rounds=3, samples_per_round="rows"),
    }


def baseline_fits() -> dict[str, Callable[[int], Any]]:
    """Two classes and more, whole weights and others, categories."""
    gaps, four = table(2, 900, 9, missing=0.05), table(4, 500, 6, 4)
    two_named, named = with_categories(10, 900, 2), with_categories(11, 900, 3)
    copies = np.floor(fractions(500))
    return {
        "adaboost.mh": baseline(AdaBoostMHClassifier, gaps, fractions(900), n_rounds=12),
        "adaboost.mh, 4 classes": baseline(AdaBoostMHClassifier, four, copies, n_rounds=8, max_leaves=5),
        "adaboost.mh, categories": baseline(AdaBoostMHClassifier, named, n_rounds=5, categorical_features=[0, 3]),
        "samme": baseline(SAMMEClassifier, gaps, n_rounds=12),
        "samme, 4 classes": baseline(SAMMEClassifier, four, copies, n_rounds=10, max_leaves=6),
        "samme, categories, weights": baseline(
            SAMMEClassifier, named, fractions(900), n_rounds=6, categorical_features=[0, 3]
        ),
        "martiboost": baseline(MartiBoostClassifier, gaps, fractions(900), n_rounds=7, max_leaves=4),
        "martiboost, categories": baseline(MartiBoostClassifier, two_named, n_rounds=5, categorical_features=[0, 3]),
    }


def fingerprint(model: Any) -> str:
    """A hash of everything that the fit computed: hypotheses, steps, complexities and the history, as bytes."""
    header, arrays = model.ensemble_.to_arrays()
    # Of the rounds that the model has kept, under the names that they had when the first ones were recorded.
    names = {"objective": "risk", "validation_loss": "validation_risk"}
    soft = isinstance(model, SoftmaxBoostClassifier)
    history = {
        f"history {names.get(key, key) if soft else key}": np.array(values[: model.n_iter_], dtype="<f8")
        for key, values in model.history_.items()
    }
    if isinstance(model, AdaBoostMHClassifier | SAMMEClassifier):
        # Reported through the exp of the C library, whose last bit differs between processors.
        history["history objective"] = history["history objective"].astype("<f4")
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name, array in sorted({**arrays, **history}.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def all_fingerprints(n_jobs: int, asked: Sequence[str] = ()) -> dict[str, str]:
    """Those of all fits, or of the ones that are asked for."""
    return {name: fingerprint(make(n_jobs)) for name, make in all_fits().items() if not asked or name in asked}


if __name__ == "__main__":
    if sys.argv[1:] == ["--add"]:
        before = json.loads(KEPT.read_text(encoding="utf-8"))
        found = before | {name: fingerprint(make(1)) for name, make in all_fits().items() if name not in before}
    else:
        found = all_fingerprints(n_jobs=1, asked=[name for name in sys.argv[1:] if not name.startswith("--")])
    text = json.dumps(found, indent=1) + "\n"
    if sys.argv[1:] in (["--write"], ["--add"]):
        KEPT.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
