"""Every estimator in every form: the same scores, labels, probabilities and predictions as the model itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export_tools import GCC, Compiled, run_onnx, run_treelite, same_kind
from properties.cases import CASES, Case
from radboost.export import ExportError

pytest.importorskip("onnxruntime")
pytest.importorskip("treelite")
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.skipif(GCC is None, reason="needs gcc"),
]

# One case for each way of scoring and each rule of probabilities.
CHOSEN = [
    "DeepBoost default, 2 classes",
    "DeepBoost rated, 2 classes",
    "DeepBoost paper, 2 classes",
    "DeepBoost early stopping, 4 classes",
    "DeepBoost paper, 4 classes",
    "DeepBoost compsum, 4 classes",
    "DeepBoost rated, compsum, 4 classes",
    "DeepBoost maxsum, 26 classes",
    "Softmax default, 2 classes",
    "Softmax default, 4 classes",
    "RGB default, 2 classes",
    "RGB exponential, 2 classes",
    "RGB default, 3 classes",
    "RGB huber, monotone",
    "RGB quantile",
    "RGB poisson",
    "RGB gamma",
    "AgnosticBoost default, 2 classes",
    "AgnosticBoost default, 3 classes",
    "AdaBoostMHClassifier, 2 classes",
    "AdaBoostMHClassifier, 4 classes",
    "SAMMEClassifier, 2 classes",
    "SAMMEClassifier, 4 classes",
    "SparseBoostClassifier given, 2 classes",
    "SparseBoostClassifier exponential, 2 classes",
    "SparseBoostClassifier given, 3 classes",
    "SparseBoostClassifier products, 2 classes",
    "SparseBoostClassifier stumps, 2 classes",
    "SparseBoostClassifier trees, 3 classes",
    "SparseBoostRegressor given, 0 classes",
    "MultiTaskSparseBoostClassifier given, 2 classes",
]
BY_NAME = {case.name: case for case in CASES}
REFUSED = {
    "DeepBoost kernel, 2 classes": "KernelHypothesis",
    "Sources default, 2 classes": "domain classifier",
    "MartiBoostClassifier, 2 classes": "BranchingProgram",
    "SparseBoostClassifier kernel, 2 classes": "Centre",
    "Projection, 2 classes": "no sum of trees",
}


@dataclass(frozen=True)
class Fitted:
    """A model, rows for it, and the name of its C functions."""

    case: Case
    model: Any
    rows: np.ndarray
    name: str

    @property
    def scores(self) -> np.ndarray:
        """Those of the ensemble, which takes infinite values too."""
        if hasattr(self.model, "decision_function"):
            return self.model.decision_function(self.rows)
        found = self.model.ensemble_
        return found.decision_function(self.rows) if self.case.splits else found.scores(self.rows)[:, 0]

    @property
    def n_scores(self) -> int:
        return 1 if self.scores.ndim == 1 else self.scores.shape[1]

    @property
    def has_products(self) -> bool:
        return bool(exported(self.model).scores.products)


def exported(model: Any) -> Any:
    """Searches export the best estimator that they have found."""
    return getattr(model, "best_estimator_", model)._exported()


def fitted(case: Case, name: str) -> Fitted:
    X, y = case.data(5, m=60, missing=0.1)
    model = case.make(n_jobs=1).fit(X, y)
    return Fitted(case, model, rows_of_all_kinds(model, X), name)


def rows_of_all_kinds(model: Any, X: np.ndarray) -> np.ndarray:
    """Rows of training, rows at the thresholds of the model and one bit beside them, tiny and huge numbers."""
    rng = np.random.default_rng(0)
    rows = [X, rng.normal(size=(20, X.shape[1])) * 10.0 ** rng.integers(-3, 4, size=(20, 1))]
    at: list[list[float]] = [[0.0] for _ in range(X.shape[1])]
    for one in exported(model).scores.trees:
        for feature, threshold in zip(one.tree.feature, one.tree.threshold, strict=True):
            if feature >= 0 and np.isfinite(threshold):
                at[feature].append(float(threshold))
    cells = [rng.choice(np.unique(values), size=120) for values in at]
    middle = np.column_stack(cells)
    rows += [middle[:40], np.nextafter(middle[40:80], np.inf), np.nextafter(middle[80:], -np.inf)]
    if any(len(values) > 1 for values in at):  # linear models have no scores for these
        extreme = np.array([5e-324, -5e-324, 1e300, -1e300, 0.0, -0.0, 1e-310])
        rows.append(rng.choice(extreme, size=(20, X.shape[1])))
    everything = np.vstack(rows)
    if np.isnan(X).any():
        everything[-60:][rng.random((60, X.shape[1])) < 0.2] = np.nan
    return np.ascontiguousarray(everything)


@pytest.fixture(scope="module")
def chosen() -> list[Fitted]:
    return [fitted(BY_NAME[name], f"m{place}") for place, name in enumerate(CHOSEN)]


@pytest.fixture(scope="module")
def compiled(chosen: list[Fitted], tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    texts = {one.name: one.model.to_c(one.name) for one in chosen}
    return Compiled(texts, tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("place", range(len(CHOSEN)), ids=CHOSEN)
def test_every_form(chosen: list[Fitted], compiled: Compiled, place: int) -> None:
    check(chosen[place], compiled)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exported_is_named(name: str) -> None:
    case = BY_NAME[name]
    X, y = case.data(5)
    model = case.make(n_jobs=1).fit(X, y)
    for export in (model.to_onnx, model.to_treelite, model.to_c):
        with pytest.raises(ExportError, match=REFUSED[name]):
            export()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_cases(case: Case, tmp_path: Path) -> None:
    """Each takes little time; all of them together take too much."""
    if re.search("kernel|Sources|MartiBoost|Projection", case.name):
        with pytest.raises(ExportError, match=r"can be exported|cannot be exported"):
            fitted(case, "model")
        return
    one = fitted(case, "model")
    check(one, Compiled({"model": one.model.to_c()}, tmp_path))


def check(one: Fitted, compiled: Compiled) -> None:
    check_onnx(one)
    check_treelite(one)
    check_c(one, compiled)


def check_onnx(one: Fitted) -> None:
    found = run_onnx(one.model.to_onnx(), one.rows)
    same_kind(found["scores"], one.scores)
    if one.case.classifies:
        np.testing.assert_array_equal(found["label"], one.model.predict(one.rows))
        same_kind(found["probabilities"], one.model.predict_proba(one.rows))
    else:
        same_kind(found["prediction"], one.model.predict(one.rows))


def check_treelite(one: Fitted) -> None:
    if one.has_products:
        with pytest.raises(ExportError, match="to_onnx or to_c"):
            one.model.to_treelite()
        return
    wanted = one.scores if one.case.classifies else one.model.predict(one.rows)
    same_kind(run_treelite(one.model.to_treelite(), one.rows), wanted)


def check_c(one: Fitted, compiled: Compiled) -> None:
    """Scores of trees are equal to the last bit; columns are multiplied by a library that adds in its own order."""
    scores = compiled.scores(one.name, one.rows, one.n_scores)
    if one.has_products:
        same_kind(scores, one.scores)
    else:
        np.testing.assert_array_equal(scores, one.scores)
    if one.case.tasks:
        places = compiled.task_places(one.name, one.rows, one.n_scores)
        labels = np.column_stack([pair[k] for pair, k in zip(one.model.task_labels_, places.T, strict=True)])
        np.testing.assert_array_equal(labels, one.model.predict(one.rows))
        same_kind(compiled.probabilities(one.name, one.rows, one.n_scores), one.model.predict_proba(one.rows))
    elif one.case.classifies:
        places = compiled.places(one.name, one.rows)
        np.testing.assert_array_equal(one.model.classes_[places], one.model.predict(one.rows))
        found = compiled.probabilities(one.name, one.rows, len(one.model.classes_))
        same_kind(found, one.model.predict_proba(one.rows))
    else:
        same_kind(compiled.numbers(one.name, one.rows), one.model.predict(one.rows))
