"""RadBoost: the full search of the paper with either split criterion, and the default."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings
from radboost import DeepBoostClassifier, TreeOptions


class RadBoostDefault(Competitor):
    """The estimator as it comes, at the depth and rounds of the task."""

    name = "RadBoost default"
    ours = True

    def estimator(self, **same: Any) -> DeepBoostClassifier:
        """The estimator with the parameters that all competitors share."""
        return DeepBoostClassifier(**same)

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return self.estimator(
            n_rounds=settings.rounds,
            max_depth=settings.depth,
            n_jobs=settings.threads,
            random_state=settings.seed,
            tree_options=TreeOptions(max_bins=settings.bins),
        ).fit(X, y)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        result: NDArray[Any] = model.decision_function(X)
        return result

    def trees(self, model: Any) -> int:
        return len(model.ensemble_.hypotheses)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)


class RadBoostEdge(RadBoostDefault):
    """Every row, feature and threshold in every round; splits by the edge, as in the paper."""

    name = "RadBoost edge"
    criterion = "edge"

    def estimator(self, **same: Any) -> DeepBoostClassifier:
        return DeepBoostClassifier.paper(loss="logistic", split_criterion=self.criterion, **same)


class RadBoostGini(RadBoostEdge):
    """The same search with splits by weighted impurity."""

    name = "RadBoost gini"
    criterion = "gini"
