"""Fitted models: copies, files, stages, histories, probabilities, importances, early stopping, empty models."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from properties.cases import Case, essence, one_of_each, over, scores
from radboost import EarlyStopping, load

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@over()
def test_clones_and_parameters(case: Case) -> None:
    X, y = case.data(1)
    model = case.make().fit(X, y)
    copied = clone(model)
    assert repr(copied) == repr(case.make())
    assert not hasattr(copied, "ensemble_")
    given = model.get_params(deep=False)
    assert type(model)(**given).get_params(deep=False).keys() == given.keys()
    again = case.ready(type(model)())
    assert again.set_params(**given) is again
    assert essence(again.fit(X, y), X) == essence(copied.fit(X, y), X) == essence(model, X)
    with pytest.raises(ValueError, match="no_such_parameter"):
        model.set_params(no_such_parameter=1)


@over()
def test_copies_score_bit_for_bit(case: Case, tmp_path: Path) -> None:
    X, y = case.data(2, missing=0.1)
    model = case.make().fit(X, y)
    expected = essence(model, X)
    joblib.dump(model, tmp_path / "model.joblib")
    for copied in (
        pickle.loads(pickle.dumps(model)),
        pickle.loads(pickle.dumps(model, protocol=2)),
        copy.deepcopy(model),
        copy.copy(model),
        joblib.load(tmp_path / "model.joblib"),
    ):
        assert essence(copied, X) == expected
        assert repr(copied.ensemble_) == repr(model.ensemble_)


@over()
def test_saved_and_loaded(case: Case, tmp_path: Path) -> None:
    X, y = case.data(3, missing=0.1)
    names = np.array([f"class {k:02}" for k in range(26)])
    labels = names[np.unique(y, return_inverse=True)[1]] if case.takes_names else y
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    model = case.make().fit(frame, labels)
    model.save(tmp_path / "model.radboost")
    loaded = load(tmp_path / "model.radboost")
    assert type(loaded) is type(model)
    assert essence(loaded, frame) == essence(model, frame)
    assert repr(loaded.ensemble_) == repr(model.ensemble_)
    assert list(loaded.feature_names_in_) == list(model.feature_names_in_)
    assert loaded.n_features_in_ == model.n_features_in_
    assert repr(loaded.get_params()) == repr(model.get_params())
    if case.boosted:
        np.testing.assert_array_equal(list(loaded.staged_predict(frame)), list(model.staged_predict(frame)))
    loaded.save(tmp_path / "again.radboost")
    assert (tmp_path / "again.radboost").read_bytes() == (tmp_path / "model.radboost").read_bytes()
    assert essence(case.ready(loaded).fit(frame, labels), frame) == essence(model, frame)


@over(lambda case: case.boosted)
def test_stages_end_with_the_model(case: Case) -> None:
    X, y = case.data(4, missing=0.1)
    model = case.make().fit(X, y)
    staged = list(model.staged_predict(X))
    assert len(staged) == model.n_iter_
    np.testing.assert_array_equal(staged[-1], model.predict(X))
    if not case.classifies:
        return
    for method in ("decision_function", "predict_proba"):
        stages = list(getattr(model, f"staged_{method}")(X))
        assert len(stages) == model.n_iter_
        if case.splits:
            np.testing.assert_array_equal(stages[-1], getattr(model, method)(X))
        else:  # kernels are added step by step, and at once
            np.testing.assert_allclose(stages[-1], getattr(model, method)(X), rtol=1e-12, atol=1e-14)
    if not case.held_back:
        errors = [np.mean(labels != y) for labels in staged]
        if "DeepBoost" in case.name or case.sourced:  # a tie is an error there
            assert np.all(np.array(model.history_["train_error"]) >= np.array(errors) - 1e-12)
        else:
            np.testing.assert_allclose(model.history_["train_error"], errors)


@over()
def test_histories(case: Case) -> None:
    X, y = case.data(5, missing=0.05)
    model = case.make().fit(X, y)
    lengths = {name: len(column) for name, column in model.history_.items()}
    # A sparse model whose start is optimal has no step to report; scikit-learn wants n_iter_ to be 1 then.
    assert len(set(lengths.values())) == 1
    assert max(1, *lengths.values()) >= model.n_iter_
    assert case.held_back or "max" in case.name or max(1, *lengths.values()) == model.n_iter_
    assert all(isinstance(value, float | int) for column in model.history_.values() for value in column)
    assert all(np.all(np.isfinite(column)) for column in model.history_.values())
    assert isinstance(model.stop_reason_, str)
    if case.boosted:
        assert 0 <= model.n_skipped_rounds_ <= model.n_iter_
        if case.held_back:
            assert any(name.startswith("validation_") for name in lengths)


@over(lambda case: case.descends)
def test_the_objective_falls(case: Case) -> None:
    X, y = case.data(6, m=120, missing=0.05)
    for weights in (None, np.random.default_rng(0).random(120) + 0.5):
        objective = np.array(case.make().fit(X, y, weights).history_["objective"])
        assert np.all(np.diff(objective) <= 1e-12 * np.abs(objective[:-1]))
        assert objective[-1] <= objective[0]


@over(lambda case: case.takes_names)
def test_probabilities(case: Case) -> None:
    X, y = case.data(7, missing=0.05)
    model = case.make().fit(X, y)
    found, own = model.predict_proba(X), model.decision_function(X)
    assert found.shape == (len(X), len(model.classes_))
    assert np.all((found >= 0) & (found <= 1))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(found), rtol=1e-12)
    if case.n_classes == 2:
        assert own.shape == (len(X),)
        order = np.argsort(own, kind="stable")
        assert np.all(np.diff(found[order, 1]) >= -1e-12)
        np.testing.assert_array_equal((found[:, 1] > 0.5)[own != 0], (own > 0)[own != 0])
        np.testing.assert_array_equal(model.predict(X), model.classes_[(own > 0).astype(int)])
    else:
        assert own.shape == found.shape
        np.testing.assert_array_equal(model.predict(X), model.classes_[own.argmax(axis=1)])
        best = np.take_along_axis(found, own.argmax(axis=1)[:, None], axis=1)[:, 0]
        assert np.all(best >= found.max(axis=1) - 1e-9)


@one_of_each(lambda case: not case.tasks)
def test_scores_take_weights(case: Case) -> None:
    X, y = case.data(8)
    model = case.make().fit(X, y)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), w)
    assert model.score(X, y, sample_weight=w) == pytest.approx(model.score(X[repeated], y[repeated]))


@over(lambda case: case.importances)
def test_importances_are_shares_of_the_used_columns(case: Case) -> None:
    X, y = case.data(9, m=200)
    model = case.make().fit(X, y)
    found = model.feature_importances_
    assert found.shape == (X.shape[1],)
    assert np.all(found >= 0)
    if case.boosted and case.splits:
        assert found.sum() == pytest.approx(1.0)
    if case.splits or case.sums_of_floats:
        assert found[-1] < found[:4].sum()


@over(lambda case: "kernel" not in case.name and case.importances)
def test_importances_point_at_the_column_that_tells_the_label(case: Case) -> None:
    rng = np.random.default_rng(14)
    X = rng.normal(size=(260, 5))
    y: Any = np.digitize(X[:, 2], np.quantile(X[:, 2], np.arange(1, max(2, case.n_classes)) / max(2, case.n_classes)))
    if case.tasks:
        y = np.column_stack([y, 1 - y])
    model = case.make().fit(X, y if case.classifies else y + 1.0)
    assert np.argmax(model.feature_importances_) == 2


SILENT = ("MartiBoost", "RGB", "AdaBoostMHClassifier, 4", "AdaBoostMHClassifier, watched, 4")


@one_of_each(lambda case: case.boosted and not any(part in case.name for part in SILENT))
def test_models_that_learn_nothing_say_so(case: Case) -> None:
    """Gradient boosting has its constant then, a branching program its coin, one class of four a tree that says no."""
    X = np.zeros((12 * max(2, case.n_classes), 2))
    y = np.arange(len(X)) % max(2, case.n_classes)
    more = {"l1_penalty": 1e6} if "DeepBoost" in case.name else {}
    with pytest.warns(UserWarning, match=r"The model is empty|predicts the same everywhere"):
        model = case.make(**more).fit(X, y)
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert np.all(model.predict_proba(X) == model.predict_proba(X)[0])
    assert len(set(model.predict(X))) == 1
    assert np.all(np.isfinite(model.feature_importances_))
    assert np.all(model.feature_importances_ == 0)


@one_of_each(lambda case: case.sums_of_floats and case.importances and "alpha" in case.make().get_params())
def test_prices_too_high_leave_an_empty_model(case: Case) -> None:
    X, y = case.data(10)
    with pytest.warns(UserWarning, match=r"empty.*alpha_max"):
        model = case.make(alpha=1e6).fit(X, y)
    assert model.n_features_used_ == 0
    assert np.all(scores(model, X) == scores(model, X)[0])
    assert np.all(model.feature_importances_ == 0)


@one_of_each()
@pytest.mark.filterwarnings("ignore")
def test_a_row_of_each_class_fits(case: Case) -> None:
    n = max(2, case.n_classes)
    X = np.arange(float(n))[:, None]
    y: Any = np.arange(n)
    if case.tasks:
        y = np.column_stack([y, y[::-1]])
    if case.folds:
        with pytest.raises(ValueError, match=r"(?i)fold|splits|members"):
            case.make().fit(X, y)
        return
    model = case.make(**({"rank": None} if "rank" in case.make().get_params() else {})).fit(X, y)
    assert np.all(np.isfinite(scores(model, X)))


@one_of_each(lambda case: case.takes_names)
def test_refits_with_other_numbers_of_classes(case: Case) -> None:
    model = case.make()
    numbers = (2, 2) if "MartiBoost" in case.name else (3, 2, 5, 3)
    for k, n_classes in enumerate(numbers):
        rng = np.random.default_rng(k)
        y = np.repeat(np.arange(n_classes), 20)
        X = np.column_stack([y + 0.3 * rng.normal(size=len(y)), rng.normal(size=(len(y), 1 + k))])
        model.fit(X, y)
        assert model.predict_proba(X).shape == (len(y), n_classes)
        assert essence(model, X) == essence(case.make().fit(X, y), X)


@one_of_each(lambda case: case.stops_early)
def test_early_stopping_keeps_the_best_round(case: Case) -> None:
    X, y = case.data(11, m=300)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, rng.permutation(y), y)  # noise to overfit to
    fast = {
        "RGB": {"learning_rate": 1.0},
        "DeepBoost": {"learning_rate": 1.0, "complexity_penalty": 0.0},
        "Softmax": {"learning_rate": 8.0},
    }.get(case.name.split()[0], {})
    model = case.make(n_rounds=300, early_stopping=EarlyStopping(6, 0.3), **fast).fit(X, y)
    watched = model.history_["validation_loss"]
    assert "early stopping" in model.stop_reason_
    assert model.n_iter_ == len(watched) - 6 < 294  # the rounds after the best one are told too
    assert np.argmin(watched) == model.n_iter_ - 1
    assert (model.best_iteration_, model.best_score_) == (model.n_iter_, min(watched))
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert 0.5 * 300 < model.ensemble_.sample_size < 0.9 * 300
    patient = case.make(n_rounds=3, early_stopping=np.True_).fit(X, y)
    assert len(patient.history_["objective"]) == 3 >= patient.n_iter_


@one_of_each(lambda case: case.validates)
def test_validation_rows_of_the_user(case: Case) -> None:
    X, y = case.data(12, m=300)
    learn, watch = slice(0, 200), slice(200, 300)
    model = case.make().fit(X[learn], y[learn], X_val=X[watch], y_val=y[watch])
    assert (
        essence(model, X)["decision_function" if case.classifies else "predict"]
        == essence(case.make().fit(X[learn], y[learn]), X)["decision_function" if case.classifies else "predict"]
    )
    assert model.ensemble_.sample_size == 200
    assert len(model.history_["validation_loss"]) == model.n_iter_
    assert model.best_score_ == min(model.history_["validation_loss"])
    w = np.random.default_rng(0).integers(1, 4, 100)
    repeated = 200 + np.repeat(np.arange(100), w)
    weighted = case.make().fit(X[learn], y[learn], X_val=X[watch], y_val=y[watch], sample_weight_val=w)
    written_out = case.make().fit(X[learn], y[learn], X_val=X[repeated], y_val=y[repeated])
    assert weighted.history_ == written_out.history_
    if case.classifies:
        for labels, error in zip(model.staged_predict(X[watch]), model.history_["validation_error"], strict=True):
            assert error >= np.mean(labels != y[watch]) - 1e-12
        part = y[watch] != y[watch][0]  # a class may be absent there
        case.make().fit(X[learn], y[learn], X_val=X[watch][part], y_val=y[watch][part])


@one_of_each()
def test_verbose_shows_progress(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = case.data(14)
    case.make().fit(X, y)
    silent = capsys.readouterr()
    assert silent.out == silent.err == ""
    case.make(verbose=1).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out + shown.err != ""
