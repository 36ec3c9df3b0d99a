"""What boosting asks of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from radboost._typing import FloatArray


@runtime_checkable
class MarginLoss(Protocol):
    """A convex, increasing, differentiable Phi; a row with margin y f costs Phi(1 - y f).

    With more than two classes the objective says what Phi is taken of. Any object with these two methods will do. Both
    take and return float64 arrays of one shape.
    """

    def value(self, u: FloatArray, /) -> FloatArray:
        """Phi(u)."""

    def derivative(self, u: FloatArray, /) -> FloatArray:
        """Phi'(u): positive, or zero where the row no longer matters."""


class NativeLoss(ABC):
    """A loss that the native core knows as well.

    Both built-in losses satisfy Phi(u + v) - Phi(u) <= Phi'(u) (e^v - 1), which gives the step of Deep Boosting,
    Figure 2, lines 12-16 (Multi-Class Deep Boosting, Figure 1, lines 6-8) in closed form. The NumPy methods of the
    subclasses are the oracles of the native kernels.
    """

    name: str

    @abstractmethod
    def value(self, u: FloatArray, /) -> FloatArray: ...

    @abstractmethod
    def derivative(self, u: FloatArray, /) -> FloatArray: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
