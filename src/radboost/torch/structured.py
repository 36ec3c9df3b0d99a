"""The structured objective (6.1) as the top layer of a network: scores trained on a loss between whole strings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from radboost._validation import check_choice, check_integer, check_real, resolve_n_jobs
from radboost.structured.automata import LossCache, check_string, loss_value
from radboost.structured.gradient import alphabet_of, gradient_terms_batch, substring_numbers
from radboost.structured.losses import StringLoss, get_string_loss
from radboost.torch.known import Known

REDUCTIONS = ("mean", "sum", "none")


class StructuredLoss(nn.Module):
    """Softmax margin (6.1) for scores of symbols by a network. Storcheus (2021), chapter 6, appendix D.2.

    The value for one sequence is

        log sum over all strings y of exp(L(y, y_i) + score(y))  -  score(y_i)  -  L(y_i, y_i),

    which is F_i of (6.1) less the loss of the true string with itself. Where losses are exact it is never negative,
    since y_i is one of the strings. Nor is it below L(y', y_i) - L(y_i, y_i), y' being the string with the highest
    score: that string alone adds exp(L(y', y_i) + score(y')). L(y_i, y_i) is 0 for the edit distance, Hamming and
    cross-entropy, not for Smith-Waterman and n-grams. The gradient does not depend on it: it is Q(z, s), less 1 where
    y_i has the substring z at s.

    Sums are taken by automata in float64 on the CPU. Gradients come back in the type and on the device of the
    potentials, values too, but never in less than float32. Gradients have no gradients of their own.

    Parameters
    ----------
    loss : name or StringLoss
        "edit_distance", "smith_waterman", "ngram", "hamming", "cross_entropy" (L = 0); or a loss of
        `radboost.structured`, such as edit_distance(2.0).
    order : int
        How many symbols a score is of: 1 for the logits of appendix D.2.
    max_states, threshold : int, float or None
        Most states of the automaton of a loss, and the losses that it distinguishes (`gradient_terms`). None: any
        number for n-gram and Hamming losses, 100,000 for others.
    n_jobs : int or None
        Threads over the sequences of a batch; None for all cores.
    reduction : {"mean", "sum", "none"}
        Over the sequences of a batch; "none" returns a value for each.
    cache : LossCache or None
        Where automata are kept from one epoch to the next; None for a common one of 256 MiB. Where the automata of all
        targets do not fit into it, each epoch makes them again.

    Attributes
    ----------
    exact_ : bool
        Whether all losses of the last call were exact.
    log_z_error_ : float
        What the error of no value of the last call can exceed. Where losses are not exact, the value and this together
        are the bound of the loss.
    """

    def __init__(
        self,
        loss: StringLoss | str = "edit_distance",
        *,
        order: int = 1,
        max_states: int | None = None,
        threshold: float | None = None,
        n_jobs: int | None = None,
        reduction: str = "mean",
        cache: LossCache | None = None,
    ) -> None:
        super().__init__()
        self.loss = get_string_loss(loss)
        self.order = check_integer("order", order, 1)
        self.max_states = None if max_states is None else check_integer("max_states", max_states, 1)
        self.threshold = None if threshold is None else check_real("threshold", threshold, low=0.0)
        resolve_n_jobs(n_jobs)
        self.n_jobs = n_jobs
        self.reduction = check_choice("reduction", reduction, REDUCTIONS)
        if cache is not None and not isinstance(cache, LossCache):
            raise TypeError(f"cache must be a radboost.structured.LossCache or None; got {type(cache).__name__}.")
        self.cache = cache
        self.exact_ = True
        self.log_z_error_ = 0.0

    def forward(
        self, potentials: Tensor | Sequence[Tensor], targets: Tensor | Sequence[Any], lengths: Any = None
    ) -> Tensor:
        """The objective of a batch.

        `potentials` has the shape (batch, length, alphabet ** order), its columns as in `gradient_terms`; or it is a
        list of tensors (length_i, alphabet ** order). `targets` is a tensor of integers, a row for each sequence, or a
        list of strings. With `lengths`, both are read up to the length: what is beyond may hold anything, and gets a
        gradient of 0. A true string needs as many symbols as there are rows of potentials.
        """
        if torch.compiler.is_compiling():  # automata are no operations of a graph
            return torch.compiler.disable(self._objective)(potentials, targets, lengths)
        return self._objective(potentials, targets, lengths)

    def _objective(
        self, potentials: Tensor | Sequence[Tensor], targets: Tensor | Sequence[Any], lengths: Any
    ) -> Tensor:
        scores, sizes = _joined(potentials, lengths)
        alphabet_size = alphabet_of(scores, self.order)
        cut = lengths is not None or not isinstance(potentials, Tensor)
        strings = _strings(targets, sizes, alphabet_size, cut)
        values, gradient = self._terms(scores.detach().cpu().double().numpy(), strings, alphabet_size)
        sequence_of = torch.repeat_interleave(torch.tensor(sizes))
        losses = Known.apply(scores, torch.from_numpy(values), torch.from_numpy(gradient), sequence_of)
        if self.reduction == "none":
            return losses
        return losses.mean() if self.reduction == "mean" else losses.sum()

    def _terms(
        self, scores: NDArray[np.float64], strings: list[NDArray[np.int32]], alphabet_size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values, and their derivatives by all scores, the rows of all sequences concatenated."""
        parts = np.split(scores, np.cumsum([len(y) for y in strings])[:-1])
        _check_range(parts)
        terms = gradient_terms_batch(
            self.loss,
            strings,
            parts,
            order=self.order,
            max_states=self.max_states,
            threshold=self.threshold,
            n_jobs=self.n_jobs,
            cache=self.cache,
        )
        numbers = [substring_numbers(y, alphabet_size, self.order) for y in strings]
        values, gradient = np.empty(len(strings)), np.concatenate([one.q for one in terms])
        for k, (y, part) in enumerate(zip(strings, parts, strict=True)):
            score = float(part[np.arange(len(y)), numbers[k]].sum())
            if score == -math.inf:
                raise ValueError(
                    f"potentials[{k}] are -inf along targets[{k}], so that the loss would be infinite: -inf is for "
                    "what no target takes. Leave out this mask, or this sequence."
                )
            values[k] = terms[k].log_z - score - _own_loss(self.loss, y.tobytes(), alphabet_size)
        gradient[np.arange(len(gradient)), np.concatenate(numbers)] -= 1.0
        self.exact_ = all(one.exact for one in terms)
        self.log_z_error_ = max(one.log_z_error for one in terms)
        return values, gradient

    def extra_repr(self) -> str:
        return f"{self.loss}, order={self.order}, reduction={self.reduction!r}"


@lru_cache(maxsize=2**16)
def _own_loss(loss: StringLoss, symbols: bytes, alphabet_size: int) -> float:
    """L(y, y), kept because its automaton is made anew each time."""
    y = np.frombuffer(symbols, dtype=np.int32)
    return loss_value(loss, y, y, alphabet_size)


def _joined(potentials: Any, lengths: Any) -> tuple[Tensor, list[int]]:
    """Rows of all sequences as one matrix, without padding, and their numbers."""
    if not isinstance(potentials, Tensor):
        return _joined_list(potentials, lengths)
    _check_floating("potentials", potentials)
    if potentials.ndim != 3 or 0 in potentials.shape:
        raise ValueError(
            "potentials must have the shape (batch, length, alphabet ** order), none of them 0; got "
            f"{tuple(potentials.shape)}. A single sequence is potentials[None]."
        )
    n, length = potentials.shape[:2]
    if lengths is None:
        return potentials.flatten(0, 1), [length] * n
    sizes = torch.as_tensor(lengths).cpu()
    if sizes.is_floating_point() or sizes.dtype == torch.bool or sizes.shape != (n,):
        raise ValueError(
            f"lengths must have an integer for each of the {n} sequences; got the shape {tuple(sizes.shape)} and "
            f"{sizes.dtype}."
        )
    wrong = torch.nonzero((sizes < 1) | (sizes > length)).flatten().tolist()
    if wrong:
        raise ValueError(
            f"lengths must lie between 1 and {length}, the rows of potentials; lengths[{wrong[0]}] is "
            f"{int(sizes[wrong[0]])}. Leave out empty sequences."
        )
    inside = torch.arange(length) < sizes[:, None]
    return potentials[inside.to(potentials.device)], sizes.tolist()


def _joined_list(potentials: Any, lengths: Any) -> tuple[Tensor, list[int]]:
    if not isinstance(potentials, list | tuple):
        raise TypeError(f"potentials must be a tensor or a list of tensors; got {type(potentials).__name__}.")
    if lengths is not None:
        raise ValueError("lengths are for padded tensors; the tensors of a list have their own. Leave out lengths.")
    if not potentials:
        raise ValueError("potentials must have at least one sequence; got an empty list.")
    for k, one in enumerate(potentials):
        if not isinstance(one, Tensor):
            raise TypeError(f"potentials must be a tensor or a list of tensors; potentials[{k}] is {one!r:.80}.")
        _check_floating(f"potentials[{k}]", one)
        if one.ndim != 2 or 0 in one.shape or one.shape[1] != potentials[0].shape[-1]:
            raise ValueError(
                f"potentials[{k}] must have the shape (length, alphabet ** order), with the same columns for all "
                f"sequences and at least one row; got {tuple(one.shape)} beside {tuple(potentials[0].shape)}."
            )
    return torch.cat(list(potentials)), [len(one) for one in potentials]


def _check_floating(name: str, tensor: Tensor) -> None:
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must be scores, floating point numbers; got {tensor.dtype}. Targets come second.")


def _check_range(parts: list[NDArray[np.float64]]) -> None:
    for k, part in enumerate(parts):
        wrong = np.argwhere(np.isnan(part) | (part == math.inf))
        if len(wrong):
            position, column = wrong[0].tolist()
            raise FloatingPointError(
                f"potentials[{k}] are {part[position, column]} at position {position}: the scores of the network left "
                "the range of numbers (-inf is allowed, for what must not be taken). Lower the learning rate of the "
                "optimizer, or clip the gradients."
            )


def _strings(targets: Any, sizes: list[int], alphabet_size: int, cut: bool) -> list[NDArray[np.int32]]:
    """True strings, as long as their potentials; rows of one array are read up to that length if `cut`."""
    given = targets.detach().cpu().numpy() if isinstance(targets, Tensor) else targets
    if not isinstance(given, np.ndarray | list | tuple):
        raise TypeError(f"targets must be a tensor of integers or a list of strings; got {type(targets).__name__}.")
    if isinstance(given, np.ndarray) and given.ndim != 2:
        raise ValueError(f"A tensor of targets must have the shape (batch, length); got {given.shape}.")
    if len(given) != len(sizes):
        raise ValueError(f"There must be a target for each of the {len(sizes)} sequences; got {len(given)}.")
    cut = cut and isinstance(given, np.ndarray)
    rows = [row[:size] if cut else row for row, size in zip(given, sizes, strict=True)]
    return [_string(k, row, size, alphabet_size) for k, (row, size) in enumerate(zip(rows, sizes, strict=True))]


def _string(k: int, row: Any, size: int, alphabet_size: int) -> NDArray[np.int32]:
    array = row.detach().cpu().numpy() if isinstance(row, Tensor) else row
    try:
        y = check_string(f"targets[{k}]", array, alphabet_size)
    except ValueError as error:
        raise ValueError(f"{error} Padding needs lengths, and a tensor of targets.") from None
    if len(y) != size:
        raise ValueError(
            f"targets[{k}] has {len(y)} symbols and its potentials {size} rows: the score of the true string is only "
            "defined for as many. A padded batch needs lengths."
        )
    return y
