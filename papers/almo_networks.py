"""Networks of Table 5.2: layers of 1024, 512 and 128 units, trained by several losses with PyTorch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 256


@dataclass(frozen=True)
class Network:
    """Trained network with the methods of a classifier that the tables use."""

    module: Any
    classes_: NDArray[Any]
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    mixture_: dict[str, float]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        import torch

        self.module.eval()
        with torch.no_grad():
            scores = self.module(_tensor(X, self.center, self.spread)).double().numpy()
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)


def _tensor(X: Any, center: NDArray[np.float64], spread: NDArray[np.float64]) -> Any:
    import torch

    return torch.tensor((np.asarray(X, dtype=np.float64) - center) / spread, dtype=torch.float32)


def train(
    X: Any,
    y: NDArray[Any],
    losses: tuple[str, ...],
    *,
    uniform: bool,
    epochs: int,
    seed: int,
    setting: Mapping[str, float],
) -> Network:
    """Train by Adam on batches of 256 rows, in an order that the seed decides.

    The network is the mean over the second half of the steps: Theorem 5.4 holds for the average of the weights. Losses
    of networks are not convex, but the last weights circle around the saddle all the same, and the mixture with them.
    """
    try:
        import torch
        from torch.optim.swa_utils import AveragedModel
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "almo-5.2 trains networks with PyTorch, which is not installed: pip install 'radboost[torch]'."
        ) from None
    from radboost.torch import AgnosticLoss, network

    torch.manual_seed(seed)
    classes, labels = np.unique(y, return_inverse=True)
    matrix = np.asarray(X, dtype=np.float64)
    center, spread = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-6 + 0.1 * matrix.std())
    rows, targets = _tensor(matrix, center, spread), torch.tensor(labels.reshape(-1))
    module = network(matrix.shape[1], 1 if len(classes) == 2 else len(classes))
    mixtures = [[1.0 / len(losses)] * len(losses)] if uniform else None
    n_batches = epochs * -(-len(targets) // BATCH)
    # gamma_lambda of Theorem 5.4: the diameter of the simplex over the square root of the steps, for losses about 1.
    mixed = AgnosticLoss(losses, n_classes=len(classes), mixtures=mixtures, step=math.sqrt(2.0 / n_batches))
    optimizer = torch.optim.Adam(module.parameters(), lr=setting["lr"], weight_decay=setting["weight_decay"])
    order = np.random.default_rng(seed)
    averaged = AveragedModel(module)
    module.train()
    done = 0
    for _ in range(epochs):
        shuffled = torch.tensor(order.permutation(len(targets)))
        for first in range(0, len(targets), BATCH):
            part = shuffled[first : first + BATCH]
            optimizer.zero_grad()
            mixed(module(rows[part]), targets[part]).backward()
            optimizer.step()
            done += 1
            if 2 * done > n_batches:
                averaged.update_parameters(module)
    return Network(
        averaged.module, classes, center, spread, dict(zip(mixed.names, mixed.average.tolist(), strict=True))
    )
