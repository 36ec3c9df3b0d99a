"""Training rows by value, for predictions of hypotheses from a file or a checkpoint, in the order of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._typing import FloatArray, FloatMatrix, RowOrder
from radboost.engine import HypothesisColumns
from radboost.families.base import Hypothesis
from radboost.families.kinds import kind_of, predictions
from radboost.trees.tree import Tree

BLOCK_BYTES = 2**26  # of rows that are made dense, or reconstructed from bins, at a time


class RawRows:
    """Training rows with their values, in the order of the engine (`order`: indices into X)."""

    def __init__(self, X: Any, order: RowOrder, n_threads: int) -> None:
        self._X, self._order, self._n_threads = X, order, n_threads
        self._dense: FloatMatrix | None = None

    def __len__(self) -> int:
        return len(self._order)

    def predict(self, hypothesis: Hypothesis) -> FloatArray:
        """Predictions of a hypothesis, shape (n_rows,) or (n_rows, n_classes)."""
        return np.concatenate([predictions(hypothesis, block, self._n_threads) for block in self._blocks()])

    def scores(
        self, predict: Callable[[FloatMatrix, int, FloatArray | None], FloatArray], start: FloatArray | None
    ) -> FloatArray:
        """Scores of an ensemble for all rows; `predict` takes rows, a number of threads, and their first scores."""
        result, first = [], 0
        for block in self._blocks():
            last = first + len(block)
            result.append(predict(block, self._n_threads, None if start is None else start[first:last]))
            first = last
        return np.concatenate(result)

    def classes(self, hypothesis: Hypothesis) -> npt.NDArray[np.int32]:
        """Class that a hypothesis votes for, shape (n_rows,), -1 if it abstains; with one output 1 for +1, 0 for -1."""
        return np.concatenate([_classes(predictions(hypothesis, block, self._n_threads)) for block in self._blocks()])

    def _blocks(self) -> Iterator[FloatMatrix]:
        if isinstance(self._X, np.ndarray):
            if self._dense is None:
                self._dense = np.ascontiguousarray(self._X[self._order])
            yield self._dense
            return
        height = max(1, BLOCK_BYTES // (8 * max(1, self._X.shape[1])))
        for first in range(0, max(1, len(self)), height):
            block = self._X[self._order[first : first + height]]
            yield block.toarray() if sparse.issparse(block) else block

    def forget(self) -> None:
        """Free the memory of the sorted rows."""
        self._dense = None


def _classes(predictions: FloatArray) -> npt.NDArray[np.int32]:
    if predictions.ndim == 1:
        return (predictions > 0).astype(np.int32)
    votes = predictions.argmax(axis=1).astype(np.int32)
    return np.where(predictions.any(axis=1), votes, np.int32(-1))


def enter_again(hypothesis: Hypothesis, rows: RawRows, columns: HypothesisColumns, rated: bool = False) -> int:
    """Store the predictions of a hypothesis on the training rows in `columns`; returns the slot.

    `rated`: the hypothesis is a tree with real-valued leaves, even if all of these are -1 and +1.
    """
    n_classes = columns.n_classes
    if rated:
        assert isinstance(hypothesis, Tree)
        numbered, table = hypothesis.leaf_numbers()
        leaf_of_row = rows.predict(numbered).astype(np.int32)
        return columns.add_leaves(leaf_of_row, np.ascontiguousarray(table).ravel(), 1)
    if not kind_of(hypothesis).real_valued:
        slot = columns.take_slot()
        classes = rows.classes(hypothesis)
        groups = np.where(classes < 0, np.int32(n_classes), classes)
        abstaining = [] if n_classes == 2 else [-1]
        columns.set_answers(slot, groups, np.array([*range(n_classes), *abstaining], dtype=np.int32), 1)
        return slot
    values = rows.predict(hypothesis)
    if values.ndim == 1:
        return columns.add_values(np.ascontiguousarray(values, dtype=np.float32))
    class_index = getattr(hypothesis, "class_index", None)
    if class_index is None:
        class_index = int(values.any(axis=0).argmax())
    return columns.add_values(np.ascontiguousarray(values[:, class_index], dtype=np.float32), class_index)
