"""Phi and its derivative, written out, and derivatives by differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

LN2 = math.log(2.0)


@dataclass(frozen=True)
class Loss:
    """A convex increasing Phi and its derivative, both on arrays."""

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]
    closed_form: bool  # whether lines 12-16 of Figure 2 apply


EXPONENTIAL = Loss("exponential", np.exp, np.exp, True)
LOGISTIC = Loss("logistic", lambda u: np.logaddexp(0.0, u) / LN2, lambda u: expit(u) / LN2, True)
# a third convex increasing Phi, with a derivative that is nowhere zero: u + sqrt(1 + u^2), a smooth hinge
SMOOTH_HINGE = Loss("smooth_hinge", lambda u: u + np.sqrt(1 + u * u), lambda u: 1 + u / np.sqrt(1 + u * u), False)

LOSSES = {loss.name: loss for loss in (EXPONENTIAL, LOGISTIC, SMOOTH_HINGE)}


def numeric_derivative(value: Callable[[np.ndarray], np.ndarray], u: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """Central differences of fourth order."""
    u = np.asarray(u, dtype=np.float64)
    return (8 * (value(u + h) - value(u - h)) - (value(u + 2 * h) - value(u - 2 * h))) / (12 * h)
