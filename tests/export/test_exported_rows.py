"""Rows that are easily got wrong: categories, unknown codes, infinity; and models without questions."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from boosting_cases import SquaredHinge
from export_tools import GCC, Compiled, run_onnx, run_treelite, same_kind
from radboost import (
    DeepBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier
from radboost.calibration import Calibration
from radboost.export import ExportError, c_links, onnx_links
from radboost.export.c_code import c_code
from radboost.export.onnx_graph import onnx_model

pytest.importorskip("onnxruntime")
pytest.importorskip("treelite")
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")


def table(m: int, n_categories: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two categorical columns, one of numbers, missing values in all; labels follow the categories."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, m)
    colours = rng.choice(["red", "green", "blue", '*/ int main("'], m).astype(object)
    numbers = rng.normal(size=m)
    frame = pd.DataFrame(
        {
            "town": pd.Categorical([f"t{code:03}" for code in codes]),
            "size": np.where(rng.random(m) < 0.1, np.nan, numbers),
            "colour": pd.Categorical(np.where(rng.random(m) < 0.1, None, colours)),
        }
    )
    frame.loc[rng.random(m) < 0.1, "town"] = None
    return frame, (codes % 3 + (colours == "red") + (numbers > 0.3)) % 3


KINDS: dict[str, Any] = {
    "deepboost": DeepBoostClassifier(6, complexity_penalty=0.0, n_jobs=1),
    "rated": DeepBoostClassifier(6, complexity_penalty=0.0, tree_options=TreeOptions(leaves="rated"), n_jobs=1),
    "rgb": RGBClassifier(6, n_jobs=1),
    "mh": AdaBoostMHClassifier(4, max_leaves=8, n_jobs=1),
    "regressor": RGBRegressor(6, n_jobs=1),
}


@pytest.fixture(scope="module", params=[4, 40, 255], ids="{} categories".format)
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    frame, y = table(600, request.param)
    models = {name: kind.fit(frame, y if name != "regressor" else y + 0.5) for name, kind in KINDS.items()}
    texts = {name: model.to_c(name) for name, model in models.items()}
    return frame, models, Compiled(texts, tmp_path_factory.mktemp("categories"))


def scores_of(model: Any, rows: np.ndarray) -> np.ndarray:
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


@pytest.mark.parametrize("name", KINDS)
def test_categories(many: tuple[Any, ...], name: str) -> None:
    frame, models, compiled = many
    model = models[name]
    assert any(len(tree.category_nodes) for tree in model.ensemble_.hypotheses)
    strange = frame.copy()
    strange["colour"] = strange["colour"].astype(object)
    strange.loc[::5, "colour"] = "never seen"
    rows = np.vstack([model.rows_for_export(given) for given in (frame, strange)])
    wanted = np.concatenate([scores_of(model, given) for given in (frame, strange)])
    assert rows.dtype == np.float64
    same_kind(run_onnx(model.to_onnx(), rows)["scores"], wanted)
    same_kind(run_treelite(model.to_treelite(), rows), wanted)
    width = 1 if wanted.ndim == 1 else wanted.shape[1]
    np.testing.assert_array_equal(compiled.scores(name, rows, width), wanted)


@pytest.mark.parametrize("name", ["deepboost", "rgb", "regressor"])
def test_codes_that_do_not_exist_are_missing(many: tuple[Any, ...], name: str) -> None:
    frame, models, compiled = many
    model = models[name]
    missing = model.rows_for_export(frame.iloc[:30])
    missing[:, [0, 2]] = np.nan
    wanted = scores_of(model, frame.iloc[:30].assign(town=None, colour=None))
    width = 1 if wanted.ndim == 1 else wanted.shape[1]
    codes = [np.nan, -1.0, -0.5, 256.0, 1e18, np.inf, -np.inf, len(model.categories_[0]) + 1e-9]
    rows = np.vstack([missing] * len(codes))
    rows[:, [0, 2]] = np.repeat(codes, len(missing))[:, None]
    wanted = np.concatenate([wanted] * len(codes))
    np.testing.assert_array_equal(compiled.scores(name, rows, width), wanted)
    same_kind(run_onnx(model.to_onnx(), rows)["scores"], wanted)


def test_fractions_of_codes_are_cut_off(many: tuple[Any, ...]) -> None:
    frame, models, compiled = many
    model = models["deepboost"]
    rows = model.rows_for_export(frame.iloc[:60])
    wanted = model.decision_function(frame.iloc[:60])
    rows[:, [0, 2]] += 0.75
    np.testing.assert_array_equal(compiled.scores("deepboost", rows, 3), wanted)
    same_kind(run_onnx(model.to_onnx(), rows)["scores"], wanted)


@pytest.fixture(scope="module")
def plain() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) > 0.2).astype(int)


def test_infinity(plain: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    """The estimators refuse it, their ensembles and exported models do not."""
    X, y = plain
    model = DeepBoostClassifier.paper(10, n_jobs=1).fit(X, y)
    assert any(np.isinf(tree.threshold).any() for tree in model.ensemble_.hypotheses)  # asks whether one is missing
    rows = np.random.default_rng(0).choice([np.inf, -np.inf, np.nan, 0.0], size=(100, 4))
    wanted = model.ensemble_.decision_function(rows)
    np.testing.assert_array_equal(Compiled({"m": model.to_c()}, tmp_path).scores("model", rows, 1), wanted)
    same_kind(run_onnx(model.to_onnx(), rows)["scores"], wanted)
    same_kind(run_treelite(model.to_treelite(), rows), wanted)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_without_trees(n_classes: int, tmp_path: Path) -> None:
    X, y = np.zeros((30, 2)), np.arange(30) % n_classes
    model = DeepBoostClassifier(3, complexity_penalty=10.0, n_jobs=1).fit(X, y)
    assert len(model.ensemble_) == 0
    width = 1 if n_classes == 2 else 3
    found = run_onnx(model.to_onnx(), X)
    np.testing.assert_array_equal(found["scores"], model.decision_function(X))
    np.testing.assert_array_equal(found["label"], model.predict(X))
    same_kind(found["probabilities"], model.predict_proba(X))
    np.testing.assert_array_equal(run_treelite(model.to_treelite(), X), model.decision_function(X))
    compiled = Compiled({"m": model.to_c()}, tmp_path)
    np.testing.assert_array_equal(compiled.scores("model", X, width), model.decision_function(X))
    same_kind(compiled.probabilities("model", X, n_classes), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_of_one_leaf(tmp_path: Path) -> None:
    X, y = np.zeros((30, 2)), np.full(30, 2.5)
    model = RGBRegressor(2, n_jobs=1).fit(X, y)
    assert max(tree.n_nodes for tree in model.ensemble_.hypotheses) == 1
    same_kind(run_onnx(model.to_onnx(), X)["prediction"], model.predict(X))
    same_kind(run_treelite(model.to_treelite(), X), model.predict(X))
    np.testing.assert_array_equal(Compiled({"m": model.to_c()}, tmp_path).numbers("model", X), model.predict(X))


@pytest.mark.parametrize("labels", [["a", "ä\u2028\x00", "c"], [True, False], [-3, 7], [0.0, 2.0, 4.0]], ids=str)
def test_labels(labels: list[Any], plain: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = plain
    names = np.array(labels)[(y + (np.nan_to_num(X[:, 2]) > 1.0)) % len(labels)]
    model = DeepBoostClassifier(3, n_jobs=1, calibration=None).fit(X, names)
    found = run_onnx(model.to_onnx(), X)["label"]
    assert found.tolist() == model.predict(X).tolist()


def test_labels_of_several_types_are_refused_by_onnx(plain: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = plain
    model = DeepBoostClassifier(2, n_jobs=1, calibration=None).fit(X, y)
    model.classes_ = np.array(["a", 1], dtype=object)
    with pytest.raises(ExportError, match="several types \\(int, str\\)"):
        model.to_onnx()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_by_costs(plain: tuple[np.ndarray, np.ndarray], n_classes: int, tmp_path: Path) -> None:
    X, y = plain
    y = (y + (np.nan_to_num(X[:, 2]) > 0.5)) % n_classes
    cost = 1.0 - np.eye(n_classes)
    cost[0, 1] = 2.0
    model = SoftmaxBoostClassifier(5, cost=cost, decision="minimum_cost", n_jobs=1).fit(X, y)
    by_score = SoftmaxBoostClassifier(5, cost=cost, decision="argmax", n_jobs=1).fit(X, y)
    assert (model.predict(X) != by_score.predict(X)).any()
    np.testing.assert_array_equal(run_onnx(model.to_onnx(), X)["label"], model.predict(X))
    for name, probabilities in (("with_rule", True), ("without", False)):
        folder = tmp_path / name
        folder.mkdir()
        compiled = Compiled({name: model.to_c(name, probabilities=probabilities)}, folder)
        np.testing.assert_array_equal(compiled.places(name, X), model.predict(X))
    with pytest.raises(ExportError, match="draws its answers"):
        model.set_params(decision="sample").to_onnx()


def test_tasks(tmp_path: Path) -> None:
    """With labels of their own, with one column, and without columns; trees beside columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    several = np.where(np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0]), 1, -1)
    own = MultiTaskSparseBoostClassifier(0.01, family="trees", n_jobs=1).fit(
        X, np.column_stack([several[:, 0], several[:, 1] + 3])
    )
    with pytest.raises(ExportError, match="labels of their own"):
        own.to_onnx()
    same_kind(run_treelite(own.to_treelite(), X), own.decision_function(X))
    column = MultiTaskSparseBoostClassifier(0.01, n_jobs=1).fit(X, several[:, :1])
    plain = MultiTaskSparseBoostClassifier(0.01, n_jobs=1).fit(X, several[:, 0])
    models = {"own": own, "column": column, "plain": plain}
    texts = {name: model.to_c(name) for name, model in models.items()}
    texts["bare"] = own.to_c("bare", probabilities=False)
    assert "bare_probabilities" not in texts["bare"]
    compiled = Compiled(texts, tmp_path)
    np.testing.assert_array_equal(compiled.task_places("own", X, 2) == 1, own.predict(X) == np.array([1, 4]))
    np.testing.assert_array_equal(compiled.task_places("bare", X, 2), compiled.task_places("own", X, 2))
    same_kind(compiled.probabilities("own", X, 2), own.predict_proba(X))
    same_kind(compiled.probabilities("column", X, 1), column.predict_proba(X))
    same_kind(compiled.probabilities("plain", X, 2), plain.predict_proba(X))
    for model in (column, plain):
        found = run_onnx(model.to_onnx(), X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        same_kind(found["scores"], model.decision_function(X))
        same_kind(found["probabilities"], model.predict_proba(X))
    assert set(run_onnx(column.to_onnx(probabilities=False), X)) == {"label", "scores"}


def test_unfitted_models() -> None:
    model = DeepBoostClassifier()
    for method in (model.to_onnx, model.to_treelite, model.to_c, model.to_dict):
        with pytest.raises(NotFittedError):
            method()
    with pytest.raises(NotFittedError):
        model.rows_for_export([[0.0]])


@pytest.mark.parametrize("estimator", [DeepBoostClassifier, RGBClassifier])
def test_losses_of_users_have_no_probabilities_elsewhere(estimator: Any, plain: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = plain
    model = estimator(3, loss=SquaredHinge(), calibration=None, n_jobs=1).fit(X, y)
    for export in (model.to_onnx, model.to_c):
        with pytest.raises(ExportError, match=r"loss is one of your own.*probabilities=False"):
            export()
    assert "_probabilities" not in model.to_c(probabilities=False)
    found = run_onnx(model.to_onnx(probabilities=False), X)
    assert set(found) == {"label", "scores"}
    np.testing.assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("calibration", [Calibration(0.7, 0.1, 1.3, 0.02), Calibration(2.0, 0.0, 7.5, 1e-200)])
def test_votes_as_a_power(plain: tuple[np.ndarray, np.ndarray], calibration: Calibration, tmp_path: Path) -> None:
    """What the calibration of several classes multiplies probabilities by, with a ground that is nearly nothing too."""
    X, y = plain
    model = DeepBoostClassifier(5, n_jobs=1, calibration=None).fit(X, y + (X[:, 2] > 1.0))
    model.calibration_ = calibration
    expected = model.predict_proba(X)
    compiled = Compiled({"m": model.to_c()}, tmp_path)
    for found in (run_onnx(model.to_onnx(), X)["probabilities"], compiled.probabilities("model", X, 3)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def test_too_many_classes_for_the_elimination(plain: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = plain
    exported = DeepBoostClassifier(2, n_jobs=1, calibration=None).fit(X, y + (X[:, 2] > 1.0))._exported()
    for form, most in ((onnx_model, onnx_links.MOST_BALANCED), (partial(c_code, name="m"), c_links.MOST_BALANCED)):
        many = replace(exported, output=replace(exported.output, labels=tuple(range(most + 1))))
        with pytest.raises(ExportError, match=rf"at most {most}( classes)?\. probabilities=False"):
            form(many, probabilities=True)
        form(many, probabilities=False)


def test_packages_that_are_not_there(monkeypatch: pytest.MonkeyPatch, plain: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = plain
    model = DeepBoostClassifier(2, calibration=None, n_jobs=1).fit(X, y)
    for name in ("onnx", "treelite"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=r"radboost\[export\]"):
            getattr(model, f"to_{name}")()
