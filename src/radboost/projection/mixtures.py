"""The set M of mixtures of kernels, (7.2) of Storcheus (2021), and the cells in which the projection is the same.

The eigenvalues of C_U are mu_k lambda_kj, those of the base kernels times their weights (section 7.3). So the top r of
them are, of each kernel k, the first n_k. Mixtures with the same counts n have the same projection. These counts are
linear conditions on mu: mu_k lambda_(k, n_k) >= mu_l lambda_(l, n_l + 1) for all k and l. Within such a cell the Ky-Fan
norm (7.3) is linear as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from radboost._typing import FloatArray

Counts = tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """The mixtures of M for which `counts` of each kernel's eigenvectors are chosen.

    They are those with rows @ mu <= limits and a sum of inverses of at most `inverse_sum`.
    """

    counts: Counts
    rows: FloatArray
    limits: FloatArray
    inverse_sum: float
    # Of each row that parts the cell from another: the kernel that would lose an eigenvector, and the one to get it.
    neighbors: tuple[tuple[int, int] | None, ...]

    def slacks(self, mixture: FloatArray) -> FloatArray:
        """Slack of each condition; the last is that on the inverses."""
        if not (mixture > 0.0).all():
            return np.full(len(self.limits) + 1, -math.inf)
        return np.append(self.limits - self.rows @ mixture, self.inverse_sum - np.sum(1.0 / mixture))


class MixtureSet:
    """M of (7.2): weights >= 0 with a Ky-Fan norm of at most Lambda_(r), sum at most 1, sum of inverses at most nu.

    `eigenvalues` has a row for each kernel, falling, of the kernel matrix divided by its size.
    """

    def __init__(self, eigenvalues: FloatArray, rank: int, ky_fan: float, inverse_sum: float) -> None:
        self.n_kernels = len(eigenvalues)
        # One more than can be chosen, so that every count has a next eigenvalue.
        self.eigenvalues = np.zeros((self.n_kernels, rank + 1))
        kept = min(rank + 1, eigenvalues.shape[1])
        self.eigenvalues[:, :kept] = eigenvalues[:, :kept]
        self.rank, self.ky_fan, self.inverse_sum = rank, ky_fan, inverse_sum
        if inverse_sum < self.n_kernels**2:
            raise ValueError(
                f"inverse_sum must be at least p^2 = {self.n_kernels**2} for p = {self.n_kernels} kernels: weights "
                f"that sum to at most 1 have inverses that sum to at least p^2. Got {inverse_sum:g}."
            )
        n_positive = int((self.eigenvalues[:, :rank] > 0.0).sum())
        if n_positive < rank:
            raise ValueError(
                f"rank must be at most the number of positive eigenvalues of all kernels, {n_positive}; got {rank}."
            )

    def counts(self, mixture: FloatArray) -> Counts:
        """Number of the top r eigenvalues of each kernel; of equal ones the earlier kernel's comes first."""
        values = mixture[:, None] * self.eigenvalues[:, : self.rank]
        order = np.argsort(-values.ravel(), kind="stable")[: self.rank]
        return tuple(np.bincount(order // self.rank, minlength=self.n_kernels).tolist())

    def ky_fan_norm(self, mixture: FloatArray) -> float:
        """The sum of the r largest eigenvalues, (7.3)."""
        values = np.sort((mixture[:, None] * self.eigenvalues[:, : self.rank]).ravel())
        return float(values[len(values) - self.rank :].sum())

    def cell(self, counts: Counts) -> Cell:
        """The conditions under which these counts are those of the top r."""
        rows: list[FloatArray] = [np.ones(self.n_kernels)]
        limits = [1.0]
        neighbors: list[tuple[int, int] | None] = [None]
        if self.ky_fan < math.inf:
            sums = [self.eigenvalues[k, :count].sum() for k, count in enumerate(counts)]
            rows.append(np.array(sums))
            limits.append(self.ky_fan)
            neighbors.append(None)
        for loser, gainer in self.exchanges(counts):
            row = np.zeros(self.n_kernels)
            row[gainer] = self.eigenvalues[gainer, counts[gainer]]
            row[loser] = -self.eigenvalues[loser, counts[loser] - 1]
            rows.append(row)
            limits.append(0.0)
            neighbors.append((loser, gainer))
        return Cell(counts, np.array(rows), np.array(limits), self.inverse_sum, tuple(neighbors))

    def exchanges(self, counts: Counts) -> Iterator[tuple[int, int]]:
        """Pairs of kernels of which one can give an eigenvector and the other has a next one."""
        for loser, count in enumerate(counts):
            for gainer in range(self.n_kernels):
                if gainer != loser and count > 0 and self.eigenvalues[gainer, counts[gainer]] > 0.0:
                    yield loser, gainer

    def moved(self, counts: Counts, exchange: tuple[int, int]) -> Counts:
        """The counts after an exchange."""
        loser, gainer = exchange
        return tuple(count - (k == loser) + (k == gainer) for k, count in enumerate(counts))


def scaled_into(mixtures: MixtureSet, direction: Sequence[float] | FloatArray) -> FloatArray | None:
    """The longest multiple of a positive direction that lies in M, None where none does."""
    unit = np.asarray(direction, dtype=np.float64)
    unit = unit / unit.sum()
    norm = mixtures.ky_fan_norm(unit)
    scale = min(1.0, mixtures.ky_fan / norm if norm > 0.0 else 1.0)
    if np.sum(1.0 / unit) > mixtures.inverse_sum * scale:
        return None
    return np.asarray(scale * unit)
