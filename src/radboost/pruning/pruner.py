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
from radboost.pruning.columns import Places, of_one_round
from radboost.pruning.leaves import keep_still, leaf_table, refit, tree_of
from radboost.pruning.outputs import Outputs
from radboost.pruning.path import Distance, moments_of
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
        means, moments = self._moments
        if len(self._constants):
            moments = moments - means.T @ means
            moments[self._constants] = 0.0
            moments[:, self._constants] = 0.0
        return Distance(moments, whole.weights, self._prices, self.signed)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        with one_blas_thread:
            whole = self.ensemble.hypotheses
            return moments_of(whole, self._X, self._row_weights, self._outputs, self.n_threads)

    @cached_property
    def _constants(self) -> Places:
        """Hypotheses that stay and ask nothing: one of them makes up for what the means of the others differ."""
        asks = np.array([getattr(one, "n_splits", 1) > 0 for one in self.ensemble.hypotheses])
        return np.flatnonzero((self._prices <= 0.0) & ~asks)

    @cached_property
    def _scores(self) -> FloatArray:
        scores = self.ensemble.decision_function(self._X, self.n_threads)
        return self._outputs.compared(scores.reshape(len(self._X), self._outputs.number))

    @cached_property
    def _still(self) -> FloatArray:
        """Of several targets those that no question moves, such as constant ones: what they are. NaN for all others."""
        if self._outputs.units is None:
            return np.full(self._outputs.number, np.nan)
        still, trees = np.zeros(self._outputs.number), list[Any](self.ensemble.hypotheses)
        for tree, weight in zip(trees, self.ensemble.weights, strict=True):
            table = leaf_table(tree, self._outputs)
            still += weight * table[0] if tree.n_splits == 0 else np.where(table.any(axis=0), np.nan, 0.0)
        return still

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
        if len(self._constants):
            first = int(np.searchsorted(places, self._constants[0]))
            kept[first], weights[first] = self._constant(places, weights)
        if self._refits_leaves and kept:
            tables = refit(kept, weights, self._X, self._scores, self._row_weights, self._outputs, self.n_threads)
            keep_still(kept, tables, self._still)
            made = [tree_of(tree, table, self._outputs) for tree, table in zip(kept, tables, strict=True)]
            kept, weights = [tree for tree, _ in made], np.array([weight for _, weight in made])
        used = np.flatnonzero(weights)
        if not len(used):  # what is left says nearly nothing: the largest part of it as it was
            largest = int(np.abs(whole.weights).argmax())
            return self._made_of(np.array([largest]), [whole.hypotheses[largest]], whole.weights[[largest]])
        return self._made_of(places[used], [kept[place] for place in used], weights[used])

    def _constant(self, places: Places, weights: FloatArray) -> tuple[Tree, float]:
        """The first constant, with which the mean scores are those of the whole ensemble."""
        means, _ = self._moments
        asking = ~np.isin(places, self._constants)
        left_out = self.ensemble.weights.copy()
        left_out[self._constants] = 0.0
        left_out[places[asking]] -= weights[asking]
        constant: Any = self.ensemble.hypotheses[self._constants[0]]
        table = self.ensemble.weights[self._constants[0]] * leaf_table(constant, self._outputs)
        return tree_of(constant, table + means @ left_out, self._outputs)

    def _made_of(self, places: Places, hypotheses: list[Any], weights: FloatArray) -> Ensemble:
        """One round, in which every hypothesis takes its step."""
        whole = self.ensemble
        return of_one_round(whole, hypotheses, weights, whole.complexities[places], n_features=whole.n_features)
