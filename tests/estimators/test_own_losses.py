"""Losses of users that work in place or state an impossible constant: an error says so, in place of a ruined fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boosting_cases import Squared, SquaredHinge
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
T = 2.0 * X[:, 0] + X[:, 1]
Y = (T > 0).astype(int)
THREE = np.digitize(T, [-1.0, 1.0])


class ChangesScores(Squared):
    def derivative(self, targets: Any, scores: Any) -> Any:
        scores -= targets
        return scores


class ChangesTargets(Squared):
    def value(self, targets: Any, scores: Any) -> Any:
        targets -= scores
        return 0.5 * targets**2


@pytest.mark.parametrize("loss", [ChangesScores(), ChangesTargets()])
@pytest.mark.parametrize(("estimator", "y"), [(RGBRegressor, T), (RGBClassifier, Y)])
def test_a_loss_of_targets_that_works_in_place(estimator: Any, y: Any, loss: Any) -> None:
    with pytest.raises(ValueError, match=rf"{type(loss).__name__}\.(value|derivative) changes its arguments"):
        estimator(5, loss=loss).fit(X, y)


def test_validation_rows_are_read_only_too() -> None:
    class ChangesFew(Squared):
        """Leaves the training rows alone."""

        def value(self, targets: Any, scores: Any) -> Any:
            if len(scores) < 50:
                scores -= targets
                return 0.5 * scores**2
            return super().value(targets, scores)

    with pytest.raises(ValueError, match=r"ChangesFew\.value changes its arguments"):
        RGBRegressor(5, loss=ChangesFew()).fit(X, T, X_val=X[:30], y_val=T[:30])


def test_predictions_are_made_of_scores_that_stay() -> None:
    class Links(Squared):
        def inverse_link(self, scores: Any) -> Any:
            scores *= 2.0
            return scores

    model = RGBRegressor(3, loss=Links()).fit(X, T)
    with pytest.raises(ValueError, match=r"Links\.inverse_link changes its arguments"):
        model.predict(X)


class ChangesMargins(SquaredHinge):
    def __init__(self, method: str) -> None:
        super().__init__()
        self.method = method

    def value(self, targets: Any, scores: Any) -> Any:
        if self.method == "value":
            scores *= 1.0
        return super().value(targets, scores)

    def derivative(self, targets: Any, scores: Any) -> Any:
        if self.method == "derivative":
            scores *= 1.0
        return super().derivative(targets, scores)


@pytest.mark.parametrize(
    ("estimator", "y"), [(DeepBoostClassifier, Y), (DeepBoostClassifier, THREE), (RGBClassifier, Y)]
)
def test_one_contract_for_every_estimator(estimator: Any, y: Any) -> None:
    model = estimator(n_rounds=30, loss=SquaredHinge()).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.all(np.diff(model.history_["objective"]) <= 1e-12)


class OfMargins:
    """The contract of earlier versions of DeepBoost."""

    def value(self, u: Any) -> Any:
        return np.maximum(u, 0.0) ** 2

    def derivative(self, u: Any) -> Any:
        return 2.0 * np.maximum(u, 0.0)


@pytest.mark.parametrize(("estimator", "y"), [(DeepBoostClassifier, Y), (RGBClassifier, Y), (RGBRegressor, T)])
def test_a_loss_of_one_argument_is_refused_with_the_contract(estimator: Any, y: Any) -> None:
    with pytest.raises(
        TypeError, match=r"OfMargins\.value takes \(u\), and must take two arrays.*Phi of u = 1 - targets \* scores"
    ):
        estimator(n_rounds=5, loss=OfMargins()).fit(X, y)


def test_margins_need_a_loss_of_margins() -> None:
    class Lopsided(SquaredHinge):
        def value(self, targets: Any, scores: Any) -> Any:
            return np.where(targets > 0, 3.0, 1.0) * super().value(targets, scores)

    with pytest.raises(ValueError, match=r"Lopsided\.value: .*must depend on targets \* scores alone; RGBClassifier"):
        DeepBoostClassifier(n_rounds=5, loss=Lopsided()).fit(X, Y)
    RGBClassifier(n_rounds=2, loss=Lopsided()).fit(X, Y)


@pytest.mark.parametrize("method", ["value", "derivative"])
@pytest.mark.parametrize(("y", "objective"), [(Y, "sum"), (THREE, "sum"), (THREE, "maxsum"), (THREE, "max")], ids=str)
def test_a_loss_of_margins_that_works_in_place(y: Any, objective: str, method: str) -> None:
    with pytest.raises(ValueError, match=rf"ChangesMargins\.{method} changes its arguments"):
        DeepBoostClassifier(5, loss=ChangesMargins(method), objective=objective).fit(X, y)


@pytest.mark.parametrize(
    ("given", "error"),
    [(0.0, ValueError), (-1.0, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("a", TypeError)],
)
@pytest.mark.parametrize(("estimator", "y"), [(RGBRegressor, T), (RGBClassifier, Y)])
def test_an_impossible_lipschitz_constant(estimator: Any, y: Any, given: Any, error: type[Exception]) -> None:
    loss = Squared()
    loss.lipschitz = given
    with pytest.raises(error, match=rf"Squared\.lipschitz .*must.*got {given!r}"):
        estimator(5, loss=loss).fit(X, y)


def test_no_lipschitz_constant_is_a_line_search() -> None:
    loss = Squared()
    loss.lipschitz = None
    assert RGBRegressor(20, loss=loss).fit(X, T).score(X, T) > 0.5


@pytest.mark.parametrize("given", [1e-9, 1e-3])
def test_a_lipschitz_constant_that_is_too_small(given: float) -> None:
    class TooSmall(Squared):
        lipschitz = given

    with pytest.raises(ValueError, match=r"TooSmall\.lipschitz=.* is too small: round 1 raised the mean loss from"):
        RGBRegressor(5, loss=TooSmall()).fit(X, T)
    assert RGBRegressor(5, loss=TooSmall(), step="line_search").fit(X, T).score(X, T) > 0.1
