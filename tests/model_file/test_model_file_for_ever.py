"""Files of old versions open for ever and score as they did; tests/data says how they were made."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import radboost
from radboost import EarlyStopping, KernelFamily, TreeOptions

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("name", ["model_format_1_trees", "model_format_1_kernels"])
def test_format_1(name: str) -> None:
    expected = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    model = radboost.load(DATA / f"{name}.radb")
    rows = np.array(expected["rows"], dtype=float)
    assert [score.hex() for score in model.decision_function(rows).tolist()] == expected["scores"]
    assert [scores[0].hex() for scores in model.staged_decision_function(rows[:1])] == expected["staged"]
    assert model.predict(rows).tolist() == expected["labels"]
    # Unlike the scores, the logistic function comes from the platform.
    wanted = [float.fromhex(p) for p in expected["probabilities"]]
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], wanted, rtol=1e-14)
    assert [r.hex() for r in model.ensemble_.complexities.tolist()] == expected["complexities"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.history_ == expected["history"]
    assert model.stop_reason_ == expected["stop_reason"]
    assert model.ensemble_.n_outputs == 1
    assert model.objective_ == "sum"  # not in the file: with two classes all objectives are the same


def from_hex(numbers: list) -> np.ndarray:
    return np.array([[float.fromhex(v) for v in x] if isinstance(x, list) else float.fromhex(x) for x in numbers])


FORMAT_2 = ["model_format_2_two_classes", "model_format_2_three_classes", "model_format_2_categories"]


@pytest.mark.parametrize("name", FORMAT_2)
def test_format_2(name: str) -> None:
    expected = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    model = radboost.load(DATA / f"{name}.radb")
    rows = np.array(expected["rows"], dtype=object if expected["categories"] else float)
    if expected["feature_names"] is not None:
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=expected["feature_names"])
    np.testing.assert_array_equal(model.decision_function(rows), from_hex(expected["scores"]))
    staged = [from_hex(scores) for scores in expected["staged"]]
    np.testing.assert_array_equal(list(model.staged_decision_function(rows[:1])), staged)
    assert model.predict(rows).tolist() == expected["labels"]
    # Unlike the scores, exponentials come from the platform.
    np.testing.assert_allclose(model.predict_proba(rows), from_hex(expected["probabilities"]), rtol=1e-13)
    np.testing.assert_array_equal(model.feature_importances_, from_hex(expected["importances"]))
    np.testing.assert_array_equal(model.ensemble_.complexities, from_hex(expected["complexities"]))
    assert model.classes_.tolist() == expected["classes"]
    assert [[column, list(known)] for column, known in model.categories_.items()] == expected["categories"]
    assert repr(model.ensemble_) == expected["ensemble"]
    assert (model.loss_, model.objective_) == (expected["loss"], expected["objective"])
    assert model.history_ == expected["history"]
    assert model.stop_reason_ == expected["stop_reason"]


def test_parameters_of_format_2() -> None:
    two = radboost.load(DATA / "model_format_2_two_classes.radb")
    assert two.family == ["trees", KernelFamily(gamma=0.1, n_centres=20)]
    # Options of trees were parameters of the estimator then.
    drawn = TreeOptions(max_features=1 / 3, thresholds="random", split_criterion="gini", min_leaf_weight=0.0)
    assert two.tree_options == replace(drawn, growth="best_first", max_leaves=5)
    assert (two.n_rounds, two.max_depth, two.learning_rate) == (25, 3, 0.5)
    three = radboost.load(DATA / "model_format_2_three_classes.radb")
    assert three.ensemble_.n_outputs == 3
    assert (len(three.ensemble_), len(three.ensemble_.entered)) == (6, 7)
    assert three.ensemble_.feature_names == ("width", "height", "weight", "age")
    # The files say "auto", which there is no more: a fit can be repeated with what it stood for.
    assert (two.objective, three.objective) == ("sum", "compsum")
    clone(three).fit(np.eye(12, 4), np.arange(12) % 3)


def test_categories_of_format_2() -> None:
    model = radboost.load(DATA / "model_format_2_categories.radb")
    assert model.categorical_features == ["colour", "number", "new"]
    assert [type(known[0]) for known in model.categories_.values()] == [str, int, bool]
    assert model.ensemble_.entered[1].categories_left(0)[-4:] == [243, 246, 249, 254]
    assert model.ensemble_.entered[1].categories_left(1) is None
    assert "number in {0, 3, 6, 9, 83 more}" in repr(model.ensemble_)


def test_parameters_of_format_1() -> None:
    trees = radboost.load(DATA / "model_format_1_trees.radb")
    assert trees.family == ["stump_pairs", "trees"]
    assert trees.early_stopping == EarlyStopping(patience=40, validation_fraction=0.2)
    full = TreeOptions(max_features=None, thresholds="best", split_criterion="edge", min_leaf_weight=0.0)
    assert trees.tree_options == replace(full, max_bins=16)
    assert (trees.n_rounds, trees.max_depth, trees.l1_penalty) == (40, 4, 0.002)
    kernels = radboost.load(DATA / "model_format_1_kernels.radb")
    assert kernels.family == [
        KernelFamily(gamma=0.1, n_centres=20),
        KernelFamily("laplacian", gamma=0.25),
        KernelFamily("cosine"),
    ]
    assert kernels.n_features_in_ == 4
