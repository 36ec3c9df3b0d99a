"""Round maker of DeepBoost: coordinate descent (propose, choose, step, prune)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from radboost.boosting.driver import End, RoundMaker
from radboost.boosting.line_search import SHORT_OF, damped_search, line_search_step
from radboost.boosting.members import Member, Members
from radboost.boosting.perturbation import Perturbation
from radboost.boosting.trace import Step, Trace
from radboost.engine import RatedRounds, current, log
from radboost.families.base import Candidate, Proposer
from radboost.families.raw_rows import RawRows
from radboost.losses.gaps import gap_above, reason_with_gap
from radboost.objectives import LossState, Objective
from radboost.penalties import EnsemblePenalty, closed_form_step, descents, on_grid, slope
from radboost.penalties.weighted_l1 import LARGEST_STEP

SLOPE_TOLERANCE = 1e-9  # the fit has converged if no |d_j| exceeds this: no direction lowers F by more than its square
SMALLEST_SLOPE = 1e-280  # mean of Phi' below which no row has a gradient in double precision
# A weighted error below this counts as 0. Without a penalty the optimal step would be infinite; the hypothesis gets the
# step as if half a row were wrong, and the fit ends.
NO_ERROR = 1e-9
PATIENCE = 10  # rounds in a row without a useful proposal until a randomized search ends
KINK_SLACK = 1e-3  # distance to a grid point, in grid units, at which a line search has ended at the kink
LARGEST_DAMPED_FRACTION = 0.5  # largest fraction of a step that is taken for which `damped_search` is used
RATED_GRID = 2.0**-20  # grid of steps along trees with real-valued leaves

NOTHING = "no hypothesis lowers the objective"
EXHAUSTED = f"{PATIENCE} rounds in a row proposed nothing that lowers the objective"
EDGE_ROUNDING = 1e-8  # relative error of edges, whose weights are integers
FLAWLESS = "one hypothesis is right on every row, and nothing is penalised"
NO_LOSS = "no row asks for a change any more"


# Takes a step along one coordinate; returns None if it would be too short.
Move = Callable[[int, LossState], Step | None]


class CoordinateDescent(RoundMaker):
    """Coordinate descent on F(alpha) = loss + penalty, with WeightedL1 the sum of Lambda_j |alpha_j|.

    Cortes et al. (2014), Deep Boosting, Figure 2; Kuznetsov et al. (2014), Multi-Class Deep Boosting, Figures 1 to 3.
    """

    final = frozenset({FLAWLESS})

    def __init__(
        self,
        objective: Objective,
        proposers: Sequence[Proposer],
        penalty: EnsemblePenalty,
        *,
        n_rows: int,
        learning_rate: float,
        step: str,
        seed: int = 0,
        trace: Trace | None = None,
        raw_rows: RawRows | None = None,
        mirrors: bool = True,
    ) -> None:
        """Sets up the members; without `mirrors` -h is no hypothesis where h is one, and no weight may be negative."""
        self.objective = objective
        self.signed = mirrors and objective.signed
        self.proposers = proposers
        self.penalty = penalty
        self.learning_rate = learning_rate
        self.step = step if objective.has_closed_form and penalty.linear else "line_search"
        self.trace = Trace() if trace is None else trace
        rated = any(proposer.rated for proposer in proposers)
        self.members = Members(current().members(n_rows, objective.n_classes), penalty, self.trace, rated=rated)
        self._raw_rows = raw_rows  # for `replay`
        self._randomised = any(proposer.randomised for proposer in proposers)
        self.patience = PATIENCE if self._randomised else 1
        self._flawless = False
        self._perturbation = Perturbation(seed)
        self._rated_rounds = self._native_rounds()
        self._made: deque[Any] = deque()  # rounds of `_rated_rounds` that `make` has not reported yet

    def _native_rounds(self) -> RatedRounds | None:
        """Maker of whole rounds, where each enters a tree by a damped search; None: rounds are made here."""
        damped = self.learning_rate <= LARGEST_DAMPED_FRACTION and self.step != "closed_form"
        if len(self.proposers) > 1 or not (damped and self.objective.has_closed_form and self.penalty.linear):
            return None
        return self.proposers[0].rated_rounds(
            self.penalty.price,
            learning_rate=self.learning_rate,
            grid=max(self.objective.step_grid, RATED_GRID),
            is_signed=self.signed,
        )

    def begin(self) -> None:
        self._state = self.objective.reweigh()

    def replay(self) -> None:
        assert self._raw_rows is not None
        members: dict[int, Member] = {}  # by their index in the trace
        idle, objectives = 0, self.trace.history["objective"]
        for round_index, steps in enumerate(self.trace.rounds()):
            if round_index > 0:  # `reason_to_stop` of the round before; the driver asks for that of the last
                self._reason_not_to_perturb(idle, objectives[round_index - 1])
            if idle == self.patience:
                self._perturbation.count()
                self.trace.perturbed = True
            for step in steps:
                if step.hypothesis not in members:
                    members[step.hypothesis] = self.members.admit_again(step.hypothesis, self._raw_rows)
                self._apply(members[step.hypothesis], step.eta)
            idle = 0 if steps else idle + 1
        self._raw_rows.forget()
        self.begin()

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        if self._state.slope <= SMALLEST_SLOPE:
            return End(NO_LOSS)
        if idle == self.patience:
            steps = self._perturb(round_index)
        else:
            made = self._next_made(round_index)
            if made:
                return made
            step = self._round(round_index, self._state) if made is None else None
            steps = [step] if step is not None else []
        if not steps and self.objective.smooth and not self._randomised:
            return End(NOTHING)
        if steps:
            self._state = self.objective.reweigh()
        return steps

    def _next_made(self, round_index: int) -> list[Step] | None:
        """Steps of the next round of the native core, one or none; None where a round is not of its kind."""
        if self._rated_rounds is None:
            return None
        if not self._made:
            now = self._state.slope
            self._made.extend(self._rated_rounds.make(round_index, self.n_ahead, now, self._last_step()))
        if not self._made:
            return None
        made = self._made.popleft()
        if made is None:
            return []
        n_splits, bits, eta, loss, slope, error, arrays = made
        m, proposer = self.objective.total_weight, cast(Any, self.proposers[0])
        self._state = LossState(loss / m, slope / m, error / m)
        complexity = proposer.bound(n_splits, bits)
        self.members.count_settled(self.penalty.price(complexity), eta)
        step = Step(round_index, self.trace.enter(proposer.tree(arrays, n_splits), complexity), eta)
        self.trace.steps.append(step)
        return [step]

    def _last_step(self) -> float:
        """Size of the last step before it was damped; 1 before the first."""
        return abs(self.trace.steps[-1].eta) / self.learning_rate if self.trace.steps else 1.0

    def history_entry(self) -> dict[str, float]:
        return {
            "objective": self._state.loss + self.members.penalty_value,
            "train_error": self._state.error,
            "n_hypotheses": len(self.members),
        }

    def reason_to_stop(self, idle: int) -> str | None:
        if self._flawless:
            return FLAWLESS
        return self._reason_not_to_perturb(idle, self.trace.history["objective"][-1])

    def finish(self) -> None:
        """Set the lower bound of the trace; a fit that found nothing has converged if its gap is small."""
        trace = self.trace
        exhaustive = all(proposer.least_complexity is not None for proposer in self.proposers)
        trace.lower_bound = self._lower_bound()
        if trace.stop_reason in (NOTHING, EXHAUSTED):
            objective = self.history_entry()["objective"]
            where = "" if exhaustive else " over the hypotheses of the ensemble"
            gap = gap_above(trace.lower_bound, objective)
            trace.stop_reason = reason_with_gap(trace.stop_reason, gap, objective, where)

    def _lower_bound(self) -> float | None:
        """Dual value of the weights D, scaled so that no edge exceeds its price; None: not known."""
        # Over all hypotheses of families that are searched exhaustively, of others over those in the ensemble.
        if not self.penalty.linear or len(self.members) > len(self.members.by_slot):
            return None
        slots = list(self.members.by_slot)
        edges, prices = [], []
        if slots:
            edges = self.objective.edges(self.members.columns)[0][slots].tolist()
            prices = self.members.prices[slots].tolist()
        for proposer in self.proposers:
            if proposer.least_complexity is not None:
                for candidate in proposer.propose(self.trace.n_rounds):
                    edges.append(candidate.edge)
                    prices.append(self.penalty.price(proposer.least_complexity))
        factor = 1.0
        for edge, price in zip(edges, prices, strict=True):
            rate = self._state.slope * (abs(edge) if self.signed else edge)
            if rate > price * (1.0 - EDGE_ROUNDING):
                factor = min(factor, price * (1.0 - EDGE_ROUNDING) / rate)
        return self.objective.dual_value(factor)

    def _reason_not_to_perturb(self, idle: int, objective: float) -> str | None:
        """Reason to stop where nothing goes down; None where a random perturbation may help."""
        if idle != self.patience:
            return None
        if self.objective.smooth or not (self.members or self._constants()):
            return EXHAUSTED if self._randomised else NOTHING
        return self._perturbation.reason_to_stop(objective)

    def _constants(self) -> list[Candidate]:
        return [constant for proposer in self.proposers for constant in proposer.constants()]

    def _perturb(self, round_index: int) -> list[Step]:
        """No coordinate goes down: moves every weight a little at random."""
        self._perturbation.count()
        self.trace.perturbed = True
        # Constant predictions too: where all wrong classes tie, as at the start, only they can break the ties.
        for constant in self._constants():
            self.members.admit(constant)
        members = list(self.members)
        etas = self._perturbation.draw(round_index, len(members), self.objective.step_grid)
        return [self._take(member, eta, round_index) for member, eta in zip(members, etas, strict=True)]

    def _round(self, round_index: int, state: LossState) -> Step | None:
        """Figure 2, lines 4-17. None when no direction goes down."""
        candidates = [c for proposer in self.proposers for c in proposer.propose(round_index)]
        new = self._descending_candidates(candidates, state)
        old = self._descending_members(state, alone=not new)
        # The steepest first. A step can be too short for the grid of the scores: then the next one has its turn.
        for _, direction in sorted([*old, *new], key=lambda pair: -pair[0]):
            step = direction(round_index, state)
            if step is not None:
                return step
        return None

    def _descending_candidates(self, candidates: Sequence[Candidate], state: LossState) -> list[tuple[float, Move]]:
        result: list[tuple[float, Move]] = []
        for candidate in candidates:
            threshold = self.penalty.price(candidate.complexity) / state.slope
            size = abs(slope(candidate.edge, candidate.edge, 0.0, threshold, self.signed))
            if size > SLOPE_TOLERANCE:
                result.append((size, partial(self._step_to, candidate)))
        return result

    def _descending_members(self, state: LossState, alone: bool) -> list[tuple[float, Move]]:
        """Members whose weight may move, with their slopes."""
        # With whole steps every member competes (Figure 2; of several classes: section 3.3, since the rule in the
        # figures never shrinks a weight). Damped steps leave every new member short of its optimum, so that it would
        # be chosen again and again. Then a member competes only where its weight would shrink, or alone. Damped trees
        # with numbers in their leaves have settled: going through all of them takes longer than growing new ones.
        if not self.members.by_slot:
            return []
        by_slot = self.members.by_slot
        growing, shrinking = self.objective.edges(self.members.columns)
        if not self.penalty.linear:
            rest = self.penalty.slope_of_rest(self.members.weights[: len(growing)]) / state.slope
            growing, shrinking = growing - rest, shrinking - rest
        result = descents(
            growing,
            shrinking,
            self.members.weights,
            self.members.prices,
            state.slope,
            signed=self.signed,
            only_shrinking=not alone and self.learning_rate < 1.0,
            tolerance=SLOPE_TOLERANCE,
        )
        moving = sorted(((by_slot[slot], size) for slot, size in result), key=lambda pair: pair[0].index)
        return [(size, partial(self._move, member, float(growing[member.slot]))) for member, size in moving]

    def _step_to(self, candidate: Candidate, round_index: int, state: LossState) -> Step | None:
        """Lets a candidate into the ensemble, or moves the member that it turns out to be."""
        member, sign = self.members.admit(candidate)
        edge = candidate.edge if sign == member.sign else -candidate.edge
        step = self._move(member, edge, round_index, state)
        if member.weight == 0.0 and step is None:
            self.members.discard(member)
        return step

    def _move(self, member: Member, edge: float, round_index: int, state: LossState) -> Step | None:
        eta = self._step_size(member, edge, state)
        return self._take(member, eta, round_index) if eta != 0.0 else None

    def _step_size(self, member: Member, edge: float, state: LossState) -> float:
        """Figure 2, lines 12-16, or the minimum of F itself; damped, unless the step cancels the weight."""
        if self.step == "line_search" or (self.step == "auto" and member.real_valued):
            eta = self._searched_step(member, edge, state)
        else:
            eta = closed_form_step(edge, member.weight, member.price / state.slope, self.signed)
        if member.price == 0.0 and abs(edge) > 1.0 - 2.0 * NO_ERROR:
            eta = math.copysign(0.5 * log(max(4.0, 2.0 * self.objective.total_weight)), edge)
            self._flawless = self.learning_rate == 1.0 and not self._randomised
            eta = eta if self.signed else max(eta, -member.weight)
        if member.weight != 0.0 and eta == -member.weight:
            return eta
        slack = 0.0 if self.objective.smooth else KINK_SLACK
        return on_grid(self.learning_rate * eta, self._grid(member), slack)

    def _grid(self, member: Member) -> float:
        """Steps are multiples of this. Leaves' numbers are multiples of 2^-20 too: their products add up exactly."""
        return max(self.objective.step_grid, RATED_GRID) if member.rated else self.objective.step_grid

    def _searched_step(self, member: Member, edge: float, state: LossState) -> float:
        def of_loss(step: float) -> float:
            return self.objective.slope_along(self.members.columns, member.slot, step)

        def with_rest(step: float) -> float:
            return of_loss(step) + float(self.penalty.slope_of_rest(member.weight + step))

        derivative = of_loss if self.penalty.linear else with_rest
        if member.weight == 0.0 and self.learning_rate <= LARGEST_DAMPED_FRACTION and self.objective.smooth:
            # Trees of one fit have similar steps.
            first = SHORT_OF * min(max(self._last_step(), 2.0**-6), LARGEST_STEP)
            return damped_search(derivative, -edge * state.slope, member.price, self.signed, self.learning_rate, first)
        # Closer than the grid of the scores only where a point of the grid may be meant.
        tolerance = self._grid(member) * (0.25 if self.objective.smooth else KINK_SLACK / 4)
        return line_search_step(derivative, member.weight, member.price, self.signed, tolerance)

    def _take(self, member: Member, eta: float, round_index: int) -> Step:
        self._apply(member, eta)
        step = Step(round_index, member.index, eta)
        self.trace.steps.append(step)
        return step

    def _apply(self, member: Member, eta: float) -> None:
        self.objective.step(self.members.columns, member.slot, eta)
        self.members.add_weight(member, eta)
        if member.rated and self.learning_rate < 1.0 and member.weight != 0.0:  # its weight stays as it is
            self.members.settle(member)
