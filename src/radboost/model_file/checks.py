"""Checked reading of numbers, names and arrays from untrusted model files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST_COUNT = 2**40


def require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def read_integer(header: Mapping[str, Any], name: str, low: int, high: int = LARGEST_COUNT) -> int:
    value = header.get(name)
    require(
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
        f"{name} is {str(value)[:40]!r}, not an integer from {low} to {high}",
    )
    return int(value)  # type: ignore[arg-type]


def read_array(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: str | np.dtype[Any], length: int | None = None
) -> npt.NDArray[Any]:
    require(name in arrays, f"the array {name!r} is missing")
    array = arrays[name]
    require(array.dtype == np.dtype(dtype), f"the array {name!r} has the type {array.dtype}, not {np.dtype(dtype)}")
    require(array.ndim == 1, f"the array {name!r} is not one-dimensional")
    require(length is None or len(array) == length, f"the array {name!r} has {len(array)} entries, not {length}")
    if array.dtype.kind == "f":
        require(not np.isnan(array).any(), f"the array {name!r} holds NaN")
    return array


def read_names(header: Mapping[str, Any], n_features: int) -> list[str] | None:
    """The names of the columns, if they have any."""
    names = header.get("feature_names")
    require(
        names is None
        or (isinstance(names, list) and len(names) == n_features and all(isinstance(n, str) for n in names)),
        "the feature names do not fit the number of features",
    )
    return names
