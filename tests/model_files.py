"""Saving, loading, comparing and forging model files."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import radboost
from radboost import DeepBoostClassifier, ModelFileError
from radboost.model_file import read, write


def reload(model: DeepBoostClassifier, path: Path) -> DeepBoostClassifier:
    model.save(path)
    return radboost.load(path)


def assert_same_model(a: DeepBoostClassifier, b: DeepBoostClassifier, X: np.ndarray) -> None:
    """Bit for bit, in everything a user can ask of a model."""
    for method in ("decision_function", "predict", "predict_proba"):
        left, right = getattr(a, method)(X), getattr(b, method)(X)
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes() if left.dtype != object else list(left) == list(right)
    pairs = zip(a.staged_decision_function(X), b.staged_decision_function(X), strict=True)
    assert all(left.tobytes() == right.tobytes() for left, right in pairs)
    assert a.history_ == b.history_
    for name in ("n_iter_", "n_skipped_rounds_", "stop_reason_", "n_features_in_"):
        assert getattr(a, name) == getattr(b, name)
        assert type(getattr(a, name)) is type(getattr(b, name))
    assert a.classes_.dtype == b.classes_.dtype
    assert list(a.classes_) == list(b.classes_)
    np.testing.assert_array_equal(a.feature_importances_, b.feature_importances_)
    assert repr(a.ensemble_) == repr(b.ensemble_)
    np.testing.assert_array_equal(a.ensemble_.weights, b.ensemble_.weights)
    np.testing.assert_array_equal(a.ensemble_.complexities, b.ensemble_.complexities)
    assert a.ensemble_.sample_size == b.ensemble_.sample_size
    assert a.ensemble_.n_families == b.ensemble_.n_families
    assert a.ensemble_.n_outputs == b.ensemble_.n_outputs


def forged(saved: Path, change) -> Path:
    """Write the file again, well sealed, after ``change(header, arrays)``."""
    header, arrays = read(saved)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    write(saved, header, arrays)
    return saved


def setter(*path, value):
    def change(header, arrays) -> None:
        place = header
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def dropper(*path):
    def change(header, arrays) -> None:
        place = header
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


def mended(path: Path, rng: np.random.Generator, n_edits: int) -> Path:
    """Change bytes of a file at random and put its checksum right."""
    whole = path.read_bytes()
    body = bytearray(whole[:-32])
    (header_length,) = struct.unpack("<I", whole[12:16])
    for _ in range(n_edits):
        # Half of the edits hit the numbers in the header, the others the arrays.
        low, high = (24, 24 + header_length) if rng.random() < 0.5 else (24 + header_length, len(body))
        position = int(rng.integers(low, high))
        body[position] = int(rng.choice(list(b"0123456789"))) if low == 24 else int(rng.integers(0, 256))
    other = path.with_name("forged")
    other.write_bytes(bytes(body) + hashlib.sha256(body).digest())
    return other


def damaged_in_many_ways(path: Path, check: Callable[[Any], None], n_files: int = 80) -> tuple[int, int]:
    """Loads files with 1 to 6 bytes changed and the checksum put right; `check` looks at those that are models.

    Returns how many were, and how many were refused with a ModelFileError. Nothing else may be raised.
    """
    loaded = refused = 0
    for seed in range(n_files):
        rng = np.random.default_rng(seed)
        try:
            model = radboost.load(mended(path, rng, int(rng.integers(1, 7))))
        except ModelFileError:
            refused += 1
            continue
        check(model)
        loaded += 1
    return loaded, refused
