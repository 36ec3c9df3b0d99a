"""The losses of `AgnosticClassifier` for tensors: the mean over the rows of a batch.

With two classes scores have the shape (rows,) or (rows, 1), and targets are 0 and 1. With more there is a score for
each class, and targets are 0, 1, .... Storcheus (2021), Table C.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from radboost.losses.model_evaluation import STEEPNESS


def _two(scores: Tensor) -> bool:
    return bool(scores.ndim == 1 or scores.shape[1] == 1)


def _signs(scores: Tensor, targets: Tensor) -> Tensor:
    return (2 * targets.reshape(-1) - 1).to(scores.dtype)


def margins(scores: Tensor, targets: Tensor) -> Tensor:
    """y f, or the own score less the largest other one."""
    if _two(scores):
        return _signs(scores, targets) * scores.reshape(-1)
    own = functional.one_hot(targets.long(), scores.shape[1]).bool()
    rivals = scores.masked_fill(own, -math.inf).amax(dim=1)
    return scores[own] - rivals


def cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    if _two(scores):
        return functional.softplus(-margins(scores, targets)).mean()
    return functional.cross_entropy(scores, targets.long())


def hinge(scores: Tensor, targets: Tensor) -> Tensor:
    return functional.relu(1 - margins(scores, targets)).mean()


def zero_one(scores: Tensor, targets: Tensor) -> Tensor:
    """Mean sigmoid of the margins, which replaces the error in training."""
    return torch.sigmoid(-STEEPNESS * margins(scores, targets)).mean()


def l1(scores: Tensor, targets: Tensor) -> Tensor:
    if _two(scores):
        return (scores.reshape(-1) - _signs(scores, targets)).abs().mean()
    own = functional.one_hot(targets.long(), scores.shape[1]).to(scores.dtype)
    return (scores - own).abs().sum(dim=1).mean()


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cross_entropy": cross_entropy,
    "hinge": hinge,
    "zero_one": zero_one,
    "l1": l1,
}
"""Losses of a batch of scores, by the name that `AgnosticLoss` takes."""


def lipschitz(name: str, n_classes: int) -> float:
    """M_k, the Lipschitz constant of a loss in the scores of a row."""
    if n_classes == 2:
        return 1.0
    return math.sqrt(n_classes) if name == "l1" else math.sqrt(2.0)
