"""Splits of prepared rows into training and held-back parts, for the searches (...CV estimators)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.estimators._held_back import sample
from radboost.rows.fields import Rows
from radboost.rows.prepare import PreparedRows

RowIndices = npt.NDArray[np.int64]

DEFAULT_FOLDS = 5
NEXT_REPEAT = 0x9E3779B9  # added to the seed for each repeat of the folds


@dataclass(frozen=True)
class Split:
    """Training rows, held-back rows, and indices of the held-back rows among the prepared rows.

    Copies of a row may be divided: `fractions` has the fraction of each row's weight that is held back.
    """

    learned: PreparedRows
    held_back: Rows
    indices: npt.NDArray[Any]  # whole numbers, shape (n_held_back,)
    fractions: FloatArray | None = None  # shape (n_held_back,); None: all 1


class Splits(Protocol):
    """Sequence of splits; in a repeat, of `n_folds` splits, each row is held back once."""

    @property
    def n_folds(self) -> int: ...
    @property
    def n_splits(self) -> int:
        """Number of splits that `split` can return."""

    @property
    def n_learned(self) -> float:
        """Mean number of distinct training rows of a split."""

    def split(self, index: int) -> Split: ...


@dataclass(frozen=True)
class SplitsByContent:
    """Folds that do not depend on the order of the rows, nor on copies in place of weights; any number of repeats.

    Rows of each class are assigned by a keyed hash of their content, copies of a row one by one. At most `n_rows`
    distinct rows are used.
    """

    rows: PreparedRows
    n_folds: int
    seed: int
    n_threads: int
    n_different: int
    n_rows: int

    n_splits: int = 2**31

    @property
    def n_learned(self) -> float:
        return min(self.n_rows, self.n_different) * (1.0 - 1.0 / self.n_folds)

    def split(self, index: int) -> Split:
        repeat, fold = divmod(index, self.n_folds)
        seed = (self.seed + (1 + repeat) * NEXT_REPEAT) % 2**64
        rows = sample(self.rows, self.n_rows, self.n_different, seed, self.n_threads)
        part = (fold / self.n_folds, (fold + 1) / self.n_folds)
        learned, held_back, indices = rows.hold_back(part, seed, self.n_threads)
        return Split(learned, held_back, indices, _fractions(rows, held_back, indices))


@dataclass(frozen=True)
class GivenSplits:
    """Splits of the user: pairs of indices among the prepared rows, for training and for tests."""

    rows: PreparedRows
    parts: Sequence[tuple[RowIndices, RowIndices]]

    @property
    def n_folds(self) -> int:
        return len(self.parts)

    @property
    def n_splits(self) -> int:
        return len(self.parts)

    @property
    def n_learned(self) -> float:
        return float(np.mean([len(train) for train, _ in self.parts]))

    def split(self, index: int) -> Split:
        train, test = self.parts[index]
        rows = self.rows
        held_back = np.zeros(rows.X.shape[0], dtype=bool)
        held_back[test] = True
        sorted_indices = np.flatnonzero(held_back[rows.order])
        return Split(rows.select(train), rows.watched(sorted_indices), rows.order[sorted_indices])


def _fractions(rows: PreparedRows, held_back: Rows, indices: npt.NDArray[Any]) -> FloatArray | None:
    """Fraction of the weight of each held-back row that is held back, shape (n_held_back,); None: all 1."""
    if rows.weights is None or held_back.weights is None:
        return None
    whole = np.empty(rows.X.shape[0])
    whole[rows.order] = rows.weights
    return None if np.array_equal(whole[indices], held_back.weights) else held_back.weights / whole[indices]


def number_of_folds(rows: PreparedRows, n_folds: int) -> int:
    """Number of folds: `n_folds`, or the number of rows of the largest class if that is smaller."""
    counts = np.bincount(rows.class_ids, rows.copies())
    counts = counts[counts > 0]
    most, fewest = int(counts.max()), int(counts.min())
    if most < 2:
        what = "a class with at least two rows" if rows.classes is not None else "two rows"
        raise ValueError(
            f"Folds need {what}, one to learn from and one to judge by, and there are none (n_samples={rows.n_rows})."
        )
    if rows.classes is not None and fewest < n_folds:
        warnings.warn(
            f"cv={n_folds} is more than the {fewest} rows of the smallest class: some folds are judged "
            "without it. Use fewer folds.",
            UserWarning,
            stacklevel=5,
        )
    return min(n_folds, most)


def given_splits(
    rows: PreparedRows, cv: Any, y: Any, groups: Any, kept: RowIndices | None, n_given: int
) -> GivenSplits:
    """Splits by a splitter of scikit-learn or a list of pairs, over all `n_given` rows.

    `kept` are the indices of the rows with a positive weight; None: all.
    """
    from sklearn.model_selection import check_cv  # loads much that other fits do without

    classifies = rows.classes is not None
    splitter = check_cv(cv, y if classifies else None, classifier=classifies)
    index_of = np.full(n_given, -1, dtype=np.int64)
    index_of[np.arange(n_given) if kept is None else kept] = np.arange(rows.X.shape[0])
    parts: list[tuple[RowIndices, RowIndices]] = []
    for train, test in splitter.split(np.zeros((n_given, 1)), y, groups):
        given = [_checked_part(part, n_given, len(parts)) for part in (train, test)]
        pair = tuple(index_of[part][index_of[part] >= 0] for part in given)
        if not all(map(len, pair)):
            raise ValueError(
                "A split has no row with a positive weight to learn from or to judge by. Use fewer folds, or shuffle "
                "them: cv=KFold(5, shuffle=True)."
            )
        if classifies:
            _check_classes(rows, pair[0], len(parts))
        parts.append((pair[0], pair[1]))
    if not parts:
        raise ValueError("cv holds no split. Give a number of folds, a splitter, or a list of pairs (train, test).")
    return GivenSplits(replace(rows, validation=None), parts)


def _checked_part(part: Any, n_given: int, index: int) -> RowIndices:
    """Row indices of one part of a user's split, from indices or a mask."""
    indices = np.asarray(part)
    if not indices.size:
        return np.zeros(0, dtype=np.int64)
    if indices.dtype == bool and indices.shape == (n_given,):
        return np.flatnonzero(indices)
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or indices.min() < 0 or indices.max() >= n_given:
        raise ValueError(
            f"Split {index} of cv must name rows by their places, whole numbers from 0 to {n_given - 1}; got "
            f"{str(indices)[:80]}."
        )
    return indices.astype(np.int64)


def _check_classes(rows: PreparedRows, train: RowIndices, index: int) -> None:
    """Raise ValueError if a class has no training row in split `index` of cv."""
    ids = np.empty(rows.X.shape[0], dtype=np.int64)
    ids[rows.order] = rows.class_ids
    missing = np.setdiff1d(np.unique(ids), ids[train])
    if len(missing):
        names = ", ".join(map(repr, rows.known_classes[missing].tolist()[:5]))
        raise ValueError(
            f"Split {index} of cv has no row of the class {names} to learn from. Use fewer folds or a stratified "
            "splitter; cv=5 deals the rows of each class out by themselves."
        )
