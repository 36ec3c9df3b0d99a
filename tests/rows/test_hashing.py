"""Hashes of rows by their content, and draws by these."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from prepared_rows import prepare
from radboost import DeepBoostClassifier
from radboost.engine import BinnedData
from radboost.rows.hashing import GOLDEN, cell_bits, digest, drawn, joined, keyed, mix, order_of, row_hashes
from reference import chance
from reference.canonical_rows import bits_of

WORDS = np.array([0, 1, 2**63, 2**64 - 1, *range(7, 5000, 499)], dtype=np.uint64)
RNG = np.random.default_rng(5)


def test_rows_have_the_same_hash_in_every_form() -> None:
    X = RNG.integers(0, 3, size=(30, 4)).astype(float)
    X[4, 2], X[5, 2] = np.nan, -0.0
    text = pd.DataFrame(X).astype(object)
    text[0] = [f"t{value:g}" for value in X[:, 0]]
    hashes = row_hashes(X)
    assert np.array_equal(hashes, row_hashes(sparse.csr_array(X)))
    assert np.array_equal(hashes, row_hashes(pd.DataFrame(X)))
    assert np.array_equal(hashes, row_hashes(np.asfortranarray(X)))
    same = [[bool(np.array_equal(a, b, equal_nan=True)) for a in X] for b in X]
    for found in (hashes, row_hashes(text)):
        assert (found[:, None] == found[None, :]).tolist() == same
    assert digest(hashes, ["a"]) != digest(hashes[::-1], ["a"])
    turned = X[:, ::-1]
    unlike = [not np.array_equal(a, b, equal_nan=True) for a, b in zip(X, turned, strict=True)]
    assert (row_hashes(turned) != hashes).tolist() == unlike


def test_draws_follow_content_and_not_places() -> None:
    X = RNG.normal(size=(200, 3))
    hashes, order = row_hashes(X), RNG.permutation(200)
    chosen, other = X[drawn(hashes, 50)], X[order][drawn(hashes[order], 50)]
    assert {tuple(row) for row in chosen.tolist()} == {tuple(row) for row in other.tolist()}
    assert drawn(hashes, 500).tolist() == list(range(200))


def test_mixing_is_that_of_naive_integers() -> None:
    words = np.concatenate([WORDS, RNG.integers(0, 2**64, 200, dtype=np.uint64)])
    assert mix(words).tolist() == [chance.mix(word) for word in words.tolist()]
    assert len(np.unique(mix(words))) == len(words)
    for index in (-1, 1, 2**32):
        states = [(word + index * int(GOLDEN)) & chance.WORD for word in words.tolist()]
        assert mix(words, index).tolist() == [chance.mix(state) for state in states]
    indices = np.arange(len(words))
    assert mix(words, indices).tolist() == [int(mix(words[[k]], k)[0]) for k in indices]
    expected = [chance.keyed(*pair) for pair in zip(words.tolist(), words[::-1].tolist(), strict=True)]
    assert keyed(words, words[::-1]).tolist() == expected


@pytest.mark.parametrize(("n_codes", "n_columns", "n_classes"), [(2, 1, 2), (16, 2, 5), (6, 3, 6), (2, 11, 2)])
def test_all_rows_of_few_bins_and_classes_have_different_hashes(n_codes: int, n_columns: int, n_classes: int) -> None:
    cells = np.array(list(product(range(n_codes), repeat=n_columns)))
    X, y = np.tile(cells, (n_classes, 1)), np.repeat(np.arange(n_classes), len(cells))
    rows = prepare(DeepBoostClassifier(), X, y)
    hashes, codes = rows.row_hashes(1), rows.data.codes().reshape(X.shape).tolist()
    assert hashes.tolist() == [chance.row_hash(*row) for row in zip(codes, rows.class_ids.tolist(), strict=True)]
    assert len(np.unique(hashes)) == len(np.unique(order_of(hashes, 7))) == len(X)


def naive_hash(cells: list[float]) -> int:
    bits = [bits_of(cell) for cell in cells]
    return chance.mix(sum(chance.keyed(word, column) for column, word in enumerate(bits) if word) & chance.WORD)


def test_hashes_of_tables_by_naive_integers() -> None:
    X = RNG.normal(size=(20, 3)) * RNG.integers(0, 2, size=(20, 3))
    assert row_hashes(X).tolist() == [naive_hash(row) for row in X.tolist()]
    further = [chance.keyed(naive_hash(row), bits_of(row[0])) for row in X.tolist()]
    assert joined(row_hashes(X), X[:, 0]).tolist() == further


def test_cells_that_differ_have_different_bits() -> None:
    """Also texts that could be read as the same number; what is missing is one, and so is a number of any type."""
    texts = np.array(["1", "01", "1.0", "a", "", None, np.nan, pd.NA], dtype=object)
    bits = cell_bits(texts)
    assert len(set(bits.tolist())) == 6
    assert cell_bits(np.array([1, 1.0, True, np.float32(1.0), "b"], dtype=object)).tolist()[:4] == [0x3FF << 52] * 4
    assert cell_bits(np.array([1, 2], dtype=object)).tolist() == cell_bits(np.array([1.0, 2.0])).tolist()
    assert cell_bits(np.array([np.nan, 2.0])).tolist()[0] == bits[-1]
    # The hash of a cell does not depend on the other cells of its column.
    assert cell_bits(texts[:1])[0] == bits[0]


def test_a_fit_hashes_its_bins_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    native = BinnedData.row_hashes

    def counted(data: BinnedData, *given: object) -> np.ndarray:
        calls.append(data.n_rows)
        return native(data, *given)

    monkeypatch.setattr(BinnedData, "row_hashes", counted)
    X = RNG.normal(size=(600, 5))
    y = (X[:, 0] + RNG.normal(size=600) > 0.0).astype(int)
    DeepBoostClassifier(20, n_jobs=1).fit(X, y)
    assert calls == [600]
    DeepBoostClassifier(20, early_stopping=5, n_jobs=1).fit(X, y, offset=0.1 * X[:, 1])
    assert calls == [600, 600]
