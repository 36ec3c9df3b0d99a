"""Parameters and class labels as JSON, and back. Nothing from the file is ever imported or evaluated."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radboost.model_file.checks import require
from radboost.model_file.errors import ModelFileError

_TAG = "$type"
_LABEL_DTYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_LARGEST_TEXT_ARRAY = 2**29  # bytes


class MissingPartError(ModelFileError, AttributeError):
    """Use of a user-defined object that the model file did not store.

    Also an ``AttributeError``, so that ``hasattr`` on the placeholder is False.
    """


@dataclasses.dataclass(frozen=True, repr=False)
class NotStored:
    """Placeholder for a user-defined object, which a model file does not store.

    Any use raises an error that says how to supply the object again.
    """

    parameter: str
    description: str

    def __repr__(self) -> str:
        return f"<not stored: {self.description}>"

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for optional methods like __deepcopy__; during a copy nothing is set yet.
        if name.startswith("__") or "description" not in vars(self):
            raise AttributeError(name)
        raise MissingPartError(self.message())

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise MissingPartError(self.message())

    # A loss is recognized by its two methods, so these must exist for the message above to be seen.
    value = derivative = __call__

    def message(self) -> str:
        """Return what is missing and what to do."""
        return (
            f"This model was saved with {self.parameter}={self.description}, and a model file does not store "
            f"objects of your own. Supply it again: model.set_params({self.parameter}=...)."
        )


def encode(value: Any, parameter: str, known: Mapping[str, type]) -> Any:
    """Return ``value`` as JSON-able data; what cannot be stored becomes a note that says so.

    ``known`` holds the dataclasses that are stored field by field, by the names they have in files.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if isinstance(value, np.ndarray) and value.ndim in (1, 2):
        value = value.tolist()
    if isinstance(value, list):
        return [encode(item, parameter, known) for item in value]
    if isinstance(value, dict):
        return {_TAG: "dict", "items": [[encode(part, parameter, known) for part in pair] for pair in value.items()]}
    if isinstance(value, tuple):
        return {_TAG: "tuple", "items": [encode(item, parameter, known) for item in value]}
    name = next((name for name, kind in known.items() if kind is type(value)), None)
    if name is not None:
        fields = {
            field.name: encode(getattr(value, field.name), f"{parameter}.{field.name}", known)
            for field in dataclasses.fields(known[name])
            if field.init
        }
        return {_TAG: name, "fields": fields}
    return {_TAG: "not stored", "repr": value.description if isinstance(value, NotStored) else _short_repr(value)}


def decode(data: Any, parameter: str, known: Mapping[str, type]) -> Any:
    """Undo :func:`encode`."""
    if isinstance(data, list):
        return [decode(item, parameter, known) for item in data]
    if not isinstance(data, dict):
        return data
    tag = data.get(_TAG)
    try:
        if tag == "float":
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[data["value"]]
        if tag == "tuple":
            return tuple(decode(item, parameter, known) for item in data["items"])
        if tag == "dict":
            return {key: decode(item, parameter, known) for key, item in _pairs(data["items"])}
        if tag == "not stored":
            return NotStored(parameter.partition(".")[0], str(data["repr"]))
        if isinstance(tag, str) and tag in known:
            fields = {name: decode(item, f"{parameter}.{name}", known) for name, item in data["fields"].items()}
            return known[tag](**fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"The parameter {parameter} cannot be restored: {error!r}.") from error
    raise ModelFileError(
        f"The parameter {parameter} is a {str(tag)[:40]!r}, which this version of RadBoost does not know; "
        "upgrade radboost to open the file."
    )


def is_stored(value: Any) -> bool:
    """True if no part of a decoded value is a `NotStored`."""
    if isinstance(value, list | tuple):
        return all(map(is_stored, value))
    if isinstance(value, dict):
        return all(map(is_stored, value.values()))
    if isinstance(value, NotStored):
        return False
    if dataclasses.is_dataclass(value):
        return all(is_stored(getattr(value, field.name)) for field in dataclasses.fields(value))
    return True


def _pairs(items: Any) -> list[tuple[Any, Any]]:
    """Items of a dict, whose keys are text, numbers or booleans."""
    for item in items:
        pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str | int | float | bool)
        require(pair, "an item of a dict must be a key and a value")
    return [(key, value) for key, value in items]


def encode_labels(classes: NDArray[Any]) -> dict[str, Any]:
    """Return the class labels as JSON-able data that remembers their type."""
    kind = classes.dtype.kind
    values = classes.tolist()
    strange = [value for value in values if not isinstance(value, bool | int | float | str)]
    if strange or (kind not in "OU" and classes.dtype.str[1:] not in _LABEL_DTYPES):
        raise ModelFileError(
            f"Class labels of type {type([*strange, *values][0]).__name__} (dtype {classes.dtype}) cannot be saved; a "
            "model file keeps integers, floats, booleans and strings. Fit with such labels to save the model."
        )
    name = {"O": "object", "U": "str"}.get(kind, classes.dtype.str[1:])
    if name == "str":
        _check_text_size(values)
    return {"dtype": name, "values": values}


def decode_labels(data: Any) -> NDArray[Any]:
    """Undo :func:`encode_labels`; ValueError for data that it does not make."""
    complete = isinstance(data, dict) and set(data) == {"dtype", "values"}
    require(complete, "the class labels must have a dtype and values")
    dtype, values = data["dtype"], data["values"]
    allowed: tuple[type, ...] = (bool, int, float, str)
    if dtype == "str":
        allowed = (str,)
    elif isinstance(dtype, str) and dtype in _LABEL_DTYPES:
        allowed = {"b": (bool,), "f": (float, int)}.get(dtype[0], (int,))
    else:
        require(dtype == "object", f"the class labels have the unknown type {str(dtype)[:40]!r}")
    typed = isinstance(values, list) and len(values) > 0 and all(type(v) in allowed for v in values)
    require(typed, f"there must be one or more class labels of type {dtype}")
    if dtype == "str":
        _check_text_size(values)
    try:
        classes = np.array(values, dtype={"str": np.str_, "object": object}.get(dtype, dtype))
    except (OverflowError, ValueError) as error:
        raise ValueError(f"the class labels do not fit their type {dtype}: {error}") from error
    require(len(set(classes.tolist())) == len(values), "two class labels are equal")
    return classes


def _check_text_size(values: list[str]) -> None:
    """Refuse labels whose array is too large: each string takes the memory of the longest."""
    longest = max(map(len, values))
    needed, most = 4 * longest * len(values) / 2**20, _LARGEST_TEXT_ARRAY / 2**20
    require(
        needed <= most,
        f"the class labels, {len(values)} strings of up to {longest} characters, would take {needed:,.0f} MiB as an "
        f"array; at most {most:,.0f} MiB are allowed",
    )


def _short_repr(value: Any) -> str:
    """Return a description for people; a user's own __repr__ may do anything, also fail."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else f"{text[:197]}..."
