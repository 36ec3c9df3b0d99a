"""The objectives of several classes never rise, and what the history says is what the model is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiclass_tools import PAIRS, class_ids, first_objective, objective_of, paper
from radboost import DeepBoostClassifier, TreeOptions
from reference.data import smooth_classes, tiny_classes
from reference.multiclass_boost import Settings

pytestmark = pytest.mark.native


class SmoothHinge:
    """A user's own loss: Phi(u) = u + sqrt(1 + u^2)."""

    def value(self, u: np.ndarray) -> np.ndarray:
        return u + np.sqrt(1 + u * u)

    def derivative(self, u: np.ndarray) -> np.ndarray:
        return 1 + u / np.sqrt(1 + u * u)


OWN = {"smooth_hinge": SmoothHinge()}
ALL_PAIRS = [*PAIRS, ("sum", "smooth_hinge"), ("maxsum", "smooth_hinge"), ("max", "smooth_hinge")]
FAMILIES: list[Any] = ["stumps", "stump_pairs", "trees", "kernel", ["trees", "kernel"], ["stumps", "stump_pairs"]]


def check_descent(
    model: DeepBoostClassifier, settings: Settings, X: Any, y: np.ndarray, w: np.ndarray | None = None
) -> None:
    history = model.history_
    assert len({len(column) for column in history.values()}) == 1
    n_classes = len(model.classes_)
    begin = first_objective(settings, n_classes)
    path = np.array([begin, *history["objective"]])
    rises = np.diff(path)
    # A kernel's share in the scores is rounded to a multiple of 2^-20, which may cost up to that times S / m <= F(0).
    trees = all(hasattr(h, "feature") for h in model.ensemble_.entered)
    rounding = 1e-14 if trees else 2.0**-20
    if settings.objective == "max":
        # Where every direction is stuck it may be perturbed, and then rise by a little before it falls again.
        assert path[-1] <= begin * (1 + rounding)
        assert np.all(rises <= 1e-2 * begin)
    else:
        assert np.all(rises <= rounding * begin), (rises.max(), path)
    w = np.ones(len(y)) if w is None else w
    if history["objective"]:
        tolerance = 1e-10 if trees else 1e-4
        assert history["objective"][-1] == pytest.approx(objective_of(model, settings, X, y, w), rel=tolerance)
        assert history["n_hypotheses"][-1] == len(model.ensemble_.weights)


@given(
    seed=st.integers(0, 10**6),
    m=st.integers(4, 40),
    d=st.integers(1, 4),
    n_classes=st.integers(3, 6),
    missing=st.sampled_from([0.0, 0.0, 0.3]),
    pair=st.sampled_from(ALL_PAIRS),
    family=st.sampled_from(FAMILIES),
    criterion=st.sampled_from(["edge", "gini"]),
    thresholds=st.sampled_from(["best", "random"]),
    subsample=st.sampled_from([0.5, 1.0]),
    rate=st.sampled_from([0.1, 0.7, 1.0]),
    step=st.sampled_from(["closed_form", "line_search"]),
    growth=st.sampled_from(["layers", "best_first"]),
    penalties=st.sampled_from([(0.0, 0.0), (0.05, 0.0), (0.0, 0.05), (0.01, 0.01), (1e-5, 0.0)]),
    weighted=st.booleans(),
)
def test_objective_never_rises(
    seed: int,
    m: int,
    d: int,
    n_classes: int,
    missing: float,
    pair: tuple[str, str],
    family: Any,
    criterion: str,
    thresholds: str,
    subsample: float,
    rate: float,
    step: str,
    growth: str,
    penalties: tuple[float, float],
    weighted: bool,
) -> None:
    if "kernel" in family:
        missing = 0.0
    if "stump_pairs" in family:
        d = max(d, 2)
    if pair[1] == "smooth_hinge":
        step = "line_search"
    n_classes = min(n_classes, m)
    make = tiny_classes if seed % 2 else smooth_classes
    X, y = make(seed, m=m, d=d, n_classes=n_classes, missing=missing)
    unit = 0.5 if seed % 3 == 0 else 1.0
    w = np.random.default_rng(seed).integers(1, 4, m).astype(float) * unit if weighted else None
    settings = Settings(objective=pair[0], loss=pair[1], lam=penalties[0], beta=penalties[1])
    model = DeepBoostClassifier(
        12,
        objective=pair[0],
        loss=OWN.get(pair[1], pair[1]),
        family=family,
        max_depth=3,
        complexity_penalty=penalties[0],
        l1_penalty=penalties[1],
        learning_rate=rate,
        subsample=subsample,
        thresholds=thresholds,
        split_criterion=criterion,
        step=step,
        random_state=seed % 7,
        tree_options=TreeOptions(growth=growth),
    ).fit(X, y, sample_weight=w)
    check_descent(model, settings, X, y, w)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("growth", ["layers", "best_first"])
def test_long_fits_never_rise(pair: tuple[str, str], growth: str) -> None:
    X, y = smooth_classes(5, m=150, n_classes=5, noise=0.15)
    options = TreeOptions(growth=growth, max_leaves=8 if growth == "best_first" else None)
    settings = Settings(objective=pair[0], loss=pair[1], lam=0.01)
    for rate in (0.1, 1.0):
        model = DeepBoostClassifier(
            120,
            objective=pair[0],
            loss=pair[1],
            learning_rate=rate,
            complexity_penalty=0.01,
            tree_options=options,
        )
        check_descent(model.fit(X, y), settings, X, y)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
@pytest.mark.parametrize("step", ["closed_form", "line_search"])
def test_separable_data_without_penalty_stay_finite(pair: tuple[str, str], step: str) -> None:
    X = np.arange(24.0)[:, None]
    y = np.repeat([0, 1, 2, 3], 6)
    settings = Settings(objective=pair[0], loss=pair[1])
    model = paper(n_rounds=60, objective=pair[0], loss=pair[1], step=step, split_criterion="gini").fit(X, y)
    check_descent(model, settings, X, y)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_history_holds_the_training_error(pair: tuple[str, str]) -> None:
    X, y = smooth_classes(6, m=80, n_classes=4)
    model = DeepBoostClassifier(15, objective=pair[0], loss=pair[1], complexity_penalty=0.001).fit(X, y)
    rows = np.arange(80)
    for scores, error in zip(model.staged_decision_function(X), model.history_["train_error"], strict=True):
        rivals = scores.copy()
        rivals[rows, y] = -np.inf
        assert error == pytest.approx(np.mean(scores[rows, y] <= rivals.max(axis=1)), abs=1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_scores_are_the_weighted_sum_of_answers(pair: tuple[str, str]) -> None:
    """Exactly: weights are multiples of 2^-20, and a leaf adds its weight to one class or to none."""
    X, y = smooth_classes(8, m=80, missing=0.1)
    model = DeepBoostClassifier(25, objective=pair[0], loss=pair[1], complexity_penalty=0.01, l1_penalty=0.001)
    model.fit(X, y)
    total = np.zeros((80, 3))
    for weight, tree in zip(model.ensemble_.weights, model.ensemble_.hypotheses, strict=True):
        assert weight * 2**20 == round(weight * 2**20)
        for row, x in enumerate(X):
            i = 0
            while tree.feature[i] >= 0:
                value = x[tree.feature[i]]
                left = tree.missing_left[i] if np.isnan(value) else value <= tree.threshold[i]
                i = tree.left[i] + (0 if left else 1)
            if tree.value[i] >= 0:
                total[row, int(tree.value[i])] += weight
    np.testing.assert_array_equal(total, model.decision_function(X))


def test_hypotheses_predict_one_hot_rows() -> None:
    X, y = smooth_classes(9, m=60)
    model = DeepBoostClassifier(5, objective="maxsum").fit(X, y)
    for tree in model.ensemble_.hypotheses:
        h = tree.predict(X)
        assert h.shape == (60, 3)
        assert set(np.unique(h)) <= {0.0, 1.0}
        assert np.all(h.sum(axis=1) <= 1)
        leaves = tree.value[np.asarray(tree.feature) < 0]
        assert set(leaves.astype(int)) <= {-1, 0, 1, 2}
    assert np.array_equal(class_ids(model, y), y)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0] != "max"], ids=" ".join)
@pytest.mark.parametrize("heavy", [1e6, 1e9, 1e12])
def test_rows_of_very_different_weight(pair: tuple[str, str], heavy: float) -> None:
    """Heavy rows that are right by a wide margin still count together, however small they are per unit of weight."""
    X, y = smooth_classes(1, m=200, n_classes=4, noise=0.2)
    w = np.where(np.random.default_rng(0).random(200) < 0.5, 1.0, heavy)
    settings = Settings(objective=pair[0], loss=pair[1])
    model = DeepBoostClassifier(
        100, objective=pair[0], loss=pair[1], learning_rate=1.0, complexity_penalty=0.0, max_depth=4
    ).fit(X, y, sample_weight=w)
    check_descent(model, settings, X, y, w)
