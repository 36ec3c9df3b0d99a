"""The mixture, the projection and the classifier together: convex within a cell, from cell to cell by descent.

With counts n the features are phi_kj, j <= n_k (E.7 without mu), and beta_kj = sqrt(mu_k) w_kj makes

    F(mu, beta) = mean loss(sum_kj beta_kj phi_kj(x) + b) + alpha/2 sum_k |beta_k|^2 / mu_k

jointly convex in (mu, beta): the penalty is a square over a linear function. The conditions are on mu alone, so that
minimizing in turn over beta and over mu leads to the minimum of the cell. Between cells the projection jumps, and F
with it: a neighboring cell is entered only if its minimum is lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from radboost._typing import FloatArray
from radboost.projection.barrier import interior_point, least_costs
from radboost.projection.logistic import LogisticRidge
from radboost.projection.mixtures import Cell, Counts, MixtureSet

# Up to this number of cells all of them are tried.
FEW_CELLS = 256
# Most alternations in a cell, and the relative gain below which they end.
ALTERNATIONS, SETTLED = 200, 1e-9


@dataclass(frozen=True)
class Solved:
    """The minimum of a cell."""

    counts: Counts
    mixture: FloatArray
    coefficients: FloatArray
    objective: float
    # Exchanges at whose boundary it lies: there the projection would jump.
    kinks: tuple[tuple[int, int], ...]


@dataclass
class Course:
    """Accepted steps, in order."""

    objective: list[float] = field(default_factory=list)
    mixtures: list[FloatArray] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    stop_reason: str = "no neighbouring cell is lower"

    def accept(self, objective: float, mixture: FloatArray, counts: Counts) -> None:
        self.objective.append(objective)
        self.mixtures.append(mixture.copy())
        self.counts.append(counts)


class ProjectionProblem:
    """Features of every kernel on the labeled rows, and the mixtures that are allowed."""

    def __init__(self, mixtures: MixtureSet, features: list[FloatArray], ridge: LogisticRidge, alpha: float) -> None:
        self.mixtures, self.features, self.ridge, self.alpha = mixtures, features, ridge, alpha
        self._solved: dict[Counts, Solved | None] = {}
        self._floors: dict[Counts, float] = {}

    def chosen(self, counts: Counts) -> tuple[FloatArray, NDArray[np.int64]]:
        """The features of a cell, and the kernel of each."""
        columns = [self.features[k][:, :count] for k, count in enumerate(counts)]
        return np.hstack(columns), np.repeat(np.arange(len(counts)), counts)

    def floor(self, counts: Counts) -> float:
        """Lower bound of F in a cell, without its conditions: no weight exceeds 1 less the least of the others."""
        if any(count > part.shape[1] for count, part in zip(counts, self.features, strict=True)):
            return math.inf
        if counts not in self._floors:
            features, kernels = self.chosen(counts)
            most = 1.0 - (len(counts) - 1) / self.mixtures.inverse_sum
            self._floors[counts] = self.ridge.solve(features, np.full(len(kernels), self.alpha / most), None)[1]
        return self._floors[counts]

    def lower(self, counts: Counts, best: Solved) -> Solved | None:
        """The minimum of a cell if it is below `best`; most cells are ruled out by one fit of the classifier."""
        if counts not in self._solved and self.floor(counts) >= best.objective:
            return None
        solved = self.minimum(counts, best.mixture)
        return solved if solved is not None and solved.objective < best.objective else None

    def minimum(self, counts: Counts, near: FloatArray, report: Callable[..., None] | None = None) -> Solved | None:
        """The minimum of a cell; None where no mixture of M has these counts. Each is computed once."""
        if counts not in self._solved or report is not None:
            cell = self.mixtures.cell(counts)
            start = interior_point(cell, near)
            self._solved[counts] = None if start is None else self._descend(cell, start, report)
        return self._solved[counts]

    def _descend(self, cell: Cell, inside: FloatArray, report: Callable[..., None] | None) -> Solved:
        features, kernels = self.chosen(cell.counts)
        mixture = inside
        coefficients, objective = self.ridge.solve(features, self.alpha / mixture[kernels], None)
        if report is not None:
            report(objective, mixture, cell.counts)
        for _ in range(ALTERNATIONS):
            squares = np.sum(coefficients[:-1] ** 2, axis=1)
            costs = np.asarray(0.5 * self.alpha * np.bincount(kernels, squares, minlength=len(mixture)), np.float64)
            proposed = least_costs(cell, costs, inside)
            fitted, value = self.ridge.solve(features, self.alpha / proposed[kernels], coefficients)
            if value >= objective:
                break
            settled = objective - value <= SETTLED * max(abs(objective), 1e-300)
            mixture, coefficients, objective = proposed, fitted, value
            if report is not None:
                report(objective, mixture, cell.counts)
            if settled:
                break
        return Solved(cell.counts, mixture, coefficients, objective, _kinks(cell, mixture))


def _kinks(cell: Cell, mixture: FloatArray) -> tuple[tuple[int, int], ...]:
    slacks = cell.slacks(mixture)[:-1]
    sizes = np.abs(cell.rows) @ mixture
    return tuple(
        neighbor
        for neighbor, slack, size in zip(cell.neighbors, slacks, sizes, strict=True)
        if neighbor is not None and slack < 1e-6 * size
    )


def descend(problem: ProjectionProblem, start: FloatArray, course: Course) -> Solved | None:
    """From the cell of a mixture to neighboring ones while that lowers F, first across the kinks where it lies."""
    mixtures = problem.mixtures
    best = problem.minimum(mixtures.counts(start), start, course.accept)
    if best is None:
        return None
    while True:
        exchanges = list(mixtures.exchanges(best.counts))
        ordered = [*best.kinks, *(one for one in exchanges if one not in best.kinks)]
        for exchange in ordered:
            tried = problem.lower(mixtures.moved(best.counts, exchange), best)
            if tried is not None:
                best = tried
                course.accept(best.objective, best.mixture, best.counts)
                break
        else:
            return best


def search(
    problem: ProjectionProblem,
    starts: Sequence[FloatArray],
    course: Course,
    advance: Callable[[dict[str, float]], None] = lambda _: None,
) -> Solved | None:
    """The best of the descents from several mixtures; where cells are few, of all cells.

    `course` is that of the descent which led there; `advance` is called after each. None where no start lies in M with
    a cell around it.
    """
    best: Solved | None = None
    for start in starts:
        part = Course()
        solved = descend(problem, start, part)
        if solved is not None and (best is None or solved.objective < best.objective):
            best = solved
            course.objective, course.mixtures, course.counts = part.objective, part.mixtures, part.counts
        if best is not None:
            advance({"objective": best.objective})
    n, rank = problem.mixtures.n_kernels, problem.mixtures.rank
    if best is None or math.comb(rank + n - 1, n - 1) > FEW_CELLS:
        return best
    for counts in _all_counts(n, rank):
        tried = problem.lower(counts, best)
        if tried is not None:
            best = tried
            course.accept(best.objective, best.mixture, best.counts)
    course.stop_reason = "no cell is lower"
    return best


def _all_counts(n_kernels: int, rank: int) -> Iterator[Counts]:
    if n_kernels == 1:
        yield (rank,)
        return
    for first in range(rank, -1, -1):
        for rest in _all_counts(n_kernels - 1, rank - first):
            yield (first, *rest)
