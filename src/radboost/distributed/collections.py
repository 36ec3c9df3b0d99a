"""Partitions of Dask's arrays, data frames and lists of delayed parts, which are stored in files of their workers."""

from __future__ import annotations

import math
import os
import pickle
import tempfile
import weakref
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing as rows_of

from radboost.distributed.arguments import beside
from radboost.distributed.collective import WorkerLostError
from radboost.rows.partitions import SUFFIXES, UNLABELLED, VALIDATION, LoadedPartition

FORMS = "a Dask array, a Dask data frame, or a list of delayed parts"


class SpilledPartition:
    """A partition in a file, which is read for each pass over the rows and deleted with the last who has it.

    It is good in the process that wrote it. Where the file is gone, or another process was given it, the rows count as
    lost with their worker.
    """

    def __init__(self, part: LoadedPartition, folder: str) -> None:
        self.n_rows, self.role = part.n_rows, part.role
        try:
            handle, self.path = tempfile.mkstemp(prefix="radboost-", suffix=".part", dir=folder)
            with os.fdopen(handle, "wb") as file:
                pickle.dump(part, file, protocol=pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise OSError(
                f"A partition of {part.n_rows} rows could not be stored in {folder}, the worker's local directory "
                f"({error}). Start the workers with --local-directory of a disk with more room, or pass fit partitions "
                "that are in memory, as futures."
            ) from error
        self._pid = os.getpid()
        self._remove = weakref.finalize(self, _unlink, self.path, self._pid)

    def load(self) -> LoadedPartition:
        try:
            with Path(self.path).open("rb") as file:
                part: LoadedPartition = pickle.load(file)
        except OSError as error:
            raise WorkerLostError(f"stored rows are gone ({error})") from None
        return part

    def __getstate__(self) -> dict[str, Any]:
        # Dask may write small things to disk and read them again: the file stays for who comes back.
        self._remove.detach()
        return {name: value for name, value in self.__dict__.items() if name != "_remove"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._remove = weakref.finalize(self, _unlink, self.path, self._pid)


def _unlink(path: str, pid: int) -> None:
    """Delete a file, unless this process was forked or was sent a copy."""
    if os.getpid() == pid:
        with suppress(OSError):
            Path(path).unlink()


def need_dask() -> None:
    """Raise an error that names the extra where Dask is missing."""
    try:
        import dask.array  # noqa: F401

        import distributed  # noqa: F401
    except ImportError as error:
        advice = "install the extra, pip install 'radboost[dask]'."
        raise ImportError(f"radboost.distributed needs Dask: {advice}") from error


def delayed_parts(given: LoadedPartition) -> list[Any]:
    """Partitions of X and of the columns beside it as delayed `Partition`s.

    Partitions that Dask computes are spilled to files of their workers, so that it releases each before all are
    computed. Futures are partitions that the user holds in memory, and stay there.
    """
    from dask import delayed

    from distributed import Future

    X, suffix = given.X, SUFFIXES[given.role]
    columns = {"X": pieces_of(f"X{suffix}", X)}
    for name, column in beside(given).items():
        columns[name] = pieces_of(name + suffix, _aligned(name, suffix, column, X))
        if len(columns[name]) != len(columns["X"]):
            raise ValueError(
                f"X{suffix} has {len(columns['X'])} partitions and {name}{suffix} has {len(columns[name])}; they must "
                "be divided alike. Divide both in the same way, for example with repartition or rechunk."
            )
    in_memory = all(isinstance(piece, Future) for piece in columns["X"])
    make = delayed(_make_part if in_memory else _store_part, pure=False)
    return [
        make(role=given.role, **{name: pieces[part] for name, pieces in columns.items()})
        for part in range(len(columns["X"]))
    ]


def plain_parts(given: LoadedPartition, n_parts: int) -> list[LoadedPartition]:
    """Rows in the client's memory, divided into `n_parts` partitions that are sent to the workers."""
    columns = {"X": given.X, **beside(given)}
    n_rows = _make_part(role=given.role, **columns).n_rows
    indices = np.array_split(np.arange(n_rows), max(1, min(n_parts, n_rows)))
    return [
        LoadedPartition(
            **{name: one if isinstance(one, Real) else rows_of(one, own) for name, one in columns.items()},
            role=given.role,
        )
        for own in indices
    ]


def form_of(given: Any) -> str | None:
    """Form of a collection: "array", "frame" or "list" (of delayed parts or futures); None of anything else."""
    module = type(given).__module__
    if module.startswith("dask.array"):
        return "array"
    if module.startswith(("dask.dataframe", "dask_expr")):
        return "frame"
    pieces = given if isinstance(given, list | tuple) else []
    return "list" if pieces and all(hasattr(piece, "key") for piece in pieces) else None


def _make_part(X: Any, role: str, **beside: Any) -> LoadedPartition:
    n_rows, suffix = LoadedPartition(X).n_rows, SUFFIXES[role]
    for name, given in beside.items():
        if isinstance(given, Real):
            continue
        height = LoadedPartition(given).n_rows
        if height != n_rows:
            raise ValueError(
                f"A partition of X{suffix} has {n_rows} rows, and the one of {name}{suffix} beside it has {height}."
            )
    return LoadedPartition(X, **beside, role=role)


def _store_part(X: Any, role: str, **beside: Any) -> SpilledPartition:
    """Called in a task of Dask's: stores a partition in the local directory of its worker."""
    from distributed import get_worker

    return SpilledPartition(_make_part(X, role, **beside), get_worker().local_directory)


def pieces_of(name: str, given: Any) -> list[Any]:
    """Delayed parts of a collection, whole rows each; `name` is the argument in errors."""
    form = form_of(given)
    if form == "array":
        return list((given.rechunk({1: -1}) if given.ndim == 2 else given).to_delayed().ravel())
    if form is not None:
        return list(given.to_delayed() if form == "frame" else given)
    advice = "For rows in memory call fit of the estimator itself, or"
    if name.endswith((SUFFIXES[VALIDATION], SUFFIXES[UNLABELLED])):
        advice = "Its rows may also be in memory, all that belongs to them too: then pass plain arrays or frames, or"
    forms = f"{FORMS}, or name Parquet files" if name == "X" else FORMS
    raise TypeError(
        f"{name} must be {forms}; got {type(given).__name__}. {advice} "
        "make a Dask collection of them: dask.array.from_array(X, chunks=...)."
    )


def _aligned(name: str, suffix: str, given: Any, X: Any) -> Any:
    """Array rechunked like X, where the sizes of both are known."""
    if form_of(given) != "array" or form_of(X) != "array" or math.isnan(X.shape[0]) or math.isnan(given.shape[0]):
        return given
    if given.shape[0] != X.shape[0]:
        raise ValueError(f"X{suffix} has {X.shape[0]} rows, and {name}{suffix} has {given.shape[0]}.")
    return given.rechunk({0: X.chunks[0]})
