"""Smaller ensembles of given sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.pruning.leaves import refit, tree_of
from radboost.pruning.outputs import Outputs
from radboost.pruning.path import Distance, Places, second_moments
from radboost.pruning.rows import DistinctRows, with_made_rows
from radboost.trees.tree import Tree

# Answers of all hypotheses on all rows: no more numbers than this, and never fewer rows than these.
MOST_CELLS, FEWEST_ROWS = 2**25, 500
# The L1 penalty of the weights that are kept, as a share of that which makes all of them 0: next to nothing. How
# exactly they are found, and in how many sweeps.
RELAXED, TOLERANCE, MOST_SWEEPS = 1e-4, 1e-5, 200


def most_rows(ensemble: Ensemble) -> int:
    """Rows and made rows together, at most."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, ensemble.n_outputs * len(ensemble)))


@dataclass(frozen=True)
class Pruned:
    """An ensemble and where it stands on the curve."""

    ensemble: Ensemble
    n_bytes: int
    loss: float
    error: float

    @property
    def n_trees(self) -> int:
        return len(self.ensemble)


class Pruner:
    """Fewer hypotheses of an ensemble, with weights, and leaves, that keep its scores.

    Which ones are kept is decided by the L1 path (`radboost.pruning.path`); their weights are then fitted again without
    the penalty, which shrinks them, and last, where `refits_leaves` says so, the leaves of the trees.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        rows: DistinctRows,
        prices: FloatArray,
        outputs: Outputs,
        *,
        signed: bool,
        refits_leaves: bool,
        n_threads: int,
    ) -> None:
        self.ensemble = ensemble
        self.signed = signed
        self.n_threads = n_threads
        self._prices, self._outputs = prices, outputs
        self._refits_leaves = refits_leaves and all(isinstance(one, Tree) for one in ensemble.hypotheses)
        self._X, self._row_weights = with_made_rows(rows, most_rows(ensemble) - len(rows))
        self._supports: dict[int, Places] = {}

    @cached_property
    def distance(self) -> Distance:
        whole = self.ensemble
        with one_blas_thread:
            moments = second_moments(whole.hypotheses, self._X, self._row_weights, self._outputs, self.n_threads)
        return Distance(moments, whole.weights, self._prices, self.signed)

    @cached_property
    def _scores(self) -> FloatArray:
        scores = self.ensemble.decision_function(self._X, self.n_threads)
        return self._outputs.compared(scores.reshape(len(self._X), self._outputs.number))

    def ensembles(self, sizes: Sequence[int]) -> list[Ensemble]:
        """Ensembles of at most so many hypotheses each; all of them where that is not fewer."""
        with one_blas_thread:
            new = [size for size in sizes if size < len(self.ensemble) and size not in self._supports]
            if new:
                self._supports |= self.distance.supports(new)
            return [self._smaller(size) for size in sizes]

    def _smaller(self, size: int) -> Ensemble:
        whole = self.ensemble
        if size >= len(whole):
            return self._made_of(np.arange(len(whole)), list(whole.hypotheses), whole.weights)
        places = self._supports[size]
        start = np.zeros(len(whole))
        start[places] = whole.weights[places]
        price = RELAXED * self.distance.first_price
        weights = self.distance.minimise(start, price, places, TOLERANCE, MOST_SWEEPS)[places]
        places, weights = places[weights != 0.0], weights[weights != 0.0]  # the path may have kept what is not needed
        kept: list[Any] = [whole.hypotheses[place] for place in places]
        if self._refits_leaves and kept:
            tables = refit(kept, weights, self._X, self._scores, self._row_weights, self._outputs, self.n_threads)
            made = [tree_of(tree, table, self._outputs) for tree, table in zip(kept, tables, strict=True)]
            weights = np.array([weight for _, weight in made])
            places, kept = places[weights != 0.0], [tree for tree, weight in made if weight != 0.0]
            weights = weights[weights != 0.0]
        return self._made_of(places, kept, weights)

    def _made_of(self, places: Places, hypotheses: list[Any], weights: FloatArray) -> Ensemble:
        """One round, in which every hypothesis takes its step."""
        whole = self.ensemble
        steps = np.zeros(len(hypotheses), dtype=STEP_TYPE)
        steps["hypothesis"], steps["eta"] = np.arange(len(hypotheses)), weights
        return Ensemble(
            hypotheses,
            whole.complexities[places].tolist(),
            steps,
            n_rounds=1,
            n_features=whole.n_features,
            n_families=whole.n_families,
            sample_size=whole.sample_size,
            feature_names=whole.feature_names,
            n_outputs=whole.n_outputs,
            categories=whole.categories,
        )
