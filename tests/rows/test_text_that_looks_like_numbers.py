"""Columns of text in frames and arrays that look like numbers: the advice, and the line of code in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from radboost import RGBClassifier
from radboost.rows import TextColumnWarning

N = 60
PRICES = np.random.default_rng(0).integers(1000, 99999, N)
FRAME = pd.DataFrame({"age": np.arange(N) % 7, "price": [f"${price:,}" for price in PRICES]})
MIXED = FRAME.assign(price=np.array([*PRICES[1:], "unknown"], dtype=object))
FORMS: dict[str, Callable[[], Any]] = {
    "pandas": FRAME.copy,
    "pandas, objects": lambda: FRAME.astype({"price": object}),
    "polars": lambda: pl.from_pandas(FRAME),
    "pyarrow": lambda: pa.Table.from_pandas(FRAME),
    "objects": lambda: FRAME.to_numpy(dtype=object),
    "numbers beside text": MIXED.copy,
    "numbers beside text in an array": lambda: MIXED.to_numpy(dtype=object),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_line_of_code_in_the_advice_is_right(form: str) -> None:
    X, y = FORMS[form](), PRICES > 50_000
    model = RGBClassifier(n_rounds=2, n_jobs=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TextColumnWarning)
        try:
            model.fit(X, y)
            said = str(caught[0].message)
        except ValueError as error:
            said = str(error)
    which, _, line = said.rpartition("; convert it: ")
    examples = sorted(map(str, MIXED["price"] if "beside" in form else FRAME["price"]), reverse=True)
    examples = [text for text in examples if text != "unknown"][:3]
    assert which.endswith(f"looks like numbers ({', '.join(map(repr, examples))})")
    names = {"X": X, "pd": pd, "pl": pl, "pa": pa}
    exec(line, names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model.fit(names["X"], y)
    assert fitted.categories_ == {}
    made = names["X"][:, 1] if isinstance(X, np.ndarray) else names["X"]["price"]
    expected = [*PRICES[1:], np.nan] if "beside" in form else PRICES
    np.testing.assert_array_equal(np.array(made, dtype=float), expected)


def test_words_do_not() -> None:
    frame = FRAME.assign(price=["low", "high"] * (N // 2))
    with pytest.warns(TextColumnWarning) as caught:
        RGBClassifier(n_rounds=2, n_jobs=1).fit(frame, PRICES > 50_000)
    assert "looks like" not in str(caught[0].message)
