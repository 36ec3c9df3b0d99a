"""Pruning of an ensemble to given sizes: selection on the L1 path, then refit of weights and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.pruning.columns import Indices, of_one_round
from radboost.pruning.leaves import keep_still, leaf_table, refit, tree_of
from radboost.pruning.outputs import Outputs
from radboost.pruning.path import Distance, moments_of
from radboost.pruning.rows import DistinctRows, with_made_rows
from radboost.trees.tree import Tree

MOST_CELLS = 2**25  # predictions (rows x hypotheses x outputs) in memory, which limits the rows
FEWEST_ROWS = 500  # that are used in spite of MOST_CELLS
RELAXED = 1e-4  # L1 penalty of the refit, relative to the smallest one that makes all weights 0
TOLERANCE, MOST_SWEEPS = 1e-5, 200  # of the refit


def most_rows(ensemble: Ensemble) -> int:
    """Largest number of rows, generated ones included."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, ensemble.n_outputs * len(ensemble)))


@dataclass(frozen=True)
class Pruned:
    """A pruned ensemble, its size, and its costs on held-back rows."""

    ensemble: Ensemble
    n_bytes: int
    loss: float
    error: float

    @property
    def n_trees(self) -> int:
        return len(self.ensemble)


class Pruner:
    """Selects hypotheses of an ensemble, and refits weights and leaves so that scores change little.

    The L1 path (`radboost.pruning.path`) selects hypotheses. Their weights are then refitted with almost no penalty,
    as penalties shrink them, and with `refits_leaves` also the leaves of the trees.
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
        self._supports: dict[int, Indices] = {}

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
    def _constants(self) -> Indices:
        """Hypotheses without splits, which have no price: the first compensates differences between mean scores."""
        splits = np.array([getattr(one, "n_splits", 1) > 0 for one in self.ensemble.hypotheses])
        return np.flatnonzero((self._prices <= 0.0) & ~splits)

    @cached_property
    def _scores(self) -> FloatArray:
        scores = self.ensemble.decision_function(self._X, self.n_threads)
        return self._outputs.compared(scores.reshape(len(self._X), self._outputs.number))

    @cached_property
    def _still(self) -> FloatArray:
        """Constant scores of several targets, shape (n_outputs,); NaN for targets that some split moves."""
        if self._outputs.units is None:
            return np.full(self._outputs.number, np.nan)
        still, trees = np.zeros(self._outputs.number), list[Any](self.ensemble.hypotheses)
        for tree, weight in zip(trees, self.ensemble.weights, strict=True):
            table = leaf_table(tree, self._outputs)
            still += weight * table[0] if tree.n_splits == 0 else np.where(table.any(axis=0), np.nan, 0.0)
        return still

    def ensembles(self, sizes: Sequence[int]) -> list[Ensemble]:
        """Ensembles of at most these numbers of hypotheses."""
        with one_blas_thread:
            new = [size for size in sizes if size < len(self.ensemble) and size not in self._supports]
            if new:
                self._supports |= self.distance.supports(new)
            return [self._smaller(size) for size in sizes]

    def _smaller(self, size: int) -> Ensemble:
        whole = self.ensemble
        if size >= len(whole):
            return self._made_of(np.arange(len(whole)), list(whole.hypotheses), whole.weights)
        indices = self._supports[size]
        start = np.zeros(len(whole))
        start[indices] = whole.weights[indices]
        price = RELAXED * self.distance.first_price
        weights = self.distance.minimize(start, price, indices, TOLERANCE, MOST_SWEEPS)[indices]
        indices, weights = indices[weights != 0.0], weights[weights != 0.0]  # the path may have kept too many
        kept: list[Any] = [whole.hypotheses[index] for index in indices]
        if len(self._constants):
            first = int(np.searchsorted(indices, self._constants[0]))
            kept[first], weights[first] = self._constant(indices, weights)
        if self._refits_leaves and kept:
            tables = refit(kept, weights, self._X, self._scores, self._row_weights, self._outputs, self.n_threads)
            keep_still(kept, tables, self._still)
            made = [tree_of(tree, table, self._outputs) for tree, table in zip(kept, tables, strict=True)]
            kept, weights = [tree for tree, _ in made], np.array([weight for _, weight in made])
        used = np.flatnonzero(weights)
        if not len(used):  # nearly nothing is left: the largest part of it as it was
            largest = int(np.abs(whole.weights).argmax())
            return self._made_of(np.array([largest]), [whole.hypotheses[largest]], whole.weights[[largest]])
        return self._made_of(indices[used], [kept[index] for index in used], weights[used])

    def _constant(self, indices: Indices, weights: FloatArray) -> tuple[Tree, float]:
        """First constant, with which the mean scores are those of the whole ensemble."""
        means, _ = self._moments
        splitting = ~np.isin(indices, self._constants)
        left_out = self.ensemble.weights.copy()
        left_out[self._constants] = 0.0
        left_out[indices[splitting]] -= weights[splitting]
        constant: Any = self.ensemble.hypotheses[self._constants[0]]
        table = self.ensemble.weights[self._constants[0]] * leaf_table(constant, self._outputs)
        return tree_of(constant, table + means @ left_out, self._outputs)

    def _made_of(self, indices: Indices, hypotheses: list[Any], weights: FloatArray) -> Ensemble:
        """Ensemble of one round."""
        whole = self.ensemble
        return of_one_round(whole, hypotheses, weights, whole.complexities[indices], n_features=whole.n_features)
