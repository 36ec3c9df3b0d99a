"""Reports of every kind of model and of rows in every form; each is JSON, and drawn as a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from radboost import (
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    KernelFamily,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
    SupervisedKernelProjection,
)
from radboost.baselines import MartiBoostClassifier, SAMMEClassifier
from radboost.losses import QuantileLoss
from radboost.report import Report
from radboost.report.blocks import Code, Text
from radboost.report.page import render

RNG = np.random.default_rng(0)
N, TRAIN = 160, 100
X = RNG.normal(size=(N, 4))
NOISE = RNG.normal(size=N)
TWO = np.where(X[:, 0] + 0.3 * NOISE > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
NUMBERS = 3.0 * X[:, 0] + X[:, 1] + 0.2 * NOISE
GAPS = np.where(np.arange(N)[:, None] % 9 == np.arange(4), np.nan, X)
FRAME = pd.DataFrame(
    {
        "<script>alert(1)</script>": X[:, 0],
        "b": GAPS[:, 1],
        "colour": pd.Categorical(np.array(["red", "green", None], dtype=object)[RNG.integers(0, 3, N)]),
        "flag": X[:, 2] > 0,
        "text": [f"n{place % 37}" for place in range(N)],
    }
)


def checked(made: Report, *sections: str) -> Report:
    """JSON as it stands, a page, and sections of these names."""
    json.dumps(asdict(made), allow_nan=False)
    text = render(made)
    assert len(text.encode()) < 2_000_000
    assert "<script>alert(1)</script>" not in text
    names = [section.name for section in made.sections]
    assert len(set(names)) == len(names)
    assert set(sections) <= set(names)
    assert all(section.lead for section in made.sections)
    return made


def deep(**others: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(n_rounds=4, max_depth=3, learning_rate=0.5, n_jobs=1, **others)


MODELS: dict[str, tuple[Callable[[], Any], Any, tuple[str, ...]]] = {
    "deepboost": (
        deep,
        TWO,
        ("predictions", "calibration", "labels", "guarantees", "learning", "dependence"),
    ),
    "deepboost, three classes": (deep, THREE, ("predictions", "calibration", "guarantees", "dependence")),
    "stopped early": (lambda: deep(early_stopping=2), TWO, ("learning",)),
    "kernels": (lambda: deep(family=KernelFamily("rbf", gamma=1.0)), TWO, ("predictions", "slices")),
    "empty": (
        lambda: DeepBoostClassifier(n_rounds=2, complexity_penalty=100.0, n_jobs=1),
        TWO,
        ("predictions", "slices"),
    ),
    "soft-max": (lambda: SoftmaxBoostClassifier(n_rounds=5, n_jobs=1), THREE, ("predictions", "importance")),
    "rgb": (lambda: RGBClassifier(n_rounds=4, n_jobs=1), THREE == "a", ("predictions", "importance")),
    "numbers": (lambda: RGBRegressor(n_rounds=4, n_jobs=1), NUMBERS, ("residuals", "slices", "dependence")),
    "quantile": (lambda: RGBRegressor(n_rounds=4, loss=QuantileLoss(0.9), n_jobs=1), NUMBERS, ("residuals",)),
    "sparse": (lambda: SparseBoostClassifier(n_jobs=1), THREE, ("predictions", "learning")),
    "sparse numbers": (lambda: SparseBoostRegressor(n_jobs=1), NUMBERS, ("residuals", "learning")),
    "projection": (lambda: SupervisedKernelProjection(n_jobs=1), TWO, ("predictions", "slices")),
    "program": (lambda: MartiBoostClassifier(n_rounds=3, n_jobs=1), TWO, ("predictions",)),
    "samme": (lambda: SAMMEClassifier(n_rounds=3, n_jobs=1), THREE, ("predictions",)),
    "search": (
        lambda: DeepBoostClassifierCV(deep(), param_grid={"max_depth": [1, 2]}, cv=2, n_jobs=1),
        TWO,
        ("predictions", "learning"),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model(name: str) -> None:
    make, y, sections = MODELS[name]
    model = make().fit(X[:TRAIN], y[:TRAIN])
    made = model.report(X[TRAIN:], y[TRAIN:], X_train=X[:TRAIN], y_train=y[:TRAIN])
    checked(made, "score", "data", "slices", "reproduce", *sections)


def test_the_model_that_a_search_chose_can_be_had_again() -> None:
    """Not the search: with a time it may choose another one."""
    grid = {"thresholds": ["best", "random"], "max_depth": [2]}
    search = DeepBoostClassifierCV(deep(), param_grid=grid, cv=2, n_jobs=1, time_budget=100.0)
    search.fit(X[:TRAIN], TWO[:TRAIN])
    made = search.report(X[TRAIN:], TWO[TRAIN:])
    blocks = next(section for section in made.sections if section.name == "reproduce").blocks
    code = next(block.text for block in blocks if isinstance(block, Code))
    names: dict[str, Any] = {"X_train": X[:TRAIN], "y_train": TWO[:TRAIN]}
    exec("\n".join(line for line in code.split("\n") if ".report(" not in line), names)
    assert type(names["model"]) is DeepBoostClassifier
    np.testing.assert_array_equal(names["model"].predict_proba(X), search.predict_proba(X))
    words = str([block.paragraphs for block in blocks if isinstance(block, Text)])
    assert "those that DeepBoostClassifierCV chose from 2 settings" in words
    assert "time_budget=100.0" in words


@pytest.fixture(scope="module")
def of_frames() -> Any:
    return deep(categorical_features=["colour", "text"]).fit(FRAME[:TRAIN], TWO[:TRAIN])


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "pyarrow": lambda rows: pa.Table.from_pandas(rows, preserve_index=False),
}


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=pytest.mark.slow) if form != "pyarrow" else form for form in FORMS]
)
def test_frames_of_every_library_say_the_same(of_frames: Any, form: str) -> None:
    train, test = FRAME[:TRAIN], FRAME[TRAIN:]
    made = of_frames.report(FORMS[form](test), TWO[TRAIN:], X_train=FORMS[form](train), y_train=TWO[:TRAIN])
    checked(made, "data", "dependence")
    expected = of_frames.report(test, pd.Series(TWO[TRAIN:]), X_train=train, y_train=list(TWO[:TRAIN]))
    assert made.verdict == expected.verdict
    assert [section.lead for section in made.sections] == [section.lead for section in expected.sections]
    assert dict(made.facts)["held-out rows, sha256"] == dict(expected.facts)["held-out rows, sha256"]


@pytest.fixture(scope="module")
def model() -> Any:
    return deep().fit(GAPS[:TRAIN], TWO[:TRAIN])


def test_arrays_lists_and_sparse_rows(model: Any) -> None:
    plain = checked(model.report(GAPS[TRAIN:], TWO[TRAIN:]))
    assert model.report(GAPS[TRAIN:].tolist(), TWO[TRAIN:].tolist()).verdict == plain.verdict
    checked(deep().fit(sparse.csr_array(X), TWO).report(sparse.csr_array(X), TWO))


def test_few_rows_one_class_and_unknown_labels(model: Any) -> None:
    one = checked(model.report(GAPS[TRAIN : TRAIN + 1], TWO[TRAIN : TRAIN + 1]))
    assert "1 held-out row" in one.verdict
    assert one.verdict_tone == "warning"
    yes = np.flatnonzero(TWO[TRAIN:] == "yes") + TRAIN
    checked(model.report(GAPS[yes], TWO[yes], X_train=GAPS[:TRAIN], y_train=TWO[:TRAIN]), "predictions")
    labels = TWO[TRAIN:].astype(object)
    labels[:3] = "maybe"
    made = checked(model.report(GAPS[TRAIN:], labels))
    assert any("3 held-out rows have a label that the model does not know" in str(one) for one in made.sections)
    regressor = RGBRegressor(n_rounds=2, n_jobs=1).fit(X, NUMBERS)
    checked(regressor.report(X[:1], NUMBERS[:1]), "residuals")


def test_labels_of_which_the_model_knows_none_are_refused() -> None:
    """They are of another type, or spelled otherwise; with some that it knows there is a report."""
    codes = (TWO == "yes").astype(int)
    found = deep().fit(X[:TRAIN], codes[:TRAIN])
    with pytest.raises(ValueError, match=r"y holds '.', '.', and the classes of the model are 0, 1: it knows no label"):
        found.report(X[TRAIN:], codes[TRAIN:].astype(str))
    with pytest.raises(ValueError, match=r"y_train holds '.', '.', and the classes of the model are 0, 1"):
        found.report(X[TRAIN:], codes[TRAIN:], X_train=X[:TRAIN], y_train=codes[:TRAIN].astype(str))


def test_weights_are_copies_in_scores(model: Any) -> None:
    weights = np.arange(N - TRAIN) % 3
    many = np.repeat(np.arange(TRAIN, N), weights)
    by_weight = checked(model.report(GAPS[TRAIN:], TWO[TRAIN:], sample_weight=weights))
    by_copy = model.report(GAPS[many], TWO[many])
    assert by_weight.figures[0].value == by_copy.figures[0].value
    assert by_weight.figures[1].value == by_copy.figures[1].value


def test_rows_of_weight_0_are_left_out(model: Any) -> None:
    """The page is that of the other rows, also where these are few."""
    sources = np.array(["s", "t"])[np.arange(N - TRAIN) % 2]
    wrong = np.flatnonzero(model.predict(GAPS[TRAIN:]) != TWO[TRAIN:])
    for kept in (np.arange(7, N - TRAIN), wrong[-1:], np.array([3])):
        weights = np.isin(np.arange(N - TRAIN), kept).astype(float)
        rows = TRAIN + kept
        others = {"X_train": GAPS[:TRAIN], "y_train": TWO[:TRAIN]} if len(kept) > 1 else {}
        by_weight = checked(model.report(GAPS[TRAIN:], TWO[TRAIN:], sample_weight=weights, sources=sources, **others))
        alone = model.report(GAPS[rows], TWO[rows], sources=sources[kept], **others)
        assert by_weight.figures == alone.figures
    three = SoftmaxBoostClassifier(n_rounds=2, n_jobs=1).fit(X, np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.6])))
    checked(three.report(X, three.predict(X), sample_weight=np.eye(len(X))[0]))


def test_a_model_with_costs_is_judged_by_them() -> None:
    cost = np.array([[0.0, 1.0], [9.0, 0.0]])  # "yes" must not be missed
    found = SoftmaxBoostClassifier(n_rounds=5, cost=cost, n_jobs=1).fit(X[:TRAIN], TWO[:TRAIN])
    made = checked(found.report(X[TRAIN:], TWO[TRAIN:], X_train=X[:TRAIN], y_train=TWO[:TRAIN]))
    truth, answers = (TWO[TRAIN:] == "yes").astype(int), (found.predict(X[TRAIN:]) == "yes").astype(int)
    table: Any = made.sections[0].blocks[0]
    assert table.rows[0][:2] == ("mean cost", pytest.approx(cost[truth, answers].mean(), rel=1e-5))
    assert table.rows[0][5] == pytest.approx((truth == 0).mean(), rel=1e-5)  # always "yes" is the cheapest constant
    assert made.verdict.startswith("Mean cost of")
    # What it returns as probabilities is a policy, which nobody should find badly calibrated.
    (section,) = (one for one in made.sections if one.name == "calibration")
    assert section.lead.startswith("The fit had costs")
    assert [type(block).__name__ for block in section.blocks] == ["Text"]


def test_sources_are_shown_by_their_errors() -> None:
    sources = np.where(np.arange(N) % 2, "ward", "clinic")
    found = MultiSourceBoostClassifier(n_rounds=3, n_jobs=1).fit(X[:TRAIN], TWO[:TRAIN], sources=sources[:TRAIN])
    made = checked(found.report(X[TRAIN:], TWO[TRAIN:], sources=sources[TRAIN:]))
    (section,) = (one for one in made.sections if one.name == "slices")
    table: Any = section.blocks[1]
    wrong = found.predict(X[TRAIN:]) != TWO[TRAIN:]
    expected = {name: wrong[sources[TRAIN:] == name].mean() for name in ("ward", "clinic")}
    assert {row[0]: row[2] for row in table.rows} == pytest.approx(expected, abs=1e-5)


def test_what_cannot_be_reported_on_is_refused(model: Any) -> None:
    tasks = np.column_stack([TWO == "yes", THREE == "a"]).astype(int)
    several = MultiTaskSparseBoostClassifier(n_jobs=1).fit(X, tasks)
    with pytest.raises(TypeError, match="several targets at once"):
        several.report(X, tasks)
    two = RGBRegressor(n_rounds=2, n_jobs=1).fit(X, np.column_stack([NUMBERS, NUMBERS]))
    with pytest.raises(TypeError, match="several targets at once"):
        two.report(X, NUMBERS)
    with pytest.raises(ValueError, match="X_train and y_train belong together"):
        model.report(GAPS, TWO, X_train=GAPS)
    with pytest.raises(ValueError, match="one for each row"):
        model.report(GAPS, TWO[:5])
    with pytest.raises(ValueError, match="no rows"):
        model.report(GAPS[:0], TWO[:0])
    with pytest.raises(ValueError, match="5 entries for 160 rows"):
        model.report(GAPS, TWO, sources=TWO[:5])


def test_many_columns_and_many_classes_are_cut() -> None:
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(120, 150))
    made = checked(deep().fit(wide[:60], wide[:60, 0] > 0).report(wide[60:], wide[60:, 0] > 0), "importance")
    assert any("not shown" in str(section) for section in made.sections)
    rows = rng.normal(size=(520, 3))
    letters = np.array([chr(97 + place) for place in range(26)])[np.argsort(np.argsort(rows[:, 0])) // 20]
    fitted = RGBClassifier(n_rounds=3, n_jobs=1).fit(rows[::2], letters[::2])
    checked(fitted.report(rows[1::2], letters[1::2]), "predictions")


def test_context_is_shown(model: Any) -> None:
    context = {"file": "loans.csv", "command": "radboost fit loans.csv --target paid"}
    made = checked(model.report(GAPS[TRAIN:], TWO[TRAIN:], context=context, title="Loans"))
    assert made.title == "Loans"
    assert ("file", "loans.csv") in made.facts
    assert context["command"] in str(made.sections[-1].blocks[0])
