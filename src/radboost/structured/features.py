"""Sequences of observations as a matrix each: a line for each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix: TypeAlias = Any  # an array, or sparse where sequences consist of symbols


@dataclass(frozen=True)
class Observations:
    """How sequences are read: symbols as indicators, vectors as they are, each place with its neighbours.

    `known` are the symbols of the training sequences, sorted; None where places are vectors. Others count as no symbol.
    """

    known: NDArray[Any] | None
    n_values: int
    window: int
    function: Callable[[Any], Any] | None = None

    @property
    def n_features(self) -> int:
        return self.n_values * (2 * self.window + 1)

    def matrix(self, sequence: Any, name: str) -> Matrix:
        """The features of a sequence; `name` is how errors call it."""
        if self.known is None:
            values = _vectors(sequence if self.function is None else self.function(sequence), name)
            if values.shape[1] != self.n_values:
                raise ValueError(
                    f"{name} has {values.shape[1]} numbers at each place; the model was fitted with {self.n_values}."
                )
            return _with_neighbours(values, self.window)
        symbols = _symbols(sequence, name)
        if symbols.dtype.kind != self.known.dtype.kind:
            kinds = {"U": "texts", "i": "integers"}
            given, fitted = kinds[symbols.dtype.kind], kinds[self.known.dtype.kind]
            raise TypeError(f"{name} consists of {given}; the model was fitted with {fitted}.")
        places = np.minimum(np.searchsorted(self.known, symbols), len(self.known) - 1)
        return self._indicators(np.where(self.known[places] == symbols, places, -1))

    def _indicators(self, places: NDArray[np.int64]) -> Matrix:
        length = len(places)
        rows, columns = [], []
        for number, offset in enumerate(range(-self.window, self.window + 1)):
            at = np.arange(length)
            inside = (at + offset >= 0) & (at + offset < length)
            seen = at[inside][places[at[inside] + offset] >= 0]
            rows.append(seen)
            columns.append(number * self.n_values + places[seen + offset])
        entries = (np.concatenate(rows), np.concatenate(columns))
        found = sparse.csr_array((np.ones(len(entries[0])), entries), shape=(length, self.n_features))
        found.sort_indices()
        return found


def read_observations(X: Sequence[Any], window: int, function: Callable[[Any], Any] | None) -> Observations:
    """What the training sequences consist of."""
    if function is None and _holds_symbols(X[0]):
        read = [_symbols(sequence, f"Sequence {k} of X") for k, sequence in enumerate(X)]
        kinds = {symbols.dtype.kind for symbols in read}
        if len(kinds) > 1:
            raise TypeError("X has sequences of texts and sequences of integers; give them all as texts.")
        known = np.unique(np.concatenate(read))
        return Observations(known, len(known), window)
    first = _vectors(X[0] if function is None else function(X[0]), "Sequence 0 of X")
    return Observations(None, first.shape[1], window, function)


def _holds_symbols(sequence: Any) -> bool:
    return isinstance(sequence, str) or np.asarray(sequence).ndim == 1


def _symbols(sequence: Any, name: str) -> NDArray[Any]:
    """A text is a sequence of its characters."""
    array = np.asarray(list(sequence) if isinstance(sequence, str) else sequence)
    if array.dtype == object and all(isinstance(symbol, str) for symbol in array):
        array = array.astype(str)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuUb":
        raise ValueError(
            f"{name} must be a text, or a sequence of at least one integer or text, or a matrix of numbers with a line "
            f"for each place; got an array of shape {array.shape} and type {array.dtype}."
        )
    return array.astype(np.int64) if array.dtype.kind in "iub" else array


def _vectors(values: Any, name: str) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ValueError(
            f"{name} must have a line of finite numbers for each of at least one place; got {values!r:.80}."
        )
    return matrix


def _with_neighbours(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    if window == 0:
        return values
    padded = np.pad(values, ((window, window), (0, 0)))
    return np.hstack([padded[offset : offset + len(values)] for offset in range(2 * window + 1)])
