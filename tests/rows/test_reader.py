"""One reader of rows by parts: who calls it, and what it does again for each pass over the rows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import radboost
from distributed_tools import ReloadedPartition, everything
from fingerprints import fractions, with_categories
from radboost import DeepBoostClassifier, RGBRegressor, SoftmaxBoostClassifier
from radboost.rows import read, reader
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training

PACKAGE = Path(radboost.__file__).parent


def test_rows_are_converted_in_one_place() -> None:
    """Whoever reads training rows asks the reader by parts, which alone calls the conversions of a table."""
    users = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "id", getattr(node, "attr", None))
            if name in CONVERSIONS or (isinstance(node, ast.alias) and node.name in CONVERSIONS):
                users.append(path.relative_to(PACKAGE).as_posix())
    assert users == ["rows/reader.py"] * 2 * len(CONVERSIONS)  # an import and a call of each


CONVERSIONS = ("check_table", "read_rows_again")


@pytest.mark.parametrize("weighted", [False, True])
def test_checks_are_made_once_however_often_rows_are_loaded(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    """Values and codes of later passes are those of the first, which alone looks for infinity, names and categories."""
    X, y = with_categories(10, 90, 3)
    frame = pd.DataFrame(X, columns=list("abcdef")).astype({"b": np.float32})
    frame["a"] = [None if np.isnan(x) else f"w{int(x) % 30}" for x in X[:, 0]]
    frame["e"] = pd.array(np.rint(frame["e"].fillna(0.0)), dtype="Int64")
    weights = np.where(frame["a"] == "w3", 0.0, fractions(90) + 1.0)
    estimator = DeepBoostClassifier(categorical_features=["a", "d"])
    thirds = (slice(k, k + 30) for k in (0, 30, 60))
    parts = [ReloadedPartition(LoadedPartition(frame[own], y[own], weights[own])) for own in thirds]
    given = {"sample_weight"} if weighted else set()
    whole = LoadedPartition(frame, y, weights)
    expected = read_training(estimator, [whole], given)
    monkeypatch.setattr(reader, "KEPT_BYTES", 0)
    rows = read_training(estimator, parts, given, keep_values=False)
    assert rows.categories == expected.categories
    np.testing.assert_array_equal(rows.class_ids, expected.class_ids)
    for name in ("validate_data", "check_X_y", "learn_categories", "refuse_dates", "column_kinds"):
        monkeypatch.delattr(read, name, raising=False)
    np.testing.assert_array_equal(rows.X.whole(), expected.X)
    np.testing.assert_array_equal(rows.X.whole(), expected.X)
    assert [part.n_loads for part in parts] == [3, 3, 3]


FORMS: dict[str, Any] = {"pandas": lambda X: X, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers of several types, text, categories and booleans, all but the first with missing values."""
    X, y = with_categories(10, 300, 3)
    frame = pd.DataFrame(X[:, 1:], columns=list("bcdef")).astype({"b": np.float32})
    frame["a"] = pd.Categorical([None if np.isnan(x) else f"w{int(x) % 290}" for x in X[:, 0]])
    frame["g"] = pd.Series([None if k % 7 == 0 else f"t{k % 5}" for k in range(300)], dtype="str")
    frame["h"] = np.arange(300) % 11
    return frame, y


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are converted by 40 rows too."""
    monkeypatch.setattr(reader, "TABLE_BYTES", 0)
    monkeypatch.setattr(reader, "FEWEST_ROWS_IN_BLOCKS", 0)
    monkeypatch.setattr(reader, "BLOCK_BYTES", 40 * 8 * 8)


def values_seen(model: Any, rows: Any, y: Any) -> float:
    """A metric of one's own, which sees the rows that are held back."""
    return float(np.nansum(rows)) + float(np.mean(model.predict(rows) == y))


NAMED = {"categorical_features": ["a", "g"]}
FITS: list[tuple[Any, dict[str, Any]]] = [
    (DeepBoostClassifier(4, early_stopping=2, **NAMED), {"sample_weight": np.arange(300) % 3.0}),
    (DeepBoostClassifier(3, complexity_penalty=0.01, class_weight={0: 0.0, 1: 2.0, 2: 1.0}, **NAMED), {}),
    (RGBRegressor(3, **NAMED), {"offset": np.linspace(0.0, 1.0, 300)}),
    (SoftmaxBoostClassifier(3, learning_rate=0.7, **NAMED), {}),
    (DeepBoostClassifier(3, complexity_penalty=0.01, family=["trees", "kernel"], calibration=None), {}),
    (DeepBoostClassifier(3, early_stopping=1, calibration=None, **NAMED), {"eval_metric": values_seen}),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("estimator", "given"), FITS)
def test_a_table_in_blocks_has_the_model_of_its_matrix(
    estimator: Any, given: dict[str, Any], form: str, request: pytest.FixtureRequest
) -> None:
    frame, y = mixed()
    X = FORMS[form](frame[["c", "e", "h"]].fillna(0.0) if estimator.categorical_features == "from_dtype" else frame)
    expected = clone(estimator).fit(X, y, **given)
    longer = clone(estimator).set_params(warm_start=True).fit(X, y, **given)
    request.getfixturevalue("in_blocks")
    model = clone(estimator).fit(X, y, **given)
    assert everything(model) == everything(expected)
    assert model.history_ == expected.history_
    assert everything(longer.fit(X, y, **given))[:-1] == everything(expected)[:-1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("in_blocks")
def test_a_table_in_blocks_is_checked_like_its_matrix(form: str) -> None:
    X, y = mixed()
    estimator = DeepBoostClassifier(**NAMED)
    part = LoadedPartition(FORMS[form](X), y)
    blocks = read_training(estimator, [part], (), keep_values=False)
    whole = read_training(estimator, [part], ())
    assert blocks.X.first_rows.tolist() == [*range(0, 300, 40), 300]
    assert blocks.X.dtype == whole.X.dtype == np.float64
    assert blocks.categories == whole.categories
    np.testing.assert_array_equal(blocks.X.whole(), whole.X)
    X = X.assign(d=np.where(np.arange(300) == 170, np.inf, 0.0))
    with pytest.raises(ValueError, match="inf in row 170 of column 'd'"):
        read_training(estimator, [LoadedPartition(FORMS[form](X), y)], (), keep_values=False)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read_training(estimator, [LoadedPartition(part.X, y[1:])], (), keep_values=False)
