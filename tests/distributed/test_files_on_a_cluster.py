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
from radboost.distributed import cluster, progress

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:The model", "ignore:Port")

DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, max_depth=3, calibration=None)
SHOWN = DeepBoostClassifier(3, max_depth=1, complexity_penalty=0.01, calibration=None, verbose=1)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers as threads of this process."""
    with local_cluster(2, processes=False, protocol="tcp://") as client:
        yield client


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    """Three files of a table, and the table."""
    X, y = table(1, 150, 3, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(shop=pd.Series(X[:, 0] * 3).round().map(lambda x: f"s{x}"))
    frame = frame.assign(weight=fractions(150), bought=np.array(["no", "later", "yes"])[y])
    folder = tmp_path_factory.mktemp("sales")
    for number in range(3):
        frame.iloc[50 * number : 50 * number + 50].to_parquet(folder / f"{number}.parquet", row_group_size=20)
    return folder, frame


@pytest.fixture(scope="module")
def fitted(client: Any, sales: Any) -> tuple[Any, Any]:
    """The model of the files, and that of the table."""
    folder, frame = sales
    own = clone(DEEP).set_params(categorical_features=["shop"])
    X = frame.drop(columns=["bought", "weight"])
    expected = clone(own).fit(X, frame["bought"], frame["weight"])
    found = cluster_fits.fit(own, f"{folder}/*.parquet", "bought", sample_weight="weight", client=client)
    return found, expected


def test_files_of_a_cluster(fitted: Any) -> None:
    found, expected = fitted
    assert everything(found) == everything(expected)


def test_predictions_of_files(client: Any, sales: Any, fitted: Any) -> None:
    folder, frame = sales
    found, expected = fitted
    answers = cluster_fits.predict_proba(found, str(folder))
    assert answers.shape == (150, 3)
    np.testing.assert_array_equal(answers.compute(), expected.predict_proba(frame.drop(columns=["bought", "weight"])))
    labels = cluster_fits.predict(found, [folder / "1.parquet"])
    np.testing.assert_array_equal(
        labels.compute(), expected.predict(frame.drop(columns=["bought", "weight"]).iloc[50:100])
    )


def test_what_is_refused(client: Any, sales: Any) -> None:
    _, frame = sales
    with pytest.raises(ValueError, match="columns are for X that names Parquet files"):
        cluster_fits.fit(clone(DEEP), [], frame["bought"], columns=["a"], client=client)


def test_what_each_worker_held(sales: Any, fitted: Any, tmp_path: Path) -> None:
    found, _ = fitted
    n_rows = [usage.n_rows for usage in found.workers_]
    assert sum(n_rows) == np.count_nonzero(sales[1]["weight"])
    assert max(n_rows) - min(n_rows) <= 20  # a row group
    assert sum(usage.n_partitions for usage in found.workers_) == 9
    assert [usage.bytes_of_bins for usage in found.workers_] == [2 * 4 * n for n in n_rows]
    assert [usage.bytes_of_scores for usage in found.workers_] == [8 * 3 * n for n in n_rows]
    assert len({usage.address for usage in found.workers_}) == 2
    found.save(tmp_path / "model.radboost")
    assert not hasattr(load(tmp_path / "model.radboost"), "workers_")
    again = clone(found)
    again.__dict__ = dict(found.__dict__)
    assert not hasattr(again.fit(sales[1][["a", "shop"]], sales[1]["bought"]), "workers_")


def no_rich(*_: Any) -> None:
    raise ImportError


def test_the_client_shows_the_rounds(
    client: Any, sales: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "_RichBar", no_rich)
    folder, frame = sales
    for own, pause in ((SHOWN, 0.0), (clone(SHOWN).set_params(calibration="auto"), 60.0)):
        clone(own).fit(frame[["a", "b"]], frame["bought"])
        expected = capsys.readouterr().err.splitlines()
        monkeypatch.setattr(progress, "SECONDS_BETWEEN_REQUESTS", pause)  # asked all the time, and once at the end
        cluster_fits.fit(clone(own), str(folder), "bought", columns=["a", "b"], client=client)
        shown = capsys.readouterr().err.splitlines()
        assert [line for line in shown if not line.startswith("reading, ")] == expected
    assert expected[-1].startswith("calibrated: ")


@pytest.mark.parametrize("group_rows", [150, 20], ids=["one worker", "two workers"])
def test_ctrl_c_in_the_client_ends_the_fit(
    client: Any, sales: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_rows: int
) -> None:
    sales[1].to_parquet(tmp_path / "all.parquet", row_group_size=group_rows)
    n_seen = []

    def poll(self: Any) -> None:
        n_seen.append(1)
        if any(thread.name.startswith("radboost-fit") for thread in threading.enumerate()) and len(n_seen) > 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.ProgressDisplay, "poll", poll)
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


class Answer:
    def __init__(self, found: Any) -> None:
        self._found = found

    def done(self) -> bool:
        return True

    def result(self, timeout: float) -> Any:
        assert timeout
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def test_what_is_shown_before_the_rounds_and_after_a_loss(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "_RichBar", no_rich)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REQUESTS", 0.0)
    reports: list[Any] = []
    requests = []

    def ask(worker: int, *question: Any) -> Answer:
        requests.append((worker, *question))
        found = reports[0][worker]
        return Answer(found)

    display = progress.ProgressDisplay(1, ask)

    def tell(*of_workers: Any) -> list[str]:
        reports[:] = [of_workers]
        display.poll()
        display.poll()
        return capsys.readouterr().err.splitlines()

    ProgressReport = progress.ProgressReport
    assert tell(ProgressReport(2, 1), ProgressReport(2, 1)) == []  # nobody is followed yet
    display.follow([0, 1])
    assert tell(ProgressReport(2, 0), ProgressReport(2, 0)) == []
    assert tell(ProgressReport(2, 1), ProgressReport(2, 0)) == ["reading, part 1/4"]
    assert tell(ProgressReport(2, 2), ProgressReport(2, 2)) == [f"reading, part {k}/4" for k in (2, 3, 4)]
    assert tell(ProgressReport(2, 3), ProgressReport(2, 2)) == ["reading, pass 2, part 1/4"]
    assert tell(ProgressReport(2, 4, binned=True), ProgressReport(2, 3)) == []  # a bar that has not moved yet
    line = {"objective": 0.5}
    assert tell(ProgressReport(2, 4, 3, (line, line), ((0, "looked"), (2, "half"))), ProgressReport(2, 4)) == [
        "looked",
        "round 1/3: objective 0.5000",
        "round 2/3: objective 0.5000",
        "half",
    ]
    assert tell(ProgressReport(2, 4, 3), ProgressReport(2, 4)) == []
    assert requests[-1] == (0, "progress", 2, 2)  # the first one alone
    assert tell(OSError("gone"), None) == []
    display.stop()
    display.follow([0])  # after a loss: the rounds that were shown are not shown again
    assert tell(ProgressReport(2, 4, 3, (line,))) == ["round 3/3: objective 0.5000"]
    display.stop()


def test_a_quiet_fit_asks_nobody(client: Any, sales: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.ProgressDisplay, "_request", lambda self: pytest.fail("was asked"))
    assert cluster.ProgressDisplay is progress.ProgressDisplay
    cluster_fits.fit(clone(DEEP), str(sales[0]), "bought", columns=["a"], client=client)
