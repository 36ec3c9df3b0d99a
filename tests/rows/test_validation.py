"""Messages about numbers that are out of range, and about words where a number may stand too."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from radboost import (
    DeepBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostRegressor,
    TreeOptions,
)
from radboost._validation import check_integer, check_integer_or, check_max_features, check_real, check_real_or
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.families import KernelFamily

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
LARGEST = 2**31 - 1
COLUMNS = "an integer of at least 1 (columns) or a number in (0, 1] (a share of them)"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SoftmaxBoostClassifier(max_leaves=10**30), "max_leaves"),
        (AdaBoostMHClassifier(max_leaves=10**30), "max_leaves"),
        (SAMMEClassifier(10**30), "n_rounds"),
        (MartiBoostClassifier(max_leaves=LARGEST + 1), "max_leaves"),
        (DeepBoostClassifier(tree_options=TreeOptions(growth="best_first", max_leaves=10**30)), "max_leaves"),
        (DeepBoostClassifier(10**400), "n_rounds"),
        (SoftmaxBoostClassifier(10**400), "n_rounds"),
        (RGBClassifier(10**400), "n_rounds"),
        (DeepBoostClassifier(family=KernelFamily(n_centres=10**30)), "n_centres"),
        (DeepBoostClassifier(tree_options=TreeOptions(max_features=10**30)), "max_features"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_integers_have_a_largest(model: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be .*; got 1|{name} must be .*; got {LARGEST + 1}"):
        model.fit(X, Y)


def test_the_largest_integer_itself_is_allowed() -> None:
    assert check_integer("n", LARGEST, 1) == LARGEST
    with pytest.raises(ValueError, match=f"^n must be between 1 and {LARGEST}; got {LARGEST + 1}.$"):
        check_integer("n", LARGEST + 1, 1)
    with pytest.raises(ValueError, match=r"^n must be at least 1; got 0\.$"):
        check_integer("n", np.int64(0), 1)


def test_numbers_too_long_to_be_written_out() -> None:
    with pytest.raises(ValueError, match=rf"^n must be between 1 and {LARGEST}; got an integer of 33220 bits\.$"):
        check_integer("n", 10**10_000, 1)
    with pytest.raises(ValueError, match=r"^rate must lie in \(0, 1\]; got an integer of 33220 bits\.$"):
        check_real("rate", 10**10_000, low=0.0, high=1.0, open_low=True)
    with pytest.raises(ValueError, match=r"^price must lie in \[0, inf\); got 10{400}\.$"):
        check_real("price", 10**400, low=0.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DeepBoostClassifier(max_depth="x"), "max_depth must be 'auto' or an integer between 1 and 60; got 'x'."),
        (DeepBoostClassifier(max_depth=61), "max_depth must be 'auto' or an integer between 1 and 60; got 61."),
        (DeepBoostClassifier(max_depth=None), "max_depth must be 'auto' or an integer between 1 and 60; got None."),
        (
            DeepBoostClassifier(complexity_penalty="low"),
            "complexity_penalty must be 'auto' or a number in [0, inf); got 'low'.",
        ),
        (RGBClassifier(learning_rate="fast"), "learning_rate must be 'auto' or a number in (0, 1]; got 'fast'."),
        (RGBClassifier(learning_rate=2), "learning_rate must be 'auto' or a number in (0, 1]; got 2."),
        (SAMMEClassifier(max_leaves=1), "max_leaves must be 'auto' or an integer of at least 2; got 1."),
        (
            DeepBoostClassifier(family=KernelFamily(gamma="auto")),
            "gamma must be 'scale' or a number in (0, inf); got 'auto'.",
        ),
        (
            DeepBoostClassifier(tree_options=TreeOptions(max_features="cbrt")),
            f"max_features must be None, 'sqrt', 'log2', {COLUMNS}; got 'cbrt'.",
        ),
    ],
)
def test_words_and_numbers_are_both_named(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.fit(X, Y)


def test_what_is_neither_a_word_nor_a_number_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"^depth must be 'auto' or an integer of at least 1; got \[3\]\.$"):
        check_integer_or(["auto"], "depth", [3], 1)
    with pytest.raises(TypeError, match=r"^rate must be None, 'auto' or a number in \[0, 64\]; got True\.$"):
        check_real_or([None, "auto"], "rate", True, low=0.0, high=64.0)
    with pytest.raises(TypeError, match="max_features must be None, 'sqrt'"):
        check_max_features([1], 4)
    check_real_or([None, "auto"], "rate", None, low=0.0)
    check_integer_or([None, "all"], "samples", "all", 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, 0), ("sqrt", 3), (1 / 3, 3), ("log2", 3), (4, 4), (np.int64(40), 9), (0.5, 4), (1.0, 9), (0.01, 1)],
)
def test_columns_that_a_node_looks_at(value: Any, expected: int) -> None:
    assert check_max_features(value, 9) == expected


def at_an_odd_address(values: Any) -> np.ndarray:
    """Numbers of 64 bits in received bytes, which may begin anywhere."""
    moved = np.frombuffer(b"\0" + np.asarray(values).tobytes(), dtype=np.uint8)[1:]
    return moved.view(np.float64).reshape(np.shape(values))


@pytest.mark.parametrize("model", [RGBRegressor(3), SparseBoostRegressor(0.01)])
def test_arrays_at_odd_addresses(model: Any) -> None:
    """Reading them where they are is an error under `make sanitize`."""
    rng = np.random.default_rng(0)
    given = [rng.random((60, 3)), rng.random(60), rng.integers(1, 4, 60).astype(float)]
    more = {"offset": rng.random(60)} if isinstance(model, RGBRegressor) else {}
    expected = clone(model).fit(*given, **more).predict(given[0])
    moved = [at_an_odd_address(values) for values in [*given, *more.values()]]
    assert not any(values.flags.aligned for values in moved)
    model.fit(*moved[:3], **dict(zip(more, moved[3:], strict=True)))
    np.testing.assert_array_equal(model.predict(moved[0]), expected)
