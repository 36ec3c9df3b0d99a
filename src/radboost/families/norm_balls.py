"""Families of Regularized Gradient Boosting (RGB): regression trees of bounded size and norm of leaf values."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from radboost import complexity
from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_real
from radboost.model_file import storable_value

SIZES = (2, 4, 8, 16, 32, 64, 256)
NORMS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)
LARGEST_SIZE = 65536  # splits
ORDERS = {1: "1", 2: "2", np.inf: "inf"}


@dataclass(frozen=True)
class NormBall:
    """H(n, lambda, q): trees of at most n splits, leaf vectors of norm <= lambda. Storcheus (2021), section 3.3."""

    n_splits: int
    norm: float


class NormBalls:
    """Families for all pairs of a size and a norm, with the probability p_k that each is drawn."""

    def __init__(self, sizes: Sequence[int], norms: Sequence[float], order: str, chances: FloatArray) -> None:
        self.families = [NormBall(size, norm) for size in sizes for norm in norms]
        self.sizes = sizes
        self.order = order
        self._below = (np.cumsum(chances) / chances.sum()).tolist()

    def __len__(self) -> int:
        return len(self.families)

    def draw(self, count: int, seed: int, round_index: int) -> list[int]:
        """Indices of the families drawn in a round, without duplicates, ascending; draws are independent."""
        draws = np.random.default_rng([seed, round_index]).random(count).tolist()
        last = len(self) - 1
        return sorted({min(bisect_right(self._below, draw), last) for draw in draws})

    def price(self, m: float, d: float) -> FloatArray:
        """Bounds of Theorem 3.1 on the complexity of each family, as fractions of the largest."""
        bounds = np.array([family.norm * complexity.trees(family.n_splits, m, d) for family in self.families])
        return np.asarray(bounds / bounds.max(), dtype=np.float64)

    def size_for(self, n_splits: int) -> int:
        """Smallest size of a family that contains trees of `n_splits` splits."""
        return min(size for size in self.sizes if size >= n_splits)


@storable_value
@dataclass(frozen=True)
class TreeFamilies:
    """The families that Regularized Gradient Boosting chooses among: all pairs of a size and a norm.

    Parameters
    ----------
    sizes : sequence of int
        n: splits of a tree, at most.
    norms : sequence of float
        lambda: the norm of a tree's leaf values, at most.
    norm_order : 1, 2 or infinity (numpy.inf)
        q: which norm. The leaves are the best fit to the gradient inside the ball: with 2 those of ridge regression,
        with 1 small ones become 0, with infinity large ones are cut.
    weights : "lipschitz", "uniform" or array of shape (len(sizes), len(norms))
        p_k, how often a family is drawn: in proportion to its norm, which bounds how steep the loss can be along its
        trees (section 3.5 of Storcheus (2021)); each alike; or as given.
    """

    sizes: Sequence[int] = SIZES
    norms: Sequence[float] = NORMS
    norm_order: Any = 2
    weights: Any = "lipschitz"

    def resolve(self) -> NormBalls:
        """Families with checked parameters."""
        sizes = [check_integer("an entry of sizes", size, 1, LARGEST_SIZE) for size in _listed("sizes", self.sizes)]
        norms = [check_real("an entry of norms", x, low=0.0, open_low=True) for x in _listed("norms", self.norms)]
        for name, values in (("sizes", sizes), ("norms", norms)):
            if any(a >= b for a, b in pairwise(values)):
                raise ValueError(f"{name} must ascend, each value once; got {values}.")
        order = self.norm_order
        if not isinstance(order, int | float | np.number) or isinstance(order, bool) or order not in ORDERS:
            raise ValueError(f"norm_order must be 1, 2 or infinity (numpy.inf); got {order!r}.")
        return NormBalls(sizes, norms, ORDERS[float(order)], self._chances(len(sizes), np.array(norms)))

    def _chances(self, n_sizes: int, norms: FloatArray) -> FloatArray:
        shape = n_sizes, len(norms)
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, ["lipschitz", "uniform"])
            return np.tile(norms if self.weights == "lipschitz" else np.ones(len(norms)), n_sizes)
        try:
            given = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != shape or not np.isfinite(given).all() or (given < 0).any() or not given.any():
            raise ValueError(
                f'weights must be "lipschitz", "uniform", or an array of shape {shape}, one number that is not '
                f"negative for each of the {shape[0]} sizes and {shape[1]} norms, and not all of them 0; got "
                f"{self.weights!r}."
            )
        return given.reshape(-1)


def _listed(name: str, given: object) -> list[object]:
    values = np.asarray(given, dtype=object)
    if values.ndim != 1 or len(values) == 0 or isinstance(given, str):
        raise ValueError(f"{name} must be a list of numbers, at least one; got {given!r}.")
    return list(values)
