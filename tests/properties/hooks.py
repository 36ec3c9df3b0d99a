"""Sources for tests that know of rows alone."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from sklearn.base import _clone_parametrized

from radboost._tables import known_form


def with_sources(model: Any) -> Any:
    """Adds sources to every call of `fit`, also of clones, copies and pickles: the tests know of rows alone."""
    model.fit = functools.partial(_fit_with_sources, model)
    model.__sklearn_clone__ = functools.partial(_clone_with_sources, model)
    return model


def _fit_with_sources(model: Any, X: Any, *rest: Any, **more: Any) -> Any:
    given = {"sources_val": sources_of(more["X_val"])} if more.get("X_val") is not None else {}
    return type(model).fit(model, X, *rest, sources=sources_of(X), **given, **more)


def _clone_with_sources(model: Any) -> Any:
    return with_sources(_clone_parametrized(model))


def sources_of(X: Any) -> np.ndarray | None:
    """Rows by the sign of their first cell: so sources follow rows wherever they go, and in any form. None, one source,
    for what is refused: damaged matrices, lazy frames, no rows or columns."""
    try:
        if scipy.sparse.issparse(X):
            first = known_form(X).tocsr()[:, 0:1].toarray()[:, 0]
        elif hasattr(X, "column_names"):
            first = X.column(0).to_pandas()
        elif isinstance(X, pl.DataFrame):
            first = X.to_series(0).to_pandas()
        else:
            first = X.iloc[:, 0] if isinstance(X, pd.DataFrame) else np.asarray(X)[:, 0]
        cells = pd.Series(first)
        numbers = pd.to_numeric(cells, errors="coerce") if cells.dtype.kind in "biufO" else cells.astype(str).str.len()
        return np.where(numbers.to_numpy(dtype=float, na_value=np.nan) > 0.0, "east", "west")
    except (IndexError, ValueError, TypeError, AttributeError, OverflowError):
        return None
