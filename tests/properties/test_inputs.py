"""What may be handed to fit and predict: frames, lists, sparse matrices, numbers and labels of any type."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

from properties import hooks
from properties.cases import Case, essence, on_readers, one_of_each, over, scores
from radboost.rows import RareCategoriesWarning, TextColumnWarning
from reference.data import tiny, tiny_classes

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

GIVEN_FOLDS = KFold(3, shuffle=True, random_state=0)


def same(one: np.ndarray, other: np.ndarray, case: Case) -> None:
    if case.sums_of_floats:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_array_equal(one, other)


def as_names(y: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The labels in their order, as names in theirs."""
    return np.asarray(names[np.unique(y, return_inverse=True)[1]])


LABELS: list[tuple[Any, ...]] = [
    ("no", "yes", "zero"),
    (False, True),
    (0, 1, 2),
    (-5, 0, 17),
    (0.0, 1.0, 2.0),
    (1.5e300 // 1e290, 2.0e300 // 1e290, 2.5e300 // 1e290),
    (10**12, 10**13, 10**14),
    (2**63 - 3, 2**63 - 2, 2**63 - 1),
]


@on_readers(LABELS, lambda case: case.takes_names and case.n_classes <= 3)
def test_labels_of_any_type(case: Case, labels: tuple[Any, ...]) -> None:
    if len(labels) < case.n_classes:
        return  # booleans are two classes
    X, y = case.data(1)
    names = np.array(labels[: case.n_classes])
    model, plain = case.make().fit(X, as_names(y, names)), case.make().fit(X, y)
    assert list(model.classes_) == list(names)
    np.testing.assert_array_equal(scores(model, X), scores(plain, X))
    np.testing.assert_array_equal(model.predict(X), as_names(y, names)[[list(y).index(v) for v in plain.predict(X)]])
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, as_names(y, names)) == plain.score(X, y)


@one_of_each(lambda case: case.takes_names)
def test_object_series_categorical_and_list_labels(case: Case) -> None:
    X, y = case.data(2)
    names = as_names(y, np.array(["bad", "good", "ugly", "worse"]))
    base = case.make().fit(X, names)
    for labels in (
        list(names),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pd.Series(names, dtype="string"),
        pl.Series(names),
        names.astype(object),
    ):
        model = case.make().fit(X, labels)
        assert list(model.classes_) == list(np.unique(names))
        np.testing.assert_array_equal(scores(model, X), scores(base, X))


@one_of_each(lambda case: case.takes_names)
def test_labels_in_arrays_of_objects(case: Case) -> None:
    X, y = case.data(3)
    places = np.unique(y, return_inverse=True)[1]

    def fitted(*labels: object) -> list[Any]:
        given = np.empty(len(y), dtype=object)
        given[:] = [labels[min(one, len(labels) - 1)] for one in places]
        return list(case.make().fit(X, given).classes_.tolist())

    assert fitted(True, False) == [False, True]
    assert fitted(np.bool_(True), False) == [False, True]
    assert fitted(3, 1) == [1, 3]
    assert fitted("x", "y") == ["x", "y"]
    if case.n_classes > 2 and "MartiBoost" not in case.name:
        assert fitted(3, 1, 2) == [1, 2, 3]
    for labels, message in (
        ((None, "a"), "labels that are missing|NaN|missing"),
        ((1, "a"), r"labels of different types \(int, str\)"),
        ((10**30, 1), r"labels of the type int.*64 bits"),
        (((1, 2), (3,)), "labels of the type tuple"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(*labels)


@one_of_each(lambda case: not case.classifies)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, object, bool])
def test_targets_of_any_type(case: Case, dtype: Any) -> None:
    X, y = case.data(4)
    y = np.round(y) > 4 if dtype is bool else np.round(y)
    plain = case.make().fit(X, y.astype(float))
    for targets in (y.astype(dtype), pd.Series(y.astype(dtype)), y.astype(dtype).tolist()):
        same(scores(case.make().fit(X, targets), X), scores(plain, X), case)


FRAMES: dict[str, Any] = {
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).convert_dtypes(),
    "pyarrow": lambda X: pa.table({f"f{j}": column for j, column in enumerate(X.T)}),
}


@on_readers(FRAMES)
def test_frames(case: Case, kind: str) -> None:
    X, y = case.data(4, missing=0.1)
    frame = FRAMES[kind](X)
    model, plain = case.make().fit(frame, y), case.make().fit(X, y)
    assert list(model.feature_names_in_) == [f"f{j}" for j in range(X.shape[1])]
    same(scores(model, frame), scores(plain, X), case)
    if hasattr(model, "predict_proba"):
        same(model.predict_proba(frame), plain.predict_proba(X), case)
    wrong_order = [f"f{j}" for j in (1, 0, 2, 3, 4)]
    other_order = frame.select(wrong_order) if "pyarrow" in kind else frame[wrong_order]
    for wrong in (other_order, pd.DataFrame(X, columns=list("abcde"))):
        with pytest.raises(ValueError, match=r"(?i)feature names"):
            model.predict(wrong)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert "f0" not in repr(model.ensemble_)


@one_of_each()
def test_frames_with_mixed_number_types(case: Case) -> None:
    X, y = case.tied(5, 60)
    mixed = pd.DataFrame({"a": X[:, 0].astype(np.int8), "b": X[:, 1] > 2, "c": X[:, 2].astype(np.float32)})
    plain = np.column_stack([X[:, 0], X[:, 1] > 2, X[:, 2]]).astype(float)
    same(scores(case.make().fit(mixed, y), mixed), scores(case.make().fit(plain, y), plain), case)
    table = pa.Table.from_pandas(mixed)
    np.testing.assert_array_equal(scores(case.make().fit(table, y), table), scores(case.make().fit(mixed, y), mixed))
    if not case.missing:
        return
    polars_null = pl.DataFrame({"a": [None if v == 1 else v for v in X[:, 0].tolist()], "b": X[:, 1].tolist()})
    with_nan = np.column_stack([np.where(X[:, 0] == 1, np.nan, X[:, 0]), X[:, 1]])
    same(scores(case.make().fit(polars_null, y), polars_null), scores(case.make().fit(with_nan, y), with_nan), case)


@on_readers(["int8", "uint8", "int64", "uint64", "bool", "float16", "float32", "longdouble", "object"])
def test_number_types(case: Case, dtype: str) -> None:
    X, y = case.tied(6, 60)
    X = (X > 2).astype(float) if dtype == "bool" else X
    base, model = case.make().fit(X, y), case.make().fit(X.astype(dtype), y)
    same(scores(model, X.astype(dtype)), scores(base, X), case)


@on_readers([f"{form}_{kind}" for form in ("csr", "csc", "coo", "lil", "dok", "bsr") for kind in ("matrix", "array")])
def test_sparse_forms(case: Case, form: str) -> None:
    X, y = case.tied(7, 60)
    X[X < 2] = 0
    sparse = getattr(scipy.sparse, form)(X)
    tight = {"tol": 1e-9} if "tol" in case.make().get_params() else {}
    model, dense = case.make(**tight).fit(sparse, y), case.make(**tight).fit(X, y)
    same(scores(model, sparse), scores(dense, X), case)
    if case.classifies:
        np.testing.assert_array_equal(model.predict(X), dense.predict(sparse))
    if case.boosted:
        np.testing.assert_array_equal(list(model.staged_predict(sparse)), list(dense.staged_predict(X)))


@over()
def test_sparse_equals_dense(case: Case) -> None:
    X, y = case.data(8)
    X[np.abs(X) < 0.5] = 0
    sparse = scipy.sparse.csr_array(X)
    columns_given = getattr(case.make(), "family", None) == "given"
    tight = {"tol": 1e-9, "n_rounds": 20_000} if columns_given else {}
    model, dense = case.make(**tight).fit(sparse, y), case.make(**tight).fit(X, y)
    same(scores(model, sparse), scores(dense, X), case)
    same(scores(dense, sparse), scores(dense, X), case)


@one_of_each(lambda case: case.missing and case.n_classes == 2)
def test_frames_of_sparse_columns(case: Case) -> None:
    """Those that leave out missing values are pandas' own, which scikit-learn does not read."""
    X, y = case.data(8, missing=0.3)
    plain = pd.DataFrame(X, columns=list("abcde"))
    frame = plain.apply(pd.arrays.SparseArray)
    model = case.make().fit(frame, y)
    np.testing.assert_array_equal(scores(model, frame), scores(case.make().fit(plain, y), plain))
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.n_classes_ == 2


@one_of_each(lambda case: case.missing)
def test_sparse_with_stored_zeros_missing_values_and_many_rows(case: Case) -> None:
    rng = np.random.default_rng(8)
    X, y = case.data(8, m=3000)
    X = np.where(rng.random(X.shape) < 0.8, 0.0, X)
    X[rng.random(X.shape) < 0.02] = np.nan
    sparse = scipy.sparse.csr_matrix(X)
    sparse.data[:5] = 0.0
    dense = sparse.toarray()
    np.testing.assert_array_equal(scores(case.make().fit(sparse, y), sparse), scores(case.make().fit(dense, y), dense))


@one_of_each()
def test_input_is_left_alone(case: Case) -> None:
    X, y = case.data(9, missing=0.1)
    w = np.ones(len(X))
    kept = X.copy(), y.copy(), w.copy()
    for array in (X, y, w):
        array.flags.writeable = False
    model = case.make().fit(X, y, sample_weight=w)
    model.predict(X)
    for array, before in zip((X, y, w), kept, strict=True):
        np.testing.assert_array_equal(array, before)


@one_of_each()
def test_negative_zero_is_zero(case: Case) -> None:
    X, y = case.tied(10, 60)
    other = np.where(X == 0, -0.0, X)
    model = case.make().fit(X, y)
    np.testing.assert_array_equal(scores(case.make().fit(other, y), X), scores(model, other))


@over()
def test_float32_prediction_equals_float64_prediction(case: Case) -> None:
    X, y = case.data(11, m=100, missing=0.05)
    model = case.make().fit(X, y)
    rounded = X.astype(np.float32)
    same(scores(model, rounded), scores(model, rounded.astype(np.float64)), case)


@over(lambda case: case.splits)
def test_units_of_columns_do_not_matter(case: Case) -> None:
    """Powers of two lose no bit: the same questions are asked in another unit."""
    X, y = case.data(12, missing=0.05)
    units = 2.0 ** np.array([-30, 3, 0, 40, -1])
    model, other = case.make().fit(X, y), case.make().fit(X * units, y)
    same(scores(other, X * units), scores(model, X), case)
    assert _plain_history(other) == pytest.approx(_plain_history(model), rel=1e-4 if case.sums_of_floats else 0.0)


def _plain_history(model: Any) -> list[float]:
    return [value for column in model.history_.values() for value in column]


@over(lambda case: not case.splits and case.sums_of_floats and "kernel" not in case.name and not case.draws_rows)
def test_units_of_standardized_columns_do_not_matter(case: Case) -> None:
    X, y = case.data(12)
    units = 2.0 ** np.array([-30, 3, 0, 40, -1])
    folds = {"cv": GIVEN_FOLDS} if case.folds else {}  # those by content know the units
    model, other = case.make(**folds).fit(X, y), case.make(**folds).fit(X * units, y)
    np.testing.assert_allclose(scores(other, X * units), scores(model, X), rtol=1e-5, atol=1e-5)


def looking_at_everything(case: Case) -> dict[str, Any]:
    """No draws of columns and thresholds, no folds by content, and no complexity, which knows the number of columns."""
    quiet = {"max_features": None, "thresholds": "best", "complexity_penalty": 0.0, "cv": GIVEN_FOLDS}
    model = case.make()
    return {name: value for name, value in quiet.items() if name in (*model.get_params(), *model._tree_options_read)}


@over(lambda case: "kernel" not in case.name)  # their width follows the number of columns
def test_constant_columns_do_nothing(case: Case) -> None:
    """A column of missing values is a constant too."""
    X, y = case.data(13)
    constants = [np.full(len(X), 7.0), np.full(len(X), np.nan if case.missing else 0.0)]
    padded = np.column_stack([X, *constants])
    model = case.make(**looking_at_everything(case)).fit(padded, y)
    if case.importances:
        assert np.all(model.feature_importances_[X.shape[1] :] == 0)
    assert np.all(np.isfinite(scores(model, padded)))
    if not case.draws_rows and not case.held_back:
        same(scores(model, padded), scores(case.make(**looking_at_everything(case)).fit(X, y), X), case)


@over(lambda case: "kernel" not in case.name)
def test_duplicate_columns(case: Case) -> None:
    """Twins of columns change nothing that a model says: of equal questions the first is asked.

    A penalty without a corner at zero is cheaper for a weight in two halves; that of Q is such a one. The twin of a
    column with a constraint has none.
    """
    X, y = case.data(14)
    twice = np.hstack([X, X])
    model = case.make(**looking_at_everything(case)).fit(twice, y)
    assert np.all(np.isfinite(scores(model, twice)))
    induced = case.sums_of_floats and getattr(case.make(), "family", "given") != "given"
    others = ("stump pairs", "smooth_l1", "Agnostic", "monotone", "pairwise")
    if case.draws_rows or case.held_back or induced or case.folds or case.sourced:
        return
    if any(other in case.name for other in others):
        return
    plain = scores(case.make(**looking_at_everything(case)).fit(X, y), X)
    if case.sums_of_floats:
        np.testing.assert_allclose(scores(model, twice), plain, rtol=1e-3, atol=1e-3)
    else:
        np.testing.assert_array_equal(scores(model, twice), plain)


@over()
def test_missing_values(case: Case) -> None:
    """A class that shows only in what is missing can be learned; estimators without missing values say so."""
    X, y = case.data(15, m=120)
    X[np.argsort(np.atleast_2d(y.T)[0])[-30:], 0] = np.nan
    if not case.missing:
        with pytest.raises(ValueError, match=r"(?i)NaN|missing"):
            case.make().fit(X, y)
        X = np.nan_to_num(X)
        model = case.make().fit(X, y)
        X[3, 1] = np.nan
        with pytest.raises(ValueError, match=r"(?i)NaN|missing"):
            model.predict(X)
        return
    model = case.make().fit(X, y)
    assert np.all(np.isfinite(scores(model, X)))
    nothing = np.full_like(X, np.nan)
    # Rows that are all equal are dealt out copy by copy, so that some can be held back.
    assert np.all(np.isfinite(scores(case.make().fit(nothing, y), X)))


COLOURS = np.array(["black", "blue", "green", "red", "white"])


def coloured(case: Case, seed: int = 16, m: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """A column of text that the labels follow without order, and one of numbers; some cells are missing."""
    make = tiny_classes if case.n_classes > 2 else tiny
    X, y = make(seed, m=m, d=2, **({"n_classes": case.n_classes} if case.n_classes > 2 else {}))
    codes = (np.unique(y, return_inverse=True)[1] * 2 + (X[:, 1] > 2)) % 5
    names = pd.Series(COLOURS[codes]).mask(np.random.default_rng(seed).random(m) < 0.1, None)
    frame = pd.DataFrame({"number": X[:, 1], "colour": names.astype("category")})
    return frame, y if case.classifies else 2.0 + y + X[:, 1] / 8.0


@over(lambda case: case.categories and "monotone" not in case.name)
def test_categories(case: Case) -> None:
    """With new ones at prediction; neither threads, nor order, nor copies, nor names matter."""
    frame, y = coloured(case)
    model = case.make().fit(frame, y)
    first = essence(model, frame)
    assert len(model.ensemble_) > 0
    renamed = frame.assign(colour=frame["colour"].cat.rename_categories(dict(zip(COLOURS, "vwxyz", strict=True))))
    np.testing.assert_array_equal(scores(case.make().fit(renamed, y), renamed), scores(model, frame))
    rng = np.random.default_rng(0)
    order, copies = rng.permutation(len(y)), rng.integers(1, 4, len(y))
    assert essence(case.make(n_jobs=3).fit(frame.iloc[order], y[order]), frame) == first
    repeated = np.repeat(np.arange(len(y)), copies)
    weighted = case.make().fit(frame, y, copies)
    assert essence(case.make().fit(frame.iloc[repeated], y[repeated]), frame) == essence(weighted, frame)
    unseen = frame.assign(colour=pd.Categorical(["violet"] * len(frame)))
    missing = frame.assign(colour=pd.Categorical([None] * len(frame), categories=COLOURS))
    np.testing.assert_array_equal(scores(model, unseen), scores(model, missing))


TEXTS: dict[str, Any] = {
    "pandas str": lambda frame: frame.astype({"colour": "str"}),
    "pandas string": lambda frame: frame.astype({"colour": "string"}),
    "pandas objects": lambda frame: frame.astype({"colour": object}),
    "pandas arrow": lambda frame: frame.astype({"colour": pd.ArrowDtype(pa.string())}),
    "polars": lambda frame: pl.from_pandas(frame.astype({"colour": "string"})),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame.astype({"colour": "string"})),
    "pyarrow large": lambda frame: pa.Table.from_pandas(frame).cast(
        pa.schema([("number", pa.float64()), ("colour", pa.large_string())])
    ),
}


@on_readers(TEXTS, lambda case: case.categories and "monotone" not in case.name)
def test_columns_of_text_are_categories(case: Case, form: str) -> None:
    """Without their being named there is a warning, which can be silenced; what is new at prediction is missing."""
    frame, y = coloured(case, m=400)
    model = case.make().fit(frame, y)
    text = TEXTS[form](frame)
    with pytest.warns(TextColumnWarning, match=r"column 'colour'.*categorical_features=\['colour'\]") as caught:
        taken = case.make().fit(text, y)
    assert [warning.filename for warning in caught] == [hooks.__file__ if case.sourced else __file__]
    assert "radboost.rows.TextColumnWarning" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = case.make(categorical_features=["colour"]).fit(text, y)
        expected = scores(model, frame)
        for other in (taken, named):
            assert other.categories_ == model.categories_
            np.testing.assert_array_equal(scores(other, text), expected)
        unseen = TEXTS[form](frame.assign(colour=pd.Categorical(["violet"] * len(frame))))
        missing = frame.assign(colour=pd.Categorical([None] * len(frame), categories=COLOURS))
        np.testing.assert_array_equal(scores(taken, unseen), scores(model, missing))
        warnings.simplefilter("ignore", TextColumnWarning)
        case.make().fit(text, y)


@one_of_each(lambda case: case.categories)
def test_columns_of_text_that_cannot_be_categories(case: Case) -> None:
    X, y = case.data(17, m=300)
    frame = pd.DataFrame({"age": X[:, 0], "street": [f"street {k}" for k in range(300)]})
    for form in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.warns(TextColumnWarning), pytest.warns(RareCategoriesWarning, match="'street' holds 300"):
            model = case.make().fit(form, y)
        assert len(model.categories_[1]) == 255
        with pytest.raises(ValueError, match=r"X holds text.* in column 'street'.*categorical_features"):
            case.make(categorical_features=None).fit(form, y)
    mixed = frame.assign(street=np.array(["a", 1, None] * 100, dtype=object))
    with pytest.raises(ValueError, match=r"X holds text.* in column 'street'.*categorical_features"):
        case.make().fit(mixed, y)


@one_of_each(lambda case: case.categories)
def test_text_in_a_column_of_numbers_at_prediction(case: Case) -> None:
    X, y = case.data(17)
    model = case.make().fit(pd.DataFrame(X[:, :2], columns=["age", "city"]), y)
    frame = pd.DataFrame({"age": X[:, 0], "city": "x"})
    for form in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"X holds text.* in column 'city'"):
            model.predict(form)


@one_of_each()
def test_lazy_frames_are_refused(case: Case) -> None:
    X, y = case.data(17)
    with pytest.raises(TypeError, match=r"X is a LazyFrame.*X\.collect\(\)"):
        case.make().fit(FRAMES["polars"](X).lazy(), y)


@one_of_each(lambda case: not case.categories)
@pytest.mark.filterwarnings("ignore::radboost.rows.TextColumnWarning")
def test_text_is_refused_where_there_are_no_categories(case: Case) -> None:
    X, y = case.data(17)
    frame = pd.DataFrame({"age": X[:, 0], "city": np.where(X[:, 1] > 0, "x", "y")})
    for form in (frame, frame.astype({"city": object}), pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"column 'city'"):
            case.make().fit(form, y)
        if case.sums_of_floats:
            with pytest.raises(ValueError, match=rf"column 'city'.*{type(case.make()).__name__}.*encode them"):
                case.make().fit(form, y)
