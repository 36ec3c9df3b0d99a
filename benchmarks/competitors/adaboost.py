"""scikit-learn's AdaBoost over its exact trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


class AdaBoost(Competitor):
    """No bins and one thread: it has neither."""

    name = "AdaBoost"
    slow = True

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=settings.depth),
            n_estimators=settings.rounds,
            random_state=settings.seed,
        ).fit(X, y)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        result: NDArray[Any] = model.decision_function(X)
        return result

    def trees(self, model: Any) -> int:
        return len(model.estimators_)
