"""Rows of one class: every classifier predicts it with probability 1, and says so in a warning."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import learning_curve

import radboost
from properties.cases import Case, one_of_each
from radboost import RGBClassifier, SoftmaxBoostClassifier
from radboost.export.parts import ExportError


@one_of_each(lambda case: case.takes_names and case.n_classes == 2 and "Marti" not in case.name)
def test_one_class_is_predicted_for_sure(case: Case, tmp_path: Path) -> None:
    X, y = case.data()
    labels = np.where(y > 0, "a", "b")  # and those of b have no weight
    with pytest.warns(UserWarning, match="y holds only one class, 'a'.*every prediction"):
        model = case.make().fit(X, labels, sample_weight=np.where(y > 0, 1.0, 0.0))
    model.save(tmp_path / "model.rad")
    for one in (model, radboost.load(tmp_path / "model.rad")):
        assert one.classes_.tolist() == ["a"]
        assert one.n_classes_ == 1
        assert one.predict(X).tolist() == ["a"] * len(X)
        np.testing.assert_array_equal(one.predict_proba(X), np.ones((len(X), 1)))
        assert one.score(X, ["a"] * len(X)) == 1.0
        assert one.decision_function(X).shape == (len(X),)
        assert one.n_iter_ >= 1
        if hasattr(one, "staged_predict"):
            assert [labels[0] for labels in one.staged_predict(X)][-1] == "a"
            assert list(one.staged_predict_proba(X))[-1].shape == (len(X), 1)
    for name in ("explain", "to_text", "apply", "predict_contributions"):
        if hasattr(model, name) and case.boosted:
            getattr(model, name)(*[X[:1]] * (name != "to_text"))
    with pytest.raises(ExportError, match=r"one class|domain classifier|no sum of trees"):
        model.to_c()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_learning_curves_begin_with_one_class() -> None:
    """The first rows of iris are of one class; the numbers are those of the share of each class in the folds."""
    _, _, scores = learning_curve(RGBClassifier(n_rounds=5), *load_iris(return_X_y=True), cv=5)
    np.testing.assert_allclose(scores.mean(axis=1)[:2], 1.0 / 3.0)
    assert scores.mean(axis=1)[-1] > 0.9


def test_loss_of_two_classes_where_one_is_left(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="only one class"):
        model = RGBClassifier(5, loss="exponential", class_weight={0: 1, 1: 5}).fit(np.ones((9, 2)), np.ones(9))
    model.save(tmp_path / "model.rad")
    assert set(radboost.load(tmp_path / "model.rad").predict(np.ones((2, 2)))) == {1.0}


@pytest.mark.parametrize("decision", ["argmax", "minimum_cost", "sample"])
def test_costs_of_two_classes_where_one_is_left(decision: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="only one class"):
        model = SoftmaxBoostClassifier(5, cost=[[0, 1], [9, 0]], decision=decision).fit(X, np.ones(20))
    model.save(tmp_path / "model.rad")
    assert set(radboost.load(tmp_path / "model.rad").predict(X)) == set(model.predict(X)) == {1.0}
