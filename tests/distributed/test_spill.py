"""Partitions in files of their worker."""

from __future__ import annotations

import gc
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from distributed_tools import everything, fit_by_threads
from fingerprints import table
from radboost import RGBClassifier
from radboost.distributed.collections import SpilledPartition
from radboost.distributed.collective import WorkerLostError
from radboost.rows.partitions import LoadedPartition


def test_a_fit_of_stored_parts_is_that_of_the_rows(tmp_path: Path) -> None:
    X, y = table(1, 120, 4, missing=0.1)
    parts = [SpilledPartition(LoadedPartition(X[k::3], y[k::3]), str(tmp_path)) for k in range(3)]
    assert [part.n_rows for part in parts] == [40, 40, 40]
    expected = everything(RGBClassifier(2, calibration=None).fit(X, y))
    for model in fit_by_threads(RGBClassifier(2, calibration=None), parts, 2):
        assert everything(model) == expected
    assert len(list(tmp_path.iterdir())) == 3
    del parts
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_part_that_was_written_to_disk_by_dask_keeps_its_file(tmp_path: Path) -> None:
    part = SpilledPartition(LoadedPartition(np.eye(3), np.arange(3)), str(tmp_path))
    written = pickle.dumps(part)
    del part
    gc.collect()
    again = pickle.loads(written)
    np.testing.assert_array_equal(again.load().X, np.eye(3))
    del again
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_copy_in_another_process_leaves_the_file_alone_and_rows_without_it_are_lost(tmp_path: Path) -> None:
    part = SpilledPartition(LoadedPartition(np.eye(3), np.arange(3)), str(tmp_path))
    sent = SpilledPartition.__new__(SpilledPartition)
    sent.__setstate__({**part.__getstate__(), "_pid": os.getpid() + 1})
    del sent
    gc.collect()
    assert part.load().n_rows == 3
    Path(part.path).unlink()
    with pytest.raises(WorkerLostError, match="stored rows are gone"):
        part.load()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="--local-directory"):
        SpilledPartition(LoadedPartition(np.eye(3), np.arange(3)), str(tmp_path / "missing"))
