"""Q(k | x), the probability that a row comes from source k: our logistic regression, or a classifier of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from radboost._blas import one_blas_thread
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.engine import evaluate_loss, hash_dense_rows, linear_rows
from radboost.model_file.checks import read_array, require
from radboost.rows.categories import Categories
from radboost.rows.sources import Ids, on_share_grid
from radboost.trees import RowBlocks

# Cells (rows x columns) up to which rows are made dense for the fit; by size alone, so that the form has no effect.
MOST_DENSE_CELLS = 2**25
MISSING = 1.2345678e300  # replaces NaN in hashes of rows
BLOCK_CELLS = 2**22  # cells of expanded rows that are processed at once
TOLERANCE = 1e-3  # largest deviation from 1 of a sum of probabilities by a user's classifier
MOST_ITERATIONS = 500  # of the logistic regression
LOGIT_VARIANCE = 10.0  # upper limit of the prior variance of a logit
LARGEST = 1e100  # columns with larger absolute values, or only with ones below its inverse, are rescaled
SMALLEST_SPREAD = 1e-12  # relative to the mean; a column with less is constant
SMALLEST = 1e-305  # columns with only smaller absolute values are ignored: their weights may be infinite


@dataclass(frozen=True)
class DomainModel:
    """Multinomial logistic regression on standardized columns, folded into one linear function of a row.

    `weights` has shape (n_expanded, n_sources). An expanded row has the columns, an indicator for each column with
    missing values, and one for each category.
    """

    weights: FloatArray
    offsets: FloatArray  # shape (n_sources,)
    instead: FloatArray  # imputed value of each column
    indicated: npt.NDArray[np.int32]  # columns whose missing values have an indicator
    categories: npt.NDArray[np.int32]  # pairs (column, number of categories), shape (n, 2)
    names: tuple[Any, ...] | None = None  # of the sources, if the model was fitted separately

    @property
    def n_sources(self) -> int:
        return len(self.offsets)

    def shares(self, X: Any, n_threads: int) -> FloatArray:
        """Q(k | x) before rounding, shape (n_rows, n_sources); a row's result does not depend on other rows."""
        if isinstance(X, RowBlocks):
            return np.concatenate([np.zeros((0, self.n_sources)), *(self.shares(rows, n_threads) for rows in X)])
        found = np.empty((X.shape[0], self.n_sources))
        height = max(1, BLOCK_CELLS // max(1, len(self.weights)))
        for first in range(0, X.shape[0], height):
            rows = X[first : first + height]
            dense = np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
            expanded = expand(dense, self.instead, self.indicated, self.categories)
            scores = linear_rows(expanded, self.weights, n_threads)
            scores = scores.reshape(-1, self.n_sources) + self.offsets
            scores -= scores.max(axis=1, keepdims=True)
            odds = evaluate_loss("exponential", np.ascontiguousarray(scores).reshape(-1))[0].reshape(scores.shape)
            total = odds[:, 0].copy()
            for column in range(1, self.n_sources):  # in this order: bit for bit the same on every machine
                total += odds[:, column]
            found[first : first + height] = odds / total[:, None]
        return found

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "domain_weights": self.weights,
            "domain_offsets": self.offsets,
            "domain_instead": self.instead,
            "domain_indicated": self.indicated.astype("<i4"),
            "domain_categories": self.categories.astype("<i4").reshape(-1),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], n_features: int, n_sources: int) -> DomainModel:
        """Inverse of `to_arrays`, with checks: the file is not trusted."""
        instead = read_array(arrays, "domain_instead", "<f8", n_features)
        indicated = read_array(arrays, "domain_indicated", "<i4")
        flat = read_array(arrays, "domain_categories", "<i4")
        require(len(flat) % 2 == 0, "the categories of the domain classifier are no pairs")
        categories = flat.reshape(-1, 2)
        columns, sizes = np.concatenate([indicated, categories[:, 0]]), categories[:, 1]
        known, few = (columns >= 0) & (columns < n_features), (sizes >= 0) & (sizes <= 255)
        require(bool(known.all()), "the domain classifier names a column that is not")
        require(bool(few.all()), "a column of the domain classifier has too many categories")
        offsets = read_array(arrays, "domain_offsets", "<f8", n_sources)
        weights = arrays.get("domain_weights")
        n_lines = n_features + len(indicated) + int(sizes.sum())
        right = weights is not None and weights.dtype == np.dtype("<f8") and weights.shape == (n_lines, n_sources)
        require(right, "the weights of the domain classifier do not fit the columns and sources")
        assert weights is not None
        finite = all(np.isfinite(array).all() for array in (weights, offsets, instead))
        require(finite, "a weight of the domain classifier is no finite number")
        return cls(np.ascontiguousarray(weights), offsets.copy(), instead.copy(), indicated.copy(), categories.copy())


def fit_domains(X: Any, ids: Ids, weights: FloatArray | None, categories: Categories, n_sources: int) -> DomainModel:
    """Fit Q(k | x) on distinct rows sorted by content: independent of form, order and copies of the rows."""
    rows, ids, weights = canonical(X, ids, weights)
    places = sorted(column for column, known in categories.items() if known)
    sizes = np.array([(column, len(categories[column])) for column in places], dtype=np.int32).reshape(-1, 2)
    if rows.shape[0] * rows.shape[1] > MOST_DENSE_CELLS:
        return _fit_sparse(rows, ids, weights, sizes, n_sources)
    matrix = rows.toarray() if sparse.issparse(rows) else rows
    missing = np.isnan(matrix)
    indicated = np.array([j for j in np.flatnonzero(missing.any(axis=0)) if j not in categories], dtype=np.int32)
    total = weights.sum()
    numbers = np.where(missing, 0.0, matrix)
    known_weight = np.maximum(weights @ ~missing, np.finfo(float).tiny)
    instead = np.where(np.isin(np.arange(matrix.shape[1]), places), 0.0, (weights @ numbers) / known_weight)
    expanded = expand(matrix, instead, indicated, sizes)
    # Columns whose squares would overflow or underflow are divided by their largest absolute value.
    largest = np.abs(expanded).max(axis=0)
    unit = np.where((largest > LARGEST) | ((largest > 0) & (largest < 1.0 / LARGEST)), largest, 1.0)
    expanded = expanded / unit
    means = (weights @ expanded) / total
    spread = np.sqrt((weights @ (expanded - means) ** 2) / total)
    useful = (spread > SMALLEST_SPREAD * np.maximum(1.0, np.abs(means))) & (unit > SMALLEST)
    scale = np.where(useful, spread, 1.0)
    coefficients, offsets = _regression((expanded - means)[:, useful] / scale[useful], ids, weights, n_sources)
    lines = np.zeros((expanded.shape[1], n_sources))
    lines[useful] = coefficients.T / scale[useful, None]
    return DomainModel(lines / unit[:, None], offsets - means @ lines, instead, indicated, sizes)


def _fit_sparse(
    rows: Any, ids: Ids, weights: FloatArray, categories: npt.NDArray[np.int32], n_sources: int
) -> DomainModel:
    """Fit on sparse rows without centering, for which the offsets compensate; a missing value counts as 0."""
    matrix = sparse.csr_matrix(rows)
    matrix.data = np.nan_to_num(matrix.data, nan=0.0)
    if len(categories):
        numbers = np.ones(matrix.shape[1])
        numbers[categories[:, 0]] = 0.0
        codes = rows[:, categories[:, 0]]
        indicators = [sparse.csr_matrix(codes[:, [k]] == np.arange(n)) for k, n in enumerate(categories[:, 1])]
        matrix = sparse.hstack([matrix @ sparse.diags(numbers), *indicators], format="csr")
    total = weights.sum()
    means = np.asarray(weights @ matrix).reshape(-1) / total
    squares = np.asarray(weights @ matrix.multiply(matrix)).reshape(-1) / total
    spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    scale = np.where(spread > SMALLEST_SPREAD, spread, 1.0)
    coefficients, offsets = _regression(matrix @ sparse.diags(1.0 / scale), ids, weights, n_sources)
    coefficients[:, spread <= SMALLEST_SPREAD] = 0.0
    lines, instead = np.ascontiguousarray((coefficients / scale).T), np.zeros(rows.shape[1])
    return DomainModel(lines, offsets, instead, np.zeros(0, dtype=np.int32), categories)


def _regression(Z: Any, ids: Ids, weights: FloatArray, n_sources: int) -> tuple[FloatArray, FloatArray]:
    """Coefficients, shape (n_sources, n_columns), and offsets, shape (n_sources,)."""
    if Z.shape[1] == 0:  # no useful column: the frequencies of the sources
        shares = np.bincount(ids, weights, minlength=n_sources) / weights.sum()
        return np.zeros((n_sources, 0)), np.log(shares)
    from sklearn.linear_model import LogisticRegression  # slow to import

    model = LogisticRegression(C=prior_variance(Z.shape[1]), max_iter=MOST_ITERATIONS)
    with one_blas_thread:  # sums in BLAS depend on the number of threads
        model.fit(Z, ids, sample_weight=weights)
    if n_sources == 2:  # one function, of the second source
        return np.vstack([np.zeros_like(model.coef_), model.coef_]), np.array([0.0, float(model.intercept_[0])])
    return model.coef_.copy(), model.intercept_.copy()


def prior_variance(n_columns: int) -> float:
    """Prior variance of a coefficient of a standardized column: that of the logits is at most `LOGIT_VARIANCE`."""
    return min(1.0, LOGIT_VARIANCE / max(1, n_columns))


def canonical(X: Any, ids: Ids, weights: FloatArray | None) -> tuple[Any, Ids, FloatArray]:
    """Distinct pairs of a row and a source, sorted by content: rows, source ids and sums of weights."""
    counts = np.ones(len(ids)) if weights is None else weights
    hashes = hashes_of(X)
    order = np.lexsort((counts, ids, hashes))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (hashes[order][1:] != hashes[order][:-1]) | (ids[order][1:] != ids[order][:-1])
    firsts = np.flatnonzero(new)
    chosen = order[firsts]
    rows = X[chosen]
    return (
        (rows if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64)),
        ids[chosen],
        np.add.reduceat(counts[order], firsts),
    )


def hashes_of(X: Any) -> npt.NDArray[np.uint64]:
    """Hash of each row's values, equal for dense and sparse rows; uint64, shape (n_rows,)."""
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    height = max(1, BLOCK_CELLS // max(1, X.shape[1]))
    for first in range(0, X.shape[0], height):
        block = X[first : first + height]
        values = np.array(block.toarray() if sparse.issparse(block) else block, dtype=np.float64)
        values[np.isnan(values)] = MISSING
        hashes[first : first + height] = hash_dense_rows(values + 0.0, 0, 1)
    return hashes


def expand(
    matrix: FloatArray, instead: FloatArray, indicated: npt.NDArray[np.int32], categories: npt.NDArray[np.int32]
) -> FloatArray:
    """Expanded rows: imputed columns, indicators of missing values, and one indicator for each category."""
    missing = np.isnan(matrix)
    values = np.where(missing, instead, matrix)
    parts = [values, missing[:, indicated].astype(np.float64)]
    for column, n_categories in categories.tolist():
        parts.append((matrix[:, column, None] == np.arange(n_categories)).astype(np.float64))
        values[:, column] = 0.0
    return np.ascontiguousarray(np.hstack(parts))


def fit_own_classifier(classifier: Any, X: Any, sources: npt.NDArray[Any], weights: FloatArray | None) -> Any:
    """The user's classifier, cloned and fitted on the rows as given."""
    fitted = clone(classifier)
    named = {} if weights is None or not has_fit_parameter(fitted, "sample_weight") else {"sample_weight": weights}
    try:
        return fitted.fit(X, sources, **named)
    except Exception as error:
        raise ValueError(
            f"domain_classifier={classifier!r} could not be fitted to tell the sources apart: {error}"
        ) from error


def check_classifier(classifier: Any) -> None:
    """Raise a TypeError for objects that cannot predict sources, before data are read."""
    if isinstance(classifier, DomainModel):
        return
    if isinstance(classifier, type) or not hasattr(classifier, "fit") or not hasattr(classifier, "predict_proba"):
        raise TypeError(
            "domain_classifier must be a classifier with fit and predict_proba, FrozenEstimator(fitted one), or None; "
            f"got {classifier!r}."
        )


def check_fitting(domain: Any, n_features: int, names: npt.NDArray[Any]) -> None:
    """Raise ValueError for a `DomainModel` of another number of columns or sources."""
    if isinstance(domain, DomainModel) and (len(domain.instead), domain.n_sources) != (n_features, len(names)):
        raise ValueError(
            f"domain_classifier is a model of {domain.n_sources} sources on {len(domain.instead)} columns; here are "
            f"{len(names)} sources ({listed(names.tolist())}) and {n_features} columns."
        )


def stacked(tables: Sequence[Any]) -> Any:
    """Concatenated rows of tables of equal type; a single one as it is."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if sparse.issparse(first):
        return sparse.vstack(tables, format="csr")
    if type(first).__module__.partition(".")[0] == "pandas":
        import pandas as pd

        return pd.concat(tables, ignore_index=True)
    if hasattr(first, "vstack"):  # polars
        return reduce(lambda rows, more: rows.vstack(more), tables)
    return np.vstack([np.asarray(table) for table in tables])


def probabilities_of(
    domain: Any, matrix: Any, given: Iterable[Any], names: npt.NDArray[Any], n_classes: int, n_threads: int
) -> FloatArray:
    """Q(k | x) on its grid, shape (n_rows, n_sources); `given`: the same rows in parts, as the user passed them.

    `domain`: a `DomainModel`, a user-defined classifier, or None if there is one source.
    """
    if domain is None:
        return np.ones((matrix.shape[0], 1))
    if isinstance(domain, DomainModel):
        shares = domain.shares(matrix, n_threads)
    else:
        of_parts = [shares_of_own(domain, rows, names) for rows in given]
        shares = np.concatenate([np.zeros((0, len(names))), *of_parts])
    return on_share_grid(shares, n_classes)


def shares_of_own(classifier: Any, X: Any, names: npt.NDArray[Any]) -> FloatArray:
    """Checked Q(k | x) of a user's classifier, shape (n_rows, n_sources), columns in the order of `names`."""
    try:
        found = np.asarray(classifier.predict_proba(X), dtype=np.float64)
    except Exception as error:
        raise ValueError(f"domain_classifier={classifier!r} failed to predict the sources: {error}") from error
    known = np.asarray(getattr(classifier, "classes_", names))
    if found.ndim != 2 or found.shape[1] != len(known):
        raise ValueError(
            f"domain_classifier.predict_proba returned the shape {found.shape}, and it knows {len(known)} sources; a "
            "column for each of them is needed."
        )
    lacking = [name for name in names.tolist() if name not in known.tolist()]
    if lacking:
        raise ValueError(
            f"domain_classifier does not know the source {lacking[0]!r}: its classes are {listed(known.tolist())}. Fit "
            "it on rows of all sources."
        )
    if not np.isfinite(found).all() or (found < 0).any() or (np.abs(found.sum(axis=1) - 1.0) > TOLERANCE).any():
        sums = found.sum(axis=1)
        raise ValueError(
            "domain_classifier.predict_proba must return probabilities, not negative and with a sum of 1 in each row; "
            f"the sums go from {np.nanmin(sums):g} to {np.nanmax(sums):g}, the least is {np.nanmin(found):g}."
        )
    return np.ascontiguousarray(found[:, [known.tolist().index(name) for name in names.tolist()]])
