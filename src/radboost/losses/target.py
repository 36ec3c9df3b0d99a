"""Losses of gradient boosting: Phi(y, f) of a target and a score."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np

from radboost._typing import FloatArray
from radboost.engine import log
from radboost.losses.base import Loss
from radboost.losses.link import Link

# Beyond this exponent e^x is cut where it is multiplied by weights or targets and summed: all that stays finite.
LARGEST_EXPONENT = 640.0
# Of the weight of a class: smaller shares have no logarithm to begin at.
SMALLEST_FRACTION = float(np.finfo(np.float64).tiny)


class NamedTargetLoss(Loss):
    """A loss Phi(y, f) with a name, in NumPy. `lipschitz` is C_Phi of Lemma 3.3 (Storcheus (2021), chapter 3)."""

    # From scores to predictions, as exported forms know it; None where only `inverse_link` does.
    link: ClassVar[Link | None] = None
    # Whether there are no kinks, so that a line search can be exact at little cost.
    smooth: ClassVar[bool] = True
    # Whether the loss of c y and c f is a power of c times that of y and f.
    scales: ClassVar[bool] = False
    # Whether a row may have several targets, each with this loss.
    takes_several: ClassVar[bool] = False
    # Whether it depends on f - y alone, so that an offset of the scores is one of the targets.
    of_difference: ClassVar[bool] = False

    @abstractmethod
    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray: ...

    def start(self, rows: WeightedRows) -> float | FloatArray | None:
        """The constant of least loss, or one close to it; None where no formula has it and a search has to."""
        return None

    def start_beside(self, rows: WeightedRows, offset: FloatArray) -> float | FloatArray | None:
        """Best constant where rows begin with scores, their offsets; None as for `start`."""
        return self.start(rows.with_targets(rows.targets - offset)) if self.of_difference else None

    def for_classes(self) -> NamedTargetLoss | None:
        """The loss of more than two classes that it is a case of; None for a loss of two classes alone."""
        return None

    def for_rows(self, rows: WeightedRows) -> Self:
        """The loss with what it takes from the training rows filled in."""
        return self

    def lowest(self, targets: FloatArray) -> FloatArray:
        """The least that a row with this target can cost."""
        return np.zeros(len(targets))

    def inverse_link(self, scores: FloatArray, /) -> FloatArray:
        """Prediction for each score."""
        return scores if self.link is None else self.link.numbers(scores)

    def validate(self) -> None:
        """Refuses parameters that the loss is not defined for."""

    def check_targets(self, targets: FloatArray, column: int | None = None) -> None:
        """Refuses targets that the loss is not defined for; `column` is theirs in y, where it has several."""


class NativeTargetLoss(NamedTargetLoss):
    """A loss with a kernel in the native core, whose oracle the NumPy methods are."""

    native = True
    takes_several = True

    @property
    def parameter(self) -> float:
        """The number that the kernel takes."""
        return 0.0


def called(column: int | None) -> str:
    """Name of the targets of a column in messages; None where there is one alone."""
    return "y" if column is None else f"column {column} of y"


def for_any_sign(column: int | None) -> str:
    """The losses to advise for targets that may be negative; of several targets "huber" is none."""
    return '"squared", "absolute" or "huber"' if column is None else '"squared" or "absolute"'


# Of targets with a smaller mean size squares, and exact sums, may be zero as floating-point numbers.
SMALLEST_SIZE = 1e-120


def check_squares(rows: WeightedRows, name: str) -> None:
    """Refuses targets whose squares vanish: the model would be a constant."""
    if rows.mean(np.abs(rows.targets)) < SMALLEST_SIZE and rows.targets.any():
        raise ValueError(
            f'y goes up to {np.abs(rows.targets).max():g} in size only, and loss="{name}" needs a mean size of at '
            f'least {SMALLEST_SIZE:g}: squares of such numbers vanish. Rescale y, or use loss="absolute".'
        )


class WeightedRows:
    """Targets with their weights, and what is asked about them: the same for every order of the rows.

    `mean` is the weighted mean of one number per row; `gather` makes of an array with an entry per row that of the rows
    of all workers.
    """

    def __init__(
        self,
        targets: FloatArray,
        weights: FloatArray | None,
        mean: Callable[[FloatArray], float],
        gather: Callable[[FloatArray], FloatArray] = lambda values: values,
    ) -> None:
        self.targets = targets
        self.mean = mean
        self._weights = weights
        self._gather = gather

    def with_targets(self, targets: FloatArray) -> WeightedRows:
        """Rows with the same weights and other targets."""
        return WeightedRows(targets, self._weights, self.mean, self._gather)

    def column(self, k: int) -> WeightedRows:
        """Rows with one of several targets."""
        return self.with_targets(np.ascontiguousarray(self.targets[:, k]))

    def log_mean_exp(self, exponents: FloatArray, counted: FloatArray | None = None) -> float:
        """log of the mean of e^x over the rows, rows that are not `counted` adding 0; x may be of any size.

        The mean is taken of e^(x - largest x), so that neither is everything infinite nor everything zero.
        """
        if counted is not None:
            exponents = np.where(counted, exponents, -np.inf)
        largest = float(self._gather(exponents).max())
        return largest + log(self.mean(np.exp(exponents - largest)))

    def constant(self) -> float | None:
        """Value of all targets, equal to the last bit; None where they differ."""
        ends = self._gather(np.array([self.targets.min(), self.targets.max()]) if len(self.targets) else self.targets)
        return float(ends[0]) if ends.min() == ends.max() else None

    def largest(self) -> float:
        """The largest target of all."""
        return float(self._gather(self.targets).max())

    def quantile(self, level: float, of: Callable[[FloatArray], FloatArray] = lambda targets: targets) -> float:
        """The smallest target with at least this share of the weight up to it; or that of a function of them."""
        targets = of(self._gather(self.targets))
        weights = np.ones(len(targets)) if self._weights is None else self._gather(self._weights)
        order = np.lexsort((weights, targets))
        cumulative = np.cumsum(weights[order])
        index = int(np.searchsorted(cumulative, level * cumulative[-1] * (1.0 - 1e-12)))
        return float(targets[order[min(index, len(order) - 1)]])
