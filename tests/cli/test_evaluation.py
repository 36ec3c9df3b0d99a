"""Evaluations: scores with intervals, by weight, by costs and with copies, against definitions."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from radboost import DeepBoostClassifier, RGBRegressor
from radboost.cli.columns import FeatureTable
from radboost.cli.evaluation import Evaluation, subject_of
from radboost.cli.rows import LabeledRows
from radboost.guarantees.holdout import exact_interval
from radboost.model_file import ColumnSchema, Schema
from radboost.report.baselines import Baselines
from radboost.report.subject import Predictions, Subject, SubjectRows


def evaluation(
    y: Any,
    predicted: Any,
    *,
    linear: Any = None,
    chances: Any = None,
    constant: Any = 0,
    weights: Any = None,
    costs: Any = None,
    units: Any = None,
    metric: str | None = None,
) -> Evaluation:
    """Evaluation of predicted class ids, or of numbers where these are no integers."""
    y, predicted = np.asarray(y), np.asarray(predicted)
    classes = tuple("abc"[: 1 + max(y.max(), predicted.max(), 1)]) if y.dtype.kind == "i" else ()
    rows = np.arange(len(y), dtype=np.float64)[:, None]
    units = None if units is None else np.asarray(units, np.uint64)
    part = SubjectRows(rows, y, rows, weights, y, np.arange(len(y)), units=units)
    model: Any = SimpleNamespace(ensemble_=None, **({} if costs is None else {"cost_": np.asarray(costs, float)}))
    labels = np.array(classes, dtype=object)[predicted] if classes else predicted
    baselines = Baselines(Predictions(np.full(len(y), constant)), None if linear is None else Predictions(linear))
    subject = Subject(model, model, part, None, ("row",), classes, labels, chances, None, {}, given_baselines=baselines)
    return Evaluation(subject, metric)


def document(*given: Any, **more: Any) -> dict[str, Any]:
    return evaluation(*given, **more).document()


@pytest.mark.parametrize("weights", [None, np.arange(40) % 4 + 1.0])
def test_mean_costs_are_their_definition(weights: Any) -> None:
    """The model misses twenty cheap rows, the linear one five dear ones: it is worse by errors, and not by costs."""
    y, costs = np.repeat([0, 1], 20), [[0, 1], [9, 0]]
    linear = np.r_[np.full(25, 0), np.full(15, 1)]
    found = document(y, np.full(40, 1), linear=linear, constant=1, weights=weights, costs=costs)
    own, other = np.repeat([1.0, 0.0], 20), np.repeat([0.0, 9.0, 0.0], [20, 5, 15])
    assert (found["measure"], found["alone"]) == ("mean cost", "cheapest class")
    assert found["score"] == found["baseline"] == pytest.approx(np.average(own, weights=weights))
    assert found["linear"] == pytest.approx(np.average(other, weights=weights))
    assert found["low"] < found["score"] < found["high"]
    assert "log loss" not in found["further"]
    assert found["further"]["error"]["score"] > found["further"]["error"]["linear"]
    assert found["better_than_linear"] == "not clearly"
    right = document(y, y, costs=costs)
    assert (right["low"], right["high"]) == (0.0, pytest.approx(9.0 * exact_interval(0, 40)[1]))


def test_the_interval_is_exact() -> None:
    y = np.array([0, 1] * 50)
    found = document(y, np.where(np.arange(100) < 90, y, 0), linear=np.full(100, 0))
    assert (found["score"], found["baseline"], found["better_than_linear"]) == (0.05, 0.5, "yes")
    assert (found["low"], found["high"]) == pytest.approx(exact_interval(5, 100))


@pytest.mark.parametrize("copies", [1, 5, 20])
def test_intervals_and_comparisons_count_different_rows(copies: int) -> None:
    """Coins as labels: the error of every model is 1/2, and no model is better than another one."""
    rng, missed, called = np.random.default_rng(copies), 0, 0
    for _ in range(100):
        sizes = rng.integers(1, 10, 24) if copies == 5 else np.full(24, copies)  # of several sizes, or of one
        units = np.repeat(np.arange(24), sizes)
        y, predicted, linear = (rng.integers(0, 2, 24)[units] for _ in range(3))
        found = document(y, predicted, linear=linear, units=units)
        missed += not found["low"] <= 0.5 <= found["high"]
        called += found["better_than_linear"] != "not clearly"
        assert found["different_rows"] == 24
    assert max(missed, called) <= 8


@pytest.mark.parametrize("regression", [False, True])
def test_the_order_of_rows_changes_nothing(regression: bool) -> None:
    """Weights, targets and predictions are the same in many rows that the linear model predicts differently."""
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=90), rng.integers(0, 3, 90).astype(float)
    y = z + x.round(1) if regression else (z + x > 1).astype(np.int64)
    columns = (ColumnSchema("x", "number"), ColumnSchema("z", "number"))
    schema = Schema("y", "numbers" if regression else "classes", "table", columns, (), ())
    part = LabeledRows(FeatureTable(columns, {"x": x, "z": z}), y, 1.0 + np.arange(90) % 3, np.arange(90))
    train, test = part.take(np.arange(60)), part.take(np.arange(60, 90))
    kind = RGBRegressor if regression else DeepBoostClassifier
    model = kind(5, n_jobs=1).fit(train.table.for_model("table"), train.y)
    shuffled = ((test.take(rng.permutation(30)), train.take(rng.permutation(60))) for _ in range(3))
    one, two, three = (Evaluation(subject_of(model, schema, *parts)).document() for parts in shuffled)
    assert one == two == three


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 4, 60).astype(float)
    for n_classes, average in ((2, "binary"), (3, "macro")):
        y = rng.choice(n_classes, 60, p=[[0.7, 0.3], [0.5, 0.3, 0.2]][n_classes - 2])
        chances = rng.dirichlet(np.ones(n_classes), 60)
        predicted = np.where(rng.random(60) < 0.5, y, chances.argmax(axis=1))
        further = document(y, predicted, chances=chances, weights=weights)["further"]
        asked: dict[str, Any] = {"sample_weight": weights}
        area = {"multi_class": "ovr"} if n_classes > 2 else {}
        expected = {
            "AUC": metrics.roc_auc_score(y, chances if n_classes > 2 else chances[:, 1], **area, **asked),
            "balanced accuracy": metrics.balanced_accuracy_score(y, predicted, **asked),
            "precision": metrics.precision_score(y, predicted, average=average, **asked),
            "recall": metrics.recall_score(y, predicted, average=average, **asked),
            "F1": metrics.f1_score(y, predicted, average=average, **asked),
            "log loss": metrics.log_loss(y, chances, **asked),
        }
        assert {name: one["score"] for name, one in further.items()} == pytest.approx(expected)
        assert all(one["low"] < one["score"] < one["high"] for one in further.values())


def test_another_measure_leads() -> None:
    rng = np.random.default_rng(2)
    y = (np.arange(200) < 40).astype(np.int64)
    strong = np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=200), 0.01, 0.99)
    found = document(y, np.zeros(200, dtype=np.int64), chances=np.column_stack([1 - strong, strong]), metric="AUC")
    assert (found["measure"], found["score"]) == ("AUC", pytest.approx(metrics.roc_auc_score(y, strong)))
    assert found["further"]["error"]["score"] == 0.2
    assert "precision" not in found["further"]  # of a class that is never predicted
    with pytest.raises(ValueError, match="--metric: the AUC says nothing of these rows; measures that do are error"):
        evaluation(y, y, metric="AUC")


def test_weighted_rows_are_compared_by_weight() -> None:
    """The linear model is right where the weight is, the other one on more rows."""
    y, few = np.zeros(60, dtype=np.int64), np.arange(60) >= 40
    given = {"y": y, "predicted": few.astype(np.int64), "linear": (~few).astype(np.int64)}
    assert evaluation(**given).better_than_linear == "yes"
    assert evaluation(**given, weights=np.where(few, 5.0, 0.01)).better_than_linear == "no, worse"


def test_few_rows_are_called_few() -> None:
    found = evaluation(np.array([1.0, 2.0]), np.array([1.5, 2.5]), constant=1.0)
    assert "interval" not in found.headline("rows held out")
    y = np.arange(60) % 2
    assert evaluation(y, y).lines("rows")[-2].startswith("balanced accuracy 1.000")
    lines = evaluation(y, y, units=np.arange(60) % 3).lines("rows")
    assert lines[0].startswith("error 0 (95% interval 0 to 0.7076) on 60 rows (3 groups); ")
    assert lines[-1] == "Only 3 groups are held out: too few to say how good the model is on new groups."
    assert "(1 group)" in evaluation(y, y, units=0 * y).headline("rows")


def test_each_measure_has_its_interval() -> None:
    y = np.arange(200) % 2
    predicted = np.where(np.arange(200) < 40, 1 - y, y)
    chances = np.column_stack([1 - 0.6 * predicted - 0.2, 0.6 * predicted + 0.2])
    _, whole, by_class = evaluation(y, predicted, chances=chances).lines("rows")[:3]
    share = r"0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)"
    assert re.fullmatch(f"AUC {share}, balanced accuracy {share}, log loss {share}", whole)
    low, high = exact_interval(80, 100)
    assert f"precision 0.800 ({low:.3f} to {high:.3f})" in by_class
    targets = np.linspace(0.0, 1e-3, 60)
    lines = evaluation(targets, targets + 2e-4 * (-1.0) ** np.arange(60)).lines("rows")
    assert lines[1].startswith("MAE 0.0002 (")  # four digits in units of the target, however small
    assert re.search(f", R squared {share}$", lines[1])
