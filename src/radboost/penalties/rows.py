"""Penalties on rows of weights, for boosting with structural sparsity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from radboost._members import register
from radboost._typing import FloatArray
from radboost.penalties.weighted_l1 import LARGEST_STEP

TIE = 1e-10  # relative difference to the largest weight of a row up to which a weight counts as largest too
ROW_PENALTIES: dict[str, type[RowPenalty]] = {}


class RowPenalty(ABC):
    """Sum over j of price_j * size(w_j); w_j are the weights of feature j, one for each class or task.

    `class L1(RowPenalty, name="l1")` registers itself; its native update is a row of the table in
    `native/linear/row_penalty.cpp` with that name.

    Weights, slopes and curvatures have shape (n_features, n_outputs), prices and sizes (n_features,).
    """

    name: ClassVar[str]
    # True: weights or rows can become exactly zero.
    sparse: ClassVar[bool] = True
    # size(c w) = c^degree size(w), which gives the price of a scaled column. None: there is no such number.
    degree: ClassVar[int | None] = 1
    # True: the exponential bounds of AdaBoost have a minimum in closed form.
    exponential: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if name is not None:
            cls.name = name
            register(ROW_PENALTIES, name, cls)

    @abstractmethod
    def size(self, weights: FloatArray) -> FloatArray:
        """Factor of the price of each row: 0 for a row of zeros."""

    def dual_norm(self, slopes: FloatArray) -> FloatArray:
        """Smallest price at which a feature with these slopes stays zero (section 8, termination conditions).

        Infinite without sparsity, unless all slopes are zero.
        """
        return np.asarray(np.where(np.abs(slopes).max(axis=1) > 0.0, np.inf, 0.0))

    @abstractmethod
    def update(self, curvatures: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Weights w that minimize sum over r of curvature_r w_r^2 / 2 + slope_r w_r, plus price * size(w)."""

    @abstractmethod
    def violation(self, weights: FloatArray, slopes: FloatArray, prices: FloatArray) -> FloatArray:
        """Violation of the conditions of section 8 by each row; zero exactly if no step can help.

        The distance of the negative slopes from price times the subdifferential of size, in the dual norm; where that
        is infinite, in the largest entry.
        """

    def feasible_fraction(self, slopes: FloatArray, prices: FloatArray) -> float:
        """Largest factor on the slopes, at most 1, at which the conjugate of the penalty is finite.

        For a norm: at which the dual norm does not exceed the price.
        """
        norms = self.dual_norm(slopes)
        ratios = np.divide(prices, norms, out=np.ones_like(norms), where=norms > prices)
        return float(ratios.min(initial=1.0))

    def conjugate(self, slopes: FloatArray, prices: FloatArray) -> float:
        """sup over the weights of <slopes, weights> - the sum of price * size, at slopes times `feasible_fraction`.

        Zero for a norm.
        """
        return 0.0

    def exponential_update(
        self, up: FloatArray, down: FloatArray, weights: FloatArray, templates: FloatArray, prices: FloatArray
    ) -> FloatArray:
        """Weights that minimize the bound (21) for the template's entry a of each feature.

        The bound is a * sum over r of up_r e^-d_r + down_r e^d_r, plus price * size(w + a d). The unknown is
        gamma = w / a + d. `up` and `down` are the correlations mu+ and mu-. Their logarithms are used throughout,
        because e^(w / a) overflows for small a.
        """
        start = weights / templates[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            gamma = self.exponential_minimum(np.log(up) + start, np.log(down) - start, np.log(prices))
        steps = np.clip(np.where(np.isnan(gamma), 0.0, gamma - start), -LARGEST_STEP, LARGEST_STEP)
        # A step that ends at zero has to end there exactly.
        moved: FloatArray = np.where(
            (gamma == 0.0) & (np.abs(start) <= LARGEST_STEP), 0.0, weights + templates[:, None] * steps
        )
        return moved

    def exponential_minimum(self, log_up: FloatArray, log_down: FloatArray, log_prices: FloatArray) -> FloatArray:
        """gamma that minimizes sum over r of e^(log_up - gamma) + e^(log_down + gamma), plus price * size(gamma)."""
        raise NotImplementedError(f"The penalty {self.name!r} has no AdaBoost update.")


def exponential_root(log_up: FloatArray, log_down: FloatArray, log_prices: FloatArray) -> FloatArray:
    """gamma with up e^-gamma - down e^gamma = price: equation (8), from the logarithms of all three.

    e^gamma = 2 up / (price + sqrt(price^2 + 4 up down)), which loses no digits. Negative where up - down < price.
    """
    root = 0.5 * np.logaddexp(2.0 * log_prices, np.log(4.0) + log_up + log_down)
    return np.asarray(np.log(2.0) + log_up - np.logaddexp(log_prices, root))
