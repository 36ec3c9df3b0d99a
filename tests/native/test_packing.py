"""Integers in few bytes, against a naive version in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from radboost import _native

BLOCK = 512


def entries_of(block: np.ndarray, halves: bool) -> list[int]:
    return block.view(np.uint32).tolist() if halves else block.tolist()


def width_of(entries: list[int], halves: bool) -> int:
    """Bytes that hold each of the entries; numbers have a sign, halves have none."""
    return max((e.bit_length() + (0 if halves else 1) + 7) // 8 for e in entries)


def naive_block(block: np.ndarray) -> bytes:
    if not block.any():
        return b"\0"
    forms = []
    for halves in (False, True):
        entries = entries_of(block, halves)
        width = width_of(entries, halves)
        for bitmap in (False, True):
            kept = [e for e in entries if e != 0 or not bitmap]
            bits = np.packbits([e != 0 for e in entries], bitorder="little").tobytes() if bitmap else b""
            body = b"".join(e.to_bytes(width, "little", signed=not halves) for e in kept)
            forms.append(bytes([width + 0x40 * halves + 0x80 * bitmap]) + bits + body)
    return min(forms, key=len)


def naive(numbers: np.ndarray) -> bytes:
    blocks = [naive_block(numbers[first : first + BLOCK]) for first in range(0, len(numbers), BLOCK)]
    return len(numbers).to_bytes(8, "little") + b"".join(blocks)


def cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    limits = np.iinfo(np.int64)
    return {
        "none": np.zeros(0, dtype=np.int64),
        "zeros": np.zeros(1300, dtype=np.int64),
        "one": np.array([-1]),
        "ends": np.array([limits.min, limits.max, 0, -1, 127, 128, -128, -129]),
        "small": rng.integers(-100, 100, 1000),
        "pairs": rng.integers(0, 2**21, 1400).astype(np.uint32).view(np.int64),
        "full pairs": rng.integers(2**31, 2**32, 1100, dtype=np.uint64).astype(np.uint32).view(np.int64),
        "few pairs": (rng.integers(1, 2**13, 2200) * (rng.random(2200) < 0.1)).astype(np.uint32).view(np.int64),
        "few": rng.integers(-(2**40), 2**40, 700) * (rng.random(700) < 0.05),
        "any": rng.integers(limits.min, limits.max, 513),
        **{f"{bits} bits": rng.integers(-(2**bits), 2**bits, 40) for bits in (7, 8, 15, 23, 31, 39, 47, 55, 62)},
    }


@pytest.mark.parametrize("name", cases())
def test_packing(name: str) -> None:
    numbers = cases()[name]
    packed = _native.pack(numbers)
    assert packed == naive(numbers)
    assert len(packed) <= 8 + len(numbers) * 8 + -(-len(numbers) // BLOCK)
    sums = np.random.default_rng(1).integers(-(2**62), 2**62, len(numbers))
    with np.errstate(over="ignore"):
        expected = sums + numbers
    _native.add_packed(packed, sums)
    np.testing.assert_array_equal(sums, expected)


def test_bytes_that_are_cut_or_longer_are_refused() -> None:
    rng = np.random.default_rng(2)
    numbers = np.concatenate([rng.integers(0, 2**20, 600), np.zeros(600, dtype=np.int64), rng.integers(-9, 9, 100)])
    packed = _native.pack(numbers)
    for size in [*range(12), *range(12, len(packed), 97), len(packed) - 1]:
        with pytest.raises(ValueError, match=r"packed numbers"):
            _native.add_packed(packed[:size], np.zeros(1300, dtype=np.int64))
    with pytest.raises(ValueError, match="packed numbers"):
        _native.add_packed(packed + b"\0", np.zeros(1300, dtype=np.int64))
    with pytest.raises(ValueError, match="another number of numbers"):
        _native.add_packed(packed, np.zeros(1299, dtype=np.int64))


def test_bytes_at_random_are_refused_or_read() -> None:
    """Never a crash: most are refused, some happen to be the form of a block."""
    rng = np.random.default_rng(3)
    good = _native.pack(rng.integers(0, 2**20, 40) * (rng.random(40) < 0.3))
    refused = 0
    for _ in range(3000):
        bad = bytearray(good)
        for place in rng.integers(8, len(bad), rng.integers(1, 4)):
            bad[place] = rng.integers(0, 256)
        try:
            _native.add_packed(bytes(bad), np.zeros(40, dtype=np.int64))
        except ValueError:
            refused += 1
    assert 100 < refused < 3000
    for form in range(256):
        width, halves = form & 15, bool(form & 0x40)
        known = form & 0x30 == 0 and width <= (4 if halves else 8) and (width > 0 or form == 0)
        message = (1).to_bytes(8, "little") + bytes([form])
        message += (b"\xff" if form & 0x80 else b"") + b"\1" * width * (2 if halves else 1)
        if known and not form & 0x80:
            _native.add_packed(message, np.zeros(1, dtype=np.int64))
        else:
            with pytest.raises(ValueError, match="packed numbers"):
                _native.add_packed(message, np.zeros(1, dtype=np.int64))
