"""Several losses at once for networks of PyTorch: the worst mixture of them, learned beside the weights.

    losses = AgnosticLoss(("cross_entropy", "hinge"))
    for X, y in batches:
        optimizer.zero_grad()
        losses(network(X), y).backward()  # the mixture takes its own step, upwards
        optimizer.step()

Storcheus, PhD thesis (NYU, 2021), chapter 5. Needs PyTorch, which is an extra: ``pip install "radboost[torch]"``.
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

__all__ = ["LOSSES", "AgnosticLoss", "lipschitz", "network"]
