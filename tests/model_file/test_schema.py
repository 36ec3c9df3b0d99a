"""The table that a model was fitted to, in its file."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import radboost
from model_files import forged, setter
from radboost._number_formats import NumberFormat
from radboost.model_file import ColumnSchema, ModelFileError, Schema, read

SCHEMA = Schema(
    target="y",
    task="classes",
    form="table",
    columns=(
        ColumnSchema("a", "number", number_format=NumberFormat(",", ".", "€")),
        ColumnSchema("k", "category", ("u", "v"), may_miss=True),
    ),
    left_out=("id",),
    missing_words=("", "?"),
    facts={"rows": 40, "verdict": "error 0.1", "score": 0.5, "nothing": None},
    target_format=NumberFormat(percent=True),
)


@pytest.fixture(scope="module")
def fitted() -> Any:
    rng = np.random.default_rng(0)
    a, k = rng.normal(size=40), rng.choice(["u", "v"], 40)
    X = pa.table({"a": a, "k": pa.array(k).dictionary_encode()})
    return radboost.RGBClassifier(n_rounds=3, n_jobs=1).fit(X, (a > 0) != (k == "u"))


def test_it_comes_back(fitted: Any, tmp_path: Path) -> None:
    model = copy(fitted)
    model.save(tmp_path / "without")
    assert "schema" not in read(tmp_path / "without")[0]
    assert not hasattr(radboost.load(tmp_path / "without"), "schema_")
    model.schema_ = SCHEMA
    model.save(tmp_path / "with")
    loaded = radboost.load(tmp_path / "with")
    assert loaded.schema_ == SCHEMA
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "with").read_bytes()
    assert radboost.RGBClassifier.from_dict(loaded.to_dict()).schema_ == SCHEMA


def test_that_of_another_table_is_not_kept(fitted: Any, tmp_path: Path) -> None:
    """A model that was fitted again, from Python, no longer is one of its table."""
    model = copy(fitted)
    for schema in (
        replace(SCHEMA, columns=SCHEMA.columns[:1]),
        replace(SCHEMA, columns=(SCHEMA.columns[0], ColumnSchema("k", "category", ("u",)))),
    ):
        model.schema_ = schema
        model.save(tmp_path / "m")
        assert not hasattr(radboost.load(tmp_path / "m"), "schema_")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("task", "ranks", "the task of a schema is 'ranks'"),
        ("form", 3, "the form of a schema is '3'"),
        ("target", 3, "the target of a schema"),
        ("columns", "ab", "a schema must have the entries"),
        ("columns", [], "other columns or categories than the model"),
        ("facts", {"a": [1]}, "the facts of a schema"),
        ("left_out", [1], "columns that are left out must be a list of texts"),
        ("missing_words", "?", "words for missing values must be a list of texts"),
        (("columns", 0, "kind"), "colour", "the kind of a column is 'colour'"),
        (("columns", 0, "mean"), "1", "the mean of the column 'a'"),
        (("columns", 0, "may_miss"), 1, "must have a name, and say whether"),
        (("columns", 0, "number_format", "decimal"), ";", "a number format must have the entries"),
        ("target_format", {"decimal": "."}, "a number format must have the entries"),
        (("columns", 0, "name"), "k", "two columns of the schema have the same name"),
        (("columns", 1, "categories"), ["v", "u"], "different and ascending"),
        (("columns", 1, "categories"), ["u"], "other columns or categories than the model"),
        (("columns", 1, "kind"), "number", "other columns or categories than the model"),
        ("task", "numbers", "or another task"),
        ("target", "a", "other columns or categories than the model"),
    ],
)
def test_nothing_in_it_is_trusted(fitted: Any, tmp_path: Path, key: Any, value: Any, message: str) -> None:
    model = copy(fitted)
    model.schema_ = SCHEMA
    model.save(tmp_path / "m")
    keys = key if isinstance(key, tuple) else (key,)
    with pytest.raises(ModelFileError, match=message):
        radboost.load(forged(tmp_path / "m", setter("schema", *keys, value=value)))
