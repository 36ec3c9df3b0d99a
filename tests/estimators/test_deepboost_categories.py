"""Categorical columns through the estimator: how they may be passed, and what must not change the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import radboost
from radboost import DeepBoostClassifier, KernelFamily, complexity
from radboost.rows import RareCategoriesWarning
from radboost.trees import with_tree_options

COLOURS = np.array(["black", "blue", "green", "red", "white"])


def quick(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(
        **with_tree_options({"n_rounds": 15, "max_depth": 3, "complexity_penalty": 0.0, **changes})
    )


def make_rows(seed: int = 0, m: int = 200, n_classes: int = 2, missing: float = 0.1) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, integers, booleans and numbers; the label needs the colour and the number of doors."""
    rng = np.random.default_rng(seed)
    colour, doors = rng.integers(0, 5, m), rng.integers(2, 6, m)
    sold, width = rng.random(m) < 0.5, rng.normal(size=m)
    y = ((colour * 3 % 5 > 2).astype(int) + (doors % 2) * (width > 0) + (rng.random(m) < 0.1)) % n_classes
    y[:n_classes] = range(n_classes)
    frame = pd.DataFrame({"width": width, "colour": COLOURS[colour], "doors": doors, "sold": sold}).astype(object)
    frame = frame.mask(rng.random(frame.shape) < missing, None)
    frame["width"] = frame["width"].astype(float)
    return frame, y


NAMED = ["colour", "doors", "sold"]


def as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(NAMED, "category"))


def as_polars(frame: pd.DataFrame, colour: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "width": pl.Series(frame["width"].to_numpy()).fill_nan(None),
            "colour": pl.Series([v if isinstance(v, str) else None for v in frame["colour"]]).cast(colour),
            "doors": [None if pd.isna(v) else int(v) for v in frame["doors"]],
            "sold": [None if pd.isna(v) else bool(v) for v in frame["sold"]],
        }
    )


FORMS: dict[str, tuple[Any, Any]] = {
    "names of object columns": (lambda f: f, NAMED),
    "array of names": (lambda f: f, np.array(NAMED)),
    "index of names": (lambda f: f, pd.Index(NAMED)),
    "category columns": (as_categories, "from_dtype"),
    "category columns by name": (as_categories, tuple(NAMED)),
    "nullable columns": (lambda f: f.convert_dtypes(), NAMED),
    "polars strings": (lambda f: as_polars(f, pl.String), NAMED),
    "polars categorical": (lambda f: as_polars(f, pl.Categorical), NAMED),
    "polars enum": (lambda f: as_polars(f, pl.Enum(["white", "red", "x", "green", "blue", "black"])), [1, 2, 3]),
    "object array": (lambda f: f.to_numpy(), [1, 2, 3]),
    "object array, mask": (lambda f: f.to_numpy(), [False, True, True, True]),
    "array of indices": (lambda f: f.to_numpy(), np.array([3, 1, 2, 1])),
    "mask as an array": (lambda f: f.to_numpy(), np.array([False, True, True, True])),
    "lists": (lambda f: f.to_numpy().tolist(), [1, 2, 3]),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_every_form_gives_the_same_model(form: str, n_classes: int) -> None:
    frame, y = make_rows(1, n_classes=n_classes)
    convert, named = FORMS[form]
    base = quick(categorical_features=NAMED).fit(frame, y)
    model = quick(categorical_features=named).fit(convert(frame), y)
    assert model.categories_ == {1: tuple(COLOURS.tolist()), 2: (2, 3, 4, 5), 3: (False, True)}
    expected = base.decision_function(frame)
    np.testing.assert_array_equal(model.decision_function(convert(frame)), expected)
    assert repr(base.ensemble_).replace("x[", "").count("{") == repr(model.ensemble_).count("{") > 0
    # A model does not care in which form later rows come.
    np.testing.assert_array_equal(model.predict(frame.to_numpy()), base.predict(frame))


def test_from_dtype_leaves_numbers_alone() -> None:
    frame, y = make_rows(2, missing=0.0)
    half = as_categories(frame).astype({"doors": int, "sold": bool})
    model = quick().fit(half, y)
    assert list(model.categories_) == [1]
    assert quick().fit(frame[["width", "doors", "sold"]].astype(float), y).categories_ == {}
    # Without the parameter a category column of numbers is a column of numbers.
    numbers = frame[["width", "doors"]].astype({"doors": int})
    plain = quick(categorical_features=None).fit(numbers.astype({"doors": "category"}), y)
    np.testing.assert_array_equal(plain.decision_function(numbers), quick().fit(numbers, y).decision_function(numbers))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("colour", 'is not known; use "from_dtype", None, or a list'),
        (1, "is not a list"),
        ([[1]], "is not a list"),
        ([1, "colour"], "is neither"),
        ([1.0], "is neither"),
        ([None], "is neither"),
        ([True], "a mask of 1 entries for 4 columns"),
        ([4], "names column 4; X has the columns 0 to 3"),
        ([-1], "names column -1"),
        (["color"], r"names the column 'color'; X has the columns \['width', 'colour', 'doors', 'sold'\]"),
    ],
    ids=str,
)
def test_wrong_parameters_say_what_to_do(given: Any, message: str) -> None:
    frame, y = make_rows(3)
    with pytest.raises(ValueError, match=message):
        quick(categorical_features=given).fit(frame, y)


def test_wrong_columns_say_what_to_do() -> None:
    frame, y = make_rows(3, m=40)
    with pytest.raises(ValueError, match="Kernel hypotheses measure distances, and column 'colour' is categorical"):
        quick(family=["trees", KernelFamily()], categorical_features=NAMED).fit(frame.fillna({"width": 0.0}), y)
    two = frame[["colour", "width"]]
    for named, X, message in (
        (NAMED, frame.to_numpy(), r"X has no column names. Pass a data frame"),
        (["doors", "sold"], frame, r"column 'colour'.*name categorical columns in categorical_features"),
        ([2], scipy.sparse.csr_matrix(np.eye(40)), r"need a dense X.*X.toarray"),
        ([0], np.arange(40), r"shape \(40,\). Reshape your data"),
        (
            ["colour"],
            two.assign(colour=pd.Timestamp("2020-02-02")),
            "Column 'colour' is categorical and holds .*astype",
        ),
        ("from_dtype", two.assign(colour=pd.cut(two["width"], 3)), "Column 'colour' is categorical and holds Interval"),
    ):
        with pytest.raises(ValueError, match=message):
            quick(categorical_features=named).fit(X, y)
    for strange in ([], (1, 2), 1j, b"x", float("inf")):
        column = np.empty((40, 1), dtype=object)
        column[:, 0] = [strange] * 40
        with pytest.raises(ValueError, match="categor"):
            quick(categorical_features=[0]).fit(column, y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_unknown_and_missing_categories() -> None:
    """Whatever training has not seen is missing, and so is everything that stands for nothing."""
    frame, y = make_rows(4)
    model = quick(categorical_features=NAMED, thresholds="best").fit(frame, y)
    expected = model.decision_function(frame.assign(colour=None, doors=None))
    for nothing in (np.nan, pd.NA, pd.NaT, "purple", 17, float("inf"), "", ()):
        strange = frame.assign(colour=pd.Series([nothing] * 200, dtype=object), doors=None)
        np.testing.assert_array_equal(model.decision_function(strange), expected)
    as_category = frame.assign(colour=pd.Series(["purple"] * 200, dtype="category"), doors=99)
    np.testing.assert_array_equal(model.decision_function(as_category), expected)


def test_numbers_equal_numbers_of_another_type() -> None:
    """Integers become floats in a column that misses some, and booleans integers."""
    frame, y = make_rows(6, missing=0.0)
    model = quick(categorical_features=["doors", "sold"]).fit(frame.drop(columns="colour"), y)
    rows = frame.drop(columns="colour")
    other = rows.astype({"doors": np.float32, "sold": np.int8})
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(rows))
    assert quick(categorical_features=["doors", "sold"]).fit(other, y).categories_ == {1: (2, 3, 4, 5), 2: (0, 1)}


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_of_every_kind(order: int) -> None:
    cells = [True, 1, 2.5, "1", "a", None, 2.0, -7, 1.0, "\u00e6"][::order]
    X = np.array(cells * 8, dtype=object)[:, None]
    model = quick(categorical_features=[0], n_rounds=2).fit(X, np.arange(80) % 2)
    assert model.categories_ == {0: (-7, 1, 2, 2.5, "1", "a", "\u00e6")}
    assert [type(value) for value in model.categories_[0]] == [int, int, int, float, str, str, str]


def column_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tile(np.arange(n), 4)[:, None] * 1000, np.tile(np.random.default_rng(0).integers(0, 2, n), 4)


def test_255_categories_are_told_apart() -> None:
    X, y = column_of(255)
    model = DeepBoostClassifier.paper(3, categorical_features=[0]).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.predict(X.astype(str).astype(object)).tolist() == [model.predict([[-1]])[0]] * len(X)
    X, y = column_of(256)
    # Rows of weight zero are not there, and neither are their categories.
    weights = np.where(X[:, 0] == 0, 0.0, 1.0)
    model = quick(categorical_features=[0]).fit(X, y, sample_weight=weights)
    assert len(model.categories_[0]) == 255
    kept = quick(categorical_features=[0]).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(model.decision_function(X), kept.decision_function(X))


def test_rare_categories_are_missing_values() -> None:
    rng = np.random.default_rng(1)
    frequent, rare = np.repeat(np.arange(250), 6), 1000 + np.arange(300)
    codes = rng.permutation(np.concatenate([frequent, np.repeat(rare[-5:], 3), rare]))
    y = rng.integers(0, 2, len(codes))
    X = np.column_stack([codes, rng.normal(size=len(codes))])
    message = r"Column 0 holds 550 categories; the 255 most frequent are told apart, and the others.*TargetEncoder"
    with pytest.warns(RareCategoriesWarning, match=message) as told:
        model = quick(categorical_features=[0]).fit(X, y)
    assert told[0].filename == __file__
    assert model.categories_[0] == (*range(250), *rare[-5:].tolist())
    by_hand = X.copy()
    by_hand[np.isin(codes, rare[:-5]), 0] = np.nan
    merged = quick(categorical_features=[0]).fit(by_hand, y)
    np.testing.assert_array_equal(model.decision_function(X), merged.decision_function(by_hand))
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(by_hand))
    # Weights are copies, and the order of the rows does not matter, nor that of their weights.
    weights = rng.integers(1, 4, len(y))
    order = rng.permutation(len(y))

    def fitted(*rows: Any) -> Any:
        with pytest.warns(RareCategoriesWarning):
            return quick(categorical_features=[0]).fit(*rows)

    weighted = fitted(X, y, weights)
    repeated = fitted(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    moved, again = fitted(X[order], y[order], 1.1 * weights[order]), fitted(X, y, 1.1 * weights)
    assert weighted.categories_ == repeated.categories_
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    np.testing.assert_array_equal(moved.decision_function(X), again.decision_function(X))


def test_declared_categories_need_not_occur() -> None:
    declared = pd.CategoricalDtype([f"c{i}" for i in range(1000)])
    frame = pd.DataFrame({"c": pd.Series(["c7", "c999", None] * 20, dtype=declared), "x": np.arange(60.0)})
    model = quick().fit(frame, np.tile([0, 1, 1], 20))
    assert model.categories_ == {0: ("c7", "c999")}
    assert model.score(frame, np.tile([0, 1, 1], 20)) == 1.0


# --- what must not change the model -----------------------------------------------------------------------------


def test_two_categories_are_like_two_numbers() -> None:
    frame, y = make_rows(9, missing=0.0)
    numbers = frame[["width", "sold"]].astype(float)
    as_number = DeepBoostClassifier.paper(10, categorical_features=None).fit(numbers, y)
    as_category = DeepBoostClassifier.paper(10, categorical_features=["sold"]).fit(numbers, y)
    # Which of the two is left depends on the label, so that only the sign of a stump may differ.
    np.testing.assert_allclose(as_category.decision_function(numbers), as_number.decision_function(numbers), atol=1e-12)
    np.testing.assert_allclose(as_category.ensemble_.complexities, as_number.ensemble_.complexities)


CELLS = st.one_of(
    st.text(max_size=3), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_infinity=False), st.none()
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=6, max_size=40), st.integers(0, 10**6))
def test_round_trip_of_any_categories(tmp_path: Path, cells: list[tuple[Any, Any]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.empty((len(cells), 3), dtype=object)
    X[:, :2], X[:, 2] = cells, rng.integers(0, 3, len(cells))
    y = np.r_[0, 1, rng.integers(0, int(rng.integers(2, 4)), len(cells) - 2)]
    model = quick(n_rounds=4, categorical_features=[0, 1]).fit(X, y)
    model.save(tmp_path / "m")
    loaded = radboost.load(tmp_path / "m")
    assert loaded.categories_ == model.categories_
    kinds = [[type(value) for value in known] for known in model.categories_.values()]
    assert [[type(value) for value in known] for known in loaded.categories_.values()] == kinds
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert repr(loaded.ensemble_) == repr(model.ensemble_)


def test_questions_read_as_questions() -> None:
    X = np.array([["red"], ["blue"], ["green"], [None]] * 20, dtype=object)
    stump = DeepBoostClassifier.paper(1, family="stumps", categorical_features=[0])
    assert "[-1 if x[0] in {blue, red} else +1]" in repr(stump.fit(X, [0, 0, 1, 1] * 20).ensemble_)
    frame = pd.DataFrame(X, columns=["colour"])
    assert "[-1 if colour is not missing else +1]" in repr(stump.fit(frame, [0, 0, 0, 1] * 20).ensemble_)
    numbers = np.arange(20)[:, None].repeat(4, axis=0)
    shown = repr(stump.fit(numbers, (numbers[:, 0] % 2)).ensemble_)
    assert "[-1 if x[0] in {0, 2, 4, 6, 6 more} else +1]" in shown


# --- complexity --------------------------------------------------------------------------------------------------


def test_subsets_are_counted_as_columns() -> None:
    """ERRATA of the bounds: 2^(q - 1) - 1 ways to part q categories in two, twice that with missing values."""

    def d(*columns: tuple[int, bool, bool]) -> float:
        n_bins, missing, categorical = (np.array(part) for part in zip(*columns, strict=True))
        return complexity.n_questions(n_bins.astype(np.uint16), missing, categorical)

    assert d((255, False, False), (3, True, False)) == 3
    assert d((5, False, True)) == 15
    assert d((5, True, True), (200, False, False)) == 31
    assert d((2, False, True), (1, False, True), (0, True, True)) == 4
    assert d((255, True, True)) == 2.0**255
    huge = d(*[(255, True, True)] * 100_000)
    for value in (
        complexity.stumps(1e15, huge),
        complexity.stump_pairs(1e15, huge),
        complexity.trees(63, 1e15, huge),
    ):
        assert 0 < value < 1
    assert complexity.stumps(1e6, huge) == pytest.approx(
        np.sqrt(2 * (np.log(2e6) + 255 * np.log(2) + np.log(1e5)) / 1e6)
    )


def test_a_model_pays_for_its_subsets() -> None:
    frame, y = make_rows(14, missing=0.0)
    rows = frame[["width", "colour", "doors"]]
    model = quick(family="stumps", categorical_features=["colour", "doors"]).fit(rows, y)
    bits = {"width": 0, "colour": 4, "doors": 3}  # of five colours and four numbers of doors
    asked = set()
    for stump, paid in zip(model.ensemble_.hypotheses, model.ensemble_.complexities, strict=True):
        column = rows.columns[stump.feature[0]] if stump.n_splits else None
        assert paid == pytest.approx(complexity.stumps(200.0, 3.0, bits.get(column, 0)), rel=1e-15)
        asked.add(column)
    assert len(asked) > 1
    assert model.ensemble_.n_families == 5  # by their bits: none to four
    with_gap = rows.copy()
    with_gap.loc[0, "colour"] = None
    model = quick(family="stumps", categorical_features=["colour", "doors"]).fit(with_gap, y)
    paid = {
        rows.columns[h.feature[0]]: r
        for h, r in zip(model.ensemble_.hypotheses, model.ensemble_.complexities, strict=True)
    }
    assert paid["colour"] == pytest.approx(complexity.stumps(200.0, 4.0, 4), rel=1e-15)


def test_trees_pay_for_the_columns_they_ask() -> None:
    """Each by its own questions, of every size on the way; a rich column costs those alone that ask it."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 51, 600), rng.normal(size=(600, 3))])
    y = (X[:, 1] + (X[:, 0] % 2) + 0.5 * rng.normal(size=600) > 0.5).astype(int)
    X[::7, 3] = np.nan
    model = DeepBoostClassifier(30, categorical_features=[0], max_depth=3, complexity_penalty=0.003).fit(X, y)
    bits = np.array([50, 0, 0, 0])
    free = 0
    for tree, paid in zip(model.ensemble_.hypotheses, model.ensemble_.complexities, strict=True):
        asked = tree.feature[tree.feature >= 0]
        assert len(asked) == tree.n_splits
        expected = complexity.trees(tree.n_splits, 600.0, 5.0, int(bits[asked].sum()))  # four, one of them twice
        assert paid == pytest.approx(expected, rel=1e-15)
        free += not bits[asked].any()
    assert 0 < free < len(model.ensemble_)
    without = DeepBoostClassifier(30, max_depth=3, complexity_penalty=0.003).fit(X[:, 1:3], y)
    assert model.ensemble_.n_families == without.ensemble_.n_families * (1 + 7 * 50)


def test_pairs_pay_for_a_question_once() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 2)).astype(float)
    y = ((X[:, 0] % 2 == 0) & (X[:, 1] % 3 > 0)).astype(int)
    model = DeepBoostClassifier.paper(3, family="stump_pairs", categorical_features=[0, 1]).fit(X, y)
    assert max(h.n_nodes for h in model.ensemble_.hypotheses) == 7
    for pair, paid in zip(model.ensemble_.hypotheses, model.ensemble_.complexities, strict=True):
        if pair.n_nodes == 7:
            assert paid == pytest.approx(complexity.stump_pairs(300.0, 2.0, 10), rel=1e-15)


def test_bits_of_questions() -> None:
    n_bins = np.array([255, 3, 5, 5, 2, 1, 0, 255], dtype=np.uint16)
    categorical = np.array([False, False, True, True, True, True, True, True])
    assert complexity.question_bits(n_bins, categorical).tolist() == [0, 0, 4, 4, 0, 0, 0, 254]
    assert complexity.n_columns(np.array([False, True, False, True])) == 6
    for q in range(1, 12):  # as many bits as tell all ways apart, and not one more
        ways = max(2 ** (q - 1) - 1, 1)
        found = complexity.question_bits(np.array([q]), np.array([True]))[0]
        assert found == int(np.ceil(np.log2(ways)))
    for m, d in ((50.0, 3), (1e4, 20)):
        assert complexity.trees(3, m, d, 5) ** 2 == pytest.approx(
            complexity.trees(3, m, d) ** 2 + 2 * 5 * np.log(m + 1) / m
        )
        assert complexity.stumps(m, d, 3) == pytest.approx(complexity.stumps(m, 8 * d))
        assert complexity.stump_pairs(m, d, 2) ** 2 == pytest.approx(
            complexity.stump_pairs(m, d) ** 2 + 4 * np.log(2) / m
        )
