"""Splits of prepared rows into training and held-back parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.estimators._held_back import drawn
from radboost.rows.costs import Costs
from radboost.rows.prepare import PreparedRows, Watched
from radboost.rows.read import dense_rows

Places = npt.NDArray[np.int64]

DEFAULT_FOLDS = 5
# Added to the seed for each repeat of the folds.
NEXT_REPEAT = 0x9E3779B9


@dataclass(frozen=True)
class Split:
    """Training rows, held-back rows, and the latter's indices among the prepared rows and costs.

    Copies of a row may be divided: `shares` has the fraction of each row that is held back.
    """

    learned: PreparedRows
    held_back: Watched
    places: npt.NDArray[Any]
    costs: Costs | None = None
    shares: FloatArray | None = None  # None: each row is held back as a whole


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
    """Folds that depend neither on the order of the rows nor on copies instead of weights; any number of repeats.

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
        rows = drawn(self.rows, self.n_rows, self.n_different, seed, self.n_threads)
        part = (fold / self.n_folds, (fold + 1) / self.n_folds)
        learned, held_back, places = rows.hold_back(part, seed, self.n_threads)
        costs = None if rows.costs is None else rows.costs.select(places)
        return Split(learned, held_back, places, costs, _shares(rows, held_back, places))


@dataclass(frozen=True)
class GivenSplits:
    """Splits of the user: pairs of indices among the prepared rows, for training and for tests."""

    rows: PreparedRows
    parts: Sequence[tuple[Places, Places]]

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
        engine_places = np.flatnonzero(held_back[rows.order])
        places = rows.order[engine_places]
        watched = Watched(
            dense_rows(rows.X[places]),
            rows.class_ids[engine_places],
            None if rows.weights is None else rows.weights[engine_places],
            None if rows.targets is None else rows.targets[engine_places],
        )
        return Split(rows.select(train), watched, places, None if rows.costs is None else rows.costs.select(places))


def _shares(rows: PreparedRows, held_back: Watched, places: npt.NDArray[Any]) -> FloatArray | None:
    if rows.weights is None or held_back.weights is None:
        return None
    whole = np.empty(rows.X.shape[0])
    whole[rows.order] = rows.weights
    return None if np.array_equal(whole[places], held_back.weights) else held_back.weights / whole[places]


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


def given_splits(rows: PreparedRows, cv: Any, y: Any, groups: Any, kept: Places | None, n_given: int) -> GivenSplits:
    """Splits by a splitter of scikit-learn or a list of pairs, over all `n_given` rows.

    `kept` are the indices of the rows with a positive weight; None: all.
    """
    from sklearn.model_selection import check_cv  # loads much that other fits do without

    classifies = rows.classes is not None
    splitter = check_cv(cv, y if classifies else None, classifier=classifies)
    place = np.full(n_given, -1, dtype=np.int64)
    place[np.arange(n_given) if kept is None else kept] = np.arange(rows.X.shape[0])
    parts: list[tuple[Places, Places]] = []
    for train, test in splitter.split(np.zeros((n_given, 1)), y, groups):
        given = [_checked_part(part, n_given, len(parts)) for part in (train, test)]
        pair = tuple(place[part][place[part] >= 0] for part in given)
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


def _checked_part(part: Any, n_given: int, index: int) -> Places:
    """Row indices of one part of a user's split, from indices or a mask."""
    places = np.asarray(part)
    if not places.size:
        return np.zeros(0, dtype=np.int64)
    if places.dtype == bool and places.shape == (n_given,):
        return np.flatnonzero(places)
    if places.ndim != 1 or places.dtype.kind not in "iu" or places.min() < 0 or places.max() >= n_given:
        raise ValueError(
            f"Split {index} of cv must name rows by their places, whole numbers from 0 to {n_given - 1}; got "
            f"{str(places)[:80]}."
        )
    return places.astype(np.int64)


def _check_classes(rows: PreparedRows, train: Places, index: int) -> None:
    ids = np.empty(rows.X.shape[0], dtype=np.int64)
    ids[rows.order] = rows.class_ids
    missing = np.setdiff1d(np.unique(ids), ids[train])
    if len(missing):
        names = ", ".join(map(repr, rows.known_classes[missing].tolist()[:5]))
        raise ValueError(
            f"Split {index} of cv has no row of the class {names} to learn from. Use fewer folds or a stratified "
            "splitter; cv=5 deals the rows of each class out by themselves."
        )
