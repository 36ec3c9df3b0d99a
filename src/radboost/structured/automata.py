"""Deterministic automata of the losses between any string and a true string, with a cache."""

from __future__ import annotations

import math
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radboost._validation import LARGEST_INTEGER, check_integer, check_real
from radboost.engine import LossAutomaton, LossSource, StopFlag, make_loss_source
from radboost.structured.graphs import topological_order
from radboost.structured.losses import LARGEST_COST, StringLoss, get_string_loss
from radboost.structured.semirings import TROPICAL
from radboost.structured.transducer import EPSILON, Arc, Transducer

DEFAULT_STATES = 100_000  # budget of an automaton
MOST_STATES = 2**30
DEFAULT_CACHE_BYTES = 2**28  # of a LossCache


def check_string(name: str, y: Any, alphabet_size: int) -> NDArray[np.int32]:
    """A string of symbols 0, ..., alphabet_size - 1 as an array."""
    array = as_array(y)
    if array is not None and array.size == 0 and array.ndim == 1:
        array = array.astype(np.int64)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a sequence of integers from 0 to {alphabet_size - 1}; got {repr(y)[:80]}.")
    outside = np.flatnonzero((array < 0) | (array >= alphabet_size))
    if outside.size:
        raise ValueError(
            f"{name} has the symbol {array[outside[0]]} at position {outside[0]}; the alphabet has {alphabet_size} "
            f"symbols, 0 to {alphabet_size - 1}."
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def as_array(values: Any) -> NDArray[Any] | None:
    """Values as an array; None if they do not fit into one, or some are masked."""
    if values is None or np.ma.is_masked(values):
        return None
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return None


def loss_source(loss: StringLoss, y: NDArray[np.int32], alphabet_size: int) -> LossSource:
    """Pi_1(U o Y_i) for the native code: arcs by classes of symbols, epsilons in topological order."""
    acceptor = loss.acceptor([int(symbol) for symbol in y], alphabet_size)
    weights = [arc.weight for arc in acceptor.arcs] + [*acceptor.initial.values(), *acceptor.final.values()]
    if max(map(abs, weights), default=0.0) > LARGEST_COST:
        raise ValueError(
            f"The costs of a loss must be at most {LARGEST_COST:g} in size; the largest is {max(map(abs, weights)):g}."
        )
    silent = _in_order(acceptor)
    if acceptor.n_states == 0:
        raise ValueError(
            f"The loss of every string is infinite: its transducer has no path to the true string {y.tolist()[:20]}, "
            f"over the symbols 0 to {alphabet_size - 1}. Give it arcs for all symbols."
        )
    by_symbol: dict[int, list[Arc]] = {}
    for arc in acceptor.arcs:
        if arc.input != EPSILON:
            by_symbol.setdefault(arc.input, []).append(arc)
    classes: dict[tuple[tuple[int, int, float], ...], int] = {}
    class_of = []
    for symbol in range(alphabet_size):
        moves = tuple(sorted((arc.origin, arc.target, arc.weight) for arc in by_symbol.get(symbol, ())))
        class_of.append(classes.setdefault(moves, len(classes)))
    arcs = [move for moves in classes for move in moves] + [(arc.origin, arc.target, arc.weight) for arc in silent]
    starts = np.cumsum([0, *map(len, classes)])
    columns = np.array(arcs, dtype=np.float64).reshape(-1, 3).T
    ends = acceptor.initial, acceptor.final
    initial, final = (np.array([of.get(s, math.inf) for s in range(acceptor.n_states)], np.float64) for of in ends)
    return make_loss_source(
        minimum=acceptor.semiring is TROPICAL,
        initial=initial,
        final=final,
        class_of=np.array(class_of, dtype=np.int32),
        class_starts=starts.astype(np.int64),
        origin=np.ascontiguousarray(columns[0], dtype=np.int32),
        target=np.ascontiguousarray(columns[1], dtype=np.int32),
        cost=np.ascontiguousarray(columns[2]),
    )


def _in_order(acceptor: Transducer) -> list[Arc]:
    """Arcs that read nothing, the origin of none being the target of a later one; ValueError for a cycle."""
    silent = [arc for arc in acceptor.arcs if arc.input == EPSILON]
    edges: list[list[tuple[int, float]]] = [[] for _ in range(acceptor.n_states)]
    for arc in silent:
        edges[arc.origin].append((arc.target, arc.weight))
    states = sorted({state for arc in silent for state in (arc.origin, arc.target)})
    order = topological_order(states, edges)
    if len(order) < len(states):
        raise ValueError(
            "The transducer of the loss has a cycle of arcs that read nothing, by which strings have infinitely many "
            "paths. Leave out an arc of it."
        )
    position = {state: k for k, state in enumerate(order)}
    return sorted(silent, key=lambda arc: position[arc.origin])


def loss_value(loss: StringLoss | str, y: Any, y_true: Any, alphabet_size: int | None = None) -> float:
    """L(y, y_true). The alphabet is as large as the symbols ask for unless its size is given."""
    loss = get_string_loss(loss)
    size = LARGEST_INTEGER if alphabet_size is None else check_integer("alphabet_size", alphabet_size, 1)
    if alphabet_size is None:
        strings = check_string("y", y, size), check_string("y_true", y_true, size)
        size = 1 + max((int(string.max()) for string in strings if len(string)), default=0)
    predicted, true = check_string("y", y, size), check_string("y_true", y_true, size)
    loss.check_lengths(len(predicted), len(true))
    return float(loss_source(loss, true, size).loss(predicted))


class LossCache:
    """Deterministic automata of losses, least recently used ones are dropped beyond `max_bytes`. Thread-safe."""

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self.max_bytes = check_integer("max_bytes", max_bytes, 0, 2**62)
        self._kept: OrderedDict[Any, LossAutomaton] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def automaton(
        self,
        loss: StringLoss,
        y: NDArray[np.int32],
        length: int,
        alphabet_size: int,
        max_states: int,
        threshold: float,
        stop: StopFlag | None = None,
    ) -> LossAutomaton:
        """B of Figures 6.2(a) and 6.4(a), before exp, for strings of one length."""
        key = (loss, y.tobytes(), length, alphabet_size, max_states, threshold)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        made = loss_source(loss, y, alphabet_size).determinize(length, max_states, threshold, stop)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += made.n_bytes
            while self._bytes > self.max_bytes and self._kept:
                self._bytes -= self._kept.popitem(last=False)[1].n_bytes
        return made

    # Copies and pickles of an estimator begin with an empty cache.
    def __getstate__(self) -> dict[str, int]:
        return {"max_bytes": self.max_bytes}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["max_bytes"])  # type: ignore[misc]


def check_budget(
    loss: StringLoss, max_states: object, threshold: object, length: int, default: int = DEFAULT_STATES
) -> tuple[int, float]:
    """Budget of states, and the distance from the least loss within which losses are kept exact first (None: any).

    Without a budget, losses whose automata stay small have none, others the default.
    """
    if max_states is None:
        budget = MOST_STATES if loss.is_small else max(default, 2 * length + 2)
    else:
        budget = check_integer("max_states", max_states, 1)
    if budget < 2 * length + 2:
        raise ValueError(
            f"max_states must allow for two states at every position, at least {2 * length + 2} for strings of length "
            f"{length}; got {budget}."
        )
    return budget, math.inf if threshold is None else check_real("threshold", threshold, low=0.0)
