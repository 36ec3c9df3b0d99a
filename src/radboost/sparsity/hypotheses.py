"""Functions of a row that boosting with structural sparsity puts weights on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from radboost._typing import FloatArray
from radboost.engine import kernel_values
from radboost.trees.tree import Tree

Names = Sequence[str] | None


@runtime_checkable
class Hypothesis(Protocol):
    """Anything with these two methods and a hash; equal ones are the same feature.

    An attribute `columns` may name the columns of X that it looks at; without, it looks at all.
    """

    def values(self, X: Any, /) -> FloatArray:
        """One number for each row of X."""

    def describe(self, names: Names, /) -> str:
        """The hypothesis in a line of text; `names` are those of the columns of X, if they have any."""


def _name(feature: int, names: Names) -> str:
    return f"x[{feature}]" if names is None else str(names[feature])


def column_of(X: Any, feature: int) -> FloatArray:
    """A column as a dense array, whatever X is."""
    if sparse.issparse(X):
        return np.asarray(X[:, [feature]].toarray().ravel(), dtype=np.float64)
    return np.asarray(X[:, feature], dtype=np.float64)


@dataclass(frozen=True)
class Column:
    """x -> x_j."""

    feature: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.feature,)

    def values(self, X: Any, /) -> FloatArray:
        return column_of(X, self.feature)

    def describe(self, names: Names, /) -> str:
        return _name(self.feature, names)


@dataclass(frozen=True)
class Product:
    """x -> the product of some columns, in ascending order; one that comes twice is squared."""

    features: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return self.features

    def values(self, X: Any, /) -> FloatArray:
        values = column_of(X, self.features[0]).copy()
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # induction leaves such products out
            for feature in self.features[1:]:
                values *= column_of(X, feature)
        return values

    def times(self, feature: int) -> Product:
        return Product(tuple(sorted((*self.features, feature))))

    def describe(self, names: Names, /) -> str:
        powers = {feature: self.features.count(feature) for feature in self.features}
        return "*".join(_name(j, names) + (f"^{power}" if power > 1 else "") for j, power in powers.items())


@dataclass(frozen=True)
class Centre:
    """x -> exp(-gamma |x - centre|^2)."""

    centre: tuple[float, ...]
    gamma: float

    def values(self, X: Any, /) -> FloatArray:
        rows = X.toarray() if sparse.issparse(X) else X
        centre = np.array([self.centre])
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        return np.asarray(kernel_values("rbf", self.gamma, centre, rows, 1), dtype=np.float64)

    def describe(self, names: Names, /) -> str:
        shown = ", ".join(f"{value:.3g}" for value in self.centre[:3])
        return f"K(x, [{shown}{', ...' if len(self.centre) > 3 else ''}])"


@dataclass(frozen=True)
class Stump:
    """x -> +1 where x_j is above the threshold, -1 elsewhere."""

    feature: int
    threshold: float

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.feature,)

    def values(self, X: Any, /) -> FloatArray:
        return np.where(column_of(X, self.feature) > self.threshold, 1.0, -1.0)

    def describe(self, names: Names, /) -> str:
        return f"[{_name(self.feature, names)} > {self.threshold:.4g}]"


class GrownTree:
    """x -> -1 or +1, by a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._key = tuple(array.tobytes() for array in tree.arrays[:5])
        self.columns = tuple(np.unique(tree.feature[tree.feature >= 0]).tolist())

    def values(self, X: Any, /) -> FloatArray:
        rows = X.toarray() if sparse.issparse(X) else X
        return np.asarray(self.tree.predict(np.ascontiguousarray(rows, dtype=np.float64)), dtype=np.float64)

    def describe(self, names: Names, /) -> str:
        first = _name(int(self.tree.feature[0]), names)
        return f"tree({self.tree.n_splits} splits, first on {first})"

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrownTree) and self._key == other._key
