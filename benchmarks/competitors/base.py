"""What a competitor has to offer."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.settings import Settings


class Competitor(ABC):
    """One library in one configuration. `fit` is timed whole, binning included."""

    name: ClassVar[str]
    slow: ClassVar[bool] = False  # gets few rounds and one repeat, so that the table ends the same day
    ours: ClassVar[bool] = False

    @abstractmethod
    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        """Return a fitted model."""

    @abstractmethod
    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        """Real-valued scores by the library's fastest public way.

        Two classes: one number a row, positive for class 1. More: one number a row and class.
        """

    @abstractmethod
    def trees(self, model: Any) -> int:
        """How many trees the model holds."""

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        """The library's binned form of the data, for those that can make it without a fit."""
        raise NotImplementedError(f"{self.name} has no binned data of its own")

    def rounds(self, model: Any) -> int:
        """How many rounds the fit made: it may stop early, or revisit a tree."""
        return self.trees(model)

    def error(self, model: Any, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> float:
        """The share of wrong predictions."""
        scores = self.scores(model, X, settings)
        labels = scores.argmax(axis=1) if scores.ndim == 2 else scores > 0
        return float(np.mean(labels != y))
