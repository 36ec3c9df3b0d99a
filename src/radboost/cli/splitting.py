"""Held-out rows by their content: the order of rows or columns, and copies of rows, do not change the choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.cli.columns import FeatureTable
from radboost.model_file import ColumnSchema
from radboost.rows.hashing import Hashes, cell_bits, hash_columns, joined, mix, order_of

Rows = npt.NDArray[np.int64]


def fingerprint(hashes: Hashes, y: npt.NDArray[Any]) -> str:
    """Text that is the same for the same rows with the same targets, in any order."""
    return f"{int(joined(hashes, y).sum(dtype=np.uint64)):016x}"


def hold_out(hashes: Hashes, y: npt.NDArray[Any], fraction: float, seed: int, *, stratify: bool) -> tuple[Rows, Rows]:
    """Training rows and held-out rows, both ascending.

    Rows with the same values stay together. With `stratify` the fraction is that of every class: rows with the same
    values and different classes count to the most frequent of these.
    """
    different, group_of, class_of = _groups(hashes, y, stratify=stratify)
    order = order_of(different, seed)
    out = np.zeros(len(different), dtype=bool)
    for one in np.unique(class_of):
        members = np.flatnonzero(class_of == one)
        n_out = round(fraction * len(members))
        n_out = min(max(n_out, 1), len(members) - 1)  # a class with one row is learned from
        out[members[np.argsort(order[members], kind="stable")[:n_out]]] = True
    is_out = out[group_of]
    return np.flatnonzero(~is_out), np.flatnonzero(is_out)


def copies_out(hashes: Hashes, keys: Hashes, learned: Rows, fraction: float, seed: int) -> Rows:
    """Copies of training rows to hold out, ascending: about this fraction of all but one of each.

    `keys` are equal for rows that are equal in everything, so that it does not matter which of them is taken.
    """
    of_rows = hashes[learned]
    order = np.lexsort((order_of(keys[learned], seed), of_rows))
    ranked = of_rows[order]
    first = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(ranked) else np.zeros(0, dtype=np.int64)
    number = np.arange(len(ranked)) - np.repeat(first, np.diff(np.r_[first, len(ranked)]))
    drawn = mix(order_of(ranked, seed), number) >> np.uint64(11)
    return np.sort(learned[order[(number > 0) & (drawn < np.uint64(fraction * 2**53))]])


def folds_of(units: Hashes, y: npt.NDArray[Any], n_folds: int, seed: int, *, stratify: bool) -> Rows:
    """Fold of each row: rows of one unit stay together, and each class is dealt out evenly."""
    different, group_of, class_of = _groups(units, y, stratify=stratify)
    fold = np.empty(len(different), dtype=np.int64)
    fold[np.lexsort((order_of(different, seed), class_of))] = np.arange(len(different)) % n_folds
    return fold[group_of]


def latest(times: npt.NDArray[np.float64], fraction: float) -> tuple[Rows, Rows]:
    """Training rows and the latest rows; rows of the same time, or without any, stay together."""
    given = np.nan_to_num(times, nan=-np.inf)
    moments, counts = np.unique(given, return_counts=True)
    after = np.cumsum(counts[::-1])[::-1] / len(given)
    at = min(max(1, int(np.abs(after - fraction).argmin())), len(moments) - 1)
    is_out = given >= moments[at] if len(moments) > 1 else np.zeros(len(given), dtype=bool)
    return np.flatnonzero(~is_out), np.flatnonzero(is_out)


def _groups(hashes: Hashes, y: npt.NDArray[Any], *, stratify: bool) -> tuple[Hashes, Rows, Rows]:
    """Different hashes, the index of each row's among them, and the most frequent class of each."""
    different, group_of = np.unique(hashes, return_inverse=True)
    class_of = np.zeros(len(different), dtype=np.int64)
    if stratify:
        labels, ids = np.unique(y, return_inverse=True)
        pairs, counts = np.unique(group_of.astype(np.int64) * len(labels) + ids, return_counts=True)
        groups, classes = pairs // len(labels), pairs % len(labels)
        # the most frequent one last; of equally frequent ones the first label
        order = np.lexsort((-classes, counts, groups))
        class_of[groups[order]] = classes[order]
    return different, group_of, class_of


def table_hashes(table: FeatureTable) -> Hashes:
    """Hash of each row by its values and the names of their columns; categories beyond the limit count as missing."""

    def bits_of(column: ColumnSchema) -> Hashes:
        values = table.values[column.name]
        if column.kind != "category":
            return cell_bits(values)
        bits: Hashes = cell_bits(np.array([*column.categories, None], dtype=object))[np.maximum(values, -1)]
        return bits

    names = cell_bits(np.array([column.name for column in table.columns], dtype=object))
    return hash_columns(zip(names, map(bits_of, table.columns), strict=True), table.n_rows)
