"""Probabilities that mean something."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss

import radboost
from boosting_cases import SquaredHinge
from prepared_rows import prepare
from radboost import (
    Checkpoint,
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    SoftmaxBoostClassifier,
    TreeOptions,
)
from radboost.calibration import Calibration, CalibrationRows, fit_calibration, shrunk
from radboost.estimators import _calibrated, _held_back
from radboost.rows.weights import RowWeights
from reference.softmax import soft_max as softmax

VOTES = TreeOptions(leaves="votes")
ESTIMATORS = [
    DeepBoostClassifier(40, tree_options=VOTES),
    RGBClassifier(30),
    SoftmaxBoostClassifier(40),
]
SMALL_LEAVES = RGBClassifier(30, tree_options=TreeOptions(min_leaf_weight=2.0))
names = [type(estimator).__name__ for estimator in ESTIMATORS]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=names)


def logistic(scores):
    second = 1.0 / (1.0 + np.exp(-scores))
    return np.column_stack([1.0 - second, second])


def table(m=400, n_classes=2, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-1.0, 1.0, n_classes + 1)[1:-1])
    return X, np.where(rng.random(m) < noise, rng.integers(0, n_classes, m), y)


def judged(scores, ids, weights=None):
    return CalibrationRows(RowWeights(weights, len(ids)), ids.astype(np.uint16), scores)


def loss_on_grid(rule, scores, ids):
    """The least loss, priors counted, over a grid of temperatures and doubts."""
    found = {}
    for log_temperature in np.linspace(-2.0, 2.0, 81):
        right = rule(scores / np.exp(log_temperature))[np.arange(len(ids)), ids]
        for doubt in np.linspace(0.0, 0.9, 91):
            mixed = (1.0 - doubt) * right + doubt / rule(scores[:1]).shape[1]
            found[log_temperature, doubt] = -np.log(mixed).sum() + 0.5 * log_temperature**2 - np.log1p(-doubt)
    return min(found.values())


@pytest.mark.parametrize("rule", [softmax, logistic])
@pytest.mark.parametrize(("temperature", "doubt"), [(1.0, 0.0), (0.4, 0.0), (2.5, 0.0), (0.5, 0.3), (1.6, 0.1)])
def test_temperature_and_doubt_are_found(rule, temperature, doubt):
    rng = np.random.default_rng(0)
    m = 8000
    scores = rng.normal(size=m) * 2.0 if rule is logistic else rng.normal(size=(m, 4)) * 2.0
    true = Calibration(temperature, doubt).apply(rule, scores)
    np.testing.assert_allclose(true.sum(axis=1), 1.0)
    ids = (true.cumsum(axis=1) < rng.random((m, 1))).sum(axis=1)
    found = fit_calibration(rule, [judged(scores, ids)], 1)
    assert found.temperature == pytest.approx(temperature, rel=0.2)
    assert found.doubt == pytest.approx(doubt, abs=0.04)
    few = slice(0, 400)
    found = fit_calibration(rule, [judged(scores[few], ids[few])], 1)
    loss = -np.log(found.apply(rule, scores[few])[np.arange(400), ids[few]]).sum()
    loss += 0.5 * np.log(found.temperature) ** 2 - np.log1p(-found.doubt)
    assert loss <= loss_on_grid(rule, scores[few], ids[few]) + 0.01


def test_weights_are_copies_and_parts_are_one():
    rng = np.random.default_rng(0)
    scores, ids = rng.normal(size=300), rng.integers(0, 2, 300)
    weights = rng.integers(1, 4, 300)
    weighted = fit_calibration(logistic, [judged(scores, ids, weights.astype(float))], 1)
    repeated = fit_calibration(logistic, [judged(np.repeat(scores, weights), np.repeat(ids, weights))], 2)
    assert weighted == repeated
    order = rng.permutation(300)
    moved = fit_calibration(logistic, [judged(scores[order], ids[order], weights[order].astype(float))], 1)
    assert moved == weighted
    parts = [judged(scores[some], ids[some], weights[some].astype(float)) for some in (slice(0, 90), slice(90, None))]
    assert fit_calibration(logistic, parts, 1).temperature == pytest.approx(weighted.temperature, rel=1e-9)


def test_few_rows_do_not_make_a_model_certain():
    scores, ids = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    found = fit_calibration(logistic, [judged(scores, ids)], 1)
    assert 0.3 < found.temperature < 1.0
    assert found.doubt == 0.0


@pytest.mark.parametrize("estimator", [ESTIMATORS[0], SMALL_LEAVES, ESTIMATORS[2]], ids=names)
@pytest.mark.parametrize("data", [load_iris, load_breast_cancer, None])
def test_few_rows_are_said_and_probabilities_shrunk(estimator, data):
    """Ten rows say little about how sure to be, and copies of them nothing more."""
    rng = np.random.default_rng(0)
    X, y = (rng.normal(size=(600, 5)), rng.integers(0, 2, 600)) if data is None else data(return_X_y=True)
    order = rng.permutation(len(y))
    few, new = order[:10], order[10:]
    with pytest.warns(UserWarning, match="Only 10 rows to learn from") as warned:
        model = changed(estimator).fit(X[few], y[few])
    assert [warning.filename for warning in warned] == [__file__]
    least_doubt = 1.6 / 11.6
    assert model.calibration_.doubt >= least_doubt - 1e-12
    with warnings.catch_warnings(action="error"):
        plain = changed(estimator, calibration=None).fit(X[few], y[few])
    np.testing.assert_array_equal(model.predict(X[new]), plain.predict(X[new]))
    repeated = changed(estimator).fit(np.tile(X[few], (9, 1)), np.tile(y[few], 9))
    weighted = changed(estimator).fit(X[few], y[few], sample_weight=np.full(10, 9))
    assert repeated.calibration_ == weighted.calibration_
    assert repeated.calibration_.doubt >= least_doubt - 1e-12


def test_shrinking_ends_with_enough_rows():
    found = Calibration(0.5, 0.1, 2.0, 0.3)
    assert shrunk(found, 50, 50, 3) == replace(found, doubt=pytest.approx(0.1))
    few = shrunk(found, 10, 50, 3)
    assert (few.temperature, few.doubt) == (pytest.approx(0.5**0.2), pytest.approx(1.0 - 0.9 * 10 / 11.6))
    assert shrunk(replace(found, temperature=2.0), 10, 50, 3).temperature == 2.0
    assert shrunk(None, 4, 50, 4) == Calibration(doubt=0.5)


@pytest.mark.filterwarnings("error")
def test_draws_from_few_cells_are_many_rows():
    X, y = np.arange(400)[:, None] % 4, np.arange(400) % 5 < 2
    assert DeepBoostClassifier(5).fit(X, y).calibration_ is not None


@EACH
@pytest.mark.parametrize("n_classes", [2, 4])
def test_only_probabilities_change(estimator, n_classes):
    X, y = table(n_classes=n_classes)
    calibrated = changed(estimator).fit(X, y)
    plain = changed(estimator, calibration=None).fit(X, y)
    assert plain.calibration_ is None
    np.testing.assert_array_equal(calibrated.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(calibrated.predict(X), plain.predict(X))
    found, probabilities = calibrated.calibration_, calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(calibrated.classes_[probabilities.argmax(axis=1)], plain.predict(X))
    scores = plain.decision_function(X)
    by_hand = plain._probabilities(scores / found.temperature)
    if found.power:
        by_hand *= (scores - scores.min(axis=1, keepdims=True) + found.ground) ** found.power
        by_hand /= by_hand.sum(axis=1, keepdims=True)
    by_hand = (1.0 - found.doubt) * by_hand + found.doubt / n_classes
    np.testing.assert_allclose(probabilities, by_hand, rtol=1e-10)
    *_, last = calibrated.staged_predict_proba(X)
    np.testing.assert_array_equal(last, probabilities)
    # Another set of rows: what was learned is not how the training rows were to look.
    new, truth = table(4000, n_classes=n_classes, seed=1)
    slack = 0.05 if isinstance(estimator, RGBClassifier) else 0.0  # it minimises this loss already
    assert log_loss(truth, calibrated.predict_proba(new)) < log_loss(truth, plain.predict_proba(new)) + slack


@EACH
def test_rows_that_decide_when_to_stop_decide_how_sure_to_be(estimator, monkeypatch):
    X, y = table(600)
    X_val, y_val = table(300, seed=1)
    stopped = changed(estimator, early_stopping=5).fit(X, y, X_val=X_val, y_val=y_val)
    scores = stopped.decision_function(X_val)
    expected = fit_calibration(stopped._probabilities, [judged(scores, y_val)], 1)
    assert stopped.calibration_ == expected
    # Rows that are only watched decide nothing.
    watched = changed(estimator).fit(X, y, X_val=X_val, y_val=y_val)
    assert watched.calibration_ == changed(estimator).fit(X, y).calibration_


@EACH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_right_labels(estimator, n_classes, tmp_path):
    """Learned from labels half of which say nothing, and nearly as sure of right ones as it should be."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 5))
    y = np.digitize(X[:, 0] + X[:, 1], [0.0] if n_classes == 2 else [-0.6, 0.6])
    labels = np.where(rng.random(3000) < 0.5, rng.integers(0, n_classes, 3000), y[:3000])
    doubtful, sure = (
        changed(estimator, calibration=calibration).fit(X[:3000], labels) for calibration in ("auto", "right_labels")
    )
    assert doubtful.calibration_.doubt > 0.1
    assert sure.calibration_ == replace(doubtful.calibration_, doubt=0.0)
    new, truth = X[3000:], y[3000:]
    np.testing.assert_array_equal(sure.predict(new), doubtful.predict(new))
    found = sure.predict_proba(new)
    assert log_loss(truth, found) < 0.85 * log_loss(truth, doubtful.predict_proba(new))
    unsure, right = doubtful.predict_proba(new).max(axis=1).mean(), sure.score(new, truth)
    assert abs(found.max(axis=1).mean() - right) < 0.6 * abs(unsure - right)
    sure.save(tmp_path / "model")
    np.testing.assert_array_equal(radboost.load(tmp_path / "model").predict_proba(new), found)


def test_nothing_to_calibrate_by():
    X, y = np.arange(2.0)[:, None], np.array([0, 1])  # no class has two rows
    with pytest.warns(UserWarning, match="Only 2 rows to learn from"):
        model = DeepBoostClassifier(5).fit(X, y)
    assert model.calibration_ == Calibration(doubt=0.5)
    assert model.predict_proba(X).shape == (2, 2)
    X, y = load_iris(return_X_y=True)
    costs = [[0.0, 5.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    assert SoftmaxBoostClassifier(5, cost=costs).fit(X, y).calibration_ is None
    assert SoftmaxBoostClassifier(5).fit(X, y, cost=np.ones((150, 3)) - np.eye(3)[y]).calibration_ is None
    for kind in (SoftmaxBoostClassifier, RGBClassifier, DeepBoostClassifier):
        assert kind.paper(5).fit(X, y).calibration_ is None
    assert MultiSourceBoostClassifier(5).fit(X, y, sources=np.arange(150) % 2).calibration_ is None


def test_many_rows_need_one_short_fit(monkeypatch):
    fits = []
    learn = _calibrated.learn
    monkeypatch.setattr(
        _calibrated, "learn", lambda short, rows: fits.append((short, rows.n_rows)) or learn(short, rows)
    )
    X, y = table(3600)
    for m, rate, sizes, expected in (
        (3600, "auto", [2400], (30, pytest.approx(0.1))),
        (300, "auto", [200, 200, 200], (10, pytest.approx(0.3))),
        (300, 1.0, [200, 200, 200], (30, 1.0)),
    ):
        fits.clear()
        DeepBoostClassifier(30, complexity_penalty=0.03, learning_rate=rate).fit(X[:m], y[:m])
        assert [n_rows for _, n_rows in fits] == pytest.approx(sizes, abs=2)
        assert (fits[0][0].n_rounds, fits[0][0].learning_rate) == expected
    fits.clear()
    monkeypatch.setattr(_held_back, "MOST_ROWS_OF_FOLDS", 1500)
    DeepBoostClassifier(30, complexity_penalty=0.03).fit(X, y)
    assert [n_rows for _, n_rows in fits] == pytest.approx([1000, 1000], abs=2)


def test_many_classes_are_judged_by_few_rows(monkeypatch):
    monkeypatch.setattr(_calibrated, "MOST_RATES", 16 * 40)
    monkeypatch.setattr(_calibrated, "FEWEST_ROWS", 10)
    held = []
    fit = _calibrated.fit_calibration
    monkeypatch.setattr(
        _calibrated, "fit_calibration", lambda *given: held.extend(len(p.class_ids) for p in given[1]) or fit(*given)
    )
    X, y = table(600, n_classes=4)
    DeepBoostClassifier(10, complexity_penalty=0.03).fit(X, y)
    assert held == pytest.approx([40, 40, 40], abs=4)  # a few of every class


def test_short_fits_go_no_further_than_a_loss_can_be_computed():
    """That of a user may overflow where longer steps lead."""
    X, y = table(300, noise=0.0)
    model = RGBClassifier(60, loss=SquaredHinge()).fit(X, y)
    assert model.calibration_ is not None
    for loss, steps in ((SquaredHinge(), 0.1), ("exponential", 0.3)):
        short = model.set_params(loss=loss)._shortened(0, 3)
        assert short.learning_rate == pytest.approx(steps)
        assert short.n_rounds * short.learning_rate == pytest.approx(6.0, rel=0.01)


def test_few_rows_do_not_make_a_model_know_nothing():
    for m in (3, 4, 5):
        model = DeepBoostClassifier(10, complexity_penalty=0.0).fit(np.arange(m)[:, None], np.arange(m) % 2)
        assert model.calibration_ is None or model.calibration_.doubt < 0.8


def test_wide_rows_are_held_back_in_part_and_learned_from(monkeypatch):
    monkeypatch.setattr(_held_back, "MOST_CELLS", 5 * 40)
    X, y = table(600)
    folds = list(_held_back.folds_of(prepare(DeepBoostClassifier(), X, y), 0, 1))
    assert [len(fold.held_back.class_ids) for fold in folds] == pytest.approx([40, 40, 40], abs=2)
    assert [fold.learned.n_rows for fold in folds] == pytest.approx([560, 560, 560], abs=2)


@EACH
def test_models_of_callbacks_have_none_of_an_earlier_fit(estimator):
    X, y = table(150)
    model = changed(estimator, n_rounds=5).fit(X, y)
    assert model.calibration_ is not None
    seen = []

    class Look:
        def on_round_end(self, context):
            seen.append(context.fitted_estimator.calibration_)

    model.fit(X, 1 - y, callbacks=[Look()])
    assert seen == [None] * 5


def test_a_fit_is_resumed_with_another_calibration(tmp_path):
    X, y = table(150)
    saved = tmp_path / "fit.ckpt"
    DeepBoostClassifier(4).fit(X, y, callbacks=[Checkpoint(saved)])
    assert DeepBoostClassifier(6, calibration=None).fit(X, y, resume_from=saved).calibration_ is None


@EACH
def test_what_is_refused(estimator):
    X, y = table(50)
    for wrong in ("temperature", 1, True):
        with pytest.raises(ValueError, match=r"calibration must be 'auto', 'right_labels' or None; got"):
            changed(estimator, calibration=wrong).fit(X, y)


def changed(estimator, **changes):
    return type(estimator)(**{**estimator.get_params(deep=False), **changes})
