"""Weighted finite-state transducers and acceptors (Storcheus (2021), section 6.3 and appendix D.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from radboost._validation import check_integer
from radboost.structured.semirings import Semiring, check_cost, get_semiring

EPSILON = -1
"""The label of an arc that reads or writes no symbol."""


class Arc(NamedTuple):
    """A transition: from `origin` to `target`, reading the symbol `input`, writing `output`, at a cost."""

    origin: int
    input: int
    output: int
    weight: float
    target: int


class Transducer:
    """A weighted transducer (Q, I, F, E, lambda, rho) over a semiring; immutable. Storcheus (2021), section 6.3.

    States are 0, ..., n_states - 1 and symbols are integers of at least 0, or EPSILON. `initial` and `final` map the
    initial and the final states to their costs. Arcs, initial and final states of an infinite cost add nothing to any
    sum over paths, and are left out. An acceptor (a weighted automaton) is a transducer
    that writes what it reads.
    """

    __slots__ = ("_arcs", "_final", "_initial", "_n_states", "_semiring")

    def __init__(
        self,
        semiring: Semiring | str,
        n_states: int,
        arcs: Iterable[tuple[int, int, int, float, int]],
        initial: Mapping[int, float],
        final: Mapping[int, float],
    ) -> None:
        self._semiring = get_semiring(semiring)
        self._n_states = check_integer("n_states", n_states, 0)
        grouped: list[list[Arc]] = [[] for _ in range(self._n_states)]
        for given in arcs:
            arc = self._checked_arc(given)
            if arc.weight != math.inf:
                grouped[arc.origin].append(arc)
        self._arcs = tuple(map(tuple, grouped))
        self._initial = self._checked_weights("initial", initial)
        self._final = self._checked_weights("final", final)

    @classmethod
    def of_string(cls, y: Iterable[int], semiring: Semiring | str) -> Transducer:
        """The acceptor of one string, at no cost: Y_i of Storcheus (2021), Figure 6.2(c)."""
        symbols = list(y)
        if EPSILON in symbols:
            raise ValueError(
                f"A string must consist of symbols, integers of at least 0; got EPSILON ({EPSILON}) at position "
                f"{symbols.index(EPSILON)}. Leave it out: it stands for no symbol."
            )
        arcs = [Arc(state, symbol, symbol, 0.0, state + 1) for state, symbol in enumerate(symbols)]
        return cls(semiring, len(symbols) + 1, arcs, {0: 0.0}, {len(symbols): 0.0})

    @property
    def semiring(self) -> Semiring:
        return self._semiring

    @property
    def n_states(self) -> int:
        return self._n_states

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """Arcs of all states, ordered by their origin and, from one origin, as they were given."""
        return tuple(arc for group in self._arcs for arc in group)

    def arcs_from(self, state: int) -> tuple[Arc, ...]:
        """The arcs that leave a state, as they were given."""
        return self._arcs[state]

    @property
    def n_arcs(self) -> int:
        return sum(map(len, self._arcs))

    @property
    def initial(self) -> Mapping[int, float]:
        """The weight of each initial state."""
        return MappingProxyType(self._initial)

    @property
    def final(self) -> Mapping[int, float]:
        """The weight of each final state."""
        return MappingProxyType(self._final)

    def project(self) -> Transducer:
        """The acceptor of what is read: Pi_1(T) of Storcheus (2021), appendix D.1.

        A string weighs the sum of T over all strings that are written for it.
        """
        arcs = [arc._replace(output=arc.input) for arc in self.arcs]
        return Transducer(self._semiring, self._n_states, arcs, self._initial, self._final)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self._semiring.value!r}, n_states={self._n_states}, n_arcs={self.n_arcs}, "
            f"n_initial={len(self._initial)}, n_final={len(self._final)})"
        )

    def _checked_arc(self, given: Sequence[object]) -> Arc:
        if not isinstance(given, tuple | list) or len(given) != 5:
            raise TypeError(f"An arc must be a tuple (origin, input, output, weight, target); got {given!r}.")
        origin, read, written, weight, target = given
        return Arc(
            self._checked_state(origin, "origin of an arc"),
            _checked_symbol(read, "input"),
            _checked_symbol(written, "output"),
            check_cost(weight, "weight of an arc"),
            self._checked_state(target, "target of an arc"),
        )

    def _checked_weights(self, name: str, given: Mapping[int, float]) -> dict[int, float]:
        if not isinstance(given, Mapping):
            raise TypeError(f"{name} must be a mapping from states to weights, such as {{0: 0.0}}; got {given!r}.")
        weights = {
            self._checked_state(state, f"{name} state"): check_cost(weight, f"{name} weight of state {state}")
            for state, weight in given.items()
        }
        return {state: weight for state, weight in weights.items() if weight != math.inf}

    def _checked_state(self, state: object, what: str) -> int:
        if type(state) is int and 0 <= state < self._n_states:
            return state
        number = check_integer(what, state, 0)
        if number >= self._n_states:
            raise ValueError(
                f"{what} must be a state, an integer from 0 to n_states - 1; got {number}, where n_states is "
                f"{self._n_states}."
            )
        return number


def _checked_symbol(symbol: object, side: str) -> int:
    if type(symbol) is int and symbol >= EPSILON:
        return symbol
    try:
        return check_integer(f"{side} of an arc", symbol, EPSILON)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{side} of an arc must be a symbol, an integer of at least 0, or EPSILON ({EPSILON}); got {symbol!r}."
        ) from None
