"""Frames of polars and tables of pyarrow where there is no pandas: X, y, weights, offsets, sources, costs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from radboost import SoftmaxBoostClassifier

SCRIPT = '''
import datetime as dt
import decimal
import importlib.abc
import re
import sys
import warnings

import numpy as np
import polars as pl
import pyarrow as pa


class NoPandas(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError("there is no pandas")


sys.meta_path.insert(0, NoPandas())
warnings.simplefilter("error")
from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, RGBClassifier, RGBRegressor
from radboost import SoftmaxBoostClassifier, SparseBoostClassifier

draws = np.random.default_rng(0)
n = 100


def some(values):
    """With some of them missing."""
    return [None if place % 7 == 3 else value for place, value in enumerate(values)]


def as_floats(values):
    return [np.nan if value is None else float(value) for value in values]


number, whole = some(draws.normal(size=n).tolist()), some(draws.integers(0, 9, n).tolist())
truth = some((draws.random(n) > 0.5).tolist())
price = some([decimal.Decimal(int(one)) / 4 for one in draws.integers(0, 40, n)])
colour = some(np.array(["red", "green", "blue"])[draws.integers(0, 3, n)].tolist())
place = {"blue": 0, "green": 1, "red": 2, None: np.nan}
matrix = np.column_stack([*map(as_floats, (number, whole, truth, price)), [place[one] for one in colour]])
y = (np.nan_to_num(matrix[:, [0, 2]]).sum(axis=1) + (matrix[:, 4] == 2) > 0.7).astype(int)
w = draws.integers(1, 4, n).astype(float)
plain = {"number": number, "whole": whole, "truth": truth}
of_polars = pl.DataFrame({**plain, "price": pl.Series(price, dtype=pl.Decimal(10, 2)), "colour": colour})
of_arrow = pa.table({**plain, "price": pa.array(price), "colour": pa.array(colour)})
coloured = of_arrow.set_column(4, "colour", of_arrow["colour"].dictionary_encode())

tables = {
    "Categorical": of_polars.with_columns(pl.col("colour").cast(pl.Categorical)),
    "Enum": of_polars.with_columns(pl.col("colour").cast(pl.Enum(["red", "never", "green", "blue"]))),
    "dictionary": coloured,
    "chunks": pa.concat_tables([coloured[:30], coloured[30:]]),
    "batch": coloured.combine_chunks().to_batches()[0],
}
for kind in (RGBClassifier, DeepBoostClassifier, SoftmaxBoostClassifier):
    known = kind(5, n_jobs=1, categorical_features=[4]).fit(matrix, y, w)
    for name, table in tables.items():
        model = kind(5, n_jobs=1).fit(table, y, w)
        assert np.array_equal(model.decision_function(table), known.decision_function(matrix)), (kind, name)
        assert model.feature_names_in_.tolist() == ["number", "whole", "truth", "price", "colour"]
        assert model.categories_ == {4: ("blue", "green", "red")}
    for text in (of_polars, of_arrow, of_arrow.cast(of_arrow.schema.set(4, pa.field("colour", pa.large_string())))):
        model = kind(5, n_jobs=1, categorical_features=["colour"]).fit(text, y, w)
        assert np.array_equal(model.decision_function(coloured), known.decision_function(matrix)), kind
    other = pl.DataFrame({**plain, "price": price, "colour": ["violet"] * n})
    unseen = matrix.copy()
    unseen[:, 4] = np.nan
    assert np.array_equal(model.decision_function(other), known.decision_function(unseen))

labels = np.array(["no", "yes"])[y]
targets = {
    "numbers": (pl.Series(y), pa.array(y), pa.chunked_array([y[:9], y[9:]])),
    "text": (pl.Series(labels), pa.array(labels.tolist()), pl.Series(labels, dtype=pl.Categorical)),
    "dictionary": (pa.array(labels.tolist()).dictionary_encode(),),
    "booleans": (pl.Series(y == 1), pa.array(y == 1)),
}
known = RGBClassifier(5, n_jobs=1, categorical_features=[4]).fit(matrix, y, w)
for name, forms in targets.items():
    for given in forms:
        weights = pl.Series(w) if isinstance(given, pl.Series) else pa.array(w)
        model = RGBClassifier(5, n_jobs=1).fit(coloured, given, weights)
        assert np.array_equal(model.decision_function(coloured), known.decision_function(matrix)), name
        assert model.classes_.tolist() == {"numbers": [0, 1], "booleans": [False, True]}.get(name, ["no", "yes"])
        assert model.score(coloured, given, weights) == known.score(matrix, y, w)
amounts = draws.integers(0, 40, n) / 4
offset = draws.normal(size=n)
known = RGBRegressor(5, n_jobs=1, categorical_features=[4])
known.fit(matrix, amounts, w, offset=offset, X_val=matrix, y_val=amounts, sample_weight_val=w, offset_val=offset)
for form in (pl.Series, pa.array, lambda one: pa.chunked_array([pa.array(one)])):
    exact = form([decimal.Decimal(float(one)) for one in amounts])
    for given in (form(amounts.tolist()), exact):
        model = RGBRegressor(5, n_jobs=1).fit(
            coloured, given, form(w), offset=form(offset), X_val=coloured, y_val=given, sample_weight_val=form(w),
            offset_val=form(offset),
        )
        assert model.history_ == known.history_
        assert np.array_equal(model.predict(coloured, form(offset)), known.predict(matrix, offset))
numbers = np.nan_to_num(matrix[:, :2])
frames = pl.DataFrame(numbers, schema=["a", "b"]), pa.table({"a": numbers[:, 0], "b": numbers[:, 1]})
several = MultiSourceBoostClassifier(4, n_jobs=1).fit(numbers, y, sources=labels)
sparse = SparseBoostClassifier(0.01, n_jobs=1).fit(numbers, y, w)
for frame in frames:
    for sources in (pl.Series(labels), pa.array(labels.tolist()).dictionary_encode()):
        found = MultiSourceBoostClassifier(4, n_jobs=1).fit(frame, y, sources=sources)
        assert np.array_equal(found.predict(frame), several.predict(numbers))
    found = SparseBoostClassifier(0.01, n_jobs=1).fit(frame, pa.array(y), pl.Series(w))
    assert np.array_equal(found.decision_function(frame), sparse.decision_function(numbers))


def check_refused(table, labels, message):
    try:
        RGBClassifier(3, n_jobs=1).fit(table, labels)
    except ValueError as error:
        assert re.search(message, str(error)), error
    else:
        raise AssertionError(f"taken: {message}")


day = [dt.date(2020, 1, 1)] * n
dates = "Column 'bad' of X holds dates or times. Turn them into numbers first"
objects = "X holds text, categories or other objects in column 'bad'"
categories = "Column 'bad' is categorical and holds .*. Categories are strings, finite numbers or booleans"
bad = {
    "date": (pl.Series(day), pa.array(day), dates),
    "moment": (pl.Series([dt.datetime(2020, 1, 1)] * n), pa.array([dt.datetime(2020, 1, 1)] * n), dates),
    "difference": (pl.Series([dt.timedelta(1)] * n), pa.array([dt.timedelta(1)] * n), dates),
    "list": (pl.Series([[1, 2]] * n), pa.array([[1, 2]] * n), objects),
    "struct": (pl.Series([{"a": 1}] * n), pa.array([{"a": 1}] * n), objects),
    "bytes": (pl.Series([b"x"] * n), pa.array([b"x"] * n), objects),
    "dates as categories": (None, pa.array(day).dictionary_encode(), categories),
}
for of_one, of_other, message in bad.values():
    with_bad = [coloured.append_column("bad", of_other)]
    with_bad += [] if of_one is None else [of_polars.drop("colour").with_columns(of_one.alias("bad"))]
    for table in with_bad:
        check_refused(table, y, f"^{message}")
for missing in (pl.Series([None, *y[1:].tolist()]), pa.array([None, *labels[1:]]), pl.Series([None, *labels[1:]])):
    check_refused(coloured, missing, "contains NaN|labels that are missing")
RGBClassifier(3, n_jobs=1).fit(of_polars.drop("colour").with_columns(pl.lit(None).alias("nothing")), y)
RGBClassifier(3, n_jobs=1).fit(coloured.append_column("nothing", pa.nulls(n)), y)
assert not any(name.partition(".")[0] == "pandas" for name in sys.modules)
'''


def test_nothing_takes_the_way_over_pandas() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_columns_of_costs_are_named_by_text() -> None:
    """Frames of polars and pyarrow have no other names: "0" is the class 0."""
    draws = np.random.default_rng(1)
    X, y = draws.normal(size=(60, 2)), np.arange(60) % 2
    cost = np.column_stack([3.0 * y, 1.0 - y])
    known = SoftmaxBoostClassifier(4, n_jobs=1).fit(X, y, cost=cost)
    for frame in (pl.DataFrame({"1": cost[:, 1], "0": cost[:, 0]}), pa.table({"1": cost[:, 1], "0": cost[:, 0]})):
        found = SoftmaxBoostClassifier(4, n_jobs=1).fit(X, y, cost=frame)
        np.testing.assert_array_equal(found.decision_function(X), known.decision_function(X))
    with pytest.raises(ValueError, match=r"The columns of cost are named \['a', 'b'\]"):
        SoftmaxBoostClassifier(4, n_jobs=1).fit(X, y, cost=pl.DataFrame({"a": cost[:, 0], "b": cost[:, 1]}))
