"""Importances of columns: for the trees of a model, and for its score on given rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

from radboost._tables import is_arrow, known_form
from radboost._typing import FloatArray
from radboost.families.kinds import kind_of
from radboost.trees import Tree

Places = npt.NDArray[np.int64]


def trees_of(ensemble: Any) -> Iterator[tuple[float, Tree]]:
    """Trees of an ensemble with their weights (1 if it has none); other hypotheses are skipped."""
    weights = getattr(ensemble, "weights", np.ones(len(ensemble.hypotheses)))
    for weight, hypothesis in zip(weights.tolist(), ensemble.hypotheses, strict=True):
        tree = kind_of(hypothesis).tree(hypothesis)
        if tree is not None:
            yield weight, tree


def cover_importances(ensemble: Any) -> FloatArray:
    """Cover of the splits on each column times the weight of the tree, normalized; shape (n_features,)."""
    importances = np.zeros(ensemble.n_features)
    for weight, tree in trees_of(ensemble):
        inner = tree.feature >= 0
        np.add.at(importances, tree.feature[inner], abs(weight) * tree.cover[inner])
    total = importances.sum()
    return importances / total if total > 0 else importances


def split_counts(ensemble: Any) -> FloatArray:
    """Number of splits on each column in all trees, shape (n_features,)."""
    columns = [tree.feature[tree.feature >= 0] for _, tree in trees_of(ensemble)]
    return np.bincount(np.concatenate([np.zeros(0, int), *columns]), minlength=ensemble.n_features).astype(np.float64)


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int,
    random_state: Any,
    scoring: Any,
    sample_weight: Any,
    used: Sequence[int],
    unshuffled: float | None = None,
) -> Any:
    """Decrease of the score when a column is shuffled, with the draws of scikit-learn's function of this name.

    Columns that are not `used` cannot change a prediction, and are skipped. `unshuffled` is the score of the rows as
    they are; None computes it.
    """
    from sklearn.metrics import check_scoring  # slow to import

    scorer = check_scoring(model, scoring=scoring)
    X = _shufflable_copy(X)
    n_rows, n_columns = X.shape
    if n_rows == 0:
        raise ValueError("X has no rows, so there is nothing to shuffle.")
    orders = _orders(n_rows, n_repeats, random_state)
    whole = _scored(scorer, model, X, y, sample_weight) if unshuffled is None else {"": unshuffled}
    drops = {name: np.zeros((n_columns, n_repeats)) for name in whole}
    for column in used:
        for repeat, order in enumerate(orders):
            with _shuffled(X, column, order) as shuffled:
                result = _scored(scorer, model, shuffled, y, sample_weight)
            for name, score in result.items():
                drops[name][column, repeat] = whole[name] - score
    bunches = {name: _bunch(importances) for name, importances in drops.items()}
    return bunches[""] if list(bunches) == [""] else bunches


def _bunch(importances: FloatArray) -> Any:
    mean, std = importances.mean(axis=1), importances.std(axis=1)
    return Bunch(importances_mean=mean, importances_std=std, importances=importances)


def _scored(scorer: Any, model: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, float]:
    """By the names of the scores; one alone has none."""
    result = scorer(model, X, y) if sample_weight is None else scorer(model, X, y, sample_weight=sample_weight)
    return result if isinstance(result, dict) else {"": float(result)}


def _orders(n_rows: int, n_repeats: int, random_state: Any) -> list[Places]:
    """The permutations of sklearn.inspection.permutation_importance, which are the same for every column."""
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max + 1)
    random, drawn, order, orders = np.random.RandomState(seed), np.arange(n_rows), np.arange(n_rows), []
    for _ in range(n_repeats):
        random.shuffle(drawn)
        order = order[drawn]  # each repeat shuffles what the one before has left
        orders.append(order)
    return orders


def _shufflable_copy(X: Any) -> Any:
    """Copy of arrays and sparse rows, one column of which can be shuffled at a time; data frames as they are."""
    X = known_form(X)
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=True)
        X.sum_duplicates()
    elif not hasattr(X, "shape"):
        X = _as_array(X)
    elif isinstance(X, np.ndarray):
        X = X.copy()
    if len(X.shape) != 2:
        raise ValueError(f"X must have rows and columns, and has the shape {X.shape}.")
    return X


@contextlib.contextmanager
def _shuffled(X: Any, column: int, order: Places) -> Iterator[Any]:
    """Context with rows in which row i has the value of row order[i] in one column; restores the column."""
    if isinstance(X, np.ndarray):
        kept = X[:, column].copy()
        X[:, column] = kept[order]
        yield X
        X[:, column] = kept
    elif sparse.issparse(X):
        entries = slice(X.indptr[column], X.indptr[column + 1])
        indices, data = X.indices[entries].copy(), X.data[entries].copy()
        rows = np.argsort(order)[indices]  # the row that gets each value
        ascending = np.argsort(rows)
        X.indices[entries], X.data[entries] = rows[ascending], data[ascending]
        yield X
        X.indices[entries], X.data[entries] = indices, data
    else:
        yield _with_column_in_order(X, column, order)


def _with_column_in_order(X: Any, column: int, order: Places) -> Any:
    """Data frame with one column in another order, without a copy of the others."""
    if is_arrow(X):
        return X.set_column(column, X.schema.names[column], X.column(column).take(order))
    if hasattr(X, "iloc"):
        changed = X.copy(deep=False)
        changed.isetitem(column, X.iloc[:, column].array.take(order))
        return changed
    return X.with_columns(X.to_series(column).gather(order))


def _as_array(X: Any) -> npt.NDArray[Any]:
    """Lists as an array in which numbers beside text stay numbers."""
    plain = np.array(X)
    return plain if plain.dtype.kind in "biuf" else np.array(X, dtype=object)
