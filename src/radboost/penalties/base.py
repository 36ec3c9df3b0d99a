"""Penalty on the weights of a boosted ensemble."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np


class EnsemblePenalty(ABC):
    """Convex penalty of each weight alpha_j: price_j |alpha_j|, plus a smooth rest whose derivative at 0 is 0.

    Coordinate descent supports all of them, solvers over several sources only `linear` ones.
    """

    # True: there is no rest. The papers' closed-form steps, and blocks of several members, require this.
    linear: ClassVar[bool] = True

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Raise an error for invalid parameters."""

    @abstractmethod
    def price(self, complexity: float) -> float:
        """Lambda_j: a hypothesis of this complexity enters only if the loss falls along it with a larger slope."""

    def change(self, price: float, before: float, after: float) -> float:
        """Penalty of the weight `after` minus penalty of the weight `before`."""
        return price * (abs(after) - abs(before))

    def slope_of_rest(self, weights: Any) -> Any:
        """Derivative of the rest at weights: a number, or an array of them."""
        return np.zeros_like(weights)


def check_linear(penalty: EnsemblePenalty, solver: str) -> None:
    """Raise an error if `solver` needs a linear penalty and this one is not."""
    if not penalty.linear:
        raise ValueError(
            f"{solver} needs a penalty that is linear in the size of each weight, such as WeightedL1; got {penalty!r}."
        )
