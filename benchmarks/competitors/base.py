"""Protocol of a library in one configuration, as the tasks use it."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.settings import Settings


def is_installed(package: str) -> bool:
    """Return whether pip knows this package."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def takes_part(name: str, package: str) -> bool:
    """Return whether the package of a competitor is installed; print a line if it is not."""
    if not is_installed(package):
        print(f"{name} is left out: {package} is not installed (radboost[bench] has it)", file=sys.stderr)
    return is_installed(package)


class Competitor(ABC):
    """A library in one configuration. Libraries are imported when a fit begins, so that each may be missing."""

    name: ClassVar[str]
    package: ClassVar[str]  # as pip calls it
    ours: ClassVar[bool] = False
    slow: ClassVar[bool] = False  # gets few rounds and one repeat, so that the table ends the same day

    @abstractmethod
    def estimator(self, settings: Settings) -> Any:
        """Make an unfitted scikit-learn estimator."""

    @abstractmethod
    def trees(self, model: Any) -> int:
        """Count the trees of the model."""

    def fit(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        """Return a fitted model; timed whole, binning included."""
        return self.estimator(settings).fit(X, y)

    def scores(self, model: Any, X: NDArray[Any], settings: Settings) -> NDArray[Any]:
        """Return real-valued scores by the library's fastest public way.

        Two classes: shape (n_rows,), positive for class 1. More: shape (n_rows, n_classes).
        """
        return np.asarray(model.decision_function(X))

    def rounds(self, model: Any) -> int:
        """Count the rounds of the fit, which may stop early or revisit a tree."""
        return self.trees(model)

    def construct(self, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> Any:
        """Bin the data without a fit, where the library can."""
        raise NotImplementedError(f"{self.name} has no binned data of its own")

    def error(self, model: Any, X: NDArray[Any], y: NDArray[np.int64], settings: Settings) -> float:
        """Compute the fraction of wrong predictions."""
        scores = self.scores(model, X, settings)
        labels = scores.argmax(axis=1) if scores.ndim == 2 else scores > 0
        return float(np.mean(labels != y))
