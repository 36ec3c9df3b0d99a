"""The penalty of Deep Boosting and a square."""

from dataclasses import dataclass

from radboost._typing import FloatArray
from radboost.penalties.base import EnsemblePenalty


@dataclass(frozen=True)
class ElasticNet(EnsemblePenalty):
    """sum over j of lambda r_j |alpha_j| + square alpha_j^2 / 2."""

    linear = False

    complexity_penalty: float
    square: float

    def price(self, complexity: float) -> float:
        return self.complexity_penalty * complexity

    def change(self, price: float, before: float, after: float) -> float:
        return super().change(price, before, after) + 0.5 * self.square * (after**2 - before**2)

    def slope_of_rest(self, weights: FloatArray) -> FloatArray:
        return self.square * weights
