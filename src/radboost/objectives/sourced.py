"""The scores of one ensemble over rows of several sources: the loss of each source, and the weights that it sees."""

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

# Steps of ensembles over several sources: times shares on their grid they are exact in the scores.
STEP_GRID = {2: 2.0**-24, 3: 2.0**-12}
# With more sources the second moments of their shares are not worth their time.
MOST_MOMENTS = 24
# The largest second derivative of log2(1 + e^u).
LOGISTIC_CURVATURE = 0.25 / math.log(2.0)


@dataclass(frozen=True)
class SourceState:
    """Losses, slopes and errors of the sources at the current scores."""

    losses: FloatArray  # F_k: the mean loss of source k
    slopes: FloatArray  # Z_k / m_k: the mean of Phi' over source k
    errors: FloatArray  # share of source k whose class does not have the largest score alone


class SourceView(Objective):
    """An objective as the families of one source see it: weights with its factors, its sample size."""

    def __init__(self, objective: Objective, weighting: Any, sample_size: float) -> None:
        self.__dict__.update(objective.__dict__)
        self.weighting = weighting
        self._sample_size = sample_size

    @property
    def total_weight(self) -> float:
        """m_k: what the complexities of the source's hypotheses are those of."""
        return self._sample_size


class SourcedObjective:
    """One vector of scores, several weightings over it.

    Attributes
    ----------
    objective : Objective
        Over all rows, without regard to their sources; its weighting is D.
    views : list of SourceView
        What the families of each source see: D times lambda times Q(k | x), as `aim` has set it.
    sizes : array
        m_k: the sum of the weights of each source.
    """

    def __init__(
        self, objective: Objective, over: Any, ids: npt.NDArray[np.uint16], shares: FloatArray, n_threads: int
    ) -> None:
        self.objective = objective
        self.n_sources = shares.shape[1]
        self.n_threads = n_threads
        self.groups = current().row_groups(ids, self.n_sources)
        self.shares = [np.ascontiguousarray(column) for column in shares.T]
        self.largest_shares = objective.row_weights.largest(np.ascontiguousarray(shares.T))
        self.sizes: FloatArray = self._by_source(np.ones(len(ids)))
        self.over: OverSources = over(self.sizes)
        make: Any = current().margin_weighting if objective.n_classes == 2 else current().class_weighting
        weightings: list[MarginWeighting | ClassWeighting] = [
            make(objective.scores, factors=factors) for factors in self.shares
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
        self._current: set[int] = set()  # sources whose weighting is that of the scores as they are
        self.second_moments = self._second_moments()

    def state(self) -> SourceState:
        """Renews D, and with it what `rates` goes by."""
        weightings = [self.objective.weighting, *self._set_factors(self._followed)]
        lines = self.objective.renew(weightings, self.groups).reshape(-1, 3)
        self._unit = float(lines[:, 1].sum())
        self._current = {source for source, _ in self._followed}
        losses, slopes, errors = (lines / self.sizes[:, None]).T
        return SourceState(losses, slopes, errors)

    def follow(self, aims: Sequence[tuple[int, FloatArray]]) -> None:
        """Lets `state` renew what sources see of mixtures that most rounds ask for, which saves `aim` a pass."""
        self._followed = list(aims)

    def aim(self, aims: Sequence[tuple[int, FloatArray]]) -> FloatArray:
        """Lets sources see the rows weighted by a mixture each: D lambda_s / m_s Q(k | x), s the row's own source.

        Returns, for each of these sources, by how much an edge of 1 lowers its mixture of the losses.
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
                weighting.set_factors(self.shares[source], self.groups, factors, self.n_threads)
                self._aimed[source] = mixture.copy()
        return weightings

    def _by_source(self, values: FloatArray) -> FloatArray:
        """sum of w v over the rows of each source."""
        return self.objective.row_weights.native.group_sums(values, self.groups, self.n_threads)

    def _second_moments(self) -> FloatArray | None:
        """The mean of Q(i | x) Q(j | x) over the rows of each source l, as [l, i, j]; None with very many sources."""
        n = self.n_sources
        if n > MOST_MOMENTS:
            return None
        result = np.empty((n, n, n))
        for i in range(n):
            for j in range(i, n):
                result[:, i, j] = result[:, j, i] = self._by_source(self.shares[i] * self.shares[j]) / self.sizes
        return result

    def rates(self, columns: HypothesisColumns, slot: int, source: int) -> tuple[FloatArray, FloatArray]:
        """Rates at which a step along Q(source | x) h lowers the loss of each source, and the masses that it moves.

        The mass in a source is the mean of Phi' Q(source | x) abs(h).
        """
        edges = self.objective.weighting.group_edges(columns, slot, self.shares[source], self.groups, self.n_threads)
        rates, masses = (edges * self._unit).reshape(-1, 2).T / self.sizes
        return rates, masses

    def reach(self, sources: list[int], shares: list[float]) -> float:
        """The largest sum over some sources of abs(share) Q(source | x) in any row."""
        if len(sources) == 1:
            return abs(shares[0]) * float(self.largest_shares[sources[0]])
        total = np.zeros(len(self.shares[0]))
        for source, share in zip(sources, shares, strict=True):
            total += abs(share) * self.shares[source]
        return float(self.objective.row_weights.largest(total))

    def curvatures(self, sources: list[int], shares: list[float]) -> FloatArray | None:
        """Upper bounds on second derivatives of the losses along votes of these sources; None where there are none."""
        if self.second_moments is None or self.objective._native_loss != "logistic":
            return None
        total = np.zeros(self.n_sources)
        for source, share in zip(sources, shares, strict=True):
            for other, another in zip(sources, shares, strict=True):
                total += abs(share * another) * self.second_moments[:, source, other]
        return LOGISTIC_CURVATURE * (self.objective.n_classes - 1) * total

    def step(self, columns: HypothesisColumns, slot: int, source: int, eta: float) -> None:
        """scores += eta Q(source | x) h(x)."""
        self._current.clear()
        self.objective.scores.step(columns, slot, eta, self.n_threads, self.shares[source])

    def saved(self) -> Any:
        """The scores, to come back to."""
        return self.objective.scores.values(), self.objective._margins()

    def restore(self, saved: Any) -> None:
        self._current.clear()
        self.objective.set_scores(*saved)
