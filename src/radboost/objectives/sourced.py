"""Objective of one ensemble over rows of several sources (MultiBoost): losses and row weights of each source.

Q(k | x) is the probability that x comes from source k. Storcheus (2021), chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import ClassWeighting, HypothesisColumns, MarginWeighting, current
from radboost.objectives.objective import Objective
from radboost.objectives.over_sources import OverSources

# Grid of steps, by number of classes (3: or more): multiplied by Q on its grid they are exact in the scores.
STEP_GRID = {2: 2.0**-24, 3: 2.0**-12}
MOST_MOMENTS = 24  # sources; with more, second moments of Q are not worth their time
LOGISTIC_CURVATURE = 0.25 / math.log(2.0)  # the largest second derivative of log2(1 + e^u)


@dataclass(frozen=True)
class SourceState:
    """Losses, slopes and errors of the sources at the current scores; arrays of shape (n_sources,)."""

    losses: FloatArray  # F_k: the mean loss of source k
    slopes: FloatArray  # Z_k / m_k: the mean of Phi' over source k
    errors: FloatArray  # fraction of source k whose class does not have the largest score alone


class SourceView(Objective):
    """Objective for the families of one source: row weights with the factors of the source, and its sample size."""

    def __init__(self, objective: Objective, weighting: Any, sample_size: float) -> None:
        self.__dict__.update(objective.__dict__)
        self.weighting = weighting
        self._sample_size = sample_size

    @property
    def total_weight(self) -> float:
        """m_k, the sample size in the complexities of the source's hypotheses."""
        return self._sample_size


class SourcedObjective:
    """One vector of scores with a weighting for each source.

    Attributes
    ----------
    objective : Objective
        Over all rows, without regard to their sources; its weighting is D.
    views : list of SourceView
        Objective for the families of each source, with weights D lambda Q(k | x); `aim` sets lambda.
    sizes : array
        m_k, the sum of the row weights of each source; shape (n_sources,).
    """

    def __init__(
        self, objective: Objective, over: Any, ids: npt.NDArray[np.uint16], q: FloatArray, n_threads: int
    ) -> None:
        self.objective = objective
        self.n_sources = q.shape[1]  # q[i, k] = Q(k | x_i)
        self.n_threads = n_threads
        self.groups = current().row_groups(ids, self.n_sources)
        self.q = [np.ascontiguousarray(column) for column in q.T]
        self.largest_probabilities = objective.row_weights.largest(np.ascontiguousarray(q.T))
        self.sizes: FloatArray = self._by_source(np.ones(len(ids)))
        self.over: OverSources = over(self.sizes)
        make: Any = current().margin_weighting if objective.n_classes == 2 else current().class_weighting
        weightings: list[MarginWeighting | ClassWeighting] = [
            make(objective.scores, factors=factors) for factors in self.q
        ]
        self.views = [
            SourceView(objective, weighting, float(size))
            for weighting, size in zip(weightings, self.sizes, strict=True)
        ]
        self.step_grid = STEP_GRID[min(objective.n_classes, 3)]
        self._unit = 0.0
        self._aimed: list[FloatArray | None] = [None] * self.n_sources
        self._units = [0.0] * self.n_sources
        self._followed: list[tuple[int, FloatArray]] = []
        self._current: set[int] = set()  # sources whose weighting is up to date with the scores
        self.second_moments = self._second_moments()

    def state(self) -> SourceState:
        """Renew D for the current scores, which `rates` uses; returns losses, slopes and errors."""
        weightings = [self.objective.weighting, *self._set_factors(self._followed)]
        sums = self.objective.renew(weightings, self.groups).reshape(-1, 3)
        self._unit = float(sums[:, 1].sum())
        self._current = {source for source, _ in self._followed}
        losses, slopes, errors = (sums / self.sizes[:, None]).T
        return SourceState(losses, slopes, errors)

    def follow(self, aims: Sequence[tuple[int, FloatArray]]) -> None:
        """Set pairs (source, mixture) whose weightings `state` renews in its pass over the rows, to save a pass."""
        self._followed = list(aims)

    def aim(self, aims: Sequence[tuple[int, FloatArray]]) -> FloatArray:
        """Set row weights of sources to D lambda_s / m_s Q(k | x), s the source of the row, lambda the given mixture.

        Returns, for each pair (source k, mixture lambda), by how much an edge of 1 lowers that mixture of the losses.
        """
        stale = [(source, mixture) for source, mixture in aims if not self._is_current(source, mixture)]
        if stale:
            self.objective.renew(self._set_factors(stale))
            self._current.update(source for source, _ in stale)
        slopes: list[Any] = [self.views[source].weighting for source, _ in aims]
        return np.array([w.slope * self._units[source] for w, (source, _) in zip(slopes, aims, strict=True)])

    def _is_current(self, source: int, mixture: FloatArray) -> bool:
        aimed = self._aimed[source]
        return source in self._current and aimed is not None and np.array_equal(aimed, mixture)

    def _set_factors(self, aims: Sequence[tuple[int, FloatArray]]) -> list[Any]:
        weightings = []
        for source, mixture in aims:
            weighting: Any = self.views[source].weighting
            weightings.append(weighting)
            aimed = self._aimed[source]
            if aimed is None or not np.array_equal(aimed, mixture):
                per_row = mixture / self.sizes
                self._units[source] = float(per_row.max())
                factors = per_row / self._units[source]
                weighting.set_factors(self.q[source], self.groups, factors, self.n_threads)
                self._aimed[source] = mixture.copy()
        return weightings

    def _by_source(self, values: FloatArray) -> FloatArray:
        """Sum of w v over the rows of each source, shape (n_sources,); w are the row weights."""
        return self.objective.row_weights.native.group_sums(values, self.groups, self.n_threads)

    def _second_moments(self) -> FloatArray | None:
        """Mean of Q(i | x) Q(j | x) over the rows of source l, as [l, i, j]; None above `MOST_MOMENTS` sources."""
        n = self.n_sources
        if n > MOST_MOMENTS:
            return None
        result = np.empty((n, n, n))
        for i in range(n):
            for j in range(i, n):
                result[:, i, j] = result[:, j, i] = self._by_source(self.q[i] * self.q[j]) / self.sizes
        return result

    def rates(self, columns: HypothesisColumns, slot: int, source: int) -> tuple[FloatArray, FloatArray]:
        """Rates at which a step along Q(source | x) h lowers each source's loss, and masses; shape (n_sources,) each.

        The mass of a source is the mean of Phi' Q(source | x) abs(h) over its rows.
        """
        edges = self.objective.weighting.group_edges(columns, slot, self.q[source], self.groups, self.n_threads)
        rates, masses = (edges * self._unit).reshape(-1, 2).T / self.sizes
        return rates, masses

    def reach(self, sources: list[int], factors: list[float]) -> float:
        """Maximum over rows of the sum of abs(factor) Q(source | x) over `sources`."""
        if len(sources) == 1:
            return abs(factors[0]) * float(self.largest_probabilities[sources[0]])
        total = np.zeros(len(self.q[0]))
        for source, factor in zip(sources, factors, strict=True):
            total += abs(factor) * self.q[source]
        return float(self.objective.row_weights.largest(total))

    def curvatures(self, sources: list[int], factors: list[float]) -> FloatArray | None:
        """Upper bounds on second derivatives of the losses along hypotheses of these sources; None: not known."""
        if self.second_moments is None or self.objective._native_loss != "logistic":
            return None
        total = np.zeros(self.n_sources)
        for source, factor in zip(sources, factors, strict=True):
            for other, other_factor in zip(sources, factors, strict=True):
                total += abs(factor * other_factor) * self.second_moments[:, source, other]
        return LOGISTIC_CURVATURE * (self.objective.n_classes - 1) * total

    def step(self, columns: HypothesisColumns, slot: int, source: int, eta: float) -> None:
        """scores += eta Q(source | x) h(x)."""
        self._current.clear()
        self.objective.scores.step(columns, slot, eta, self.n_threads, self.q[source])

    def saved(self) -> Any:
        """Scores and margins for `restore`."""
        return self.objective.scores.values(), self.objective._margins()

    def restore(self, saved: Any) -> None:
        self._current.clear()
        self.objective.set_scores(*saved)
