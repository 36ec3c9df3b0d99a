"""What may be handed to fit and predict: frames, lists, sparse matrices, labels of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from radboost import DeepBoostClassifier
from reference.data import smooth, tiny


def quick(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(**{"n_rounds": 8, "complexity_penalty": 0.001, **changes})


@pytest.mark.parametrize(
    "labels",
    [
        ("no", "yes"),
        (False, True),
        (0, 1),
        (-1, 1),
        (3, 17),
        (0.0, 1.0),
        (1.5e300 // 1e290, 2.0e300 // 1e290),
    ],
    ids=str,
)
def test_labels_of_any_type(labels: tuple[Any, Any]) -> None:
    X, y = smooth(1, m=60)
    model = quick().fit(X, np.array(labels)[(y > 0).astype(int)])
    signs = quick().fit(X, y)
    assert list(model.classes_) == list(np.array(labels))
    np.testing.assert_array_equal(model.predict(X), np.array(labels)[(model.decision_function(X) > 0).astype(int)])
    np.testing.assert_array_equal(model.decision_function(X), signs.decision_function(X))
    assert model.predict(X).dtype == model.classes_.dtype


def test_object_series_categorical_and_list_labels() -> None:
    X, y = smooth(2, m=60)
    names = np.where(y > 0, "good", "bad")
    base = quick().fit(X, names)
    for labels in (
        list(names),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pl.Series(names),
        names.astype(object),
    ):
        model = quick().fit(X, labels)
        assert list(model.classes_) == ["bad", "good"]
        np.testing.assert_array_equal(model.decision_function(X), base.decision_function(X))


def test_classes_swapped_mirror_the_model() -> None:
    X, y = smooth(3, m=80)
    model = DeepBoostClassifier.paper(n_rounds=10).fit(X, y)
    mirrored = DeepBoostClassifier.paper(n_rounds=10).fit(X, -y)
    np.testing.assert_array_equal(mirrored.decision_function(X), -model.decision_function(X))


@pytest.mark.parametrize(
    "frame",
    [
        lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
        lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
        lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).convert_dtypes(),
    ],
    ids=["pandas", "polars", "pandas nullable"],
)
def test_frames(frame: Any) -> None:
    X, y = smooth(4, m=60, missing=0.1)
    model = quick().fit(frame(X), y)
    plain = quick().fit(X, y)
    assert list(model.feature_names_in_) == [f"f{j}" for j in range(6)]
    np.testing.assert_array_equal(model.decision_function(frame(X)), plain.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(frame(X)), plain.predict_proba(X))


def test_frames_with_mixed_number_types() -> None:
    X, y = tiny(5, m=40)
    mixed = pd.DataFrame({"a": X[:, 0].astype(np.int8), "b": X[:, 1] > 2, "c": X[:, 2].astype(np.float32)})
    plain = np.column_stack([X[:, 0], X[:, 1] > 2, X[:, 2]]).astype(float)
    np.testing.assert_array_equal(
        quick().fit(mixed, y).decision_function(mixed), quick().fit(plain, y).decision_function(plain)
    )
    polars_null = pl.DataFrame({"a": [None if v == 1 else v for v in X[:, 0].tolist()], "b": X[:, 1].tolist()})
    with_nan = np.column_stack([np.where(X[:, 0] == 1, np.nan, X[:, 0]), X[:, 1]])
    np.testing.assert_array_equal(
        quick().fit(polars_null, y).decision_function(polars_null),
        quick().fit(with_nan, y).decision_function(with_nan),
    )


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int64, np.uint64, bool, np.float16, np.float32, np.longdouble, object]
)
def test_number_types(dtype: Any) -> None:
    X, y = tiny(6, m=40)
    X = (X > 2).astype(float) if dtype is bool else X
    base = quick().fit(X, y)
    model = quick().fit(X.astype(dtype), y)
    np.testing.assert_array_equal(model.decision_function(X.astype(dtype)), base.decision_function(X))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("make", ["matrix", "array"])
def test_sparse_equals_dense(form: str, make: str) -> None:
    X, y = tiny(7, m=50)
    X[X < 3] = 0
    sparse = getattr(scipy.sparse, f"{form}_{make}")(X)
    model, dense = quick().fit(sparse, y), quick().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(sparse), dense.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), dense.predict(sparse))
    np.testing.assert_array_equal(list(model.staged_decision_function(sparse)), list(dense.staged_decision_function(X)))


def test_sparse_with_stored_zeros_missing_values_and_many_rows() -> None:
    rng = np.random.default_rng(8)
    X = np.where(rng.random((3000, 4)) < 0.8, 0.0, rng.normal(size=(3000, 4)))
    X[rng.random(X.shape) < 0.02] = np.nan
    y = np.where(np.nan_to_num(X).sum(axis=1) > 0, 1, 0)
    sparse = scipy.sparse.csr_matrix(X)
    sparse.data[:5] = 0.0
    np.testing.assert_array_equal(
        quick().fit(sparse, y).decision_function(sparse),
        quick().fit(sparse.toarray(), y).decision_function(sparse.toarray()),
    )


def test_input_is_left_alone() -> None:
    X, y = smooth(9, m=60, missing=0.1)
    w = np.ones(60)
    kept = X.copy(), y.copy(), w.copy()
    for array in (X, y, w):
        array.flags.writeable = False
    model = quick().fit(X, y, sample_weight=w)
    model.predict(X)
    for array, before in zip((X, y, w), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_negative_zero_is_zero() -> None:
    X, y = tiny(10, m=40)
    other = np.where(X == 0, -0.0, X)
    model = quick().fit(X, y)
    np.testing.assert_array_equal(quick().fit(other, y).decision_function(X), model.decision_function(other))


def test_float32_prediction_equals_float64_prediction() -> None:
    X, y = smooth(11, m=100, missing=0.05)
    model = quick().fit(X, y)
    rounded = X.astype(np.float32)
    np.testing.assert_array_equal(model.decision_function(rounded), model.decision_function(rounded.astype(np.float64)))


def test_probabilities_follow_the_loss() -> None:
    """p = Phi'(1+f) / (Phi'(1-f) + Phi'(1+f))."""
    X, y = smooth(12, m=100)
    slopes = {"exponential": np.exp, "logistic": lambda u: 1 / (1 + np.exp(-u))}
    for loss, slope in slopes.items():
        model = quick(loss=loss).fit(X, y)
        f = model.decision_function(X)
        expected = slope(1 + f) / (slope(1 - f) + slope(1 + f))
        found = model.predict_proba(X)
        np.testing.assert_allclose(found[:, 1], expected, rtol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
        np.testing.assert_array_equal(model.classes_[np.argmax(found, axis=1)][f != 0], model.predict(X)[f != 0])


def test_score_takes_weights() -> None:
    X, y = smooth(13, m=60)
    model = quick().fit(X, y)
    w = np.random.default_rng(0).random(60)
    assert model.score(X, y, sample_weight=w) == pytest.approx(np.sum(w * (model.predict(X) == y)) / w.sum())


def test_importances_are_shares_of_the_used_columns() -> None:
    rng = np.random.default_rng(14)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 2] > 0, 1, 0)
    model = quick(max_features=None, thresholds="best").fit(X, y)
    assert model.feature_importances_.shape == (5,)
    assert np.all(model.feature_importances_ >= 0)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert np.argmax(model.feature_importances_) == 2
