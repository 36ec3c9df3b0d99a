"""Parquet files that workers read themselves: the model is that of a fit on the data frame of all of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from distributed_tools import everything, fit_by_threads
from fingerprints import fractions, table, with_categories
from radboost import DeepBoostClassifier, RGBRegressor
from radboost.distributed.parquet import ParquetPartition, deal_out, parquet_files, parquet_parts

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:The model", "ignore:X holds text")

DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, max_depth=3, calibration=None)


def written(folder: Path, frame: pd.DataFrame, n_files: int, group_rows: int = 17) -> list[Path]:
    """A frame in several files, of several row groups each."""
    paths = []
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        paths.append(folder / f"part-{number}.parquet")
        frame.iloc[rows].to_parquet(paths[-1], row_group_size=group_rows)
    return paths


def whole(paths: list[Path]) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in sorted(paths)])


def all_kinds() -> pd.DataFrame:
    """Columns of all types that a fit takes, with missing values."""
    X, y = with_categories(10, 160, 3)
    rng = np.random.default_rng(5)
    holes = rng.random((160, 8)) < 0.1
    frame = pd.DataFrame(
        {
            "text": [None if np.isnan(x) else f"w{int(x) % 20}" for x in X[:, 0]],
            "category": pd.Categorical([f"c{int(x)}" for x in X[:, 3]], categories=["c9", "c2", "c1", "c0"]),
            "float": X[:, 1],
            "float32": rng.random(160).astype(np.float32),
            "whole": pd.Series(rng.integers(0, 9, 160), dtype="int64").where(~holes[:, 0]),
            "small": rng.integers(-5, 5, 160).astype(np.int8),
            "flag": rng.random(160) < 0.5,
            "flag with holes": pd.Series(rng.random(160) < 0.5, dtype=object).where(~holes[:, 1], None),
            "price": [Decimal(int(x)) / 100 for x in rng.integers(0, 9999, 160)],
            "label": np.array(["lo", "middle", "hi"])[y],
            "weight": fractions(160),
        }
    )
    frame["price"] = frame["price"].where(~holes[:, 2], None)
    return frame


def test_columns_of_all_types(tmp_path: Path) -> None:
    paths = written(tmp_path, all_kinds(), 3)
    frame = whole(paths)
    expected = clone(DEEP).fit(frame.drop(columns=["label", "weight"]), frame["label"], frame["weight"])
    parts = parquet_parts(str(tmp_path), {"y": "label", "sample_weight": "weight"}, part_bytes=8 * 11 * 40)
    assert max(part.n_rows for part in parts) <= 40
    assert sum(part.n_rows for part in parts) == 160
    assert any(len(part.row_groups) > 1 for part in parts)
    for model in fit_by_threads(DEEP, parts, 3):
        assert everything(model) == everything(expected)


@pytest.mark.parametrize("flag", [False, True], ids=["float32", "float32 and booleans"])
def test_single_precision_stays(tmp_path: Path, flag: bool) -> None:
    """Thresholds between numbers of 32 bits differ from those between the same numbers with 64."""
    X, y = table(1, 120, 4)
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcd")).assign(y=y)
    if flag:  # which scikit-learn takes from data frames as objects, and so all columns with 64 bits
        frame["e"] = X[:, 0] > 0.5
    paths = written(tmp_path, frame, 2)
    own = DeepBoostClassifier(4, complexity_penalty=0.01, calibration=None)
    expected = clone(own).fit(frame.drop(columns="y"), frame["y"])
    for model in fit_by_threads(own, parquet_parts(paths, {"y": "y"}), 2):
        assert everything(model) == everything(expected)


def test_several_targets_and_chosen_columns(tmp_path: Path) -> None:
    X, y = table(5, 120, 4, 6)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(one=y * 1.0, two=np.cos(y), unused="text")
    paths = written(tmp_path, frame, 2)
    expected = RGBRegressor(2).fit(frame[["c", "a"]], frame[["one", "two"]])
    parts = parquet_parts(paths, {"y": ["one", "two"]}, ["c", "a"])
    for model in fit_by_threads(RGBRegressor(2), parts, 2):
        assert everything(model) == everything(expected)


def test_names_of_rows_are_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=["first", "second"])
    frame.to_parquet(tmp_path / "a.parquet")
    assert parquet_parts(tmp_path, {"y": "y"})[0].features == ["a"]


def test_which_files_are_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]})
    (tmp_path / "inside").mkdir()
    for name in ("b.parquet", "a.pq", "inside/c.parquet", "_metadata.parquet", ".d.parquet", "notes.txt"):
        frame.to_parquet(tmp_path / name)
    monkeypatch.chdir(tmp_path)

    def named(given: Any) -> list[str]:
        return [str(Path(path).relative_to(tmp_path)) for path in parquet_files(given)]

    assert named("b.parquet") == named(Path("b.parquet")) == named(["b.parquet"]) == ["b.parquet"]
    assert named(".") == named(tmp_path) == ["a.pq", "b.parquet", "inside/c.parquet"]
    assert named("[ab].p*") == ["a.pq", "b.parquet"]
    assert named("**/[a-z].parquet") == ["b.parquet", "inside/c.parquet"]
    assert named(["b.parquet", "inside"]) == ["b.parquet", "inside/c.parquet"]
    with pytest.raises(ValueError, match=r"b\.parquet is named twice"):
        parquet_files(["b.parquet", "*.parquet"])
    for given, message in (("no.parquet", "no such file or folder"), ("no*.parquet", "no file has such a name")):
        with pytest.raises(FileNotFoundError, match=message):
            parquet_files(given)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="this folder has no file that ends with"):
        parquet_files("empty")
    (tmp_path / "empty" / "year=2020").mkdir()
    frame.to_parquet(tmp_path / "empty" / "year=2020" / "a.parquet")
    with pytest.raises(ValueError, match="values that stand in the names of folders are not read"):
        parquet_files("empty")
    with pytest.raises(ValueError, match="only files that the workers have in a folder"):
        parquet_files("s3://shop/sales.parquet")


def test_files_that_differ(tmp_path: Path) -> None:
    one, other, longer = tmp_path / "one.parquet", tmp_path / "other.parquet", tmp_path / "longer.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2], "y": [0, 1]})
    frame.to_parquet(one)
    frame.drop(columns="b").to_parquet(other)
    with pytest.raises(ValueError, match=r"one\.parquet has a column 'b', and .*other\.parquet has none"):
        parquet_parts([one, other], {"y": "y"})
    frame.assign(c=1).to_parquet(longer)
    with pytest.raises(ValueError, match=r"longer\.parquet has a column 'c', and .*one\.parquet has none"):
        parquet_parts([one, longer], {"y": "y"})
    assert len(parquet_parts([one, longer], {"y": "y"}, ["a"])) == 2
    frame.astype({"b": "float64"}).to_parquet(other)
    with pytest.raises(ValueError, match=r"'b' is int64 in .*one\.parquet, and double in .*other\.parquet"):
        parquet_parts([one, other], {"y": "y"})
    frame[["y", "b", "a"]].to_parquet(other)  # in another order
    assert [part.features for part in parquet_parts([one, other], {"y": "y"})] == [["a", "b"]] * 2


def test_what_columns_are_called(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no table")
    for name, n_rows in (("one", 2), ("empty", 0)):
        pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]})[:n_rows].to_parquet(tmp_path / f"{name}.parquet")
    for name, message in (("text", "is no Parquet file that can be read"), ("empty", "has no rows")):
        with pytest.raises(ValueError, match=rf"{name}\.parquet {message}"):
            parquet_parts(tmp_path / f"{name}.parquet", {"y": "y"})
    refused: list[tuple[dict[str, Any], Any, str]] = [
        ({"y": "z"}, None, r"y names the column 'z', and .*one\.parquet has the columns 'a', 'y'"),
        ({"y": "y"}, ["z"], "columns names the column 'z'"),
        ({"y": "y"}, ["a", "y"], "columns names 'y', which is a column beside X"),
        ({"y": "y", "sample_weight": "a"}, None, "has no column for X beside 'y', 'a'"),
        ({"y": np.ones(2)}, None, "y must be the name of a column where X names files; got ndarray"),
        ({"y": "y", "sample_weight": ["a"]}, None, "sample_weight must be the name of a column"),
        ({"y": "y"}, "a", "columns must be a list"),
    ]
    for others, columns, message in refused:
        with pytest.raises((ValueError, TypeError), match=message):
            parquet_parts(tmp_path / "one.parquet", others, columns)


def test_files_that_workers_do_not_find_as_they_were(tmp_path: Path) -> None:
    """No OSError: that is what a lost worker looks like, and the fit would begin anew."""
    path = tmp_path / "one.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(path)
    (part,) = parquet_parts(path, {"y": "y"})
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]}).to_parquet(path)
    with pytest.raises(ValueError, match="has changed since the fit began"):
        part.load()
    path.write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="cannot be read"):
        part.load()
    path.unlink()
    with pytest.raises(ValueError, match="the same paths"):
        part.load()


def test_parts_are_dealt_out_evenly() -> None:
    rng = np.random.default_rng(3)
    parts = [ParquetPartition(f"{k}", [0], int(n), ["a"]) for k, n in enumerate(rng.integers(1, 100, 57))]
    dealt = deal_out(parts, ["c", "a", "b"])
    assert list(dealt) == ["a", "b", "c"]
    assert sorted((part for own in dealt.values() for part in own), key=lambda part: int(part.path)) == parts
    rows = [sum(part.n_rows for part in own) for own in dealt.values()]
    assert max(rows) - min(rows) <= 100 // 10
    assert deal_out(parts[:1], ["a", "b"]) == {"a": parts[:1]}


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"radboost\[dask\]"):
        parquet_files("sales.parquet")
