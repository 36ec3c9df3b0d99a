"""Hashes of rows by their content, and draws by these."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from radboost.rows.contents import digest, drawn, row_hashes, take_rows

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
    frame = pd.DataFrame(X)
    assert take_rows(frame, [3, 1]).index.tolist() == [3, 1]
