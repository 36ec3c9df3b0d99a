"""Draws as functions of what they are for: the same hashes as in the library, written again in Python integers."""

from __future__ import annotations

from collections.abc import Sequence

from .binning import MISSING
from .growth import Node
from .splits import Question, Sample, Split, node_score, split_score, to_beat

WORD = 2**64 - 1


def mix(x: int) -> int:
    """The finaliser of SplitMix64."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def keyed(key: int, value: int) -> int:
    return mix(key ^ mix(value))


def below(word: int, n: int) -> int:
    """Uniform in 0 ... n - 1 from the upper half of a word."""
    return ((word >> 32) * n) >> 32


def row_hash(codes: Sequence[int], class_id: int) -> int:
    """The hash of a row by the codes of its bins, eight at a time, and then by its class."""
    found = 0
    for first in range(0, len(codes), 8):
        found = keyed(found, int.from_bytes(bytes(codes[first : first + 8]), "little"))
    return keyed(found, class_id)


def drawn_rows(seed: int, round_number: int, hashes: Sequence[int], share: float) -> list[int]:
    """Rows whose keyed hash is small enough: copies of a row come together."""
    key = keyed(keyed(seed, round_number), 0x726F7773)
    return [i for i, h in enumerate(hashes) if keyed(key, int(h)) < int(share * 2.0**64)]


def node_key(seed: int, round_number: int, path: str) -> int:
    """Names a node by seed, round and the way to it."""
    key = keyed(keyed(seed, round_number), 1)
    for step in path:
        key = keyed(key, 1 if step == "L" else 2)
    return key


def drawn_columns(key: int, n_columns: int, first: int, last: int) -> list[int]:
    """The places first ... last - 1 of a shuffle of the columns, ascending."""
    columns = list(range(n_columns))
    for k in range(last):
        other = k + below(keyed(key, 0x636F6C75 + (k << 32)), n_columns - k)
        columns[k], columns[other] = columns[other], columns[k]
    return sorted(columns[first:last])


def random_question(sample: Sample, rows: Sequence[int], column: int, key: int) -> list[Question]:
    """One threshold between the ends of the node's values; with missing values both sides for them are tried."""
    codes = [int(sample.codes[i][column]) for i in rows]
    present = [c for c in codes if c != MISSING]
    missing = MISSING in codes
    if not present:
        return []
    choices = max(present) - min(present) + missing
    if choices == 0:
        return []
    bin_ = min(present) + below(keyed(key, column), choices)
    return [Question(column, bin_, side) for side in ((False, True) if missing else (False,))]


def random_split(
    sample: Sample, node: Node, criterion: str, seed: int, round_number: int, max_features: int, minimum: float = 0.0
) -> Split | None:
    """The best of one random question per drawn column; more columns are drawn while the rows are alike in all."""
    key = node_key(seed, round_number, node.path)
    own = node_score(sample, node.grown, criterion)
    n = len(sample.columns)
    first, last = 0, max_features or n
    best: Split | None = None
    asked = False
    while first < n and not asked:
        for column in drawn_columns(key, n, first, last) if max_features else range(n):
            for question in random_question(sample, node.grown, column, key):
                asked = True
                score = split_score(sample, node.grown, question, criterion, minimum)
                if score is not None and score > (to_beat(criterion, own) if best is None else best.score):
                    best = Split(question, score, score - own)
        first, last = last, min(n, 2 * last)
    return best
