"""Metrics of the user's choice on validation rows: in the history, and as what early stopping goes by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    get_scorer_names,
    log_loss,
    make_scorer,
    mean_absolute_error,
    roc_auc_score,
)

import radboost
from radboost import (
    AgnosticBoostClassifier,
    Checkpoint,
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
)
from radboost.baselines import SAMMEClassifier
from radboost.boosting.metrics import METRICS_ELSEWHERE
from radboost.objectives.targets import coarse

Settings = tuple[type[Any], dict[str, Any]]
TWO_CLASSES: list[Settings] = [
    (DeepBoostClassifier, {"complexity_penalty": 0.01}),
    (RGBClassifier, {}),
    (SoftmaxBoostClassifier, {}),
    (AgnosticBoostClassifier, {}),
    (SAMMEClassifier, {}),
]
EVERYONE: list[Settings] = [*TWO_CLASSES, (RGBRegressor, {})]


def rows(seed: int, n: int = 200, n_classes: int = 2, labels: Any = None) -> tuple[Any, Any]:
    draws = np.random.default_rng(seed)
    X = draws.integers(-8, 9, size=(n, 4)).astype(float)
    f = X[:, 0] + 0.5 * X[:, 1] * (X[:, 2] > 0) + draws.normal(scale=4.0, size=n)
    y = np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))
    return X, y if labels is None else np.asarray(labels)[y]


def made(setting: Settings, n_rounds: int = 20, **more: Any) -> Any:
    kind, parameters = setting
    return kind(n_rounds, n_jobs=1, **parameters, **more)


class Scripted:
    """Says what it was told to say, one number a round, and counts how often it was asked."""

    __name__ = "scripted"

    def __init__(self, values: Any) -> None:
        self.values, self.n_asked = list(values), 0

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        self.n_asked += 1
        return float(self.values[self.n_asked - 1])


@pytest.mark.parametrize("setting", EVERYONE, ids=lambda one: one[0].__name__)
def test_early_stopping_goes_by_the_metric_and_not_by_the_loss(setting: Settings) -> None:
    """The validation rows are the training rows, so that the loss falls on; the metric is highest after round 5."""
    X, y = rows(0)
    metric = Scripted([1, 3, 2, 2, 4, 4, 3, 1, 0, 5])
    model = made(setting, early_stopping=4).fit(X, y, X_val=X, y_val=y, eval_metric=metric)
    assert (model.n_iter_, metric.n_asked) == (5, 9)  # a second 4 is not higher
    assert model.stop_reason_ == "early stopping: no higher validation scripted for 4 rounds"
    assert (model.best_iteration_, model.best_score_) == (5, 4.0)
    assert model.history_["validation_scripted"] == [1, 3, 2, 2, 4, 4, 3, 1, 0]
    by_loss = made(setting, early_stopping=4).fit(X, y, X_val=X, y_val=y)
    assert by_loss.n_iter_ > 9
    assert by_loss.history_["validation_loss"][:9] == model.history_["validation_loss"]
    assert len(model.ensemble_.steps) < len(by_loss.ensemble_.steps)


@pytest.mark.parametrize("setting", TWO_CLASSES, ids=lambda one: one[0].__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_history_is_that_of_the_stages(setting: Settings, weighted: bool) -> None:
    X, y = rows(1, labels=["no", "yes"])
    X_val, y_val = rows(2, n=90, labels=["no", "yes"])
    w = np.random.default_rng(3).integers(1, 4, 90) if weighted else None
    uncalibrated = {} if setting[0] in (AgnosticBoostClassifier, SAMMEClassifier) else {"calibration": None}
    probable = setting[0] is not SAMMEClassifier
    names = ["roc_auc", "accuracy", *(["neg_log_loss"] if probable else [])]
    model = made(setting, 8, **uncalibrated)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w, eval_metric=names)
    auc = [coarse(roc_auc_score(y_val, s, sample_weight=w)) for s in model.staged_decision_function(X_val)]
    right = [coarse(accuracy_score(y_val, p, sample_weight=w)) for p in model.staged_predict(X_val)]
    assert model.history_["validation_roc_auc"] == auc
    assert model.history_["validation_accuracy"] == right
    if probable:
        less = [-log_loss(y_val, p, sample_weight=w) for p in model.staged_predict_proba(X_val)]
        np.testing.assert_allclose(model.history_["validation_neg_log_loss"], less, rtol=1e-6)
    assert model.n_iter_ == 8  # nothing was stopped
    assert model.best_iteration_ == 1 + int(np.argmax(auc))


def test_numbers_have_the_link_of_the_loss() -> None:
    X, _ = rows(6)
    counts = np.random.default_rng(7).poisson(np.exp(0.1 * X[:, 0]))
    model = RGBRegressor(10, loss="poisson", n_jobs=1)
    model.fit(X, counts, X_val=X, y_val=counts, eval_metric=["neg_mean_absolute_error", "r2"])
    staged = [coarse(-mean_absolute_error(counts, p)) for p in model.staged_predict(X)]
    assert model.history_["validation_neg_mean_absolute_error"] == staged


def test_scorers_of_ones_own() -> None:
    X, y = rows(8)
    scorer = make_scorer(average_precision_score, response_method="decision_function")

    def spread(model: Any, X: Any, y: Any) -> float:
        return float(np.ptp(model.decision_function(X)))

    model = RGBClassifier(5, n_jobs=1).fit(X, y, X_val=X, y_val=y, eval_metric=[spread, scorer])
    assert {"validation_spread", "validation_average_precision_score"} <= set(model.history_)
    assert model.history_["validation_spread"] == [coarse(np.ptp(s)) for s in model.staged_decision_function(X)]


@pytest.mark.parametrize("kind", [DeepBoostClassifier, RGBClassifier])
def test_short_fits_know_nothing_of_it(kind: Any) -> None:
    """A look at the data, and the fits of a calibration, hold back rows of their own and go by the loss."""
    X, y = rows(10, n=1400)
    X += np.random.default_rng(11).normal(scale=0.01, size=X.shape)  # that all of them differ
    metric = Scripted(np.arange(2000))
    given = kind("auto", n_jobs=1).fit(X[:1300], y[:1300], X_val=X[1300:], y_val=y[1300:], eval_metric=metric)
    plain = kind("auto", n_jobs=1).fit(X[:1300], y[:1300], X_val=X[1300:], y_val=y[1300:])
    assert metric.n_asked == given.n_iter_ == plain.n_iter_
    assert given.chosen_ == plain.chosen_
    assert given.calibration_ == plain.calibration_


def test_going_on_and_files(tmp_path: Path) -> None:
    X, y = rows(15)
    given: dict[str, Any] = {"X_val": X[::2], "y_val": y[::2], "eval_metric": ["roc_auc", "accuracy"]}
    whole = RGBClassifier(20, n_jobs=1).fit(X, y, **given)
    warm = RGBClassifier(8, n_jobs=1, warm_start=True).fit(X, y, **given)
    assert warm.set_params(n_rounds=20).fit(X, y, **given).history_ == whole.history_
    path = str(tmp_path / "fit")
    RGBClassifier(8, n_jobs=1).fit(X, y, **given, callbacks=[Checkpoint(path)])
    assert RGBClassifier(20, n_jobs=1).fit(X, y, **given, resume_from=path).history_ == whole.history_
    with pytest.raises(radboost.ModelFileError, match="the metrics differ"):
        RGBClassifier(20, n_jobs=1).fit(X, y, **given | {"eval_metric": "f1"}, resume_from=path)
    whole.save(str(tmp_path / "model"))
    loaded = radboost.load(str(tmp_path / "model"))
    assert (loaded.best_iteration_, loaded.best_score_) == (whole.best_iteration_, whole.best_score_)
    assert whole.best_score_ == max(whole.history_["validation_roc_auc"])


def test_what_is_refused() -> None:
    X, y = rows(17)
    model = RGBClassifier(5, n_jobs=1)
    for metric, message in (
        ("auc", r"Unknown eval_metric 'auc'. It is called 'roc_auc' here. Known are .*'f1'"),
        ("fame", r"Unknown eval_metric 'fame'. Known are .*'roc_auc'"),
        (3, r"must be the name of a scorer.*got 3"),
        ([], "empty list"),
        (["f1", "f1"], "'f1' twice"),
        (Scripted([np.nan]), "must be a finite number on the validation rows; got nan"),
        (lambda model, X, y: model.predict(X[:3]).sum(), "the validation rows alone"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(X, y, X_val=X, y_val=y, eval_metric=metric)
    with pytest.raises(ValueError, match=r"there are none. Give X_val and y_val, or set early_stopping"):
        model.fit(X, y, eval_metric="roc_auc")
    with pytest.raises(ValueError, match="'scripted' takes no sample_weight"):
        model.fit(X, y, X_val=X, y_val=y, sample_weight_val=np.full(len(X), 2.0), eval_metric=Scripted([1.0]))
    with pytest.raises(TypeError, match="fit has no argument 'eval_metric'"):
        MultiSourceBoostClassifier(5).fit(X, y, eval_metric="roc_auc")
    assert not hasattr(model, "ensemble_")


def own_score(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return float(model.score(X, y, sample_weight=sample_weight))


@pytest.mark.parametrize("setting", EVERYONE, ids=lambda setting: setting[0].__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_function_may_ask_for_the_score(setting: Settings, weighted: bool) -> None:
    X, y = rows(18, n=80)
    w = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else None
    model = made(setting, 3).fit(X, y, X_val=X, y_val=y, sample_weight_val=w, eval_metric=own_score)
    assert model.history_["validation_own_score"][-1] == coarse(model.score(X, y, sample_weight=w))


@pytest.mark.parametrize(
    ("metric", "advice"),
    [
        (balanced_accuracy_score, "'balanced_accuracy', or sklearn.metrics.make_scorer(balanced_accuracy_score), with"),
        (log_loss, "'neg_log_loss', or sklearn.metrics.make_scorer(log_loss), with greater_is_better=False if it is a"),
        (lambda y, answers: 1.0, "give sklearn.metrics.make_scorer(<lambda>), with"),
    ],
)
def test_metrics_that_are_no_scorers(metric: Any, advice: str) -> None:
    model, (X, y) = RGBClassifier(3, n_jobs=1), rows(19, n=40)
    with pytest.raises(TypeError, match=r"is no function scorer\(model, X, y\)") as told:
        model.fit(X, y, X_val=X, y_val=y, eval_metric=metric)
    assert advice in str(told.value)
    assert isinstance(told.value.__cause__, TypeError)
    assert not hasattr(model, "ensemble_")


def _fails(model: Any, X: Any, y: Any) -> float:
    return float(model.best_guess(X))


@pytest.mark.parametrize(
    ("model", "n_classes", "labels", "metric", "given", "advice"),
    [
        (RGBRegressor(3), 2, None, "roc_auc", "numbers", "Metrics for numbers are 'r2'"),
        (RGBClassifier(3), 2, ["a", "b"], "r2", "2 classes ('a', 'b')", "Metrics for classes are 'accuracy'"),
        (RGBClassifier(3), 3, None, "roc_auc", "3 classes (0, 1, 2)", "'roc_auc_ovr'"),
        (DeepBoostClassifier(3), 2, ["a", "b"], "f1", "2 classes ('a', 'b')", "'balanced_accuracy'"),
        (DeepBoostClassifier(3), 2, None, _fails, "2 classes (0, 1)", "predict_proba, decision_function and score of"),
    ],
)
def test_metrics_that_do_not_suit(
    model: Any, n_classes: int, labels: Any, metric: Any, given: str, advice: str
) -> None:
    """The message has what was given, the error and what suits; the estimator keeps the model that it had."""
    X, y = rows(20, n=60, n_classes=n_classes, labels=labels)
    model.set_params(n_jobs=1).fit(X, y)
    before = model.ensemble_
    name = metric if isinstance(metric, str) else "_fails"
    with pytest.raises(ValueError, match=f"^eval_metric='{name}' has failed on the validation rows") as told:
        model.fit(X, y, X_val=X, y_val=y, eval_metric=metric)
    assert f"whose y is of {given}: " in str(told.value)
    assert advice in str(told.value)
    cause = told.value.__cause__
    assert isinstance(cause, Exception)
    assert str(cause) in str(told.value)
    assert model.ensemble_ is before


def test_metrics_of_several_targets_that_do_not_suit() -> None:
    X, y = rows(21, n=40)
    with pytest.raises(ValueError, match="whose y is of numbers for 2 targets: "):
        RGBRegressor(3, n_jobs=1).fit(X, np.c_[y, y], X_val=X, y_val=np.c_[y, y], eval_metric="accuracy")


def test_names_elsewhere_lead_to_scorers_that_exist() -> None:
    assert set(METRICS_ELSEWHERE) <= set(get_scorer_names())
