"""The sections of a model file, and what all kinds of models do with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from radboost.model_file.container import AnyArray
from radboost.model_file.errors import ModelFileError

ENSEMBLE = "ensemble/"
HISTORY = "history/"
FIT = "fit/"

Content: TypeAlias = tuple[dict[str, Any], dict[str, AnyArray]]


def section(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The arrays whose names begin like that, without the beginning."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def json_array(value: Any) -> AnyArray:
    """Array of the bytes of a value as JSON."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def read_json_array(arrays: Mapping[str, AnyArray], name: str) -> Any:
    """Value of `json_array`; None where there is no such array."""
    text = arrays.get(name, np.zeros(0))
    return json.loads(text.tobytes()) if text.dtype == np.uint8 else None


def history_arrays(history: Mapping[str, list[Any]]) -> dict[str, AnyArray]:
    """The columns of `history_`, as whole numbers where all items are."""
    arrays = {}
    for key, items in history.items():
        whole = all(isinstance(item, int | np.integer) for item in items)
        array = np.array(items, dtype=np.int64 if whole else np.float64)
        if array.ndim != 1:
            raise ModelFileError(f"history_[{key!r}] must be a list of numbers to be saved.")
        arrays[HISTORY + key] = array
    return arrays


def read_history(arrays: Mapping[str, AnyArray]) -> dict[str, list[Any]]:
    """The columns of `history_`, from the arrays that `history_arrays` makes of them."""
    for key, array in section(HISTORY, arrays).items():
        if array.ndim != 1 or array.dtype not in (np.int64, np.float64):
            raise ModelFileError(f"the column {key[:40]!r} of the history is not a list of numbers.")
    return {key: array.tolist() for key, array in section(HISTORY, arrays).items()}
