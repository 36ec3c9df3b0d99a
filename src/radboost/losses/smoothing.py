"""Smooth maximum with a logarithmic barrier, for Newton's method on losses with kinks."""

from __future__ import annotations

import numpy as np

from radboost._typing import FloatArray

MOST_STEPS, EXACT = 60, 1e-14


def smooth_maximum(pieces: FloatArray, width: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Smooth maximum over the first axis: its values, gradient p and Hessian by the pieces.

    It is min over t of t - width sum of log((t - b_j) / width). Its gradient p_j = width / (t - b_j), of sum 1, is a
    mixture of the pieces for every width. As a partial minimum of a barrier it is self-concordant up to a factor, so
    that Newton's method gets along with narrow widths. Shapes (n,), (n_pieces, n) and (n_pieces, n_pieces, n).
    """
    largest = pieces.max(axis=0)
    distances = (largest - pieces) / width
    excess = np.ones(pieces.shape[1])  # (t - largest) / width
    # 1 / sum of p is concave and increases with t: Newton's steps from below do not overshoot 1.
    for _ in range(MOST_STEPS):
        weights = 1.0 / (excess + distances)
        total, squares = weights.sum(axis=0), (weights**2).sum(axis=0)
        step = total * (total - 1.0) / squares
        excess += step
        if (np.abs(step) <= EXACT * excess).all():
            break
    weights = 1.0 / (excess + distances)
    weights /= weights.sum(axis=0)
    values = largest + width * (excess + np.log(weights).sum(axis=0))
    curvatures = weights**2 / width
    return values, weights, diagonals(curvatures) - curvatures[:, None] * (curvatures / curvatures.sum(axis=0))


def covariances(weights: FloatArray) -> FloatArray:
    """diag(p) - p p^T of each column p; shape (k, k, n)."""
    return diagonals(weights) - weights[:, None] * weights


def diagonals(entries: FloatArray) -> FloatArray:
    """Diagonal matrices with the columns on their diagonals; shape (k, k, n)."""
    return np.asarray(np.eye(len(entries))[:, :, None] * entries)
