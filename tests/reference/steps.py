"""The step of one coordinate: Figure 2 lines 12-16, the bound they minimise, and minima without a formula."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .losses import Loss


def bound(eta: float, alpha: float, eps: float, q: float) -> float:
    """What lines 12-16 minimise, up to constants and the factor S/m: q is Lambda*m/S.

    exp(-eta y h) <= (1 + y h)/2 exp(-eta) + (1 - y h)/2 exp(eta) for y h in [-1, 1], with equality at +-1.
    """
    return (1 - eps) * math.exp(-eta) + eps * math.exp(eta) + q * abs(alpha + eta)


def closed_form(alpha: float, eps: float, q: float, cap: float = math.inf) -> float:
    """Figure 2 lines 12-16 in the stable form (errata 29)."""
    eps = min(max(eps, 0.0), 1.0)
    pull = (1 - eps) * math.exp(alpha) - eps * math.exp(-alpha)
    if abs(pull) <= q:
        return -alpha
    root = q + math.sqrt(q * q + 4 * eps * (1 - eps))
    if pull > q:
        z = 2 * (1 - eps) / root if root > 0 else math.inf
        return min(math.log(z), cap)
    z = 2 * eps / root if root > 0 else math.inf
    return max(-math.log(z), -cap)


def closed_form_as_printed(alpha: float, eps: float, q: float) -> float:
    """Lines 12-16 letter by letter; loses digits where eps is near 0 or 1."""
    pull = (1 - eps) * math.exp(alpha) - eps * math.exp(-alpha)
    if abs(pull) <= q:
        return -alpha
    s = q / (2 * eps)
    return math.log((-s if pull > q else s) + math.sqrt(s * s + (1 - eps) / eps))


def damped_search(derivative: Callable[[float], float], price: float, share: float, last: float) -> float:
    """The whole step of a new hypothesis of which a share is taken: by the chord to three quarters of the last step.

    `derivative` is that of the loss, without the price. Beyond the minimum the look moves to three quarters of where
    the chord crosses zero. The share of the result is no longer than what was looked at.
    """
    at_zero = derivative(0.0)
    if abs(at_zero) <= price:
        return 0.0
    sign = -1.0 if at_zero > 0 else 1.0
    start = sign * at_zero + price
    look = 0.75 * min(max(last, 2.0**-6), 16.0)
    while True:
        there = sign * derivative(sign * look) + price
        crossing = look * start / (start - there) if there > start else math.inf
        if there <= 0:
            return sign * min(crossing, look / share, 16.0)
        look = 0.75 * crossing


def objective(loss: Loss, f: np.ndarray, y: np.ndarray, w: np.ndarray, penalty: float) -> float:
    """Equation (4) with m the sum of the weights."""
    return float(np.sum(w * loss.value(1 - y * f)) / np.sum(w) + penalty)


def along(
    loss: Loss, f: np.ndarray, h: np.ndarray, y: np.ndarray, w: np.ndarray, alpha: float, Lambda: float
) -> Callable[[float], float]:
    """F along one coordinate, less what does not move."""
    return lambda eta: objective(loss, f + eta * h, y, w, Lambda * abs(alpha + eta))


def golden(function: Callable[[float], float], low: float, high: float, iterations: int = 200) -> float:
    """Minimum of a convex function by golden sections; good to about the root of the machine precision."""
    ratio = (math.sqrt(5) - 1) / 2
    a, b = low, high
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    fc, fd = function(c), function(d)
    for _ in range(iterations):
        if fc <= fd:
            b, d, fd = d, c, fc
            c = b - ratio * (b - a)
            fc = function(c)
        else:
            a, c, fc = c, d, fd
            d = a + ratio * (b - a)
            fd = function(d)
    return (a + b) / 2


def grid(function: Callable[[float], float], low: float, high: float, points: int = 4001) -> tuple[float, float]:
    """Smallest value on a grid and where: no assumption at all."""
    etas = [low + (high - low) * i / (points - 1) for i in range(points)]
    values = [function(eta) for eta in etas]
    best = min(range(points), key=values.__getitem__)
    return values[best], etas[best]


def exact_line_search(function: Callable[[float], float], alpha: float, width: float = 60.0) -> float:
    """Minimum of F along a coordinate: golden sections on both sides of the kink, and the kink itself."""
    options = [-alpha, golden(function, -alpha - width, -alpha), golden(function, -alpha, -alpha + width)]
    return min(options, key=function)
