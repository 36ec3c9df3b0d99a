"""Automata as graphs: reachable states, topological order, trimming."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from radboost.structured.transducer import Arc, Transducer

Edge = tuple[int, float]
Edges = Sequence[Sequence[Edge]]
"""For each state, pairs of the target and the weight of an outgoing edge."""


def forward_edges(transducer: Transducer) -> Edges:
    """Outgoing arcs of each state as edges."""
    return [[(arc.target, arc.weight) for arc in transducer.arcs_from(s)] for s in range(transducer.n_states)]


def backward_edges(transducer: Transducer) -> Edges:
    """Incoming arcs of each state as edges to their origins."""
    edges: list[list[Edge]] = [[] for _ in range(transducer.n_states)]
    for arc in transducer.arcs:
        edges[arc.target].append((arc.origin, arc.weight))
    return edges


def reachable(sources: Iterable[int], edges: Edges) -> list[int]:
    """Sources and all states that can be reached from them."""
    states = dict.fromkeys(sources)
    waiting = list(states)
    for state in waiting:  # grows while it is read
        new = [target for target, _ in edges[state] if target not in states]
        waiting += dict.fromkeys(new)
        states |= dict.fromkeys(new)
    return waiting


def topological_order(states: Sequence[int], edges: Edges) -> list[int]:
    """Topological order of the states that are neither on a cycle nor reachable from one.

    `states` must contain the targets of all edges of its states.
    """
    n_incoming = dict.fromkeys(states, 0)
    for state in states:
        for target, _ in edges[state]:
            n_incoming[target] += 1
    order = [state for state in states if n_incoming[state] == 0]
    for state in order:  # grows while it is read
        for target, _ in edges[state]:
            n_incoming[target] -= 1
            if n_incoming[target] == 0:
                order.append(target)
    return order


def useful_states(transducer: Transducer) -> list[int]:
    """States on a path from an initial to a final state, ascending."""
    from_initial = set(reachable(transducer.initial, forward_edges(transducer)))
    return sorted(from_initial.intersection(reachable(transducer.final, backward_edges(transducer))))


def trim(transducer: Transducer) -> Transducer:
    """Transducer without the states that are on no path from an initial to a final state.

    The order of the other states, and all weights T(x, y), stay.
    """
    number = {state: index for index, state in enumerate(useful_states(transducer))}
    if len(number) == transducer.n_states:
        return transducer
    arcs = (
        Arc(number[arc.origin], arc.input, arc.output, arc.weight, number[arc.target])
        for arc in transducer.arcs
        if arc.origin in number and arc.target in number
    )
    initial = {number[state]: weight for state, weight in transducer.initial.items() if state in number}
    final = {number[state]: weight for state, weight in transducer.final.items() if state in number}
    return Transducer(transducer.semiring, len(number), arcs, initial, final)
