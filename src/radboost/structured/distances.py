"""Shortest distances: sums of the costs of paths, in either semiring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from radboost.structured.graphs import Edges, reachable, state_on_cycle, topological_order
from radboost.structured.semirings import TROPICAL, Semiring, check_cost

ROUNDING = 2.0**-40  # relative size up to which negative costs of cycles are rounding errors of 0


def epsilon_sums(semiring: Semiring, sources: Mapping[int, float], edges: Edges) -> dict[int, float]:
    """The sum of the weights of all paths from the sources to each state that they reach; edges are epsilons.

    Without cycles it is one pass in topological order (the forward algorithm). In the tropical semiring it is the
    shortest distance, which cycles of cost at least 0 do not change.
    """
    states = reachable(sources, edges)
    order = topological_order(states, edges)
    if len(order) == len(states):
        return _sums_in_order(semiring, sources, order, edges)
    if semiring is TROPICAL:
        return _shortest_distances(sources, states, edges)
    raise ValueError(
        "remove_epsilon adds up the weights of all paths, of which a cycle of epsilons makes infinitely many: state "
        f"{state_on_cycle(states, edges)} lies on one. In the {semiring.name} semiring there must be none; in the "
        "tropical semiring cycles of cost at least 0 are allowed."
    )


def _sums_in_order(
    semiring: Semiring, sources: Mapping[int, float], order: Sequence[int], edges: Edges
) -> dict[int, float]:
    """One pass in topological order; each state has one sum, which rounds once."""
    arriving: dict[int, list[float]] = {state: [] for state in order}
    for state, weight in sources.items():
        arriving[state].append(weight)
    sums: dict[int, float] = {}
    for state in order:
        sums[state] = check_cost(semiring.sum(arriving.pop(state)), f"remove_epsilon: the sum at state {state}")
        for target, weight in edges[state]:
            arriving[target].append(sums[state] + weight)
    return sums


def _shortest_distances(sources: Mapping[int, float], states: Sequence[int], edges: Edges) -> dict[int, float]:
    """Bellman and Ford's algorithm, in the tropical semiring."""
    distances = dict.fromkeys(states, math.inf) | dict(sources)
    before: dict[int, int] = {}
    for _ in states:  # a shortest path has fewer arcs than there are states
        changed = False
        for state in states:
            for target, cost in edges[state]:
                if distances[state] + cost < distances[target]:
                    distances[target] = distances[state] + cost
                    before[target] = state
                    changed = True
        if not changed:
            return distances
    costs = [abs(cost) for state in states for _, cost in edges[state]]
    tolerance = ROUNDING * max(*costs, *map(abs, distances.values()))
    for state in states:
        if any(distances[state] + cost < distances[target] - tolerance for target, cost in edges[state]):
            for _ in states:  # so many steps back along the path that improved last end on its cycle
                state = before[state]
            raise ValueError(
                "remove_epsilon looks for the smallest cost of a path, but a cycle of epsilons of negative cost leads "
                f"through state {state}, so that there is none. Give the arcs of every cycle costs that add up to at "
                "least 0."
            )
    return distances
