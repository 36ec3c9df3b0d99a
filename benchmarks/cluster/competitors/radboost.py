"""RadBoost's full search: threads of one process, ranks of MPI, workers of Dask. All end with the same model."""

from typing import Any

from benchmarks.cluster.competitors.base import ClusterCompetitor, Stage
from benchmarks.cluster.fitting import Outcome, Request, fit_locally, fit_on_dask
from benchmarks.cluster.ranks import fit_on_ranks
from benchmarks.settings import Settings


class RadBoostLocal(ClusterCompetitor):
    """One process with as many threads as there are workers: what the others are measured by."""

    name = "RadBoost, one process"
    package = "radboost"
    ours = True

    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        model, outcome = fit_locally(*stage.train, settings.rounds, settings.depth, stage.n_workers)
        return outcome, model


class RadBoostMPI(ClusterCompetitor):
    """Ranks of one thread each."""

    name = "RadBoost, MPI"
    package = "radboost"
    ours = True

    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        request = Request(stage.folder, (settings.rounds,), settings.depth)
        return fit_on_ranks(request, stage.n_workers)[0], None


class RadBoostDask(ClusterCompetitor):
    """Workers of one thread each."""

    name = "RadBoost, Dask"
    package = "radboost"
    ours = True

    def fit(self, stage: Stage, settings: Settings) -> tuple[Outcome, Any]:
        request = Request(stage.folder, (settings.rounds,), settings.depth)
        return fit_on_dask(stage.client, stage.X, stage.y, request)[0], None
