"""Hashes of rows in any form, and what depends on them alone: digests of data, samples and folds."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import column_values, is_missing

Hashes = npt.NDArray[np.uint64]
RowIndices = npt.NDArray[np.intp]

GOLDEN, FIRST_FACTOR, SECOND_FACTOR = map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def mix(words: Hashes, index: int | npt.NDArray[np.int64] = 0) -> Hashes:
    """Output `index`, counted from 0, of SplitMix64 generators with these states (Steele, Lea and Flood, 2014).

    A bijection of words that maps close ones far apart; with index 0 it is `mix(x)` of the native core.
    """
    with np.errstate(over="ignore"):
        words = words + (np.asarray(index).astype(np.uint64) + np.uint64(1)) * GOLDEN
        words = (words ^ (words >> np.uint64(30))) * FIRST_FACTOR
        words = (words ^ (words >> np.uint64(27))) * SECOND_FACTOR
        return np.asarray(words ^ (words >> np.uint64(31)))


def keyed(keys: Hashes, values: Hashes) -> Hashes:
    """Hash of pairs, in which the order matters: `mix(key, value)` of the native core."""
    return mix(keys ^ mix(values))


def order_of(hashes: Hashes, seed: int) -> Hashes:
    """Sort keys of rows, drawn by the seed: different for different hashes."""
    return keyed(hashes, np.array([seed % 2**64], dtype=np.uint64))


def row_hashes(X: Any) -> Hashes:
    """Hash of each row, equal for equal rows in any form (dense, sparse, frame); uint64, shape (n_rows,)."""
    if sparse.issparse(X):
        return _hashes_of_sparse(X)
    columns = ((np.uint64(column), cell_bits(column_values(X, column))) for column in range(X.shape[1]))
    return hash_columns(columns, X.shape[0])


def hash_columns(columns: Iterable[tuple[np.uint64, Hashes]], n_rows: int) -> Hashes:
    """Hash of each row from the key of each column and the bits of its cells; in any order of the columns."""
    total = np.zeros(n_rows, dtype=np.uint64)
    for key, bits in columns:
        total += _hashes_of_cells(bits, np.array([key]))
    return mix(total)


def joined(hashes: Hashes, values: npt.NDArray[Any] | None) -> Hashes:
    """Hashes of rows together with further cells of shape (n_rows,) or (n_rows, n_columns); None: there are none."""
    for column in () if values is None else np.atleast_2d(values.T):
        hashes = keyed(hashes, cell_bits(column))
    return hashes


def cell_bits(values: npt.NDArray[Any]) -> Hashes:
    """64 bits of each cell: a number's own, or a text's hash; one pattern for all missing values."""
    if values.dtype.kind in "biuf" or not any(isinstance(cell, str) for cell in values.tolist()):
        try:
            numbers = np.asarray(values, dtype=np.float64)
            return np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.uint64)  # one NaN, and no zero below 0
        except (TypeError, ValueError, OverflowError):
            pass  # other objects
    cells = values.tolist()
    bits_of = {cell: _bits_of(cell) for cell in set(cells)}
    return np.array([bits_of[cell] for cell in cells], dtype=np.uint64)


def digest(hashes: Hashes, names: Sequence[str]) -> str:
    """Hexadecimal SHA-256 of data: the hashes of their rows in order, and the names of their columns."""
    of_names = repr(list(names)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(of_names + hashes.astype("<u8").tobytes()).hexdigest()


def drawn(hashes: Hashes, most: int) -> RowIndices:
    """Indices of at most `most` rows, ascending, sampled by content: independent of the order of the rows.

    Copies of a row are adjacent in the order of sampling.
    """
    if len(hashes) <= most:
        return np.arange(len(hashes))
    order = np.argsort(mix(hashes), kind="stable")[:most]
    return np.sort(order)


def folds(hashes: Hashes, n_folds: int) -> npt.NDArray[np.int64]:
    """Fold of each row from 0 to n_folds - 1, by its content: copies of a row are in the same fold."""
    return (mix(hashes, 1) % np.uint64(n_folds)).astype(np.int64)


def _hashes_of_cells(bits: Hashes, columns: Hashes) -> Hashes:
    """Hashes of cells and the keys of their columns; 0 for a zero, so that dense and sparse rows have equal sums."""
    return np.where(bits == 0, np.uint64(0), keyed(bits, columns))


def _hashes_of_sparse(X: Any) -> Hashes:
    rows = sparse.csr_array(X, copy=True)
    rows.sum_duplicates()
    hashes = _hashes_of_cells(cell_bits(rows.data), rows.indices.astype(np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashes, dtype=np.uint64)])
    return mix(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _bits_of(value: Any) -> int:
    """64 bits of a Python object, as `cell_bits` has them."""
    if not isinstance(value, str):
        try:
            number = np.nan if is_missing(value) else float(value)
            return int(struct.unpack("<Q", struct.pack("<d", number + 0.0))[0])
        except (TypeError, ValueError, OverflowError):
            pass
    text = str(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
