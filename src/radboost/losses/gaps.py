"""Optimality gaps: an objective minus a lower bound of its minimum, and the gap at which a fit has converged."""

from __future__ import annotations

import numpy as np

# Relative accuracy of a gap, a difference of two sums.
GAP_ROUNDING = 64 * float(np.finfo(np.float64).eps)
# A fit has converged if its gap is at most this fraction of the objective of the empty model.
CONVERGED_GAP = 1e-6


def gap_above(lower_bound: float, objective: float) -> float:
    """Largest possible distance from the minimum, with what rounding may hide of it; infinite without a bound."""
    if not np.isfinite(lower_bound):
        return float("inf")
    return max(objective - lower_bound, 0.0) + GAP_ROUNDING * (abs(objective) + abs(lower_bound))
