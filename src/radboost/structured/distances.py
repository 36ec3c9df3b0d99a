"""Sums of the weights of paths: DistFromInitial and DistToFinal of Storcheus, section 6.4 and Figure 6.2(a).

Along the arcs of an acyclic automaton they are one pass in topological order, in any semiring (the forward-backward
algorithm). In the tropical semiring they are shortest distances, which cycles of cost at least 0 do not change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from radboost.structured.graphs import (
    Edges,
    backward_edges,
    forward_edges,
    reachable,
    state_on_cycle,
    topological_order,
)
from radboost.structured.semirings import Semiring
from radboost.structured.transducer import Transducer

# Costs of cycles that are negative by less than this, relative to the largest number involved, are taken for 0: costs
# are rounded.
ROUNDING = 2.0**-40


def distance_from_initial(transducer: Transducer) -> list[float]:
    """Sums of the weights of all paths from the initial states to each state, with initial weights.

    Alpha of Storcheus, section 6.4. Zero of the semiring for a state that no path reaches.
    """
    edges = forward_edges(transducer)
    sums = path_sums(transducer.semiring, transducer.initial, edges, "distance_from_initial")
    return [sums.get(state, transducer.semiring.zero) for state in range(transducer.n_states)]


def distance_to_final(transducer: Transducer) -> list[float]:
    """Sums of the weights of all paths from each state to the final states, with final weights.

    Beta of Storcheus, section 6.4. Zero of the semiring for a state from which no path leads to a final one.
    """
    edges = backward_edges(transducer)
    sums = path_sums(transducer.semiring, transducer.final, edges, "distance_to_final")
    return [sums.get(state, transducer.semiring.zero) for state in range(transducer.n_states)]


def total_weight(transducer: Transducer) -> float:
    """The sum of the weights of all paths from initial to final states: Z of Storcheus, Figure 6.2(a), line 9."""
    semiring = transducer.semiring
    distances = distance_from_initial(transducer)
    total = semiring.sum(semiring.times(distances[state], weight) for state, weight in transducer.final.items())
    return semiring.check(total, "the sum over all paths")


def path_sums(
    semiring: Semiring, sources: Mapping[int, float], edges: Edges, task: str, cycle: str = "a cycle"
) -> dict[int, float]:
    """The sum of the weights of all paths from the sources to each state that they reach.

    `task` is what the caller does and `cycle` what kind of cycle these edges can make, for the messages.
    """
    states = reachable(sources, edges)
    order = topological_order(states, edges)
    if len(order) == len(states):
        return _sums_in_order(semiring, sources, order, edges, task)
    if semiring.idempotent:
        return _shortest_distances(sources, states, edges, task, cycle)
    raise ValueError(
        f"{task} adds up the weights of all paths, of which {cycle} makes infinitely many: state "
        f"{state_on_cycle(states, edges)} lies on one. In the {semiring.name} semiring there must be none; in the "
        "tropical semiring cycles of cost at least 0 are allowed."
    )


def _sums_in_order(
    semiring: Semiring, sources: Mapping[int, float], order: Sequence[int], edges: Edges, task: str
) -> dict[int, float]:
    """One pass in topological order; each state has one sum, which rounds once."""
    arriving: dict[int, list[float]] = {state: [] for state in order}
    for state, weight in sources.items():
        arriving[state].append(weight)
    sums: dict[int, float] = {}
    for state in order:
        sums[state] = semiring.check(semiring.sum(arriving.pop(state)), f"{task}: the sum at state {state}")
        for target, weight in edges[state]:
            arriving[target].append(semiring.times(sums[state], weight))
    return sums


def _shortest_distances(
    sources: Mapping[int, float], states: Sequence[int], edges: Edges, task: str, cycle: str
) -> dict[int, float]:
    """Bellman and Ford's algorithm, in the tropical semiring, the only idempotent one."""
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
                f"{task} looks for the smallest cost of a path, but {cycle} of negative cost leads through state "
                f"{state}, so that there is none. Give the arcs of every cycle costs that add up to at least 0."
            )
    return distances
