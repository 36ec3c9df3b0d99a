"""Losses for networks of PyTorch: the worst mixture of several, and losses between whole strings.

    losses = AgnosticLoss(("cross_entropy", "hinge"))
    for X, y in batches:
        optimizer.zero_grad()
        losses(network(X), y).backward()  # the mixture takes its own step, upwards
        optimizer.step()

`StructuredLoss("edit_distance")` is used alike, for scores of every symbol at every position of a sequence.

Storcheus, PhD thesis (NYU, 2021), chapters 5 and 6. Needs PyTorch, which is an extra:
``pip install "radboost[torch]"``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError(
        "radboost.torch needs PyTorch, which is not installed: pip install 'radboost[torch]'.", name="torch"
    ) from None

from radboost.torch.agnostic import AgnosticLoss
from radboost.torch.losses import LOSSES, lipschitz
from radboost.torch.network import network
from radboost.torch.structured import StructuredLoss
from radboost.torch.tagger import tagger

__all__ = ["LOSSES", "AgnosticLoss", "StructuredLoss", "lipschitz", "network", "tagger"]
