"""Boosting over several sources: Q, what is refused, validation rows, checkpoints, files, pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import radboost
from radboost import (
    Checkpoint,
    DeepBoostClassifier,
    Mixtures,
    ModelFileError,
    MultiSourceBoostClassifier,
    Trees,
    WeightedL1,
    load,
)
from radboost.metrics import agnostic_error
from reference import multi_source as naive
from reference.data import smooth
from reference.multi_source import NAMES, rows

# --- Q


def test_q_is_a_logistic_regression() -> None:
    X, y, s = rows(11, m=500)
    model = MultiSourceBoostClassifier(2).fit(X, y, sources=s)
    q = model.source_probabilities(X)
    peer = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=1000)).fit(X, s)
    np.testing.assert_allclose(q, peer.predict_proba(X), atol=1e-3)
    assert np.all(q * 2**16 == np.rint(q * 2**16))
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-4)


def test_categories_and_missing_values_reach_q() -> None:
    pd = pytest.importorskip("pandas")
    X, y, s = rows(12, m=400)
    frame = pd.DataFrame(X, columns=list("abcd")).drop(columns="c")
    frame["device"] = pd.Categorical(np.where(np.random.default_rng(0).random(400) < 0.1, "other", s))
    blind = MultiSourceBoostClassifier(3).fit(frame.drop(columns="device"), y, sources=s)
    model = MultiSourceBoostClassifier(3).fit(frame, y, sources=s)
    own = np.searchsorted(NAMES, s)
    assert model.source_probabilities(frame)[np.arange(400), own].mean() > 0.8
    assert blind.source_probabilities(frame.drop(columns="device"))[np.arange(400), own].mean() < 0.6
    lost = pd.DataFrame(X, columns=list("abcd"))
    lost.loc[s == "ward", "a"] = np.nan  # that a value is missing tells the source
    q = MultiSourceBoostClassifier(3).fit(lost[["a", "b"]], y, sources=s).source_probabilities(lost[["a", "b"]])
    assert q[s == "ward", 2].mean() > 0.9


def test_unlabelled_rows_make_q_better() -> None:
    X, y, s = rows(13, m=60)
    more, _, of_more = rows(14, m=3000)
    few = MultiSourceBoostClassifier(2).fit(X, y, sources=s)
    many = MultiSourceBoostClassifier(2).fit(X, y, sources=s, X_unlabelled=more, sources_unlabelled=of_more)
    test, _, of_test = rows(15, m=2000)
    own = np.searchsorted(NAMES, of_test)
    likely = [np.log(m.source_probabilities(test)[np.arange(2000), own] + 1e-9).mean() for m in (few, many)]
    assert likely[1] > likely[0]


def test_a_classifier_of_ones_own() -> None:
    X, y, s = rows(16)
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = MultiSourceBoostClassifier(10, domain_classifier=fitted).fit(X, y, sources=s)
    assert not hasattr(fitted, "tree_")
    known = clone(fitted).fit(X, s)
    np.testing.assert_allclose(model.source_probabilities(X), known.predict_proba(X), atol=2**-16)
    frozen = MultiSourceBoostClassifier(10, domain_classifier=FrozenEstimator(known)).fit(X, y, sources=s)
    np.testing.assert_array_equal(frozen.decision_function(X), model.decision_function(X))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    MultiSourceBoostClassifier(3, domain_classifier=fitted).fit(
        frame, y, sources=s, X_unlabelled=frame, sources_unlabelled=s
    ).predict(frame)


class _Useless(ClassifierMixin, BaseEstimator):
    """Says the same of every row; or what it must not say."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Any:
        if self.answer == "crash":
            raise RuntimeError("no memory")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        p = np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))
        if self.answer == "crash later":
            raise RuntimeError("gone")
        return {"twice": 2.0 * p, "nan": p * np.nan, "shape": p[:, :1], "negative": p - 1.0}.get(self.answer, p)


def test_a_useless_classifier_still_gives_a_model() -> None:
    X, y, s = rows(17)
    model = MultiSourceBoostClassifier(20, domain_classifier=_Useless()).fit(X, y, sources=s)
    assert np.all(np.diff(model.history_["objective"]) <= 0)
    assert model.predict(X).shape == (300,)


# --- what is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"source_objective": "mean"}, "source_objective must be one of 'max', 'softmax', 'sum'"),
        ({"mu": 0.0}, "mu"),
        ({"domain_classifier": "tree"}, "domain_classifier must be a classifier"),
        ({"domain_classifier": _Useless("crash")}, "could not be fitted to tell the sources apart: no memory"),
        ({"domain_classifier": _Useless("crash later")}, "failed to predict the sources: gone"),
        ({"domain_classifier": _Useless("twice")}, "sum of 1 in each row; the sums go from 2"),
        ({"domain_classifier": _Useless("nan")}, "must return probabilities"),
        ({"domain_classifier": _Useless("negative")}, "must return probabilities"),
        ({"domain_classifier": _Useless("shape")}, "a column for each of them"),
        ({"mixtures": [[0.5, 0.6, 0.1]]}, r"line 0 is \[0.5, 0.6, 0.1\], with the sum 1.2"),
        ({"mixtures": [[1.5, -0.5, 0.0]]}, "not negative"),
        ({"mixtures": [[0.5, 0.5]]}, "2 columns, and there are 3 sources"),
        ({"mixtures": "all"}, "table of numbers"),
        ({"mixtures": Mixtures(penalty=-1.0)}, "penalty of Mixtures"),
        ({"step": "best"}, "'decay'"),
        ({"complexity_penalty": WeightedL1(-1.0)}, "complexity_penalty of WeightedL1"),
        ({"family": Trees(max_depth=0)}, "max_depth of Trees"),
    ],
    ids=str,
)
def test_parameters_refused(parameters: Any, message: str) -> None:
    X, y, s = rows(19, m=60)
    error = TypeError if parameters.get("domain_classifier") == "tree" else ValueError
    with pytest.raises(error, match=message):
        MultiSourceBoostClassifier(3, **parameters).fit(X, y, sources=s)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda X, s: {"sources": s[:9]}, r"sources has the shape \(9,\), and there are 60 rows"),
        (lambda X, s: {"sources": np.where(s == "ward", None, s)}, "sources is missing in"),
        (lambda X, s: {"sources": np.where(s == "ward", np.nan, 1.0)}, "sources is missing in"),
        (lambda X, s: {"sources": np.array([1, *s[1:]], dtype=object)}, "sources holds labels of different types"),
        (lambda X, s: {"sources": np.where(s == "ward", 1j, 2.0)}, "sources holds complex128"),
        (lambda X, s: {"sources": np.full(60, np.datetime64("2020-01-01"))}, "sources holds datetime64"),
        (lambda X, s: {"sources": np.column_stack([s, s])}, r"sources has the shape \(60, 2\)"),
        (
            lambda X, s: {"sources": s, "X_unlabelled": X, "sources_unlabelled": np.full(60, "moon")},
            "sources_unlabelled holds the source 'moon', which is not one of the sources",
        ),
        (lambda X, s: {"sources": s, "X_unlabelled": X}, "X_unlabelled and sources_unlabelled belong together"),
        (lambda X, s: {"sources": s, "X_unlabelled": X[:, :2], "sources_unlabelled": s}, "features"),
        (lambda X, s: {"sources": s, "X_val": X, "y_val": np.zeros(60)}, "X_val was given without sources_val"),
        (lambda X, s: {"sources": s, "sources_val": s}, "sources_val was given without X_val"),
        (
            lambda X, s: {"sources": s, "X_val": X, "y_val": np.zeros(60), "sources_val": np.full(60, 3)},
            "sources_val holds the source",
        ),
        (lambda X, s: {"X_unlabelled": X, "sources_unlabelled": s}, "go with sources"),
    ],
)
def test_sources_refused(arguments: Any, message: str) -> None:
    X, y, s = rows(20, m=60)
    model = MultiSourceBoostClassifier(3)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **arguments(X, s))
    assert not hasattr(model, "ensemble_")


def test_sources_of_one_class_or_one_row() -> None:
    X, y, s = rows(21, m=200)
    one_class = np.where((y == 1) & (np.arange(200) < 100), "sick only", s)
    one_row = np.where(np.arange(200) == 5, "a lone row", s)
    for sources in (one_class, one_row):
        model = MultiSourceBoostClassifier(15).fit(X, y, sources=sources)
        assert np.all(np.diff(model.history_["objective"]) <= 0)
        assert np.isfinite(model.predict_proba(X)).all()
        MultiSourceBoostClassifier(5, early_stopping=3).fit(X, y, sources=sources)
    with pytest.warns(UserWarning, match="only one class"):
        same = MultiSourceBoostClassifier(2).fit(X, np.zeros(200), sources=s)
    np.testing.assert_allclose(same.source_probabilities(X).sum(axis=1), 1.0, atol=1e-4)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_columns_of_any_size_tell_sources_apart(unit: float) -> None:
    X, y, s = rows(31)
    plain = MultiSourceBoostClassifier(5).fit(X, y, sources=s).source_probabilities(X)
    found = MultiSourceBoostClassifier(5).fit(X * unit, y, sources=s).source_probabilities(X * unit)
    np.testing.assert_allclose(found, plain, atol=2e-3)


def test_a_penalty_of_almost_nothing_is_none() -> None:
    X, y, s = rows(32)
    none, little = (
        MultiSourceBoostClassifier(5, mixtures=Mixtures(penalty=p)).fit(X, y, sources=s) for p in (0.0, 1e-300)
    )
    np.testing.assert_array_equal(none.decision_function(X), little.decision_function(X))


def test_objective_max_is_for_one_source() -> None:
    X, y, s = rows(22, n_classes=3)
    with pytest.raises(ValueError, match='objective="max" has kinks'):
        MultiSourceBoostClassifier(3, objective="max").fit(X, y, sources=s)
    with pytest.warns(UserWarning, match=r"taken as those of one source.*fit\(X, y, sources=\.\.\.\)"):
        MultiSourceBoostClassifier(3, objective="max").fit(X, y)
    for objective in ("sum", "compsum", "maxsum"):
        model = MultiSourceBoostClassifier(10, objective=objective).fit(X, y, sources=s)
        assert np.all(np.diff(model.history_["objective"]) <= 0)


# --- watching, going on, files, scikit-learn


@pytest.mark.parametrize("n_classes", [2, 3])
def test_early_stopping_on_the_agnostic_loss(n_classes: int) -> None:
    X, y, s = rows(23, m=500, n_classes=n_classes)
    part, rest = slice(0, 300), slice(300, 500)
    given = {"X_val": X[rest], "y_val": y[rest], "sources_val": s[rest]}
    model = MultiSourceBoostClassifier(200, learning_rate=1.0, early_stopping=6, complexity_penalty=0.0)
    model.fit(X[part], y[part], sources=s[part], **given)
    watched = model.history_["validation_loss"]
    assert "early stopping" in model.stop_reason_
    assert model.n_iter_ == 1 + int(np.argmin(watched)) == model.best_iteration_
    if n_classes == 2:
        f = model.decision_function(X[rest])
        F = naive.losses(f, 2.0 * y[rest] - 1.0, np.searchsorted(NAMES, s[rest]), 3, "logistic")
        assert model.best_score_ == pytest.approx(F.max())
    predicted = model.predict(X[rest])
    error = agnostic_error(y[rest], predicted, s[rest])
    assert model.history_["validation_error"][model.n_iter_ - 1] == pytest.approx(error)
    held = MultiSourceBoostClassifier(200, learning_rate=1.0, early_stopping=6).fit(X, y, sources=s)
    assert "validation_loss" in held.history_
    assert held.ensemble_.sample_size < 500


def test_a_checkpoint_of_other_sources_is_refused(tmp_path: Path) -> None:
    X, y, s = rows(24)
    path = tmp_path / "fit.radb"
    MultiSourceBoostClassifier(4).fit(X, y, sources=s, callbacks=[Checkpoint(path)])
    with pytest.raises(ValueError, match="sources"):
        MultiSourceBoostClassifier(4).fit(X, y, sources=np.roll(s, 1), resume_from=path)


def test_another_q_must_be_given_again(tmp_path: Path) -> None:
    X, y, s = rows(26)
    own = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, s)
    model = MultiSourceBoostClassifier(8, domain_classifier=FrozenEstimator(own)).fit(X, y, sources=s)
    model.save(tmp_path / "m")
    bare = load(tmp_path / "m")
    with pytest.raises(ModelFileError, match="domain_classifier"):
        bare.predict(X)
    given = load(tmp_path / "m", domain_classifier=own)
    np.testing.assert_array_equal(given.decision_function(X), model.decision_function(X))
    MultiSourceBoostClassifier(4).fit(X, y, sources=s).save(tmp_path / "ours")
    with pytest.raises(ValueError, match="has a domain classifier of its own"):
        load(tmp_path / "ours", domain_classifier=own)
    DeepBoostClassifier(4).fit(X, y).save(tmp_path / "deep")
    with pytest.raises(ValueError, match="DeepBoostClassifier, which takes no domain_classifier"):
        load(tmp_path / "deep", domain_classifier=own)


def test_decaying_steps() -> None:
    X, y, s = rows(27)
    model = MultiSourceBoostClassifier(16, step="decay", learning_rate=0.4).fit(X, y, sources=s)
    etas = np.abs(model.ensemble_.steps["eta"])
    np.testing.assert_allclose(etas, 0.4 / np.sqrt(np.arange(1, 17)), atol=2**-20)
    assert model.history_["objective"][-1] < model.history_["objective"][0]


def test_the_agnostic_error() -> None:
    y, p = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 0, 0])
    s = np.array(["a", "a", "a", "b", "b"])
    assert agnostic_error(y, p, s) == 1.0
    assert agnostic_error(y, p, s, mixtures=[[0.5, 0.5]]) == pytest.approx(0.5 * (1 / 3 + 1.0))
    assert agnostic_error(y, p, s, sample_weight=[1, 2, 1, 1, 0]) == 1.0
    with pytest.raises(ValueError, match="sources"):
        agnostic_error(y, p, s[:2])


def test_no_bound_of_one_distribution() -> None:
    X, y, s = rows(29)
    model = MultiSourceBoostClassifier(5).fit(X, y, sources=s)
    for ask in (radboost.guarantees.bound, radboost.guarantees.margins):
        with pytest.raises(TypeError, match="learned from 3 sources"):
            ask(model, X, y)
    radboost.guarantees.bound(MultiSourceBoostClassifier(5).fit(X, y), X, y)


def test_a_picture_of_q() -> None:
    pytest.importorskip("matplotlib")
    X, y, s = rows(30)
    X[::9, 3] = np.nan
    model = MultiSourceBoostClassifier(3).fit(X, y, sources=s)
    ax = radboost.plot.sources(model, X, s)
    assert [line.get_label() for line in ax.get_lines()] == NAMES.tolist()
    q = model.source_probabilities(X)
    for k, line in enumerate(ax.get_lines()):
        heights = np.asarray(line.get_ydata(), dtype=float)
        assert q[s == NAMES[k], k].min() <= heights.min() <= q[s == NAMES[k], k].mean() <= heights.max()
    loose = MultiSourceBoostClassifier(3).fit(sparse.csr_array(np.nan_to_num(X)), y, sources=s)
    radboost.plot.sources(loose, sparse.csr_array(np.nan_to_num(X)), s)
    with pytest.raises(TypeError, match="MultiSourceBoostClassifier"):
        radboost.plot.sources(DeepBoostClassifier(2).fit(X, y), X, s)


def test_columns_of_denormal_numbers() -> None:
    X, y = smooth(0, m=60, d=3)
    X[:, 2] *= 1e-310
    model = MultiSourceBoostClassifier(4).fit(X, y, sources=np.arange(60) % 2)
    assert np.isfinite(model.source_probabilities(X)).all()
    assert model.score(X, y) > 0.7
