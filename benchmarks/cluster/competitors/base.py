"""What a competitor on several workers has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.cluster.fitting import Outcome, arrays_on_workers, stored
from benchmarks.cluster.workers import local_cluster
from benchmarks.data import Data
from benchmarks.settings import Settings


@dataclass(frozen=True)
class Stage:
    """The same rows in three places: in this process, in a folder, and on the workers of a Dask cluster."""

    train: Data
    folder: str
    client: Any
    X: Any
    y: Any
    n_workers: int


@contextmanager
def stage(train: Data, n_workers: int) -> Iterator[Stage]:
    """A cluster of processes of one thread each, on this machine, that has the rows."""
    with stored(train) as folder, local_cluster(n_workers) as client:
        X, y = arrays_on_workers(client, folder, n_workers)
        yield Stage(train, folder, client, X, y, n_workers)


class ClusterCompetitor(ABC):
    """One library on several workers, with as many threads together as there are workers."""

    name: ClassVar[str]
    package: ClassVar[str]
    ours: ClassVar[bool] = False

    @abstractmethod
    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        """The outcome of a fit, and a model with `predict` of arrays where there is one in this process."""

    def error(self, model: Any, test: Data) -> float | None:
        """The share of wrong predictions."""
        X, y = test
        return None if model is None else float(np.mean(np.asarray(model.predict(X)) != y))
