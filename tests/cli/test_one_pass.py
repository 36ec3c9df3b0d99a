"""Each command predicts the rows it evaluates once, fits one linear baseline, and makes one table of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from command_tables import FAST, lines, write_csv
from radboost.cli import main
from radboost.cli.columns import FeatureTable
from radboost.estimators._class_scores import ClassScores
from radboost.estimators._linear import LinearEstimator
from radboost.estimators._predicting import PredictingMixin, labels_and_probabilities
from radboost.estimators._trees_model import TreesModel
from radboost.report import baselines, subject
from radboost.rows.hashing import row_hashes

SPARSE = ("--estimator", "sparse", "--jobs", "1")
COSTS = ("--cost", "0,1;5,0", "--set", "n_rounds=20", "--jobs", "1")
FITS = {
    "classes": ("--target", "answer", *FAST),
    "costs": ("--target", "answer", *COSTS),
    "sparse": ("--target", "answer", *SPARSE),
    "numbers": ("--target", "size", "--task", "numbers", "--set", "n_rounds=20", "--jobs", "1"),
    "sparse numbers": ("--target", "size", "--task", "numbers", *SPARSE),
}


def _content(X: Any) -> tuple[int, int]:
    """Number of rows, and a sum over them that no order changes."""
    return X.shape[0], int(row_hashes(X).sum(dtype=np.uint64))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, Any]]:
    """How often the rows of a report are predicted and become tables, and linear baselines are made, by content."""
    seen: Counter[tuple[str, Any]] = Counter()

    def count(where: Any, name: str, what: str, content: Callable[..., Any]) -> None:
        plain = getattr(where, name)

        def counting(*given: Any, **named: Any) -> Any:
            result = plain(*given, **named)
            seen[what, content(result, *given)] += 1
            return result

        monkeypatch.setattr(where, name, counting)

    count(TreesModel, "_scores_by_block", "predictions", lambda result, model, X, *_: _content(X))
    count(LinearEstimator, "_scores", "predictions", lambda result, model, X: _content(X))
    count(FeatureTable, "for_model", "tables", lambda result, *_: _content(result))
    count(baselines, "baselines", "baselines", lambda result, about: _content(about.test.X))
    count(subject, "Subject", "subjects", lambda result: _content(result.test.X))
    return seen


def _check_once(seen: Counter[tuple[str, Any]], n_baselines: int = 1) -> None:
    """Check that the rows of each subject (copies of training rows are one apart) are predicted and a table once."""
    rows = [content for kind, content in seen if kind == "subjects"]
    assert rows
    for content in rows:
        assert [seen[kind, content] for kind in ("subjects", "predictions", "tables")] == [1, 1, 1]
    assert sum(n for (kind, _), n in seen.items() if kind == "baselines") == n_baselines


@pytest.mark.parametrize("kind", FITS)
def test_a_fit_with_a_report(kind: str, counted: Counter[tuple[str, Any]], tmp_path: Path) -> None:
    data = write_csv(tmp_path / "t.csv", lines(120))
    assert main(["fit", data, *FITS[kind], "--report", "r.html"]) == 0
    _check_once(counted)


def test_folds(counted: Counter[tuple[str, Any]], tmp_path: Path) -> None:
    """The model of all rows predicts none of them."""
    data = write_csv(tmp_path / "t.csv", lines(120))
    assert main(["fit", data, *FITS["classes"], "--folds", "3"]) == 0
    assert sorted(counted[what, one] for what, one in counted if what == "predictions") == [1, 1, 1]
    assert sum(counted[what, one] for what, one in counted if what == "baselines") == 3


@pytest.mark.parametrize("kind", FITS)
def test_commands_on_a_model(kind: str, counted: Counter[tuple[str, Any]], tmp_path: Path) -> None:
    data, later = write_csv(tmp_path / "t.csv", lines(120)), write_csv(tmp_path / "later.csv", lines(60, seed=1))
    assert main(["fit", data, *FITS[kind]]) == 0
    counted.clear()
    assert main(["evaluate", "model.rad", later]) == 0
    _check_once(counted, n_baselines=0)
    counted.clear()
    assert main(["report", "model.rad", later, "--out", "r.html"]) == 0
    _check_once(counted)
    counted.clear()
    proba = ["--proba"] if "numbers" not in kind else []
    assert main(["predict", "model.rad", later, *proba]) == 0
    assert sorted(counted.values()) == [1, 1]


#: name -> an estimator, from a matrix of costs
ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "deepboost": lambda cost: radboost.DeepBoostClassifier(20, n_jobs=1),
    "deepboost, class weights": lambda cost: radboost.DeepBoostClassifier(20, class_weight={0: 4.0}, n_jobs=1),
    "rgb": lambda cost: radboost.RGBClassifier(20, n_jobs=1),
    "rgb, class weights": lambda cost: radboost.RGBClassifier(20, class_weight="balanced", n_jobs=1),
    "softmax": lambda cost: radboost.SoftmaxBoostClassifier(20, n_jobs=1),
    "softmax, class weights": lambda cost: radboost.SoftmaxBoostClassifier(20, class_weight="balanced", n_jobs=1),
    "softmax, drawn": lambda cost: radboost.SoftmaxBoostClassifier(20, decision="sample", random_state=3, n_jobs=1),
    "softmax, argmax": lambda cost: radboost.SoftmaxBoostClassifier(20, cost=cost, decision="argmax", n_jobs=1),
    "softmax, costs": lambda cost: radboost.SoftmaxBoostClassifier(20, cost=cost, decision="minimum_cost", n_jobs=1),
    "sparse": lambda cost: radboost.SparseBoostClassifierCV(n_jobs=1),
    "sparse, class weights": lambda cost: radboost.SparseBoostClassifier(class_weight="balanced", n_jobs=1),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_labels_of_one_pass_are_those_of_predict(name: str, n_classes: int) -> None:
    """Also by costs, class weights and chance; ties and saturated probabilities included."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(240, 3)).round(1)
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=240), [0.0] if n_classes == 2 else [-0.5, 0.5])
    cost = (1.0 + 4.0 * np.arange(n_classes))[:, None] * (1.0 - np.eye(n_classes))
    model = ESTIMATORS[name](cost).fit(X, y)
    far = np.vstack([X, 100.0 * X, np.zeros((5, 3))])
    labels, probabilities = labels_and_probabilities(getattr(model, "best_estimator_", model), far)
    np.testing.assert_array_equal(labels, model.predict(far))
    np.testing.assert_array_equal(probabilities, model.predict_proba(far))
    assert isinstance(model, PredictingMixin | ClassScores)
