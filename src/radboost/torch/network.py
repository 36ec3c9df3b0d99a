"""The network of the thesis's experiments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn


def network(n_inputs: int, n_outputs: int, widths: Sequence[int] = (1024, 512, 128)) -> nn.Sequential:
    """Layers of 1024, 512 and 128 rectified units, and a score for each output. Storcheus (2021), section 5.5."""
    sizes = [n_inputs, *widths]
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], n_outputs))
