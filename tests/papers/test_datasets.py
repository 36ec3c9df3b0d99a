"""papers.datasets: the files, the order of the sources, what OpenML delivers, and what goes wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse

from papers import datasets
from papers.datasets import DatasetError


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers that OpenML, which is unreachable, was asked for."""
    asked: list[int] = []

    def unreachable(*, data_id: int, **_: Any) -> None:
        asked.append(data_id)
        raise URLError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    return asked


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def openml(monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, names: Any, categories: Any = None) -> None:
    bunch = SimpleNamespace(data=X, target=np.array(y, dtype=object), feature_names=names, categories=categories or {})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)


def test_tables(tmp_path: Path) -> None:
    write(tmp_path / "diabetes.csv.gz", "a,b,target\n1,2.5,pos\n,-0.1,neg\n")
    data = datasets.load("diabetes", tmp_path)
    np.testing.assert_array_equal(data.X, [[1, 2.5], [np.nan, -0.1]])
    assert data.y.tolist() == ["pos", "neg"]
    assert (data.feature_names, data.split, data.categories, data.categorical_features) == (("a", "b"), None, {}, ())
    assert data.source == str(tmp_path / "diabetes.csv.gz")
    # text becomes its position in alphabetical order
    write(tmp_path / "adult.csv.gz", 'age,work,split,target\n1,b,train,0\n2,,test,1\n3,"a,c",test,1\n')
    data = datasets.load("adult", tmp_path)
    np.testing.assert_array_equal(data.X, [[1, 1], [2, np.nan], [3, 0]])
    assert data.categories == {"work": ("a,c", "b")}
    assert data.categorical_features == (1,)
    assert data.split is not None
    assert data.split.tolist() == ["train", "test", "test"]
    assert data.y.dtype.kind == "i"


def test_archives(tmp_path: Path) -> None:
    X = np.array([[0.5, 1.5]], np.float32)
    np.savez(tmp_path / "higgs_part.npz", X=X, y=np.array([1], np.uint8), names=np.array(["p", "q"]))
    data = datasets.load("higgs-part", tmp_path)
    assert (data.X.dtype, data.feature_names, data.split) == (np.float64, ("p", "q"), None)
    np.savez(tmp_path / "mnist.npz", X=np.ones((3, 4), np.uint8), y=np.array([7, 1, 1]), n_train=2)
    data = datasets.load("mnist", tmp_path)
    assert data.X.dtype == np.uint8
    assert data.feature_names == ("row0_column0", "row0_column1", "row1_column0", "row1_column1")
    assert data.split is not None
    assert data.split.tolist() == ["train", "train", "test"]


def test_texts_are_sparse_and_have_domains(tmp_path: Path) -> None:
    parts = {
        "counts": np.array([2, 1, 3], np.uint8),
        "indices": np.array([2, 0, 1], np.uint32),
        "indptr": np.array([0, 2, 3]),
        "vocabulary": np.frombuffer("good\nbad\nÄrger".encode(), np.uint8),
        "y": np.array([1, 0], np.int8),
        "domain": np.array(["books", "dvd"]),
    }
    np.savez(tmp_path / "amazon.npz", **parts)
    data = datasets.load("amazon", tmp_path)
    assert data.X.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]
    assert data.feature_names == ("good", "bad", "Ärger")
    assert data.domains is not None
    assert data.domains.tolist() == ["books", "dvd"]
    for damage, reason in (({"domain": np.array(["books"])}, "domains"), ({"indices": np.array([2, 0, 3])}, "")):
        np.savez(tmp_path / "amazon.npz", **{**parts, **damage})
        with pytest.raises(DatasetError, match=f"cannot be read as data set 'amazon'.*{reason}"):
            datasets.load("amazon", tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not gzip at all", "gzip"),
        (gzip.compress(b"a,target\n1,0\n" * 500, mtime=0)[:-20], "end"),
        (gzip.compress(b"", mtime=0), "target"),
        (gzip.compress(b"a,target\n", mtime=0), "2 columns in the header, 0 below"),
        (gzip.compress(b"a,target\n1,0\n1\n", mtime=0), "argument"),
        (gzip.compress(b"target\n1\n", mtime=0), "no feature"),
        (gzip.compress(b"a,target\n1,\n", mtime=0), "no target"),
        (gzip.compress(b"a,target\n\xff\xfe,1\n", mtime=0), "utf-8"),
    ],
)
def test_damaged_tables_are_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "german.csv.gz"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=f"{path} cannot be read as data set 'german': .*{reason}"):
        datasets.load("german", tmp_path)


def test_damaged_archives_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npz"
    for columns, labels, reason in ((5, 3, "no square image"), (4, 2, r"X of shape \(3, 4\), y of shape \(2,\)")):
        np.savez(path, X=np.ones((3, columns), np.uint8), y=np.zeros(labels))
        with pytest.raises(DatasetError, match=reason):
            datasets.load("mnist", tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DatasetError, match="cannot be read"):
        datasets.load("mnist", tmp_path)


def test_order_of_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[int]) -> None:
    for value, name in enumerate(("given", "environment", "cache")):
        write(tmp_path / name / "sonar.csv.gz", f"a,target\n{value},M\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("RADBOOST_DATA", str(tmp_path / "environment"))
    assert datasets.load("sonar", tmp_path / "given").X[0, 0] == 0
    assert datasets.load("sonar").X[0, 0] == 1
    assert datasets.load("sonar", tmp_path / "empty").X[0, 0] == 2
    monkeypatch.delenv("RADBOOST_DATA")
    assert datasets.locate("sonar") == tmp_path / "cache" / "sonar.csv.gz"
    (tmp_path / "cache" / "sonar.csv.gz").unlink()
    assert datasets.locate("sonar") is None
    assert asked == []
    with pytest.raises(DatasetError) as caught:
        datasets.load("sonar", tmp_path / "empty")
    assert asked == [40]
    for part in ("'sonar'", str(tmp_path / "empty"), str(tmp_path / "cache"), "OpenML 40", "no route to host"):
        assert part in str(caught.value)
    assert "Put sonar.csv.gz into a folder and name that folder by data_dir or RADBOOST_DATA" in str(caught.value)


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[int]) -> None:
    with pytest.raises(DatasetError, match=r"OpenML does not have it in this form.*Put ocr17\.csv\.gz"):
        datasets.load("ocr17")
    with pytest.raises(DatasetError, match=r"unknown data set 'iris'; known are breastcancer, ionosphere, "):
        datasets.load("iris")
    assert asked == []
    missing = tmp_path / "missing"
    with pytest.raises(DatasetError, match=f"data_dir is '{missing}', which is not a directory"):
        datasets.load("sonar", missing)
    monkeypatch.setenv("RADBOOST_DATA", str(missing))
    with pytest.raises(DatasetError, match=f"RADBOOST_DATA is '{missing}', which is not a directory"):
        datasets.load("sonar")


def test_openml_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(768, 8))
    X[3, 2] = np.nan
    openml(monkeypatch, X, ["tested_positive"] + ["tested_negative"] * 767, list("abcdefgh"))
    first = datasets.load("diabetes")
    monkeypatch.setattr("sklearn.datasets.fetch_openml", None)
    again = datasets.load("diabetes")
    for data in (first, again):
        np.testing.assert_array_equal(data.X, X)
        assert data.y[:2].tolist() == ["pos", "neg"]
    assert again.source == str(tmp_path / "cache" / "diabetes.csv.gz")


def test_openml_in_our_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.zeros((4177, 8))
    X[:3, 0], X[:3, 1] = [0, 1, np.nan], [1, 0, 0]
    openml(monkeypatch, X, ["1"] * 4150 + [str(i) for i in range(2, 29)], ["Sex", *"bcdefgh"], {"Sex": ["M", "F"]})
    data = datasets.load("abalone")
    assert data.categories == {"Sex": ("F", "M")}
    np.testing.assert_array_equal(data.X[:3, :2], [[1, 1], [0, 0], [np.nan, 0]])
    # columns that are no features are left out
    names = ["Speaker_Number", "Sex", *(f"Feature_{i}" for i in range(10))]
    X = np.arange(990.0)[:, None] + np.arange(12)
    words = ["hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"]
    openml(monkeypatch, X, words * 90, names, {"Sex": ["Male", "Female"]})
    data = datasets.load("vowel")
    np.testing.assert_array_equal(data.X, X[:, 2:])
    assert data.y[:11].tolist() == list(range(11))


def test_another_set_under_the_number_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openml(monkeypatch, np.zeros((150, 4)), ["a", "b", "c"] * 50, list("abcd"))
    message = "OpenML 37 now has 150 rows, 4 features and 3 classes instead of 768, 8 and 2"
    with pytest.raises(DatasetError, match=message):
        datasets.load("diabetes")
    assert not (tmp_path / "cache").exists()


def test_two_digits_move_to_the_middle_of_the_box(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = np.zeros((30, 28, 28), np.uint8)
    for image in images:
        height, width = rng.integers(1, 21, 2)
        top, left = rng.integers(0, 29 - height), rng.integers(0, 29 - width)
        image[top : top + height, left : left + width] = rng.integers(1, 256, (height, width))
    np.savez(tmp_path / "mnist.npz", X=images.reshape(30, 784), y=np.arange(30) % 10, n_train=20)
    assert datasets.locate("mnist49", tmp_path) == tmp_path / "mnist.npz"
    data = datasets.load("ocr17-mnist", tmp_path)
    assert (data.name, data.y.tolist(), data.feature_names[21]) == ("mnist17", [1, 7, 1, 7, 1, 7], "row1_column1")
    assert data.split is not None
    assert data.split.tolist() == ["train"] * 4 + ["test"] * 2
    for row, image in zip(data.X.reshape(-1, 20, 20), images[np.isin(np.arange(30) % 10, [1, 7])], strict=True):
        rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        ink = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        expected = np.zeros((20, 20), np.uint8)
        top, left = (20 - ink.shape[0]) // 2, (20 - ink.shape[1]) // 2
        expected[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
        np.testing.assert_array_equal(row, expected)
    np.savez(tmp_path / "mnist.npz", X=np.ones((2, 784), np.uint8), y=np.array([1, 7]), n_train=2)
    with pytest.raises(DatasetError, match="this is not MNIST"):
        datasets.load("mnist17", tmp_path)


def test_names_and_aliases_are_unique() -> None:
    entries = [datasets.entry(name) for name in datasets.available()]
    names = [name for entry in entries for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))
    assert all(datasets.entry(alias) is entry for entry in entries for alias in entry.aliases)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in datasets.available() if name != "higgs"])
def test_real_sets_are_what_the_registry_says(name: str, data_dir: Path) -> None:
    entry = datasets.entry(name)
    data = datasets.load(name, data_dir)
    assert data.X.shape == (entry.rows, entry.features)
    assert data.y.shape == (entry.rows,)
    assert len(np.unique(data.y)) == entry.classes
    assert len(data.feature_names) == entry.features
    assert not np.isinf(data.X.data if sparse.issparse(data.X) else data.X).any()
    assert set(data.categories) <= set(data.feature_names)
    assert len(data.categorical_features) == {"abalone": 1, "adult": 8}.get(name, 0)
