"""Eigenvalues and eigenfunctions of the covariance operators of base kernels, each computed once.

Storcheus (2021), section 7.3 and (E.7): let the weights w sum to W. Then D^(1/2) K D^(1/2) / W has the eigenvalues of
C = sum w_n Phi(x_n) Phi(x_n)' / W, and its eigenvector v belongs to the function

    u(x) = sum_n v_n sqrt(w_n) K(x, x_n) / sqrt(lambda W).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.projection.kernels import KernelFunction

# Smallest eigenvalue of a positive semi-definite matrix, relative to minus the largest one.
TOLERANCE = 1e-8
# Rows whose values with the landmarks are held at a time.
BLOCK = 2000
# Eigenvalues below this, relative to the largest, are rounding errors.
NEGLIGIBLE = 1e-12
# Kernel matrices of length 1 are dependent where the least eigenvalue of their inner products is below this.
DEPENDENT = 1e-10


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenvalues of a base kernel, falling, and what evaluates their eigenfunctions."""

    eigenvalues: FloatArray
    directions: FloatArray  # shape (rows that K is evaluated at, eigenfunctions)
    unit: float  # K is divided by it, so that K(x, x) <= 1 on the rows
    error: float = 0.0  # fraction of the mean K(x, x) that landmarks leave out (Nystrom)

    def functions(self, values: FloatArray) -> FloatArray:
        """Values phi_j(x) = u_j(x) for weight 1, a row for each x, from K(x, x_n)."""
        return np.asarray(values @ self.directions) / self.unit


def spectrum(kernel: KernelFunction, rows: FloatArray, weights: FloatArray, rank: int, number: int) -> Spectrum:
    """Spectrum of one kernel; `number` is its name in errors."""
    # With one thread of BLAS, so that the numbers do not depend on how many there are.
    with one_blas_thread:
        values = np.asarray(kernel(rows, rows), dtype=np.float64)
        check_kernel_matrix(values, len(rows), number)
        unit = float(np.max(np.diag(values)))
        if unit <= 0.0:
            _refuse_without_unit(values, number)
        roots = np.sqrt(weights / weights.sum())
        matrix = roots[:, None] * (0.5 * (values + values.T) / unit) * roots
        eigenvalues, vectors = eigh(matrix, driver="evd")
    _check_semi_definite(eigenvalues, number)
    largest, vectors = _largest(eigenvalues, vectors, rank)
    directions = roots[:, None] * vectors / np.sqrt(largest)
    return Spectrum(largest.copy(), _signed(directions, vectors / roots[:, None]), unit)


def nystrom_spectrum(
    kernel: KernelFunction, landmarks: FloatArray, rows: FloatArray, weights: FloatArray, rank: int, number: int
) -> Spectrum:
    """Spectrum for many rows: K(x, y) is replaced by k(x)' K_LL^-1 k(y), k(x) being K at x and the landmarks.

    phi(x) = K_LL^(-1/2) k(x) has that inner product, and C has as many rows as there are landmarks.
    """
    with one_blas_thread:
        inner = np.asarray(kernel(landmarks, landmarks), dtype=np.float64)
        check_kernel_matrix(inner, len(landmarks), number)
        values, vectors = eigh(0.5 * (inner + inner.T), driver="evd")
        _check_semi_definite(values, number)
        solid = values > 1e-10 * values[-1]
        root = vectors[:, solid] / np.sqrt(values[solid])
        covariance = np.zeros((root.shape[1], root.shape[1]))
        kept_trace = whole_trace = unit = 0.0
        for first in range(0, len(rows), BLOCK):
            block, parts = rows[first : first + BLOCK], weights[first : first + BLOCK] / weights.sum()
            mapped = np.asarray(kernel(block, landmarks), dtype=np.float64) @ root
            # K(x, x) one by one would be slow for kernels that are functions of matrices; of a few rows it is not.
            own = np.concatenate([np.diag(kernel(part, part)) for part in np.array_split(block, -(-len(block) // 50))])
            covariance += (parts[:, None] * mapped).T @ mapped
            kept_trace += float(parts @ np.sum(mapped**2, axis=1))
            whole_trace += float(parts @ own)
            unit = max(unit, float(own.max()))
        if unit <= 0.0:
            raise ValueError(f"Kernel {number} is 0 for every row: leave it out.")
        eigenvalues, vectors = eigh(covariance, driver="evd")
    largest, vectors = _largest(eigenvalues, vectors, rank)
    directions = root @ vectors * np.sqrt(unit)
    error = max(0.0, 1.0 - kept_trace / whole_trace)
    return Spectrum(largest / unit, _signed(directions, inner @ directions), unit, error)


def _largest(eigenvalues: FloatArray, vectors: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """The `rank` + 1 largest eigenvalues, falling, with their vectors, without those that are rounding errors."""
    kept = int(min(rank + 1, np.sum(eigenvalues > NEGLIGIBLE * eigenvalues[-1])))
    return eigenvalues[::-1][:kept], vectors[:, ::-1][:, :kept]


def _signed(directions: FloatArray, values: FloatArray) -> FloatArray:
    """Directions with the signs that make the largest of their `values` positive, whatever weights or repetitions."""
    signs = np.sign(values[np.argmax(np.abs(values), axis=0), np.arange(values.shape[1])])
    return np.ascontiguousarray(directions * signs)


def _refuse_without_unit(values: FloatArray, number: int) -> None:
    """No K(x, x) is positive: the kernel is 0, or no kernel."""
    if values.any():
        _check_semi_definite(eigh(0.5 * (values + values.T), driver="evd")[0], number)
    raise ValueError(f"Kernel {number} is 0 for every row: leave it out.")


def _check_semi_definite(eigenvalues: FloatArray, number: int) -> None:
    largest = max(float(eigenvalues[-1]), 1e-300)
    if eigenvalues[0] < -TOLERANCE * largest:
        raise ValueError(
            f"Kernel {number} is not positive semi-definite: its smallest eigenvalue is {eigenvalues[0]:.3g}, "
            f"{-eigenvalues[0] / largest:.1e} of the largest. Kernels that can be mixed are inner products."
        )


def check_kernel_matrix(values: FloatArray, n_rows: int, number: int) -> None:
    """Refuses what is no kernel matrix of the rows with themselves."""
    if values.shape != (n_rows, n_rows):
        raise ValueError(
            f"Kernel {number} gave an array of shape {values.shape} for {n_rows} rows with themselves; it must be "
            f"{(n_rows, n_rows)}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"Kernel {number} gave NaN or infinite values; scale the columns or lower gamma.")
    apart = float(np.max(np.abs(values - values.T)))
    if apart > 1e-6 * max(1e-300, float(np.max(np.abs(values)))):
        raise ValueError(f"Kernel {number} is not symmetric: K(x, y) and K(y, x) differ by up to {apart:.3g}.")


def check_independent(matrices: list[FloatArray]) -> None:
    """Refuses kernels that are constant, or sums of multiples of others on the rows.

    Definition 7.1 asks for more: that no function of one kernel be a sum of functions of others.
    """
    for k, matrix in enumerate(matrices):
        if len(matrix) > 1 and float(np.ptp(matrix)) <= 1e-12 * float(np.abs(matrix).max()):
            raise ValueError(f"Kernel {k} is constant on these rows: leave it out, fit_intercept=True adds as much.")
    units = np.array([matrix.ravel() / np.linalg.norm(matrix) for matrix in matrices])
    values, vectors = np.linalg.eigh(units @ units.T)
    if values[0] < DEPENDENT:
        parts = np.abs(vectors[:, 0])
        together = np.flatnonzero(parts > 1e-3 * parts.max()).tolist()
        names = f"{', '.join(map(str, together[:-1]))} and {together[-1]}"
        same = "the same up to a factor" if len(together) == 2 else "linearly dependent"
        raise ValueError(
            f"Kernels {names} are {same} on these rows. Base kernels must be linearly independent (Definition 7.1): "
            "leave one of them out."
        )
