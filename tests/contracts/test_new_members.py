"""Members without native code: each needs its own class alone, and what it does not say is refused with words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from boosting_cases import SmoothHinge
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor
from radboost.boosting import CoordinateDescent, Driver
from radboost.export import ExportError
from radboost.families import Problem, Trees
from radboost.losses import LOSSES, REGRESSION_LOSSES, TWO_CLASS_LOSSES, MarginLoss, NamedTargetLoss, get_loss
from radboost.losses.link import IDENTITY, Link
from radboost.model_file.registry import known_values
from radboost.objectives import OBJECTIVES, Objective
from radboost.objectives.sum import Sum
from radboost.penalties import EnsemblePenalty
from radboost.trees import GrowthSettings, bin_rows
from reference import losses as naive

X, Y = load_wine(return_X_y=True)
SIGNS = (Y == 1).astype(int)


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Takes out again whatever a test registers."""
    registries = OBJECTIVES, LOSSES, REGRESSION_LOSSES, TWO_CLASS_LOSSES, known_values()
    known = [(registry, dict(registry)) for registry in registries]
    yield
    for registry, before in known:
        registry.clear()
        registry.update(before)


def mean_of_wrong() -> type[Sum]:
    class MeanOfWrong(Sum, name="mean_of_wrong"):
        """The mean of Phi(u(y)) over the wrong classes y. It says nothing of a link."""

        native = False
        rates_leaves = False

        def costs(self, values: Any, class_ids: Any) -> Any:
            return super().costs(values, class_ids) / (values.shape[1] - 1)

        def weights(self, derivatives: Any, scores: Any, class_ids: Any) -> Any:
            return derivatives / (scores.shape[1] - 1)

        def slopes(self, derivatives: Any, scores: Any, predictions: Any, class_ids: Any) -> Any:
            return super().slopes(derivatives, scores, predictions, class_ids) / (scores.shape[1] - 1)

    return MeanOfWrong


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_an_objective_in_numpy_is_fitted_and_not_exported_wrongly(loss: str) -> None:
    mean_of_wrong()
    settings: dict[str, Any] = {"loss": loss, "step": "line_search", "calibration": None, "l1_penalty": 0.0}
    settings |= {"complexity_penalty": 0.0, "learning_rate": 1.0, "max_depth": 2, "n_jobs": 1}
    model = DeepBoostClassifier(6, objective="mean_of_wrong", **settings).fit(X, Y)
    known = DeepBoostClassifier(6, objective="sum", **settings).fit(X, Y)
    # Half of "sum" with three classes: the same minimum along each hypothesis.
    np.testing.assert_allclose(model.history_["objective"], 0.5 * np.array(known.history_["objective"]), rtol=1e-4)
    for export in (model.to_onnx, model.to_c):
        with pytest.raises(ExportError, match=rf"objective='mean_of_wrong' with loss='{loss}' has no link"):
            export()
    assert "model_predict" in model.to_c(probabilities=False)


def same_model(named: Any, given: Any, X: Any) -> None:
    np.testing.assert_array_equal(named.decision_function(X), given.decision_function(X))
    assert named.history_["objective"] == given.history_["objective"]


def test_a_named_loss_of_margins_without_a_kernel() -> None:
    class NamedHinge(MarginLoss, name="smooth_hinge", of="margins"):
        def value(self, u: Any, /) -> Any:
            return naive.SMOOTH_HINGE.value(u)

        def derivative(self, u: Any, /) -> Any:
            return naive.SMOOTH_HINGE.derivative(u)

    for y in (Y, SIGNS):
        named = DeepBoostClassifier(4, loss="smooth_hinge", n_jobs=1).fit(X, y)
        same_model(named, DeepBoostClassifier(4, loss=SmoothHinge(), n_jobs=1).fit(X, y), X)
        again = DeepBoostClassifier.from_dict(named.to_dict())
        np.testing.assert_array_equal(again.predict_proba(X), named.predict_proba(X))
        with pytest.raises(ExportError, match=r"loss='smooth_hinge' has no link"):
            named.to_c()
    LOSSES["smooth_hinge"].links = {"two_classes": Link("unheard_of")}  # type: ignore[assignment]
    with pytest.raises(ExportError, match=r"no formula for the link 'unheard_of'"):
        named.to_c()


def test_a_named_loss_of_gradient_boosting_without_a_kernel() -> None:
    class NamedHinge(SmoothHinge, NamedTargetLoss, name="smooth_hinge", of="signs"):
        pass

    named = RGBClassifier(4, loss="smooth_hinge", calibration=None, n_jobs=1).fit(X, SIGNS)
    given = RGBClassifier(4, loss=SmoothHinge(), calibration=None, n_jobs=1).fit(X, SIGNS)
    same_model(named, given, X)
    with pytest.raises(ExportError, match=r"loss='smooth_hinge' has no link"):
        named.to_c()

    class LogCosh(NamedTargetLoss, name="log_cosh", of="numbers"):
        lipschitz = 1.0
        of_difference = True

        def value(self, targets: Any, scores: Any, /) -> Any:
            return np.logaddexp(scores - targets, targets - scores) - np.log(2.0)

        def derivative(self, targets: Any, scores: Any, /) -> Any:
            return np.tanh(scores - targets)

    regressor = RGBRegressor(5, loss="log_cosh", n_jobs=1).fit(X[:, 1:], X[:, 0])
    assert np.all(np.diff(regressor.history_["objective"]) <= 1e-12)
    again = RGBRegressor.from_dict(regressor.to_dict())
    np.testing.assert_array_equal(again.predict(X[:, 1:]), regressor.predict(X[:, 1:]))
    with pytest.raises(ExportError, match="inverse_link"):
        regressor.to_c()
    LogCosh.link = IDENTITY
    assert "model_predict" in regressor.to_c()
    with pytest.raises(ValueError, match="is for one target"):
        RGBRegressor(5, loss="log_cosh").fit(X[:, 2:], X[:, :2])


@dataclass(frozen=True)
class ElasticNet(EnsemblePenalty):
    """lambda r_j |alpha_j| + half the square of alpha_j."""

    complexity_penalty: float
    square: float
    linear = False

    def price(self, complexity: float) -> float:
        return self.complexity_penalty * complexity

    def change(self, price: float, before: float, after: float) -> float:
        return super().change(price, before, after) + 0.5 * self.square * (after**2 - before**2)

    def slope_of_rest(self, weights: Any) -> Any:
        return self.square * weights


def test_a_penalty_that_is_not_linear() -> None:
    """With whole steps each weight ends where no change of it lowers loss and penalty together."""
    order = np.argsort(SIGNS, kind="stable")
    objective = Objective("sum", get_loss("logistic"), SIGNS[order].astype(np.uint16), 2, None, 1)
    data = bin_rows(X, None, order, max_bins=255, n_threads=1)
    problem = Problem(X, order, data, objective, GrowthSettings(max_depth=1, criterion="edge"))
    penalty = ElasticNet(0.001, 0.1)
    descent = CoordinateDescent(
        objective, [Trees().start(problem)], penalty, n_rows=len(X), learning_rate=1.0, step="auto"
    )
    assert descent.step == "line_search"
    trace = Driver(descent, n_rounds=300).run()
    assert np.all(np.diff(trace.history["objective"]) <= 1e-12)
    members = list(descent.members)
    assert len(members) > 3
    cost = sum(one.price * abs(one.weight) + 0.05 * one.weight**2 for one in members)
    assert descent.members.penalty_value == pytest.approx(cost, rel=1e-9)
    objective.reweigh()
    for one in members:
        slope = objective.slope_along(descent.members.columns, one.slot, 0.0)
        rest = slope + 0.1 * one.weight
        assert abs(rest) == pytest.approx(one.price, abs=1e-5)
