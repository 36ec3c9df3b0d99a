"""Which size: the largest within limits, or the smallest that is accurate enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from radboost.ensemble import Ensemble
from radboost.pruning.judging import Judge
from radboost.pruning.pruner import Pruned, Pruner

# Sizes on the curve: the whole, then this part of it, then each this part of the one before.
FIRST, STEP = 0.5, 0.75
TOLERANCE = 0.02


@dataclass(frozen=True)
class Limits:
    """What is asked of a pruned model. Where nothing is, the smallest within the default tolerance is meant."""

    max_trees: int | None = None
    max_bytes: int | None = None
    tolerance: float | None = None

    @property
    def allowed(self) -> float | None:
        """The relative increase of the error that is allowed; None where limits of size alone decide."""
        if self.tolerance is not None or self.max_trees is not None or self.max_bytes is not None:
            return self.tolerance
        return TOLERANCE

    def fits(self, one: Pruned) -> bool:
        return (self.max_trees is None or one.n_trees <= self.max_trees) and (
            self.max_bytes is None or one.n_bytes <= self.max_bytes
        )


@dataclass
class Choice:
    """Pruned ensembles by the size that was asked for, and the search among them."""

    pruner: Pruner
    judge: Judge
    n_bytes: Callable[[Ensemble], int]
    limits: Limits
    found: dict[int, Pruned] = field(default_factory=dict)

    def curve(self, chosen: Pruned) -> list[Pruned]:
        """One of each number of trees, from the smallest to the whole ensemble; the chosen one among them."""
        by_trees = {self.found[size].n_trees: self.found[size] for size in sorted(self.found)}
        by_trees[chosen.n_trees] = chosen
        return [by_trees[n_trees] for n_trees in sorted(by_trees)]

    def make(self) -> Pruned:
        whole = len(self.pruner.ensemble)
        sizes, most = [whole, max(1, round(FIRST * whole))], self.limits.max_trees
        while sizes[-1] > 1:
            sizes.append(min(sizes[-1] - 1, round(STEP * sizes[-1])))
        if most is not None and most < whole:
            sizes = [whole, most, *(size for size in sizes if size < most)]
        self._look_at(sorted(set(sizes)))
        if self.limits.max_bytes is not None:
            self._look_between()
        fitting = [size for size in sorted(self.found) if self.limits.fits(self.found[size])]
        if not fitting:
            smallest = min(one.n_bytes for one in self.found.values())
            raise ValueError(
                f"max_bytes={self.limits.max_bytes:,} is less than any model of this ensemble takes: the smallest "
                f"possible has {smallest:,} bytes. Give at least as many."
            )
        allowed = self.limits.allowed
        return self.found[fitting[-1] if allowed is None else self._accurate(fitting, allowed)]

    def _look_at(self, sizes: Sequence[int]) -> None:
        for size, ensemble in zip(sizes, self.pruner.ensembles(sizes), strict=True):
            self.found[size] = Pruned(ensemble, self.n_bytes(ensemble), *self.judge(ensemble))

    def _look_between(self) -> None:
        """Sizes between the largest that fits and the next one that does not, by halves."""
        sizes = sorted(self.found)
        inside = [size for size in sizes if self.limits.fits(self.found[size])]
        low = inside[-1] if inside else 0
        high = min((size for size in sizes if size > low), default=low)
        while low and high - low > 1:
            middle = (low + high) // 2
            self._look_at([middle])
            low, high = (middle, high) if self.limits.fits(self.found[middle]) else (low, middle)

    def _accurate(self, fitting: Sequence[int], tolerance: float) -> int:
        """The smallest size from which on the error stays within the tolerance, up to the largest that fits."""
        least = self.found[max(self.found)].error
        most = least + tolerance * abs(least)  # losses of users may be negative, and rounding makes of 0 less
        chosen = None
        for size in reversed(fitting):
            if self.found[size].error > most:
                break
            chosen = size
        if chosen is None:
            best = min(self.found[size].error for size in fitting)
            raise ValueError(
                f"No model within these limits has an error of at most {most:.6g} on the held-back rows, which "
                f"tolerance={tolerance:g} allows (the whole model has {least:.6g}): the smallest there is {best:.6g}. "
                "Allow more trees or bytes, or a larger tolerance."
            )
        return chosen
