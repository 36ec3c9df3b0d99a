"""Composition of transducers (Storcheus, appendix D.1), with states that are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from radboost.structured.graphs import trim
from radboost.structured.semirings import Semiring
from radboost.structured.transducer import EPSILON, Arc, Transducer

# States of the filter: the sides that may take epsilons alone.
ANYTHING, LEFT_ALONE, RIGHT_ALONE = 0, 1, 2

ArcsBySymbol = Mapping[int, Sequence[Arc]]


def common_semiring(task: str, left: Transducer, right: Transducer) -> Semiring:
    """The semiring of both, refused where they differ."""
    if left.semiring != right.semiring:
        raise ValueError(
            f"{task} needs two transducers over the same semiring; got {left.semiring.name!r} and "
            f"{right.semiring.name!r}. Transducer.map_weights brings one over the semiring of the other."
        )
    return left.semiring


class LazyComposition:
    """The composition of two transducers, whose states are made when arcs lead to them.

    (T1 o T2)(x, y) is the sum of T1(x, z) (x) T2(z, y) over all z (Storcheus, equation D.1). A state stands for a state
    of the left side, one of the right side and one of the epsilon filter of Mohri, Pereira and Riley (1996). Without
    the filter, epsilons that both sides have between two symbols of z could be taken in several orders, and sums would
    count each order. Here both sides first take epsilons together. The side with more of them then takes the others
    alone, while the other side waits. Where that side has no epsilons the filter stays in its first state, so that it
    adds no states where only one side has epsilons.
    """

    def __init__(self, left: Transducer, right: Transducer) -> None:
        self.semiring = common_semiring("composition", left, right)
        self._left, self._right = left, right
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._states: list[tuple[int, int, int]] = []
        self._by_output: dict[int, ArcsBySymbol] = {}
        self._by_input: dict[int, ArcsBySymbol] = {}

    @property
    def n_states(self) -> int:
        """How many states have been made so far; they are numbered in this order."""
        return len(self._states)

    def pair(self, state: int) -> tuple[int, int]:
        """The states of the left and of the right transducer that a state stands for."""
        return self._states[state][:2]

    def initial(self) -> dict[int, float]:
        """The initial states and their weights."""
        return {
            self._number(left, right, ANYTHING): self.semiring.times(left_weight, right_weight)
            for (left, left_weight), (right, right_weight) in product(
                self._left.initial.items(), self._right.initial.items()
            )
        }

    def final(self, state: int) -> float:
        """The final weight of a state, the zero of the semiring where it is not final."""
        left, right = self.pair(state)
        if left in self._left.final and right in self._right.final:
            return self.semiring.times(self._left.final[left], self._right.final[right])
        return self.semiring.zero

    def arcs(self, state: int) -> list[Arc]:
        """The arcs of a state."""
        left, right, allowed = self._states[state]
        written = _by_symbol(self._by_output, self._left, left, "output")
        read = _by_symbol(self._by_input, self._right, right, "input")
        arcs = [self._both(state, *pair) for pair in _matches(written, read)]
        left_epsilons, right_epsilons = written.get(EPSILON, ()), read.get(EPSILON, ())
        if allowed == ANYTHING:
            arcs += [self._both(state, *pair) for pair in product(left_epsilons, right_epsilons)]
        if allowed != RIGHT_ALONE:
            follows = LEFT_ALONE if right_epsilons else ANYTHING
            for arc in left_epsilons:
                target = self._number(arc.target, right, follows)
                arcs.append(Arc(state, arc.input, EPSILON, arc.weight, target))
        if allowed != LEFT_ALONE:
            follows = RIGHT_ALONE if left_epsilons else ANYTHING
            for arc in right_epsilons:
                target = self._number(left, arc.target, follows)
                arcs.append(Arc(state, EPSILON, arc.output, arc.weight, target))
        return arcs

    def _both(self, state: int, left: Arc, right: Arc) -> Arc:
        """The arc of two arcs that are taken together."""
        target = self._number(left.target, right.target, ANYTHING)
        return Arc(state, left.input, right.output, self.semiring.times(left.weight, right.weight), target)

    def _number(self, left: int, right: int, allowed: int) -> int:
        key = (left, right, allowed)
        number = self._numbers.setdefault(key, len(self._states))
        if number == len(self._states):
            self._states.append(key)
        return number


def _by_symbol(cache: dict[int, ArcsBySymbol], transducer: Transducer, state: int, side: str) -> ArcsBySymbol:
    """Arcs of a state by their symbol on a side, "input" or "output"."""
    if state not in cache:
        groups: dict[int, list[Arc]] = {}
        for arc in transducer.arcs_from(state):
            groups.setdefault(getattr(arc, side), []).append(arc)
        cache[state] = groups
    return cache[state]


def _matches(written: ArcsBySymbol, read: ArcsBySymbol) -> Iterator[tuple[Arc, Arc]]:
    """Pairs of arcs, of which one reads the symbol that the other writes; goes through the side with fewer symbols."""
    fewer, more = (written, read) if len(written) <= len(read) else (read, written)
    for symbol in fewer:
        if symbol != EPSILON and symbol in more:
            yield from product(written[symbol], read[symbol])


def compose(left: Transducer, right: Transducer) -> Transducer:
    """The composition T1 o T2 (Storcheus, equation D.1), without states that lie on no path to a final state."""
    composition = LazyComposition(left, right)
    initial = composition.initial()
    final: dict[int, float] = {}
    arcs: list[Arc] = []
    state = 0
    while state < composition.n_states:  # which grows
        arcs += composition.arcs(state)
        final[state] = composition.final(state)
        state += 1
    return trim(Transducer(composition.semiring, composition.n_states, arcs, initial, final))
