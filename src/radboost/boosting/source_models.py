"""The objective over several sources as a function of the weights of members: quadratic model, lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.boosting.coordinate import EDGE_ROUNDING
from radboost.boosting.members import Members
from radboost.boosting.source_steps import Direction
from radboost.families.base import Candidate
from radboost.objectives.sourced import SourcedObjective

ACCURACY = 1e-14  # mean complementarity at which the interior-point method stops
MOST_ITERATIONS = 60  # of that method, which needs about 20
CENTRING = 0.1  # fraction of the complementarity that an iteration aims at
INSIDE = 0.99  # fraction of the way to the boundary that an iteration goes at most
SMALLEST_EXCESS = 1e-9  # of a rate over a price, for new hypotheses
FREE = 1e-4  # stands for a price of 0 in the search for a mixture, relative to the largest rate
FLAT = 1e-9  # added to curvatures, relative to the largest

Proposal = tuple[Candidate, int, float, float]  # source, rate at which it lowers a mixture of the losses, and price


@dataclass(frozen=True)
class LowerBound:
    """Lower bound on the objective, its mixture of the losses, and the steepest new hypothesis of each source."""

    value: float
    mixture: FloatArray
    steepest: list[tuple[Candidate, int]]


class MembersModel:
    """Rates and curvatures of the losses along each member, at the current scores.

    Attributes
    ----------
    columns : list of (member, source)
    weights, prices : arrays of shape (n_columns,)
    rates : array of shape (n_sources, n_columns)
        Rate at which the weight of a member lowers the loss of a source.
    """

    def __init__(self, objective: SourcedObjective, members: Sequence[Members]) -> None:
        self._objective, self._members, self._signed = objective, members, objective.objective.signed
        self.columns = [(member, source) for source, some in enumerate(members) for member in some]
        self.weights = np.array([member.weight for member, _ in self.columns])
        self.prices = np.array([member.price for member, _ in self.columns])
        self.rates = np.array([self._slopes(source) for source in np.eye(objective.n_sources)])

    def _slopes(self, mixture: FloatArray) -> FloatArray:
        """Rate at which the weight of each member lowers a mixture of the losses, shape (n_columns,)."""
        scales = self._objective.aim([(source, mixture) for source in range(len(self._members))])
        of_source = [
            scale * view.edges(some.columns)[0] if some else np.zeros(0)
            for scale, view, some in zip(scales.tolist(), self._objective.views, self._members, strict=True)
        ]
        return np.array([of_source[source][member.slot] for member, source in self.columns])

    def steepest(self, mixture: FloatArray, n_columns: int) -> MembersModel:
        """Model of the members, at most so many, whose slopes for a mixture are the farthest from their prices."""
        distances = np.abs(mixture @ self.rates - np.sign(self.weights) * self.prices)
        kept, result = np.sort(np.argsort(-distances, kind="stable")[:n_columns]), copy(self)
        result.columns = [self.columns[index] for index in kept]
        result.weights, result.prices, result.rates = self.weights[kept], self.prices[kept], self.rates[:, kept]
        return result

    def block(self, changes: FloatArray) -> Direction:
        """Direction of all columns, for steps whose effect is not predicted."""
        members, sources = [member for member, _ in self.columns], [source for _, source in self.columns]
        real_valued = any(member.real_valued for member in members)
        return Direction(members, sources, changes.tolist(), np.zeros(0), np.zeros(0), real_valued=real_valued)

    def minimum(self, values: FloatArray, vertices: FloatArray, mixture: FloatArray) -> tuple[FloatArray, float]:
        """Changes x of the weights that minimize the quadratic model of the objective, and its decrease.

        The model is max_v (values_v - rates_v x) + x H x / 2 + prices |weights + x|. `values`: the losses at the
        vertices; H: curvatures of the mixture.
        """
        rates, curvatures, n = vertices @ self.rates, self._curvatures(mixture), len(self.columns)
        eye, none = np.eye(n), np.zeros((n, 1))
        # Variables: x, the maximum t, and bounds b on |weights + x|. Weights that may not be negative start inside.
        quadratic = np.pad(curvatures, (0, n + 1))
        most = np.concatenate([-values, -self.weights, self.weights])
        limits = np.vstack(
            [
                np.pad(-rates, ((0, 0), (0, n + 1))),
                np.hstack([eye, none, -eye]),
                np.hstack([-eye, none, -eye * self._signed]),
            ]
        )
        limits[: len(values), n] = -1.0
        start = np.full(n, 0.0 if self._signed else 0.01)
        bounds = [(values - rates @ start).max() + 1.0], np.abs(self.weights) + 1.0
        linear = np.concatenate([np.zeros(n), [1.0], self.prices])
        with one_blas_thread:
            x = _interior_point(quadratic, linear, limits, most, np.concatenate([start, *bounds]))[:n]
        before = values.max() + self.prices @ np.abs(self.weights)
        after = (values - rates @ x).max() + 0.5 * x @ curvatures @ x + self.prices @ np.abs(self.weights + x)
        return x, float(before - after)

    def _curvatures(self, mixture: FloatArray) -> FloatArray:
        """Second derivatives of a mixture of the losses, shape (n_columns, n_columns), from differences of slopes."""
        objective, length, saved = self._objective, math.sqrt(self._objective.step_grid), self._objective.saved()
        start, result = self._slopes(mixture), np.empty((len(self.columns), len(self.columns)))
        for j, (member, source) in enumerate(self.columns):
            objective.step(self._members[source].columns, member.slot, source, length)
            result[j] = (start - self._slopes(mixture)) / length
            objective.step(self._members[source].columns, member.slot, source, -length)
        objective.restore(saved)
        with one_blas_thread:  # nothing in it may wait for other workers
            values, vectors = np.linalg.eigh(np.nan_to_num(0.5 * (result + result.T)))
            return np.asarray((vectors * (np.maximum(values, 0.0) + FLAT * values.max())) @ vectors.T)

    def lower_bound(
        self, losses: FloatArray, weights: FloatArray, propose: Callable[[FloatArray], list[Proposal]]
    ) -> LowerBound:
        """Lower bound on the objective of all ensembles; equation (3b) of the theory.

        `losses` and `weights`: those of the current scores.
        """
        over = self._objective.over
        maximum = over.as_maximum()
        if maximum is None:
            mixture = over.weights(losses)
            conjugate = float(mixture @ losses) - over.value(losses)
        else:
            mixture, conjugate = self._mixture(losses + self.rates @ weights, maximum.vertices), 0.0
        slopes = mixture @ self.rates
        pairs = list(zip(slopes.tolist(), self.prices.tolist(), strict=True))
        steepest: dict[int, tuple[float, Candidate]] = {}
        for candidate, source, rate, price in propose(mixture):
            pairs.append((rate, price))
            excess = self._size(rate) - price
            if excess > steepest.get(source, (SMALLEST_EXCESS,))[0]:
                steepest[source] = (excess, candidate)
        theta = min([1.0, *(price / self._size(rate) for rate, price in pairs if self._size(rate) > price)])
        value = (1.0 - EDGE_ROUNDING) * theta * float(mixture @ losses + slopes @ weights) - conjugate
        return LowerBound(value, mixture, [(candidate, source) for source, (_, candidate) in steepest.items()])

    def _size(self, rate: float) -> float:
        return abs(rate) if self._signed else rate

    def _mixture(self, tops: FloatArray, vertices: FloatArray) -> FloatArray:
        """Mixture of vertices with the highest lower bound by the members alone; `tops`: F + e a for each source."""
        result, rates = np.zeros(len(vertices)), vertices @ self.rates
        if self.columns:
            from scipy.optimize import linprog  # slow to import

            prices = np.where(self.prices > 0.0, self.prices, FREE * np.abs(rates).max())
            edges = np.vstack([rates.T, -rates.T] if self._signed else [rates.T])
            limits, most = np.vstack([edges, np.ones(len(result))]), np.append(np.tile(prices, 1 + self._signed), 1.0)
            solved = linprog(-(vertices @ tops), A_ub=limits, b_ub=most, method="highs")
            result = np.maximum(solved.x, 0.0) if solved.success else result
        weights = result / result.sum() if result.sum() > 0.0 else np.full(len(result), 1.0 / len(result))
        return np.asarray(weights @ vertices)


def _interior_point(
    quadratic: FloatArray, linear: FloatArray, limits: FloatArray, most: FloatArray, start: FloatArray
) -> FloatArray:
    """Minimum of z P z / 2 + q z with G z <= h, from a start with G z < h; a primal-dual interior-point method."""
    z, duals, slacks = start, np.ones(len(most)), most - limits @ start
    for _ in range(MOST_ITERATIONS):
        gap = float(slacks @ duals) / len(most)
        residual = quadratic @ z + linear + limits.T @ duals
        if gap <= ACCURACY and np.abs(residual).max() <= math.sqrt(ACCURACY):
            break
        aims, ratios = CENTRING * gap / slacks - duals, duals / slacks
        try:
            change = -np.linalg.solve(quadratic + limits.T @ (ratios[:, None] * limits), residual + limits.T @ aims)
        except np.linalg.LinAlgError:
            break
        decreases = limits @ change  # of the slacks
        dual_change = aims + ratios * decreases
        longest = max(float(np.max(decreases / slacks)), float(np.max(-dual_change / duals)), 1e-300)
        length = min(1.0, INSIDE / longest)
        rest = most - limits @ (z + length * change)
        if not float(rest.min()) > 0.0:  # rounding, or not a number
            break
        z, duals, slacks = z + length * change, duals + length * dual_change, rest
    return z
