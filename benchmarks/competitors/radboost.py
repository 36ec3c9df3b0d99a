"""RadBoost: the full search of the paper with either split criterion, and the default."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings
from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import bin_rows


class RadBoostDefault(Competitor):
    """The estimator at its defaults for votes, at the depth and rounds of the task."""

    name = "RadBoost default"
    package = "radboost"
    ours = True

    def estimator(self, settings: Settings) -> Any:
        options = TreeOptions(max_bins=settings.bins, leaves="votes")
        return DeepBoostClassifier(**_parameters(settings), tree_options=options)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        order = np.argsort(y, kind="stable").astype(np.uint32)  # the engine wants its rows sorted by class
        return bin_rows(X, None, order, settings.bins, settings.threads)

    def trees(self, model: Any) -> int:
        return len(model.ensemble_.hypotheses)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)


class RadBoostEdge(RadBoostDefault):
    """Every row, column and threshold in every round; splits by the edge, as in the paper."""

    name = "RadBoost edge"
    criterion = "edge"

    def estimator(self, settings: Settings) -> Any:
        options = TreeOptions(max_bins=settings.bins, leaves="votes", split_criterion=self.criterion)
        parameters = _parameters(settings) | {"loss": "logistic", "objective": "compsum", "tree_options": options}
        return DeepBoostClassifier.paper(**parameters)

    def fit_on_dask(self, client: Any, X: Any, y: Any, settings: Settings) -> Any:
        """Fit Dask arrays that lie on the workers."""
        from radboost import distributed

        return distributed.fit(self.estimator(settings), X, y, client=client)


class RadBoostGini(RadBoostEdge):
    """Every row, column and threshold in every round; splits by weighted impurity."""

    name = "RadBoost gini"
    criterion = "gini"


def _parameters(settings: Settings) -> dict[str, Any]:
    return {
        "n_rounds": settings.rounds,
        "max_depth": settings.depth,
        "n_jobs": settings.threads,
        "random_state": settings.seed,
        "calibration": None,
    }
