"""RadBoost: the full search of the paper with either split criterion, and the default; each also with whole steps."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings
from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import bin_rows, with_tree_options


class RadBoostDefault(Competitor):
    """The estimator at its defaults for votes, at the depth and rounds of the task: rounds are timed alone."""

    name = "RadBoost default"
    ours = True
    options: ClassVar[dict[str, Any]] = {}
    """Parameters beyond, or instead of, those that all competitors share."""

    def estimator(self, **parameters: Any) -> DeepBoostClassifier:
        """The estimator with these parameters."""
        return DeepBoostClassifier(**parameters)

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        same = {
            "n_rounds": settings.rounds,
            "max_depth": settings.depth,
            "n_jobs": settings.threads,
            "random_state": settings.seed,
            "calibration": None,
            "tree_options": TreeOptions(max_bins=settings.bins, leaves="votes"),
        }
        return self.estimator(**same | self.options).fit(X, y)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        order = np.argsort(y, kind="stable")  # the engine wants its rows sorted by class
        return bin_rows(X, None, order, settings.bins, settings.threads)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        result: NDArray[Any] = model.decision_function(X)
        return result

    def trees(self, model: Any) -> int:
        return len(model.ensemble_.hypotheses)

    def rounds(self, model: Any) -> int:
        return int(model.n_iter_)

    def staged_errors(self, model: Any, X: NDArray[Any], y: NDArray[np.int64]) -> Iterator[float]:
        """The share of wrong predictions after each round."""
        for labels in model.staged_predict(X):
            yield float(np.mean(labels != y))


class RadBoostEdge(RadBoostDefault):
    """Every row, feature and threshold in every round; splits by the edge, as in the paper."""

    name = "RadBoost edge"
    criterion = "edge"

    def estimator(self, **parameters: Any) -> DeepBoostClassifier:
        fixed = {"loss": "logistic", "objective": "compsum", "split_criterion": self.criterion}
        return DeepBoostClassifier.paper(**with_tree_options(fixed | parameters))


class RadBoostGini(RadBoostEdge):
    """The same search with splits by weighted impurity."""

    name = "RadBoost gini"
    criterion = "gini"


class DefaultSearching(RadBoostDefault):
    """The default with a search for every step."""

    name = "RadBoost default, line search"
    options: ClassVar[dict[str, Any]] = {"step": "line_search"}


_WHOLE: dict[str, Any] = {"learning_rate": 1.0, "step": "line_search", "loss": "exponential", "objective": "sum"}


class EdgeWholeSteps(RadBoostEdge):
    """Whole steps, by line search."""

    options = _WHOLE


class GiniWholeSteps(RadBoostGini):
    """The same."""

    options = _WHOLE


class DefaultWholeSteps(RadBoostDefault):
    """The same."""

    options = _WHOLE


class DeeperGiniWholeSteps(RadBoostGini):
    """The same with deep trees: one tree serves all classes, so it may need more leaves than one of many."""

    name = "RadBoost gini, depth 12"
    options = _WHOLE | {"max_depth": 12}


class DeeperDefaultWholeSteps(RadBoostDefault):
    """The same."""

    name = "RadBoost default, depth 12"
    options = _WHOLE | {"max_depth": 12}


WHOLE_STEPS = (
    EdgeWholeSteps(),
    GiniWholeSteps(),
    DefaultWholeSteps(),
    DeeperGiniWholeSteps(),
    DeeperDefaultWholeSteps(),
)
