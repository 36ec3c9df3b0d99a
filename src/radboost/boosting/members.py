"""Hypotheses in the ensemble of coordinate descent (members), with their weights and stored predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray
from radboost.boosting.trace import Trace
from radboost.engine import HypothesisColumns
from radboost.families.base import Candidate, Hypothesis
from radboost.families.kinds import kind_of
from radboost.families.raw_rows import RawRows, enter_again
from radboost.penalties import EnsemblePenalty
from radboost.trees.tree import Tree


@dataclass(slots=True)
class Member:
    """A hypothesis in the ensemble."""

    index: int  # among all hypotheses that ever entered
    slot: int
    price: float
    weight: float
    key: object  # equal for its mirror image -h
    sign: float  # +1 or -1, different for its mirror image
    real_valued: bool
    rated: bool = False  # a tree with real-valued leaves


class Members:
    """Members by their slots in `columns`, which store predictions on the training rows.

    `rated`: trees have real-valued leaves.
    """

    def __init__(
        self, columns: HypothesisColumns, penalty: EnsemblePenalty, trace: Trace, *, rated: bool = False
    ) -> None:
        self.columns = columns
        self.rated = rated
        self._n_settled = 0
        self.by_slot: dict[int, Member] = {}
        self.weights: FloatArray = np.zeros(0)  # by slot, as are the prices; 0 in empty slots
        self.prices: FloatArray = np.zeros(0)
        self.penalty_value = 0.0
        self._penalty, self._trace = penalty, trace
        self._by_key: dict[object, Member] = {}

    def __len__(self) -> int:
        return len(self.by_slot) + self._n_settled

    def __iter__(self) -> Iterator[Member]:
        return iter(self.by_slot.values())

    def admit(self, candidate: Candidate) -> tuple[Member, float]:
        """Member equal to a candidate or to its mirror image; a new one with weight 0 if there is none.

        Returns also the sign of the key of the candidate.
        """
        hypothesis = candidate.hypothesis()
        key, sign = hypothesis.key()
        if key in self._by_key:
            return self._by_key[key], sign
        slot = candidate.enter(self.columns)
        index = self._trace.enter(hypothesis, candidate.complexity)
        member = self._let_in((key, sign), index, slot, candidate.complexity, candidate.real_valued)
        member.rated = candidate.rated
        return member, sign

    def admit_again(self, index: int, raw_rows: RawRows, base: Hypothesis | None = None) -> Member:
        """Add a hypothesis of the trace as a member; `base`: evaluated instead of it if given."""
        hypothesis = self._trace.hypotheses[index]
        stored = hypothesis if base is None else base
        rated = self.rated and isinstance(stored, Tree)
        slot = enter_again(stored, raw_rows, self.columns, rated)
        real_valued = kind_of(stored).real_valued or rated
        member = self._let_in(hypothesis.key(), index, slot, self._trace.complexities[index], real_valued)
        member.rated = rated
        return member

    def settle(self, member: Member) -> None:
        """Free the predictions of a member whose weight no longer changes."""
        self._remove(member)
        self._n_settled += 1

    def count_settled(self, price: float, weight: float) -> None:
        """Add the penalty of a new hypothesis whose weight no longer changes."""
        self._n_settled += 1
        self.penalty_value += self._penalty.change(price, 0.0, weight)

    def discard(self, member: Member) -> None:
        """Remove a member with weight 0 from the trace; later ones move up."""
        self._remove(member)
        del self._trace.hypotheses[member.index]
        del self._trace.complexities[member.index]

    def add_weight(self, member: Member, eta: float) -> None:
        """Add eta to a weight; a member with weight 0 is removed. Cortes et al. (2014), Figure 2, line 13."""
        before, member.weight = member.weight, member.weight + eta
        self.weights[member.slot] = member.weight
        self.penalty_value += self._penalty.change(member.price, before, member.weight)
        if member.weight == 0.0:
            self._remove(member)

    def _let_in(
        self, signed_key: tuple[object, float], index: int, slot: int, complexity: float, real_valued: bool
    ) -> Member:
        key, sign = signed_key
        price = self._penalty.price(complexity)
        member = Member(index, slot, price, 0.0, key, sign, real_valued)
        self.by_slot[slot] = self._by_key[key] = member
        if slot >= len(self.prices):
            more = np.zeros(1 + slot)  # as much again
            self.weights, self.prices = np.append(self.weights, more), np.append(self.prices, more)
        self.prices[slot] = price
        return member

    def _remove(self, member: Member) -> None:
        del self.by_slot[member.slot]
        del self._by_key[member.key]
        self.weights[member.slot] = self.prices[member.slot] = 0.0
        self.columns.release(member.slot)
