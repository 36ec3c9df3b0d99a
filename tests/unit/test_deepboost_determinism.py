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
from hypothesis import given
from hypothesis import strategies as st

from radboost import DeepBoostClassifier, TreeOptions
from reference.data import smooth, tiny

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "loss": "exponential",
        "learning_rate": 1.0,
        "subsample": 1.0,
        "max_features": None,
        "thresholds": "best",
        "split_criterion": "edge",
    },
    "half of the rows": {"subsample": 0.5, "thresholds": "best", "split_criterion": "gini"},
    "half, random, edge": {
        "subsample": 0.5,
        "thresholds": "random",
        "split_criterion": "edge",
        "learning_rate": 0.5,
    },
    "stump pairs": {"family": "stump_pairs", "loss": "exponential", "subsample": 0.7},
    "best first": {"tree_options": TreeOptions(growth="best_first", max_leaves=7, min_leaf_weight=2.0)},
    "line search": {"step": "line_search", "complexity_penalty": 0.01},
    "early stopping": {"early_stopping": 5, "subsample": 0.5},
    "mixture": {"family": ["stumps", "trees"], "complexity_penalty": 0.02},
    "few bins": {"tree_options": TreeOptions(max_bins=7, min_leaf_weight=3.0)},
}
ALL = pytest.mark.parametrize("name", sorted(CONFIGURATIONS))


def make(name: str, **changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(
        **{"n_rounds": 15, "complexity_penalty": 0.005, "random_state": 3, **CONFIGURATIONS[name], **changes}
    )


def essence(model: DeepBoostClassifier, X: np.ndarray) -> dict[str, Any]:
    """Everything that must be equal to the last bit."""
    return {
        "scores": model.decision_function(X).tolist(),
        "weights": model.ensemble_.weights.tolist(),
        "complexities": model.ensemble_.complexities.tolist(),
        "steps": model.ensemble_.steps.tolist(),
        "history": {k: [float(v) for v in column] for k, column in model.history_.items()},
        "importances": model.feature_importances_.tolist(),
        "stop": model.stop_reason_,
        "skipped": model.n_skipped_rounds_,
    }


@ALL
def test_any_number_of_threads(name: str) -> None:
    X, y = smooth(1, m=300, d=7, missing=0.05)
    first = essence(make(name, n_jobs=1).fit(X, y), X)
    assert first["steps"]
    for n_jobs in (2, 4, -1, None):
        assert essence(make(name, n_jobs=n_jobs).fit(X, y), X) == first


def test_any_number_of_threads_on_data_large_enough_to_share() -> None:
    X, y = smooth(2, m=40_000, d=5)
    for changes in (
        {"subsample": 0.5, "split_criterion": "gini"},
        {"split_criterion": "edge", "thresholds": "best"},
    ):
        models = [DeepBoostClassifier(4, n_jobs=n, **changes).fit(X, y) for n in (1, 2, 4)]
        assert essence(models[1], X[:500]) == essence(models[0], X[:500])
        assert essence(models[2], X[:500]) == essence(models[0], X[:500])
        np.testing.assert_array_equal(models[2].decision_function(X), models[0].decision_function(X))


def test_wide_data_shares_columns_between_threads() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 400)), rng.integers(0, 2, 300)
    models = [DeepBoostClassifier(3, n_jobs=n, thresholds="best", max_features=None).fit(X, y) for n in (1, 2, 4)]
    assert essence(models[0], X) == essence(models[1], X) == essence(models[2], X)


@ALL
def test_two_runs_and_the_seed(name: str) -> None:
    X, y = smooth(4, m=120)
    assert essence(make(name).fit(X, y), X) == essence(make(name).fit(X, y), X)
    if name in ("default", "half, random, edge", "half of the rows"):
        assert essence(make(name, random_state=4).fit(X, y), X) != essence(make(name).fit(X, y), X)


@ALL
def test_order_of_rows(name: str) -> None:
    X, y = smooth(5, m=120, missing=0.05)
    X[60:80] = X[:20]
    shuffled = np.random.default_rng(0).permutation(120)
    one, other = make(name).fit(X, y), make(name).fit(X[shuffled], y[shuffled])
    assert essence(other, X) == essence(one, X)
    w = np.random.default_rng(1).random(120) + 0.5
    one, other = make(name).fit(X, y, w), make(name).fit(X[shuffled], y[shuffled], w[shuffled])
    assert essence(other, X) == essence(one, X)


@ALL
def test_integer_weights_are_repetition(name: str) -> None:
    X, y = smooth(6, m=90, missing=0.05)
    copies = np.random.default_rng(2).integers(0, 4, 90)
    copies[:2] = 1
    repeated, labels = np.repeat(X, copies, axis=0), np.repeat(y, copies)
    weighted = make(name).fit(X, y, sample_weight=copies)
    written_out = make(name).fit(repeated, labels)
    assert essence(written_out, X) == essence(weighted, X)
    if name != "early stopping":
        assert weighted.ensemble_.sample_size == copies.sum()


@given(st.integers(0, 10**6), st.integers(4, 30) | st.integers(60, 120), st.sampled_from(sorted(CONFIGURATIONS)))
def test_integer_weights_are_repetition_on_tied_data(seed: int, m: int, name: str) -> None:
    if name == "early stopping":
        m += 30
    X, y = tiny(seed, m=m, missing=0.1)
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, m)
    shuffled = rng.permutation(copies.sum())
    repeated, labels = np.repeat(X, copies, axis=0)[shuffled], np.repeat(y, copies)[shuffled]
    assert essence(make(name, n_rounds=6).fit(repeated, labels), X) == essence(
        make(name, n_rounds=6).fit(X, y, sample_weight=copies.astype(float)), X
    )


def test_zero_weight_rows_are_as_if_absent() -> None:
    X, y = smooth(7, m=100)
    w = (np.arange(100) % 3 > 0).astype(float)
    padded = X.copy()
    padded[w == 0] = 1e30
    assert essence(make("default").fit(padded, y, sample_weight=w), X) == essence(
        make("default").fit(X[w > 0], y[w > 0]), X
    )


def test_equal_weights_that_are_not_whole_match_unit_weights_in_scale() -> None:
    """Weights 0.5 on doubled rows mean the same sample of the same size."""
    X, y = smooth(8, m=60)
    twice = make("paper").fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), sample_weight=np.full(120, 0.5))
    once = make("paper").fit(X, y)
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), rtol=1e-9)
    assert twice.ensemble_.sample_size == once.ensemble_.sample_size == 60


@pytest.mark.parametrize(
    "other",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.tolist(),
    ],
    ids=["fortran", "float32", "strided rows", "strided columns", "negative strides", "lists"],
)
def test_memory_layout(other: Any) -> None:
    X, y = smooth(9, m=60, missing=0.1)
    X = X.astype(np.float32).astype(np.float64)
    model = make("default").fit(X, y)
    again = make("default").fit(other(X), y)
    assert essence(again, X) == essence(model, X)
    np.testing.assert_array_equal(model.decision_function(other(X)), model.decision_function(X))


def _fit_in_child(queue: Any, X: np.ndarray, y: np.ndarray) -> None:
    queue.put(essence(make("default", n_jobs=2).fit(X, y), X))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_child_after_a_fit_in_the_parent() -> None:
    X, y = smooth(10, m=3000, d=12)
    here = essence(make("default", n_jobs=2).fit(X, y), X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue, X, y))
    child.start()
    there = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert there == here
    assert essence(make("default", n_jobs=2).fit(X, y), X) == here


SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from unit_determinism import essence, make, smooth
X, y = smooth(11, m=150, missing=0.05)
names = ("default", "paper", "half of the rows")
print(json.dumps({name: essence(make(name).fit(X, y), X) for name in names}))
"""


def test_another_process_with_another_hash_seed() -> None:
    here = Path(__file__).resolve().parent
    script = SCRIPT.replace("unit_determinism", "test_deepboost_determinism")
    answer = subprocess.run(
        [sys.executable, "-c", script, json.dumps([str(here), str(here.parent)])],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    X, y = smooth(11, m=150, missing=0.05)
    for name, found in json.loads(answer.stdout).items():
        assert found == json.loads(json.dumps(essence(make(name).fit(X, y), X)))


def test_fits_in_several_python_threads_at_once() -> None:
    X, y = smooth(12, m=2000, d=10)
    expected = essence(make("default", n_jobs=2).fit(X, y), X)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(essence(make("default", n_jobs=2).fit(X, y), X))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [expected] * 4
