"""Coordinate descent over several sources: MultiBoost. Storcheus (2021), Figure 4.1 and appendix B.4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from radboost._typing import FloatArray
from radboost.boosting.coordinate import EXHAUSTED, NO_LOSS, NOTHING, PATIENCE
from radboost.boosting.driver import End, RoundMaker
from radboost.boosting.line_search import line_search_step
from radboost.boosting.members import Member, Members
from radboost.boosting.source_models import LowerBound, MembersModel, Proposal
from radboost.boosting.source_steps import Direction, Model, bounds_along, minimum_along, solve_game
from radboost.boosting.trace import Step, Trace
from radboost.engine import current
from radboost.families.base import Candidate, Proposer
from radboost.families.raw_rows import RawRows
from radboost.families.sourced import SourcedCandidate, SourcedHypothesis
from radboost.losses.gaps import CONVERGED_GAP, gap_above, reason_with_gap
from radboost.objectives.over_sources import MaxOfSources
from radboost.objectives.sourced import SourcedObjective
from radboost.penalties import EnsemblePenalty, check_linear, descents, on_grid, slope

RATE_TOLERANCE = 1e-9  # the fit has converged if no direction lowers G by more than this per unit of its step
SMALLEST_SLOPE = 1e-280  # mean of Phi' below which no row has a gradient
HALVINGS = 12  # of a step that does not lower G, before it is dropped
MOST_TRIED = 10  # new hypotheses of a source in a round, the steepest first
MEMBERS_ENOUGH = 0.25  # rate of all losses along a block, relative to the worst alone, that needs no new hypotheses
MORE_COLUMNS = 20  # times that hypotheses are added to the members for a lower bound
NEXT_DRAW = 2**40  # added to the round for each further proposal in it, so that random draws differ

SMALL_GAP = 0.3 * CONVERGED_GAP  # at which the search for a smaller one ends, relative to the objective
ENOUGH = 1e-5  # decrease of a round, relative to the objective, below which all members step together
LONGEST_CHANGE = 16.0  # of a weight in a joint step: without prices minima may be at infinity
STEEPEST = 1e300  # stands for slopes that are not finite
LEAST_DECREASE = 1e-10  # of a step for the maximum, relative to the objective: smaller ones would go on for long
JOINT_EVERY = 5  # rounds between two joint steps while drawn hypotheses still lower the objective
MOST_AT_ONCE = 100  # members in a joint step: the curvature of each takes a pass over the rows


# Rate at which a direction lowers a mixture of the losses, and a function that makes the direction.
Choice = tuple[float, Callable[[], Direction]]


def recorded_with_sources(names: Sequence[str]) -> list[str]:
    """Keys of `entry_with_sources`."""
    of_sources = [f"{what}[{name}]" for what in ("source_loss", "source_error") for name in names]
    return ["objective", "train_error", "n_hypotheses", *of_sources]


def entry_with_sources(
    names: Sequence[str], sizes: FloatArray, losses: FloatArray, errors: FloatArray, objective: float, n_hypotheses: int
) -> dict[str, float]:
    """Entry of the history; `sizes`, `losses` and `errors` have shape (n_sources,)."""
    values = [objective, float(errors @ sizes / sizes.sum()), n_hypotheses, *losses.tolist(), *errors.tolist()]
    return dict(zip(recorded_with_sources(names), values, strict=True))


def decayed(learning_rate: float, round_index: int) -> float:
    """eta_0 / sqrt(t). Storcheus (2021), Figure 4.2, line 18."""
    return learning_rate / math.sqrt(1.0 + round_index)


class MultiSourceDescent(RoundMaker):
    """Round maker: descent on G(F_1, ..., F_p) + sum of Lambda_j |alpha_j|.

    A hypothesis of source k is Q(k | x) h(x). With a smooth G (a sum, a soft or penalized maximum) all sources propose
    on the rows weighted by the gradient lambda of G, and the steepest proposal is taken. With the maximum the worst
    source, or vertex of mixtures, proposes, as in Figure 4.1. If the step would make another source the worst one, both
    step as one block, in proportions that lower all their losses. Along one of several worst sources the maximum does
    not fall (ERRATA).
    """

    def __init__(
        self,
        objective: SourcedObjective,
        proposers: Sequence[Sequence[Proposer]],
        penalty: EnsemblePenalty,
        *,
        n_rows: int,
        n_features: int,
        learning_rate: float,
        step: str,
        names: Sequence[str],
        trace: Trace,
        raw_rows: RawRows,
    ) -> None:
        check_linear(penalty, "Descent over several sources")
        self.objective = objective
        self.proposers = proposers
        self.penalty = penalty
        self.learning_rate = learning_rate
        self.step = step if objective.objective.has_closed_form or step == "decay" else "line_search"
        self.trace = trace
        self.names = names
        self.n_features = n_features
        n_classes = objective.objective.n_classes
        self.members = [
            Members(current().members(n_rows, n_classes), penalty, trace) for _ in range(objective.n_sources)
        ]
        self._raw_rows = raw_rows
        if self.step != "line_search":  # which looks at many steps, and at what sources see of none of them
            objective.follow(self._usual_aims())
        self._randomised = any(proposer.randomised for some in proposers for proposer in some)
        self.patience = PATIENCE if self._randomised else 1
        self.exhausted = EXHAUSTED if self._randomised else NOTHING  # type: ignore[misc]
        exhaustive = all(proposer.least_complexity is not None for some in proposers for proposer in some)
        self._where = "" if exhaustive else " over the hypotheses that were grown"
        self._least_decrease = LEAST_DECREASE if objective.over.as_maximum() is not None else 0.0
        self._bound = (-1, -math.inf)  # number of steps and lower bound on the objective
        self.recorded = recorded_with_sources(names)

    def _usual_aims(self) -> list[tuple[int, FloatArray]]:
        """The mixture that each source sees in most rounds, where that is known: of a sum, or of the worst source."""
        mixtures = self.objective.over.usual_mixtures(self.objective.n_sources)
        return [] if mixtures is None else list(enumerate(mixtures))

    @property
    def _signed(self) -> bool:
        return self.objective.objective.signed

    @property
    def _penalty_value(self) -> float:
        return sum(members.penalty_value for members in self.members)

    @property
    def _value(self) -> float:
        """G + the penalty at the current scores."""
        return self.objective.over.value(self._state.losses) + self._penalty_value

    def begin(self) -> None:
        self._state = self.objective.state()

    def replay(self) -> None:
        result: dict[int, tuple[Member, int]] = {}
        for steps in self.trace.rounds():
            for step in steps:
                if step.hypothesis not in result:
                    hypothesis = self.trace.hypotheses[step.hypothesis]
                    assert isinstance(hypothesis, SourcedHypothesis)
                    members = self.members[hypothesis.source]
                    member = members.admit_again(step.hypothesis, self._raw_rows, hypothesis.base)
                    result[step.hypothesis] = (member, hypothesis.source)
                self._apply(*result[step.hypothesis], step.eta)
        self._raw_rows.forget()
        self.begin()

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        if float(self._state.slopes.max()) <= SMALLEST_SLOPE:
            return End(NO_LOSS)
        self._admitted: list[tuple[Member, int]] = []
        maximum = self.objective.over.as_maximum()
        if self.step == "decay":
            steps = self._decaying_step(round_index)
        elif maximum is not None:
            before = self._value
            steps = self._step_of_the_worst(round_index, maximum)
            # Drawn hypotheses go on lowering the objective a little; then members step together only now and then.
            due = not (steps and self._randomised) or (round_index + 1) % JOINT_EVERY == 0
            if due and before - self._value <= ENOUGH * before:
                steps = steps + self._joint_step(round_index, maximum)
        else:
            steps = self._steepest_step(round_index)
        self._discard_unused()
        if not steps and not self._randomised:
            return End(NOTHING)
        return steps

    def finish(self) -> None:
        """Set the lower bound of the trace; a fit that found nothing has converged if its gap is small."""
        trace = self.trace
        if self._bound[0] != len(trace.steps):
            self._renew_bound()
        trace.lower_bound = self._bound[1]
        if trace.stop_reason in (NOTHING, EXHAUSTED):
            gap = gap_above(trace.lower_bound, self._value)
            trace.stop_reason = reason_with_gap(trace.stop_reason, gap, self._value, self._where)

    def _has_converged(self) -> bool:
        return self._value - self._bound[1] <= SMALL_GAP * self._value

    def history_entry(self) -> dict[str, float]:
        state, n_hypotheses = self._state, sum(map(len, self.members))
        objective = self.objective.over.value(state.losses) + self._penalty_value
        sizes = self.objective.sizes
        return entry_with_sources(self.names, sizes, state.losses, state.errors, objective, n_hypotheses)

    # --- what a round does

    def _decaying_step(self, round_index: int) -> list[Step]:
        """Figure 4.1 with steps of learning_rate / sqrt(t): the steepest hypothesis, whatever it does to the others."""
        mixture = self.objective.over.weights(self._state.losses)
        for _, direction in self._directions(round_index, mixture, self._searched(mixture), only_new=True):
            result = direction()
            eta = math.copysign(decayed(self.learning_rate, round_index), float(result.rates @ mixture))
            return self._take(result, eta, round_index, promise=False)
        return []

    def _steepest_step(self, round_index: int) -> list[Step]:
        mixture = self.objective.over.weights(self._state.losses)
        for _, direction in self._directions(round_index, mixture, self._searched(mixture)):
            result = direction()
            steps = self._take(result, self._step_size(result), round_index)
            if steps:
                return steps
        return []

    def _step_of_the_worst(self, round_index: int, over: MaxOfSources) -> list[Step]:
        """A step of the worst vertex; of several as one block where it alone would not lower the maximum by much."""
        worst = over.worst(self._state.losses)
        mixture = over.vertices[worst]
        directions = self._directions(round_index, mixture, self._searched(mixture))
        for index, (_, direction) in enumerate(directions):
            result = direction()
            rivals = self._rivals(result, worst, over) if index == 0 else []
            steps = self._step_of_a_block([worst, *rivals], result, over, round_index) if rivals else []
            steps = steps or self._take(result, self._step_size(result), round_index)
            if steps or rivals:  # the search for a block has used the proposers: other candidates are gone
                return steps
        return []

    def _searched(self, mixture: FloatArray) -> list[int]:
        """Sources that propose for a mixture: with the maximum those in it, otherwise all."""
        if self.objective.over.as_maximum() is not None:
            return [source for source in range(self.objective.n_sources) if mixture[source] > 0.0]
        return list(range(self.objective.n_sources))

    def _directions(
        self, draw: int | None, mixture: FloatArray, sources: list[int], only_new: bool = False
    ) -> list[Choice]:
        """Directions that lower a mixture, steepest first: new hypotheses (none without draw), members that move."""
        scales, result = self.objective.aim([(source, mixture) for source in sources]), []
        for source, scale in zip(sources, scales.tolist(), strict=True):
            if scale > SMALLEST_SLOPE:
                new = [] if draw is None else self._new(source, scale, draw)
                result += [*new, *([] if only_new else self._old(source, scale, alone=not new))]
        return sorted(result, key=lambda pair: -pair[0])

    def _new(self, source: int, scale: float, draw: int) -> list[Choice]:
        result: list[Choice] = []
        for proposer in self.proposers[source]:
            for candidate in proposer.propose(draw):
                threshold = self.penalty.price(candidate.complexity) / scale
                size = abs(slope(candidate.edge, candidate.edge, 0.0, threshold, self._signed)) * scale
                if size > RATE_TOLERANCE:
                    result.append((size, partial(self._admit, candidate, source)))
        # The steepest few only: each would be entered to see what it does to the other sources.
        return sorted(result, key=lambda pair: -pair[0])[:MOST_TRIED]

    def _old(self, source: int, scale: float, alone: bool) -> list[Choice]:
        """Members that may move; as in `CoordinateDescent`, with damped steps only if they shrink, or are alone."""
        members = self.members[source]
        if not members:
            return []
        growing, shrinking = self.objective.views[source].edges(members.columns)
        moving = descents(
            growing,
            shrinking,
            members.weights,
            members.prices,
            scale,
            signed=self._signed,
            only_shrinking=not alone and self.learning_rate < 1.0,
            tolerance=RATE_TOLERANCE / scale,
        )
        return [(size * scale, partial(self._single, members.by_slot[slot], source)) for slot, size in moving]

    def _admit(self, candidate: Candidate, source: int) -> Direction:
        members = self.members[source]
        before = len(members)
        named = SourcedCandidate(candidate, source, self.n_features, self.objective.n_sources)
        member, _ = members.admit(named)
        if len(members) > before:
            self._admitted.append((member, source))
        return self._single(member, source)

    def _single(self, member: Member, source: int) -> Direction:
        rates, masses = self.objective.rates(self.members[source].columns, member.slot, source)
        reach = self.objective.reach([source], [1.0])
        return Direction(
            [member], [source], [1.0], rates, masses, reach, member.weight, member.price, member.real_valued
        )

    def _discard_unused(self) -> None:
        """Takes back what was admitted in this round and got no weight."""
        for member, source in reversed(self._admitted):
            if member.weight == 0.0 and member.slot in self.members[source].by_slot:
                self.members[source].discard(member)
                for later, _ in self._admitted:
                    later.index -= later.index > member.index
        self._admitted = []

    # --- blocks

    def _rivals(self, direction: Direction, worst: int, over: MaxOfSources) -> list[int]:
        """Vertices that would undo more than half of what the best step for the worst one alone gains."""
        model = self._models(direction)[-1]

        def alone(eta: float) -> float:
            return float(over.at_vertices(model(eta)[1])[worst])

        weight, price, grid = direction.weight, direction.price, self.objective.step_grid
        eta = self.learning_rate * line_search_step(alone, weight, price, self._signed, grid)
        before, after = over.at_vertices(self._state.losses), over.at_vertices(model(eta)[0])
        halfway = 0.5 * (before[worst] + after[worst])
        return [vertex for vertex in np.flatnonzero(after > halfway).tolist() if vertex != worst]

    def _step_of_a_block(self, tied: list[int], first: Direction, over: MaxOfSources, round_index: int) -> list[Step]:
        """Takes a step along proportions of hypotheses that lower all of some vertices, which solve a matrix game."""
        columns = [self._turned(first, over.vertices[tied[0]])]
        own = float(over.at_vertices(columns[0].rates)[tied[0]])
        # What the others have in the ensemble already may do; growing for them is what costs time.
        for draw in (None, round_index):
            self._add_columns(columns, over.vertices[tied[1:]], draw)
            gains = [over.at_vertices(column.rates)[tied] - self._price(column) for column in columns]
            value, factors = solve_game(np.array(gains).T)
            if value >= MEMBERS_ENOUGH * own:
                break
        if value <= RATE_TOLERANCE:
            return []
        block = self._block(columns, factors)
        return self._take(block, self._step_size(block), round_index)

    def _add_columns(self, columns: list[Direction], mixtures: FloatArray, draw: int | None) -> None:
        """Add the steepest direction for each mixture; without draw: of the members."""
        searched = [self._searched(mixture) for mixture in mixtures]
        # One pass over the rows for all mixtures, where no source is in two of them.
        self.objective.aim([(k, mixture) for mixture, some in zip(mixtures, searched, strict=True) for k in some])
        for mixture, sources in zip(mixtures, searched, strict=True):
            directions = self._directions(draw, mixture, sources)
            if directions:
                column = self._turned(directions[0][1](), mixture)
                if all(column.members != one.members or column.factors != one.factors for one in columns):
                    columns.append(column)

    def _turned(self, direction: Direction, mixture: FloatArray) -> Direction:
        """The direction or its mirror image, whichever lowers the mixture more, prices counted."""
        mirror = replace(direction, factors=[-direction.factors[0]], rates=-direction.rates)
        gains = [float(way.rates @ mixture) - self._price(way) for way in (direction, mirror)]
        turns = self._signed or direction.members[0].weight > 0.0  # with several classes no weight may be negative
        return mirror if turns and gains[1] > gains[0] else direction

    def _price(self, direction: Direction) -> float:
        """Cost of a unit of the step at first."""
        (member,), (factor,) = direction.members, direction.factors
        return member.price * (1.0 if member.weight * factor >= 0.0 else -1.0)

    def _block(self, columns: list[Direction], factors: FloatArray) -> Direction:
        kept = [(column, float(factor)) for column, factor in zip(columns, factors, strict=True) if factor > 0.0]
        sources = [column.sources[0] for column, _ in kept]
        return Direction(
            [column.members[0] for column, _ in kept],
            sources,
            [factor * column.factors[0] for column, factor in kept],
            np.sum([factor * column.rates for column, factor in kept], axis=0),
            np.sum([factor * column.masses for column, factor in kept], axis=0),
            reach=self.objective.reach(sources, [factor for _, factor in kept]),
            real_valued=any(column.real_valued for column, _ in kept),
        )

    # --- all members at once

    def _joint_step(self, round_index: int, over: MaxOfSources) -> list[Step]:
        """A step of all members, and of new hypotheses, to the minimum of a quadratic model of the objective."""
        bound = self._renew_bound()
        if self._has_converged():
            return []
        for candidate, source in bound.steepest:
            self._admit(candidate, source)
        model = MembersModel(self.objective, self.members).steepest(bound.mixture, MOST_AT_ONCE)
        if not model.columns:
            return []
        changes, decrease = model.minimum(over.at_vertices(self._state.losses), over.vertices, bound.mixture)
        changes *= min(1.0, LONGEST_CHANGE / max(float(np.abs(changes).max()), 1e-300))
        if decrease <= SMALL_GAP * self._value and self._signed:  # otherwise scores are integers
            self._raise_bound(model.block(changes))
        self.objective.state()
        grid = self.objective.step_grid
        block = model.block(np.rint(changes / grid) * grid)
        return [] if self._has_converged() else self._take(block, self.learning_rate, round_index)

    def _renew_bound(self) -> LowerBound:
        """Lower bound on the objective from the current weights."""
        model = MembersModel(self.objective, self.members)
        result = model.lower_bound(self._state.losses, model.weights, self._candidates)
        self._bound = (len(self.trace.steps), result.value)
        return result

    def _raise_bound(self, block: Direction) -> None:
        """Raise the bound after a step, which need not be on the grid, with the new hypotheses that it asks for."""
        changes = {id(member): change for member, change in zip(block.members, block.factors, strict=True)}
        saved = self.objective.saved()
        self._move(block, block.factors)
        losses = self.objective.state().losses
        for _ in range(MORE_COLUMNS):
            model = MembersModel(self.objective, self.members)
            weights = model.weights + [changes.get(id(member), 0.0) for member, _ in model.columns]
            result = model.lower_bound(losses, weights, self._candidates)
            self._bound = (self._bound[0], max(self._bound[1], result.value))
            if self._has_converged() or not result.steepest:
                break
            for candidate, source in result.steepest:
                self._admit(candidate, source)
        self.objective.restore(saved)

    def _candidates(self, mixture: FloatArray) -> list[Proposal]:
        """New hypotheses of all sources for a mixture."""
        scales = self.objective.aim([(source, mixture) for source in range(self.objective.n_sources)])
        return [
            (candidate, source, candidate.edge * scale, self.penalty.price(least))
            for source, scale in enumerate(scales.tolist())
            for proposer in self.proposers[source]
            for candidate in proposer.propose(self.trace.n_rounds + NEXT_DRAW)
            for least in [candidate.complexity if proposer.least_complexity is None else proposer.least_complexity]
        ]

    # --- steps

    def _step_size(self, direction: Direction) -> float:
        """The minimum of G along a direction, or of a bound on it; damped, unless it cancels a weight."""
        if self.step == "line_search" or (self.step == "auto" and direction.real_valued):
            eta = self._minimum(direction, self._derivative(direction))
            self.objective.state()  # D of where the scores are again, which rates go by
        else:
            over, models = self.objective.over, self._models(direction)
            etas = [
                self._minimum(direction, lambda eta, model=model: over.slope(*model(eta)))  # type: ignore[misc]
                for model in models
            ]
            pairs = zip(models, etas, strict=True)
            reached = [over.value(model(eta)[0]) + direction.price_change(eta) for model, eta in pairs]
            eta = etas[int(np.argmin(reached))]
        cancels = direction.weight != 0.0 and eta == -direction.weight
        return eta if cancels else self.learning_rate * eta

    def _minimum(self, direction: Direction, derivative: Callable[[float], float]) -> float:
        return minimum_along(direction, derivative, self._signed, 0.25 * self.objective.step_grid)

    def _models(self, direction: Direction) -> list[Model]:
        """Bounds on the losses after a step; "closed_form" is that of the thesis alone."""
        curvatures = self.objective.curvatures(direction.sources, direction.factors) if self.step == "auto" else None
        return bounds_along(direction, self._state.losses, curvatures)

    def _derivative(self, direction: Direction) -> Callable[[float], float]:
        """Derivative of G itself: the step is taken, evaluated, and taken back."""
        objective = self.objective

        def derivative(eta: float) -> float:
            take_back = self._move(
                direction, [on_grid(eta * factor, objective.step_grid) for factor in direction.factors]
            )
            state = objective.state()
            rates = sum(
                factor * objective.rates(self.members[source].columns, member.slot, source)[0]
                for member, source, factor in zip(direction.members, direction.sources, direction.factors, strict=True)
            )
            take_back()
            slope = objective.over.slope(state.losses, -np.asarray(rates))
            return slope if math.isfinite(slope) else math.copysign(STEEPEST, eta)  # an exponential has overflown

        return derivative

    def _move(self, direction: Direction, etas: list[float]) -> Callable[[], None]:
        """Moves the scores, and returns what moves them back, to the last bit."""
        objective = self.objective
        # Shares, steps and votes lie on grids, so that sums are exact; other predictions round the scores.
        saved = objective.saved() if direction.real_valued else None

        def move(sign: float) -> None:
            for member, source, eta in zip(direction.members, direction.sources, etas, strict=True):
                if eta != 0.0:
                    objective.step(self.members[source].columns, member.slot, source, sign * eta)

        move(1.0)
        return (lambda: move(-1.0)) if saved is None else (lambda: objective.restore(saved))

    def _take(self, direction: Direction, eta: float, round_index: int, promise: bool = True) -> list[Step]:
        """Moves the members; with a promise the objective falls, or nothing is done."""
        before = self.objective.over.value(self._state.losses) + self._penalty_value
        cancels = len(direction.members) == 1 and direction.weight != 0.0 and eta == -direction.weight
        moved = False
        for _ in range(HALVINGS):
            etas = [eta if cancels else on_grid(eta * factor, self.objective.step_grid) for factor in direction.factors]
            if not any(etas):
                break
            take_back, moved = self._move(direction, etas), True
            state = self.objective.state()
            pairs = zip(direction.members, etas, strict=True)
            change = sum(self.penalty.change(member.price, member.weight, member.weight + eta) for member, eta in pairs)
            after = self.objective.over.value(state.losses) + self._penalty_value + change
            if before - after > self._least_decrease * before or not promise:
                self._state = state
                return self._record(direction, etas, round_index)
            take_back()
            eta, cancels = 0.5 * eta, False
        if moved:
            self._state = self.objective.state()
        return []

    def _record(self, direction: Direction, etas: list[float], round_index: int) -> list[Step]:
        pairs = [pair for pair in zip(direction.members, direction.sources, etas, strict=True) if pair[2] != 0.0]
        for member, source, eta in pairs:
            self.members[source].add_weight(member, eta)
        # Members that were admitted in this round have their final indices only when unused ones are gone.
        self._discard_unused()
        steps = [Step(round_index, member.index, eta) for member, _, eta in pairs]
        self.trace.steps.extend(steps)
        return steps

    def _apply(self, member: Member, source: int, eta: float) -> None:
        self.objective.step(self.members[source].columns, member.slot, source, eta)
        self.members[source].add_weight(member, eta)
