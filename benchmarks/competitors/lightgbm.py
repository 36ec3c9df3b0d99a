"""LightGBM, with float and with quantized gradients, and on Dask."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.competitors.base import Competitor
from benchmarks.settings import Settings


def classifier(seed: int, **parameters: Any) -> Any:
    """Make the classifier at its defaults but for these parameters."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**{"random_state": seed, "n_jobs": 1, "verbose": -1} | parameters)


def regressor() -> Any:
    """Make the regressor at its defaults."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_jobs=1, verbose=-1)


class LightGBM(Competitor):
    """Trees of as many leaves as the depth allows."""

    name = "LightGBM"
    package = "lightgbm"
    options: ClassVar[dict[str, Any]] = {}

    def estimator(self, settings: Settings) -> Any:
        return classifier(settings.seed, n_jobs=settings.threads, **self._parameters(settings))

    def _parameters(self, settings: Settings) -> dict[str, Any]:
        return {
            "n_estimators": settings.rounds,
            "max_depth": -1 if settings.leaf_wise else settings.depth,
            "num_leaves": settings.leaves,
            "max_bin": settings.bins,
            "learning_rate": 0.1,
            **self.options,
        }

    def fit_on_dask(self, client: Any, X: Any, y: Any, settings: Settings) -> Any:
        """Fit Dask arrays that lie on the workers."""
        from lightgbm.dask import DaskLGBMClassifier

        estimator = DaskLGBMClassifier(
            client=client,
            tree_learner="data",
            random_state=settings.seed,
            verbosity=-1,
            **self._parameters(settings),
        )
        return estimator.fit(X, y)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        import lightgbm

        parameters = {"max_bin": settings.bins, "num_threads": settings.threads, "verbosity": -1}
        return lightgbm.Dataset(X, y, params=parameters | self.options).construct()

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        return np.asarray(model.booster_.predict(X, raw_score=True, num_threads=settings.threads))

    def trees(self, model: Any) -> int:
        return int(model.booster_.num_trees())

    def rounds(self, model: Any) -> int:
        return int(model.booster_.current_iteration())


class LightGBMQuantized(LightGBM):
    """Gradients rounded to a few bits: its fastest training."""

    name = "LightGBM quantized"
    options: ClassVar[dict[str, Any]] = {"use_quantized_grad": True}
