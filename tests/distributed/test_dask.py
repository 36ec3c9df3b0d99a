"""Fits on a Dask cluster of processes: the model and the predictions are those of one machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import radboost.distributed as cluster_fits
from distributed_tools import After, everything, lazily, local_cluster, words
from fingerprints import table
from radboost import Checkpoint, DeepBoostClassifier
from radboost.distributed import cluster

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore:The model")

DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, max_depth=3, calibration=None)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_cluster(2) as client:
        yield client


def spread(client: Any, given: Any, n_parts: int) -> list[Any]:
    """Parts of rows as futures."""
    return client.scatter(np.array_split(given, n_parts), hash=False)


def test_arrays_and_predictions(client: Any) -> None:
    X, y = table(2, 150, 4)
    rows, labels = da.from_array(X, chunks=(40, 2)), da.from_array(y, chunks=60)
    expected = clone(DEEP).fit(X, y)
    model = cluster_fits.fit(clone(DEEP), rows, labels)
    assert everything(model) == everything(expected)
    found = cluster_fits.predict_proba(model, rows)
    assert found.shape == (150, 2)
    np.testing.assert_array_equal(found.compute(), expected.predict_proba(X))
    np.testing.assert_array_equal(cluster_fits.predict(model, rows).compute(), expected.predict(X))


def stored_files(dask_worker: Any) -> int:
    return len(list(Path(dask_worker.local_directory).glob("radboost-*.part")))


def remove_stored(dask_worker: Any) -> None:
    for path in Path(dask_worker.local_directory).glob("radboost-*.part"):
        path.unlink()


def test_partitions_are_stored_until_the_fit_has_ended(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are computed again where their files are gone."""
    X, y = table(2, 150, 4)
    place, seen = cluster._assign, []

    def placed(*given: Any) -> Any:
        found = place(*given)
        seen.append(sum(client.run(stored_files).values()))
        if len(seen) == 1:
            client.run(remove_stored)
        return found

    monkeypatch.setattr(cluster, "_assign", placed)
    with pytest.warns(RuntimeWarning, match="stored rows are gone.* goes on after round 0"):
        model = cluster_fits.fit(clone(DEEP), *lazily(X, y, n_parts=5), client=client)
    order = np.concatenate([np.arange(150)[part::5] for part in range(5)])
    assert everything(model) == everything(clone(DEEP).fit(X[order], y[order]))
    assert seen == [5, 5]
    end = time.monotonic() + 60.0
    while any(client.run(stored_files).values()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_else_fit_takes(client: Any, tmp_path: Path) -> None:
    """Rows to watch in memory and on the cluster, offsets, a metric from here, callbacks and a checkpoint."""
    X, y = table(1, 160, 5, 3, missing=0.05)
    offset = 0.1 * X[:, :3] * (y[:, None] == np.arange(3))
    offset = np.nan_to_num(offset)
    path = tmp_path / "fit.checkpoint"

    def own_metric(model: Any, rows: Any, labels: Any) -> float:  # cannot be imported
        return float(np.mean(model.predict(rows) == labels))

    watched = {"X_val": X[::3], "y_val": y[::3], "offset_val": offset[::3]}
    expected = clone(DEEP).fit(X, y, offset=offset, **watched, eval_metric=own_metric)
    rows, labels, offsets = (spread(client, part, 5) for part in (X, y, offset))
    more = {"offset": offsets, "eval_metric": own_metric, "client": client}
    seen: list[Any] = []
    heard = SimpleNamespace(on_round_end=lambda context: seen.append((dict(context.history), context.fitted_estimator)))
    for given in (watched, {name: spread(client, part, 2) for name, part in watched.items()}):
        model = cluster_fits.fit(clone(DEEP), rows, labels, **given, **more, callbacks=[heard, Checkpoint(path)])
        assert everything(model) == everything(expected)
        assert model.history_ == expected.history_
    assert [history["validation_loss"][-1] for history, _ in seen] == 2 * expected.history_["validation_loss"]
    assert everything(seen[2][1])[0] == everything(expected)[0]
    longer = clone(DEEP).set_params(n_rounds=5)
    more |= {**watched, "resume_from": path}
    expected = clone(longer).fit(X, y, offset=offset, **watched, eval_metric=own_metric)
    assert everything(cluster_fits.fit(clone(longer), rows, labels, **more)) == everything(expected)
    given = clone(longer)
    failing = After(3, (tmp_path / "no folder" / "file").touch)
    with pytest.raises(OSError, match="no folder"):  # which is no loss of a worker
        cluster_fits.fit(given, rows, labels, **more, callbacks=[failing])
    assert not hasattr(given, "ensemble_")
    with pytest.raises(TypeError, match=r"y_val must be a Dask array.*pass plain arrays or frames"):
        cluster_fits.fit(given, rows, labels, X_val=da.from_array(X), y_val=y, client=client)


def test_an_error_of_one_worker_is_the_error_of_the_fit(client: Any) -> None:
    X, y = table(2, 90, 4)
    given, weights = clone(DEEP), np.where(np.arange(90) == 80, -1.0, 1.0)
    rows, labels, weights = (spread(client, part, 4) for part in (X, y, weights))
    with pytest.raises(ValueError, match="holds negative weights"):
        cluster_fits.fit(given, rows, labels, sample_weight=weights, client=client)
    assert not hasattr(given, "ensemble_")


def test_warnings_come_to_the_client(client: Any) -> None:
    X, y = table(2, 60, 4)
    rows, labels, weights = (spread(client, part, 3) for part in (X, y, np.full(60, 0.01)))
    with pytest.warns(UserWarning, match="sum to 0.6 for 60 rows"):
        cluster_fits.fit(clone(DEEP), rows, labels, sample_weight=weights, client=client)


def test_what_is_no_collection_is_refused(client: Any) -> None:
    X, y = table(2, 60, 4)
    tall, low = [dask.delayed(X[:30])], [dask.delayed(y[:20])]
    for rows, labels, to, kind, message in (
        (X, y, client, TypeError, "X must be a Dask array, a Dask data frame, or a list"),
        (spread(client, X, 2), spread(client, y, 3), client, ValueError, "X has 2 partitions and y has 3"),
        (da.from_array(X), da.from_array(y[1:]), client, ValueError, "X has 60 rows, and y has 59"),
        (tall, low, client, ValueError, "A partition of X has 30 rows, and the one of y beside it has 20"),
        (X, y, "tcp://here", TypeError, r"client must be a distributed\.Client or None"),
    ):
        with pytest.raises(kind, match=message):
            cluster_fits.fit(clone(DEEP), rows, labels, client=to)
    with pytest.raises(TypeError, match=r"For rows in memory call model\.predict"):
        cluster_fits.predict(DeepBoostClassifier(2, complexity_penalty=0.1).fit(X, y), X)


@pytest.mark.slow
def test_data_frames(client: Any) -> None:
    dd = pytest.importorskip("dask.dataframe")
    X, y = words(200)
    y = pd.Series(y.astype(str))
    estimator = DeepBoostClassifier(5, complexity_penalty=0.01, categorical_features=["a", "d"])
    expected = clone(estimator).fit(X, y)
    rows, labels = dd.from_pandas(X, npartitions=5), dd.from_pandas(y, npartitions=5)
    model = cluster_fits.fit(clone(estimator), rows, labels, client=client)
    # Dask makes strings of pyarrow of Python's, in which the labels are the same.
    assert everything(model)[0] == everything(expected)[0]
    assert model.categories_ == expected.categories_
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_array_equal(cluster_fits.predict_proba(model, rows).compute(), expected.predict_proba(X))
    np.testing.assert_array_equal(cluster_fits.predict(model, rows).compute(), expected.predict(X))
