"""One row in words: the numbers add up, follow the model, and say what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from hand_made import tree
from properties.hooks import with_sources
from radboost import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    KernelFamily,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
    SupervisedKernelProjection,
    TreeOptions,
    guarantees,
    load,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.explain import Asked, Explanation
from radboost.explain.explanation import gather
from radboost.explain.paths import company, expected_values, leaf_values, questions_on_paths
from radboost.structured import SequenceClassifier
from radboost.trees.describe import TreeNames
from reference.data import smooth, smooth_classes

X, Y = smooth(0, m=120, d=5, missing=0.1)
CLASSES = smooth_classes(0, m=120, d=5, n_classes=4, missing=0.1)
FULL, FULL_Y = smooth(1, m=120, d=5)
NUMBERS = 2.0 + FULL[:, 0] + 0.1 * FULL[:, 1]
NUMBERS -= NUMBERS.min() - 0.25
RATED = {"tree_options": TreeOptions(leaves="rated")}
VOTES = {"tree_options": TreeOptions(leaves="votes")}
TREES: list[tuple[Any, np.ndarray, np.ndarray]] = [
    (DeepBoostClassifier(n_rounds=12, **VOTES), X, Y),
    (DeepBoostClassifier(n_rounds=12, **RATED), X, Y),
    (DeepBoostClassifier(n_rounds=12, **VOTES), *CLASSES),
    (DeepBoostClassifier(n_rounds=12, **RATED), *CLASSES),
    (SoftmaxBoostClassifier(n_rounds=12), *CLASSES),
    (RGBClassifier(n_rounds=12), X, Y),
    (RGBClassifier(n_rounds=12), *CLASSES),
    (RGBRegressor(n_rounds=12), FULL, NUMBERS),
    (RGBRegressor(n_rounds=12, loss="poisson"), FULL, NUMBERS),
    (AgnosticBoostClassifier(n_rounds=8, losses=("cross_entropy", "hinge")), *CLASSES),
    (AdaBoostMHClassifier(n_rounds=8, max_leaves=4), *CLASSES),
    (SAMMEClassifier(n_rounds=8, max_leaves=4), X, Y),
]
FORMULAS: list[tuple[Any, np.ndarray, np.ndarray]] = [
    (SparseBoostClassifier(alpha=0.02), FULL, FULL_Y),
    (SparseBoostClassifier(alpha=0.02), np.nan_to_num(CLASSES[0]), CLASSES[1]),
    (SparseBoostClassifier(alpha=0.05, family="products", tol=0.03), FULL, FULL_Y),
    (SparseBoostClassifier(alpha=0.05, family="stumps", tol=0.03), FULL, FULL_Y),
    (SparseBoostRegressor(), FULL, NUMBERS),
    (AgnosticClassifier(n_rounds=20), FULL, FULL_Y),
]


def kind(value: Any) -> str:
    return type(value).__name__


def sums(found: Explanation) -> list[float]:
    """What contributions and questions make of the base."""
    parts = [found.contributions, *([found.questions] if found.questions else [])]
    return [found.base + sum(one.effect for one in some) for some in parts]


def check_answer(model: Any, row: np.ndarray, found: Explanation) -> None:
    """The answer is that of `predict`, and the score that of `decision_function`."""
    assert found.answer == model.predict(row[None])[0]
    if not hasattr(model, "classes_"):
        assert found.runner_up is None
        assert found.probability is None
        assert found.margin is None
        return
    scores = model.decision_function(row[None])[0]
    classes = model.classes_.tolist()
    if np.ndim(scores) == 0:
        assert found.score == abs(scores)
        assert found.runner_up == next(one for one in classes if one != found.answer)
    else:
        order = np.argsort(-scores, kind="stable")
        assert [found.answer, found.runner_up] == [classes[place] for place in order[:2]]
        assert found.score == scores[order[0]] - scores[order[1]]
    assert found.probability == model.predict_proba(row[None])[0][classes.index(found.answer)]


@pytest.mark.parametrize(("model", "rows", "y"), TREES, ids=kind)
def test_trees(model: Any, rows: np.ndarray, y: np.ndarray) -> None:
    model.fit(rows, y)
    for row in rows[:6]:
        found = model.explain(row)
        check_answer(model, row, found)
        if not hasattr(model, "classes_"):
            assert found.score == pytest.approx(np.sum(model.predict_contributions(row[None])), abs=1e-9)
        np.testing.assert_allclose(sums(found), found.score, atol=1e-9)
        for parts in (found.contributions, found.questions):
            assert (np.diff([abs(one.effect) for one in parts]) <= 0).all()
        assert found.sample_size == len(rows)
        if isinstance(model, SoftmaxBoostClassifier):  # its trees count drawn pairs
            assert found.alike is found.fewest_alike is None
            assert "share its leaf" not in str(found)
        else:
            assert 0 < found.fewest_alike <= found.alike <= len(rows)
        assert str(found)
        assert found._repr_html_().startswith("<div>")


@pytest.mark.parametrize(("model", "rows", "y"), FORMULAS, ids=kind)
def test_formulas(model: Any, rows: np.ndarray, y: np.ndarray) -> None:
    model.fit(rows, y)
    for row in rows[:5]:
        found = model.explain(row)
        check_answer(model, row, found)
        np.testing.assert_allclose(sums(found), found.score, atol=1e-9)
        for one in found.contributions:
            assert one.effect == one.coefficient * one.value
            if one.column is not None:
                assert one.value == row[one.column]
        assert found.questions == ()
        assert found.alike is None
        assert "the intercept" in str(found)


def test_contributions_are_those_of_the_answer_less_those_of_the_runner_up() -> None:
    rows, y = CLASSES
    model = DeepBoostClassifier(n_rounds=12).fit(rows, y)
    found = model.explain(rows[3])
    values = model.predict_contributions(rows[3:4])[0]
    best, other = (int(np.flatnonzero(model.classes_ == one)[0]) for one in (found.answer, found.runner_up))
    for one in found.contributions:
        assert one.effect == pytest.approx(values[best, one.column] - values[other, one.column], abs=1e-12)
    two = DeepBoostClassifier(n_rounds=12).fit(X, Y)
    signs = set()
    for row in X[:10]:
        told = two.explain(row)
        sign = 1.0 if told.answer == two.classes_[1] else -1.0
        signs.add(sign)
        for one in told.contributions:
            assert one.effect == pytest.approx(sign * two.predict_contributions(row[None])[0, one.column], abs=1e-12)
    assert signs == {1.0, -1.0}


@pytest.mark.parametrize(("model", "rows", "y"), TREES[:6], ids=kind)
def test_margins_are_those_of_the_guarantees(model: Any, rows: np.ndarray, y: np.ndarray) -> None:
    model.fit(rows, y)
    margins = guarantees.margins(model, rows[:5], model.predict(rows[:5]))
    np.testing.assert_allclose([model.explain(row).margin for row in rows[:5]], margins, atol=1e-12)


def test_a_tree_by_hand() -> None:
    """x[0] <= 0 asks 10 rows, of which 4 say yes; x[1] <= 0 asks the other 6, 2 of which say yes."""
    one = tree([(0, 0.0, 1, 0, 1.0), (-1.0,), (1, 0.0, 3, 1, 1.0), (-1.0,), (1.0,)], 2, 1)
    one.cover.flags.writeable = True
    one.cover[:] = [10, 4, 6, 2, 4]
    values = leaf_values(one, np.ones(1))
    np.testing.assert_allclose(expected_values(one, values), [-0.2, -1, 1 / 3, -1, 1])
    row = np.array([0.5, np.nan])
    found = questions_on_paths([one], np.array([2.0]), np.array([3]), np.ones(1), row, TreeNames(["age", "size"]))
    assert [part.text for part in found] == ["size <= 0? missing, taken as yes", "age <= 0? no"]
    np.testing.assert_allclose([part.effect for part in found], [2 * (-1 - 1 / 3), 2 * (1 / 3 + 0.2)])
    assert company([one, one], np.array([3.0, -1.0]), np.array([3, 4]), 100.0) == pytest.approx((25.0, 20.0))
    one.cover[:] = 0.0
    np.testing.assert_allclose(expected_values(one, values), [-0.5, -1, 0, -1, 1])
    assert company([one], np.ones(1), np.array([3]), 100.0) == (0.0, 0.0)


def test_questions_that_differ_in_thresholds_are_told_together() -> None:
    def question(threshold: float | None, yes: bool, effect: float, text: str = "") -> Asked:
        return Asked(text or f"a <= {threshold:.4g}", yes, effect, 2, 0, threshold)

    some = [question(1.5, True, 0.5), question(3.0, True, -0.1), question(0.5, False, 2.0), question(2.0, True, 1.0)]
    some += [question(None, True, 0.3, "a in {b, c}"), question(None, True, 0.1, "a in {b}")]
    told = [(text, round(effect, 9)) for text, effect in gather(some)]
    assert told == [
        ("a <= 0.5? no, 2 times", 2.0),
        ("a <= 1.5 ... 3? yes, 6 times", 1.4),
        ("a in {b, c}? yes, 2 times", 0.3),
        ("a in {b}? yes, 2 times", 0.1),
    ]


def test_alike_counts_the_training_rows_in_the_same_leaves() -> None:
    """All rows learn: the mean over trees of how many rows have the same leaf."""
    model = DeepBoostClassifier(n_rounds=6, subsample=1.0, learning_rate=0.5, complexity_penalty=0.01).fit(X, Y)
    leaves = model.apply(X)
    same = (leaves == leaves[7]).sum(axis=0)
    found = model.explain(X[7])
    assert found.alike == pytest.approx(np.average(same, weights=np.abs(model.ensemble_.weights)))
    assert found.fewest_alike == pytest.approx(same.min())


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rows = pd.DataFrame(FULL[:, :3], columns=["a", "b", "c"])
    rows["town"] = np.array(["Oslo", "Rome", "Bonn"])[np.arange(len(rows)) % 3]
    return rows, np.where(rows["a"] + (rows["town"] == "Oslo") > 0.5, "yes", "no")


def test_every_form_of_a_row_is_explained_alike_and_by_a_loaded_model(tmp_path: Path) -> None:
    rows, y = table()
    model = DeepBoostClassifier(n_rounds=15, categorical_features=["town"]).fit(rows, y)
    expected = str(model.explain(rows.iloc[[4]]))
    series = rows.iloc[4]
    shuffled = {name: series[name] for name in ("town", "c", "a", "b")}
    for form in (series, shuffled, pl.from_pandas(rows)[4:5]):
        assert str(model.explain(form)) == expected
    model.save(tmp_path / "model.radb")
    assert str(load(tmp_path / "model.radb").explain(series)) == expected
    assert "town = 'Rome'" in expected
    plain = DeepBoostClassifier(n_rounds=8).fit(FULL, FULL_Y)
    expected = str(plain.explain(FULL[4]))
    forms = (FULL[4:5], FULL[4].tolist(), tuple(FULL[4]), sparse.csr_array(FULL[4:5]), pd.Series(FULL[4]), [FULL[4]])
    for form in forms:
        assert str(plain.explain(form)) == expected


def test_missing_and_unknown_values_are_said_plainly() -> None:
    rows, y = table()
    rows.loc[::4, "a"] = np.nan
    model = DeepBoostClassifier(n_rounds=20, categorical_features=["town"]).fit(rows, y)
    found = model.explain({"a": None, "b": 0.1, "c": 0.2, "town": "Paris"})
    by_name = {one.name: one for one in found.contributions}
    assert by_name["a"].remark == "missing"
    assert by_name["a"].text == "a is missing"
    assert by_name["town"].text == "town = 'Paris' (unknown category)"
    assert "town = 'Paris' is a category that the model does not know; it counts as missing." in found.remarks
    assert any(remark.startswith("Missing: a.") for remark in found.remarks)
    assert all(one.missing == (one.column in (0, 3)) for one in found.questions)
    assert any("missing, taken as " in one.text for one in found.questions)
    empty = model.explain({"a": np.nan, "b": np.nan, "c": np.nan, "town": None})
    assert empty.remarks == (
        "Missing: a, b, c, town. At each question a missing value goes the way that training chose.",
    )
    np.testing.assert_allclose(sums(empty), empty.score, atol=1e-9)


@pytest.mark.parametrize("n", [5, 6])
def test_five_unknown_categories_are_named_and_more_are_counted(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = pd.DataFrame(rng.choice(["red", "blue"], (200, n)), columns=list("abcdef"[:n]))
    y = (rows == "red").sum(axis=1) > n / 2
    model = DeepBoostClassifier(n_rounds=60, calibration=None).fit(rows.astype("category"), y)
    remarks = model.explain(dict.fromkeys(rows.columns, "green")).remarks
    assert sum("is a category that the model does not know" in remark for remark in remarks) == 5
    more = [remark for remark in remarks if "more columns have categories" in remark]
    assert more == ([] if n == 5 else ["1 more columns have categories that the model does not know."])


def test_models_without_trees_or_questions() -> None:
    with pytest.warns(UserWarning, match="empty"):
        empty = DeepBoostClassifier(n_rounds=3, complexity_penalty=100.0).fit(X, Y)
    found = empty.explain(X[0])
    assert (found.score, found.base, found.contributions, found.questions, found.margin) == (0.0, 0.0, (), (), 0.0)
    assert found.alike is None
    assert str(found)
    constant = RGBRegressor(n_rounds=2).fit(np.zeros((20, 2)), np.arange(20.0))
    told = constant.explain([0.0, 0.0])
    assert told.contributions == ()
    assert told.base == pytest.approx(told.score)
    assert told.alike == told.fewest_alike == 20.0  # every tree is one leaf
    stump = DeepBoostClassifier.paper(n_rounds=1, family="stumps").fit(FULL, FULL_Y).explain(FULL[0])
    assert len(stump.contributions) == len(stump.questions) == 1
    assert stump.contributions[0].effect == pytest.approx(stump.questions[0].effect)
    with pytest.warns(UserWarning, match="empty"):
        sparse_model = SparseBoostClassifier(alpha=100.0).fit(FULL, FULL_Y)
    assert sparse_model.explain(FULL[0]).contributions == ()


def test_words() -> None:
    rows, y = table()
    words = str(DeepBoostClassifier(n_rounds=15, categorical_features=["town"]).fit(rows, y).explain(rows.iloc[0]))
    for part in (" rather than ", "with probability", "where every row starts", "the score", "training rows share its"):
        assert part in words
    poisson = RGBRegressor(n_rounds=12, loss="poisson").fit(FULL, NUMBERS).explain(FULL[0])
    assert np.exp(poisson.score) == pytest.approx(poisson.answer)
    assert "(from the score " in str(poisson)
    assert "from the score" not in str(RGBRegressor(n_rounds=12).fit(FULL, NUMBERS).explain(FULL[0]))
    odd = DeepBoostClassifier(n_rounds=5).fit(pd.DataFrame(FULL, columns=["<b>", "&", "$x$", "a", "c"]), FULL_Y)
    with pytest.warns(UserWarning, match="valid feature names") as warned:
        assert "<b>" not in odd.explain(FULL[0].tolist())._repr_html_()
    assert len(warned) == 1


def test_tasks() -> None:
    tasks = np.column_stack([FULL_Y, np.where(FULL[:, 1] > 0, "b", "a")]).astype(object)
    model = MultiTaskSparseBoostClassifier(alpha=0.02).fit(FULL, tasks)
    with pytest.raises(ValueError, match=r"2 tasks.*task=0"):
        model.explain(FULL[0])
    with pytest.raises(ValueError, match="task"):
        model.explain(FULL[0], task=2)
    for task in (0, 1):
        found = model.explain(FULL[0], task=task)
        assert found.answer == model.predict(FULL[:1])[0, task]
        assert found.score == pytest.approx(abs(model.decision_function(FULL[:1])[0, task]))
        np.testing.assert_allclose(sums(found), found.score, atol=1e-9)
    one = MultiTaskSparseBoostClassifier(alpha=0.02).fit(FULL, FULL_Y)
    assert one.explain(FULL[0]).answer == one.predict(FULL[:1])[0]


def test_what_cannot_be_explained() -> None:
    kernel = DeepBoostClassifier(n_rounds=3, family=KernelFamily(n_centres=10), complexity_penalty=0.0)
    others = (
        (kernel, "explain needs a sum of trees.*KernelHypothesis"),
        (MartiBoostClassifier(n_rounds=3, max_leaves=4), "explain needs a sum of trees.*BranchingProgram"),
        (with_sources(MultiSourceBoostClassifier(n_rounds=4)), "explain needs a sum of trees.*SourcedHypothesis"),
        (SupervisedKernelProjection(n_starts=0), "cannot explain one row: its eigenfunctions"),
    )
    for model, message in others:
        with pytest.raises(TypeError, match=message):
            model.fit(FULL, FULL_Y).explain(FULL[0])
    with pytest.raises(TypeError, match="SequenceClassifier cannot explain one row"):
        SequenceClassifier("hamming").explain([[0, 1]])


def test_bad_rows() -> None:
    model = DeepBoostClassifier(n_rounds=3)
    with pytest.raises(NotFittedError):
        model.explain(X[0])
    with pytest.raises(NotFittedError):
        SparseBoostClassifier().explain(FULL[0])
    model.fit(FULL, FULL_Y)
    two = (FULL[:2], FULL[:2].tolist(), pd.DataFrame(FULL[:2]), sparse.csr_array(FULL[:2]))
    for given, message in (
        *((form, "explain takes one row, and got 2 rows") for form in two),
        (FULL[:0], "explain takes one row, and got 0 rows"),
        (FULL[:1][None], r"shape \(1, 1, 5\)"),
        *((given, "x must be one row") for given in (3.0, "row", None)),
        (FULL[0, :4], "expecting 5 features"),
        ({"a": 1.0}, "fitted without names"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain(given)
    with pytest.raises(ValueError, match="NaN"):
        SparseBoostClassifier(alpha=0.02).fit(FULL, FULL_Y).explain([np.nan] * 5)
    rows, y = table()
    named = DeepBoostClassifier(n_rounds=3, categorical_features=["town"]).fit(rows, y)
    with pytest.raises(ValueError, match="x has no value for town"):
        named.explain({"a": 1.0, "b": 1.0, "c": 1.0})
    with pytest.raises(ValueError, match="x has values for d, unknown columns"):
        named.explain({**rows.iloc[0].to_dict(), "d": 1.0})
