"""What `fit` takes besides rows, labels and weights: with any number of workers the model and the history of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from distributed_tools import arguments_of, cut, everything, fit_by_threads, words
from fingerprints import fractions, table
from prepared_rows import prepare
from radboost import (
    AgnosticBoostClassifier,
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
)
from radboost.distributed.collections import plain_parts
from radboost.distributed.learning import FitTask
from radboost.estimators import _sources
from radboost.estimators._held_back import sample
from radboost.rows.domains import fit_domains
from radboost.rows.partitions import SUFFIXES, LoadedPartition
from radboost.rows.sources import Sources

pytestmark = pytest.mark.filterwarnings("ignore:The model")

X, LABELS = table(3, 240, 5, 3, missing=0.05)
TWO = (LABELS > 0).astype(int)
X_VAL, LABELS_VAL = table(4, 70, 5, 3, missing=0.05)
RNG = np.random.default_rng(9)
SOURCES, SOURCES_VAL = (RNG.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]) for n in (240, 70))
DEEP = DeepBoostClassifier(4, complexity_penalty=0.01, max_depth=3)
WEIGHTS_VAL = np.floor(fractions(70))


def spread(given: dict[str, Any], n_parts: int = 7) -> list[Any]:
    """All rows in parts; each kind of them is divided by itself."""
    parts = []
    for role, suffix in SUFFIXES.items():
        names = {name + suffix: name for name in ("X", "y", "sample_weight", "sources", "offset", "cost")}
        if "X" + suffix in given:
            columns = {name: given[full] for full, name in names.items() if full in given}
            parts += cut(n_parts, len(role), role, **columns)
    return parts


def late(model: Any, rows: Any, y: Any) -> float:
    """A metric that looks at the rows itself."""
    return float(np.mean((model.predict(rows) == y)[np.nan_to_num(rows[:, 0]) > 0.0]))


OFFSET, OFFSET_VAL, ONE_OFFSET = RNG.normal(size=240), RNG.normal(size=70), np.where(np.arange(240) == 7, 0.25, 0.0)
OF_CLASSES = np.column_stack([OFFSET, -OFFSET, np.where(SOURCES == "a", 0.5, 0.0)])
VAL_OF_CLASSES = np.column_stack([OFFSET_VAL, OFFSET_VAL, np.zeros(70)])
COST = np.where(LABELS[:, None] == np.arange(3), 0.25, RNG.uniform(0.5, 3.0, (240, 3)))
EARLY = clone(DEEP).set_params(early_stopping=3, calibration=None)
SOFT = SoftmaxBoostClassifier(3, learning_rate=0.7, calibration=None)
VAL: dict[str, Any] = {"X_val": X_VAL, "y_val": LABELS_VAL}
NUMBERS: dict[str, Any] = {"y": LABELS * 1.0}
SQUARES, SQUARES_VAL = (np.column_stack([one, one * one]) for one in (LABELS, LABELS_VAL))
OF_SOURCES = {**VAL, "sources": SOURCES, "sources_val": SOURCES_VAL}
WHOLE = {"sample_weight": np.floor(fractions(240))}
KNOWN = {"sources": SOURCES, "sample_weight": 2.0 * ~np.isnan(X).any(axis=1)}  # of rows without a missing value
READY = MultiSourceBoostClassifier(1).fit(X[::2], LABELS[::2], sources=SOURCES[::2]).domain_classifier_
FROZEN = FrozenEstimator(LogisticRegression().fit(np.nan_to_num(X), SOURCES))
FRAME, NAMES = words()
NEW = FRAME[:60].assign(a=["new" if k % 9 == 0 else word for k, word in enumerate(FRAME["a"][:60])])
#: estimator, what `fit` is given besides X and labels
CASES: list[tuple[Any, dict[str, Any]]] = [
    (DEEP, VAL),
    (clone(DEEP).set_params(early_stopping=2, n_rounds=6), {**VAL, "sample_weight_val": WEIGHTS_VAL}),
    (RGBClassifier(3, early_stopping=2), {**VAL, "sample_weight": fractions(240), "sample_weight_val": fractions(70)}),
    # some categories are new, and some columns have nothing but missing values in a part
    (
        clone(DEEP).set_params(categorical_features=["a", "d"], calibration=None),
        {"X": FRAME, "y": NAMES, "X_val": NEW, "y_val": NAMES[:60]},
    ),
    (RGBRegressor(3), {"y": LABELS * 1.5, "X_val": X_VAL.astype(np.float32), "y_val": LABELS_VAL * 1.5}),
    (RGBRegressor(3), {"y": SQUARES, "X_val": X_VAL.astype(np.float32), "y_val": SQUARES_VAL}),
    (RGBClassifier(3, calibration=None), {"y": TWO, "offset": OFFSET}),
    (clone(DEEP).set_params(early_stopping=2), {**VAL, "offset": OF_CLASSES, "offset_val": VAL_OF_CLASSES}),
    (RGBRegressor(2), {**NUMBERS, "offset": np.zeros(240)}),
    (RGBRegressor(2), {**NUMBERS, "offset": ONE_OFFSET}),  # all other workers have offsets of 0 alone
    (RGBRegressor(2, loss="poisson"), {**NUMBERS, "offset": OFFSET + 50.0}),
    (RGBClassifier(2, loss="exponential", calibration=None), {"y": TWO, "offset": OFFSET + 50.0}),
    (SOFT, {"cost": COST, **WHOLE}),
    (SOFT, {**VAL, "cost": pd.DataFrame(COST[:, ::-1], columns=[2, 1, 0]), "cost_val": 2.0 * COST[:70]}),
    (EARLY, {**VAL, "eval_metric": ["accuracy", "neg_log_loss"], "sample_weight_val": WEIGHTS_VAL}),
    (EARLY, {**VAL, "eval_metric": late}),
    (EARLY, {"eval_metric": "neg_log_loss"}),  # of rows that are held back
    (RGBRegressor(3, early_stopping=2), {**NUMBERS, "X_val": X_VAL, "y_val": LABELS_VAL * 1.0, "eval_metric": "r2"}),
    (MultiSourceBoostClassifier(3), {**OF_SOURCES, "sources": np.where(np.arange(240) == 7, "lone", SOURCES)}),
    (MultiSourceBoostClassifier(3), {"sources": np.full(240, "a")}),  # one source needs no Q
    (MultiSourceBoostClassifier(3), {}),
    (MultiSourceBoostClassifier(3, domain_classifier=READY, early_stopping=3), {**WHOLE, "sources": SOURCES}),
    (MultiSourceBoostClassifier(3, domain_classifier=FROZEN), KNOWN),
    (MultiSourceBoostClassifier(3), {**OF_SOURCES, **WHOLE}),
    (MultiSourceBoostClassifier(3), {**OF_SOURCES, "sample_weight": fractions(240)}),
    (
        MultiSourceBoostClassifier(2),
        {"sources": SOURCES, "X_unlabelled": X_VAL, "sources_unlabelled": SOURCES_VAL, **WHOLE},
    ),
]


@pytest.mark.parametrize(("estimator", "given"), CASES)
@pytest.mark.filterwarnings("ignore:Column")
def test_models_and_histories_are_those_of_one_machine(estimator: Any, given: dict[str, Any]) -> None:
    given = {"X": X, "y": LABELS, **given}
    expected = clone(estimator).fit(**given)
    for number in (1, 3, 9):  # of nine some have no training rows, some no validation rows, nor weights of either
        for model in fit_by_threads(estimator, spread(given), number, **given):
            assert everything(model)[:-1] == everything(expected)[:-1]
            assert model.history_ == expected.history_
    stops = estimator is EARLY or getattr(estimator, "domain_classifier", None) is READY
    assert ("validation_loss" in expected.history_) == ("X_val" in given or stops)
    assert "eval_metric" not in given or len(expected.history_) >= 6
    has_q = len(np.unique(given.get("sources", "a"))) > 1
    assert has_q == (getattr(expected, "domain_classifier_", None) is not None)


def test_rows_in_memory_are_cut_into_parts() -> None:
    """What one row has in any form: lists, one number for all, sparse matrices."""
    given = {"y": LABELS_VAL.tolist(), "sample_weight": 2.0, "offset": np.arange(70), "role": "validation"}
    parts = plain_parts(LoadedPartition(sparse.csr_matrix(np.nan_to_num(X_VAL)), **given), 4)
    assert [part.n_rows for part in parts] == [18, 18, 17, 17]
    assert [label for part in parts for label in part.y] == LABELS_VAL.tolist()
    assert {part.sample_weight for part in parts} == {2.0}
    np.testing.assert_array_equal(np.concatenate([part.offset for part in parts]), np.arange(70))
    np.testing.assert_array_equal(np.vstack([part.X.toarray() for part in parts]), np.nan_to_num(X_VAL))
    assert [part.n_rows for part in plain_parts(LoadedPartition(X_VAL[:2]), 4)] == [1, 1]
    assert [part.n_rows for part in plain_parts(LoadedPartition(X_VAL[:0]), 4)] == [0]
    with pytest.raises(ValueError, match="X_val has 70 rows, and the one of y_val beside it has 3"):
        plain_parts(LoadedPartition(X_VAL, [1, 2, 3], role="validation"), 2)


OWN = (None, DecisionTreeClassifier(max_depth=3, max_features=2, random_state=0), LogisticRegression())


@pytest.mark.parametrize("own", OWN)
def test_q_is_learned_from_a_sample_drawn_by_content(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same for any number of workers, and the model is that of one machine with this Q."""
    monkeypatch.setattr(_sources, "MOST_ROWS", 80)
    estimator = MultiSourceBoostClassifier(3, domain_classifier=own)
    rows = np.nan_to_num(X)
    given: dict[str, Any] = {"X": rows, "y": LABELS, "sources": SOURCES}
    if own is not None:
        given["X"] = pd.DataFrame(rows, columns=list("abcde"))
    models = [fit_by_threads(estimator, spread(given, n + 2), n)[-1] for n in (1, 2, 3)]
    shares = [model.source_probabilities(given["X"]) for model in models]
    for model, found in zip(models, shares, strict=True):
        assert everything(model)[:-1] == everything(models[0])[:-1]
        np.testing.assert_array_equal(found, shares[0])
    ready = models[0].domain_classifier_
    if own is not None:
        assert ready.feature_names_in_.tolist() == list("abcde")
        return
    expected = clone(estimator).set_params(domain_classifier=ready).fit(**given)
    assert everything(models[0])[:-1] == everything(expected)[:-1]
    # Which rows: those that `PreparedRows.draw` keeps, some of every class of every source.
    prepared = prepare(clone(estimator), given["X"], LABELS)
    names, ids = np.unique(SOURCES, return_inverse=True)
    sources = Sources(names, ids.astype(np.uint16), np.zeros((240, 1))).select(prepared.order)
    prepared = sample(replace(prepared, sources=sources), 80, 240, 0, 1)
    chosen = np.sort(prepared.order)
    assert 70 <= len(chosen) <= 100
    naive = fit_domains(given["X"][chosen], ids[chosen].astype(np.uint16), None, {}, 3)
    np.testing.assert_array_equal(ready.weights, naive.weights)


def message(fit: Any) -> str:
    with pytest.raises((ValueError, TypeError)) as found:
        fit()
    return f"{type(found.value).__name__}: {found.value}"


REFUSED: dict[str, tuple[Any, dict[str, Any]]] = {
    "no y_val": (DEEP, {"X_val": X_VAL}),
    "weights alone": (DEEP, {"sample_weight_val": WEIGHTS_VAL}),
    "offset alone": (DEEP, {"offset": np.ones((240, 3)), "X_val": X_VAL, "y_val": LABELS_VAL}),
    "offset_val alone": (DEEP, {"offset_val": np.ones(70)}),
    "cost alone": (SoftmaxBoostClassifier(2), {"cost": np.eye(3)[LABELS], "X_val": X_VAL, "y_val": LABELS_VAL}),
    "cost_val alone": (SoftmaxBoostClassifier(2), {"cost_val": np.eye(3)[LABELS_VAL]}),
    "all costs alike": (SoftmaxBoostClassifier(2), {"cost": np.ones((240, 3))}),
    "unknown label": (DEEP, {"X_val": X_VAL, "y_val": LABELS_VAL + 7}),
    "no weight": (DEEP, {"X_val": X_VAL, "y_val": LABELS_VAL, "sample_weight_val": np.zeros(70)}),
    "infinite": (DEEP, {"X_val": np.full_like(X_VAL, np.inf), "y_val": LABELS_VAL}),
    "metric without rows": (DEEP, {"eval_metric": "accuracy"}),
    "unknown metric": (DEEP, {"eval_metric": "acuracy"}),
    "callbacks": (DEEP, {"callbacks": [3]}),
    "unknown source": (MultiSourceBoostClassifier(2), {**OF_SOURCES, "sources_val": np.full(70, "z")}),
    "unlabelled source": (
        MultiSourceBoostClassifier(2, domain_classifier=READY),
        {"sources": SOURCES, "X_unlabelled": X_VAL, "sources_unlabelled": np.full(70, "z")},
    ),
    "another Q": (MultiSourceBoostClassifier(2, domain_classifier=READY), {"sources": np.sign(LABELS)}),
    "checkpoint": (DEEP, {"resume_from": 3}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_one_machine_refuses_is_refused_alike(case: str) -> None:
    estimator, more = REFUSED[case]
    given = {"X": X, "y": LABELS, **more}
    expected = message(lambda: clone(estimator).fit(**given))
    assert message(lambda: fit_by_threads(estimator, spread(given), 2, **more)) == expected


def test_other_refusals() -> None:
    for estimator, name in ((DEEP, "cost"), (MultiSourceBoostClassifier(2), "offset"), (DEEP, "sources_unlabelled")):
        with pytest.raises(TypeError, match=f"takes no {name}"):
            FitTask.of(estimator, arguments_of(**{name: np.ones(240)}))
    with pytest.raises(TypeError, match=r"takes no sources\. sources are for MultiSourceBoostClassifier"):
        FitTask.of(RGBClassifier(), arguments_of(sources=SOURCES))
    for kind in (AgnosticBoostClassifier, SparseBoostClassifier):
        with pytest.raises(TypeError, match=f"{kind.__name__} does not learn on several workers"):
            FitTask.of(kind(), arguments_of())
    with pytest.raises(ValueError, match="bins must be 'exact' or 'sketch'; got 'quantile'"):
        FitTask.of(RGBClassifier(3), arguments_of(), bins="quantile")
    empty = {"X": X, "y": LABELS, "X_val": X_VAL[:0], "y_val": LABELS_VAL[:0]}
    with pytest.raises(ValueError, match="X_val has no rows: every partition is empty"):
        fit_by_threads(DEEP, spread(empty), 2, **empty)
