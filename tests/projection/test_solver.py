"""The mixture, the projection and the classifier at once, against a grid over the mixtures."""

import itertools
import math

import numpy as np
import pytest

from radboost.projection import solver
from radboost.projection.logistic import LogisticRidge
from radboost.projection.mixtures import MixtureSet, scaled_into
from radboost.projection.solver import FEW_CELLS, Course, ProjectionProblem, search
from turns import in_turns


def make_problem(seed, n_kernels=3, rank=3, ky_fan=0.5, inverse_sum=60.0, n_classes=2, n_rows=40):
    """Kernels of random features, of which some tell the classes apart, and not those with the largest eigenvalues."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    values, features = [], []
    for k in range(n_kernels):
        raw = rng.normal(size=(n_rows, 6)) * 0.6 ** np.arange(6)
        raw[:, 1 + k % 3] += 0.8 * (k > 0) * (y - y.mean())
        matrix = raw @ raw.T
        matrix /= np.trace(matrix)
        spectrum, vectors = np.linalg.eigh(matrix)
        values.append(spectrum[::-1][:6])
        features.append(np.sqrt(n_rows * spectrum[::-1][:6].clip(0)) * vectors[:, ::-1][:, :6])
    mixtures = MixtureSet(np.array(values), rank, ky_fan, inverse_sum)
    ridge = LogisticRidge(y, n_classes, np.full(n_rows, 1 / n_rows))
    return ProjectionProblem(mixtures, features, ridge, alpha=0.01)


def best_of_starts(problem, n_starts=6):
    course = Course()
    n = problem.mixtures.n_kernels
    directions = [np.ones(n), *np.random.default_rng(0).dirichlet(2.0 * np.ones(n), n_starts)]
    starts = [scaled_into(problem.mixtures, direction) for direction in directions]
    return search(problem, [start for start in starts if start is not None], course), course


def value_at(problem, mixture):
    """F at a mixture, minimized over the classifier."""
    features, kernels = problem.chosen(problem.mixtures.counts(mixture))
    return problem.ridge.solve(features, problem.alpha / mixture[kernels], None)[1]


def grid_minimum(problem, n_steps=30):
    n, best = problem.mixtures.n_kernels, math.inf
    for parts in itertools.product(range(1, n_steps), repeat=n - 1):
        if sum(parts) < n_steps:
            mixture = scaled_into(problem.mixtures, [*parts, n_steps - sum(parts)])
            if mixture is not None:
                best = min(best, value_at(problem, mixture))
    return best


@in_turns("seed, n_classes", range(4), [2, 3], one_in=4)
def test_it_is_within_one_percent_of_a_grid(seed, n_classes):
    problem = make_problem(seed, n_classes=n_classes)
    best, _ = best_of_starts(problem)
    assert best.objective <= 1.01 * grid_minimum(problem)
    assert value_at(problem, best.mixture) == pytest.approx(best.objective, rel=1e-6)


@in_turns("seed", range(4), one_in=2)
def test_every_step_keeps_the_conditions_and_lowers_the_objective(seed):
    problem = make_problem(seed, n_kernels=4, rank=5, inverse_sum=100.0)
    best, course = best_of_starts(problem)
    for mixture in course.mixtures:
        assert problem.mixtures.cell(problem.mixtures.counts(mixture)).slacks(mixture).min() >= -1e-8
    assert np.all(np.diff(course.objective) < 0.0)
    assert course.objective[-1] == best.objective
    assert problem.mixtures.counts(best.mixture) == best.counts


@pytest.mark.slow
def test_many_cells_are_searched_by_descent(monkeypatch):
    """As if there were too many to look at all of them: what the descents from several starts find is near the best."""
    found = {}
    for few in (FEW_CELLS, 0):
        monkeypatch.setattr(solver, "FEW_CELLS", few)
        found[few] = [
            best_of_starts(make_problem(seed, n_kernels=4, rank=5, inverse_sum=100.0))[0] for seed in range(3)
        ]
    for all_cells, descended in zip(found[FEW_CELLS], found[0], strict=True):
        assert all_cells.objective <= descended.objective <= 1.05 * all_cells.objective


def test_kinks_are_where_the_projection_would_jump():
    """The minimum of a cell that is not the best one stands at its boundary."""
    n_found = 0
    problem = make_problem(0)
    values = problem.mixtures.eigenvalues
    for counts in itertools.product(range(4), repeat=3):
        solved = problem.minimum(counts, np.full(3, 0.2)) if sum(counts) == 3 else None
        for loser, gainer in solved.kinks if solved is not None else ():
            n_found += 1
            given = solved.mixture[loser] * values[loser, counts[loser] - 1]
            got = solved.mixture[gainer] * values[gainer, counts[gainer]]
            assert given == pytest.approx(got, rel=1e-4)
    assert n_found > 0
