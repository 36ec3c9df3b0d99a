"""Fits of Parquet files on a Dask cluster: the model, what the client shows of it, and what each worker held."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import radboost.distributed as cluster_fits
from distributed_tools import everything
from fingerprints import fractions, table
from radboost import DeepBoostClassifier

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore:The model", "ignore:Port")

DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, max_depth=3, calibration=None)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers as threads of this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp://"
        ) as local,
        distributed.Client(local) as client,
    ):
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
    folder, frame = sales
    with pytest.raises(ValueError, match="columns are for X that names Parquet files"):
        cluster_fits.fit(clone(DEEP), [], frame["bought"], columns=["a"], client=client)
    with pytest.raises(TypeError, match="y must be the name of a column"):
        cluster_fits.fit(clone(DEEP), folder, frame["bought"], client=client)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        cluster_fits.fit(clone(DEEP), folder / "none.parquet", "bought", client=client)
