"""The data of the experiment: which sets, which folds, which labels are exchanged."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from radboost import datasets

#: name -> how many rows are drawn (None: all)
SETS: dict[str, int | None] = {
    "breastcancer": None,
    "ionosphere": None,
    "german": None,
    "diabetes": None,
    "sonar": None,
    "ocr17": None,
    "ocr49": None,
    "splice": None,
    "adult": 2000,
    "higgs_part": 2000,
}
SEEDS = (0, 1, 2)
NOISES = (0.0, 0.2)
FOLDS = 5


@dataclass(frozen=True)
class Task:
    """One fit: a set, the seed of its rows, folds and exchanged labels, the share of those, the test fold."""

    dataset: str
    seed: int
    noise: float
    fold: int


@dataclass(frozen=True)
class Parts:
    """What a task trains and tests on. Labels are 0 and 1; text columns are coded as `datasets.load` does."""

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]


def all_tasks(names: tuple[str, ...]) -> list[Task]:
    """Every task of those sets."""
    return [Task(n, s, e, k) for n in names for s in SEEDS for e in NOISES for k in range(FOLDS)]


class Source:
    """Reads each set once."""

    def __init__(self, data_dir: str | None) -> None:
        self._data_dir = data_dir
        self._read: dict[str, tuple[NDArray[Any], NDArray[np.int64]]] = {}

    def parts(self, task: Task) -> Parts:
        """The training and test part of a task."""
        X, y = self._rows(task)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=task.seed)
        train, test = list(folds.split(X, y))[task.fold]
        y_train = y[train]
        if task.noise:
            draw = np.random.default_rng([task.seed, task.fold, zlib.crc32(task.dataset.encode())])
            exchanged = draw.permutation(len(train))[: round(task.noise * len(train))]
            y_train[exchanged] = 1 - y_train[exchanged]
        return Parts(X[train], y_train, X[test], y[test])

    def _rows(self, task: Task) -> tuple[NDArray[Any], NDArray[np.int64]]:
        if task.dataset not in self._read:
            data = datasets.load(task.dataset, self._data_dir)
            self._read[task.dataset] = data.X, np.unique(data.y, return_inverse=True)[1]
        X, y = self._read[task.dataset]
        limit = SETS[task.dataset]
        if limit is None:
            return X, y
        rows = np.random.default_rng(task.seed).permutation(len(y))[:limit]
        return X[rows], y[rows]
