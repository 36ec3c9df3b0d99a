"""Values made of bins: a tree of these bins cannot tell them from the rows' own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fingerprints import with_categories
from prepared_rows import prepare
from radboost import DeepBoostClassifier, RGBClassifier, TreeOptions
from radboost.rows.binned import BinnedRows, values_of_bins
from radboost.trees import bin_rows


def decoded(X: np.ndarray, max_bins: int, seed: int = 0, categories: dict[int, int] | None = None) -> BinnedRows:
    order = np.random.default_rng(seed).permutation(len(X))
    data = bin_rows(X, None, order, max_bins, 1, categories)
    return BinnedRows(data, order.astype(np.uint32), X.dtype)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from([32, 64]), st.integers(2, 9))
def test_values_are_on_the_same_side_of_every_threshold(data: Any, width: int, max_bins: int) -> None:
    """Neighbouring numbers, huge and tiny ones, zeros of both signs, missing values."""
    dtype = {32: np.float32, 64: np.float64}[width]
    numbers = st.floats(width=width, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0])
    X = np.array(data.draw(st.lists(numbers, min_size=1, max_size=30)), dtype=dtype)[:, None]
    with np.errstate(over="ignore"):
        X = np.concatenate([X, np.nextafter(X[:3], dtype(np.inf))])
    X[np.isinf(X)] = 0.0
    rows = decoded(X, max_bins)
    found = rows[np.arange(len(X))]
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    for threshold in [*rows.data.thresholds(0).tolist(), np.inf]:
        np.testing.assert_array_equal(found.astype(np.float64) <= threshold, X.astype(np.float64) <= threshold)


def test_a_last_bin_of_32_bits_begins_above_the_threshold() -> None:
    a, b = np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))
    thresholds = np.array([(float(a) + float(b)) / 2])  # no number of 32 bits
    assert values_of_bins(thresholds, np.float32).tolist() == [float(a), float(b)]


def test_columns_of_categories_of_one_value_and_of_none() -> None:
    X = np.column_stack([[2.0, np.nan, 0.0, 1.0], np.full(4, 7.0), np.full(4, np.nan)])
    found = decoded(X, 255, categories={0: 3})[np.array([3, 0, 1])]
    np.testing.assert_array_equal(found[:, 0], [1.0, 2.0, np.nan])
    assert not np.isnan(found[:, 1]).any()
    assert np.isnan(found[:, 2]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "estimator",
    [
        DeepBoostClassifier(4, complexity_penalty=0.001, categorical_features=[0, 3], calibration=None),
        RGBClassifier(3, categorical_features=[0, 3], calibration=None, tree_options=TreeOptions(max_bins=7)),
    ],
)
def test_rows_made_of_bins_end_in_the_leaves_of_the_rows(estimator: Any, dtype: Any) -> None:
    X, y = with_categories(10, 300, 3)
    X = X.astype(dtype)
    model = estimator.fit(X, y)
    rows = prepare(model, X, y, max_bins=estimator._read_parameters().growth.options.max_bins)
    made = BinnedRows(rows.data, rows.order, rows.X.dtype)[np.arange(len(y))]
    assert not np.array_equal(made, rows.X, equal_nan=True)
    ensemble = model.ensemble_
    for tree in (hypothesis for hypothesis in ensemble.entered if hasattr(hypothesis, "leaf_numbers")):
        numbered, _ = tree.leaf_numbers()
        np.testing.assert_array_equal(numbered.predict(made), numbered.predict(rows.X))
    np.testing.assert_array_equal(ensemble.decision_function(made, 1), ensemble.decision_function(rows.X, 1))
