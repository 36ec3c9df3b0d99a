"""A round of gradient boosting leaves out the families that are too dear to win, and finds the same trees."""

import numpy as np
import pytest

from radboost import RGBClassifier, RGBRegressor, TreeFamilies, TreeOptions
from radboost.boosting.norm_balls import NormBallDescent

FEW = TreeFamilies(sizes=(1, 4, 16, 64), norms=(0.01, 0.5, 4.0))


def rows(n_classes, m=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    f = 2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, f + 0.1 * rng.normal(size=m) if n_classes == 0 else np.digitize(
        f, np.linspace(-2, 2, n_classes + 1)[1:-1]
    )


CASES = {
    "numbers": (RGBRegressor, 0, {"tree_options": TreeOptions(min_leaf_weight=2)}),
    "numbers, whole steps": (RGBRegressor, 0, {"learning_rate": 1.0, "complexity_penalty": 0.1}),
    "numbers, monotone": (RGBRegressor, 0, {"tree_options": TreeOptions(monotonic_constraints={0: -1, 1: 1})}),
    "huber": (RGBRegressor, 0, {"loss": "huber", "complexity_penalty": 0.03}),
    "poisson": (RGBRegressor, 0, {"loss": "poisson"}),
    "two classes": (RGBClassifier, 2, {"complexity_penalty": 0.2}),
    "two classes, a dear choice": (RGBClassifier, 2, {"complexity_penalty": 10.0}),
    "two classes, line search": (RGBClassifier, 2, {"step": "line_search"}),
    "two classes, paper": (RGBClassifier, 2, {"step": "paper", "complexity_penalty": 0.01}),
    "four classes": (RGBClassifier, 4, {"complexity_penalty": 0.3}),
}


@pytest.mark.parametrize("case", CASES)
def test_families_that_are_left_out_would_not_have_won(case, monkeypatch):
    estimator, n_classes, given = CASES[case]
    X, y = rows(n_classes)
    y = np.exp(y / 4.0) if case == "poisson" else y
    made = {"n_rounds": 60, "family": FEW, "calibration": None, **given}
    if n_classes == 0:
        del made["calibration"]
    left_out = []
    may_win = NormBallDescent._that_may_win

    def counted(self, drawn):
        kept = may_win(self, drawn)
        left_out.append(len(drawn) - len(kept))
        return kept

    monkeypatch.setattr(NormBallDescent, "_that_may_win", counted)
    model = estimator(**made).fit(X, y)
    monkeypatch.setattr(NormBallDescent, "_that_may_win", lambda self, drawn: drawn)
    whole = estimator(**made).fit(X, y)
    assert model.history_ == whole.history_
    np.testing.assert_array_equal(model.ensemble_.decision_function(X), whole.ensemble_.decision_function(X))
    has_a_bound = case != "poisson" and given.get("step") not in ("line_search", "paper")
    assert (sum(left_out) > 0) == has_a_bound


def test_where_the_cheapest_takes_no_step_all_are_fitted(monkeypatch):
    """With a target that falls where it must rise, small trees have nothing to say."""
    X, y = rows(0)
    fitted = []
    fit = NormBallDescent._fit

    def without_the_cheapest(self, places, round_index):
        cuts, steps = fit(self, places, round_index)
        fitted.append(places)
        steps[int(np.argmin(self._prices[places]))] = 0.0
        return cuts, steps

    monkeypatch.setattr(NormBallDescent, "_fit", without_the_cheapest)
    model = RGBRegressor(5, family=FEW).fit(X, y)
    assert len(fitted) > 5
    monkeypatch.setattr(NormBallDescent, "_that_may_win", lambda self, drawn: drawn)
    assert RGBRegressor(5, family=FEW).fit(X, y).history_ == model.history_
