"""Features of sequences: a matrix for each, shape (length, n_features)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from radboost.structured.automata import as_array

Matrix: TypeAlias = Any  # an array; sparse for sequences of symbols


@dataclass(frozen=True)
class Observations:
    """Features of sequences: symbols as indicators, vectors unchanged; positions also get those of their neighbors.

    `known` are the symbols of the training sequences, sorted; None for vectors. Other symbols are ignored.
    """

    known: NDArray[Any] | None
    n_values: int
    window: int
    function: Callable[[Any], Any] | None = None

    @property
    def n_features(self) -> int:
        return self.n_values * (2 * self.window + 1)

    def matrix(self, sequence: Any, name: str) -> Matrix:
        """Features of a sequence, shape (length, n_features); `name` is its name in errors."""
        if self.known is None:
            values = _vectors(sequence if self.function is None else self.function(sequence), name)
            if values.shape[1] != self.n_values:
                raise ValueError(
                    f"{name} has {values.shape[1]} numbers at each position; the model was fitted with {self.n_values}."
                )
            return _with_neighbors(values, self.window)
        symbols = _symbols(sequence, name)
        if symbols.dtype.kind != self.known.dtype.kind:
            kinds = {"U": "texts", "i": "integers", "b": "booleans"}
            given, fitted = kinds[symbols.dtype.kind], kinds[self.known.dtype.kind]
            raise TypeError(f"{name} consists of {given}; the model was fitted with {fitted}.")
        codes = np.minimum(np.searchsorted(self.known, symbols), len(self.known) - 1)
        return self._indicators(np.where(self.known[codes] == symbols, codes, -1))

    def _indicators(self, codes: NDArray[np.int64]) -> Matrix:
        length = len(codes)
        rows, columns = [], []
        for number, offset in enumerate(range(-self.window, self.window + 1)):
            at = np.arange(length)
            inside = (at + offset >= 0) & (at + offset < length)
            seen = at[inside][codes[at[inside] + offset] >= 0]
            rows.append(seen)
            columns.append(number * self.n_values + codes[seen + offset])
        entries = (np.concatenate(rows), np.concatenate(columns))
        indicators = sparse.csr_array((np.ones(len(entries[0])), entries), shape=(length, self.n_features))
        indicators.sort_indices()
        return indicators


def read_observations(
    X: Sequence[Any], used: Iterable[int], window: int, function: Callable[[Any], Any] | None
) -> Observations:
    """Observations of the training sequences, those of X with the indices `used`."""
    numbers = list(used)
    first = numbers[0]
    if function is None and _holds_symbols(X[first]):
        read = [_symbols(X[k], f"Sequence {k} of X") for k in numbers]
        kinds = {symbols.dtype.kind for symbols in read}
        if len(kinds) > 1:
            raise TypeError("X has sequences of several kinds, texts and integers, say; give them all as texts.")
        known = np.unique(np.concatenate(read))
        return Observations(known, len(known), window)
    vectors = _vectors(X[first] if function is None else function(X[first]), f"Sequence {first} of X")
    return Observations(None, vectors.shape[1], window, function)


def symbols_of(sequence: Any) -> NDArray[Any] | None:
    """The characters of a text, or a sequence of integers, texts or booleans, as an array; None for anything else."""
    if isinstance(sequence, str):
        sequence = list(sequence)
    elif isinstance(sequence, list | tuple) and len({isinstance(symbol, str) for symbol in sequence}) > 1:
        return None  # NumPy would convert the numbers to text
    array = as_array(sequence)
    if array is not None and array.dtype == object and all(isinstance(symbol, str) for symbol in array.ravel()):
        array = array.astype(str)
    if array is None or array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuUb":
        return None
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        return None
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def _holds_symbols(sequence: Any) -> bool:
    array = as_array(sequence)
    return isinstance(sequence, str) or array is None or array.ndim < 2


def _symbols(sequence: Any, name: str) -> NDArray[Any]:
    array = symbols_of(sequence)
    if array is None:
        raise ValueError(
            f"{name} must be a text, or a sequence of at least one symbol, all of them integers or all texts, or a "
            f"matrix of numbers with a row for each position; got {repr(sequence)[:80]}."
        )
    return array


def _vectors(values: Any, name: str) -> NDArray[np.float64]:
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        raise ValueError(
            f"{name} must have a row of finite numbers for each of at least one position; got {values!r:.80}."
        )
    return matrix


def _with_neighbors(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    if window == 0:
        return values
    padded = np.pad(values, ((window, window), (0, 0)))
    return np.hstack([padded[offset : offset + len(values)] for offset in range(2 * window + 1)])
