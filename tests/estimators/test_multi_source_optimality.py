"""The end of a fit over several sources: distance to the minimum, the bound on it, what "converged" means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

import radboost
from radboost import Candidates, Mixtures, MultiSourceBoostClassifier, TreeOptions, WeightedL1
from radboost.families.candidates import stumps_at
from radboost.objectives.over_sources import MaxOfSources
from reference import multi_source as naive
from turns import in_turns

PRICE = 0.02
MIXTURES = np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.0, 0.6, 0.4]])
WAYS: dict[str, dict[str, Any]] = {
    "max": {},
    "mixtures": {"mixtures": MIXTURES},
    "short steps": {"step": "auto", "learning_rate": 0.5},
}


class FixedQ(ClassifierMixin, BaseEstimator):
    """Q that was not learned."""

    def fit(self, X: Any, y: Any) -> FixedQ:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        odds = np.column_stack([np.exp(0.7 * X[:, 0]), np.exp(0.3 * X[:, 1] - 0.5 * X[:, 0]), np.ones(len(X))])
        return odds / odds.sum(axis=1, keepdims=True)


def rows(seed: int) -> tuple[Any, Any, Any]:
    """60 rows of three sources that disagree, with few stumps."""
    rng, ids = np.random.default_rng(seed), np.repeat([0, 1, 2], [30, 12, 18])
    X = rng.integers(0, 5, size=(60, 3)).astype(float)
    first, second = (X[:, 0] - 2) * np.where(ids == 1, -1, 1), (X[:, 1] - 2) * 0.7 * (ids == 2)
    return X, (first + second + rng.normal(0, 1.5, 60) > 0).astype(int), ids


def estimator(n_rounds: int = 2000, **parameters: Any) -> MultiSourceBoostClassifier:
    X, _, ids = rows(0)
    given: dict[str, Any] = {
        "complexity_penalty": WeightedL1(0.0, PRICE),
        "domain_classifier": FrozenEstimator(FixedQ().fit(X, ids)),
    }
    return MultiSourceBoostClassifier.paper(n_rounds, **{**given, **parameters})


def minimum(model: Any, X: Any, y: Any, ids: Any) -> float:
    D = naive.directions(naive.stumps(X), model.source_probabilities(X))
    return naive.optimum(D, 2.0 * y - 1.0, ids, 3, "max", model.loss, PRICE, vertices=model.mixtures)


@pytest.mark.parametrize("seeds", [[11], pytest.param(range(20), marks=pytest.mark.slow)], ids=["one", "twenty"])
@in_turns("loss, way", ["logistic", "exponential"], list(WAYS), one_in=2)
def test_a_fit_that_has_converged_is_at_the_minimum(loss: str, way: str, seeds: Any) -> None:
    for seed in seeds:
        X, y, ids = rows(seed)
        model = estimator(loss=loss, **WAYS[way]).fit(X, y, sources=ids)
        assert model.stop_reason_ == "converged: no hypothesis lowers the objective"
        gap = model.history_["objective"][-1] - minimum(model, X, y, ids)
        assert -1e-8 <= gap <= 1e-5
        assert gap - 1e-8 <= model.optimality_gap_ <= 10.0 * gap + 1e-6


@pytest.mark.parametrize("way", ["max", "mixtures"])
def test_before_the_end_the_minimum_is_not_further_than_the_gap(way: str) -> None:
    X, y, ids = rows(4)
    models = [estimator(n_rounds, **WAYS[way]).fit(X, y, sources=ids) for n_rounds in (1, 5, 10)]
    best = minimum(models[0], X, y, ids)
    for model in models:
        objective = model.history_["objective"][-1]
        assert 1e-4 < objective - best <= model.optimality_gap_ <= objective


def test_the_bound_is_that_of_its_equation() -> None:
    """Equation (3b), of all stumps, for the sum of the losses, whose mixture is known."""
    X, y, ids = rows(5)
    model = estimator(6, source_objective="sum").fit(X, y, sources=ids)
    signs, f = 2.0 * y - 1.0, model.decision_function(X)
    slopes = np.exp(1.0 - signs * f) / np.bincount(ids)[ids] * signs
    D = naive.directions(naive.stumps(X), model.source_probabilities(X))
    theta = min(1.0, PRICE / np.abs(D @ slopes).max())
    losses = naive.losses(f, signs, ids, 3, "exponential")
    bound = theta * (losses.sum() + f @ slopes)
    assert model.optimality_gap_ == pytest.approx(model.history_["objective"][-1] - bound, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"source_objective": "softmax"}, {"source_objective": "sum"}, {"mixtures": Mixtures(penalty=0.3)}],
    ids=str,
)
def test_a_longer_fit_is_not_further_below_than_the_gap(settings: Any, n_classes: int) -> None:
    X, y, s = naive.rows(6, m=150, n_classes=n_classes)
    gaps, values = [], []
    for n_rounds in (8, 400):
        model = estimator(n_rounds, domain_classifier=None, loss="logistic", **settings).fit(np.round(X), y, sources=s)
        gaps.append(model.optimality_gap_)
        values.append(model.history_["objective"][-1])
    assert values[0] - gaps[0] <= values[1] - gaps[1] + 1e-9
    assert 0.0 <= gaps[1] < 0.25 * gaps[0]


def test_the_reason_says_what_was_searched() -> None:
    X, y, ids = rows(1)
    trees = estimator(complexity_penalty=WeightedL1(0.0, 0.2), family="trees").fit(X, y, sources=ids)
    assert trees.stop_reason_ == ("converged over the hypotheses that were grown: no hypothesis lowers the objective")
    free = estimator(20, complexity_penalty=0.0).fit(X, y, sources=ids)
    assert free.optimality_gap_ == pytest.approx(free.history_["objective"][-1])
    drawn = estimator(tree_options=TreeOptions(thresholds="random")).fit(X, y, sources=ids)
    assert drawn.stop_reason_.startswith("converged over the hypotheses that were grown: 10 rounds in a row")


def test_the_gap_is_kept_in_the_file(tmp_path: Path) -> None:
    X, y, ids = rows(2)
    model = estimator(20).fit(X, y, sources=ids)
    model.save(tmp_path / "model")
    loaded = radboost.load(tmp_path / "model", domain_classifier=model.domain_classifier_)
    assert loaded.optimality_gap_ == model.optimality_gap_
    alone = estimator(20).fit(X, y, sources=np.zeros(60))
    assert alone.optimality_gap_ > 0.0  # that of DeepBoostClassifier


def test_neither_threads_nor_order_nor_copies_change_the_end() -> None:
    X, y, ids = rows(7)
    order = np.random.default_rng(0).permutation(60)
    copies = np.random.default_rng(1).integers(1, 4, size=60)
    model = estimator(n_jobs=1).fit(X, y, copies, sources=ids)
    others = [
        estimator(n_jobs=3).fit(X[order], y[order], copies[order], sources=ids[order]),
        estimator().fit(np.repeat(X, copies, axis=0), np.repeat(y, copies), sources=np.repeat(ids, copies)),
    ]
    for other in others:
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert (other.history_, other.optimality_gap_) == (model.history_, model.optimality_gap_)
    assert model.stop_reason_.startswith("converged")


def test_of_sources_that_are_equally_bad_the_first_is_asked() -> None:
    """At the start all losses are equal, but sums over 30, 12 and 18 rows are rounded differently."""
    assert MaxOfSources(None, 3).weights(np.array([1.0, 1.0 + 1e-15, 1.0 - 1e-15])).tolist() == [1.0, 0.0, 0.0]
    assert MaxOfSources(None, 3).weights(np.array([1.0, 1.0 + 1e-9, -1e6])).tolist() == [0.0, 1.0, 0.0]
    X, y, ids = rows(0)
    given = Candidates(stumps_at([np.arange(4) + 0.5] * 3))
    for loss in ("exponential", "logistic"):
        model = estimator(1, loss=loss, step="decay", family=given).fit(X, y, sources=ids)
        assert [hypothesis.source for hypothesis in model.ensemble_.entered] == [0]


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [WeightedL1(0.0, 0.01), WeightedL1(0.1), WeightedL1(0.02)], ids=str)
def test_on_the_clinics_of_the_guide_no_soft_maximum_is_lower(penalty: WeightedL1) -> None:
    rng = np.random.default_rng(0)
    clinic = rng.choice(["north", "south", "west"], 3000, p=[0.6, 0.3, 0.1])
    shift = np.select([clinic == "north", clinic == "south"], [-2.0, 0.0], 2.0)
    X = rng.normal(size=(3000, 4)) + np.outer(shift, [0, 0, 1, 0])
    sick = np.select([clinic == "north", clinic == "south"], [X[:, 0] > 0, X[:, 0] + X[:, 1] < 0], X[:, 1] > 0)
    y = np.where(rng.random(3000) < 0.05, ~sick, sick)
    settings: dict[str, Any] = {"family": "stumps", "learning_rate": 1.0, "step": "line_search"}
    values = []
    for ways in ({}, {"source_objective": "softmax", "mu": 30.0}, {"source_objective": "softmax", "mu": 100.0}):
        model = MultiSourceBoostClassifier(1500, complexity_penalty=penalty, **settings, **ways)
        model.fit(X, y, sources=clinic)
        prices = penalty.complexity_penalty * model.ensemble_.complexities + penalty.l1_penalty
        worst = max(model.history_[f"source_loss[{name}]"][-1] for name in model.source_names_)
        values.append(worst + float(prices @ np.abs(model.ensemble_.weights)))
    assert values[0] <= min(values[1:])
