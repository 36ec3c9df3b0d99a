"""The worst mixture of several losses as a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from radboost._validation import check_real
from radboost.linear.minimax import on_polytope, on_simplex
from radboost.objectives.over_sources import read_mixtures, vertices_of
from radboost.torch.losses import LOSSES, lipschitz

LossFunction = Callable[[Tensor, Tensor], Tensor]


class AgnosticLoss(nn.Module):
    """sum of lambda_k L_k for a plain training loop, whose mixture lambda rises to the worst one by itself.

    Each call in training mode returns the losses mixed by the present lambda, and then takes lambda a step upwards
    along them (Figure 5.2 of Storcheus (2021), line 3). The step is projected onto the simplex or onto the convex
    hull of `mixtures`. In evaluation mode lambda stays.

    Parameters
    ----------
    losses : sequence of names, or dict from names to functions
        "cross_entropy", "hinge", "zero_one" (a sigmoid in its place), "l1"; or functions of scores and targets that
        return one number.
    n_classes : int
        Which M_k our losses are divided by: with 2 classes, one score for each row, it is 1.
    mixtures : array or None
        Corners of the admissible mixtures, a row each; None for all.
    step : float
        gamma_lambda: how far lambda moves for a loss of 1. Theorem 5.4: 2 / (G sqrt(T)), G the length of the losses.

    Attributes
    ----------
    mixture : tensor, a buffer
        lambda, in the order of `names`.
    average : tensor
        Its average over the steps, lambda_T of Figure 5.2.
    values : tensor
        The losses of the last call, divided by their units.
    """

    mixture: Tensor
    total: Tensor
    n_steps: Tensor

    def __init__(
        self,
        losses: Sequence[str] | Mapping[str, LossFunction] = ("cross_entropy", "hinge", "zero_one", "l1"),
        *,
        n_classes: int = 2,
        mixtures: Any = None,
        step: float = 0.05,
    ) -> None:
        super().__init__()
        self._functions = _functions(losses)
        self.names = list(self._functions)
        self.step = check_real("step", step, low=0.0)
        self._vertices = vertices_of(read_mixtures(mixtures), np.array(self.names))
        units = [lipschitz(n, n_classes) if self._functions[n] is LOSSES.get(n) else 1.0 for n in self.names]
        p = len(self.names)
        self.register_buffer("units", torch.tensor(units))
        self.register_buffer("mixture", torch.as_tensor(self._project(np.full(p, 1.0 / p)), dtype=torch.float64))
        self.register_buffer("total", torch.zeros(p, dtype=torch.float64))
        self.register_buffer("n_steps", torch.zeros((), dtype=torch.int64))
        self.values = torch.zeros(p)

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        losses = [self._loss(name, scores, targets) for name in self.names]
        values = torch.stack(losses) / self.units.to(losses[0])
        self.values = values.detach()
        mixed = (self.mixture.clone().to(values) * values).sum()
        if self.training:
            self._rise()
        return mixed

    @property
    def average(self) -> Tensor:
        return self.total / self.n_steps.clamp(min=1) if int(self.n_steps) else self.mixture.clone()

    @torch.no_grad()
    def _rise(self) -> None:
        moved = (self.mixture + self.step * self.values.to(self.mixture)).cpu().numpy()
        self.mixture.copy_(torch.as_tensor(self._project(np.asarray(moved, dtype=np.float64))))
        self.total += self.mixture
        self.n_steps += 1

    def _project(self, mixture: Any) -> Any:
        return on_simplex(mixture) if self._vertices is None else on_polytope(mixture, self._vertices)

    def _loss(self, name: str, scores: Tensor, targets: Tensor) -> Tensor:
        value = self._functions[name](scores, targets)
        if not isinstance(value, Tensor) or value.numel() != 1:
            shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"The loss {name!r} must return one number, the mean over the rows; got {shape}.")
        if not bool(torch.isfinite(value.detach())):
            where = "the scores of the network" if not bool(torch.isfinite(scores.detach()).all()) else "the loss"
            raise FloatingPointError(
                f"The loss {name!r} is {float(value.detach())}: {where} left the range of numbers. Lower the learning "
                "rate of the optimizer, or clip the gradients."
            )
        return value.reshape(())

    def extra_repr(self) -> str:
        return f"{', '.join(self.names)}; step={self.step:g}"


def _functions(losses: Any) -> dict[str, LossFunction]:
    if isinstance(losses, Mapping):
        given = dict(losses)
        wrong = [name for name, one in given.items() if not isinstance(name, str) or not callable(one)]
        if wrong or not given:
            raise TypeError("losses must name at least one function of scores and targets.")
        return given
    if isinstance(losses, str) or not isinstance(losses, Sequence) or not losses:
        raise ValueError(f"losses must be names, or a dict from names to functions; got {losses!r}.")
    unknown = [name for name in losses if name not in LOSSES]
    if unknown:
        known = ", ".join(map(repr, LOSSES))
        raise ValueError(f"losses has {unknown[0]!r}; known are {known}. A dict from names to functions has your own.")
    if len(set(losses)) != len(losses):
        raise ValueError(f"losses has a name more than once: {list(losses)!r}.")
    return {name: LOSSES[name] for name in losses}
