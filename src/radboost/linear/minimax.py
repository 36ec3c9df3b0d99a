"""Solver of linear models under the worst mixture of several losses (ALMO). Storcheus (2021), chapter 5.

    min over w in a ball of max over lambda in Lambda of sum of lambda_k (L_k(w) + beta_2 M_k) + beta_1 |w|   (5.10)

where L_k is the mean loss divided by its unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from radboost._typing import FloatArray
from radboost.linear.columns import DesignMatrix, matrix_times
from radboost.losses.gaps import gap_above
from radboost.losses.model_evaluation import EvaluationLoss
from radboost.rows.hashing import mix

SOLVERS = ("descent_ascent", "mirror_prox")
# Weight in projections of the condition that weights of vertices sum to 1, relative to the squared distance.
HEAVY = 1e6
Point = FloatArray  # shape (n_columns + 1, n_outputs): weights, and the intercepts as the last row


@dataclass(frozen=True)
class Minimax:
    """Minimax problem: rows, losses, and the admissible sets of weights and mixtures."""

    columns: DesignMatrix
    losses: Sequence[EvaluationLoss]
    units: FloatArray  # Lipschitz constants, by which losses are divided; shape (n_losses,)
    offsets: FloatArray  # beta_2 M_k, in these units
    row_weights: FloatArray  # they sum to 1
    n_outputs: int
    radius: float
    norm_penalty: float  # beta_1
    vertices: FloatArray | None  # of the mixtures; None: all of them

    @cached_property
    def means(self) -> FloatArray:
        """Means of the stored columns, which center sparse ones here; shape (n_columns,)."""
        return self.columns.correlate(self.columns.everything, np.ascontiguousarray(self.row_weights[None]))[:, 0]

    def intercept(self, point: Point) -> FloatArray:
        """Intercept for the stored columns; shape (n_outputs,)."""
        return np.asarray(point[-1] - matrix_times(point[:-1].T, self.means))

    def scores(self, point: Point) -> FloatArray:
        scores = self.columns.scores(self.columns.everything, point[:-1])
        return np.asarray(scores + self.intercept(point)[:, None])

    def values(self, scores: FloatArray) -> FloatArray:
        """L_k + beta_2 M_k, shape (n_losses,)."""
        means = [float(self.row_weights @ loss.value(scores)) for loss in self.losses]
        return np.array(means) / self.units + self.offsets

    def by_weights(self, slopes: FloatArray) -> Point:
        """Gradient by the weights, from the gradients of the rows by their scores, shape (n_outputs, n_rows)."""
        residual = slopes * self.row_weights
        totals = residual.sum(axis=1)
        products = self.columns.correlate(self.columns.everything, residual) - np.outer(self.means, totals)
        return np.asarray(np.vstack([products, totals]))

    def minorant(self, scores: FloatArray, values: FloatArray, mixture: FloatArray) -> tuple[float, FloatArray]:
        """Constant and slopes by the scores of an affine lower bound of the mixed losses, which meets convex ones.

        `values` are L_k + beta_2 M_k at these scores.
        """
        least = np.array([loss.least for loss in self.losses]) / self.units + self.offsets
        slopes = self.pull(self.losses, scores, mixture * self.convex)
        used = mixture > 0.0
        constant = mixture[used] @ np.where(self.convex, values, least)[used]
        return float(constant - self.row_weights @ (slopes * scores).sum(axis=0)), slopes

    def lower_bound(self, constant: float, slopes: FloatArray) -> float:
        """Minimum over the ball of constant + mean of <slopes, scores> + beta_1 |w|."""
        if constant == -math.inf:
            return constant
        gradient = self.by_weights(slopes)
        excess = max(float(np.linalg.norm(gradient[:-1])) - self.norm_penalty, 0.0)
        return constant - self.radius * math.hypot(excess, float(np.linalg.norm(gradient[-1])))

    def pull(self, losses: Sequence[EvaluationLoss], scores: FloatArray, mixture: FloatArray) -> FloatArray:
        """Gradient of the mixture of losses by the scores; shape (n_outputs, n_rows)."""
        total = np.zeros_like(scores)
        for loss, weight, unit in zip(losses, mixture.tolist(), self.units.tolist(), strict=True):
            if weight > 0.0:
                total += weight / unit * loss.gradient(scores)
        return total

    def gradient_of_norm(self, point: Point) -> Point:
        """Gradient of beta_1 |w|; 0 at the origin."""
        length = float(np.linalg.norm(point[:-1]))
        gradient = np.zeros_like(point)
        if self.norm_penalty > 0.0 and length > 0.0:
            gradient[:-1] = self.norm_penalty / length * point[:-1]
        return gradient

    def objective(self, values: FloatArray, point: Point) -> float:
        """Value of the worst mixture, plus the penalty of the weights."""
        worst = values.max() if self.vertices is None else (self.vertices @ values).max()
        return float(worst) + self.norm_penalty * float(np.linalg.norm(point[:-1]))

    @cached_property
    def scale(self) -> float:
        """Objective without weights."""
        origin = np.zeros((self.columns.n_columns + 1, self.n_outputs))
        return self.objective(self.values(self.scores(origin)), origin)

    @cached_property
    def convex(self) -> npt.NDArray[np.bool_]:
        return np.array([loss.convex for loss in self.losses])

    def into_ball(self, point: Point) -> Point:
        length = float(np.linalg.norm(point))
        return point if length <= self.radius else point * (self.radius / length)

    def onto_mixtures(self, point: FloatArray) -> FloatArray:
        """Project onto the admissible mixtures."""
        return on_simplex(point) if self.vertices is None else on_polytope(point, self.vertices)


def on_simplex(point: FloatArray) -> FloatArray:
    """Project onto the simplex (Duchi et al., 2008)."""
    falling = np.sort(point)[::-1]
    levels = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    nearest = np.maximum(point - levels[np.flatnonzero(falling > levels)[-1]], 0.0)
    return np.asarray(nearest / nearest.sum())


def on_polytope(point: FloatArray, vertices: FloatArray) -> FloatArray:
    """Project onto the convex hull of the vertices: non-negative least squares, with weights that sum to 1."""
    system = np.vstack([vertices.T, np.full(len(vertices), HEAVY)])
    weights, _ = nnls(system, np.append(point, HEAVY))
    return np.asarray(weights / weights.sum() @ vertices)


class Batches:
    """Rows drawn in proportion to their weights: by the seed, the round, and the order of rows by content."""

    def __init__(self, problem: Minimax, X: Any, rows: npt.NDArray[np.int64], class_ids: Any, size: int, seed: int):
        self._problem, self._X, self._rows, self._class_ids = problem, X, rows, class_ids
        self._size, self._seed = size, seed
        self._ends = np.cumsum(problem.row_weights)

    def draw(self, round_index: int) -> tuple[FloatArray, list[EvaluationLoss]]:
        """Standardized rows with a column of ones at the end, and their losses."""
        keys = np.arange(self._size, dtype=np.uint64) + np.uint64(round_index * self._size)
        words = mix(mix(keys, self._seed % 2**32), 1)
        drawn = np.searchsorted(self._ends, (words >> np.uint64(11)) * 2.0**-53 * self._ends[-1])
        chosen = self._rows[np.minimum(drawn, len(self._rows) - 1)]
        block = self._X[chosen]
        block = block.toarray() if hasattr(block, "toarray") else block
        columns = self._problem.columns
        block = (np.asarray(block, dtype=np.float64) - columns.centres) * columns.factors - self._problem.means
        losses = [loss.of(self._class_ids[np.minimum(drawn, len(self._rows) - 1)]) for loss in self._problem.losses]
        return np.hstack([block, np.ones((len(block), 1))]), losses

    def estimate(self, round_index: int, point: Point, mixture: FloatArray) -> tuple[FloatArray, Point]:
        """Estimates of the losses and of the gradient."""
        block, losses = self.draw(round_index)
        problem = self._problem
        scores = np.ascontiguousarray((block @ point).T)
        values = np.array([loss.value(scores).mean() for loss in losses]) / problem.units + problem.offsets
        pull = problem.pull(losses, scores, mixture) / len(block)
        return values, block.T @ pull.T + problem.gradient_of_norm(point)


@dataclass(frozen=True)
class Solution:
    point: Point
    mixture: FloatArray
    objective: float
    lower_bound: float  # of the objective, in the ball
    history: dict[str, list[float]]

    @property
    def gap(self) -> float:
        return gap_above(self.lower_bound, self.objective)


def solve(
    problem: Minimax,
    names: Sequence[str],
    *,
    solver: str,
    n_rounds: int,
    learning_rate: float,
    batches: Batches | None = None,
    advance: Callable[[dict[str, float]], None] = lambda record: None,
) -> Solution:
    """Projected descent-ascent (Figure 5.2), or Mirror-Prox, which looks ahead (Juditsky et al., 2011).

    Steps are those of Theorem 5.4, 2 D / (G sqrt(T)), with one difference. Losses are divided by their Lipschitz
    constants, so that G_w is the mean length of a row. In place of G_lambda, which bounds the losses in the whole ball,
    the step by lambda has their length G_0 at w = 0, which is much smaller. The model is the average over the second
    half of the rounds. With convex losses the theorem's proof, applied to these, bounds its distance from the minimum,
    times sqrt(T), by 3 D_w G_w + G_0 + G_lambda^2 / G_0.
    """
    p = len(problem.losses)
    point = np.zeros((problem.columns.n_columns + 1, problem.n_outputs))
    mixture = problem.onto_mixtures(np.full(p, 1.0 / p))
    start = problem.values(problem.scores(point))
    used = int((problem.columns.factors > 0.0).sum())
    step = learning_rate * 2.0 * problem.radius / math.sqrt(n_rounds) / math.sqrt(used + 1.0)
    rise = learning_rate * 2.0 / math.sqrt(n_rounds) / max(float(np.linalg.norm(start)), 1e-12) if p > 1 else 0.0

    def evaluate(t: int, at: Point, mixture: FloatArray) -> tuple[FloatArray, Point, float, Any]:
        if batches is not None:
            return *batches.estimate(t, at, mixture), -math.inf, 0.0
        scores = problem.scores(at)
        values = problem.values(scores)
        constant, slopes = problem.minorant(scores, values, mixture)
        rest = problem.pull(problem.losses, scores, mixture * ~problem.convex)
        return values, problem.by_weights(slopes + rest) + problem.gradient_of_norm(at), constant, slopes

    totals: list[Any] = [0.0, 0.0, 0.0, 0.0]  # points, mixtures, and constants and slopes of minorants
    history: dict[str, list[float]] = {}
    for t in range(n_rounds):
        values, gradient, *minorant = evaluate(2 * t, point, mixture)
        record = {"objective": problem.objective(values, point)}
        record |= {f"loss[{name}]": float(value) for name, value in zip(names, values, strict=True)}
        record |= {f"mixture[{name}]": float(weight) for name, weight in zip(names, mixture, strict=True)}
        for name, number in record.items():
            history.setdefault(name, []).append(number)
        advance(record)
        ahead = problem.into_ball(point - step * gradient)
        risen = problem.onto_mixtures(mixture + rise * values)
        if solver == "mirror_prox":
            values, gradient, *minorant = evaluate(2 * t + 1, ahead, risen)
            point = problem.into_ball(point - step * gradient)
            mixture = problem.onto_mixtures(mixture + rise * values)
        else:
            point, mixture = ahead, risen
        if t >= n_rounds // 2:
            totals = [total + term for total, term in zip(totals, (ahead, risen, *minorant), strict=True)]
    point, mixture, *average = (total / (n_rounds - n_rounds // 2) for total in totals)
    mixture /= mixture.sum()
    scores = problem.scores(point)
    values = problem.values(scores)
    bound = max(problem.lower_bound(*each) for each in (average, problem.minorant(scores, values, mixture)))
    return Solution(point, mixture, problem.objective(values, point), bound, history)
