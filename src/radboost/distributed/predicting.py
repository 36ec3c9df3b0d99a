"""Predictions for Dask collections, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.distributed.collections import FORMS, form_of, need_dask, pieces_of
from radboost.distributed.parquet import ParquetPartition, are_files, parquet_parts
from radboost.rows.partitions import LoadedPartition


def predict(model: Any, X: Any) -> Any:
    """Predict a label or a number for each row, as a Dask array; for a list of delayed parts, as a list.

    Nothing is computed before it is asked for. Each partition is predicted on its worker, with one thread. X may name
    Parquet files too, as in `fit`: the model takes its columns by name, and others may be there.
    """
    return _by_partition(model, X, "predict")


def predict_proba(model: Any, X: Any) -> Any:
    """Predict probabilities, with a column for each of `model.classes_`; otherwise as `predict`."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"{type(model).__name__} has no probabilities: predict_proba is for classifiers.")
    return _by_partition(model, X, "predict_proba")


def _by_partition(model: Any, X: Any, method: str) -> Any:
    need_dask()
    import dask.array as da
    from dask import delayed

    model._require_fitted()
    single = copy(model)
    single.n_jobs = 1  # Dask runs one partition on each thread
    shape, dtype = _output_of(single, method)
    sent = delayed(single, pure=False)
    predict_part = delayed(_predict_part, pure=False)
    heights: Sequence[float]
    if are_files(X):
        names = getattr(model, "feature_names_in_", None)
        pieces = parquet_parts(X, {}, None if names is None else names.tolist())
        heights = [part.n_rows for part in pieces]
    elif form_of(X) == "list":
        return [predict_part(sent, piece, method, shape, dtype) for piece in X]
    elif form_of(X) is not None:
        pieces = pieces_of("X", X)
        heights = X.chunks[0] if form_of(X) == "array" else [np.nan] * len(pieces)
    else:
        raise TypeError(f"X must be {FORMS}; got {type(X).__name__}. For rows in memory call model.{method}(X).")
    blocks = [
        da.from_delayed(predict_part(sent, piece, method, shape, dtype), shape=(height, *shape), dtype=dtype)
        for piece, height in zip(pieces, heights, strict=True)
    ]
    return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _output_of(model: Any, method: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of the output for one row."""
    if method == "predict_proba":
        return (len(model.classes_),), np.dtype(np.float64)
    if hasattr(model, "classes_"):
        return (), model.classes_.dtype
    return (() if model.ensemble_.n_outputs == 1 else (model.ensemble_.n_outputs,)), np.dtype(np.float64)


def _predict_part(model: Any, X: Any, method: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if isinstance(X, ParquetPartition):
        X = X.load().X
    if LoadedPartition(X).n_rows == 0:
        return np.zeros((0, *shape), dtype=dtype)
    output: npt.NDArray[Any] = getattr(model, method)(X)
    return output
