"""Base kernels of SupervisedKernelProjection: named, user-defined functions, or precomputed matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_real
from radboost.model_file import storable_value

# From X, shape (n, n_features), and Y, shape (m, n_features), to the values K(x, y), shape (n, m).
KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]

NAMES = ("linear", "polynomial", "rbf", "laplacian")


@storable_value
@dataclass(frozen=True)
class NamedKernel:
    """Kernel of scikit-learn, by name, on all or some columns of X.

    Parameters
    ----------
    name : {"linear", "polynomial", "rbf", "laplacian"}
        In this order: x.y, (gamma x.y + 1)^degree, exp(-gamma |x - y|^2), exp(-gamma |x - y|_1).
    gamma : float or None
        Not used by "linear". None: 1 / number of columns used; if standardized, of those that vary.
    degree : int
        Degree of "polynomial", 1 to 20; the others ignore it.
    columns : tuple of int or None
        Indices of the columns used; None: all.
    """

    name: str = "rbf"
    gamma: float | None = None
    degree: int = 2
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_choice("name", self.name, NAMES)
        if self.gamma is not None:
            check_real("gamma", self.gamma, low=0.0, open_low=True)
        check_integer("degree", self.degree, 1, 20)

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.columns is not None:
            X, Y = X[:, self.columns], Y[:, self.columns]
        from sklearn.metrics.pairwise import pairwise_kernels  # slow to import

        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": 1.0}
        return np.asarray(
            pairwise_kernels(X, Y, metric=self.name, filter_params=True, n_jobs=1, **parameters), dtype=np.float64
        )


class PrecomputedKernel:
    """Kernel given by its values, a matrix of shape (n_objects, n_objects).

    `column` of X holds the index of each row's object, 0 to n_objects - 1. Objects of test rows are in the matrix too.
    """

    def __init__(self, matrix: Any, column: int = 0) -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(
                "A precomputed kernel is a square matrix with a row and a column for each object, train and test; "
                f"got an array of shape {self.matrix.shape}."
            )
        self.columns = (check_integer("column", column, 0),)  # for check_columns

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return np.ascontiguousarray(self.matrix[np.ix_(self._objects(X), self._objects(Y))])

    def _objects(self, X: FloatArray) -> Any:
        indices = X[:, self.columns[0]]
        if not np.isin(indices, np.arange(len(self.matrix))).all():
            wrong = indices[~np.isin(indices, np.arange(len(self.matrix)))][0]
            raise ValueError(
                f"Column {self.columns[0]} of X names the rows of a precomputed kernel, 0 to {len(self.matrix) - 1}; "
                f"got {wrong:g}."
            )
        return indices.astype(np.int64)

    def __repr__(self) -> str:
        return f"PrecomputedKernel({len(self.matrix)} objects)"


@dataclass(frozen=True)
class StandardizedKernel:
    """Named kernel on standardized columns (x - means) * scales; means and scales have shape (n_features,)."""

    kernel: NamedKernel
    means: FloatArray
    scales: FloatArray

    @property
    def columns(self) -> tuple[int, ...] | None:
        return self.kernel.columns

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        return self.kernel((X - self.means) * self.scales, (Y - self.means) * self.scales)


def standardized(kernels: Sequence[KernelFunction], means: FloatArray, scales: FloatArray) -> list[KernelFunction]:
    """Replace each NamedKernel by a StandardizedKernel; user-defined functions and matrices are unchanged.

    `means`, `scales`: shape (n_features,). A constant column has scale 0 and is not counted in gamma = 1 / n_columns.
    """
    if not means.any() and np.all(scales == 1.0):  # standardize=False
        return list(kernels)
    result: list[KernelFunction] = []
    for kernel in kernels:
        if isinstance(kernel, NamedKernel):
            used_scales = scales if kernel.columns is None else scales[list(kernel.columns)]
            gamma = kernel.gamma or 1.0 / max(1, int(np.count_nonzero(used_scales)))
            result.append(StandardizedKernel(replace(kernel, gamma=gamma), means, scales))
        else:
            result.append(kernel)
    return result


def column_kernels(n_features: int) -> list[NamedKernel]:
    """One linear kernel for each column, as a value of the parameter `kernels`."""
    return [NamedKernel("linear", columns=(column,)) for column in range(n_features)]


def read_kernels(kernels: Any) -> list[KernelFunction]:
    """Check the parameter `kernels`; names become NamedKernel, matrices PrecomputedKernel."""
    if isinstance(kernels, str) or not isinstance(kernels, Sequence) or len(kernels) == 0:
        raise TypeError(
            "kernels must be a list of at least one kernel: names (" + ", ".join(map(repr, NAMES)) + "), "
            f"NamedKernel(...), functions of two matrices, or kernel matrices; got {kernels!r}."
        )
    result: list[KernelFunction] = []
    for kernel in kernels:
        if isinstance(kernel, str):
            result.append(NamedKernel(check_choice("a kernel", kernel, NAMES)))
        elif callable(kernel):
            result.append(kernel)
        elif isinstance(kernel, np.ndarray | list):
            result.append(PrecomputedKernel(kernel))
        else:
            raise TypeError(
                "A kernel must be a name, a NamedKernel, a function of two matrices or a square matrix; "
                f"got {kernel!r}."
            )
    return result


def check_columns(kernels: Sequence[KernelFunction], n_features: int) -> None:
    """Raise ValueError if a kernel states `columns` that X does not have; plain functions state none."""
    for index, kernel in enumerate(kernels):
        for column in getattr(kernel, "columns", None) or ():
            if not 0 <= column < n_features:
                raise ValueError(
                    f"Kernel {index} looks at column {column}; X has {n_features} columns, 0 to {n_features - 1}."
                )
