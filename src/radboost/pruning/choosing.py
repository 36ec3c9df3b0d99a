"""Choice of a size: the largest within limits, or the smallest that is accurate enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.pruning.outputs import Outputs
from radboost.pruning.pruner import Pruned, Pruner
from radboost.pruning.rows import DistinctRows

FIRST = 0.5  # largest size that is tried, as a fraction of the ensemble
STEP = 0.75  # ratio of successive sizes
TOLERANCE = 0.02  # default relative increase of the error

Costs = Callable[[FloatArray, FloatArray], FloatArray]  # scores, targets -> costs, shape (n_rows,)


@dataclass(frozen=True)
class Evaluator:
    """Mean loss and mean error of an ensemble on given rows; several targets are divided by their units."""

    rows: DistinctRows
    outputs: Outputs
    losses: Costs
    errors: Costs
    n_threads: int

    def __call__(self, ensemble: Ensemble) -> tuple[float, float]:
        scores = ensemble.decision_function(self.rows.X, self.n_threads)
        scores = self.outputs.in_units(scores if self.rows.offset is None else scores + self.rows.offset)
        targets = self.outputs.in_units(self.rows.targets)
        weights = self.rows.weights / self.rows.weights.sum()
        # no product of vectors: BLAS adds in an order that depends on its threads
        loss, error = (float(np.sum(weights * costs(scores, targets))) for costs in (self.losses, self.errors))
        return loss, error


@dataclass(frozen=True)
class Limits:
    """Limits of a pruned model. Without any, the smallest within the default tolerance is chosen."""

    max_trees: int | None = None
    max_bytes: int | None = None
    tolerance: float | None = None

    @property
    def allowed(self) -> float | None:
        """Allowed relative increase of the error; None: only limits of size decide."""
        if self.tolerance is not None or self.max_trees is not None or self.max_bytes is not None:
            return self.tolerance
        return TOLERANCE

    def fits(self, one: Pruned) -> bool:
        return (self.max_trees is None or one.n_trees <= self.max_trees) and (
            self.max_bytes is None or one.n_bytes <= self.max_bytes
        )


@dataclass
class SizeSearch:
    """Search among pruned ensembles; `tried` has them by their requested number of hypotheses."""

    pruner: Pruner
    evaluate: Evaluator
    n_bytes: Callable[[Ensemble], int]
    limits: Limits
    tried: dict[int, Pruned] = field(default_factory=dict)

    def curve(self, chosen: Pruned) -> list[Pruned]:
        """Tried ensembles, one for each number of trees, ascending, the chosen one included."""
        by_trees = {self.tried[size].n_trees: self.tried[size] for size in sorted(self.tried)}
        by_trees[chosen.n_trees] = chosen
        return [by_trees[n_trees] for n_trees in sorted(by_trees)]

    def run(self) -> Pruned:
        """Ensemble of the chosen size."""
        whole = len(self.pruner.ensemble)
        sizes, most = [whole, max(1, round(FIRST * whole))], self.limits.max_trees
        while sizes[-1] > 1:
            sizes.append(min(sizes[-1] - 1, round(STEP * sizes[-1])))
        if most is not None and most < whole:
            sizes = [whole, most, *(size for size in sizes if size < most)]
        self._try(sorted(set(sizes)))
        if self.limits.max_bytes is not None:
            self._bisect()
        fitting = [size for size in sorted(self.tried) if self.limits.fits(self.tried[size])]
        if not fitting:
            smallest = min(one.n_bytes for one in self.tried.values())
            raise ValueError(
                f"max_bytes={self.limits.max_bytes:,} is less than any model of this ensemble takes: the smallest "
                f"possible has {smallest:,} bytes. Give at least as many."
            )
        allowed = self.limits.allowed
        return self.tried[fitting[-1] if allowed is None else self._accurate(fitting, allowed)]

    def _try(self, sizes: Sequence[int]) -> None:
        for size, ensemble in zip(sizes, self.pruner.ensembles(sizes), strict=True):
            self.tried[size] = Pruned(ensemble, self.n_bytes(ensemble), *self.evaluate(ensemble))

    def _bisect(self) -> None:
        """Try sizes between the largest that fits and the next one that does not."""
        sizes = sorted(self.tried)
        inside = [size for size in sizes if self.limits.fits(self.tried[size])]
        low = inside[-1] if inside else 0
        high = min((size for size in sizes if size > low), default=low)
        while low and high - low > 1:
            middle = (low + high) // 2
            self._try([middle])
            low, high = (middle, high) if self.limits.fits(self.tried[middle]) else (low, middle)

    def _accurate(self, fitting: Sequence[int], tolerance: float) -> int:
        """Smallest size from which on the error stays within the tolerance, up to the largest that fits."""
        least = self.tried[max(self.tried)].error
        most = least + tolerance * abs(least)  # user-defined losses may be negative, and 0 may be rounded below 0
        chosen = None
        for size in reversed(fitting):
            if self.tried[size].error > most:
                break
            chosen = size
        if chosen is None:
            best = min(self.tried[size].error for size in fitting)
            raise ValueError(
                f"No model within these limits has an error of at most {most:.6g} on the held-back rows, which "
                f"tolerance={tolerance:g} allows (the whole model has {least:.6g}): the smallest there is {best:.6g}. "
                "Allow more trees or bytes, or a larger tolerance."
            )
        return chosen
