"""Measured Rademacher complexities in the place of the r_k of the papers: docs/theory.md, section 6.

    RADBOOST_DATA=... python -m benchmarks.measured_complexity

The empirical complexity of stumps is exact for each draw of signs, by sorting. That of trees is estimated from below:
a tree is grown to agree with the signs, best split first. Errors are those of a quarter of the rows; another
quarter chooses the penalty, and for DeepBoost the depth, for each kind of r_k alike.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import real
from benchmarks.markdown import number, table
from radboost import DeepBoostClassifier, RGBClassifier, complexity, guarantees
from radboost.guarantees.bounds import MARGIN_BOUND, every_statement

SETS = ("breastcancer", "diabetes", "german", "ionosphere", "sonar")
ALGORITHMS = ("DeepBoost", "RGB")
PENALTIES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DEPTHS = (1, 2, 4)
SIZES = (2, 3, 5, 7, 10, 15)  # splits of the trees that are grown; others are interpolated
DELTA = 0.05


def of_stumps(X: NDArray[Any], signs: NDArray[Any]) -> float:
    """Largest agreement of a stump with the signs, divided by the number of rows."""
    best = abs(float(signs.sum()))
    for column in X.T:
        order = np.argsort(column, kind="stable")
        sums, ends = np.cumsum(signs[order]), np.diff(column[order], append=np.inf) > 0.0
        best = max(best, float(np.abs(2.0 * sums[ends] - sums[-1]).max()))
    return best / len(X)


def measured(X: NDArray[Any], draws: int, seed: int) -> dict[int, float]:
    """Complexity of trees with 1 to 15 splits, the mean over draws of signs."""
    rng = np.random.default_rng(seed)
    found = np.zeros((draws, 1 + len(SIZES)))
    for draw in range(draws):
        signs = rng.choice([-1.0, 1.0], len(X))
        found[draw, 0] = of_stumps(X, signs)
        for k, size in enumerate(SIZES):
            tree = DecisionTreeClassifier(max_leaf_nodes=size + 1, random_state=0).fit(X, signs)
            found[draw, k + 1] = 2.0 * float(tree.score(X, signs)) - 1.0
    means = np.maximum.accumulate(found.mean(axis=0))
    sizes = np.arange(1, 16)
    return dict(zip(sizes.tolist(), np.interp(np.sqrt(sizes), np.sqrt([1, *SIZES]), means).tolist(), strict=True))


@contextmanager
def charged(prices: Mapping[int, float] | None) -> Iterator[None]:
    """Fits inside take these complexities by the number of splits; None: the closed forms."""
    closed = complexity.stumps, complexity.trees
    if prices is not None:
        complexity.stumps = lambda m, d, bits=0: prices[1]
        complexity.trees = lambda n, m, d, bits=0: prices[min(max(n, 1), 15)]
    try:
        yield
    finally:
        complexity.stumps, complexity.trees = closed


def candidates(name: str) -> Iterator[Any]:
    for penalty in PENALTIES:
        if name == "RGB":
            yield RGBClassifier.paper(50, complexity_penalty=penalty, n_jobs=1)
            continue
        for depth in DEPTHS:
            family = "stumps" if depth == 1 else "trees"
            settings = {"family": family, "max_depth": depth, "complexity_penalty": penalty, "n_jobs": 1}
            yield DeepBoostClassifier.paper(100, loss="logistic", **settings)


def error(name: str, parts: list[NDArray[Any]], prices: Mapping[int, float] | None) -> float:
    """Test error of the candidate with the smallest error on the rows that choose."""
    X, X_choose, X_test, y, y_choose, y_test = parts
    with charged(prices):
        models = [model.fit(X, y) for model in candidates(name)]
    best = max(models, key=lambda model: float(model.score(X_choose, y_choose)))
    return 1.0 - float(best.score(X_test, y_test))


def bounds(X: NDArray[Any], y: NDArray[Any], r: float) -> tuple[float, float]:
    """(7b) of a model of stumps, and the second form of (7a) with the measured r."""
    model = DeepBoostClassifier.paper(100, loss="logistic", family="stumps", complexity_penalty=0.03).fit(X, y)
    statements = every_statement(model, X, y, guarantees.RHO_GRID, DELTA)
    closed = [one for one in statements if one.theorem == MARGIN_BOUND]
    chance = 3.0 * math.sqrt(math.log(2.0 * len(guarantees.RHO_GRID) / DELTA) / (2.0 * len(X)))
    return min(one.total for one in closed), min(one.margin_error + one.factor * r + chance for one in closed)


def study(name: str, repeats: int, draws: int) -> NDArray[Any]:
    """Columns of the table from the second on, a row for each repeat; the errors are columns 5 to 8."""
    X, y = real(name)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    rows: list[list[float]] = []
    for repeat in range(repeats):
        X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.5, stratify=y, random_state=repeat)
        halves = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=repeat)
        parts = [X_train, *halves[:2], y_train, *halves[2:]]
        prices, (m, d) = measured(X_train, draws, repeat), X_train.shape
        errors = [error(algorithm, parts, kind) for algorithm in ALGORITHMS for kind in (None, prices)]
        known = [complexity.stumps(m, d), prices[1], complexity.trees(7, m, d), prices[7]]
        rows.append([m, *known, *errors, *bounds(X_train, y_train, prices[1])])
    return np.array(rows)


def report(results: Mapping[str, NDArray[Any]]) -> None:
    kinds = [f"{what} {kind}" for what in ("r_1", "r_7", *ALGORITHMS, "bound") for kind in ("closed", "measured")]
    means = {name: rows.mean(axis=0) for name, rows in results.items()}
    cells = [[name, f"{row[0]:.0f}", *(number(value, 3) for value in row[1:])] for name, row in means.items()]
    print(table(["set", "rows", *kinds], cells))
    every = np.vstack(list(results.values()))
    for k, algorithm in enumerate(ALGORITHMS):
        closed, new = every[:, 5 + 2 * k], every[:, 6 + 2 * k]
        lower, higher, p = np.sum(new < closed), np.sum(new > closed), wilcoxon(closed, new).pvalue
        print(f"{algorithm}: with measured r_k lower in {lower}, higher in {higher} of {len(every)} draws, p = {p:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--draws", type=int, default=30, help="of signs")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "The model is empty")
    report({name: study(name, given.repeats, given.draws) for name in SETS})
