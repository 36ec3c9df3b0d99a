"""A model as one dict that JSON can write, with the content of its model file (``docs/exporting.md``)."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from radboost.model_file.container import (
    DTYPES,
    FORMAT_VERSION,
    MAX_DIMENSIONS,
    MAX_NAME_LENGTH,
    AnyArray,
    canonical_json,
)
from radboost.model_file.errors import ModelFileError
from radboost.model_file.models import content_of, restored

KIND = "RadBoost model"
_KEYS = {"kind", "format", "content", "arrays"}
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # numbers that JSON lacks


def to_plain(estimator: Any) -> dict[str, Any]:
    """A fitted estimator as dicts, lists, text, finite numbers, booleans and None: what its model file keeps."""
    header, arrays = content_of(estimator)
    return {
        "kind": KIND,
        "format": FORMAT_VERSION,
        "content": json.loads(canonical_json(dict(header))),
        "arrays": [_write_array(name, np.asarray(array)) for name, array in arrays.items()],
    }


def from_plain(data: Any, name: str) -> Any:
    """The estimator of that class that `to_plain` made the dict of; runs no code of it and leaves it unchanged."""
    if not isinstance(data, dict) or set(data) != _KEYS or data["kind"] != KIND:
        raise ModelFileError(
            f"A RadBoost model as a dict has the entries {', '.join(sorted(_KEYS))}, and its kind is {KIND!r}; got "
            f"{_shown(data)}. to_dict() makes such a dict."
        )
    if type(data["format"]) is not int or not 1 <= data["format"] <= FORMAT_VERSION:
        raise ModelFileError(
            f"The dict has the format {_shown(data['format'])}, and this version of RadBoost reads formats 1 to "
            f"{FORMAT_VERSION}; upgrade radboost to read it."
        )
    if not isinstance(data["content"], dict) or not isinstance(data["arrays"], list):
        raise ModelFileError("The content of a model as a dict must be a dict, and its arrays a list.")
    header = json.loads(canonical_json(data["content"]))  # a copy, which is JSON all through
    held = header.get("model")
    if held != name:
        raise ModelFileError(f"The dict holds a {str(held)[:40]!r}, and {name}.from_dict reads those of {name} only.")
    arrays = dict(_read_array(found) for found in data["arrays"])
    if len(arrays) < len(data["arrays"]):
        raise ModelFileError("Two arrays have the same name.")
    return restored(header, arrays, "The dict is not a usable RadBoost model")


def _write_array(name: str, array: AnyArray) -> dict[str, Any]:
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise ModelFileError(f"An array of the type {array.dtype} cannot be kept; known are {', '.join(DTYPES)}.")
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else repr(value) for value in values]
    return {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "values": values}


def _read_array(found: Any) -> tuple[str, AnyArray]:
    """The name of an array, and the array, every entry of it checked."""
    if not isinstance(found, dict) or set(found) != {"name", "dtype", "shape", "values"}:
        raise ModelFileError("An array must have name, dtype, shape and values.")
    name = found["name"]
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH:
        raise ModelFileError(f"The name of an array is {_shown(name)}, not 1 to {MAX_NAME_LENGTH} characters of text.")
    code, shape, values = found["dtype"], found["shape"], found["values"]
    if not isinstance(code, str) or code not in DTYPES:
        raise ModelFileError(f"The array {name!r} has the unknown type {_shown(code)}.")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS or any(type(n) is not int or n < 0 for n in shape):
        raise ModelFileError(f"The shape of the array {name!r} must be a list of at most {MAX_DIMENSIONS} counts.")
    # Beside a 0 the other lengths cost nothing, but NumPy still multiplies them.
    too_large = math.prod(max(n, 1) for n in shape) > 2**48
    if not isinstance(values, list) or too_large or math.prod(shape) != len(values):
        raise ModelFileError(f"The array {name!r} must have a list of values that fits its shape {_shown(shape)}.")
    dtype = DTYPES[code]
    return name, np.array(_numbers(name, values, dtype), dtype=dtype).reshape(shape)


def _numbers(name: str, values: list[Any], dtype: np.dtype[Any]) -> list[Any]:
    """The values, if all of them are what the type holds."""
    if dtype.kind == "f":
        values = [_NOT_FINITE.get(value, value) if type(value) is str else value for value in values]
        fits = all(type(value) in (int, float) for value in values)
        with_limits = fits and all(type(value) is float or abs(value) <= 2**53 for value in values)
    elif dtype.kind == "b":
        with_limits = all(type(value) is bool for value in values)
    else:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        with_limits = all(type(value) is int and low <= value <= high for value in values)
    if not with_limits:
        raise ModelFileError(f"The array {name!r} holds a value that is no number of the type {dtype.str}.")
    return values


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"a dict with the entries {', '.join(sorted(map(str, value)))}"[:80]
    return f"{value!r}"[:80]
