"""Determinization of acyclic acceptors (Mohri 1997; Storcheus, section 6.4 and appendix D.1)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from radboost._validation import check_integer
from radboost.structured.graphs import forward_edges, state_on_cycle, trim, useful_states
from radboost.structured.semirings import PROBABILITY, Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer

# Largest relative difference of residuals that are taken for the same: some thousand times the rounding error of one
# operation, because errors add up along a path.
RESIDUAL_TOLERANCE = 2.0**-40


def determinize(acceptor: Transducer, max_states: int | None = None) -> Transducer:
    """The deterministic acceptor that gives every string the same weight: Det(A) of Storcheus, appendix D.1.

    Its states are subsets of the states of the acceptor. Each member has a residual: its part of the weight of the
    string read so far (Mohri 1997). Residuals are divided by their semiring sum, which goes to the arc that leads to
    the subset. Subsets of the same states whose residuals differ only by rounding are one state. In the probability
    semiring that is 2^-40 of the residual, otherwise 2^-40 times the largest weight of the acceptor (in the log
    semiring at least 1). So leave out forbidden arcs instead of giving them huge costs. The acceptor must have no
    epsilons and no cycles. There may be exponentially many subsets; `max_states` limits them.
    """
    limit = math.inf if max_states is None else check_integer("max_states", max_states, 1)
    _check_input(acceptor)
    acceptor = trim(acceptor)
    semiring = acceptor.semiring
    if acceptor.n_states == 0:
        return acceptor
    subsets = _Subsets(semiring, _tolerance(acceptor))
    number, total = subsets.number(acceptor.initial)
    initial = {number: total}
    final: dict[int, float] = {}
    arcs: list[Arc] = []
    state = 0
    while state < len(subsets.residuals):  # which grows
        residuals = subsets.residuals[state]
        final[state] = semiring.sum(
            semiring.times(residual, acceptor.final[member])
            for member, residual in residuals.items()
            if member in acceptor.final
        )
        for symbol, reached in _reached(acceptor, residuals).items():
            number, total = subsets.number(reached)
            arcs.append(Arc(state, symbol, symbol, total, number))
        if len(subsets.residuals) > limit:
            raise ValueError(
                f"determinize makes more than max_states={max_states} states of an acceptor of {acceptor.n_states} "
                "states. Allow more of them, or determinize a smaller acceptor."
            )
        state += 1
    return trim(Transducer(semiring, len(subsets.residuals), arcs, initial, final))


def _check_input(acceptor: Transducer) -> None:
    if not acceptor.is_acceptor:
        raise ValueError(
            "determinize needs an acceptor, whose arcs write what they read; got a transducer. Call project first."
        )
    if any(arc.input == EPSILON for arc in acceptor.arcs):
        raise ValueError("determinize needs an acceptor without epsilons. Call remove_epsilon first.")
    useful = set(useful_states(acceptor))
    edges = [
        [edge for edge in group if edge[0] in useful] if state in useful else []
        for state, group in enumerate(forward_edges(acceptor))
    ]
    cyclic = state_on_cycle(sorted(useful), edges)
    if cyclic is not None:
        raise ValueError(
            f"determinize needs an acyclic acceptor, but state {cyclic} lies on a cycle. Compose it with "
            "Transducer.of_length first to keep the strings of one length."
        )


def _tolerance(acceptor: Transducer) -> float:
    """How much residuals may differ and still be the same, in costs (-log in the probability semiring)."""
    if acceptor.semiring == PROBABILITY:
        return RESIDUAL_TOLERANCE  # products and quotients round in relation to what they yield
    weights = [*acceptor.initial.values(), *(arc.weight for arc in acceptor.arcs)]
    largest = max(map(abs, weights))
    # Minima of scaled costs are scaled minima, but the sum of exponentials has a scale of its own.
    return RESIDUAL_TOLERANCE * ((largest or 1.0) if acceptor.semiring.idempotent else max(1.0, largest))


def _reached(acceptor: Transducer, residuals: Mapping[int, float]) -> dict[int, dict[int, float]]:
    """States that each symbol leads to from a subset, with their weights."""
    semiring = acceptor.semiring
    arriving: dict[int, dict[int, list[float]]] = {}
    for member, residual in residuals.items():
        for arc in acceptor.arcs_from(member):
            weight = semiring.times(residual, arc.weight)
            if weight != semiring.zero:  # which products that are too small for a float are
                arriving.setdefault(arc.input, {}).setdefault(arc.target, []).append(weight)
    return {
        symbol: {target: semiring.sum(weights) for target, weights in targets.items()}
        for symbol, targets in sorted(arriving.items())
    }


class _Subsets:
    """The subsets met so far and their numbers."""

    # Residuals that differ by rounding may lie on two sides of any grid, so that rounding would not always merge them.
    # Instead, all residuals of a subset are added up with fixed random factors. The sum has a cell in a grid, so large
    # that subsets within the tolerance lie in the same or in neighboring cells. There the residuals are compared.

    def __init__(self, semiring: Semiring, tolerance: float) -> None:
        self.residuals: list[dict[int, float]] = []
        self._semiring = semiring
        self._tolerance = tolerance
        self._costs: list[list[float]] = []
        self._cells: dict[tuple[tuple[int, ...], int], list[int]] = {}
        self._random = random.Random(0)
        self._factors: list[float] = []

    def number(self, weights: Mapping[int, float]) -> tuple[int, float]:
        """Number of the subset with these weights, after they are divided by their sum, and the sum."""
        total = self._semiring.check(self._semiring.sum(weights.values()), "determinize: the sum of the residuals")
        divided = {state: self._semiring.divide(weights[state], total) for state in sorted(weights)}
        residuals = {state: residual for state, residual in divided.items() if residual != self._semiring.zero}
        members = tuple(residuals)
        costs = [self._cost(residual) for residual in residuals.values()]
        cell = self._cell(costs)
        for near in (cell, cell - 1, cell + 1):
            for number in self._cells.get((members, near), ()):
                pairs = zip(costs, self._costs[number], strict=True)
                if all(abs(cost - other) <= self._tolerance for cost, other in pairs):
                    return number, total
        number = len(self.residuals)
        self.residuals.append(residuals)
        self._costs.append(costs)
        self._cells.setdefault((members, cell), []).append(number)
        return number, total

    def _cost(self, residual: float) -> float:
        return -math.log(residual) if self._semiring == PROBABILITY else residual

    def _cell(self, costs: list[float]) -> int:
        while len(self._factors) < len(costs):
            self._factors.append(self._random.random())
        mixed = math.fsum(factor * cost for factor, cost in zip(self._factors, costs, strict=False))
        # Factors are below 1: within the tolerance, the sum differs by less than this.
        return math.floor(mixed / (self._tolerance * len(costs)))
