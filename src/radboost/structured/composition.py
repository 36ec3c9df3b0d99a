"""Composition of transducers (Storcheus (2021), appendix D.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from radboost.structured.graphs import trim
from radboost.structured.transducer import EPSILON, Arc, Transducer

# States of the filter: the sides that may take epsilons alone.
ANYTHING, LEFT_ALONE, RIGHT_ALONE = 0, 1, 2

State = tuple[int, int, int]  # of the left transducer, of the right one, and of the filter
ArcsBySymbol = Mapping[int, Sequence[Arc]]


def compose(left: Transducer, right: Transducer) -> Transducer:
    """The composition T1 o T2, without states that lie on no path to a final state.

    (T1 o T2)(x, y) is the sum of T1(x, z) (x) T2(z, y) over all z. Storcheus (2021), equation D.1. A state is a
    triple of states: of the left side, the right side, and the epsilon filter of Mohri, Pereira and Riley (1996).
    Without it, epsilons that both sides have between two symbols of z could be taken in several orders, and sums would
    count each order. Here both sides first take epsilons together. The side with more of them then takes the others
    alone, while the other side waits. Where that side has no epsilons the filter stays in its first state, so that it
    adds no states where only one side has epsilons.
    """
    if left.semiring != right.semiring:
        raise ValueError(
            f"composition needs two transducers over the same semiring; got {left.semiring.value!r} and "
            f"{right.semiring.value!r}."
        )
    states: list[State] = []
    numbers: dict[State, int] = {}

    def number_of(state: State) -> int:
        if state not in numbers:
            numbers[state] = len(states)
            states.append(state)
        return numbers[state]

    @cache
    def by_output(state: int) -> ArcsBySymbol:
        return _by_symbol(left, state, "output")

    @cache
    def by_input(state: int) -> ArcsBySymbol:
        return _by_symbol(right, state, "input")

    initial = {
        number_of((one, other, ANYTHING)): weight + other_weight
        for (one, weight), (other, other_weight) in product(left.initial.items(), right.initial.items())
    }
    final: dict[int, float] = {}
    arcs: list[Arc] = []
    for number, state in enumerate(states):  # grows while it is read
        one, other, _ = state
        if one in left.final and other in right.final:
            final[number] = left.final[one] + right.final[other]
        for read, written, weight, target in _arcs(state, by_output(one), by_input(other)):
            arcs.append(Arc(number, read, written, weight, number_of(target)))
    return trim(Transducer(left.semiring, len(states), arcs, initial, final))


def _by_symbol(transducer: Transducer, state: int, side: str) -> ArcsBySymbol:
    """Arcs of a state by their symbol on a side, "input" or "output"."""
    groups: dict[int, list[Arc]] = {}
    for arc in transducer.arcs_from(state):
        groups.setdefault(getattr(arc, side), []).append(arc)
    return groups


def _arcs(state: State, written: ArcsBySymbol, read: ArcsBySymbol) -> Iterator[tuple[int, int, float, State]]:
    """Arcs of a state: input, output, weight and target."""
    one, other, allowed = state
    left_epsilons, right_epsilons = written.get(EPSILON, ()), read.get(EPSILON, ())
    together = list(_matches(written, read))
    if allowed == ANYTHING:
        together += product(left_epsilons, right_epsilons)
    for left, right in together:
        yield left.input, right.output, left.weight + right.weight, (left.target, right.target, ANYTHING)
    if allowed != RIGHT_ALONE:
        follows = LEFT_ALONE if right_epsilons else ANYTHING
        for arc in left_epsilons:
            yield arc.input, EPSILON, arc.weight, (arc.target, other, follows)
    if allowed != LEFT_ALONE:
        follows = RIGHT_ALONE if left_epsilons else ANYTHING
        for arc in right_epsilons:
            yield EPSILON, arc.output, arc.weight, (one, arc.target, follows)


def _matches(written: ArcsBySymbol, read: ArcsBySymbol) -> Iterator[tuple[Arc, Arc]]:
    """Pairs of arcs, of which one reads the symbol that the other writes; goes through the side with fewer symbols."""
    fewer, more = (written, read) if len(written) <= len(read) else (read, written)
    for symbol in fewer:
        if symbol != EPSILON and symbol in more:
            yield from product(written[symbol], read[symbol])
