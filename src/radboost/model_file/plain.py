"""A model as one dict that JSON can write, with the content of its model file (``docs/exporting.md``)."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from radboost.model_file.checks import require
from radboost.model_file.container import FORMAT_VERSION, AnyArray, canonical_json, check_array, plain_array
from radboost.model_file.errors import ModelFileError
from radboost.model_file.models import content_of, restored

KIND = "RadBoost model"
_KEYS = {"kind", "format", "content", "arrays"}
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # numbers that JSON lacks


def to_plain(estimator: Any) -> dict[str, Any]:
    """Content of the model file of a fitted estimator as dicts, lists, text, finite numbers, booleans and None."""
    header, arrays = content_of(estimator)
    return {
        "kind": KIND,
        "format": FORMAT_VERSION,
        "content": json.loads(canonical_json(dict(header))),
        "arrays": [_write_array(name, array) for name, array in arrays.items()],
    }


def from_plain(data: Any, name: str) -> Any:
    """Estimator of the class from the dict of `to_plain`, which is not modified; no code in it is run."""
    if not isinstance(data, dict) or set(data) != _KEYS or data["kind"] != KIND:
        raise ModelFileError(
            f"A RadBoost model as a dict has the entries {', '.join(sorted(_KEYS))}, and its kind is {KIND!r}; got "
            f"{_shown(data)}. to_dict() makes such a dict."
        )
    if type(data["format"]) is not int or data["format"] != FORMAT_VERSION:
        raise ModelFileError(
            f"The dict has the format {_shown(data['format'])}, and this version of RadBoost reads format "
            f"{FORMAT_VERSION}; upgrade radboost to read it."
        )
    if not isinstance(data["content"], dict) or not isinstance(data["arrays"], list):
        raise ModelFileError("The content of a model as a dict must be a dict, and its arrays a list.")
    header = json.loads(canonical_json(data["content"]))  # a copy with JSON types only
    held = header.get("model")
    if held != name:
        raise ModelFileError(f"The dict holds a {str(held)[:40]!r}, and {name}.from_dict reads those of {name} only.")
    complaint = "The dict is not a usable RadBoost model"
    try:
        arrays = dict(map(_read_array, data["arrays"]))
        require(len(arrays) == len(data["arrays"]), "two arrays have the same name")
    except ValueError as error:
        raise ModelFileError(f"{complaint}: {error}.") from error
    return restored(header, arrays, complaint)


def _write_array(name: str, array: AnyArray) -> dict[str, Any]:
    array = plain_array(name, array)
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else repr(value) for value in values]
    return {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "values": values}


def _read_array(given: Any) -> tuple[str, AnyArray]:
    """Name of an array, and the checked array."""
    complete = isinstance(given, dict) and set(given) == {"name", "dtype", "shape", "values"}
    require(complete, "an array must have name, dtype, shape and values")
    name, shape, values = given["name"], given["shape"], given["values"]
    dtype = check_array(name, given["dtype"], shape)
    fits = isinstance(values, list) and math.prod(shape) == len(values)
    require(fits, f"the array {name!r} must have a list of values that fits its shape {_shown(shape)}")
    if dtype.kind == "f":
        values = [_NOT_FINITE.get(value, value) if type(value) is str else value for value in values]
        known = all(type(value) is float or (type(value) is int and abs(value) <= 2**53) for value in values)
    elif dtype.kind == "b":
        known = all(type(value) is bool for value in values)
    else:
        limits = np.iinfo(dtype)
        known = all(type(value) is int and limits.min <= value <= limits.max for value in values)
    require(known, f"the array {name!r} holds a value that is no number of the type {dtype.str}")
    return name, np.array(values, dtype=dtype).reshape(shape)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"a dict with the entries {', '.join(sorted(map(str, value)))}"[:80]
    return f"{value!r}"[:80]
