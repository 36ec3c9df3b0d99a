"""A network that gives scores to the symbols of a string, for `StructuredLoss`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Tagger(nn.Module):
    """One layer of LSTM cells that reads a sequence in both directions, and scores of every position."""

    def __init__(self, n_inputs: int, n_outputs: int, width: int) -> None:
        super().__init__()
        self.cells = nn.LSTM(n_inputs, width, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(2 * width, n_outputs)

    def forward(self, inputs: Tensor, lengths: Any = None) -> Tensor:
        """From (batch, length, n_inputs) to (batch, length, n_outputs); with `lengths`, padding is not read."""
        if lengths is None:
            return self.scores(self.cells(inputs)[0])
        sizes = torch.as_tensor(lengths).cpu()
        packed = pack_padded_sequence(inputs, sizes, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.cells(packed)[0], batch_first=True, total_length=inputs.shape[1])
        return self.scores(hidden)


def tagger(n_inputs: int, n_outputs: int, width: int = 64) -> Tagger:
    """A bidirectional LSTM with `width` cells in each direction, whose outputs are the logits of appendix D.2.

    `n_outputs` is the size of the alphabet, or a power of it for scores of substrings.
    """
    return Tagger(n_inputs, n_outputs, width)
