"""Workers that read, bin and learn their own parts end with the model of a fit on all rows, bit for bit."""

from __future__ import annotations

import sys
import weakref
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import radboost.distributed as cluster_fits
from collective_tools import ThreadGroup
from distributed_tools import (
    ReloadedPartition,
    abort_after,
    arguments_of,
    cut,
    everything,
    fit_by_threads,
    run_task,
    words,
)
from fingerprints import fractions, table
from radboost import (
    DeepBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeOptions,
)
from radboost.distributed.learning import FitTask
from radboost.estimators import _calibrated as calibrated
from radboost.rows import reader
from radboost.rows.partitions import LoadedPartition

pytestmark = pytest.mark.filterwarnings("ignore:The model")


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts are loaded for each pass over the rows too."""
    monkeypatch.setattr(reader, "KEPT_BYTES", 0)


TWO, THREE = table(1, 260, 5, missing=0.05), table(3, 240, 5, 3)
FEW_BINS = TreeOptions(max_bins=16)
NUMBERS = table(5, 200, 5, 6)[0], table(5, 200, 5, 6)[1] ** 2 / 4.0
OF_CLASSES = ("balanced", {0: 0.0, 1: 2.5, 2: 1.0})


def check(estimator: Any, X: Any, y: Any, weights: Any = None, parts: Any = None, n_workers: int = 3) -> None:
    """Fit all rows in one place, and in parts; by default these are drawn at random."""
    expected = clone(estimator).fit(X, y, sample_weight=weights)
    for model in fit_by_threads(estimator, parts or cut(9, n_workers, X=X, y=y, sample_weight=weights), n_workers):
        assert everything(model) == everything(expected)


def refused(
    parts: list[LoadedPartition], match: str, estimator: Any = None, kind: type[Exception] = ValueError
) -> None:
    with pytest.raises(kind, match=match):
        fit_by_threads(estimator or RGBClassifier(3), parts, 2)


NAMED = {"categorical_features": ["a", "d"], "calibration": None}
DEEP = DeepBoostClassifier(3, complexity_penalty=0.01, calibration=None)
WEIGHTED = [
    (DeepBoostClassifier(6, complexity_penalty=0.01, tree_options=FEW_BINS), TWO),
    (DeepBoostClassifier.paper(6, complexity_penalty=0.001, tree_options=FEW_BINS), THREE),
    (SoftmaxBoostClassifier(3, learning_rate=0.7, calibration=None), THREE),
    (RGBClassifier(3), TWO),
    (RGBClassifier(4, early_stopping=2), THREE),
]
SLOW_LOSSES = ("squared", "quantile", "poisson")


@pytest.mark.parametrize(
    ("estimator", "data", "weights"),
    [
        *((*case, fractions(len(case[1][1]))) for case in WEIGHTED),
        (RGBRegressor(3, loss="huber"), NUMBERS, fractions(200)),
        *(pytest.param(RGBRegressor(3, loss=n), NUMBERS, fractions(200), marks=pytest.mark.slow) for n in SLOW_LOSSES),
        (DEEP, words(), fractions(240)),
        (
            RGBClassifier(2, calibration=None),
            (sparse.csr_matrix(np.where(np.abs(TWO[0]) < 0.7, 0.0, TWO[0])), TWO[1]),
            None,
        ),
        *((clone(DEEP).set_params(class_weight=of), THREE, w) for of in OF_CLASSES for w in (None, fractions(240))),
        # Early stopping and calibration hold rows back, which are made of bins, with categories and missing values.
        (RGBClassifier(6, early_stopping=2, categorical_features=["a", "d"]), words(), fractions(240)),
        (clone(DEEP).set_params(family=["trees", "kernel"]), THREE, None),  # kernels need the values
        (RGBClassifier(2, **NAMED), words(), np.where(words()[0]["a"].isin(["w1", "w2"]), 0.0, fractions(240) + 1.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:X holds text")
def test_models_of_parts_are_those_of_all_rows(estimator: Any, data: Any, weights: Any) -> None:
    check(estimator, *data, weights)


class Watched(ReloadedPartition):
    """Knows which of the loaded values are still in memory when a part is loaded."""

    alive: ClassVar[list[weakref.ref[np.ndarray]]] = []
    most = 0

    def load(self) -> LoadedPartition:
        loaded = super().load()
        Watched.alive = [one for one in Watched.alive if one() is not None] + [weakref.ref(loaded.X)]
        Watched.most = max(Watched.most, len(Watched.alive))
        return loaded


@pytest.mark.parametrize(("kept", "n_passes"), [(0, 3), (2**26, 1)])
def test_one_part_is_in_memory_at_a_time(monkeypatch: pytest.MonkeyPatch, kept: int, n_passes: int) -> None:
    """To check, cut and bin them; early stopping and calibration need no values. Small parts are kept."""
    monkeypatch.setattr(reader, "KEPT_BYTES", kept)
    monkeypatch.setattr(Watched, "most", 0)
    parts = [Watched(LoadedPartition(TWO[0][k::5], TWO[1][k::5])) for k in range(5)]
    fit_by_threads(RGBClassifier(2, early_stopping=1), parts, 1)
    assert [part.n_loads for part in parts] == [1 + n_passes, *[n_passes] * 4]  # the tools look for weights in one
    assert Watched.most <= 2 or kept  # the one before may be there while the next is made


def test_poisson_where_a_worker_has_zeros_alone() -> None:
    X, y = table(5, 60, 4, 6)
    y = np.sort(y * 1.0)
    y[:40] = 0.0
    estimator, first = RGBRegressor(4, loss="poisson"), LoadedPartition(X[:20], y[:20])
    check(estimator, X, y, None, [first, LoadedPartition(X[20:], y[20:])], 2)
    refused([first, LoadedPartition(X[20:], y[20:] - 1.0)], "goes down to -1", estimator)


def test_text_that_only_some_parts_have() -> None:
    """A part with nothing but missing values in a column of text is read again."""
    X, y = words()
    X.loc[:79, "a"] = None
    expected = RGBClassifier(2, calibration=None).set_params(categorical_features=["a", "d"]).fit(X, y)
    parts = [ReloadedPartition(LoadedPartition(X[k : k + 80], y[k : k + 80])) for k in (0, 80, 160)]
    with pytest.warns(UserWarning, match="holds text"):
        models = fit_by_threads(RGBClassifier(2, calibration=None), parts, 2)
    for model in models:
        assert everything(model)[:-1] == everything(expected)[:-1]


@pytest.mark.parametrize("column", ["a", "d"])
def test_categories_here_and_numbers_there(column: str) -> None:
    """As in one place, where a column of both is refused."""
    X, y = words()
    other = X[80:].assign(**{column: 1.0})
    first, reversed_columns = LoadedPartition(X[:80], y[:80]), LoadedPartition(X[80:][X.columns[::-1]], y[80:])
    message = f"The partitions differ: column '{column}' .* numbers in another"
    refused([first, LoadedPartition(other, y[80:])], message)
    refused([first, reversed_columns], r"one has 6 columns .*; another 6 columns")


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_more_categories_than_are_told_apart(weights: str | None) -> None:
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.permutation(np.arange(600) % 280), rng.normal(size=600)])
    y = (X[:, 0] % 3 > 0).astype(int)
    given = None if weights is None else rng.integers(1, 9, 600) / (1.0 if weights == "whole" else 7.0)
    estimator = DeepBoostClassifier(2, complexity_penalty=0.01, categorical_features=[0], calibration=None)
    with pytest.warns(UserWarning, match="280 categories"):
        check(estimator, X, y, given)


def test_parts_of_any_type() -> None:
    """Whole numbers, booleans and objects beside floating-point numbers, labels of any kind of number; one is empty."""
    X, y = TWO
    X = np.column_stack([np.rint(4.0 * np.nan_to_num(X[:, :3])), X[:, 3] > 0.0])
    kinds: list[tuple[Any, Any]] = [
        (np.int8, np.int8),
        (np.float32, bool),
        (object, np.int64),
        (np.float64, np.float64),
        (np.int64, np.uint8),
    ]
    parts = [LoadedPartition(X[k::5].astype(of_x), y[k::5].astype(of_y)) for k, (of_x, of_y) in enumerate(kinds)]
    parts.insert(2, LoadedPartition(X[:0].astype(np.int32), y[:0].astype(np.int16)))
    expected = clone(DEEP).fit(X, y * 1.0)
    for model in fit_by_threads(DEEP, parts, 3):
        assert everything(model)[0] == everything(expected)[0]
        assert model.classes_.tolist() == [0, 1]


def test_a_worker_with_one_class() -> None:
    X, y = THREE
    order = np.argsort(y, kind="stable")
    thirds = np.split(order, np.flatnonzero(np.diff(y[order])) + 1)
    check(DEEP, X, y, None, [LoadedPartition(X[own], y[own]) for own in thirds])


def test_a_warm_start() -> None:
    X, y = TWO
    model = RGBClassifier(2, warm_start=True, calibration=None).fit(X, y)
    longer = clone(model).set_params(n_rounds=4).fit(X, y)
    for found in fit_by_threads(model.set_params(n_rounds=4), cut(4, X=X, y=y), 2):
        assert everything(found) == everything(longer)


def test_a_generator_is_asked_for_one_seed() -> None:
    one, other = (clone(DEEP).set_params(random_state=np.random.RandomState(5)) for _ in range(2))
    expected = one.fit(*TWO)
    for model in fit_by_threads(other, cut(4, X=TWO[0], y=TWO[1]), 2):
        assert everything(model)[:-1] == everything(expected)[:-1]


def test_parts_that_differ_and_bad_labels_and_weights_are_refused() -> None:
    X, y = TWO
    refused([LoadedPartition(X, y), LoadedPartition(X[:, :4], y)], "one has 5 columns, dense")
    frame = pd.DataFrame(X, columns=list("abcde"))
    refused([LoadedPartition(frame, y), LoadedPartition(frame[list("abced")], y)], "same columns")
    refused([LoadedPartition(X, y), LoadedPartition(sparse.csr_matrix(np.nan_to_num(X)), y)], "sparse")
    refused([LoadedPartition(X, y), LoadedPartition(X, y.astype(str))], "labels of different types")
    refused([LoadedPartition(X[:0], y[:0]), LoadedPartition(X[:0], y[:0])], "every partition is empty")
    ones = np.ones(len(y))
    refused([LoadedPartition(X, y * 0), LoadedPartition(X, y * 0)], "only one class")
    refused([LoadedPartition(X, y + 0.5), LoadedPartition(X, y)], "continuous")
    refused([LoadedPartition(X, y, 0 * ones), LoadedPartition(X, y, 0 * ones)], "zero for every row")
    refused([LoadedPartition(X, y, 2.0**51 * ones), LoadedPartition(X, y, 2.0**51 * ones)], "the sum at most")


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (DeepBoostClassifier(5, complexity_penalty=0.01, early_stopping=3, calibration=None), TWO),
        (DeepBoostClassifier.paper(5, objective="max", family="stumps"), THREE),
        (SoftmaxBoostClassifier(3, learning_rate=0.7, calibration=None), THREE),
        (RGBClassifier(3, calibration=None), THREE),
        (RGBRegressor(3, loss="huber", warm_start=True), TWO),
    ],
    ids=["deep", "max", "softmax", "rgb", "numbers"],
)
def test_a_fit_that_was_broken_off_goes_on_with_other_workers(estimator: Any, data: Any) -> None:
    """Stopped at any meeting, three workers have the same finished rounds; two others end with the model of one."""
    parts = cut(6, X=data[0], y=data[1])
    expected = everything(clone(estimator).fit(*data))
    seen = set()
    for n_meetings in (20, 60, 110, 170, 250, 400):
        traces = abort_after(clone(estimator), parts, 3, n_meetings)
        lengths = {trace.n_rounds for trace in traces}
        assert len(lengths) == 1
        if lengths <= seen:
            continue
        seen |= lengths
        for model in fit_by_threads(clone(estimator), parts, 2, traces[1]):
            assert everything(model) == expected
    assert len(seen) > 2  # before the first round, and after some


def test_the_extra_is_named_where_dask_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    X, y = TWO
    with pytest.raises(ImportError, match=r"radboost\[dask\]"):
        cluster_fits.fit(RGBClassifier(2), X, y)
    with pytest.raises(ImportError, match=r"radboost\[dask\]"):
        cluster_fits.predict(RGBClassifier(1, calibration=None).fit(X, y), X)


@pytest.mark.parametrize("estimator", [DeepBoostClassifier(3, complexity_penalty=0.01), RGBClassifier(3)])
def test_calibration_is_found_without_an_exchange_for_each_trial(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for temperature, power and doubt sums losses thousands of times; many rows stay where they are."""
    X, y = table(3, 240, 4, 3)
    expected = clone(estimator).fit(X, y)
    assert expected.calibration_ is not None
    counts = []
    for most in (calibrated.MOST_GATHERED, 0):
        monkeypatch.setattr(calibrated, "MOST_GATHERED", most)
        group, parts = ThreadGroup(2), cut(4, X=X, y=y)
        task = FitTask.of(clone(estimator), arguments_of())
        for model in group.run(
            lambda rank, workers, task=task, parts=parts: task.run(parts[rank::2], workers, first=rank == 0)
        ):
            assert model.calibration_ == expected.calibration_
        counts.append(len(group.met))
    assert counts[0] < 1000 < counts[1]


def test_bins_of_a_sketch_depend_on_the_partitioning() -> None:
    """The one option without equality to a fit on one machine."""
    X, y = table(1, 900, 3)
    estimator = RGBClassifier(3, calibration=None, tree_options=TreeOptions(max_bins=16))

    def models(seed: int) -> list[str]:
        parts = cut(5, seed, X=X, y=y, sample_weight=fractions(900))
        task = FitTask.of(estimator, arguments_of(sample_weight="given"), bins="sketch")
        found = run_task(task, [parts[::2], parts[1::2]])
        assert np.mean(found[0].predict(X) == y) > 0.8
        return [repr(everything(model)) for model in found]

    assert len({*models(0), *models(0)}) == 1
    assert {*models(0)} != {*models(1)}
    assert repr(everything(clone(estimator).fit(X, y, fractions(900)))) not in models(0)
