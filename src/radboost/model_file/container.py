"""The container of a model file: a JSON header and raw arrays, sealed by a checksum.

``docs/developers/model-file.md`` describes the bytes. This module knows nothing of models: it stores one JSON-able
``dict`` and named NumPy arrays, and gives back exactly these or raises :class:`ModelFileError`. Reading runs no code
from the file, and allocates at most in proportion to its real size (that page says how much), whatever the header
claims.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from radboost.model_file.checks import require
from radboost.model_file.errors import ModelFileError
from radboost.model_file.replacing import replacing

FORMAT_VERSION = 1
"""The format that this version reads and writes."""

# As in PNG: a byte above 127 and both line ends, so that a copy made in text mode is noticed at once.
MAGIC = b"\x89RADB\r\n\x1a"
_PREAMBLE = struct.Struct("<8sIIQ")  # magic, format version, bytes of header, bytes of the whole file
_ALIGNMENT = 64
_CHECKSUM_BYTES = hashlib.sha256().digest_size

MAX_HEADER_BYTES = 64 * 2**20
MAX_NESTING = 32
MAX_DIMENSIONS = 8
MAX_NAME_LENGTH = 200

DTYPES: Mapping[str, np.dtype[Any]] = {
    code: np.dtype(code) for code in ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
}
"""The element types an array may have: booleans, integers and floats, little-endian."""

AnyArray: TypeAlias = NDArray[Any]
PathLike: TypeAlias = "str | os.PathLike[str]"


def write(path: PathLike, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Write ``header`` and ``arrays`` to ``path`` atomically.

    The bytes go to a new file in the same folder, are flushed to the disk and then take the name ``path`` in
    one step. If anything fails the new file is removed and whatever stood at ``path`` before is untouched.

    Parameters
    ----------
    path : str or os.PathLike
        Where the file goes. A symbolic link is followed; an existing file keeps its permissions.
    header : mapping
        Strings, finite numbers, booleans, None, lists and dicts with string keys.
    arrays : mapping of str to numpy.ndarray
        Of the types in :data:`DTYPES` (a big-endian array is stored little-endian).
    """
    preamble, body = _assemble(header, arrays)
    digest = hashlib.sha256()
    with replacing(Path(os.fspath(path))) as file:
        for chunk in (preamble, *body):
            digest.update(chunk)
            file.write(chunk)
        file.write(digest.digest())


def n_bytes(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> int:
    """Size in bytes of the file that ``write`` would write."""
    preamble, body = _assemble(header, arrays)
    return len(preamble) + sum(len(chunk) for chunk in body) + _CHECKSUM_BYTES


def read(path: PathLike) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of the model file at ``path``.

    The arrays are read-only views of one buffer that holds the file. Raises :class:`ModelFileError` for
    anything but a whole, unaltered file of a known format.
    """
    where = Path(os.fspath(path))
    # Before opening: opening a named pipe would wait for a writer for ever.
    if not stat.S_ISREG(where.stat().st_mode):
        raise ModelFileError(f"{where} is not a regular file; a RadBoost model is one file.")
    try:
        return _read(where)
    except ValueError as error:
        raise ModelFileError(f"{where} is not a usable RadBoost model file: {error}.") from error


# --- writing ------------------------------------------------------------------------------------------------


def plain_array(name: str, array: AnyArray) -> AnyArray:
    """Return ``array`` in C order and little-endian, or refuse its name or type."""
    if not 0 < len(name) <= MAX_NAME_LENGTH:
        raise ModelFileError(f"An array's name must be a string of 1 to {MAX_NAME_LENGTH} characters, got {name!r}.")
    array = np.asarray(array)
    wanted = array.dtype.newbyteorder("<")
    if wanted.str not in DTYPES:
        raise ModelFileError(
            f"Array {name!r} has dtype {array.dtype}; a model file holds only {', '.join(sorted(DTYPES))}."
        )
    if array.ndim > MAX_DIMENSIONS:
        raise ModelFileError(f"Array {name!r} has {array.ndim} dimensions; at most {MAX_DIMENSIONS} are allowed.")
    return np.asarray(array, dtype=wanted, order="C")


def _assemble(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> tuple[bytes, list[Any]]:
    """Return the preamble with the header, and the pieces after it up to the checksum."""
    table = []
    body: list[Any] = []
    end = 0
    for name, given in arrays.items():
        array = plain_array(name, given)
        padding = -end % _ALIGNMENT
        body += [bytes(padding), array.reshape(-1).view(np.uint8).data]
        offset = end + padding
        shape = list(array.shape)
        table.append({"name": name, "dtype": array.dtype.str, "shape": shape, "offset": offset, "nbytes": array.nbytes})
        end = offset + array.nbytes
    text = canonical_json({"arrays": table, "content": dict(header)})
    # Spaces are white space to JSON; with them the arrays start at a multiple of 64 bytes.
    text += b" " * (-(_PREAMBLE.size + len(text)) % _ALIGNMENT)
    if len(text) > MAX_HEADER_BYTES:
        raise ModelFileError(
            f"The header would take {len(text):,} bytes; at most {MAX_HEADER_BYTES:,} are allowed. "
            "Long lists belong in arrays."
        )
    size = _PREAMBLE.size + len(text) + end + _CHECKSUM_BYTES
    return _PREAMBLE.pack(MAGIC, FORMAT_VERSION, len(text), size) + text, body


def canonical_json(document: dict[str, Any]) -> bytes:
    """Return the one spelling of ``document``: keys sorted, no spaces, ASCII only, finite numbers."""
    try:
        _check_nesting(document)
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"The header cannot be written as JSON: {error}.") from error
    return text.encode("ascii")


def _check_nesting(value: dict[Any, Any] | list[Any] | tuple[Any, ...], level: int = 1) -> None:
    """Refuse deep nesting, and keys that are no strings: json.dumps turns the key 1 into "1"."""
    require(level <= MAX_NESTING, f"the header is nested more than {MAX_NESTING} levels deep")
    if isinstance(value, dict):
        wrong = [key for key in value if not isinstance(key, str)]
        require(not wrong, f"the keys of a header must be strings, got {wrong[:1]}")
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list | tuple):
            _check_nesting(item, level + 1)


# --- reading ------------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Header and arrays of a regular file; a ValueError says what is wrong with it."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = _PREAMBLE.size + _check_preamble(file.read(_PREAMBLE.size), size)
        buffer = np.empty(size, dtype=np.uint8)
        file.seek(0)
        filled = file.readinto(buffer.data)
    require(filled == size, f"it changed while it was being read ({filled} of {size} bytes)")
    sealed = size - _CHECKSUM_BYTES
    intact = hashlib.sha256(buffer[:sealed].data).digest() == buffer[sealed:].tobytes()
    require(intact, "its checksum does not match: it was altered or damaged after it was saved")
    document = _parse_header(buffer[_PREAMBLE.size : start].tobytes())
    return document["content"], _view_arrays(document["arrays"], buffer, start, sealed)


def _check_preamble(head: bytes, size: int) -> int:
    """Length of the header, from the first bytes of a file of this size."""
    require(size > 0, "it is empty")
    require(not head.startswith(b"\x80"), "it looks like a pickle, which could run any code; use model.save(path)")
    require(head.startswith(MAGIC) or MAGIC.startswith(head), "it does not start with the RadBoost signature")
    require(len(head) == _PREAMBLE.size, f"it is truncated ({size} bytes)")
    _, version, header_length, stated_size = _PREAMBLE.unpack(head)
    require(
        version <= FORMAT_VERSION,
        f"it has format version {version}, and this version of RadBoost reads up to format {FORMAT_VERSION}; upgrade "
        "radboost to open it",
    )
    require(version >= 1, f"its format version is {version}, and the first is 1")
    require(size >= stated_size, f"it is truncated ({size} of {stated_size} bytes)")
    require(size <= stated_size, f"{size - stated_size} bytes follow its end")
    most = min(size - _PREAMBLE.size - _CHECKSUM_BYTES, MAX_HEADER_BYTES)
    require(
        header_length <= most, f"its header claims {header_length:,} bytes, more than the file or the format allows"
    )
    return int(header_length)


def _parse_header(raw: bytes) -> dict[str, Any]:
    """Parse the JSON header; only ``{"arrays": [...], "content": {...}}`` with finite numbers passes."""
    require(raw.isascii(), "its header is not plain ASCII")
    try:
        document = json.loads(raw, object_pairs_hook=_unique_keys, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ValueError(f"the header is nested more than {MAX_NESTING} levels deep") from None
    except ValueError as error:
        raise ValueError(f"its header is not valid JSON ({error})") from error
    complete = isinstance(document, dict) and set(document) == {"arrays", "content"}
    require(complete, "its header must have the two entries 'arrays' and 'content'")
    require(isinstance(document["arrays"], list), "its table of arrays is not a list")
    require(isinstance(document["content"], dict), "the content of its header is not a dict")
    _check_nesting(document)
    return dict(document)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    require(len(result) == len(pairs), "a key occurs twice")
    return result


def _finite(text: str) -> float:
    value = float(text)  # "1e999" is valid JSON and becomes infinity
    require(math.isfinite(value), f"{text[:20]} is not a finite number")
    return value


def _view_arrays(table: list[Any], buffer: NDArray[np.uint8], start: int, end: int) -> dict[str, AnyArray]:
    """Return the arrays of ``table`` as views of ``buffer[start:end]``, every number of the table checked."""
    require(start % _ALIGNMENT == 0, f"its data starts at byte {start}, which is not a multiple of {_ALIGNMENT}")
    arrays: dict[str, AnyArray] = {}
    position = start
    for row in table:
        complete = isinstance(row, dict) and set(row) == {"name", "dtype", "shape", "offset", "nbytes"}
        require(complete, "a row of its table of arrays must have name, dtype, shape, offset and nbytes")
        name, shape, offset, nbytes = row["name"], row["shape"], row["offset"], row["nbytes"]
        dtype = check_array(name, row["dtype"], shape)
        for key in ("offset", "nbytes"):
            # type() and not isinstance(): True is an int to Python.
            inside = type(row[key]) is int and 0 <= row[key] <= len(buffer)
            require(inside, f"the {key} of array {name!r} must be an integer between 0 and the size of the file")
        fits = math.prod(shape) * dtype.itemsize == nbytes
        require(fits, f"the shape of array {name!r} does not fit its {nbytes:,} bytes")
        require(name not in arrays, f"array {name!r} occurs twice")
        begin = position + -position % _ALIGNMENT
        require(
            offset == begin - start,
            f"array {name!r} starts at byte {offset} of the data and belongs at {begin - start} (arrays may not "
            "overlap or leave gaps)",
        )
        left = max(end - begin, 0)
        require(nbytes <= left, f"array {name!r} claims {nbytes:,} bytes, {left:,} are left")
        require(not buffer[position:begin].any(), f"the padding before array {name!r} is not zero")
        position = begin + nbytes
        content = buffer[begin:position]
        as_booleans = dtype.kind != "b" or not content.size or content.max() <= 1
        require(as_booleans, f"array {name!r} holds booleans that are neither 0 nor 1")
        content.flags.writeable = False
        arrays[name] = content.view(dtype).reshape(shape)
    require(position == end, f"{end - position} bytes belong to no array")
    return arrays


def check_array(name: Any, code: Any, shape: Any) -> np.dtype[Any]:
    """Data type of an array whose name, code of a type and shape come from a file; ValueError if one is impossible."""
    named = isinstance(name, str) and 0 < len(name) <= MAX_NAME_LENGTH
    require(named, f"the name of an array must be a string of 1 to {MAX_NAME_LENGTH} characters")
    require(isinstance(code, str) and code in DTYPES, f"array {name!r} has the unknown type {str(code)[:40]!r}")
    integers = isinstance(shape, list) and len(shape) <= MAX_DIMENSIONS and all(type(n) is int for n in shape)
    require(integers, f"the shape of array {name!r} must be a list of at most {MAX_DIMENSIONS} integers")
    # Beside a 0 the other lengths cost nothing, but NumPy still multiplies them.
    possible = min(shape, default=0) >= 0 and math.prod(max(n, 1) for n in shape) * DTYPES[code].itemsize <= 2**62
    require(possible, f"the shape of array {name!r} is negative or too large")
    return DTYPES[code]
