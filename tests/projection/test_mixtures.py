"""Mixtures of kernels: M of (7.2), its cells, and the minimum of a cell, against grids."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost.projection.barrier import interior_point, least_costs
from radboost.projection.mixtures import MixtureSet, scaled_into


def falling(rng, n_kernels, size):
    """Of normalised kernels: eigenvalues sum to 1."""
    values = -np.sort(-rng.gamma(0.7, size=(n_kernels, size)), axis=1)
    return values / values.sum(axis=1, keepdims=True)


def random_set(seed, n_kernels=3, rank=4, ky_fan=math.inf, inverse_sum=1e4):
    return MixtureSet(falling(np.random.default_rng(seed), n_kernels, 8), rank, ky_fan, inverse_sum)


def simplex_grid(n_kernels, n_steps):
    for parts in itertools.product(range(1, n_steps), repeat=n_kernels - 1):
        if sum(parts) < n_steps:
            yield np.array([*parts, n_steps - sum(parts)]) / n_steps


def test_counts_and_norm_are_those_of_the_operator():
    """C_U is block diagonal for linearly independent kernels: its eigenvalues are those of the blocks."""
    rng = np.random.default_rng(0)
    mixtures = random_set(1)
    for mixture in rng.dirichlet(np.ones(3), 50):
        blocks = np.concatenate([weight * line[:4] for weight, line in zip(mixture, mixtures.eigenvalues, strict=True)])
        values = np.sort(np.linalg.eigvalsh(np.diag(blocks)))[::-1]
        assert mixtures.ky_fan_norm(mixture) == pytest.approx(values[:4].sum())
        counts = mixtures.counts(mixture)
        assert sum(counts) == 4
        chosen = sum(mixture[k] * mixtures.eigenvalues[k, :n].sum() for k, n in enumerate(counts))
        assert chosen == pytest.approx(mixtures.ky_fan_norm(mixture))


@pytest.mark.parametrize("seed", range(5))
def test_cells_part_the_mixtures(seed):
    rng = np.random.default_rng(seed)
    mixtures = random_set(seed, ky_fan=0.8, inverse_sum=40.0)
    seen = set()
    for direction in rng.dirichlet(2.0 * np.ones(3), 300):
        mixture = scaled_into(mixtures, direction)
        if mixture is None:
            continue
        counts = mixtures.counts(mixture)
        assert mixtures.cell(counts).slacks(mixture).min() >= -1e-9
        seen.add(counts)
        for exchange in mixtures.exchanges(counts):
            other = mixtures.cell(mixtures.moved(counts, exchange))
            assert other.slacks(mixture).min() <= 1e-9
    assert len(seen) > 2


@pytest.mark.parametrize("seed", range(6))
def test_interior_points_are_found_where_there_are_any(seed):
    mixtures = random_set(seed, ky_fan=0.9, inverse_sum=30.0)
    by_grid = {}
    for direction in simplex_grid(3, 60):
        mixture = scaled_into(mixtures, direction)
        if mixture is not None:
            slack = mixtures.cell(mixtures.counts(mixture)).slacks(0.999 * mixture).min()
            counts = mixtures.counts(mixture)
            by_grid[counts] = max(by_grid.get(counts, -1.0), slack)
    for counts in itertools.product(range(5), repeat=3):
        if sum(counts) != 4:
            continue
        point = interior_point(mixtures.cell(counts), np.full(3, 0.3))
        if point is None:
            assert by_grid.get(counts, 0.0) < 1e-4
        else:
            assert mixtures.cell(counts).slacks(point).min() > 0.0
            assert mixtures.counts(point) == counts


@pytest.mark.parametrize("seed", range(6))
def test_least_costs_are_those_of_another_solver(seed):
    rng = np.random.default_rng(seed)
    mixtures = random_set(seed, ky_fan=0.9, inverse_sum=40.0)
    n_compared = 0
    for direction in rng.dirichlet(3.0 * np.ones(3), 6):
        start = scaled_into(mixtures, direction)
        if start is None:
            continue
        cell = mixtures.cell(mixtures.counts(start))
        inside = interior_point(cell, start)
        if inside is None:
            continue
        costs = rng.gamma(1.0, size=3)
        found = least_costs(cell, costs, inside)
        assert cell.slacks(found).min() > 0.0
        conditions = [
            {"type": "ineq", "fun": lambda mu, cell=cell: cell.limits - cell.rows @ mu},
            {"type": "ineq", "fun": lambda mu, cell=cell: cell.inverse_sum - np.sum(1.0 / mu)},
        ]
        other = minimize(
            lambda mu, costs=costs: np.sum(costs / mu),
            inside,
            jac=lambda mu, costs=costs: -costs / mu**2,
            constraints=conditions,
            bounds=[(1e-6, 1.0)] * 3,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert np.sum(costs / found) <= other.fun * (1.0 + 1e-6) + 1e-9
        n_compared += 1
    assert n_compared >= 2


def test_a_set_that_is_empty_is_refused():
    with pytest.raises(ValueError, match=r"p\^2 = 9 for p = 3 kernels.* Got 8"):
        random_set(0, inverse_sum=8.0)
    with pytest.raises(ValueError, match="positive eigenvalues of all kernels, 2; got 3"):
        MixtureSet(np.array([[1.0, 0.0], [1.0, 0.0]]), 3, math.inf, math.inf)
