"""FedMultiBoost, the boosting algorithm. Storcheus, PhD thesis (NYU, 2021), Figure 4.2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost import complexity
from radboost._typing import FloatArray
from radboost.boosting.coordinate import EXHAUSTED, NO_LOSS, NOTHING, PATIENCE
from radboost.boosting.driver import End, RoundMaker
from radboost.boosting.multi_source import (
    RATE_TOLERANCE,
    SMALLEST_SLOPE,
    decayed,
    entry_with_sources,
    recorded_with_sources,
)
from radboost.boosting.trace import Step, Trace
from radboost.families.candidates import Candidates, draw
from radboost.families.sourced import SourcedHypothesis
from radboost.federated.fixed_point import SCALE_BITS, Scales
from radboost.federated.public import AnyCandidates
from radboost.federated.registry import ClientRecord
from radboost.federated.server import Server, Totals
from radboost.objectives.over_sources import OverSources
from radboost.objectives.sourced import STEP_GRID
from radboost.penalties import EnsemblePenalty, check_linear, on_grid, slope
from radboost.rows.sources import SHARE_GRID

# Steps that a line search compares: the longest one, and the ratio of each to the one before.
LONGEST_STEP, N_LINE_STEPS, LINE_RATIO = 2.0, 32, 2.0**-0.5
SILENT_GAP = 1e6  # loss by which a domain without replies is set below the others: it is never the worst


@dataclass(frozen=True)
class State:
    """Losses, slopes and errors of the domains, by the clients that were asked; arrays of shape (n_domains,)."""

    scales: Scales
    losses: FloatArray
    slopes: FloatArray
    errors: FloatArray
    replies: Totals  # of the clients of the round; the third sum of a domain k is that of Phi' Q(k | x)


class FederatedDescent(RoundMaker):
    """Round maker of FedMultiBoost: a step along the candidate with the largest edge in the worst domain.

    Losses and edges are those of the clients of the round. With all clients in every round the model is that of
    `MultiSourceBoostClassifier` on all rows, bit for bit: the sums are the same integers.
    """

    def __init__(
        self,
        server: Server,
        *,
        over: OverSources,
        penalty: EnsemblePenalty,
        candidates: AnyCandidates,
        learning_rate: float,
        step: str,
        seeds: Sequence[int],
        trace: Trace,
    ) -> None:
        check_linear(penalty, "A federation")
        self.server, self.over, self.trace = server, over, trace
        self.candidates = candidates
        self._names = names = [str(domain) for domain in server.task.domains]
        self._loss, self._n_features, self._n_domains = server.task.loss, server.task.n_features, len(names)
        self._penalty, self._penalty_values = penalty, [0.0] * len(names)
        self._learning_rate, self._step, self._seeds = learning_rate, step, seeds
        self._grid = STEP_GRID[2]
        # (source, key of the hypothesis) -> index in the trace, weight
        self._weights: dict[tuple[int, object], tuple[int, float]] = {}
        self._weight_sums = [0.0] * len(names)  # of the absolute weights of a domain
        self._all_replied = True  # in this round
        given, per_round = isinstance(candidates, Candidates), candidates.per_round  # otherwise clients train them
        self._randomized = not given or (per_round is not None and per_round < len(server.task.candidates))
        self.patience = PATIENCE
        self.exhausted = EXHAUSTED if self._randomized else NOTHING  # type: ignore[misc]
        self.recorded = recorded_with_sources(names)

    def begin(self) -> None:
        unknown = np.full(self._n_domains, np.nan)
        self._state = self._evaluate(
            0, State(Scales.at(self._loss, 1.0), unknown, unknown, unknown, Totals({}, {}, ()))
        )

    def replay(self) -> None:
        raise NotImplementedError("a federation does not go on from an earlier fit")

    def make(self, round_index: int, idle: int) -> Sequence[Step] | End:
        state = self._state
        if float(np.nanmax(state.slopes, initial=0.0)) <= SMALLEST_SLOPE:
            return End(NO_LOSS)
        self._all_replied = len(state.replies.n_rows) == self._n_domains
        chosen, steps = self._choose(round_index, state), list[Step]()
        if chosen is not None:
            source, hypothesis, edge = chosen
            eta = self._step_size(round_index, state, source, hypothesis, edge)
            steps = [self._take(round_index, source, hypothesis, eta)] if eta != 0.0 else []
        if not steps and not self._randomized and self._all_replied:
            return End(NOTHING)
        self._state = self._evaluate(round_index + 1, state)
        return steps

    def history_entry(self) -> dict[str, float]:
        state, objective = self._state, self.over.value(self._state.losses) + sum(self._penalty_values)
        sizes = self.server.sizes
        return entry_with_sources(self._names, sizes, state.losses, state.errors, objective, len(self._weights))

    # --- what a round does

    def _evaluate(self, round_index: int, last: State) -> State:
        """Losses and slopes by the clients of a round, or the last ones of a domain without a reply; lines 4 to 10."""
        scales = last.scales
        totals = self.server.add_up("evaluate", self.server.invite(round_index), 4, scales)
        while totals.scales is not None and totals.scales != scales:
            scales = totals.scales
            totals = self.server.add_up("evaluate", totals.clients, 4, scales)
        losses, slopes, errors = (array.copy() for array in (last.losses, last.slopes, last.errors))
        for domain, sums in totals.sums.items():
            m = totals.n_rows[domain]
            losses[domain] = scales.loss_value(sums[0]) / m
            slopes[domain] = scales.slope_value(sums[1]) / m
            errors[domain] = sums[3] / m
        if np.isnan(losses).any():
            unknown = [self._names[domain] for domain in np.flatnonzero(np.isnan(losses)).tolist()]
            raise RuntimeError(
                f"No client of the domain {unknown[0]!r} has answered yet, so that nothing is known of it. Start when "
                "clients of all domains are connected."
            )
        return State(scales, losses, slopes, errors, totals)

    def _ask(self, action: str, clients: Sequence[ClientRecord], *given: Any) -> Totals:
        """Totals within a round; a missing reply is noted, since it is no evidence of convergence."""
        totals = self.server.add_up(action, clients, *given)
        self._all_replied &= len(totals.clients) == len(clients)
        return totals

    def _choose(self, round_index: int, state: State) -> tuple[int, Any, float] | None:
        """Source, candidate and edge that lower the worst mixture of the losses fastest; lines 11 to 17."""
        mixture = self.over.weights(self._known_losses(state))
        worst = self.over.as_maximum() is not None
        sources = [k for k in range(self._n_domains) if mixture[k] > 0.0 or not worst]
        n_rows = state.replies.n_rows
        per_row = np.array([mixture[k] / n_rows[k] if k in n_rows else 0.0 for k in range(self._n_domains)])
        unit = float(per_row.max())
        if unit == 0.0:
            return None
        factors = per_row / unit
        totals, clients = self._slopes(state, sources, factors)
        fastest, best = RATE_TOLERANCE, None
        for source in sources:
            scale = state.scales.slope_value(totals[source]) * unit
            if scale <= SMALLEST_SLOPE:
                continue
            drawn = self._drawn(round_index, source, state)
            edges = self._edges(state, clients, source, factors, totals[source], drawn)
            for hypothesis, edge in zip(drawn, edges, strict=True):
                rate = abs(slope(edge, edge, 0.0, self._price(source, hypothesis) / scale, True)) * scale
                if rate > fastest:
                    fastest, best = rate, (source, hypothesis, edge)
        return best

    def _known_losses(self, state: State) -> FloatArray:
        """Losses of the domains, those without a reply in this round far below the others."""
        losses = state.losses.copy()
        silent = [domain for domain in range(self._n_domains) if domain not in state.replies.n_rows]
        losses[silent] = losses.min() - SILENT_GAP
        return losses

    def _drawn(self, round_index: int, source: int, state: State) -> list[Any]:
        """Candidates of a source in a round, drawn or trained by clients; line 11."""
        asked = self.candidates
        if not isinstance(asked, Candidates):
            return self.server.propose(state.replies.clients, round_index, source, asked.family, asked.per_round)
        n = len(asked.hypotheses)
        return [asked.hypotheses[k] for k in draw(self._seeds[source], round_index, n, asked.per_round)]

    def _slopes(
        self, state: State, sources: Sequence[int], factors: FloatArray
    ) -> tuple[dict[int, int], tuple[ClientRecord, ...]]:
        """Source k -> sum over the rows of Phi' Q(k | x) times the factor of the domain; and the clients in it."""
        (counted,) = np.nonzero(factors)
        if len(counted) == 1 and list(sources) == counted.tolist():  # known since the losses were asked for
            own = state.replies.sums.get(sources[0], [0, 0, 0])[2]
            return {sources[0]: own}, state.replies.clients
        facts = {"sources": list(sources)}
        reported = self._ask("slopes", state.replies.clients, len(sources), state.scales, facts, factors)
        totals = {source: sum(sums[k] for sums in reported.sums.values()) for k, source in enumerate(sources)}
        return totals, reported.clients

    def _edges(
        self,
        state: State,
        clients: Sequence[ClientRecord],
        source: int,
        factors: FloatArray,
        total: int,
        candidates: Sequence[Any],
    ) -> list[float]:
        """Edges of candidates of a source under D, whose sum over the rows that count is 1."""
        asked = [client for client in clients if factors[client.domain] > 0.0]
        facts = {"source": source, "total": str(total), "hypotheses": candidates}
        reported = self._ask("edges", asked, len(candidates), state.scales, facts, factors)
        edges = [0] * len(candidates)
        for domain, sums in reported.sums.items():
            # A client that has dropped out since does not count as zero: the others stand for its domain.
            dropped = reported.n_rows[domain] != state.replies.n_rows[domain]
            ratio = state.replies.n_rows[domain] / reported.n_rows[domain]
            edges = [e + (round(ratio * more) if dropped else more) for e, more in zip(edges, sums, strict=True)]
        return [math.ldexp(float(edge), -SCALE_BITS) for edge in edges]

    def _step_size(self, round_index: int, state: State, source: int, hypothesis: Any, edge: float) -> float:
        """Line 18, or the best of a grid of steps by the losses that another exchange reports."""
        if self._step == "decay":
            return on_grid(math.copysign(decayed(self._learning_rate, round_index), edge), self._grid)
        etas = [on_grid(math.copysign(LONGEST_STEP * LINE_RATIO**k, edge), self._grid) for k in range(N_LINE_STEPS)]
        scales = Scales.at(self._loss, 1.0 + self.server.largest_score + LONGEST_STEP)
        facts = {"source": source, "etas": etas, "hypotheses": [hypothesis]}
        reported = self._ask("line_search", state.replies.clients, len(etas), scales, facts)
        before, after = self._known_losses(state), []
        for k in range(len(etas)):
            losses = before.copy()
            for domain, sums in reported.sums.items():
                losses[domain] = scales.loss_value(sums[k]) / reported.n_rows[domain]
            after.append(losses)
        values = [self.over.value(losses) for losses in after]
        if min(values) < self.over.value(before):
            return on_grid(self._learning_rate * etas[int(np.argmin(values))], self._grid)
        # Where several domains are tied as the worst no step along one of them lowers the maximum. The loss that the
        # candidate was chosen for falls, by a step that gets shorter from round to round.
        mixture, longest = self.over.weights(before), decayed(self._learning_rate, round_index)
        best = int(np.argmin([float(mixture @ losses) for losses in after]))
        if not float(mixture @ after[best]) < float(mixture @ before):
            return 0.0
        return on_grid(math.copysign(min(longest, abs(self._learning_rate * etas[best])), edge), self._grid)

    def _take(self, round_index: int, source: int, hypothesis: Any, eta: float) -> Step:
        """Line 19; a member whose weight becomes 0 leaves."""
        key = (source, hypothesis.key()[0])
        if key not in self._weights:
            named = SourcedHypothesis(hypothesis, source, self._n_features, self._n_domains)
            self._weights[key] = (self.trace.enter(named, self._complexity(source, hypothesis)), 0.0)
        index, weight = self._weights[key]
        entered = self.trace.hypotheses[index]
        assert isinstance(entered, SourcedHypothesis)
        eta *= entered.base.key()[1] * hypothesis.key()[1]  # a mirror image is the same member
        self._weights[key] = (index, weight + eta)
        price = self._price(source, hypothesis)
        self._penalty_values[source] += self._penalty.change(price, weight, weight + eta)
        if weight + eta == 0.0:
            del self._weights[key]
        # The Q of a row sum to 1 before each is rounded to the grid. So a score can exceed the largest sum of weights
        # of a domain by this factor.
        self._weight_sums[source] += abs(weight + eta) - abs(weight)
        self.server.largest_score = max(self._weight_sums) * (1.0 + 0.5 * self._n_domains * SHARE_GRID[2])
        self.server.add_step(source, entered.base, eta)
        step = Step(round_index, index, eta)
        self.trace.steps.append(step)
        return step

    def _price(self, source: int, hypothesis: Any) -> float:
        return self._penalty.price(self._complexity(source, hypothesis))

    def _complexity(self, source: int, hypothesis: Any) -> float:
        m = float(self.server.sizes[source])
        if isinstance(self.candidates, Candidates):
            return self.candidates.complexity(m, 1)
        return complexity.trees(hypothesis.n_splits, m, float(self._n_features))
