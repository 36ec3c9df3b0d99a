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
from papers.datasets import DatasetError, _files


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """No environment, an empty cache, and OpenML unreachable; returns the numbers that were asked for."""
    asked: list[int] = []

    def unreachable(*, data_id: int, **_: Any) -> None:
        asked.append(data_id)
        raise URLError("no route to host")

    monkeypatch.delenv("RADBOOST_DATA", raising=False)
    monkeypatch.setenv("RADBOOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    return asked


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))
    return path


def openml(monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, categories: dict[str, list[str]], names: list[str]) -> None:
    bunch = SimpleNamespace(data=X, target=np.array(y, dtype=object), feature_names=names, categories=categories)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)


class TestFiles:
    def test_numbers_missing_values_and_text_labels(self, tmp_path: Path) -> None:
        write(tmp_path / "diabetes.csv.gz", "a,b,target\n1,2.5,pos\n,-0.1,neg\n")
        data = datasets.load("diabetes", tmp_path)
        np.testing.assert_array_equal(data.X, [[1, 2.5], [np.nan, -0.1]])
        assert data.y.tolist() == ["pos", "neg"]
        assert data.feature_names == ("a", "b")
        assert data.split is None
        assert data.categories == {}
        assert data.categorical_features == ()
        assert data.source == str(tmp_path / "diabetes.csv.gz")
        assert repr(data).startswith("Dataset('diabetes', 2 rows, 2 features, 2 classes, from ")

    def test_text_columns_become_positions_in_alphabetical_order(self, tmp_path: Path) -> None:
        write(
            tmp_path / "adult.csv.gz",
            "age,work,split,target\n1,b,train,0\n2,,test,1\n3,a,test,1\n4,b,train,0\n",
        )
        data = datasets.load("adult", tmp_path)
        np.testing.assert_array_equal(data.X, [[1, 1], [2, np.nan], [3, 0], [4, 1]])
        assert data.categories == {"work": ("a", "b")}
        assert data.categorical_features == (1,)
        assert data.split is not None
        assert data.split.tolist() == ["train", "test", "test", "train"]
        assert data.y.dtype.kind == "i"

    def test_quoted_cells(self, tmp_path: Path) -> None:
        write(tmp_path / "adult.csv.gz", 'a,target\n"x,y",0\nz,1\n')
        assert datasets.load("adult", tmp_path).categories == {"a": ("x,y", "z")}

    def test_arrays_with_names_are_float64(self, tmp_path: Path) -> None:
        X = np.array([[0.5, 1.5]], np.float32)
        np.savez(tmp_path / "higgs_part.npz", X=X, y=np.array([1], np.uint8), names=np.array(["p", "q"]))
        data = datasets.load("higgs-part", tmp_path)
        assert data.X.dtype == np.float64
        assert data.feature_names == ("p", "q")
        assert data.split is None

    def test_images_stay_bytes_and_know_their_training_part(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "mnist.npz", X=np.ones((3, 4), np.uint8), y=np.array([7, 1, 1]), n_train=2)
        data = datasets.load("mnist", tmp_path)
        assert data.X.dtype == np.uint8
        assert data.feature_names == ("row0_column0", "row0_column1", "row1_column0", "row1_column1")
        assert data.split is not None
        assert data.split.tolist() == ["train", "train", "test"]

    def test_texts_are_sparse_and_know_their_domains(self, tmp_path: Path) -> None:
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
        assert "2 rows, 3 features" in repr(data)
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
            (gzip.compress(b"a,b\n1,2\n", mtime=0), "target"),
            (gzip.compress(b"a,target\n", mtime=0), "2 columns in the header, 0 below"),
            (gzip.compress(b"a,target\n1,0\n1\n", mtime=0), "argument"),
            (gzip.compress(b"a,b,target\n1,0\n", mtime=0), "3 columns in the header, 2 below"),
            (gzip.compress(b"target\n1\n", mtime=0), "no feature"),
            (gzip.compress(b"a,target\n1,\n", mtime=0), "no target"),
            (gzip.compress(b"a,target\n\xff\xfe,1\n", mtime=0), "utf-8"),
        ],
    )
    def test_damaged_tables_are_named(self, tmp_path: Path, content: bytes, reason: str) -> None:
        path = tmp_path / "german.csv.gz"
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=f"{path} cannot be read as data set 'german': .*{reason}"):
            datasets.load("german", tmp_path)

    def test_damaged_archives_are_named(self, tmp_path: Path) -> None:
        path = tmp_path / "mnist.npz"
        np.savez(path, X=np.ones((3, 5), np.uint8), y=np.zeros(3))
        with pytest.raises(DatasetError, match="no square image"):
            datasets.load("mnist", tmp_path)
        np.savez(path, X=np.ones((3, 4), np.uint8), y=np.zeros(2))
        with pytest.raises(DatasetError, match=r"X of shape \(3, 4\), y of shape \(2,\)"):
            datasets.load("mnist", tmp_path)
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(DatasetError, match="cannot be read"):
            datasets.load("mnist", tmp_path)

    def test_a_failed_write_leaves_the_old_file_and_no_other(self, tmp_path: Path) -> None:
        path = write(tmp_path / "yeast.csv.gz", "old")

        def rows() -> Any:
            yield ["1", "a"]
            raise RuntimeError("lost connection")

        with pytest.raises(RuntimeError, match="lost"):
            _files.write_table(path, ["x", "target"], rows())
        assert gzip.decompress(path.read_bytes()) == b"old"
        assert list(tmp_path.iterdir()) == [path]


class TestSources:
    @pytest.fixture
    def everywhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for value, folder in enumerate(("given", "environment", "cache")):
            write(tmp_path / folder / "sonar.csv.gz", f"a,target\n{value},M\n")
        monkeypatch.setenv("RADBOOST_DATA", str(tmp_path / "environment"))

    @pytest.mark.usefixtures("everywhere")
    def test_order(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[int]) -> None:
        assert datasets.load("sonar", tmp_path / "given").X[0, 0] == 0
        assert datasets.load("sonar").X[0, 0] == 1
        monkeypatch.delenv("RADBOOST_DATA")
        assert datasets.load("sonar").X[0, 0] == 2
        assert datasets.locate("sonar") == tmp_path / "cache" / "sonar.csv.gz"
        assert no_network == []
        (tmp_path / "cache" / "sonar.csv.gz").unlink()
        assert datasets.locate("sonar") is None
        with pytest.raises(DatasetError):
            datasets.load("sonar")
        assert no_network == [40]

    @pytest.mark.usefixtures("everywhere")
    def test_a_folder_without_the_file_passes_on_to_the_cache(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        assert datasets.load("sonar", tmp_path / "empty").X[0, 0] == 2

    def test_the_message_names_every_source_and_the_way_out(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with pytest.raises(DatasetError) as caught:
            datasets.load("pima", tmp_path / "empty")
        text = str(caught.value)
        for part in (
            "'diabetes'",
            str(tmp_path / "empty"),
            str(tmp_path / "cache"),
            "OpenML 37",
            "no route to host",
        ):
            assert part in text
        assert "Put diabetes.csv.gz into a folder and name that folder by data_dir or RADBOOST_DATA" in text

    def test_a_set_that_openml_lacks_is_not_asked_for(self, no_network: list[int]) -> None:
        with pytest.raises(DatasetError, match=r"OpenML does not have it in this form.*Put ocr17\.csv\.gz"):
            datasets.load("ocr17")
        assert no_network == []

    def test_unknown_name(self) -> None:
        with pytest.raises(DatasetError, match=r"unknown data set 'iris'; known are breastcancer, ionosphere, "):
            datasets.load("iris")

    @pytest.mark.parametrize("origin", ["data_dir", "RADBOOST_DATA"])
    def test_no_folder(self, origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        missing = tmp_path / "missing"
        if origin == "RADBOOST_DATA":
            monkeypatch.setenv("RADBOOST_DATA", str(missing))
        with pytest.raises(DatasetError, match=f"{origin} is '{missing}', which is not a directory"):
            datasets.load("sonar", missing if origin == "data_dir" else None)


class TestOpenML:
    def test_is_cached_in_the_layout_of_the_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        X = np.random.default_rng(0).normal(size=(768, 8))
        X[3, 2] = np.nan
        y = ["tested_positive"] + ["tested_negative"] * 767
        openml(monkeypatch, X, y, {}, list("abcdefgh"))
        first = datasets.load("diabetes")
        np.testing.assert_array_equal(first.X, X)
        assert first.y[:2].tolist() == ["pos", "neg"]
        assert first.source == "OpenML 37"

        monkeypatch.setattr("sklearn.datasets.fetch_openml", None)
        again = datasets.load("diabetes")
        np.testing.assert_array_equal(again.X, X)
        assert again.source == str(tmp_path / "cache" / "diabetes.csv.gz")

    def test_nominal_columns_are_decoded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X = np.zeros((4177, 8))
        X[:3, 0], X[:3, 1] = [0, 1, np.nan], [1, 0, 0]
        names = ["Sex", "digit", *"cdefgh"]
        openml(monkeypatch, X, np.arange(4177) % 28, {"Sex": ["M", "F"], "digit": ["5", "3"]}, names)
        data = datasets.load("abalone")
        assert data.categories == {"Sex": ("F", "M")}
        np.testing.assert_array_equal(data.X[:3, :2], [[1, 3], [0, 5], [np.nan, 5]])

    def test_columns_that_are_no_features_are_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        names = ["Speaker_Number", "Sex", *(f"Feature_{i}" for i in range(10))]
        X = np.arange(990.0)[:, None] + np.arange(12)
        words = ["hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"]
        openml(monkeypatch, X, words * 90, {"Sex": ["Male", "Female"]}, names)
        data = datasets.load("vowel")
        np.testing.assert_array_equal(data.X, X[:, 2:])
        assert data.y[:11].tolist() == list(range(11))

    def test_classes_get_the_names_of_the_files(self, monkeypatch: pytest.MonkeyPatch) -> None:
        openml(monkeypatch, np.zeros((3186, 180)), ["1", "2", "3"] * 1062, {}, [f"A{i}" for i in range(180)])
        assert datasets.load("dna").y[:3].tolist() == ["ei", "ie", "n"]

    def test_another_set_under_the_number_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        openml(monkeypatch, np.zeros((150, 4)), ["a", "b", "c"] * 50, {}, list("abcd"))
        message = "OpenML 37 now has 150 rows, 4 features and 3 classes instead of 768, 8 and 2"
        with pytest.raises(DatasetError, match=message):
            datasets.load("diabetes")
        assert not (tmp_path / "cache").exists()

    def test_images_become_an_archive(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X = np.zeros((70000, 784), np.float32)
        X[69999, 783] = 255
        openml(monkeypatch, X, [str(i % 10) for i in range(70000)], {}, [f"pixel{i}" for i in range(784)])
        data = datasets.load("fashion-mnist")
        assert data.X.dtype == np.uint8
        assert data.X[69999, 783] == 255
        assert data.split is not None
        assert np.count_nonzero(data.split == "train") == 60000


class TestTwoDigits:
    @pytest.fixture
    def mnist(self, tmp_path: Path) -> np.ndarray[Any, Any]:
        rng = np.random.default_rng(0)
        images = np.zeros((30, 28, 28), np.uint8)
        for image in images:
            height, width = rng.integers(1, 21, 2)
            top, left = rng.integers(0, 29 - height), rng.integers(0, 29 - width)
            image[top : top + height, left : left + width] = rng.integers(1, 256, (height, width))
        np.savez(tmp_path / "mnist.npz", X=images.reshape(30, 784), y=np.arange(30) % 10, n_train=20)
        return images

    def test_the_ink_moves_to_the_middle_of_the_box(self, tmp_path: Path, mnist: np.ndarray[Any, Any]) -> None:
        data = datasets.load("ocr17-mnist", tmp_path)
        assert data.name == "mnist17"
        assert data.y.tolist() == [1, 7, 1, 7, 1, 7]
        assert data.split is not None
        assert data.split.tolist() == ["train"] * 4 + ["test"] * 2
        assert data.feature_names[21] == "row1_column1"
        for row, image in zip(data.X.reshape(-1, 20, 20), mnist[np.isin(np.arange(30) % 10, [1, 7])], strict=True):
            rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
            ink = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            expected = np.zeros((20, 20), np.uint8)
            top, left = (20 - ink.shape[0]) // 2, (20 - ink.shape[1]) // 2
            expected[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
            np.testing.assert_array_equal(row, expected)

    def test_ink_that_does_not_fit(self, tmp_path: Path) -> None:
        X = np.ones((2, 784), np.uint8)
        np.savez(tmp_path / "mnist.npz", X=X, y=np.array([1, 7]), n_train=2)
        with pytest.raises(DatasetError, match="this is not MNIST"):
            datasets.load("mnist17", tmp_path)

    def test_locate_finds_the_file_they_are_cut_from(self, tmp_path: Path, mnist: np.ndarray[Any, Any]) -> None:
        assert datasets.locate("mnist49", tmp_path) == tmp_path / "mnist.npz"


def test_names_and_aliases_are_unique() -> None:
    entries = [datasets.entry(name) for name in datasets.available()]
    names = [name for entry in entries for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))
    assert all(datasets.entry(alias) is entry for entry in entries for alias in entry.aliases)


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


def test_the_text_columns_of_the_real_sets(data_dir: Path) -> None:
    assert datasets.load("abalone", data_dir).categorical_features == (0,)
    assert datasets.load("abalone", data_dir).categories == {"Sex": ("F", "I", "M")}
    assert len(datasets.load("adult", data_dir).categorical_features) == 8
    assert datasets.load("letters", data_dir).categorical_features == ()
