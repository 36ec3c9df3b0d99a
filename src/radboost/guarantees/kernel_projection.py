"""Bound on the true error of a supervised kernel projection. Storcheus (2021), Theorem 7.5, corrected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from radboost._validation import check_real
from radboost.estimators import SupervisedKernelProjection
from radboost.guarantees.holdout import probability
from radboost.guarantees.margins import margins_to_try
from radboost.projection.kernels import NamedKernel
from radboost.rows.read import known_labels

ETA_0 = 23.0 / 22.0  # of the complexity of learning kernels, Cortes et al. 2010, Theorem 2


@dataclass(frozen=True)
class ProjectionBound:
    """Bound by Theorem 7.5: with probability at least 1 - delta the true error is at most `total`."""

    # Units: each term is an error rate. m rows, p kernels, r components; nu: sum of the inverse weights of kernels.
    margin_error: float  # fraction of the sample with a margin of at most rho, for a classifier of norm 1
    spectrum: float  # 2/(rho sqrt m) sqrt(2 (Lambda_(r) + kappa sqrt(r/m)) log(2pm)), of the kept eigenvalues
    eigenspace: float  # 2/(rho sqrt m) 8 kappa nu / Delta_r sqrt(eta_0 e ceil(log p) / m), of learning it on a sample
    chance: float  # 3 sqrt(log(4 / delta') / 2m), of the draw of the sample
    rho: float
    sample_size: int
    delta: float

    @property
    def total(self) -> float:
        return self.margin_error + self.spectrum + self.eigenspace + self.chance

    @property
    def vacuous(self) -> bool:
        return self.total >= 1.0

    def __str__(self) -> str:
        rows = (
            (f"rows with a margin of at most {self.rho:.3g}", self.margin_error),
            ("+ spectrum (the eigenvalues that are kept)", self.spectrum),
            ("+ eigenspace (the projection was found on a sample)", self.eigenspace),
            (f"+ chance ({100 * (1 - self.delta):g}% confidence)", self.chance),
            ("= true error is at most" + (" (vacuous)" if self.vacuous else ""), self.total),
        )
        return "\n".join(f"{name:<56}{value:>9.4f}" for name, value in rows)


def projection_bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    eigengap: float | None = None,
    largest_diagonals: Sequence[float] | None = None,
    rho: float | None = None,
    delta: float = 0.05,
) -> ProjectionBound:
    """Bound the true error of a `SupervisedKernelProjection` for two classes, with every term named.

    With probability at least 1 - delta over the draw of the labeled rows and of an unlabeled sample that is larger,
    (32) of docs/theory.md holds: Theorem 7.5 with kappa sqrt(r/m) of (E.4) instead of kappa beside Lambda_(r), and half
    of delta for each of the two statements that it combines.

    Parameters
    ----------
    model : fitted SupervisedKernelProjection
        With at least two kernels, `fit_intercept=False`, and fitted with `X_unlabelled` from the same source, drawn
        independently, of more rows than X. Without `ky_fan` Lambda_(r) is 1, which it cannot exceed.
    X, y : the labeled rows of the fit
    eigengap : float
        Delta_r: the least lambda_r - lambda_(r+1) of the covariance operators of the base kernels on the source.
    largest_diagonals : sequence of floats or None
        Upper bound of K(x, x) on the source for each kernel; None: 1, only if all kernels are "rbf" or "laplacian".
    rho : float or None
        Margin; None: the best of 32, each with delta / 32.
    delta : float
        Probability that the bound fails.
    """
    p, m, gap = _check(model, X, y, eigengap, largest_diagonals)
    delta, tried = probability("delta", delta, "that the bound fails"), margins_to_try(rho)
    signs = np.where(known_labels(np.asarray(column_or_1d(y)), model.classes_, "y") == 1, 1.0, -1.0)
    norm = float(np.linalg.norm(model.coef_))
    margins = signs * model.decision_function(X) / (norm if norm > 0.0 else 1.0)
    delta_of_each = delta / len(tried)
    r, nu = len(model.components_), model.inverse_sum_
    level = min(1.0, 1.0 if model.ky_fan is None else float(model.ky_fan))
    kappa = 4.0 * (1.0 + math.sqrt(math.log(4.0 * p / delta_of_each) / 2.0))
    spectrum = math.sqrt(2.0 * (level + kappa * math.sqrt(r / m)) * math.log(2.0 * p * m))
    eigenspace = 8.0 * kappa * nu / gap * math.sqrt(ETA_0 * math.e * math.ceil(math.log(p)) / m)
    chance = 3.0 * math.sqrt(math.log(4.0 / delta_of_each) / (2.0 * m))
    bounds = [
        ProjectionBound(
            float(np.mean(margins <= one)),
            2.0 * spectrum / (one * math.sqrt(m)),
            2.0 * eigenspace / (one * math.sqrt(m)),
            chance,
            one,
            m,
            delta,
        )
        for one in tried
    ]
    return min(bounds, key=lambda one: one.total)


def _check(
    model: Any, X: Any, y: Any, eigengap: float | None, largest_diagonals: Sequence[float] | None
) -> tuple[int, int, float]:
    """p, m and Delta_r; an error if the theorem does not apply."""
    if not isinstance(model, SupervisedKernelProjection):
        raise TypeError(f"Expected a fitted SupervisedKernelProjection, got {model!r}.")
    check_is_fitted(model)
    check_consistent_length(X, y)
    m, p = len(column_or_1d(y)), len(model.mixture_)
    if len(model.classes_) != 2:
        raise ValueError(f"Theorem 7.5 is for two classes; the model has {len(model.classes_)}.")
    if p == 1:
        raise ValueError("Theorem 7.5 needs p > 1 kernels; the model has one.")
    if model.fit_intercept:
        raise ValueError("The hypotheses (7.1) have no constant term: fit with fit_intercept=False.")
    if model.standardize:
        raise ValueError(
            "Theorem 7.5 is for kernels that do not depend on the sample: fit with standardize=False, on columns in "
            "units that were fixed before."
        )
    if model.n_unlabelled_ <= m:
        raise ValueError(
            f"Theorem 7.5 needs an unlabelled sample that is drawn independently and larger than the {m} labelled "
            f"rows; the model was fitted with {model.n_unlabelled_} rows in X_unlabelled."
        )
    if eigengap is None:
        raise ValueError(
            "The eigengap Delta_r is of the source and cannot be read off the data: give eigengap=..., or there is no "
            "bound."
        )
    check_real("eigengap", eigengap, low=0.0, open_low=True)
    _check_diagonals(model, largest_diagonals)
    return p, m, float(eigengap)


def _check_diagonals(model: Any, largest_diagonals: Sequence[float] | None) -> None:
    """Raise an error unless K(x, x) <= 1 for the kernels divided by their units."""
    kernels, units = model._kernels_now(), [one.unit for one in model._spectra]
    if largest_diagonals is None:
        known = [isinstance(kernel, NamedKernel) and kernel.name in ("rbf", "laplacian") for kernel in kernels]
        if not all(known):
            raise ValueError(
                f"Theorem 7.5 needs K(x, x) <= 1 for every row of the source, which is not known of kernel "
                f"{known.index(False)}: give largest_diagonals, a number for each kernel."
            )
        return
    if len(largest_diagonals) != len(kernels):
        raise ValueError(f"largest_diagonals must have {len(kernels)} numbers; got {len(largest_diagonals)}.")
    for k, (largest, unit) in enumerate(zip(largest_diagonals, units, strict=True)):
        if check_real("largest_diagonals", largest, low=0.0, open_low=True) > unit * (1.0 + 1e-12):
            raise ValueError(
                f"Kernel {k} was divided by {unit:g}, its largest K(x, x) on the sample, and can reach {largest:g} on "
                "the source: it would exceed 1. Divide it by that yourself, in a function of your own."
            )
