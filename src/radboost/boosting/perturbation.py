"""Random pushes, where an objective with kinks holds coordinate descent above its minimum."""

from __future__ import annotations

import math

import numpy as np

from radboost.penalties import on_grid

# Every weight gets a random push of at most this much (Multi-Class Deep Boosting, appendix H), and the search goes on;
# it ends after so many pushes in a row that led nowhere lower.
LARGEST_PERTURBATION = 0.05
MOST_FRUITLESS = 20
# An objective is lower than another by at least this much.
LOWER = 1e-9

STUCK = f"{MOST_FRUITLESS} random pushes in a row led to no lower objective"


class Perturbation:
    """Counts the pushes that led nowhere, and draws the next ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lowest = math.inf
        self._fruitless = 0

    def reason_to_stop(self, objective: float) -> str | None:
        """Asked where nothing goes down, with the objective there."""
        if objective < self._lowest - LOWER:
            self._lowest, self._fruitless = objective, 0
        elif self._fruitless == MOST_FRUITLESS:
            return STUCK
        return None

    def count(self) -> None:
        self._fruitless += 1

    def draw(self, round_index: int, n_members: int, step_grid: float) -> list[float]:
        """A push for each member, of one step of the grid or more."""
        pushes = np.random.default_rng([self._seed, round_index]).uniform(0.0, LARGEST_PERTURBATION, n_members)
        return [max(step_grid, on_grid(float(push), step_grid)) for push in pushes]
