"""Strings from scores: the highest scoring ones, and the one with the least expected loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from radboost.structured.automata import LossCache
from radboost.structured.gradient import alphabet_of, expected_loss, gradient_terms
from radboost.structured.losses import Hamming, StringCrossEntropy, StringLoss


def best_strings(potentials: NDArray[np.float64], order: int, n_best: int = 1) -> NDArray[np.int32]:
    """The `n_best` strings with the highest scores, best first (Viterbi's algorithm with a list at every state)."""
    length, size = len(potentials), alphabet_of(potentials, order)
    n_states = size ** (order - 1)
    # Strings begin with zeros before their first position, which is how shorter substrings are numbered.
    scores = np.full((n_states, n_best), -np.inf)
    scores[0, 0] = 0.0
    back = np.empty((length, n_states, n_best, 3), dtype=np.int64)  # state before, rank in its list, symbol
    for s in range(length):
        # From (oldest symbol, others, rank) by a symbol to (others, symbol): with order 1 there is one state.
        candidates = scores[:, :, None] + potentials[s].reshape(n_states, 1, size)
        oldest = size if order > 1 else 1
        grouped = candidates.reshape(oldest, n_states // oldest, n_best, size)
        lists = grouped.transpose(1, 3, 0, 2) if order > 1 else grouped.transpose(1, 0, 2, 3)
        lists = lists.reshape(n_states, -1)
        chosen = np.argsort(-lists, axis=1, kind="stable")[:, :n_best]
        scores = np.take_along_axis(lists, chosen, axis=1)
        if order > 1:
            states = np.arange(n_states)[:, None]
            origin = (chosen // n_best) * (n_states // oldest) + states // size
            back[s] = np.stack([origin, chosen % n_best, np.broadcast_to(states % size, chosen.shape)], axis=2)
        else:
            back[s] = np.stack([np.zeros_like(chosen), chosen // size, chosen % size], axis=2)
    return _read_back(scores.ravel(), back, n_best)


def _read_back(flat: NDArray[np.float64], back: NDArray[np.int64], n_best: int) -> NDArray[np.int32]:
    length = len(back)
    ends = np.argsort(-flat, kind="stable")[:n_best]
    ends = ends[flat[ends] > -np.inf]
    strings = np.empty((len(ends), length), dtype=np.int32)
    for number, end in enumerate(ends):
        state, rank = divmod(int(end), n_best)
        for s in range(length - 1, -1, -1):
            state, rank, strings[number, s] = back[s, state, rank]
    return strings


def marginals(potentials: NDArray[np.float64], order: int, cache: LossCache) -> NDArray[np.float64]:
    """Probabilities of symbols, shape (length, alphabet_size), for strings drawn with odds exp(score)."""
    length, size = len(potentials), alphabet_of(potentials, order)
    terms = gradient_terms(StringCrossEntropy(), [0] * length, potentials, order=order, cache=cache)
    return np.asarray(terms.q.reshape(length, -1, size).sum(axis=1))


def least_expected_loss(
    loss: StringLoss, potentials: NDArray[np.float64], order: int, n_candidates: int, cache: LossCache, **budget: Any
) -> NDArray[np.int32]:
    """The string with the least expected loss under the model.

    For the Hamming loss it has the likeliest symbol at each position. For others it is the best of the `n_candidates`
    strings with the highest scores and that one; their expected losses are sums over all strings, by automata.
    """
    likeliest: NDArray[np.int32] = marginals(potentials, order, cache).argmax(axis=1).astype(np.int32)
    if isinstance(loss, Hamming):
        return likeliest
    candidates = best_strings(potentials, order, n_candidates)
    if isinstance(loss, StringCrossEntropy):
        return np.asarray(candidates[0])
    tried = np.unique(np.vstack([candidates, likeliest]), axis=0)
    expected = [sum(expected_loss(loss, one, potentials, order=order, cache=cache, **budget)) for one in tried]
    return np.asarray(tried[int(np.argmin(expected))])
