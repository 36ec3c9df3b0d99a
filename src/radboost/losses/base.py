"""Base classes and registry of losses. Every loss has a value and a derivative; attributes state further properties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from radboost._members import register
from radboost._typing import FloatArray
from radboost.losses.link import Link
from radboost.model_file import storable_value

# Kind of loss (see `Loss`) -> name -> class.
REGISTRY: dict[str, dict[str, type[Any]]] = {
    kind: {} for kind in ("margins", "signs", "numbers", "classes", "scores", "evaluation")
}


@runtime_checkable
class TargetLoss(Protocol):
    """Phi(y, f), convex in f. Any object with these two methods is one; both return float64 arrays like `scores`.

    The arrays that they take are read-only. With classes the targets are -1 and +1. DeepBoost's objectives take a loss
    of margins: they pass a target of 1 with the margin as its score. There the loss must be one of targets * scores
    and must not increase with it. In gradient boosting a number `lipschitz` bounds how fast the
    derivative changes with f, and gives steps in closed form; without it there is a line search. A method
    `inverse_link(scores)` makes predictions of scores; without it these are the scores.
    """

    def value(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        """Phi(y, f) of each row."""

    def derivative(self, targets: FloatArray, scores: FloatArray, /) -> FloatArray:
        """Derivative in f of each row."""


def ask(loss: Any, method: str, *arrays: FloatArray) -> Any:
    """Call a method of a loss, perhaps a user-defined one, with read-only views of arrays of the fit."""
    try:
        return getattr(loss, method)(*map(_read_only, arrays))
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ValueError(
            f"{type(loss).__name__}.{method} changes its arguments in place, which the fit goes on working with "
            f"({error}). Let it work on copies: `scores = scores - targets` in place of `scores -= targets`."
        ) from error


def _read_only(array: FloatArray) -> FloatArray:
    view = array.view()
    view.flags.writeable = False
    return view


class Loss(ABC):
    """A loss with a name. `class HuberLoss(NativeTargetLoss, name="huber", of="numbers")` registers itself.

    `of` is the kind of its arguments, and thus of the estimators that can use it:

    - "margins": Phi(u) of u = 1 - y f, for DeepBoost;
    - "signs", "numbers", "classes": Phi(y, f) for gradient boosting: of targets -1 and +1, of regression targets, of
      class indices;
    - "scores": of all scores of the training rows, which it is constructed for; for boosting with structural sparsity;
    - "evaluation": like "scores", convex or not, for models that are evaluated by several losses.

    Losses of signs and numbers can be parameters of a model, and are stored in its file.
    """

    name: ClassVar[str]
    # True: the native core has a kernel of this name. False: the NumPy methods run, as for user-defined losses.
    native: ClassVar[bool] = False
    # Lipschitz constant of the derivative by a score; None: there is none.
    lipschitz: ClassVar[float | None] = None

    def __init_subclass__(cls, *, name: str | None = None, of: str | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        if name is None or of is None:
            return
        cls.name = name
        register(REGISTRY[of], name, cls)
        if of in ("signs", "numbers"):
            storable_value(cls)


class MarginFunction(ABC):
    """Convex, increasing phi(u); the loss of a row with margin y f is phi(-y f)."""

    # Divisor of phi in DeepBoost, so that Phi(0) = 1.
    unit: ClassVar[float]
    # Largest second derivative; None: unbounded.
    lipschitz: ClassVar[float | None]
    # The score that minimizes the expected loss is this factor times the logarithm of the odds.
    log_odds_factor: ClassVar[float]

    @abstractmethod
    def value(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def derivative(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def curvature(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def conjugate(self, pulls: FloatArray) -> FloatArray:
        """sup over u of pull u - phi(u), for pulls that are derivatives of phi, up to rounding."""


class MarginLoss(Loss):
    """Convex, increasing, differentiable Phi; the loss of a row with margin y f is Phi(1 - y f).

    With more than two classes the objective defines the argument of Phi. Users write a `TargetLoss`, which
    `radboost.losses.own` wraps.
    """

    # Name of an objective, or "two_classes" -> link of the scores that minimize it with this loss.
    links: ClassVar[Mapping[str, Link]] = {}

    @abstractmethod
    def value(self, u: FloatArray, /) -> FloatArray:
        """Phi(u)."""

    @abstractmethod
    def derivative(self, u: FloatArray, /) -> FloatArray:
        """Phi'(u), not negative."""

    def validate(self) -> None:
        """Raise an error for invalid parameters."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class NativeLoss(MarginLoss):
    """Phi(u) = phi(u) / unit of u = 1 - y f, with a kernel in the native core.

    All satisfy Phi(u + v) - Phi(u) <= Phi'(u) (e^v - 1), and thus have a step in closed form: Cortes et al. (2014),
    Figure 2, lines 12-16; Kuznetsov et al. (2014), Figure 1, lines 6-8. The native kernels are tested against this.
    """

    native = True
    phi: ClassVar[MarginFunction]

    def value(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.value(u) / self.phi.unit, dtype=np.float64)

    def derivative(self, u: FloatArray, /) -> FloatArray:
        return np.asarray(self.phi.derivative(u) / self.phi.unit, dtype=np.float64)

    def conjugate(self, pulls: FloatArray, /) -> FloatArray:
        """sup over u of pull u - Phi(u), for pulls that are derivatives of Phi times at most 1, up to rounding."""
        return np.asarray(self.phi.conjugate(pulls * self.phi.unit) / self.phi.unit, dtype=np.float64)
