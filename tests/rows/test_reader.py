"""One reader of rows by parts: who calls it, and what it does again for each pass over the rows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import radboost
from distributed_tools import ReloadedPartition
from fingerprints import fractions, with_categories
from radboost import DeepBoostClassifier
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


CONVERSIONS = ("read_rows", "read_more_rows", "read_rows_again")


@pytest.mark.parametrize("weighted", [False, True])
def test_checks_are_made_once_however_often_rows_are_loaded(monkeypatch: pytest.MonkeyPatch, weighted: bool) -> None:
    """Values and codes of later passes are those of the first, which alone looks for infinity, names and categories."""
    X, y = with_categories(10, 90, 3)
    frame = pd.DataFrame(X, columns=list("abcdef")).astype({"b": np.float32})
    frame["a"] = [None if np.isnan(x) else f"w{int(x) % 30}" for x in X[:, 0]]
    frame["e"] = pd.array(np.rint(frame["e"].fillna(0.0)), dtype="Int64")
    weights = np.where(frame["a"] == "w3", 0.0, fractions(90) + 1.0) if weighted else None
    estimator = DeepBoostClassifier(categorical_features=["a", "d"])
    parts: list[Any] = [
        ReloadedPartition(
            LoadedPartition(frame[k : k + 30], y[k : k + 30], None if weights is None else weights[k : k + 30])
        )
        for k in (0, 30, 60)
    ]
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
