"""The Max objective: one-sided derivatives at kinks, points where every direction is stuck, and the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multiclass_tools import check_path, first_objective, like, objective_of, paper
from radboost import DeepBoostClassifier
from reference.data import STUCK, tiny_classes
from reference.deepboost import Settings


def leaving(kind: str, loss: str, **changes: Any) -> DeepBoostClassifier:
    X, y = STUCK[kind]
    return paper(n_rounds=300, objective="max", loss=loss, family="stumps", **changes).fit(X, y)


@pytest.mark.parametrize("kind", sorted(STUCK))
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("random_state", [0, 1, 2])
def test_leaves_a_stuck_point(kind: str, loss: str, random_state: int) -> None:
    X, y = STUCK[kind]
    settings = Settings(objective="max", loss=loss, family="stumps")
    begin = first_objective(settings, len(np.unique(y)))
    model = leaving(kind, loss, random_state=random_state)
    assert len(model.ensemble_.weights) >= 2
    kept = model.history_["objective"][model.n_iter_ - 1]
    assert kept < begin - 1e-4
    assert kept == pytest.approx(objective_of(model, settings, X, y, np.ones(len(y))))
    # More than the constant answer knows: the cells where both columns agree.
    assert model.score(X, y) >= 0.4


@pytest.mark.slow
def test_only_stuck_points_are_perturbed() -> None:
    """Every other step goes down by the steepest coordinate: the audit says which is which."""
    perturbed = []
    for X, y in (*STUCK.values(), *(tiny_classes(seed, m=14) for seed in range(6))):
        settings = Settings(rounds=40, objective="max", loss="logistic", family="stumps", beta=0.001)
        model = like(settings).fit(X, y)
        perturbed.append(check_path(model, settings, X, y, np.ones(len(y)), search=True).perturbed)
    assert min(perturbed[:2]) > 0


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_the_model_kept_is_no_worse_than_the_best_one_seen(loss: str) -> None:
    """A perturbation may raise F; what is kept at the end must not be worse than what was there before it."""
    for seed in range(6):
        X, y = tiny_classes(seed, m=16, n_classes=4)
        model = paper(n_rounds=60, objective="max", loss=loss, family="stumps", l1_penalty=0.02).fit(X, y)
        path = model.history_["objective"]
        assert not path or path[model.n_iter_ - 1] == min(path)


def test_a_minimum_is_left_alone() -> None:
    """One cell, no class above one half: 0 is the minimum of Max, and no perturbation may pretend otherwise."""
    X, y = np.zeros((6, 1)), np.array([0, 0, 1, 1, 2, 2])
    model = paper(n_rounds=50, objective="max", family="stumps", l1_penalty=0.01).fit(X, y)
    settings = Settings(objective="max", loss="exponential")
    begin = first_objective(settings, 3)
    if model.history_["objective"]:
        assert model.history_["objective"][model.n_iter_ - 1] <= begin * (1 + 1e-9)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, atol=0.05)


def test_a_family_without_constants_ends_where_it_is_stuck() -> None:
    """Kernels have nothing to be pushed at 0: the fit says so at once instead of idling through its rounds."""
    model = paper(n_rounds=50, objective="max", family="kernel")
    with pytest.warns(UserWarning, match="empty"):
        model.fit(np.zeros((30, 2)), np.arange(30) % 3)
    assert model.n_iter_ == 1
    assert model.stop_reason_ == "no hypothesis lowers the objective"


def test_pushed_constants_cover_all_sample_weight() -> None:
    X, y = STUCK["even"]
    model = paper(n_rounds=300, objective="max", family="stumps").fit(X, y, sample_weight=np.full(len(y), 3.0))
    constants = [h for h in model.ensemble_.entered if h.n_splits == 0]
    assert constants
    assert all(h.cover[0] == 3.0 * len(y) for h in constants)
