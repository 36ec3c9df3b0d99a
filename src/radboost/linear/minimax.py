"""Linear models under the worst mixture of several losses: ALMO. Storcheus, chapter 5.

    min over w in a ball of max over lambda in Lambda of sum of lambda_k (L_k(w) + beta_2 M_k) + beta_1 |w|   (5.10)

where L_k is the mean loss divided by its unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.families.candidates import mixed
from radboost.linear.columns import Columns, matrix_times
from radboost.losses.model_evaluation import EvaluationLoss

SOLVERS = ("descent_ascent", "mirror_prox")
# How much the sum of the shares of a vertex weighs against the distance, in projections onto a polytope.
HEAVY = 1e6
Point = FloatArray  # a line for each column and a last one for the intercepts; a column for each output


@dataclass(frozen=True)
class Minimax:
    """A problem: rows, losses, and the sets that weights and mixtures stay in."""

    columns: Columns
    losses: Sequence[EvaluationLoss]
    units: FloatArray  # what each loss is divided by
    offsets: FloatArray  # beta_2 M_k, in these units
    row_weights: FloatArray  # they sum to 1
    n_outputs: int
    radius: float
    norm_penalty: float  # beta_1
    vertices: FloatArray | None  # of the mixtures; None: all of them

    @cached_property
    def means(self) -> FloatArray:
        """Of the columns as they are stored: sparse ones are not centred there, and are here."""
        return self.columns.correlate(self.columns.everything, np.ascontiguousarray(self.row_weights[None]))[:, 0]

    def intercept(self, point: Point) -> FloatArray:
        """Of the columns as they are stored."""
        return np.asarray(point[-1] - matrix_times(point[:-1].T, self.means))

    def scores(self, point: Point) -> FloatArray:
        found = self.columns.scores(self.columns.everything, point[:-1])
        return np.asarray(found + self.intercept(point)[:, None])

    def values(self, scores: FloatArray) -> FloatArray:
        """L_k + beta_2 M_k."""
        means = [float(self.row_weights @ loss.value(scores)) for loss in self.losses]
        return np.array(means) / self.units + self.offsets

    def gradient(self, scores: FloatArray, mixture: FloatArray, point: Point) -> Point:
        lines = self._pull(self.losses, scores, mixture) * self.row_weights
        totals = lines.sum(axis=1)
        slopes = self.columns.correlate(self.columns.everything, lines) - np.outer(self.means, totals)
        return np.asarray(np.vstack([slopes, totals]) + self._of_norm(point))

    def _pull(self, losses: Sequence[EvaluationLoss], scores: FloatArray, mixture: FloatArray) -> FloatArray:
        total = np.zeros_like(scores)
        for loss, share, unit in zip(losses, mixture.tolist(), self.units.tolist(), strict=True):
            if share > 0.0:
                total += share / unit * loss.gradient(scores)
        return total

    def _of_norm(self, point: Point) -> Point:
        length = float(np.linalg.norm(point[:-1]))
        found = np.zeros_like(point)
        if self.norm_penalty > 0.0 and length > 0.0:
            found[:-1] = self.norm_penalty / length * point[:-1]
        return found

    def objective(self, values: FloatArray, point: Point) -> float:
        """The worst mixture, and what the weights pay."""
        worst = values.max() if self.vertices is None else (self.vertices @ values).max()
        return float(worst) + self.norm_penalty * float(np.linalg.norm(point[:-1]))

    def into_ball(self, point: Point) -> Point:
        length = float(np.linalg.norm(point))
        return point if length <= self.radius else point * (self.radius / length)

    def onto_mixtures(self, shares: FloatArray) -> FloatArray:
        return on_simplex(shares) if self.vertices is None else on_polytope(shares, self.vertices)


def on_simplex(point: FloatArray) -> FloatArray:
    """The nearest shares: not negative, with the sum 1. Duchi et al. (2008)."""
    falling = np.sort(point)[::-1]
    levels = (np.cumsum(falling) - 1.0) / np.arange(1, len(point) + 1)
    found = np.maximum(point - levels[np.flatnonzero(falling > levels)[-1]], 0.0)
    return np.asarray(found / found.sum())


def on_polytope(point: FloatArray, vertices: FloatArray) -> FloatArray:
    """The nearest mixture of the vertices: non-negative least squares, whose shares must sum to 1."""
    system = np.vstack([vertices.T, np.full(len(vertices), HEAVY)])
    shares, _ = nnls(system, np.append(point, HEAVY))
    return np.asarray(shares / shares.sum() @ vertices)


class Batches:
    """Rows drawn in proportion to their weights: by the seed, the round, and the order of rows by content."""

    def __init__(self, problem: Minimax, X: Any, rows: npt.NDArray[np.int64], class_ids: Any, size: int, seed: int):
        self._problem, self._X, self._rows, self._class_ids = problem, X, rows, class_ids
        self._size, self._seed = size, seed
        self._ends = np.cumsum(problem.row_weights)

    def draw(self, round_index: int) -> tuple[FloatArray, list[EvaluationLoss]]:
        """Standardised rows with a one behind, and their losses."""
        keys = np.arange(self._size, dtype=np.uint64) + np.uint64(round_index * self._size)
        words = mixed(mixed(keys, self._seed % 2**32), 1)
        places = np.searchsorted(self._ends, (words >> np.uint64(11)) * 2.0**-53 * self._ends[-1])
        chosen = self._rows[np.minimum(places, len(self._rows) - 1)]
        block = self._X[chosen]
        block = block.toarray() if hasattr(block, "toarray") else block
        columns = self._problem.columns
        block = (np.asarray(block, dtype=np.float64) - columns.centres) * columns.factors - self._problem.means
        losses = [loss.of(self._class_ids[np.minimum(places, len(self._rows) - 1)]) for loss in self._problem.losses]
        return np.hstack([block, np.ones((len(block), 1))]), losses

    def look(self, round_index: int, point: Point, mixture: FloatArray) -> tuple[FloatArray, Point]:
        """Estimates of the losses and of the gradient."""
        block, losses = self.draw(round_index)
        problem = self._problem
        scores = np.ascontiguousarray((block @ point).T)
        values = np.array([loss.value(scores).mean() for loss in losses]) / problem.units + problem.offsets
        pull = problem._pull(losses, scores, mixture) / len(block)
        return values, block.T @ pull.T + problem._of_norm(point)


@dataclass(frozen=True)
class Solution:
    point: Point
    mixture: FloatArray
    objective: float
    history: dict[str, list[float]]


def solve(problem: Minimax, names: Sequence[str], *, batches: Batches | None = None, **settings: Any) -> Solution:
    """The solution of a problem; see `_solve` for the settings."""
    # Sums of the library for matrices, which batches use, depend on how many threads share them.
    with one_blas_thread if batches is not None else nullcontext():
        return _solve(problem, names, batches=batches, **settings)


def _solve(
    problem: Minimax,
    names: Sequence[str],
    *,
    solver: str,
    n_rounds: int,
    learning_rate: float,
    batches: Batches | None = None,
    advance: Callable[[dict[str, float]], None] = lambda line: None,
) -> Solution:
    """Projected descent-ascent (Figure 5.2), or Mirror-Prox, which looks ahead (Juditsky et al., 2011).

    Steps are those of Theorem 5.4, 2 D / (G sqrt(T)). The gradient by w is at most the mean length of a row, since
    losses are divided by their Lipschitz constants; that by lambda, the losses, is taken at w = 0. Of the average over
    all rounds, which the theorem is about, and that over the second half the better one is the model.
    """
    p = len(problem.losses)
    point = np.zeros((problem.columns.n_columns + 1, problem.n_outputs))
    mixture = problem.onto_mixtures(np.full(p, 1.0 / p))
    start = problem.values(problem.scores(point))
    used = int((problem.columns.factors > 0.0).sum())
    step = learning_rate * 2.0 * problem.radius / math.sqrt(n_rounds) / math.sqrt(used + 1.0)
    rise = learning_rate * 2.0 / math.sqrt(n_rounds) / max(float(np.linalg.norm(start)), 1e-12) if p > 1 else 0.0

    def look(round_index: int, at: Point, shares: FloatArray) -> tuple[FloatArray, Point]:
        if batches is not None:
            return batches.look(round_index, at, shares)
        scores = problem.scores(at)
        return problem.values(scores), problem.gradient(scores, shares, at)

    sums = [np.zeros_like(point), np.zeros_like(point)]
    shares = [np.zeros(p), np.zeros(p)]
    history: dict[str, list[float]] = {
        "objective": [],
        **{f"{what}[{name}]": [] for what in ("loss", "mixture") for name in names},
    }
    for t in range(n_rounds):
        values, gradient = look(2 * t, point, mixture)
        line = {"objective": problem.objective(values, point)}
        line |= {f"loss[{name}]": float(value) for name, value in zip(names, values, strict=True)}
        line |= {f"mixture[{name}]": float(share) for name, share in zip(names, mixture, strict=True)}
        for name, number in line.items():
            history[name].append(number)
        advance(line)
        ahead = problem.into_ball(point - step * gradient)
        risen = problem.onto_mixtures(mixture + rise * values)
        if solver == "mirror_prox":
            values, gradient = look(2 * t + 1, ahead, risen)
            point = problem.into_ball(point - step * gradient)
            mixture = problem.onto_mixtures(mixture + rise * values)
        else:
            point, mixture = ahead, risen
        half = int(2 * t >= n_rounds)
        sums[half] += ahead
        shares[half] += risen
    halves = [(n_rounds + 1) // 2, n_rounds - (n_rounds + 1) // 2]
    candidates = [((sums[0] + sums[1]) / n_rounds, (shares[0] + shares[1]) / n_rounds)]
    if halves[1]:
        candidates.append((sums[1] / halves[1], shares[1] / halves[1]))
    judged = [problem.objective(problem.values(problem.scores(at)), at) for at, _ in candidates]
    best = int(np.argmin(judged))
    found, average = candidates[best]
    return Solution(found, average / average.sum(), judged[best], history)
