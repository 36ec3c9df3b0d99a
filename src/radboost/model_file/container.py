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
import re
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from radboost.model_file.errors import ModelFileError
from radboost.model_file.replacing import replacing

FORMAT_VERSION = 1
"""The format that this version writes; it reads this one and every older one."""

# As in PNG: a byte above 127 and both kinds of line end, so that a copy made in text mode is noticed at once.
MAGIC = b"\x89RADB\r\n\x1a"
_PREAMBLE = struct.Struct("<8sIIQ")  # magic, format version, bytes of header, bytes of the whole file
_ALIGNMENT = 64
_CHECKSUM_BYTES = hashlib.sha256().digest_size
_SMALLEST_FILE = _PREAMBLE.size + _ALIGNMENT + _CHECKSUM_BYTES - _PREAMBLE.size % _ALIGNMENT

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
    """Write ``header`` and ``arrays`` to ``path`` so that the file is there whole or not at all.

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
    plain = {name: _plain_array(name, array) for name, array in arrays.items()}
    preamble, body = _assemble(header, plain)
    digest = hashlib.sha256()
    with replacing(Path(os.fspath(path))) as file:
        for chunk in (preamble, *body):
            digest.update(chunk)
            file.write(chunk)
        file.write(digest.digest())


def n_bytes(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> int:
    """How large the file would be that ``write`` makes of the same."""
    preamble, body = _assemble(header, {name: _plain_array(name, array) for name, array in arrays.items()})
    return len(preamble) + sum(len(chunk) for chunk in body) + _CHECKSUM_BYTES


def read(path: PathLike) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of the model file at ``path``.

    The arrays are read-only views of one buffer that holds the file. Raises :class:`ModelFileError` for
    anything but a whole, unaltered file of a known format.
    """
    where = Path(os.fspath(path))
    # Looked at before opening: opening a named pipe would wait for a writer for ever.
    if not stat.S_ISREG(where.stat().st_mode):
        raise ModelFileError(f"{where} is not a regular file; a RadBoost model is one file.")
    with where.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_PREAMBLE.size)
        header_length = _check_preamble(where, head, size)
        buffer = np.empty(size, dtype=np.uint8)
        file.seek(0)
        filled = file.readinto(buffer.data)
    if filled != size:
        _damaged(where, f"it changed while it was being read ({filled} of {size} bytes)")
    sealed = size - _CHECKSUM_BYTES
    if hashlib.sha256(buffer[:sealed].data).digest() != buffer[sealed:].tobytes():
        _damaged(where, "its checksum does not match: it was altered or damaged after it was saved")
    document = _parse_header(where, buffer[_PREAMBLE.size : _PREAMBLE.size + header_length].tobytes())
    arrays = _view_arrays(where, document["arrays"], buffer, _PREAMBLE.size + header_length, sealed)
    return document["content"], arrays


# --- writing ------------------------------------------------------------------------------------------------


def _plain_array(name: str, array: AnyArray) -> AnyArray:
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
    for name, array in arrays.items():
        padding = -end % _ALIGNMENT
        body += [bytes(padding), array.reshape(-1).view(np.uint8).data]
        offset = end + padding
        table.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "offset": offset,
                "nbytes": array.nbytes,
            }
        )
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
    _refuse_other_keys(document)
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be written as JSON: {error}.") from error
    raw = text.encode("ascii")
    if _nesting(raw) > MAX_NESTING:
        raise ModelFileError(f"The header is nested more than {MAX_NESTING} levels deep.")
    return raw


def _refuse_other_keys(value: Any, depth: int = 0) -> None:
    """json.dumps turns the key 1 into "1" without a word; what is read back must be what was written."""
    if depth > MAX_NESTING:
        raise ModelFileError(f"The header is nested more than {MAX_NESTING} levels deep.")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ModelFileError(f"The keys of a header must be strings, got {key!r}.")
            _refuse_other_keys(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_other_keys(item, depth + 1)


# --- reading ------------------------------------------------------------------------------------------------


def _damaged(path: Path, reason: str) -> NoReturn:
    raise ModelFileError(f"{path} is not a usable RadBoost model file: {reason}.")


def _check_preamble(path: Path, head: bytes, size: int) -> int:
    """Check magic, version and the stated sizes against the real one; return the length of the header."""
    if not head.startswith(MAGIC):
        if head and MAGIC.startswith(head):
            _damaged(path, f"it is truncated ({size} bytes)")
        if head.startswith(b"\x80"):
            _damaged(path, "it looks like a pickle, which could run any code; use model.save(path)")
        _damaged(path, "it is empty" if size == 0 else "it does not start with the RadBoost signature")
    if len(head) < _PREAMBLE.size:
        _damaged(path, f"it is truncated ({size} bytes)")
    _, version, header_length, stated_size = _PREAMBLE.unpack(head)
    if version > FORMAT_VERSION:
        _damaged(
            path,
            f"it has format version {version}, and this version of RadBoost reads up to format "
            f"{FORMAT_VERSION}; upgrade radboost to open it",
        )
    if version < 1:
        _damaged(path, f"its format version is {version}, and the first is 1")
    if size < stated_size:
        _damaged(path, f"it is truncated ({size} of {stated_size} bytes)")
    if size > stated_size:
        _damaged(path, f"{size - stated_size} bytes follow its end")
    if size < _SMALLEST_FILE:
        _damaged(path, f"its {size} bytes are fewer than the smallest model file has ({_SMALLEST_FILE})")
    if header_length > min(size - _PREAMBLE.size - _CHECKSUM_BYTES, MAX_HEADER_BYTES):
        _damaged(path, f"its header claims {header_length:,} bytes, more than the file or the format allows")
    return int(header_length)


def _parse_header(path: Path, raw: bytes) -> dict[str, Any]:
    """Parse the JSON header; only ``{"arrays": [...], "content": {...}}`` with finite numbers passes."""
    if _nesting(raw) > MAX_NESTING:
        _damaged(path, f"its header is nested more than {MAX_NESTING} levels deep")
    try:
        document = json.loads(
            raw.decode("ascii"),
            object_pairs_hook=_unique_keys,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except UnicodeDecodeError:
        _damaged(path, "its header is not plain ASCII")
    except (ValueError, RecursionError) as error:
        _damaged(path, f"its header is not valid JSON ({error})")
    if not isinstance(document, dict) or set(document) != {"arrays", "content"}:
        _damaged(path, "its header must have the two entries 'arrays' and 'content'")
    if not isinstance(document["arrays"], list):
        _damaged(path, "its table of arrays is not a list")
    if not isinstance(document["content"], dict):
        _damaged(path, "the content of its header is not a dict")
    return document


_STRING_OR_BRACKET = re.compile(rb'"[^"]*"?|[\[{\]}]')


def _nesting(raw: bytes) -> int:
    """Return how deeply brackets nest in JSON text, without recursion (json.loads recurses)."""
    # A pattern that knows escapes remembers each of them, to try again, which takes 60 bytes and more. Outside of
    # strings a backslash is where json.loads gives up, so that it does not matter what is counted behind it.
    plain = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    depth = deepest = 0
    for found in _STRING_OR_BRACKET.finditer(plain):
        character = plain[found.start()]
        if character in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in b"]}":
            depth -= 1
    return deepest


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _finite(text: str) -> float:
    value = float(text)  # "1e999" is valid JSON and becomes infinity
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not a finite number")
    return value


def _view_arrays(path: Path, table: list[Any], buffer: NDArray[np.uint8], start: int, end: int) -> dict[str, AnyArray]:
    """Return the arrays of ``table`` as views of ``buffer[start:end]``, every number of the table checked."""
    if start % _ALIGNMENT:
        _damaged(path, f"its data starts at byte {start}, which is not a multiple of {_ALIGNMENT}")
    arrays: dict[str, AnyArray] = {}
    position = start
    for row in table:
        name, dtype, shape, offset, nbytes = _check_row(path, row, len(buffer))
        if name in arrays:
            _damaged(path, f"array {name!r} occurs twice")
        begin = position + -position % _ALIGNMENT
        if offset != begin - start:
            _damaged(
                path,
                f"array {name!r} starts at byte {offset} of the data and belongs at {begin - start} "
                "(arrays may not overlap or leave gaps)",
            )
        if nbytes > end - begin:
            _damaged(path, f"array {name!r} claims {nbytes:,} bytes, {max(end - begin, 0):,} are left")
        if buffer[position:begin].any():
            _damaged(path, f"the padding before array {name!r} is not zero")
        position = begin + nbytes
        content = buffer[begin:position]
        if dtype.kind == "b" and content.size and content.max() > 1:
            _damaged(path, f"array {name!r} holds booleans that are neither 0 nor 1")
        content.flags.writeable = False
        arrays[name] = content.view(dtype).reshape(shape)
    if position != end:
        _damaged(path, f"{end - position} bytes belong to no array")
    return arrays


def _check_row(path: Path, row: Any, file_size: int) -> tuple[str, np.dtype[Any], tuple[int, ...], int, int]:
    """Check one row of the table of arrays for itself: types, ranges and shape x element size = bytes."""
    if not isinstance(row, dict) or set(row) != {"name", "dtype", "shape", "offset", "nbytes"}:
        _damaged(path, "a row of its table of arrays must have name, dtype, shape, offset and nbytes")
    name, code, shape = row["name"], row["dtype"], row["shape"]
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH:
        _damaged(path, f"the name of an array must be a string of 1 to {MAX_NAME_LENGTH} characters")
    if not isinstance(code, str) or code not in DTYPES:
        _damaged(path, f"array {name!r} has the unknown type {str(code)[:40]!r}")
    # type() and not isinstance(): True is an int to Python.
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS or any(type(n) is not int for n in shape):
        _damaged(path, f"the shape of array {name!r} must be a list of at most {MAX_DIMENSIONS} integers")
    dtype = DTYPES[code]
    # Beside a 0 the other lengths cost nothing, but NumPy still multiplies them.
    if any(n < 0 for n in shape) or math.prod(max(n, 1) for n in shape) * dtype.itemsize > 2**62:
        _damaged(path, f"the shape of array {name!r} is negative or too large")
    for key in ("offset", "nbytes"):
        if type(row[key]) is not int or not 0 <= row[key] <= file_size:
            _damaged(path, f"the {key} of array {name!r} must be an integer between 0 and the size of the file")
    if math.prod(shape) * dtype.itemsize != row["nbytes"]:
        _damaged(path, f"the shape of array {name!r} does not fit its {row['nbytes']:,} bytes")
    return name, dtype, tuple(shape), row["offset"], row["nbytes"]
