"""How good answers are: scores with intervals, by weight and by costs, against definitions and simulations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from radboost.cli.judging import Costs, costs_of, judge_classes, judge_numbers
from radboost.guarantees.holdout import exact_interval


@pytest.mark.parametrize("weights", [None, np.arange(40) % 4 + 1.0])
def test_mean_costs_are_their_definition(weights: Any) -> None:
    """The model misses twenty cheap rows, the linear one five dear ones: it is worse by errors, and not by costs."""
    y, classes = np.repeat(["a", "b", "c"], [20, 10, 10]), np.array(["a", "b"])
    answers, linear = np.r_[np.full(30, "b"), np.full(10, "a")], np.r_[np.full(25, "a"), np.full(15, "b")]
    costs = Costs(np.array([[0.0, 1.0], [9.0, 0.0]]), "b")
    asked: dict[str, Any] = {"majority": "a", "linear": linear, "weights": weights}
    found = judge_classes(y, answers, np.full((40, 2), 0.5), classes, **asked, costs=costs)
    own, other = np.repeat([1.0, 0.0, 9.0], [20, 10, 10]), np.repeat([0.0, 9.0, 0.0, 9.0], [20, 5, 5, 10])
    assert found.mean_cost is not None
    assert found.mean_cost.score == pytest.approx(np.average(own, weights=weights))
    assert found.mean_cost.linear == pytest.approx(np.average(other, weights=weights))
    assert found.mean_cost.baseline == found.mean_cost.score  # "c" is unknown, and costs 9 whatever is said
    assert found.mean_cost.low < found.mean_cost.score < found.mean_cost.high
    assert "log loss" not in found.further
    assert found.score > (found.linear or 0.0)
    assert found.better_than_linear == "not clearly"
    right = judge_classes(y[:30], y[:30], None, classes, majority="a", linear=None, weights=None, costs=costs)
    assert right.mean_cost is not None
    assert (right.mean_cost.low, right.mean_cost.high) == (0.0, pytest.approx(9.0 * exact_interval(0, 30)[1]))


def test_the_cheapest_constant_is_found() -> None:
    y = np.repeat(["a", "b"], [8, 2])
    model = SimpleNamespace(classes_=np.array(["a", "b"]), cost_=np.array([[0.0, 1.0], [9.0, 0.0]]))
    found = costs_of(model, y, None), costs_of(model, y, np.where(y == "a", 100.0, 1.0))
    assert [one.cheapest for one in found if one is not None] == ["b", "a"]
    model.cost_ = 1.0 - np.eye(2)
    assert costs_of(model, y, None) is None


def test_the_interval_is_exact() -> None:
    """Against tails of the binomial distribution, and a share that is covered in simulation."""
    from scipy.stats import binom

    low, high = exact_interval(7, 40)
    assert binom.sf(6, 40, low) == pytest.approx(0.025)
    assert binom.cdf(7, 40, high) == pytest.approx(0.025)
    assert exact_interval(0, 5)[0] == 0.0
    assert exact_interval(5, 5)[1] == 1.0
    y = np.array(["a", "b"] * 50)
    answers = np.where(np.arange(100) < 90, y, "a")
    linear, classes = np.full(100, "a"), np.array(["a", "b"])
    verdict = judge_classes(y, answers, None, classes, majority="a", linear=linear, weights=None)
    assert (verdict.score, verdict.baseline, verdict.better_than_linear) == (0.05, 0.5, "yes")
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        errors = rng.normal(size=80)
        found = judge_numbers(errors, np.zeros(80), mean=0.0, linear=None, weights=None)
        covered += found.low <= 1.0 <= found.high
    assert 85 <= covered <= 100


def test_weights_are_copies() -> None:
    rng = np.random.default_rng(0)
    y, answers, weights = rng.normal(size=50), rng.normal(size=50), rng.integers(1, 4, 50)
    whole = judge_numbers(y, answers, mean=0.1, linear=None, weights=weights.astype(float))
    copies = judge_numbers(np.repeat(y, weights), np.repeat(answers, weights), mean=0.1, linear=None, weights=None)
    assert whole.score == pytest.approx(copies.score)
    assert whole.baseline == pytest.approx(copies.baseline)
    assert whole.further["R2"] == pytest.approx(copies.further["R2"])


def test_further_measures_count_weights_too() -> None:
    rng = np.random.default_rng(1)
    y, weights = np.array(["a", "b"])[rng.integers(0, 2, 40)], rng.integers(1, 4, 40)
    answers, classes = np.where(rng.random(40) < 0.7, y, "a"), np.array(["a", "b"])
    chances = rng.dirichlet([1.0, 1.0], 40)
    many = np.repeat(np.arange(40), weights)
    asked: dict[str, Any] = {"majority": "a", "linear": None}
    whole = judge_classes(y, answers, chances, classes, **asked, weights=weights.astype(float))
    copies = judge_classes(y[many], answers[many], chances[many], classes, **asked, weights=None)
    assert whole.further == pytest.approx(copies.further)


def test_weighted_rows_are_compared_by_weight() -> None:
    """The linear model is right where the weight is, the other one on more rows."""
    y, classes = np.array(["a"] * 60), np.array(["a", "b"])
    answers, linear = np.where(np.arange(60) < 40, "a", "b"), np.where(np.arange(60) < 40, "b", "a")
    weights = np.where(np.arange(60) < 40, 0.01, 5.0)
    asked = {"majority": "a", "linear": linear}
    assert judge_classes(y, answers, None, classes, **asked, weights=None).better_than_linear == "yes"
    assert judge_classes(y, answers, None, classes, **asked, weights=weights).better_than_linear == "no, worse"


def test_the_interval_of_weighted_rows_without_a_mistake() -> None:
    y, weights = np.array(["a", "b"] * 20), np.tile([1.0, 1.0, 2.0, 2.0], 10)
    asked: dict[str, Any] = {"majority": "a", "linear": y}
    verdict = judge_classes(y, y, None, np.array(["a", "b"]), **asked, weights=weights)
    assert (verdict.score, verdict.low) == (0.0, 0.0)
    assert verdict.high == pytest.approx(exact_interval(0, 36)[1])  # of (sum w)^2 / sum w^2 rows


def test_few_rows_have_no_interval_by_resampling() -> None:
    verdict = judge_numbers(np.array([1.0, 2.0]), np.array([1.5, 2.5]), mean=1.0, linear=None, weights=None)
    assert "nan" not in verdict.text("rows held out")
