"""Bound on the true error of a supervised kernel projection, in place of Storcheus (2021), Theorem 7.5."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost.estimators import SupervisedKernelProjection
from radboost.guarantees.bounds import MARGIN_BOUND, MarginBound
from radboost.guarantees.holdout import probability, warn_of_copies
from radboost.guarantees.margins import leads_of, margins_to_try
from radboost.guarantees.theorems import one_set
from radboost.rows.hashing import row_hashes
from radboost.rows.read import known_labels


def projection_bound(model: Any, X: Any, y: ArrayLike, *, rho: float | None = None, delta: float = 0.05) -> MarginBound:
    """Bound the true error of a `SupervisedKernelProjection`, with every term named.

    With probability at least 1 - delta over the draw of the labeled rows (32) of docs/theory.md, section 15, holds for
    every mixture and classifier at once. ``alpha``, ``ky_fan``, ``inverse_sum`` and weights of rows are free. The
    eigenfunctions must be those of rows drawn independently of X: without ``X_unlabelled``, or where it has all rows
    of X, there is no bound. Where kernels or ``rank`` were chosen among k by these rows, ask for ``delta / k``.

    Parameters
    ----------
    model : SupervisedKernelProjection fitted with ``X_unlabelled``
    X, y : the labeled rows of the fit
        Others from the same source, independent of ``X_unlabelled``, are valid too.
    rho : float or None
        Margin for a classifier of norm 1, fixed before these rows were seen; None: the best of 32, with delta / 32.
    delta : float
        Probability that the bound fails.
    """
    delta, grid = probability("delta", delta, "that the bound fails"), margins_to_try(rho)
    rows = _independent_rows(model, X)
    warn_of_copies(X, "bounds")
    right = known_labels(column_or_1d(np.asarray(y)), model.classes_, "y")
    norm = math.sqrt(float(np.square(model.coef_).sum() + np.square(model.intercept_).sum()))
    margins = leads_of(np.asarray(model.decision_function(X), dtype=np.float64), right) / (norm or 1.0)
    m, (n_scores, rank) = len(margins), model.coef_.shape
    kappa = complexity(model._squares(rows).mean(axis=0), rank, m, n_scores, constant=bool(model.intercept_.any()))
    bounds = []
    for one in grid:
        statement = one_set(kappa, 0.0, one, delta / len(grid), m, from_sample=True)
        bounds.append(
            MarginBound(
                margin_error=float(np.mean(np.clip(1.0 - margins / one, 0.0, 1.0))),
                complexity_term=statement.factor * kappa,
                family_term=0.0,
                confidence_term=statement.chance,
                rho=one,
                n_rho=len(grid),
                delta=delta,
                complexity=kappa,
                factor=statement.factor,
                n_families=1,
                n_draws=0,
                sample_size=float(m),
                n_classes=len(model.classes_),
                hypotheses=f"projections on {rank} eigenfunctions of {len(model.mixture_)} kernels",
                theorem=MARGIN_BOUND,
            )
        )
    return min(bounds, key=lambda one: one.total)


def complexity(squares: FloatArray, rank: int, m: int, n_scores: int = 1, *, constant: bool = False) -> float:
    """Bound on the empirical complexity kappa of (32); `squares`: Lambda_k of each kernel, shape (n_kernels,)."""
    more = 1.0 if constant else 0.0
    n_functions = n_scores * (len(squares) * rank + more)
    largest = 2.0 * (float(squares.max()) + more) * math.log(2.0 * n_functions)
    of_scores = 1.0 if n_scores == 1 else 2.0 * math.sqrt(n_scores)
    return of_scores * math.sqrt(min(float(squares.sum()) + more, largest) / m)


def _independent_rows(model: Any, X: Any) -> FloatArray:
    """X as the model reads it; an error if the eigenfunctions are known to depend on these rows."""
    if not isinstance(model, SupervisedKernelProjection):
        raise TypeError(f"Expected a fitted SupervisedKernelProjection, got {model!r}.")
    check_is_fitted(model)
    rows = model._rows(X)
    known = np.isin(row_hashes(rows), row_hashes(model._sample))
    if model.n_unlabelled_ == 0 or known.all():
        given = "without X_unlabelled" if model.n_unlabelled_ == 0 else "with all of these rows in X_unlabelled"
        raise ValueError(
            f"The model was fitted {given}, and the bound is for eigenfunctions of rows that were drawn independently "
            "of the labelled ones. Fit with other rows of the same source as X_unlabelled."
        )
    if known.any():
        warnings.warn(
            f"{known.sum():,} of the {len(rows):,} rows in X are in X_unlabelled too, and the bound is for independent "
            "samples. If they were drawn twice and happen to be equal, all is well; otherwise fit with other rows as "
            "X_unlabelled.",
            UserWarning,
            stacklevel=3,
        )
    return rows
