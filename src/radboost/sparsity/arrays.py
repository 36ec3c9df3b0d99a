"""A sparse ensemble as arrays, and back from arrays that nobody vouches for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.model_file.checks import read_array, require
from radboost.sparsity.hypotheses import Centre, Column, GrownTree, Hypothesis, Product, Stump
from radboost.trees.arrays import read_trees, write_trees

# What the entries of the array `kinds` mean.
KINDS: tuple[type[Any], ...] = (Column, Product, Centre, Stump, GrownTree)
LARGEST_WEIGHT = 2.0**512  # no sum of these is infinite

Arrays = dict[str, npt.NDArray[Any]]


def write_hypotheses(hypotheses: Sequence[Hypothesis], n_features: int) -> Arrays:
    """Their kinds in their order, and for each kind what they consist of."""
    own = [hypothesis for hypothesis in hypotheses if type(hypothesis) not in KINDS]
    if own:
        raise ValueError(
            f"it has hypotheses of your own ({type(own[0]).__name__}), which a model file does not store; pickle "
            "keeps any object."
        )
    of_kind: list[list[Any]] = [[h for h in hypotheses if type(h) is kind] for kind in KINDS]
    columns, products, centres, stumps, trees = of_kind
    factors = [feature for product in products for feature in product.features]
    return {
        "kinds": np.array([KINDS.index(type(hypothesis)) for hypothesis in hypotheses], dtype="<u1"),
        "columns": np.array([column.feature for column in columns], dtype="<i4"),
        "product_lengths": np.array([len(product.features) for product in products], dtype="<i8"),
        "product_columns": np.array(factors, dtype="<i4"),
        "centres": np.array([centre.centre for centre in centres], dtype="<f8").reshape(-1, n_features),
        "gammas": np.array([centre.gamma for centre in centres], dtype="<f8"),
        "stump_columns": np.array([stump.feature for stump in stumps], dtype="<i4"),
        "stump_thresholds": np.array([stump.threshold for stump in stumps], dtype="<f8"),
        **write_trees([grown.tree for grown in trees]),
    }


def read_weighted(
    arrays: Mapping[str, npt.NDArray[Any]], n_features: int
) -> tuple[list[Hypothesis], FloatArray, FloatArray]:
    """Hypotheses, their weights and the intercepts."""
    hypotheses = _read_hypotheses(arrays, n_features)
    intercept = _finite(read_array(arrays, "intercept", "<f8"), "an intercept")
    require(len(intercept) > 0, "there is no intercept")
    require("weights" in arrays, "the array 'weights' is missing")
    weights = arrays["weights"]
    fits = weights.dtype == np.dtype("<f8") and weights.shape == (len(hypotheses), len(intercept))
    require(fits, "the weights do not fit the hypotheses and the intercepts")
    return hypotheses, _finite(weights, "a weight"), intercept


def _finite(values: npt.NDArray[Any], name: str) -> FloatArray:
    require(bool((np.abs(values) <= LARGEST_WEIGHT).all()), f"{name} is infinite or absurdly large")
    return values


def _read_hypotheses(arrays: Mapping[str, npt.NDArray[Any]], n_features: int) -> list[Hypothesis]:
    kinds = read_array(arrays, "kinds", "<u1")
    require(bool((kinds < len(KINDS)).all()), "a hypothesis is of an unknown kind")
    n_columns, n_products, n_centres, n_stumps, n_trees = np.bincount(kinds, minlength=len(KINDS)).tolist()
    trees = read_trees(arrays, n_features, 1, n_trees, {}, real=False)
    thresholds = read_array(arrays, "stump_thresholds", "<f8", n_stumps)
    stumps = zip(_features(arrays, "stump_columns", n_features, n_stumps), thresholds.tolist(), strict=True)
    of_kind: list[Any] = [
        iter([Column(feature) for feature in _features(arrays, "columns", n_features, n_columns)]),
        iter(_read_products(arrays, n_features, n_products)),
        iter(_read_centres(arrays, n_features, n_centres)),
        iter([Stump(*stump) for stump in stumps]),
        iter([GrownTree(tree) for tree in trees]),
    ]
    hypotheses = [next(of_kind[kind]) for kind in kinds]
    require(len(set(hypotheses)) == len(hypotheses), "two hypotheses are equal")
    return hypotheses


def _features(arrays: Mapping[str, npt.NDArray[Any]], name: str, n_features: int, n: int | None = None) -> list[int]:
    features = read_array(arrays, name, "<i4", n)
    require(bool(((features >= 0) & (features < n_features)).all()), f"the array {name!r} names a column that is not")
    return features.tolist()  # type: ignore[no-any-return]


def _read_products(arrays: Mapping[str, npt.NDArray[Any]], n_features: int, n_products: int) -> list[Product]:
    lengths = read_array(arrays, "product_lengths", "<i8", n_products)
    factors = _features(arrays, "product_columns", n_features)
    require(bool(((lengths >= 1) & (lengths <= len(factors))).all()), "a product has an impossible length")
    require(int(lengths.sum()) == len(factors), "the lengths of the products do not add up")
    ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    products = [Product(tuple(factors[begin:end])) for begin, end in pairwise(ends)]
    ascending = all(list(product.features) == sorted(product.features) for product in products)
    require(ascending, "the columns of a product are not in ascending order")
    return products


def _read_centres(arrays: Mapping[str, npt.NDArray[Any]], n_features: int, n_centres: int) -> list[Centre]:
    gammas = read_array(arrays, "gammas", "<f8", n_centres)
    require(bool((np.isfinite(gammas) & (gammas > 0.0)).all()), "a gamma is not a positive number")
    require("centres" in arrays, "the array 'centres' is missing")
    centres = arrays["centres"]
    fits = centres.dtype == np.dtype("<f8") and centres.shape == (n_centres, n_features)
    require(fits and bool(np.isfinite(centres).all()), "the centres do not fit")
    return [Centre(tuple(row), gamma) for row, gamma in zip(centres.tolist(), gammas.tolist(), strict=True)]
