"""The same model for any number of threads, order of rows, way of writing weights, process and run."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properties.cases import CASES, Case, essence, on_readers, one_of_each, over, scores, take
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier, TreeOptions
from radboost.baselines import AdaBoostMHClassifier, SAMMEClassifier
from radboost.trees import with_tree_options
from reference.data import smooth, smooth_classes

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@over()
def test_any_number_of_threads(case: Case) -> None:
    X, y = case.data(1, m=300 if case.splits else 150, d=7 if case.splits else 5, missing=0.05)
    model = case.make(n_jobs=1).fit(X, y)
    assert len(model.ensemble_) > 0
    first = essence(model, X)
    for n_jobs in (2, 3, None):
        assert essence(case.make(n_jobs=n_jobs).fit(X, y), X) == first


VOTES: dict[str, Any] = {"leaves": "votes", "calibration": None}  # without the short fits by which defaults are chosen
WAYS: list[dict[str, Any]] = [
    {"subsample": 0.5, "split_criterion": "gini"},
    {"split_criterion": "edge", "thresholds": "best"},
    {"split_criterion": "gini", "thresholds": "best", "max_features": None, "step": "line_search"},
]
CATEGORIES: dict[str, Any] = {"categorical_features": [4]}
LARGE: list[tuple[Any, int, dict[str, Any]]] = [
    *((DeepBoostClassifier, 2, VOTES | way) for way in WAYS),
    *(  # a Latin square: every way with every objective and every number of classes
        (DeepBoostClassifier, n_classes, {"objective": objective, **VOTES, **WAYS[(i + j) % len(WAYS)]})
        for i, n_classes in enumerate((3, 7, 20))
        for j, objective in enumerate(("sum", "compsum", "maxsum", "max"))
    ),
    (DeepBoostClassifier, 2, {}),
    *((SoftmaxBoostClassifier, n, {"samples_per_round": pairs}) for n in (2, 7) for pairs in (None, "all")),
    *((RGBClassifier, n, {}) for n in (2, 5)),
    (RGBRegressor, 0, {"loss": "huber"}),
    *((estimator, n, {}) for estimator in (AdaBoostMHClassifier, SAMMEClassifier) for n in (2, 5)),
    *(
        (estimator, n, CATEGORIES | more)
        for estimator, more in ((DeepBoostClassifier, VOTES), (RGBClassifier, {}))
        for n in (2, 3)
    ),
    (DeepBoostClassifier, 2, {**CATEGORIES, "family": "stump_pairs"}),
]


@pytest.mark.parametrize(
    ("estimator", "n_classes", "changes"), LARGE, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_any_number_of_threads_on_data_large_enough_to_share(
    estimator: Any, n_classes: int, changes: dict[str, Any]
) -> None:
    X, y = smooth_classes(2, m=40_000, d=5, n_classes=max(n_classes, 2))
    X[:, 4] = np.floor(30 * X[:, 4]) if "categorical_features" in changes else X[:, 4]
    y = y if n_classes else X[:, 0] + y
    models = [
        estimator(4 if n_classes == 2 else 2, n_jobs=n, **with_tree_options(changes)).fit(X, y) for n in (1, 2, 4)
    ]
    for model in models[1:]:
        assert essence(model, X[:200]) == essence(models[0], X[:200])
        np.testing.assert_array_equal(scores(model, X), scores(models[0], X))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("criterion", ["gini", "edge"])
def test_wide_data_share_columns_between_threads(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 400)), rng.integers(0, n_classes, 300)
    changes: dict[str, Any] = {"thresholds": "best", "max_features": None, "split_criterion": criterion}
    models = [
        DeepBoostClassifier(3, n_jobs=n, complexity_penalty=0.0, **with_tree_options(changes)).fit(X, y)
        for n in (1, 2, 4)
    ]
    assert essence(models[0], X) == essence(models[1], X) == essence(models[2], X)


@over()
def test_two_runs_and_the_seed(case: Case) -> None:
    X, y = case.data(4, m=120)
    first = essence(case.make().fit(X, y), X)
    assert essence(case.make().fit(X, y), X) == first
    model = case.make().fit(X[: len(X) // 2], take(y, slice(len(X) // 2)))  # of which nothing may be left
    assert essence(model.fit(X, y), X) == first
    if case.random:
        assert essence(case.make(random_state=4).fit(X, y), X) != first


@over()
def test_order_of_rows(case: Case) -> None:
    X, y = case.data(5, m=120, missing=0.05)
    X[60:80] = X[:20]
    first = essence(case.make().fit(X, y), X)
    shuffled = np.random.default_rng(0).permutation(120)
    by_label = np.lexsort(np.atleast_2d(y.T))[::-1]
    for order in (shuffled, by_label):
        assert essence(case.make().fit(X[order], y[order]), X) == first
    w = np.random.default_rng(1).random(120) + 0.5
    weighted = case.make().fit(X, y, w)
    assert essence(weighted, X) != first
    assert essence(case.make().fit(X[shuffled], y[shuffled], w[shuffled]), X) == essence(weighted, X)


@over()
def test_integer_weights_are_repetition(case: Case) -> None:
    X, y = case.data(6, m=110, missing=0.05)
    copies = np.random.default_rng(2).integers(0, 4, len(X))
    copies[: max(3, case.n_classes)] = 1
    weighted = case.make().fit(X, y, copies)
    written_out = case.make().fit(np.repeat(X, copies, axis=0), np.repeat(y, copies, axis=0))
    assert essence(written_out, X) == essence(weighted, X)
    if case.boosted and not case.held_back:
        assert weighted.ensemble_.sample_size == copies.sum()
        families = [getattr(one.ensemble_, "n_families", None) for one in (weighted, written_out)]
        assert families[0] == families[1]


TIED = [case for case in CASES if not case.folds and "kernel" not in case.name and case.n_classes < 10]


@settings(max_examples=6 * settings.default.max_examples)  # type: ignore[union-attr]
@given(st.integers(0, 10**6), st.integers(8, 30) | st.integers(60, 120), st.sampled_from(TIED))
def test_integer_weights_are_repetition_on_tied_data(seed: int, m: int, case: Case) -> None:
    X, y = case.tied(seed, m + 30 * case.held_back, missing=0.1)
    if case.tasks:
        y[:4, 1] = y[:4, 2] = [-1, 1, -1, 1]
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, len(X))
    shuffled = rng.permutation(copies.sum())
    repeated, labels = np.repeat(X, copies, axis=0)[shuffled], np.repeat(y, copies, axis=0)[shuffled]
    weighted = case.make().fit(X, y, copies.astype(float))
    assert essence(case.make().fit(repeated, labels), X) == essence(weighted, X)


@pytest.mark.parametrize(("seed", "criterion"), [(14, "edge"), (81, "gini")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetition_where_the_search_changes(seed: int, criterion: str, n_classes: int) -> None:
    """Small nodes are searched row by row and large ones by histograms, with the same answer on ties."""
    X, y = smooth_classes(seed, m=100, d=3, n_classes=n_classes, noise=0.2)
    X = np.round(X, 1)
    X[(y == 0) & (np.random.default_rng(seed).random(100) < 0.4), 1] = np.nan
    settings: dict[str, Any] = {"split_criterion": criterion, "tree_options": TreeOptions(max_bins=12), "max_depth": 4}
    weighted, written_out = (
        DeepBoostClassifier.paper(3, complexity_penalty=0.005, **with_tree_options(settings)).fit(*rows)
        for rows in ((X, y, np.full(100, 4.0)), (np.repeat(X, 4, axis=0), np.repeat(y, 4)))
    )
    assert essence(written_out, X) == essence(weighted, X)
    for one, other in zip(weighted.ensemble_.entered, written_out.ensemble_.entered, strict=True):
        assert one.key() == other.key()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_huge_integer_weights_are_repetition_in_proportion(n_classes: int) -> None:
    """No overflow; the bits that huge weights take from the gradients (62 together) cost a little precision."""
    X, y = smooth_classes(7, m=60, n_classes=n_classes)
    recipe = DeepBoostClassifier.paper(n_rounds=5, objective="sum", l1_penalty=0.01)
    plain = recipe.fit(X, y).decision_function(X)
    # Steps of several classes are multiples of 2^-20, which hides the last bits.
    for weight, tolerance in ((2.0**20, 0.0 if n_classes > 2 else 1e-9), (2.0**40, 0.01), (2.0**45, 0.1)):
        heavy = recipe.fit(X, y, sample_weight=np.full(60, weight)).decision_function(X)
        np.testing.assert_allclose(heavy, plain, rtol=0.0, atol=tolerance)


@over()
def test_zero_weight_rows_are_as_if_absent(case: Case) -> None:
    """Whatever they hold, and even where a class has no other row: it is then no class of the model."""
    X, y = case.data(7, m=120)
    w = (np.arange(120) % 3 > 0).astype(float)
    w[: max(3, case.n_classes)] = 1.0
    padded = X.copy()
    padded[w == 0] = 1e30
    expected = essence(case.make().fit(X[w > 0], y[w > 0]), X)
    assert essence(case.make().fit(padded, y, w), X) == expected
    if case.takes_names:
        labels = np.where(w == 0, 99, y)
        assert essence(case.make().fit(padded, labels, w), X) == expected


WITHOUT_DRAWS = ("DeepBoost paper", "given", "RGB squared", "AdaBoostMH", "SAMME", "MartiBoost")


@over(lambda case: any(part in case.name for part in WITHOUT_DRAWS) and not case.held_back)
def test_equal_weights_that_are_not_whole_match_unit_weights_in_scale(case: Case) -> None:
    """Weights 0.5 on doubled rows mean the same sample of the same size."""
    X, y = case.data(8, m=60)
    twice = case.make().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2, axis=0), sample_weight=np.full(120, 0.5))
    once = case.make().fit(X, y)
    # Gradients that are not counted in copies are rounded elsewhere; the sparse estimators stop within a tolerance.
    np.testing.assert_allclose(
        scores(twice, X), scores(once, X), rtol=1e-6 if "RGB" in case.name or not case.boosted else 1e-9
    )
    if case.boosted:
        assert twice.ensemble_.sample_size == once.ensemble_.sample_size == 60


@over(lambda case: case.takes_names)
def test_names_of_classes_do_not_matter_but_for_their_order(case: Case) -> None:
    X, y = case.data(9, m=110)
    named = np.array([f"class {chr(97 + k)}" for k in range(26)])[np.unique(y, return_inverse=True)[1]]
    plain, other = essence(case.make().fit(X, y), X), essence(case.make().fit(X, named), X)
    for facts in (plain, other):
        del facts["predict"], facts["classes_"]
    assert other == plain


def read_only_map(X: np.ndarray, folder: Path) -> np.ndarray:
    mapped = np.memmap(folder / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return np.memmap(folder / "rows", dtype=np.float64, mode="r", shape=X.shape)


LAYOUTS: dict[str, Any] = {
    "fortran": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "strided rows": lambda X, folder: np.repeat(X, 2, axis=0)[::2],
    "strided columns": lambda X, folder: np.repeat(X, 2, axis=1)[:, ::2],
    "negative strides": lambda X, folder: X[::-1].copy()[::-1],
    "big endian": lambda X, folder: X.astype(">f8"),
    "any address": lambda X, folder: np.frombuffer(b"odd" + X.tobytes(), offset=3).reshape(X.shape),
    "lists": lambda X, folder: X.tolist(),
    "read-only map": read_only_map,
}


@on_readers(LAYOUTS)
def test_memory_layout(case: Case, layout: str, tmp_path: Path) -> None:
    X, y = case.data(9, m=80, missing=0.1)
    X = X.astype(np.float32).astype(np.float64)
    other = LAYOUTS[layout](X, tmp_path)
    model, again = case.make().fit(X, y), case.make().fit(other, y)
    if case.sums_of_floats:  # predictions are products of matrices, whose order of terms follows the layout
        np.testing.assert_allclose(scores(again, X), scores(model, X), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(scores(model, other), scores(model, X), rtol=1e-6, atol=1e-6)
    else:
        assert essence(again, X) == essence(model, X)
        np.testing.assert_array_equal(scores(model, other), scores(model, X))


def _fit_in_child(queue: Any, case: Case, X: np.ndarray, y: np.ndarray) -> None:
    queue.put(essence(case.make(n_jobs=2).fit(X, y), X))


@one_of_each()
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_child_after_a_fit_in_the_parent(case: Case) -> None:
    X, y = case.data(10, m=1500 if case.splits else 200, d=8)
    here = essence(case.make(n_jobs=2).fit(X, y), X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue, case, X, y))
    child.start()
    there = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert there == here
    assert essence(case.make(n_jobs=2).fit(X, y), X) == here


@one_of_each()
def test_fits_in_several_python_threads_at_once(case: Case) -> None:
    X, y = case.data(12, m=1000 if case.splits else 200, d=8)
    expected = essence(case.make(n_jobs=2).fit(X, y), X)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(essence(case.make(n_jobs=2).fit(X, y), X))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [expected] * 4


SCRIPT = """
import json, sys, warnings
sys.path[:0] = json.loads(sys.argv[1])
warnings.simplefilter("ignore")
from properties.cases import CASES, essence
found = {}
for case in CASES[int(sys.argv[2]) :: int(sys.argv[3])]:
    X, y = case.data(11, m=100, missing=0.05)
    found[case.name] = essence(case.make().fit(X, y), X)
print(json.dumps(found))
"""


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))])
def test_another_process_with_another_hash_seed(first: int) -> None:
    """Every fourth case, from this one on."""
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([str(Path(__file__).resolve().parents[1])]), str(first), "4"],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    there = json.loads(answer.stdout)
    assert len(there) > 20
    for case in CASES[first::4]:
        X, y = case.data(11, m=100, missing=0.05)
        here = essence(case.make().fit(X, y), X)
        assert there[case.name] == json.loads(json.dumps(here)), case.name


def test_a_seed_that_is_none_draws_anew() -> None:
    X, y = smooth(13, m=120)
    one, other = (DeepBoostClassifier(5, random_state=None).fit(X, y) for _ in range(2))
    assert essence(one, X) != essence(other, X)
