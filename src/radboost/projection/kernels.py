"""Base kernels: by name, as functions of two matrices, or as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_real
from radboost.model_file import storable_value


class Kernel(Protocol):
    """A function of two matrices of rows: a line for each row of the first, a column for each of the second."""

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray: ...


@storable_value
@dataclass(frozen=True)
class NamedKernel:
    """A kernel of scikit-learn on some of the columns.

    Parameters
    ----------
    name : {"linear", "polynomial", "rbf", "laplacian"}
        x.y, (gamma x.y + 1)^degree, exp(-gamma |x - y|^2), exp(-gamma |x - y|_1).
    gamma : float or None
        None for 1 / the number of columns.
    degree : int
        Of "polynomial".
    columns : tuple of int or None
        The columns that it looks at; None for all.
    """

    name: str = "rbf"
    gamma: float | None = None
    degree: int = 2
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_choice("name", self.name, tuple(FUNCTIONS))
        if self.gamma is not None:
            check_real("gamma", self.gamma, low=0.0, open_low=True)
        check_integer("degree", self.degree, 1, 20)

    def __call__(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        if self.columns is not None:
            X, Y = X[:, self.columns], Y[:, self.columns]
        pairwise = import_module("sklearn.metrics.pairwise")
        return np.asarray(FUNCTIONS[self.name](pairwise, self, X, Y), dtype=np.float64)


# Of scikit-learn's module of kernels, which is loaded when one is evaluated: much comes with it.
FUNCTIONS: dict[str, Callable[[Any, NamedKernel, FloatArray, FloatArray], Any]] = {
    "linear": lambda of, _, X, Y: of.linear_kernel(X, Y),
    "polynomial": lambda of, kernel, X, Y: of.polynomial_kernel(X, Y, kernel.degree, kernel.gamma, 1.0),
    "rbf": lambda of, kernel, X, Y: of.rbf_kernel(X, Y, kernel.gamma),
    "laplacian": lambda of, kernel, X, Y: of.laplacian_kernel(X, Y, kernel.gamma),
}


def column_kernels(n_features: int) -> list[NamedKernel]:
    """A linear kernel for each column."""
    return [NamedKernel("linear", columns=(column,)) for column in range(n_features)]


def read_kernels(kernels: Any) -> list[Kernel]:
    """Names and functions as kernels."""
    if isinstance(kernels, str) or not isinstance(kernels, Sequence) or len(kernels) == 0:
        raise TypeError(
            "kernels must be a list of at least one kernel: names (" + ", ".join(map(repr, FUNCTIONS)) + "), "
            f"NamedKernel(...), or functions of two matrices; got {kernels!r}."
        )
    found: list[Kernel] = []
    for kernel in kernels:
        if isinstance(kernel, str):
            found.append(NamedKernel(check_choice("a kernel", kernel, tuple(FUNCTIONS))))
        elif callable(kernel):
            found.append(kernel)
        else:
            raise TypeError(f"A kernel must be a name, a NamedKernel or a function of two matrices; got {kernel!r}.")
    return found


def check_columns(kernels: Sequence[Kernel], n_features: int) -> None:
    """Refuses kernels that look at columns which are not there."""
    for number, kernel in enumerate(kernels):
        for column in (kernel.columns or ()) if isinstance(kernel, NamedKernel) else ():
            if not 0 <= column < n_features:
                raise ValueError(
                    f"Kernel {number} looks at column {column}; X has {n_features} columns, 0 to {n_features - 1}."
                )
