"""Random perturbations of weights, for objectives with kinks that stop coordinate descent above the minimum."""

from __future__ import annotations

import math

import numpy as np

from radboost.penalties import on_grid

LARGEST_PERTURBATION = 0.05  # of a weight; Kuznetsov et al. (2014), appendix H
MOST_FRUITLESS = 20  # perturbations in a row without a lower objective until the fit ends
LOWER = 1e-9  # decrease of the objective that counts as lower

STUCK = f"{MOST_FRUITLESS} random pushes in a row led to no lower objective"


class Perturbation:
    """Counter of the perturbations that led to no lower objective, and source of the next ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._lowest = math.inf
        self._fruitless = 0

    def reason_to_stop(self, objective: float) -> str | None:
        """Reason to stop at a point without a descent direction, with this objective; None: perturb once more."""
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
