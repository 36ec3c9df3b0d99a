"""Removal of epsilons (Storcheus (2021), appendix D.1)."""

from __future__ import annotations

from radboost.structured.distances import epsilon_sums
from radboost.structured.graphs import trim, useful_states
from radboost.structured.transducer import EPSILON, Arc, Transducer


def remove_epsilon(transducer: Transducer) -> Transducer:
    """The transducer without arcs that neither read nor write, with the same weights T(x, y); trimmed.

    Each state gets the arcs and final weights of those that it reaches by such arcs, multiplied by the sum over all
    ways there. In an acceptor no epsilons remain; in a transducer, arcs with a symbol on one side do. In the tropical
    semiring cycles of epsilons must cost at least 0; in the log semiring there must be none.
    """
    semiring = transducer.semiring
    useful = set(useful_states(transducer))
    silent = [
        [(arc.target, arc.weight) for arc in transducer.arcs_from(state) if _is_silent(arc) and arc.target in useful]
        for state in range(transducer.n_states)
    ]
    # No path enters the other states any more.
    entered = {*transducer.initial, *(arc.target for arc in transducer.arcs if not _is_silent(arc))} & useful
    weights: dict[tuple[int, int, int, int], list[float]] = {}
    final: dict[int, float] = {}
    for state in sorted(entered):
        ways = epsilon_sums(semiring, {state: 0.0}, silent)
        for passed, way in ways.items():
            for arc in transducer.arcs_from(passed):
                if not _is_silent(arc):
                    key = (state, arc.input, arc.output, arc.target)
                    weights.setdefault(key, []).append(way + arc.weight)
        final[state] = semiring.sum(
            way + transducer.final[passed] for passed, way in ways.items() if passed in transducer.final
        )
    arcs = [
        Arc(origin, read, written, semiring.sum(several), target)
        for (origin, read, written, target), several in weights.items()
    ]
    return trim(Transducer(semiring, transducer.n_states, arcs, transducer.initial, final))


def _is_silent(arc: Arc) -> bool:
    return arc.input == EPSILON and arc.output == EPSILON
