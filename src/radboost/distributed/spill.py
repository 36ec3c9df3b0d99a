"""Spilling of partitions to files of their worker, so that their values leave the memory of the cluster."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from radboost.distributed.collective import WorkerLostError
from radboost.rows.partitions import LoadedPartition


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
    """Not in a process that was forked, or was sent a copy."""
    if os.getpid() == pid:
        with suppress(OSError):
            Path(path).unlink()
