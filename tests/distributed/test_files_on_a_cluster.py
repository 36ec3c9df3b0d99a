"""Fits of Parquet files on a Dask cluster: the model, what the client shows of it, and what each worker held."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import radboost.distributed as cluster_fits
from distributed_tools import everything, local_cluster
from fingerprints import fractions, table
from radboost import DeepBoostClassifier, _progress, load
from radboost.distributed import cluster
from radboost.distributed.worker import Worker

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:The model", "ignore:Port")

DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, max_depth=3, calibration=None)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers as threads of this process."""
    with local_cluster(2, processes=False, protocol="tcp://") as client:
        yield client


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Three files of a table, the table, and what of it are features."""
    X, y = table(1, 150, 3, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(shop=pd.Series(X[:, 0] * 3).round().map(lambda x: f"s{x}"))
    frame = frame.assign(weight=fractions(150), bought=np.array(["no", "later", "yes"])[y])
    folder = tmp_path_factory.mktemp("sales")
    for number in range(3):
        frame.iloc[50 * number : 50 * number + 50].to_parquet(folder / f"{number}.parquet", row_group_size=20)
    return folder, frame, frame.drop(columns=["bought", "weight"])


@pytest.fixture(scope="module")
def fitted(client: Any, sales: Any) -> tuple[Any, Any]:
    """The model of the files, and that of the table."""
    folder, frame, X = sales
    own = clone(DEEP).set_params(categorical_features=["shop"])
    expected = clone(own).fit(X, frame["bought"], frame["weight"])
    found = cluster_fits.fit(own, f"{folder}/*.parquet", "bought", sample_weight="weight", client=client)
    return found, expected


def test_the_model_and_predictions_of_files(client: Any, sales: Any, fitted: Any) -> None:
    folder, _, X = sales
    found, expected = fitted
    assert everything(found) == everything(expected)
    answers = cluster_fits.predict_proba(found, str(folder))
    assert answers.shape == (150, 3)
    np.testing.assert_array_equal(answers.compute(), expected.predict_proba(X))
    labels = cluster_fits.predict(found, [folder / "1.parquet"])
    np.testing.assert_array_equal(labels.compute(), expected.predict(X.iloc[50:100]))


def test_what_is_refused(client: Any, sales: Any) -> None:
    with pytest.raises(ValueError, match="columns are for X that names Parquet files"):
        cluster_fits.fit(clone(DEEP), [], sales[1]["bought"], columns=["a"], client=client)


def test_what_each_worker_held(sales: Any, fitted: Any, tmp_path: Path) -> None:
    found, _ = fitted
    n_rows = [usage.n_rows for usage in found.workers_]
    assert sum(n_rows) == np.count_nonzero(sales[1]["weight"])
    assert max(n_rows) - min(n_rows) <= 20  # a row group
    assert sum(usage.n_partitions for usage in found.workers_) == 9
    assert [usage.bytes_of_bins for usage in found.workers_] == [2 * 4 * n for n in n_rows]
    assert [usage.bytes_of_scores for usage in found.workers_] == [8 * 3 * n for n in n_rows]
    assert len({usage.address for usage in found.workers_}) == 2
    assert len({usage.n_exchanges for usage in found.workers_}) == 1
    assert [usage.bytes_sent > 0 for usage in found.workers_] == [False, True]  # up the tree
    assert min(usage.seconds_waiting for usage in found.workers_) > 0.0
    found.save(tmp_path / "model.radboost")
    assert not hasattr(load(tmp_path / "model.radboost"), "workers_")
    again = clone(found)
    again.__dict__ = dict(found.__dict__)
    assert not hasattr(again.fit(sales[1][["a", "shop"]], sales[1]["bought"]), "workers_")


def no_rich(*_: Any) -> None:
    raise ImportError


@pytest.mark.parametrize("calibration", [None, "auto"])
def test_the_client_shows_the_rounds(
    client: Any, sales: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, calibration: Any
) -> None:
    monkeypatch.setattr(_progress, "_RichBar", no_rich)
    folder, frame, _ = sales
    own = DeepBoostClassifier(3, max_depth=1, complexity_penalty=0.01, calibration=calibration, verbose=1)
    clone(own).fit(frame[["a", "b"]], frame["bought"])
    expected = capsys.readouterr().err
    cluster_fits.fit(own, str(folder), "bought", columns=["a", "b"], client=client)
    assert capsys.readouterr().err == expected
    assert expected.startswith("round 1/3: ")
    assert ("calibrated: " in expected) == (calibration is not None)


@pytest.mark.parametrize("group_rows", [150, 20], ids=["one worker", "two workers"])
def test_ctrl_c_in_the_client_ends_the_fit(
    client: Any, sales: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_rows: int
) -> None:
    sales[1].to_parquet(tmp_path / "all.parquet", row_group_size=group_rows)
    n_polls = []

    def interrupt(*_: Any, **__: Any) -> list[str]:
        n_polls.append(1)
        if any(thread.name.startswith("radboost-fit") for thread in threading.enumerate()) and len(n_polls) > 30:
            raise KeyboardInterrupt
        return []

    monkeypatch.setattr(cluster.Attempt, "_lost", interrupt)
    given = DeepBoostClassifier(10**6, complexity_penalty=0.001, calibration=None)
    before = dict(given.__dict__)
    with pytest.raises(KeyboardInterrupt):
        cluster_fits.fit(given, tmp_path, "bought", columns=["a"], client=client)
    assert given.__dict__ == before
    for _ in range(500):
        if not any(thread.name.startswith("radboost-fit") for thread in threading.enumerate()):
            break
        time.sleep(0.02)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("radboost-fit")]


def test_a_quiet_fit_sends_nothing(client: Any, sales: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "next_event", lambda *_: pytest.fail("was asked for events"))
    monkeypatch.setattr(Worker, "_ask_client", lambda *_: pytest.fail("has sent an event"))
    cluster_fits.fit(clone(DEEP), str(sales[0]), "bought", columns=["a"], client=client)
