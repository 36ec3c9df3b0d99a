"""Protocol of a solver of sparse linear models."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp


@dataclass(frozen=True)
class SparseTask:
    """Mean logistic loss plus alpha times a norm of the weights, without an intercept: what all solvers have."""

    X: Any
    y: NDArray[np.int64]
    alpha: float
    penalty: str

    @property
    def n_classes(self) -> int:
        """Count the classes of the labels 0, 1, ...."""
        return int(self.y.max()) + 1

    def objective(self, weights: NDArray[np.float64]) -> float:
        """Compute the objective at weights (n_classes, n_columns), or (1, n_columns): class 1 minus class 0."""
        scores = self.X @ weights.T
        size = np.sqrt((weights**2).sum(axis=0)).sum() if self.penalty == "l1/l2" else np.abs(weights).sum()
        if len(weights) == 1:
            losses = np.logaddexp(0.0, -(2 * self.y - 1) * scores[:, 0])
        else:
            losses = logsumexp(scores, axis=1) - scores[np.arange(len(self.y)), self.y]
        return float(losses.mean() + self.alpha * size)


class Solver(ABC):
    """One library. `solve` is timed whole, from the rows as everybody gets them: C order, or compressed by rows."""

    name: ClassVar[str]
    package: ClassVar[str]  # as pip calls it
    ours: ClassVar[bool] = False
    tolerances: ClassVar[tuple[float, ...]]
    """From coarse to fine; the first that is fine enough counts."""

    @abstractmethod
    def takes(self, task: SparseTask) -> bool:
        """Say whether the library solves this problem."""

    @abstractmethod
    def solve(self, task: SparseTask, tolerance: float) -> NDArray[np.float64]:
        """Return the weights, shape (n_classes, n_columns); (1, n_columns) for two classes."""
