"""Every step of a fitted model against Figure 2, on data full of ties, extremes and missing values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import with_tree_options
from reference import deepboost
from reference.audit import audit
from reference.data import smooth, tiny


def fitted(settings: deepboost.Settings, **changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier.paper(
        **with_tree_options(
            {
                "n_rounds": settings.rounds,
                "loss": settings.loss,
                "family": settings.family,
                "max_depth": settings.max_depth,
                "complexity_penalty": settings.lam,
                "l1_penalty": settings.beta,
                "learning_rate": settings.learning_rate,
                "split_criterion": settings.criterion,
                "step": settings.step,
                "tree_options": TreeOptions(max_bins=settings.max_bins),
                **changes,
            }
        )
    )


def check(model: DeepBoostClassifier, settings: deepboost.Settings, X: Any, y: Any, w: Any, search: bool) -> None:
    ensemble = model.ensemble_
    objectives = audit(
        np.asarray(X, dtype=float),
        np.where(y == model.classes_[1], 1.0, -1.0),
        w,
        settings,
        ensemble.steps.tolist(),
        ensemble.entered,
        ensemble.entered_complexities.tolist(),
        search=search,
    )
    taken = [model.history_["objective"][t] for t in ensemble.steps["round"]]
    np.testing.assert_allclose(taken, objectives, rtol=1e-9, atol=1e-15)


SETTINGS = st.builds(
    deepboost.Settings,
    rounds=st.just(7),
    loss=st.sampled_from(["exponential", "logistic"]),
    family=st.sampled_from(["stumps", "trees", "trees", "stump_pairs"]),
    max_depth=st.integers(1, 4),
    lam=st.sampled_from([0.0, 0.003, 0.05]),
    beta=st.sampled_from([0.0, 0.001, 0.1]),
    learning_rate=st.sampled_from([1.0, 1.0, 0.3]),
    step=st.sampled_from(["closed_form", "closed_form", "line_search"]),
    max_bins=st.sampled_from([3, 255]),
)
VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, -1e300, 1 + 2**-52, math.nan])
MATRIX = hnp.arrays(np.float64, st.tuples(st.integers(2, 18), st.integers(1, 4)), elements=VALUES)


FLAWLESS = np.array([[1.0], [0.0], [1.0]])


@example(X=FLAWLESS, settings=deepboost.Settings(rounds=4, family="stumps"), seed=0, weights="none")
@example(X=FLAWLESS, settings=deepboost.Settings(rounds=4, learning_rate=0.3), seed=2, weights="whole")
@example(X=FLAWLESS, settings=deepboost.Settings(rounds=4, step="line_search", loss="logistic"), seed=0, weights="real")
@example(X=FLAWLESS, settings=deepboost.Settings(rounds=4, beta=0.1, step="line_search"), seed=0, weights="none")
@given(X=MATRIX, settings=SETTINGS, seed=st.integers(0, 10**6), weights=st.sampled_from(["none", "whole", "real"]))
def test_any_values(X: np.ndarray, settings: deepboost.Settings, seed: int, weights: str) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], len(X))
    y[:2] = [1, -1]
    w = {"none": np.ones(len(X)), "whole": rng.integers(1, 5, len(X)) * 1.0, "real": rng.random(len(X)) + 0.5}[weights]
    model = fitted(settings).fit(X, y, sample_weight=None if weights == "none" else w)
    check(model, settings, X, y, w, search=True)


@given(
    seed=st.integers(0, 10**6),
    rate=st.sampled_from([0.1, 1.0]),
    subsample=st.sampled_from([0.5, 1.0]),
    thresholds=st.sampled_from(["best", "random"]),
    criterion=st.sampled_from(["edge", "gini"]),
    loss=st.sampled_from(["exponential", "logistic"]),
    growth=st.sampled_from(["layers", "best_first"]),
)
def test_randomised_proposals_take_the_steps_of_the_paper(
    seed: int, rate: float, subsample: float, thresholds: str, criterion: str, loss: str, growth: str
) -> None:
    """Randomness proposes; price, edge and step are computed on all rows as ever."""
    X, y = tiny(seed, m=30, missing=0.1) if seed % 2 else smooth(seed, m=30)
    settings = deepboost.Settings(
        rounds=15, loss=loss, lam=0.004, beta=0.001, learning_rate=rate, criterion=criterion, max_depth=4
    )
    options = TreeOptions(growth=growth, max_leaves=6 if growth == "best_first" else None)
    model = fitted(
        settings,
        subsample=subsample,
        thresholds=thresholds,
        max_features="sqrt",
        random_state=seed,
        tree_options=options,
    ).fit(X, y)
    check(model, settings, X, y, np.ones(30), search=False)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_long_fits(loss: str) -> None:
    """Weights are revised and cancelled on the way: lines 6 and 13 are taken, not only line 9."""
    X, y = tiny(3, m=25)
    settings = deepboost.Settings(rounds=150, loss=loss, lam=0.01, beta=0.02, max_depth=2)
    model = fitted(settings).fit(X, y)
    check(model, settings, X, y, np.ones(25), search=True)
    steps = model.ensemble_.steps
    assert len(np.unique(steps["hypothesis"])) < len(steps)


def test_a_weight_returns_to_zero_and_leaves() -> None:
    """Line 13: the ensemble forgets a hypothesis whose weight is cancelled."""
    cancelled = 0
    for seed in range(12):
        X, y = tiny(seed, m=20, d=4, levels=3)
        settings = deepboost.Settings(rounds=80, family="trees", lam=0.01, beta=0.03, max_depth=3)
        model = fitted(settings).fit(X, y)
        entered = len(model.ensemble_.entered)
        cancelled += entered - len(model.ensemble_.weights)
        assert np.all(model.ensemble_.weights != 0)
        assert model.history_["n_hypotheses"][-1] == len(model.ensemble_.weights)
    assert cancelled > 0
