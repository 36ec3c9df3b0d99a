"""Every step of models of several classes against sections 3.3 and E-H, on data full of ties and missing values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multiclass_tools import PAIRS, SMOOTH, check_path, like
from radboost import TreeOptions
from reference.data import smooth_classes, tiny_classes
from reference.multiclass_boost import Settings

SETTINGS = st.builds(
    lambda pair, **rest: Settings(objective=pair[0], loss=pair[1], **rest),
    pair=st.sampled_from(PAIRS),
    rounds=st.just(6),
    family=st.sampled_from(["stumps", "trees", "trees"]),
    max_depth=st.integers(1, 3),
    lam=st.sampled_from([0.0, 0.003, 0.05]),
    beta=st.sampled_from([0.0, 0.001, 0.1]),
    learning_rate=st.sampled_from([1.0, 1.0, 0.3]),
    step=st.sampled_from(["closed_form", "closed_form", "line_search"]),
    growth=st.sampled_from(["layers", "best_first"]),
    max_bins=st.sampled_from([3, 255]),
)
VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, -1e300, 1 + 2**-52, math.nan])
MATRIX = hnp.arrays(np.float64, st.tuples(st.integers(3, 14), st.integers(1, 3)), elements=VALUES)


def labels_at_random(seed: int, m: int, n_classes: int) -> np.ndarray:
    y = np.random.default_rng(seed).integers(0, n_classes, m)
    y[:n_classes] = np.arange(n_classes)
    return y


@given(
    X=MATRIX,
    settings=SETTINGS,
    seed=st.integers(0, 10**6),
    weights=st.sampled_from(["none", "whole", "real"]),
    n_classes=st.integers(3, 5),
)
def test_any_values(X: np.ndarray, settings: Settings, seed: int, weights: str, n_classes: int) -> None:
    n_classes = min(n_classes, len(X))
    rng = np.random.default_rng(seed)
    y = labels_at_random(seed, len(X), n_classes)
    w = {"none": np.ones(len(X)), "whole": rng.integers(1, 5, len(X)) * 1.0, "real": rng.random(len(X)) + 0.5}[weights]
    model = like(settings).fit(X, y, sample_weight=None if weights == "none" else w)
    check_path(model, settings, X, y, w, search=True)


@given(
    seed=st.integers(0, 10**6),
    pair=st.sampled_from(PAIRS),
    rate=st.sampled_from([0.1, 1.0]),
    subsample=st.sampled_from([0.5, 1.0]),
    thresholds=st.sampled_from(["best", "random"]),
    criterion=st.sampled_from(["edge", "gini"]),
    growth=st.sampled_from(["layers", "best_first"]),
)
def test_randomised_proposals_take_the_steps_of_the_paper(
    seed: int, pair: tuple[str, str], rate: float, subsample: float, thresholds: str, criterion: str, growth: str
) -> None:
    """Randomness proposes; price, edge and step are computed on all rows as ever."""
    X, y = tiny_classes(seed, m=24, d=3, missing=0.1) if seed % 2 else smooth_classes(seed, m=24, n_classes=4)
    settings = Settings(
        rounds=10,
        objective=pair[0],
        loss=pair[1],
        lam=0.004,
        beta=0.001,
        learning_rate=rate,
        criterion=criterion,
        max_depth=3,
    )
    options = TreeOptions(growth=growth, max_leaves=6 if growth == "best_first" else None)
    random = {"subsample": subsample, "thresholds": thresholds, "max_features": "sqrt", "random_state": seed}
    model = like(settings, tree_options=options, **random).fit(X, y)
    check_path(model, settings, X, y, np.ones(24), search=False)


@pytest.mark.parametrize("pair", SMOOTH, ids=" ".join)
@pytest.mark.parametrize("criterion", ["edge", "gini"])
def test_long_fits(pair: tuple[str, str], criterion: str) -> None:
    """Weights are revised on the way, up and down: members compete by the absolute derivative (errata 31)."""
    X, y = tiny_classes(3, m=18)
    settings = Settings(
        rounds=80, objective=pair[0], loss=pair[1], lam=0.003, beta=0.01, max_depth=2, criterion=criterion
    )
    model = like(settings).fit(X, y)
    check_path(model, settings, X, y, np.ones(18), search=True)
    steps = model.ensemble_.steps
    assert len(np.unique(steps["hypothesis"])) < len(steps)


@pytest.mark.slow
def test_weights_shrink_return_to_zero_and_leave() -> None:
    cancelled = shrunk = 0
    for seed in range(12):
        X, y = tiny_classes(seed, m=20, d=3)
        settings = Settings(rounds=80, objective="sum", lam=0.01, beta=0.05, max_depth=3)
        model = like(settings).fit(X, y)
        check_path(model, settings, X, y, np.ones(20), search=True)
        shrunk += int(np.sum(model.ensemble_.steps["eta"] < 0))
        cancelled += len(model.ensemble_.entered) - len(model.ensemble_.weights)
        assert np.all(model.ensemble_.weights > 0)
        assert model.history_["n_hypotheses"][-1] == len(model.ensemble_.weights)
    assert shrunk > 0
    assert cancelled > 0


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernels(pair: tuple[str, str], kernel: str) -> None:
    """x -> K(c, x) for one class and 0 for the others. Scores are rounded to a grid, hence the looser tolerance."""
    from radboost import KernelFamily

    X, y = smooth_classes(4, m=20, d=2)
    settings = Settings(rounds=8, objective=pair[0], loss=pair[1], family="kernel", lam=0.01, beta=0.001)
    model = like(settings, family=KernelFamily(kernel=kernel)).fit(X, y)
    assert len(model.ensemble_.weights) > 0
    check_path(model, settings, X, y, np.ones(20), search=False, rtol=1e-4)
