"""Optimality gaps: an objective minus a lower bound of its minimum, and the gap at which a fit has converged."""

from __future__ import annotations

import numpy as np

# Relative accuracy of a gap, a difference of two sums.
GAP_ROUNDING = 64 * float(np.finfo(np.float64).eps)
# Gap of a fit that has converged, relative to the objective, or to that of the empty model if the objective may be 0.
CONVERGED_GAP = 1e-6


def gap_above(lower_bound: float | None, objective: float) -> float:
    """Largest possible distance from the minimum, with what rounding may hide of it; NaN without a bound."""
    if lower_bound is None or not np.isfinite(lower_bound):
        return float("nan")
    return max(objective - lower_bound, 0.0) + GAP_ROUNDING * (abs(objective) + abs(lower_bound))


def reason_with_gap(reason: str, gap: float, objective: float, where: str) -> str:
    """Reason for the end of a fit that found nothing more, with what its gap says; `where`: over which hypotheses."""
    if gap <= CONVERGED_GAP * objective:
        return f"converged{where}: {reason}"
    return f"{reason}; the minimum{where} is at most {gap:.2g} lower" if np.isfinite(gap) else reason
