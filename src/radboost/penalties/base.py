"""Penalty on the weights of a boosted ensemble."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np


class EnsemblePenalty(ABC):
    """Convex cost of each weight alpha_j: price_j |alpha_j|, and a smooth rest whose derivative at 0 is 0.

    Coordinate descent takes any of them. Solvers of several sources need one that is `linear`.
    """

    # Whether there is no rest: the papers' closed-form steps, and blocks of several members, are for these.
    linear: ClassVar[bool] = True

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuses parameters that the penalty is not defined for."""

    @abstractmethod
    def price(self, complexity: float) -> float:
        """Lambda_j: how steeply the loss must fall along a hypothesis of this complexity before it enters."""

    def change(self, price: float, before: float, after: float) -> float:
        """Cost of the weight `after` less that of the weight `before`."""
        return price * (abs(after) - abs(before))

    def slope_of_rest(self, weights: Any) -> Any:
        """Derivative of the rest at weights: a number, or an array of them."""
        return np.zeros_like(weights)


def check_linear(penalty: EnsemblePenalty, solver: str) -> None:
    """Refuses a penalty that a solver of several members at once cannot work with."""
    if not penalty.linear:
        raise ValueError(
            f"{solver} needs a penalty that is linear in the size of each weight, such as WeightedL1; got {penalty!r}."
        )
