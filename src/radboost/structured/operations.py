"""Union and removal of epsilons (Storcheus (2021), appendix D.1)."""

from __future__ import annotations

from radboost.structured.composition import common_semiring
from radboost.structured.distances import epsilon_sums
from radboost.structured.graphs import trim, useful_states
from radboost.structured.transducer import EPSILON, Arc, Transducer


def union(first: Transducer, second: Transducer) -> Transducer:
    """The transducer with the sum of both weights: T(x, y) = T1(x, y) (+) T2(x, y).

    The states of the second follow those of the first. Several states may be initial, so no epsilons are needed.
    """
    semiring = common_semiring("union", first, second)
    n_first = first.n_states
    moved = [arc._replace(origin=arc.origin + n_first, target=arc.target + n_first) for arc in second.arcs]
    initial = dict(first.initial) | {state + n_first: weight for state, weight in second.initial.items()}
    final = dict(first.final) | {state + n_first: weight for state, weight in second.final.items()}
    return Transducer(semiring, n_first + second.n_states, [*first.arcs, *moved], initial, final)


def remove_epsilon(transducer: Transducer) -> Transducer:
    """The transducer without arcs that neither read nor write, with the same weights T(x, y); trimmed.

    Each state gets the arcs and final weights of those that it reaches by such arcs, multiplied by the sum over all
    ways there. In an acceptor no epsilons remain; in a transducer, arcs with a symbol on one side do. In the tropical
    semiring cycles of epsilons must cost at least 0; in the other semirings there must be none.
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
        ways = epsilon_sums(semiring, {state: semiring.one}, silent)
        for passed, way in ways.items():
            for arc in transducer.arcs_from(passed):
                if not _is_silent(arc):
                    key = (state, arc.input, arc.output, arc.target)
                    weights.setdefault(key, []).append(semiring.times(way, arc.weight))
        final[state] = semiring.sum(
            semiring.times(way, transducer.final[passed]) for passed, way in ways.items() if passed in transducer.final
        )
    arcs = [
        Arc(origin, read, written, semiring.sum(several), target)
        for (origin, read, written, target), several in weights.items()
    ]
    return trim(Transducer(semiring, transducer.n_states, arcs, transducer.initial, final))


def _is_silent(arc: Arc) -> bool:
    return arc.input == EPSILON and arc.output == EPSILON
