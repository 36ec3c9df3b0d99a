"""Every step of fitted models against the papers, on data full of ties, extremes and missing values.

Two classes: Deep Boosting, Figure 2. More: Multi-Class Deep Boosting, sections 3.3 and E to H.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multiclass_tools import PAIRS, SMOOTH, check_path, class_ids, like
from radboost import KernelFamily, TreeOptions
from reference.audit import audit
from reference.data import smooth, smooth_classes, tiny, tiny_classes
from reference.deepboost import Settings

SETTINGS = st.builds(
    lambda pair, **rest: Settings(objective=pair[0], loss=pair[1], **rest),
    pair=st.sampled_from(PAIRS),
    rounds=st.just(6),
    family=st.sampled_from(["stumps", "trees", "trees", "stump_pairs"]),
    max_depth=st.integers(1, 4),
    lam=st.sampled_from([0.0, 0.003, 0.05]),
    beta=st.sampled_from([0.0, 0.001, 0.1]),
    learning_rate=st.sampled_from([1.0, 1.0, 0.3]),
    criterion=st.sampled_from(["edge", "gini"]),
    step=st.sampled_from(["closed_form", "closed_form", "line_search"]),
    growth=st.sampled_from(["layers", "best_first"]),
    max_bins=st.sampled_from([3, 255]),
)
VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, -1e300, 1 + 2**-52, math.nan])
MATRIX = hnp.arrays(np.float64, st.tuples(st.integers(2, 16), st.integers(1, 4)), elements=VALUES)
WEIGHTS = st.sampled_from(["none", "whole", "real"])


def check_any_values(X: np.ndarray, settings: Settings, seed: int, weights: str, n_classes: int) -> None:
    n_classes = min(n_classes, len(X))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, len(X))
    y[:n_classes] = np.arange(n_classes)
    w = {"none": np.ones(len(X)), "whole": rng.integers(1, 5, len(X)) * 1.0, "real": rng.random(len(X)) + 0.5}[weights]
    model = like(settings).fit(X, y, sample_weight=None if weights == "none" else w)
    check_path(model, settings, X, y, w, search=True)


FLAWLESS = np.array([[0.0], [1.0], [1.0]])
EXPONENTIAL = {"rounds": 4, "loss": "exponential"}


@example(X=FLAWLESS, settings=Settings(**EXPONENTIAL, family="stumps"), seed=0, weights="none")
@example(X=FLAWLESS, settings=Settings(**EXPONENTIAL, learning_rate=0.3), seed=2, weights="whole")
@example(X=FLAWLESS, settings=Settings(rounds=4, step="line_search", loss="logistic"), seed=0, weights="real")
@example(X=FLAWLESS, settings=Settings(**EXPONENTIAL, beta=0.1, step="line_search"), seed=0, weights="none")
@given(X=MATRIX, settings=SETTINGS, seed=st.integers(0, 10**6), weights=WEIGHTS)
def test_any_values_of_two_classes(X: np.ndarray, settings: Settings, seed: int, weights: str) -> None:
    check_any_values(X, settings, seed, weights, 2)


@given(X=MATRIX, settings=SETTINGS, seed=st.integers(0, 10**6), weights=WEIGHTS, n_classes=st.integers(3, 5))
def test_any_values(X: np.ndarray, settings: Settings, seed: int, weights: str, n_classes: int) -> None:
    check_any_values(X, settings, seed, weights, n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_wrong_step_is_noticed(n_classes: int) -> None:
    X, y = rows(1, n_classes, m=14)
    settings = Settings(rounds=4, loss="logistic", lam=0.003, max_depth=2)
    model: Any = like(settings).fit(X, y)
    ensemble = model.ensemble_
    (t, j, eta), *rest = ensemble.steps.tolist()
    data = np.asarray(X, dtype=float), class_ids(model, y), np.ones(14), settings
    for steps in ([(t, j, eta * 1.001), *rest], rest, [(t, j, -eta)]):
        with pytest.raises(AssertionError):
            audit(*data, steps, ensemble.entered, ensemble.entered_complexities, n_classes, search=True)


@pytest.mark.parametrize("n_classes", [2, 4])
@given(
    seed=st.integers(0, 10**6),
    settings=st.builds(
        lambda pair, **rest: Settings(objective=pair[0], loss=pair[1], lam=0.004, beta=0.001, **rest),
        pair=st.sampled_from(PAIRS),
        rounds=st.just(10),
        max_depth=st.just(3),
        learning_rate=st.sampled_from([0.1, 1.0]),
        criterion=st.sampled_from(["edge", "gini"]),
    ),
    subsample=st.sampled_from([0.5, 1.0]),
    thresholds=st.sampled_from(["best", "random"]),
    growth=st.sampled_from(["layers", "best_first"]),
)
def test_randomised_proposals_take_the_steps_of_the_paper(
    n_classes: int, seed: int, settings: Settings, subsample: float, thresholds: str, growth: str
) -> None:
    """Randomness proposes; price, edge and step are computed on all rows as ever."""
    X, y = rows(seed, n_classes, m=24, missing=0.1)
    options = TreeOptions(growth=growth, max_leaves=6 if growth == "best_first" else None)
    random = {"subsample": subsample, "thresholds": thresholds, "max_features": "sqrt", "random_state": seed}
    model = like(settings, tree_options=options, **random).fit(X, y)
    check_path(model, settings, X, y, np.ones(24), search=False)


def rows(seed: int, n_classes: int, m: int, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with ties for odd seeds, without them for even ones."""
    if n_classes == 2:
        return tiny(seed, m=m, missing=missing) if seed % 2 else smooth(seed, m=m)
    if seed % 2:
        return tiny_classes(seed, m=m, d=3, missing=missing)
    return smooth_classes(seed, m=m, n_classes=n_classes)


@pytest.mark.parametrize(
    ("pair", "n_classes", "criterion"),
    [
        *((("sum", loss), 2, "edge") for loss in ("exponential", "logistic")),
        *((pair, 3, criterion) for pair in SMOOTH for criterion in ("edge", "gini")),
    ],
)
def test_long_fits(pair: tuple[str, str], n_classes: int, criterion: str) -> None:
    """Weights are revised on the way, up and down: members compete by the absolute derivative (errata 31)."""
    X, y = rows(3, n_classes, m=18)
    settings = Settings(
        rounds=40, objective=pair[0], loss=pair[1], lam=0.003, beta=0.01, max_depth=2, criterion=criterion
    )
    model = like(settings).fit(X, y)
    check_path(model, settings, X, y, np.ones(18), search=True)
    steps = model.ensemble_.steps
    assert len(np.unique(steps["hypothesis"])) < len(steps)


@pytest.mark.parametrize(("n_classes", "beta"), [(2, 0.03), pytest.param(3, 0.05, marks=pytest.mark.slow)])
def test_weights_shrink_return_to_zero_and_leave(n_classes: int, beta: float) -> None:
    """Figure 2, line 13: the ensemble forgets a hypothesis whose weight is cancelled."""
    cancelled = shrunk = 0
    for seed in range(1, 25, 2):
        X, y = rows(seed, n_classes, m=20)
        settings = Settings(rounds=80, objective="sum", lam=0.01, beta=beta, max_depth=3)
        model = like(settings).fit(X, y)
        ensemble = model.ensemble_
        if n_classes > 2:
            check_path(model, settings, X, y, np.ones(20), search=True)
            shrunk += int(np.sum(ensemble.steps["eta"] < 0))
            assert np.all(ensemble.weights > 0)
        cancelled += len(ensemble.entered) - len(ensemble.weights)
        assert np.all(ensemble.weights != 0)
        assert model.history_["n_hypotheses"][-1] == len(ensemble.weights)
    assert shrunk > 0 or n_classes == 2
    assert cancelled > 0


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernels(pair: tuple[str, str], kernel: str) -> None:
    """x -> K(c, x) for one class and 0 for the others. Scores are rounded to a grid, hence the looser tolerance."""
    X, y = smooth_classes(4, m=20, d=2)
    settings = Settings(rounds=8, objective=pair[0], loss=pair[1], family="kernel", lam=0.01, beta=0.001)
    model: Any = like(settings, family=KernelFamily(kernel=kernel)).fit(X, y)
    assert len(model.ensemble_.weights) > 0
    check_path(model, settings, X, y, np.ones(20), search=False, rtol=1e-4)
