"""Eigenfunctions of kernels, against their definitions."""

import numpy as np
import pytest

from radboost.projection.kernels import NamedKernel, column_kernels, read_kernels
from radboost.projection.spectra import check_independent, nystrom_spectrum, spectrum

ROWS = np.random.default_rng(0).normal(size=(30, 3))
KERNELS = [NamedKernel(name, gamma=0.5) for name in ("linear", "polynomial", "rbf", "laplacian")]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_eigenfunctions_are_those_of_the_covariance_operator(kernel):
    """Orthonormal in the space of the kernel, with sum of u_j(x_n)^2 / n = lambda_j."""
    found = spectrum(kernel, ROWS, np.ones(30), 4, 0)
    values = kernel(ROWS, ROWS) / found.unit
    np.testing.assert_allclose(
        found.directions.T @ values @ found.directions, np.eye(len(found.eigenvalues)), atol=1e-8
    )
    functions = found.functions(kernel(ROWS, ROWS))
    np.testing.assert_allclose((functions**2).mean(axis=0), found.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(np.linalg.eigvalsh(values / 30)[::-1][: len(found.eigenvalues)], found.eigenvalues)


def test_weights_are_repetitions():
    weights = np.random.default_rng(1).integers(1, 4, 30)
    repeated = np.repeat(ROWS, weights, axis=0)
    one = spectrum(KERNELS[2], ROWS, weights.astype(float), 3, 0)
    other = spectrum(KERNELS[2], repeated, np.ones(len(repeated)), 3, 0)
    np.testing.assert_allclose(one.eigenvalues, other.eigenvalues)
    new = np.random.default_rng(2).normal(size=(5, 3))
    np.testing.assert_allclose(
        one.functions(KERNELS[2](new, ROWS)), other.functions(KERNELS[2](new, repeated)), atol=1e-8
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_nystrom_with_all_rows_is_exact_and_with_few_says_what_it_leaves_out(kernel):
    weights = np.random.default_rng(3).integers(1, 4, 30).astype(float)
    new = np.random.default_rng(2).normal(size=(5, 3))
    exact = spectrum(kernel, ROWS, weights, 3, 0)
    all_of_them = nystrom_spectrum(kernel, ROWS, ROWS, weights, 3, 0)
    np.testing.assert_allclose(all_of_them.eigenvalues[:3], exact.eigenvalues[:3], rtol=1e-6)
    found, other = (one.functions(kernel(new, ROWS))[:, :3] for one in (all_of_them, exact))
    np.testing.assert_allclose(np.abs(found), np.abs(other), atol=1e-5)
    assert all_of_them.error < 1e-6
    few = nystrom_spectrum(kernel, ROWS[:8], ROWS, weights, 3, 0)
    values = kernel(ROWS, ROWS)
    part = kernel(ROWS, ROWS[:8]) @ np.linalg.pinv(values[:8, :8], rcond=1e-10) @ kernel(ROWS[:8], ROWS)
    lost = 1.0 - weights @ np.diag(part) / (weights @ np.diag(values))
    assert few.error == pytest.approx(max(0.0, lost), abs=1e-8)
    assert np.all(few.eigenvalues[:3] <= exact.eigenvalues[:3] + 1e-9)


def test_kernels_of_columns():
    first, second = column_kernels(2)
    np.testing.assert_allclose(first(ROWS, ROWS[:2]), np.outer(ROWS[:, 0], ROWS[:2, 0]))
    assert len(spectrum(second, ROWS, np.ones(30), 3, 0).eigenvalues) == 1


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: X @ np.diag([1.0, -0.5, 1.0]) @ Y.T, "Kernel 7 is not positive semi-definite: its smallest"),
        (lambda X, Y: X @ np.triu(np.ones((3, 3))) @ Y.T, "not symmetric"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "NaN or infinite"),
        (lambda X, Y: np.zeros((len(X), len(Y))), "0 for every row"),
        (lambda X, Y: X, "shape \\(30, 3\\) for 30 rows"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        spectrum(kernel, ROWS, np.ones(30), 3, 7)


def test_repeated_kernels_are_refused():
    matrices = [kernel(ROWS, ROWS) for kernel in KERNELS]
    check_independent(matrices)
    with pytest.raises(ValueError, match="Kernels 1 and 4 are the same up to a factor"):
        check_independent([*matrices, 3.0 * matrices[1]])
    with pytest.raises(ValueError, match="Kernels 0, 2 and 4 are linearly dependent"):
        check_independent([*matrices, matrices[0] + 0.5 * matrices[2]])
    with pytest.raises(ValueError, match="Kernel 4 is constant"):
        check_independent([*matrices, np.ones((30, 30))])


def test_kernels_are_read():
    assert read_kernels(["rbf", NamedKernel("linear")])[0] == NamedKernel("rbf")
    with pytest.raises(TypeError, match="list of at least one kernel"):
        read_kernels("rbf")
    with pytest.raises(TypeError, match="name, a NamedKernel, a function"):
        read_kernels([3])
    with pytest.raises(ValueError, match="'linear', 'polynomial', 'rbf', 'laplacian'"):
        read_kernels(["gauss"])
    with pytest.raises(ValueError, match="gamma"):
        NamedKernel("rbf", gamma=-1.0)
