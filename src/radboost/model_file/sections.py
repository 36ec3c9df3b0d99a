"""Sections of a model file, and content that all kinds of models have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from radboost.model_file.checks import require
from radboost.model_file.container import AnyArray
from radboost.model_file.errors import ModelFileError

ENSEMBLE = "ensemble/"
HISTORY = "history/"
FIT = "fit/"

Content: TypeAlias = tuple[dict[str, Any], dict[str, AnyArray]]


def section(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Arrays whose names begin with `prefix`, by names without it."""
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


def restore_course(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], columns: set[str]) -> None:
    """Put the stop reason, the history, which must have these columns, and the number of rounds into a model."""
    require(isinstance(header["stop_reason"], str), "the stop reason must be a text")
    history = read_history(arrays)
    require(set(history) == columns, "the history does not have the columns that it should have")
    require(len({len(column) for column in history.values()}) == 1, "the columns of the history have different lengths")
    model.stop_reason_, model.history_ = header["stop_reason"], history
    model.n_iter_ = max(1, *map(len, history.values()))


def read_history(arrays: Mapping[str, AnyArray]) -> dict[str, list[Any]]:
    """The columns of `history_`, from the arrays that `history_arrays` makes of them."""
    for key, array in section(HISTORY, arrays).items():
        numbers = array.ndim == 1 and array.dtype in (np.int64, np.float64)
        require(numbers, f"the column {key[:40]!r} of the history is not a list of numbers")
    return {key: array.tolist() for key, array in section(HISTORY, arrays).items()}
