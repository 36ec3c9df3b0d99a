"""FedMultiBoost: boosting over rows that stay with their owners. Storcheus, Figure 4.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from radboost import complexity
from radboost._typing import FloatArray
from radboost.boosting.driver import End, RoundMaker
from radboost.boosting.multi_source import (
    CONVERGED,
    EXHAUSTED,
    NO_LOSS,
    PATIENCE,
    RATE_TOLERANCE,
    SMALLEST_SLOPE,
    decayed,
)
from radboost.boosting.trace import Step, Trace
from radboost.families.candidates import Candidates, draw
from radboost.families.sourced import SourcedHypothesis
from radboost.federated.numbers import SCALE_BITS, Scales
from radboost.federated.privacy import BudgetSpentError
from radboost.objectives.over_sources import OverSources
from radboost.objectives.sourced import STEP_GRID
from radboost.penalties import EnsemblePenalty, check_linear, on_grid, slope
from radboost.rows.sources import SHARE_GRID

# Steps that a line search compares, from this one down, each half of the one before in a finer and finer grid.
LONGEST_STEP, N_LINE_STEPS, LINE_RATIO = 2.0, 32, 2.0**-0.5
# Where single rows are not told how large the largest loss is, sums resolve nothing beyond 2 to this power.
LARGEST_SCALE = 30
TOO_LARGE = (
    'the scores have grown beyond what secure or noisy sums resolve: take loss="logistic", or fewer or shorter steps'
)
FAR_BELOW = 1e6  # no loss makes up for it
# Draws of owners must not be those of candidates.
OWNERS_SALT = 0x51ED270B


@dataclass(frozen=True)
class Totals:
    """Sums over the rows of those owners who have answered, by their domains."""

    sums: Mapping[int, list[int]]
    n_rows: Mapping[int, int]
    owners: tuple[Any, ...]
    scales: Scales | None = None  # the largest of the owners, where they tell


class Owners(Protocol):
    """Those who have rows, as the descent sees them."""

    sizes: FloatArray  # rows of each domain
    negotiates: bool  # whether owners tell their scales; otherwise those that no row can exceed are used
    noisy: bool  # whether sums have noise
    reach: float  # no score is larger

    def invite(self, round_index: int) -> Sequence[Any]:
        """The owners that a round asks."""

    def add(self, action: str, owners: Sequence[Any], facts: Callable[[Any], Mapping[str, Any]], width: int) -> Totals:
        """Asks owners for sums; those who do not answer are left out."""

    def propose(self, owners: Sequence[Any], round_index: int, source: int) -> list[Any]:
        """Hypotheses that owners have trained on their rows."""

    def take_step(self, source: int, hypothesis: Any, eta: float) -> None:
        """Remembers a step of the ensemble, of which owners are told when they are asked next."""


@dataclass(frozen=True)
class State:
    """Where the domains stand, by those who were asked."""

    scales: Scales
    losses: FloatArray
    slopes: FloatArray
    errors: FloatArray
    own_slopes: Mapping[int, int]  # the sum of Phi' Q(k | x) over the rows of domain k
    n_rows: Mapping[int, int]
    owners: tuple[Any, ...]


class FederatedDescent(RoundMaker):
    """Each round: the worst domain, by what the owners of this round say; of its candidates the one with the largest
    edge on their rows; a step along it.

    With all owners in every round the model is that of `MultiSourceBoostClassifier` on all rows, bit for bit: the sums
    are the same integers.
    """

    def __init__(
        self,
        owners: Owners,
        *,
        loss: str,
        over: OverSources,
        penalty: EnsemblePenalty,
        candidates: Candidates | None,
        n_features: int,
        learning_rate: float,
        step: str,
        names: Sequence[str],
        seeds: Sequence[int],
        trace: Trace,
    ) -> None:
        check_linear(penalty, "A federation")
        self.owners, self.over, self.trace = owners, over, trace
        self.candidates = candidates  # None: owners train them
        self._penalty, self._penalty_values = penalty, [0.0] * len(names)
        self._loss, self._learning_rate, self._step = loss, learning_rate, step
        self._n_features, self._n_domains = n_features, len(names)
        self._names, self._seeds = names, seeds
        self._grid = STEP_GRID[2]
        self._weights: dict[tuple[int, object], tuple[int, float]] = {}  # of members: place in the trace, weight
        self._sizes = [0.0] * len(names)  # of all weights of a domain
        self._all_answered = True  # in this round
        drawn = candidates is None or len(draw(0, 0, len(candidates.hypotheses), candidates.per_round)) < len(
            candidates.hypotheses
        )
        drawn = drawn or owners.noisy
        self._randomised = drawn
        self.patience = PATIENCE
        self.exhausted = EXHAUSTED if drawn else CONVERGED  # type: ignore[misc]
        self.recorded = (
            "objective",
            "train_error",
            "n_hypotheses",
            *(f"{what}[{name}]" for what in ("source_loss", "source_error") for name in names),
        )

    def begin(self) -> None:
        start = Scales.at(self._loss, 1.0)
        everywhere = np.full(self._n_domains, np.nan)
        nobody = State(start, everywhere, everywhere, everywhere, {}, {}, ())
        self._state = self._stand(0, nobody)

    def replay(self) -> None:
        raise NotImplementedError("a federation does not go on from an earlier fit")

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        state = self._state
        if not self.owners.noisy and float(np.nanmax(state.slopes, initial=0.0)) <= SMALLEST_SLOPE:
            return End(NO_LOSS)
        if not self.owners.negotiates and self._bound().loss > LARGEST_SCALE:
            return End(TOO_LARGE)
        self._all_answered = len(state.n_rows) == self._n_domains
        try:
            steps = self._steps_of(round_index, state)
            if not steps and not self._randomised and self._all_answered:
                return End(CONVERGED)
            self._state = self._stand(round_index + 1, state)
        except BudgetSpentError as error:
            return End(str(error))
        return steps

    def _steps_of(self, round_index: int, state: State) -> list[Step]:
        chosen = self._choose(round_index, state)
        if chosen is None:
            return []
        source, hypothesis, edge = chosen
        eta = self._step_size(round_index, state, source, hypothesis, edge)
        return [] if eta == 0.0 else [self._take(round_index, source, hypothesis, eta)]

    def history_entry(self) -> dict[str, float]:
        state, sizes = self._state, self.owners.sizes
        return {
            "objective": self.over.value(state.losses) + sum(self._penalty_values),
            "train_error": float(state.errors @ sizes / sizes.sum()),
            "n_hypotheses": len(self._weights),
            **{f"source_loss[{name}]": float(loss) for name, loss in zip(self._names, state.losses, strict=True)},
            **{f"source_error[{name}]": float(error) for name, error in zip(self._names, state.errors, strict=True)},
        }

    # --- what a round does

    def _stand(self, round_index: int, last: State) -> State:
        """Lines 4 to 10: losses and sums of derivatives of the owners that this round asks.

        A domain of which nobody answers keeps what was known of it.
        """
        invited = self.owners.invite(round_index)
        scales = last.scales if self.owners.negotiates else self._bound()
        totals = self._standing(invited, scales)
        while totals.scales is not None and totals.scales != scales:
            scales = totals.scales
            totals = self._standing(totals.owners, scales)
        losses, slopes, errors = (array.copy() for array in (last.losses, last.slopes, last.errors))
        for domain, sums in totals.sums.items():
            m = totals.n_rows[domain]
            losses[domain] = scales.loss_value(sums[0]) / m
            slopes[domain] = scales.slope_value(sums[1]) / m
            errors[domain] = sums[3] / m
        if np.isnan(losses).any():
            unheard = [self._names[domain] for domain in np.flatnonzero(np.isnan(losses)).tolist()]
            raise RuntimeError(
                f"No owner of the domain {unheard[0]!r} has answered yet, so that nothing is known of it. Start when "
                "owners of all domains are connected."
            )
        own = {domain: sums[2] for domain, sums in totals.sums.items()}
        return State(scales, losses, slopes, errors, own, totals.n_rows, totals.owners)

    def _standing(self, invited: Sequence[Any], scales: Scales) -> Totals:
        return self.owners.add("stand", invited, lambda owner: {"scales": [scales.loss, scales.slope]}, 4)

    def _bound(self) -> Scales:
        return Scales.at(self._loss, 1.0 + self.owners.reach)

    def _ask(self, action: str, owners: Sequence[Any], facts: Callable[[Any], Mapping[str, Any]], width: int) -> Totals:
        """Sums of this round; silence is no evidence that nothing is to be gained."""
        found = self.owners.add(action, owners, facts, width)
        self._all_answered &= len(found.owners) == len(owners)
        return found

    def _choose(self, round_index: int, state: State) -> tuple[int, Any, float] | None:
        """Lines 11 to 17: the candidate that lowers the worst mixture of the losses fastest."""
        mixture = self.over.weights(self._heard(state))
        worst = self.over.as_maximum() is not None
        sources = [k for k in range(self._n_domains) if mixture[k] > 0.0 or not worst]
        per_row = np.array([mixture[k] / state.n_rows[k] if k in state.n_rows else 0.0 for k in range(self._n_domains)])
        unit = float(per_row.max())
        if unit == 0.0:
            return None
        factors = per_row / unit
        totals, there = self._slopes(state, sources, factors)
        best: tuple[float, tuple[int, Any, float] | None] = (RATE_TOLERANCE, None)
        for source in sources:
            scale = state.scales.slope_value(totals[source]) * unit
            if scale <= SMALLEST_SLOPE:
                continue
            places = self._drawn(round_index, source, state)
            for place, edge in zip(
                places, self._edges(state, there, source, factors, totals[source], places), strict=True
            ):
                threshold = self._price(source, self._hypothesis(place)) / scale
                size = abs(slope(edge, edge, 0.0, threshold, True)) * scale
                if size > best[0]:
                    best = (size, (source, place, edge))
        if best[1] is None:
            return None
        source, place, edge = best[1]
        return source, self._hypothesis(place), edge

    def _heard(self, state: State) -> FloatArray:
        """The losses, those of domains that are silent in this round far below the others."""
        losses = state.losses.copy()
        silent = [domain for domain in range(self._n_domains) if domain not in state.n_rows]
        losses[silent] = losses.min() - FAR_BELOW
        return losses

    def _hypothesis(self, place: Any) -> Any:
        return self.candidates.hypotheses[place] if isinstance(place, int) and self.candidates is not None else place

    def _drawn(self, round_index: int, source: int, state: State) -> list[Any]:
        """Line 11: places of candidates, or hypotheses that owners have trained."""
        if self.candidates is None:
            return self.owners.propose(state.owners, round_index, source)
        n = len(self.candidates.hypotheses)
        return list(draw(self._seeds[source], round_index, n, self.candidates.per_round))

    def _slopes(
        self, state: State, sources: Sequence[int], factors: FloatArray
    ) -> tuple[dict[int, int], tuple[Any, ...]]:
        """For each source k the sum of Phi' Q(k | x) over the rows, times the factors of their domains; and of whom."""
        (counted,) = np.nonzero(factors)
        if self.owners.noisy:  # D must stay below 1 in every row: by the largest sum that there can be
            rows = sum(state.n_rows[domain] for domain in counted.tolist())
            return dict.fromkeys(sources, rows << SCALE_BITS), state.owners
        if len(counted) == 1 and list(sources) == counted.tolist():  # known: it was asked for with the losses
            return {sources[0]: state.own_slopes.get(sources[0], 0)}, state.owners

        def facts(owner: Any) -> dict[str, Any]:
            return {**self._told(state), "sources": list(sources), "factor": float(factors[owner.domain])}

        found = self._ask("slopes", state.owners, facts, len(sources))
        totals = {source: sum(sums[k] for sums in found.sums.values()) for k, source in enumerate(sources)}
        return totals, found.owners

    def _edges(
        self,
        state: State,
        there: Sequence[Any],
        source: int,
        factors: FloatArray,
        total: int,
        places: Sequence[Any],
    ) -> list[float]:
        """Edges of candidates of a source under D, whose sum over the rows that count is 1."""
        asked = [owner for owner in there if factors[owner.domain] > 0.0]

        def facts(owner: Any) -> dict[str, Any]:
            return {
                **self._told(state),
                "source": source,
                "factor": float(factors[owner.domain]),
                "total": str(total),
                "hypotheses": places,
            }

        found = self._ask("edges", asked, facts, len(places))
        sums = [0] * len(places)
        for domain, own in found.sums.items():
            # Who has dropped out since is not counted as zero: those who are left stand for their domain.
            gone = found.n_rows[domain] != state.n_rows[domain]
            ratio = state.n_rows[domain] / found.n_rows[domain]
            sums = [one + (round(ratio * more) if gone else more) for one, more in zip(sums, own, strict=True)]
        return [math.ldexp(float(one), -SCALE_BITS) for one in sums]

    def _told(self, state: State) -> dict[str, Any]:
        return {"scales": [state.scales.loss, state.scales.slope]}

    def _step_size(self, round_index: int, state: State, source: int, hypothesis: Any, edge: float) -> float:
        """Line 18, or the best of a grid of steps by the losses that a second exchange finds along the line."""
        if self._step == "decay":
            return on_grid(math.copysign(decayed(self._learning_rate, round_index), edge), self._grid)
        etas = [on_grid(math.copysign(LONGEST_STEP * LINE_RATIO**k, edge), self._grid) for k in range(N_LINE_STEPS)]
        scales = Scales.at(self._loss, 1.0 + self.owners.reach + LONGEST_STEP)

        def facts(owner: Any) -> dict[str, Any]:
            told = {"scales": [scales.loss, scales.slope], "source": source}
            return {**told, "etas": etas, "hypotheses": [hypothesis]}

        found = self._ask("line", state.owners, facts, len(etas))
        before, after = self._heard(state), []
        for k in range(len(etas)):
            losses = before.copy()
            for domain, sums in found.sums.items():
                losses[domain] = scales.loss_value(sums[k]) / found.n_rows[domain]
            after.append(losses)
        values = [self.over.value(losses) for losses in after]
        if min(values) < self.over.value(before):
            return on_grid(self._learning_rate * etas[int(np.argmin(values))], self._grid)
        # Where several domains are worst at once no step along one of them lowers the maximum. The loss that the
        # candidate was chosen for falls, by a step that gets shorter from round to round.
        mixture, longest = self.over.weights(before), decayed(self._learning_rate, round_index)
        best = int(np.argmin([float(mixture @ losses) for losses in after]))
        if not float(mixture @ after[best]) < float(mixture @ before):
            return 0.0
        return on_grid(math.copysign(min(longest, abs(self._learning_rate * etas[best])), edge), self._grid)

    def _take(self, round_index: int, source: int, hypothesis: Any, eta: float) -> Step:
        """Line 19; a member whose weight is 0 leaves."""
        key = (source, hypothesis.key()[0])
        if key not in self._weights:
            named = SourcedHypothesis(hypothesis, source, self._n_features, self._n_domains)
            self._weights[key] = (self.trace.enter(named, self._complexity(source, hypothesis)), 0.0)
        place, weight = self._weights[key]
        entered = self.trace.hypotheses[place]
        assert isinstance(entered, SourcedHypothesis)
        eta *= entered.base.key()[1] * hypothesis.key()[1]  # a mirror image is the same member
        self._weights[key] = (place, weight + eta)
        price = self._penalty.price(self._complexity(source, hypothesis))
        self._penalty_values[source] += self._penalty.change(price, weight, weight + eta)
        if weight + eta == 0.0:
            del self._weights[key]
        # Shares of a row sum to 1 before each is rounded to the grid: so far a score can exceed the weights of the
        # largest domain together.
        self._sizes[source] += abs(weight + eta) - abs(weight)
        self.owners.reach = max(self._sizes) * (1.0 + 0.5 * self._n_domains * SHARE_GRID[2])
        self.owners.take_step(source, entered.base, eta)
        step = Step(round_index, place, eta)
        self.trace.steps.append(step)
        return step

    def _price(self, source: int, hypothesis: Any) -> float:
        return self._penalty.price(self._complexity(source, hypothesis))

    def _complexity(self, source: int, hypothesis: Any) -> float:
        m = float(self.owners.sizes[source])
        if self.candidates is None:
            return complexity.trees(hypothesis.n_splits, m, float(self._n_features))
        return self.candidates.complexity(m, 1)
