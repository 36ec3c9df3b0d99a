"""Random perturbations of the weights, where an objective with kinks holds coordinate descent above its minimum."""

from __future__ import annotations

import math

import numpy as np

from radboost.penalties import on_grid

# Every weight is raised at random by at most this much (Multi-Class Deep Boosting, appendix H), and the search goes on.
# It ends after MOST_FRUITLESS perturbations in a row that led to no lower objective.
LARGEST_PERTURBATION = 0.05
MOST_FRUITLESS = 20
# An objective is lower than another by at least this much.
LOWER = 1e-9

STUCK = f"{MOST_FRUITLESS} random pushes in a row led to no lower objective"


class Perturbation:
    """Counter of the perturbations that led to no lower objective, and source of the next ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lowest = math.inf
        self._fruitless = 0

    def reason_to_stop(self, objective: float) -> str | None:
        """Reason to stop at a point where nothing goes down, with this objective; None for one more perturbation."""
        if objective < self._lowest - LOWER:
            self._lowest, self._fruitless = objective, 0
        elif self._fruitless == MOST_FRUITLESS:
            return STUCK
        return None

    def count(self) -> None:
        self._fruitless += 1

    def draw(self, round_index: int, n_members: int, step_grid: float) -> list[float]:
        """Change of each member's weight, of one step of the grid or more."""
        changes = np.random.default_rng([self._seed, round_index]).uniform(0.0, LARGEST_PERTURBATION, n_members)
        return [max(step_grid, on_grid(float(change), step_grid)) for change in changes]
