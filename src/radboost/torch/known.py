"""Values whose gradient is known before they are differentiated.

A module of its own, which imports nothing else of radboost. PyTorch keeps these classes, and with them all names of
their module, for a tensor that lives until Python ends; automata among them would be reported as leaked.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Known(torch.autograd.Function):
    """Values of sequences, and their derivatives by scores; `sequence_of` has the sequence of each row of scores."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, values: Tensor, gradient: Tensor, sequence_of: Tensor) -> Tensor:
        ctx.save_for_backward(scores, gradient, sequence_of)
        # First the type: not every device has float64.
        return values.to(torch.promote_types(scores.dtype, torch.float32)).to(scores.device)

    @staticmethod
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor | None, ...]:
        return _Gradient.apply(outer, *ctx.saved_tensors), None, None, None


class _Gradient(torch.autograd.Function):
    """The gradient, which depends on the scores in a way that is not recorded."""

    # `once_differentiable` would take it for a constant where the outer derivative is one, and a penalty on gradients
    # would be wrong without a word.

    @staticmethod
    def forward(ctx: Any, outer: Tensor, scores: Tensor, gradient: Tensor, sequence_of: Tensor) -> Tensor:
        del ctx
        scaled = gradient * outer.cpu().double()[sequence_of, None]
        return scaled.to(scores.dtype).to(scores.device)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        raise RuntimeError(
            "The gradient of StructuredLoss cannot be differentiated again: it has no second derivatives. Leave out "
            "create_graph=True, or what is made of the gradient."
        )
