"""SparseBoostClassifier, SparseBoostRegressor and MultiTaskSparseBoostClassifier on given columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

import radboost
from radboost import (
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
)
from radboost.losses import MultinomialScores
from reference import sparsity as naive
from turns import in_turns


def rows(seed: int = 0, m: int = 150, n: int = 12, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n)) * (rng.random(size=(m, n)) < 0.6)
    W = rng.normal(size=(n, k)) * 2.0
    W[4:] = 0.0
    return X, (X @ W + rng.gumbel(size=(m, k))).argmax(axis=1)


def tasks(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = rows(seed)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    Y[::7, 1] = np.nan
    return X, Y


def cases() -> list[tuple[Any, np.ndarray, Any]]:
    X, y = rows()
    return [
        (SparseBoostClassifier(0.02), X, y > 0),
        (SparseBoostClassifier(0.02, loss="exponential"), X, y > 0),
        (SparseBoostClassifier(0.1, penalty="l1/linf"), X, y),
        (SparseBoostRegressor(0.01), X, X[:, 0] - 2.0 * X[:, 1]),
        (MultiTaskSparseBoostClassifier(0.02), *tasks()),
    ]


EVERY = pytest.mark.parametrize("case", range(5))


@EVERY
def test_certificates(case: int) -> None:
    model, X, y = cases()[case]
    model.fit(X, y)
    assert model.stop_reason_ == "optimal"
    assert model.optimality_gap_ <= model.tol
    assert 0.0 <= model.duality_gap_ < 1e-4
    assert np.all(np.diff(model.history_["objective"]) <= 1e-13)
    assert model.history_["n_features"][-1] == model.n_features_used_ == len(model.ensemble_)
    assert 0 < model.n_features_used_ < 12


def test_shapes() -> None:
    two, exponential, three, number, several = (model.fit(X, y) for model, X, y in cases())
    X, _ = rows()
    assert two.coef_.shape == exponential.coef_.shape == (1, 12)
    assert two.intercept_.shape == (1,)
    assert two.decision_function(X).shape == (150,)
    assert three.coef_.shape == (3, 12)
    assert three.predict_proba(X).shape == (150, 3)
    assert number.coef_.shape == (12,)
    assert isinstance(number.intercept_, float)
    assert several.coef_.shape == (3, 12)
    assert several.predict(X).shape == several.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(number.predict(X), X @ number.coef_ + number.intercept_)


@pytest.mark.parametrize(("k", "penalty"), [(2, "l1"), (3, "l1"), (2, "l2")])
def test_against_scikit_learn(k: int, penalty: str) -> None:
    """C of scikit-learn is one over alpha times the number of rows; its columns are not scaled."""
    X, y = rows(3, k=k)
    settings = {"l1_ratio": float(penalty == "l1"), "solver": "saga", "tol": 1e-9, "max_iter": 100_000}
    other = LogisticRegression(C=1.0 / (0.02 * len(X)), **settings).fit(X, y)
    model = SparseBoostClassifier(0.02, penalty=penalty, standardize=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-5)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=2e-5)


def test_multinomial_intercepts_sum_to_zero_whatever_the_update() -> None:
    X, y = rows(4)
    fast = SparseBoostClassifier(0.02, tol=1e-8).fit(X, y)
    plain = SparseBoostClassifier(0.02, update="gradboost", tol=1e-8, n_rounds=20000).fit(X, y)
    np.testing.assert_allclose(plain.coef_, fast.coef_, atol=1e-5)
    np.testing.assert_allclose(plain.predict_proba(X), fast.predict_proba(X), atol=1e-5)


def test_whole_rows_enter_and_leave() -> None:
    X, y = rows(5)
    for penalty in ("l1/l2", "l1/linf"):
        used = SparseBoostClassifier(0.05, penalty=penalty).fit(X, y).coef_ != 0.0
        assert np.array_equal(used.any(axis=0), used.all(axis=0))
        assert not used.any(axis=0).all()
    single = SparseBoostClassifier(0.05, penalty="l1").fit(X, y).coef_ != 0.0
    assert not np.array_equal(single.any(axis=0), single.all(axis=0))
    assert SparseBoostClassifier(0.05, penalty="l2").fit(X, y).coef_.all()


@in_turns("standardize, update", [True, False], ["newton", "gradboost"], one_in=2)
def test_smooth_l1(standardize: bool, update: str, tmp_path: Path) -> None:
    """The optimum of a general solver, for columns as they are too: the penalty is no power of the weights."""
    X, y = rows(12)
    X = X[:, :5] * np.array([0.3, 1.0, 4.0, 1.0, 2.0])
    settings = {"penalty": "smooth_l1", "standardize": standardize, "update": update}
    model = SparseBoostClassifier(0.05, **settings, tol=1e-8, n_rounds=20000).fit(X, y)
    scale = X.std(axis=0) if standardize else np.ones(5)
    loss = MultinomialScores(y.astype(np.uint16), 3)
    best = naive.optimum(
        lambda scores: float(loss.value(scores).mean()),
        X / scale,
        3,
        "smooth_l1",
        0.05,
        lambda scores: loss.gradient(scores) / len(y),
    )
    objective = loss.value(model.decision_function(X).T).mean() + 0.05 * naive.PENALTIES["smooth_l1"](
        model.coef_.T * scale[:, None]
    )
    assert objective == pytest.approx(best, abs=1e-7)
    assert model.history_["objective"][-1] == pytest.approx(best, abs=1e-7)
    assert 0.0 <= model.duality_gap_ <= 1e-6
    assert model.coef_.all()
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(radboost.load(tmp_path / "model").coef_, model.coef_)
    with pytest.raises(ValueError, match="leaves no feature out"):
        model.alpha_max(X, y)
    with pytest.raises(ValueError, match="adaboost"):
        model.set_params(update="adaboost").fit(X, y)


def test_smooth_l1_of_induced_features() -> None:
    X, y = rows(13)
    for standardize in (True, False):
        settings = {"penalty": "smooth_l1", "family": "products", "features_per_round": 1}
        model = SparseBoostClassifier(0.05, **settings, standardize=standardize, n_rounds=8)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        assert model.n_features_used_ == 8
        assert np.all(np.diff(model.history_["objective"]) <= 1e-12)


def test_alpha_max_and_the_empty_model() -> None:
    X, y = rows(6)
    largest = SparseBoostClassifier().alpha_max(X, y)
    with pytest.warns(UserWarning, match=r"empty.*alpha_max"):
        empty = SparseBoostClassifier(largest * 1.001).fit(X, y)
    assert empty.n_features_used_ == 0
    assert not empty.coef_.any()
    np.testing.assert_allclose(empty.predict_proba(X)[0], np.bincount(y) / len(y), atol=1e-5)
    assert SparseBoostClassifier(largest * 0.99).fit(X, y).n_features_used_ == 1
    with pytest.raises(ValueError, match="leaves no feature out"):
        SparseBoostClassifier(penalty="l2").alpha_max(X, y)


def test_path() -> None:
    X, y = rows(7)
    model = SparseBoostClassifier(tol=1e-8)
    alphas, coefs, intercepts = model.path(X, y, n_alphas=6)
    assert alphas[0] == pytest.approx(model.alpha_max(X, y))
    assert alphas[-1] == pytest.approx(alphas[0] / 100)
    assert coefs.shape == (6, 3, 12)
    assert intercepts.shape == (6, 3)
    assert not coefs[0].any()
    for alpha, coef in zip(alphas[1:], coefs[1:], strict=True):
        np.testing.assert_allclose(coef, SparseBoostClassifier(alpha, tol=1e-8).fit(X, y).coef_, atol=1e-5)
    given, _, _ = model.path(X, y, alphas=[0.01, 0.1])
    np.testing.assert_array_equal(given, [0.1, 0.01])


@pytest.mark.parametrize("case", ["two", "three", "number", "tasks"])
def test_alpha_by_cross_validation(case: str) -> None:
    X, y = rows(8)
    model, target = {
        "two": (SparseBoostClassifierCV(n_alphas=8, cv=3), np.where(y > 0, "b", "a")),
        "three": (SparseBoostClassifierCV(n_alphas=8, cv=3), y),
        "number": (SparseBoostRegressorCV(n_alphas=8, cv=3), X[:, 0] * 3.0),
        "tasks": (MultiTaskSparseBoostClassifierCV(n_alphas=8, cv=3), tasks(8)[1]),
    }[case]
    model.fit(X, target)
    assert model.validation_losses_.shape == (8, 3)
    best = model.validation_losses_.mean(axis=1).argmin()
    assert model.alpha_ == model.alphas_[best]
    assert best > 0
    plain = type(model).__mro__[2]
    again = plain(model.alpha_).fit(X, target)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    # The losses are those of models that never saw the rows left out.
    if case == "two":
        model = SparseBoostClassifierCV(n_alphas=8, cv=StratifiedKFold(3)).fit(X, target)
        best = model.validation_losses_.mean(axis=1).argmin()
        train, test = next(iter(StratifiedKFold(3).split(X, target)))
        fitted = SparseBoostClassifier(model.alpha_).fit(X[train], target[train])
        expected = log_loss(target[test], fitted.predict_proba(X[test]))
        assert model.validation_losses_[best, 0] == pytest.approx(expected, abs=1e-4)


def test_missing_labels_and_tasks() -> None:
    X, Y = tasks(9)
    together = MultiTaskSparseBoostClassifier(0.01).fit(X, Y)
    assert together.score(X, Y) > 0.8
    known = ~np.isnan(Y)
    assert together.score(X, Y) == pytest.approx((together.predict(X) == Y)[known].mean())
    # Tasks that share nothing are problems of their own, weighted by their share of known labels.
    alone = MultiTaskSparseBoostClassifier(0.01, penalty="l1", standardize=False, tol=1e-9).fit(X, Y)
    rest = known[:, 1]
    single = SparseBoostClassifier(0.01 / rest.mean(), penalty="l1", standardize=False, tol=1e-9)
    np.testing.assert_allclose(alone.coef_[1], single.fit(X[rest], Y[rest, 1]).coef_[0], atol=1e-5)
    words = np.where(Y == 1.0, "yes", "no").astype(object)
    words[np.isnan(Y)] = None
    named = MultiTaskSparseBoostClassifier(0.01).fit(X, words)
    np.testing.assert_array_equal(named.coef_, together.coef_)
    assert set(named.predict(X).ravel()) == {"yes", "no"}


def test_names_formula_and_selection() -> None:
    X, y = rows(10)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(12)])
    model = SparseBoostClassifier(0.05).fit(frame, np.where(y > 0, "b", "a"))
    text = repr(model.ensemble_)
    assert text.startswith("f(x) = ")
    used = np.flatnonzero(model.coef_[0])
    for j in range(12):
        assert (f"column {j}" in text.replace("column 10", "").replace("column 11", "")) == (j in used) or j >= 10
    np.testing.assert_array_equal(model.get_support(indices=True), used)
    np.testing.assert_array_equal(model.get_support(), model.coef_[0] != 0.0)
    chosen = SelectFromModel(SparseBoostClassifier(0.05)).fit(frame, y)
    assert 0 < chosen.get_support().sum() < 12
    assert make_pipeline(chosen, LogisticRegression()).fit(frame, y).score(frame, y) > 0.6
    assert "f(x, 2)" in repr(SparseBoostClassifier(0.05).fit(X, y).ensemble_)


def test_hard_columns() -> None:
    """Columns of zeros, copies, constants and huge ones."""
    X, y = rows(11)
    hard = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 5.0), X[:, 0], X[:, 1] * 1e12 + 3e12])
    for matrix in (hard, sparse.csr_array(hard)):
        for update in ("newton", "gradboost"):
            model = SparseBoostClassifier(0.02, update=update, n_rounds=20000, tol=1e-4).fit(matrix, y)
            assert model.stop_reason_ == "optimal"
            assert not model.coef_[:, 12:14].any()
            assert model.score(matrix, y) > 0.7
    unscaled = SparseBoostClassifier(0.02, standardize=False).fit(hard, y)
    assert unscaled.coef_[:, 15].any()  # the huge column is as good as free
    assert unscaled.optimality_gap_ <= 1e-6


def test_alpha_of_zero_and_many_classes() -> None:
    X, y = rows(12)
    free = SparseBoostClassifier(0.0, penalty="l1").fit(X, y)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10000).fit(X, y)
    np.testing.assert_allclose(free.predict_proba(X), other.predict_proba(X), atol=1e-3)
    rng = np.random.default_rng(13)
    many = rng.permutation(1000)
    wide = np.column_stack([many % 10, many // 10 % 10, many // 100]) + rng.normal(size=(1000, 3)) * 0.1
    model = SparseBoostClassifier(1e-4, n_rounds=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(wide, many)
    assert model.coef_.shape == (1000, 3)
    assert np.all(np.diff(model.history_["objective"]) < 0)
    one_task = MultiTaskSparseBoostClassifier(0.01).fit(X, (y > 0)[:, None])
    assert one_task.predict(X).shape == (150, 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l0"}, r"Unknown penalty 'l0'.*'l1/linf'"),
        ({"update": "sgd"}, r"update must be one of 'newton', 'adaboost', 'gradboost'; got 'sgd'"),
        ({"update": "adaboost", "penalty": "l1/l2"}, r"no closed form with penalty='l1/l2'.*gradboost"),
        ({"update": "gradboost", "loss": "exponential"}, r"exponential loss has none.*newton"),
        ({"alpha": -1.0}, r"alpha must lie in \[0, inf\)"),
        ({"alpha": np.nan}, r"alpha must lie in"),
        ({"template": 0}, r"template must be 'auto', 'one', 'all' or an integer of at least 1; got 0"),
        ({"template": "two"}, r"template must be 'auto', 'one', 'all' or an integer of at least 1; got 'two'"),
        ({"family": "forests"}, r"Unknown family 'forests'.*'products'"),
        ({"features_per_round": 0}, r"features_per_round must be None or an integer of at least 1; got 0"),
        ({"n_rounds": 0}, r"n_rounds must be 'auto' or an integer of at least 1; got 0"),
        ({"loss": "hinge"}, r"loss must be one of 'logistic', 'exponential'"),
        ({"fit_intercept": "False"}, "fit_intercept must be True or False; got 'False'"),
        ({"standardize": "no"}, "standardize must be True or False"),
        ({"totally_corrective": 1}, "totally_corrective must be True or False"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, y = rows(14)
    model = SparseBoostClassifier(**parameters)
    for refuse in (model.fit, model.path) if "update" in parameters else (model.fit,):
        with pytest.raises(ValueError, match=message):
            refuse(X, y > 0)


def test_bad_targets() -> None:
    X, y = rows(15)
    with pytest.raises(ValueError, match=r"exponential.*two classes.*3"):
        SparseBoostClassifier(loss="exponential").fit(X, y)
    with pytest.raises(ValueError, match=r"Column 1 of y holds 1 different labels.*Leave the task out"):
        MultiTaskSparseBoostClassifier().fit(X, np.column_stack([y > 0, np.ones(len(y))]))
    with pytest.raises(ValueError, match=r"Only binary classification.*make a task of each label"):
        MultiTaskSparseBoostClassifier().fit(X, np.column_stack([y > 0, y]))
    with pytest.raises(ValueError, match=r"path needs family"):
        SparseBoostClassifier(family="stumps").path(X, y)
    for alphas in ([-1.0], "auto"):
        with pytest.raises(ValueError, match=r"alphas must be finite numbers.*(-1|'auto')"):
            SparseBoostClassifier().path(X, y, alphas=alphas)
    with pytest.raises(ValueError, match=r"epsilon must be 'auto' or a number in \[0, inf\); got -1"):
        SparseBoostRegressor(epsilon=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
        SparseBoostClassifier().fit(X * 1e200, y)


@pytest.mark.parametrize("made", [np.array, sparse.csr_array, sparse.csc_array], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_squares_beyond_the_range_of_numbers_are_refused(made: Any, size: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, size, 1.0]
    y = X[:, 0] > 0
    with pytest.raises(ValueError, match=r"the first is column 1: values must lie between 1e-150 and 1e150"):
        SparseBoostClassifier().fit(made(X), y)


def test_tiny_and_zero_columns_that_do_not_vary_are_left_out() -> None:
    X = np.random.default_rng(1).normal(size=(40, 3))
    X[:, 1], X[:, 2] = 1e-200, 0.0
    model = SparseBoostClassifier(alpha=0.05).fit(X, X[:, 0] > 0)
    assert model.get_support(indices=True).tolist() == [0]
