"""Several classes: the same model for any number of threads, order of rows and way of writing weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from radboost import DeepBoostClassifier, KernelFamily, TreeOptions
from reference.data import smooth_classes, tiny_classes

pytestmark = pytest.mark.native

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "objective": "sum",
        "loss": "exponential",
        "learning_rate": 1.0,
        "max_features": None,
        "thresholds": "best",
        "split_criterion": "edge",
    },
    "half of the rows": {"objective": "sum", "subsample": 0.5, "thresholds": "best"},
    "half, random, edge": {
        "objective": "maxsum",
        "subsample": 0.5,
        "split_criterion": "edge",
        "learning_rate": 0.5,
    },
    "best first": {"tree_options": TreeOptions(growth="best_first", max_leaves=7, min_leaf_weight=2.0)},
    "best first by edge": {
        "objective": "max",
        "split_criterion": "edge",
        "tree_options": TreeOptions(growth="best_first", max_leaves=7),
    },
    "line search": {"objective": "sum", "step": "line_search", "complexity_penalty": 0.01},
    "maxsum": {"objective": "maxsum", "loss": "exponential"},
    "max": {"objective": "max", "learning_rate": 1.0, "complexity_penalty": 0.0},
    "stumps": {"family": "stumps", "objective": "max", "loss": "exponential"},
    "stump pairs": {"family": "stump_pairs", "loss": "exponential", "subsample": 0.7},
    "early stopping": {"early_stopping": 5, "subsample": 0.5},
    "mixture": {"family": ["stumps", "trees"], "complexity_penalty": 0.02},
    "few bins": {"tree_options": TreeOptions(max_bins=7, min_leaf_weight=3.0)},
}
ALL = pytest.mark.parametrize("name", sorted(CONFIGURATIONS))


def make(name: str, **changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier(
        **{"n_rounds": 12, "complexity_penalty": 0.005, "random_state": 3, **CONFIGURATIONS[name], **changes}
    )


def essence(model: DeepBoostClassifier, X: np.ndarray) -> dict[str, Any]:
    """Everything that must be equal to the last bit."""
    return {
        "scores": model.decision_function(X).tolist(),
        "probabilities": model.predict_proba(X).tolist(),
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
    X, y = smooth_classes(1, m=300, d=7, n_classes=5, missing=0.05)
    first = essence(make(name, n_jobs=1).fit(X, y), X)
    assert first["steps"]
    for n_jobs in (2, 4, None):
        assert essence(make(name, n_jobs=n_jobs).fit(X, y), X) == first


@pytest.mark.parametrize("objective", ["sum", "compsum", "maxsum", "max"])
@pytest.mark.parametrize("n_classes", [3, 7, 20])
def test_any_number_of_threads_on_data_large_enough_to_share(objective: str, n_classes: int) -> None:
    X, y = smooth_classes(2, m=40_000, d=5, n_classes=n_classes)
    for changes in (
        {"subsample": 0.5, "split_criterion": "gini"},
        {"split_criterion": "edge", "thresholds": "best"},
        {"split_criterion": "gini", "thresholds": "best", "max_features": None, "step": "line_search"},
    ):
        models = [DeepBoostClassifier(2, objective=objective, n_jobs=n, **changes).fit(X, y) for n in (1, 2, 4)]
        assert essence(models[1], X[:200]) == essence(models[0], X[:200])
        assert essence(models[2], X[:200]) == essence(models[0], X[:200])
        np.testing.assert_array_equal(models[2].decision_function(X), models[0].decision_function(X))


def test_wide_data_share_columns_between_threads() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 400)), rng.integers(0, 4, 300)
    for criterion in ("gini", "edge"):
        models = [
            DeepBoostClassifier(
                3, n_jobs=n, thresholds="best", max_features=None, split_criterion=criterion, complexity_penalty=0.0
            ).fit(X, y)
            for n in (1, 2, 4)
        ]
        assert essence(models[0], X) == essence(models[1], X) == essence(models[2], X)


@ALL
def test_two_runs_and_the_seed(name: str) -> None:
    X, y = smooth_classes(4, m=120)
    assert essence(make(name).fit(X, y), X) == essence(make(name).fit(X, y), X)
    if name in ("default", "half, random, edge", "half of the rows"):
        assert essence(make(name, random_state=4).fit(X, y), X) != essence(make(name).fit(X, y), X)


@ALL
def test_order_of_rows(name: str) -> None:
    X, y = smooth_classes(5, m=120, n_classes=4, missing=0.05)
    X[60:80] = X[:20]
    shuffled = np.random.default_rng(0).permutation(120)
    one, other = make(name).fit(X, y), make(name).fit(X[shuffled], y[shuffled])
    assert essence(other, X) == essence(one, X)
    by_class = np.argsort(y, kind="stable")[::-1]
    assert essence(make(name).fit(X[by_class], y[by_class]), X) == essence(one, X)
    w = np.random.default_rng(1).random(120) + 0.5
    one, other = make(name).fit(X, y, w), make(name).fit(X[shuffled], y[shuffled], w[shuffled])
    assert essence(other, X) == essence(one, X)


@ALL
def test_integer_weights_are_repetition(name: str) -> None:
    X, y = smooth_classes(6, m=90, missing=0.05)
    copies = np.random.default_rng(2).integers(0, 4, 90)
    copies[:3] = 1
    weighted = make(name).fit(X, y, sample_weight=copies)
    written_out = make(name).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert essence(written_out, X) == essence(weighted, X)
    if name != "early stopping":
        assert weighted.ensemble_.sample_size == copies.sum()


@given(
    st.integers(0, 10**6),
    st.integers(6, 30) | st.integers(60, 120),
    st.integers(3, 6),
    st.sampled_from(sorted(CONFIGURATIONS)),
)
def test_integer_weights_are_repetition_on_tied_data(seed: int, m: int, n_classes: int, name: str) -> None:
    if name == "early stopping":
        m += 30
    X, y = tiny_classes(seed, m=m, d=3, n_classes=n_classes, missing=0.1)
    rng = np.random.default_rng(seed)
    copies = rng.integers(1, 4, m)
    shuffled = rng.permutation(copies.sum())
    repeated, labels = np.repeat(X, copies, axis=0)[shuffled], np.repeat(y, copies)[shuffled]
    assert essence(make(name, n_rounds=6).fit(repeated, labels), X) == essence(
        make(name, n_rounds=6).fit(X, y, sample_weight=copies.astype(float)), X
    )


@pytest.mark.parametrize(("seed", "criterion"), [(14, "edge"), (81, "gini")])
def test_weights_are_repetition_where_the_search_changes(seed: int, criterion: str) -> None:
    """Small nodes are searched row by row and large ones by histograms, with the same answer on ties."""
    X, y = smooth_classes(seed, m=100, d=3, noise=0.2)
    X = np.round(X, 1)
    X[(y == 0) & (np.random.default_rng(seed).random(100) < 0.4), 1] = np.nan
    changes = {"split_criterion": criterion, "tree_options": TreeOptions(max_bins=12), "max_depth": 4, "n_rounds": 3}
    weighted = make("paper", **changes).fit(X, y, sample_weight=np.full(100, 4.0))
    written_out = make("paper", **changes).fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    assert essence(written_out, X) == essence(weighted, X)
    for one, other in zip(weighted.ensemble_.entered, written_out.ensemble_.entered, strict=True):
        assert one.key() == other.key()


def test_huge_integer_weights_are_repetition_in_proportion() -> None:
    """No overflow; the bits that huge weights take from the gradients (62 together) cost a little precision."""
    X, y = smooth_classes(7, m=60)
    recipe = DeepBoostClassifier.paper(n_rounds=5, objective="sum", l1_penalty=0.01)
    plain = recipe.fit(X, y).decision_function(X)
    for weight, tolerance in ((2.0**20, 0.0), (2.0**40, 0.01), (2.0**45, 0.1)):
        heavy = recipe.fit(X, y, sample_weight=np.full(60, weight)).decision_function(X)
        np.testing.assert_allclose(heavy, plain, rtol=0.0, atol=tolerance)


def test_zero_weight_rows_are_as_if_absent() -> None:
    """Even where a class has no row left: it is then no class of the model."""
    X, y = smooth_classes(7, m=100)
    w = (np.arange(100) % 3 > 0).astype(float)
    padded = X.copy()
    padded[w == 0] = 1e30
    assert essence(make("default").fit(padded, y, sample_weight=w), X) == essence(
        make("default").fit(X[w > 0], y[w > 0]), X
    )


def test_kernels_of_several_classes_are_deterministic() -> None:
    X, y = smooth_classes(8, m=120, n_classes=4)
    for objective in ("sum", "compsum", "maxsum", "max"):
        family = KernelFamily(n_centres=40)
        models = [DeepBoostClassifier(8, family=family, objective=objective, n_jobs=n).fit(X, y) for n in (1, 2, 4)]
        assert essence(models[0], X) == essence(models[1], X) == essence(models[2], X)
        shuffled = np.random.default_rng(0).permutation(120)
        other = DeepBoostClassifier(8, family=family, objective=objective).fit(X[shuffled], y[shuffled])
        assert essence(other, X) == essence(models[0], X)


def test_names_of_classes_do_not_matter_but_for_their_order() -> None:
    X, y = smooth_classes(9, m=90, n_classes=4)
    model = make("default").fit(X, y)
    named = make("default").fit(X, np.array(["a", "b", "c", "d"])[y])
    assert essence(named, X) == essence(model, X)
