"""Columns of X and products of columns: hypotheses of the sparse models, and generators that propose them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from radboost._typing import FloatArray
from radboost._validation import check_integer
from radboost.families.base import Hypothesis
from radboost.families.exported import WeightedProduct
from radboost.families.generators import Generator, LastLook, Proposing, Training
from radboost.families.kinds import Arrays, Kind, Names, Shape, Stored, read_features
from radboost.model_file.checks import read_array, require

# `Products.last_look` proposes at most this many products of two columns, and this many values (products x rows), which
# are computed in blocks and not kept.
MOST_PAIRS, MOST_PAIR_VALUES = 2**18, 2**28
COLUMNS_AT_ONCE = 64  # columns of X that are made dense at a time


def name_of(feature: int, names: Names) -> str:
    return f"x[{feature}]" if names is None else str(names[feature])


def column_of(X: Any, feature: int) -> FloatArray:
    """A column of a dense or sparse X as a dense array, shape (n_rows,)."""
    if sparse.issparse(X):
        return np.asarray(X[:, [feature]].toarray().ravel(), dtype=np.float64)
    return np.asarray(X[:, feature], dtype=np.float64)


@dataclass(frozen=True)
class Column(Hypothesis):
    """One column of X: x -> x_j."""

    feature: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.feature,)

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        return column_of(X, self.feature)

    def describe(self, names: Names, /) -> str:
        return name_of(self.feature, names)


@dataclass(frozen=True)
class Product(Hypothesis):
    """Product of columns; `features` ascend, and a column that occurs twice is squared."""

    features: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return self.features

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        values = column_of(X, self.features[0]).copy()
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # see `Kind.overflows`
            for feature in self.features[1:]:
                values *= column_of(X, feature)
        return values

    def times(self, feature: int) -> Product:
        return Product(tuple(sorted((*self.features, feature))))

    def describe(self, names: Names, /) -> str:
        powers = {feature: self.features.count(feature) for feature in self.features}
        return "*".join(name_of(j, names) + (f"^{power}" if power > 1 else "") for j, power in powers.items())


class ColumnKind(Kind[Column], of=Column, code=0):
    def add_outer(self, hypotheses: Sequence[Column], weights: FloatArray, X: Any, scores: FloatArray) -> None:
        """Add all columns as one product of matrices."""
        scores += np.asarray(X[:, [column.feature for column in hypotheses]] @ weights)

    def sparse_part(self, hypothesis: Column, weights: FloatArray, n_features: int) -> WeightedProduct:
        return WeightedProduct((hypothesis.feature,), weights)

    def write(self, hypotheses: Sequence[Column], n_features: int) -> Stored:
        return Stored(arrays={"columns": np.array([column.feature for column in hypotheses], dtype="<i4")})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[Column]:
        return [Column(feature) for feature in read_features(arrays, "columns", shape, n)]


class ProductKind(Kind[Product], of=Product, code=1):
    overflows = True

    def values(self, hypotheses: Sequence[Product], X: Any) -> FloatArray:
        """Values of products; each column of a sparse X is made dense once for all of them."""
        if not sparse.issparse(X):
            return super().values(hypotheses, X)
        features = sorted({feature for product in hypotheses for feature in product.features})
        indices = {feature: index for index, feature in enumerate(features)}
        rows = X[:, features].toarray(order="F")
        renumbered = [Product(tuple(indices[feature] for feature in product.features)) for product in hypotheses]
        return super().values(renumbered, rows)

    def sparse_part(self, hypothesis: Product, weights: FloatArray, n_features: int) -> WeightedProduct:
        return WeightedProduct(hypothesis.features, weights)

    def write(self, hypotheses: Sequence[Product], n_features: int) -> Stored:
        factors = [feature for product in hypotheses for feature in product.features]
        lengths = np.array([len(product.features) for product in hypotheses], dtype="<i8")
        return Stored(arrays={"product_lengths": lengths, "product_columns": np.array(factors, dtype="<i4")})

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[Product]:
        lengths = read_array(arrays, "product_lengths", "<i8", n)
        require(shape.n_outputs == 1 or n == 0, "products are for one score per row")
        factors = read_features(arrays, "product_columns", Shape(shape.n_features))
        require(bool(((lengths >= 1) & (lengths <= len(factors))).all()), "a product has an impossible length")
        require(int(lengths.sum()) == len(factors), "the lengths of the products do not add up")
        ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        products = [Product(tuple(factors[begin:end])) for begin, end in pairwise(ends)]
        ascending = all(list(product.features) == sorted(product.features) for product in products)
        require(ascending, "the columns of a product are not in ascending order")
        return products


@dataclass(frozen=True)
class GivenColumns(Generator, name="given"):
    """Generator of the columns themselves, all of them in every round."""

    finite = True

    def start(self, training: Training) -> Proposing:
        columns = [Column(feature) for feature in range(training.X.shape[1])]
        return lambda members, residual: columns

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        return LastLook(None)  # all columns were candidates


@dataclass(frozen=True)
class Products(Generator, name="products"):
    """Generator of products of columns: each column, and each product in the model times each column.

    Duchi and Singer (2009), section 10.

    If none of these candidates lowers the objective, all products of two columns are tried: for an exclusive or, only
    the product of its two columns helps. With more of them than `MOST_PAIRS` or `MOST_PAIR_VALUES`, only the columns
    with the steepest slopes are multiplied. A product of three or more columns is tried only when a product of all but
    one of them is in the model.
    """

    max_degree: int | None = None  # columns in a product, repeats included; None: any number

    def validate(self) -> None:
        if self.max_degree is not None:
            check_integer("max_degree", self.max_degree, 1)

    def start(self, training: Training) -> Proposing:
        self.validate()
        longest = np.inf if self.max_degree is None else self.max_degree
        features = range(training.X.shape[1])
        columns = [Product((feature,)) for feature in features]

        def propose(members: Sequence[Any], residual: FloatArray) -> list[Any]:
            extensible = [m for m in members if isinstance(m, Product) and len(m.features) < longest]
            longer = {member.times(feature) for member in extensible for feature in features}
            return [
                *columns,
                *sorted(longer - set(columns), key=lambda product: (len(product.features), product.features)),
            ]

        return propose

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        """Propose all products of two columns, or products of as many columns as the limits allow."""
        m, d = training.X.shape
        if self.max_degree == 1:
            return LastLook("columns")
        n_pairs = max(1, min(MOST_PAIRS, MOST_PAIR_VALUES // max(1, m)))
        most = (math.isqrt(8 * n_pairs + 1) - 1) // 2  # largest n with n (n + 1) / 2 <= n_pairs, squares included
        features, restriction = list(range(d)), ""
        if d > most:
            features = sorted(np.argsort(-_slopes_by_column(training, residual), kind="stable")[:most].tolist())
            restriction = f" ({most} of the {d} columns)"
        longer = "" if self.max_degree == 2 and not restriction else ", products in the model times a column"
        pairs = (Product(pair) for pair in combinations_with_replacement(features, 2))
        return LastLook(f"columns{longer} and products of two columns{restriction}", pairs)


def _slopes_by_column(training: Training, residual: FloatArray) -> FloatArray:
    """Absolute slope of the loss along each standardized column, summed over outputs; `residual`: see `Proposing`."""
    d = training.X.shape[1]
    result = np.zeros(d)
    for begin in range(0, d, COLUMNS_AT_ONCE):
        block = training.X[:, begin : begin + COLUMNS_AT_ONCE]
        columns = (block.toarray() if sparse.issparse(block) else block).T
        means = (columns * training.row_weights).sum(axis=1)
        centred = columns - means[:, None]
        spread = np.sqrt((centred**2 * training.row_weights).sum(axis=1))
        slopes = sum(np.abs((centred * by_row).sum(axis=1)) for by_row in residual)
        result[begin : begin + COLUMNS_AT_ONCE] = np.divide(
            slopes, spread, out=np.zeros_like(spread), where=spread > 0.0
        )
    return result
