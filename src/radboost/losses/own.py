"""Losses of users: one contract for every estimator, Phi(y, f) of a target and a score."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.losses.base import MarginLoss, TargetLoss, ask

CONTRACT = "an object with the methods value(targets, scores) and derivative(targets, scores)"
# Where a loss of margins is asked whether it is one.
PROBES = np.array([-2.0, -0.75, 0.0, 0.5, 1.5])


def check_contract(loss: TargetLoss) -> None:
    """Refuses methods that take something else."""
    for method in ("value", "derivative"):
        try:
            taken = inspect.signature(getattr(loss, method))
        except ValueError:  # a function of C code that says nothing about its arguments
            continue
        try:
            taken.bind(PROBES, PROBES)
        except TypeError:
            raise TypeError(
                f"{type(loss).__name__}.{method} takes ({', '.join(taken.parameters)}), and must take two arrays, "
                "targets and scores; with classes the targets are -1 and +1. A Phi of u = 1 - targets * scores has "
                "the value Phi(u) and the derivative -targets * Phi'(u)."
            ) from None


class OwnMarginLoss(MarginLoss):
    """A user's loss of targets -1 and +1 as a function of u = 1 - y f, which must not fall."""

    def __init__(self, loss: TargetLoss) -> None:
        check_contract(loss)
        self._loss = loss

    def validate(self) -> None:
        """Refuses a loss that is none of margins."""
        one, other = (self._ask("value", side, side * PROBES) for side in (np.ones(5), -np.ones(5)))
        if not np.allclose(one, other, rtol=1e-6, atol=1e-12):
            raise ValueError(
                f"{type(self._loss).__name__}.value: {one.tolist()} for targets of 1 and scores of {PROBES.tolist()}, "
                f"and with both of the other sign {other.tolist()}. Here a loss must depend on targets * scores alone; "
                "RGBClassifier takes any loss."
            )

    def __repr__(self) -> str:
        return repr(self._loss)

    def value(self, u: FloatArray, /) -> FloatArray:
        return self._ask("value", np.ones_like(u), 1.0 - u)

    def derivative(self, u: FloatArray, /) -> FloatArray:
        falling = -self._ask("derivative", np.ones_like(u), 1.0 - u)
        if (falling < 0).any():
            raise ValueError(
                f"{type(self._loss).__name__}.derivative is positive for a target of 1 at a score of "
                f"{1.0 - u.flat[np.argmin(falling)]:g}; the loss must not increase with targets * scores."
            )
        return falling

    def _ask(self, method: str, targets: FloatArray, scores: FloatArray) -> FloatArray:
        return checked_numbers(self._loss, method, ask(self._loss, method, targets, scores), scores)


def checked_numbers(loss: Any, method: str, numbers: Any, scores: FloatArray) -> FloatArray:
    """Result of a user's loss, checked to be a finite number for each score."""
    result = np.ascontiguousarray(numbers, dtype=np.float64)
    if result.shape != scores.shape or not np.isfinite(result).all():
        what = f"the shape {result.shape}" if result.shape != scores.shape else "NaN or infinity"
        raise ValueError(
            f"{type(loss).__name__}.{method} must return {scores.size} finite numbers, one for each score; got {what}."
        )
    return result
