"""Operations on weighted automata and transducers (Storcheus, appendix D.1), all importable from here."""

from __future__ import annotations

from collections.abc import Iterable

from radboost.structured.composition import LazyComposition, common_semiring, compose
from radboost.structured.determinization import determinize
from radboost.structured.distances import distance_from_initial, distance_to_final, path_sums, total_weight
from radboost.structured.graphs import trim, useful_states
from radboost.structured.transducer import EPSILON, Arc, Transducer

__all__ = [
    "LazyComposition",
    "compose",
    "determinize",
    "distance_from_initial",
    "distance_to_final",
    "pair_weight",
    "remove_epsilon",
    "string_weight",
    "total_weight",
    "trim",
    "union",
]


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
        ways = path_sums(semiring, {state: semiring.one}, silent, "remove_epsilon", "a cycle of epsilons")
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


def pair_weight(transducer: Transducer, x: Iterable[int], y: Iterable[int]) -> float:
    """T(x, y), the sum of the weights of all paths that read x and write y (Storcheus, section 6.3).

    It is the sum over the paths of X o T o Y, where X and Y accept nothing but x and y.
    """
    semiring = transducer.semiring
    reading = compose(Transducer.of_string(x, semiring), transducer)
    return total_weight(compose(reading, Transducer.of_string(y, semiring)))


def string_weight(acceptor: Transducer, x: Iterable[int]) -> float:
    """A(x), the sum of the weights of all paths of an acceptor that read x (Storcheus, section 6.3)."""
    if not acceptor.is_acceptor:
        raise ValueError(
            "string_weight needs an acceptor, whose arcs write what they read; got a transducer. "
            "Call pair_weight, or project first."
        )
    return total_weight(compose(Transducer.of_string(x, acceptor.semiring), acceptor))
