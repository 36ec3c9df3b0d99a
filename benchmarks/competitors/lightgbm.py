"""LightGBM, with float and with quantised gradients."""

from typing import Any, ClassVar

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


class LightGBM(Competitor):
    """Its scikit-learn interface; leaves as many as the depth allows."""

    name = "LightGBM"
    options: ClassVar[dict[str, Any]] = {}

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        return lightgbm.LGBMClassifier(
            n_estimators=settings.rounds,
            max_depth=settings.depth,
            num_leaves=settings.leaves,
            max_bin=settings.bins,
            learning_rate=0.1,
            n_jobs=settings.threads,
            random_state=settings.seed,
            verbosity=-1,
            **self.options,
        ).fit(X, y)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        parameters = {"max_bin": settings.bins, "num_threads": settings.threads, "verbosity": -1}
        return lightgbm.Dataset(X, y, params=parameters | self.options).construct()

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        result: NDArray[Any] = model.booster_.predict(X, raw_score=True, num_threads=settings.threads)
        return result

    def trees(self, model: Any) -> int:
        return int(model.booster_.num_trees())

    def rounds(self, model: Any) -> int:
        return int(model.booster_.current_iteration())


class LightGBMQuantised(LightGBM):
    """Gradients rounded to a few bits: its fastest training."""

    name = "LightGBM quantised"
    options: ClassVar[dict[str, Any]] = {"use_quantized_grad": True}
