"""Hashes of rows in any form, and what depends on them alone: digests of data, samples and folds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost._tables import column_names, column_values, is_arrow, is_missing
from radboost._typing import FloatArray

Hashes = npt.NDArray[np.uint64]
RowIndices = npt.NDArray[np.intp]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mixed(bits: Hashes) -> Hashes:
    """Finalizer of splitmix64: a bijection of 64-bit numbers that maps close ones far apart."""
    found = bits.copy()
    found ^= found >> np.uint64(30)
    found *= _MIX[0]
    found ^= found >> np.uint64(27)
    found *= _MIX[1]
    found ^= found >> np.uint64(31)
    return found


def row_hashes(X: Any) -> Hashes:
    """Hash of each row, equal for equal rows in any form (dense, sparse, frame); uint64, shape (n_rows,)."""
    if sparse.issparse(X):
        return _hashes_of_sparse(X)
    total = np.zeros(X.shape[0], dtype=np.uint64)
    for column in range(X.shape[1]):
        total += _with_places(cell_bits(column_values(X, column)), np.array([column]))
    return mixed(total)


def joined(rows: Hashes, targets: npt.NDArray[Any]) -> Hashes:
    """Hashes of rows together with their targets."""
    return mixed(rows + mixed(cell_bits(targets) + _STEP))


def cell_bits(values: npt.NDArray[Any]) -> Hashes:
    """64 bits of each cell: a number's own, or a text's hash; one pattern for all missing values."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return _bits_of_texts(values.tolist())
    return _bits_of_numbers(numbers)


def digest(hashes: Hashes, names: Sequence[str]) -> str:
    """Hexadecimal SHA-256 of data: the hashes of their rows in order, and the names of their columns."""
    found = hashlib.sha256(repr(list(names)).encode("utf-8", "surrogatepass"))
    found.update(hashes.astype("<u8").tobytes())
    return found.hexdigest()


def drawn(hashes: Hashes, most: int) -> RowIndices:
    """Indices of at most `most` rows, ascending, sampled by content: independent of the order of the rows.

    Copies of a row are adjacent in the order of sampling.
    """
    if len(hashes) <= most:
        return np.arange(len(hashes))
    order = np.argsort(mixed(hashes ^ _STEP), kind="stable")[:most]
    return np.sort(order)


def folds(hashes: Hashes, n_folds: int) -> npt.NDArray[np.int64]:
    """Fold of each row from 0 to n_folds - 1, by its content: copies of a row are in the same fold."""
    return (mixed(hashes + _STEP) % np.uint64(n_folds)).astype(np.int64)


def take_rows(X: Any, rows: RowIndices | Sequence[int]) -> Any:
    """Rows of X at these indices, in the form of X."""
    chosen = np.asarray(rows, dtype=np.intp)
    if is_arrow(X):
        return X.take(chosen)
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    if sparse.issparse(X):
        return X.tocsr()[chosen]
    if column_names(X) is not None:
        return X[chosen.tolist()]
    return X[chosen]


def _with_places(bits: Hashes, columns: npt.NDArray[np.integer[Any]]) -> Hashes:
    """Hashes of cells and their column indices; 0 for a zero, so that dense and sparse rows have equal sums."""
    found = mixed(bits ^ mixed((columns.astype(np.uint64) + np.uint64(1)) * _STEP))
    found[bits == 0] = 0
    return found


def _hashes_of_sparse(X: Any) -> Hashes:
    rows = sparse.csr_array(X, copy=True)
    rows.sum_duplicates()
    bits = _bits_of_numbers(np.asarray(rows.data, dtype=np.float64))
    found = _with_places(bits, rows.indices)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(found, dtype=np.uint64)])
    return mixed(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _bits_of_numbers(numbers: FloatArray) -> Hashes:
    canonical = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and no zero below 0
    return np.ascontiguousarray(canonical).view(np.uint64).copy()


def _bits_of_texts(values: Iterable[Any]) -> Hashes:
    known: dict[Any, int] = {}
    found = []
    for value in values:
        text = None if is_missing(value) else str(value)
        if text not in known:
            known[text] = _bits_of_text(text)
        found.append(known[text])
    return np.array(found, dtype=np.uint64)


def _bits_of_text(text: str | None) -> int:
    if text is None:
        return int(_bits_of_numbers(np.array([np.nan]))[0])
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
