"""Dask's arrays, data frames and lists of delayed parts, taken apart into partitions."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from radboost.distributed.parts import Part

FORMS = "a Dask array, a Dask data frame, or a list of delayed parts"


def need_dask() -> None:
    """Says which extra is missing."""
    try:
        for module in ("dask.array", "distributed"):
            import_module(module)
    except ImportError as error:
        raise ImportError(
            "radboost.distributed needs Dask: install the extra, pip install 'radboost[dask]'."
        ) from error


def delayed_parts(X: Any, y: Any, sample_weight: Any = None, sources: Any = None) -> list[Any]:
    """The partitions of rows, labels, weights and sources together, as delayed `Part`s."""
    from dask import delayed

    rows = _pieces("X", X)
    beside = {"y": y, "sample_weight": sample_weight, "sources": sources}
    pieces_of = {name: _pieces(name, _aligned(name, given, X)) for name, given in beside.items() if given is not None}
    for name, pieces in pieces_of.items():
        if len(pieces) != len(rows):
            raise ValueError(
                f"X has {len(rows)} partitions and {name} has {len(pieces)}; they must be divided alike. Divide both "
                "in the same way, for example with repartition or rechunk."
            )
    make = delayed(_make_part, pure=False)
    return [
        make(X=piece, **{name: pieces[place] for name, pieces in pieces_of.items()}) for place, piece in enumerate(rows)
    ]


def _make_part(X: Any, **beside: Any) -> Part:
    n_rows = Part(X, None).n_rows
    for name, given in beside.items():
        if len(given) != n_rows:
            raise ValueError(f"A partition of X has {n_rows} rows, and the one of {name} beside it has {len(given)}.")
    return Part(X, **beside)


def is_array(given: Any) -> bool:
    """Whether this is a Dask array."""
    return type(given).__module__.startswith("dask.array")


def is_frame(given: Any) -> bool:
    """Whether this is a data frame or a series of Dask's."""
    return type(given).__module__.startswith(("dask.dataframe", "dask_expr"))


def _pieces(name: str, given: Any) -> list[Any]:
    if is_array(given):
        if given.ndim == 2 and given.numblocks[1] > 1:
            given = given.rechunk({1: -1})
        return list(given.to_delayed().ravel())
    if is_frame(given):
        return list(given.to_delayed())
    if isinstance(given, list | tuple) and given and all(hasattr(piece, "key") for piece in given):
        return list(given)
    raise TypeError(
        f"{name} must be {FORMS}{', or name Parquet files' if name == 'X' else ''}; got {type(given).__name__}. For "
        "rows in memory call fit of the estimator itself, or make a Dask collection of them: "
        "dask.array.from_array(X, chunks=...)."
    )


def _aligned(name: str, given: Any, X: Any) -> Any:
    """An array in chunks like those of X, where the sizes of both are known."""
    if not (is_array(given) and is_array(X)):
        return given
    sizes = X.chunks[0]
    if given.shape[:1] != X.shape[:1] and not math.isnan(given.shape[0]) and not math.isnan(X.shape[0]):
        raise ValueError(f"X has {X.shape[0]} rows, and {name} has {given.shape[0]}.")
    if any(map(math.isnan, sizes)) or any(map(math.isnan, given.chunks[0])):
        return given
    return given.rechunk({0: sizes})
