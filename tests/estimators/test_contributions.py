"""Contributions of features to the scores of fitted models, and the leaves that rows reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from radboost import (
    DeepBoostClassifier,
    KernelFamily,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier

N_ROWS = 300


def rows(n_rows: int = N_ROWS, missing: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Six columns, the last of which says nothing, and a target between about -3 and 3."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    target = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * np.sin(3 * X[:, 3])
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, target


def classes(target: np.ndarray, n_classes: int) -> np.ndarray:
    return np.digitize(target, np.quantile(target, np.arange(1, n_classes) / n_classes))


MODELS: dict[str, tuple[Callable[[], Any], int]] = {
    "stumps": (lambda: DeepBoostClassifier(20, family="stumps"), 2),
    "deep, two classes": (lambda: DeepBoostClassifier(12, max_depth=4), 2),
    "deep, rated leaves": (lambda: DeepBoostClassifier(12, tree_options=TreeOptions(leaves="rated")), 2),
    "deep, votes": (lambda: DeepBoostClassifier(12, tree_options=TreeOptions(leaves="votes")), 3),
    "deep, rated leaves of classes": (lambda: DeepBoostClassifier(12, tree_options=TreeOptions(leaves="rated")), 3),
    "softmax": (lambda: SoftmaxBoostClassifier(10), 3),
    "gradient, two classes": (lambda: RGBClassifier(12), 2),
    "gradient, classes": (lambda: RGBClassifier(12), 4),
    "numbers": (lambda: RGBRegressor(12), 0),
    "adaboost.mh": (lambda: AdaBoostMHClassifier(10), 3),
    "adaboost.mh, two classes": (lambda: AdaBoostMHClassifier(10), 2),
    "samme": (lambda: SAMMEClassifier(10, max_leaves=6), 3),
    "one source": (lambda: MultiSourceBoostClassifier(10), 2),
}


def fitted(name: str, X: np.ndarray, target: np.ndarray) -> Any:
    make, n_classes = MODELS[name]
    model = make().set_params(n_jobs=1)
    return model.fit(X, classes(target, n_classes) if n_classes else target)


def scores_of(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model.predict(X) if isinstance(model, RGBRegressor) else model.decision_function(X))


@pytest.mark.parametrize("name", MODELS)
def test_they_sum_to_the_scores(name: str) -> None:
    X, target = rows()
    model = fitted(name, X, target)
    n_classes = MODELS[name][1]
    found = model.predict_contributions(X)
    assert found.shape == ((N_ROWS, n_classes, 7) if n_classes > 2 else (N_ROWS, 7))
    scores = scores_of(model, X)
    np.testing.assert_allclose(found.sum(axis=-1), scores, rtol=0, atol=1e-9)
    assert found[..., 0].std() > 0.01 * scores.std()  # no model puts all into the constant
    pairs = model.predict_contributions(X[:40], interactions=True)
    assert pairs.shape == (*found[:40].shape, 7)
    np.testing.assert_allclose(pairs.sum(axis=-1), found[:40], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(pairs, np.swapaxes(pairs, -1, -2))
    leaves = model.apply(X)
    in_rounds = name.startswith(("gradient", "numbers"))  # and the constant that they start from is no column
    assert leaves.shape == (N_ROWS, model.n_iter_ if in_rounds else len(model.ensemble_))
    trees = model.ensemble_.hypotheses[-leaves.shape[1] :]
    assert all((tree.feature[leaves[:, k]] < 0).all() for k, tree in enumerate(trees))


def test_stumps_show_one_feature_each() -> None:
    """A sum of functions of one column has these functions, without their mean, as contributions."""
    X, target = rows()
    model = fitted("stumps", X, target)
    expected = np.zeros((N_ROWS, 7))
    for weight, stump in zip(model.ensemble_.weights, model.ensemble_.hypotheses, strict=True):
        answers, share = stump.predict(X), stump.cover[1:3] / stump.cover[0]
        mean = share @ stump.value[1:3]
        expected[:, stump.feature[0]] += weight * (answers - mean)
        expected[:, -1] += weight * mean
    np.testing.assert_allclose(model.predict_contributions(X), expected, rtol=0, atol=1e-12)
    pairs = model.predict_contributions(X, interactions=True)
    diagonal = np.zeros_like(pairs)
    diagonal[:, np.arange(7), np.arange(7)] = expected
    np.testing.assert_allclose(pairs, diagonal, rtol=0, atol=1e-12)


def test_forms_of_rows() -> None:
    X, target = rows(missing=False)
    X = np.where(np.abs(X) < 0.7, 0.0, X).astype(np.float32)
    model = fitted("deep, two classes", X, target)
    found = model.predict_contributions(X)
    for other in (X.astype(float), sparse.csr_array(X), X.tolist(), np.asfortranarray(X)):
        np.testing.assert_array_equal(model.predict_contributions(other), found)
        np.testing.assert_array_equal(model.apply(other), model.apply(X))
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict_contributions(X), found)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = fitted("deep, two classes", frame, target)
    np.testing.assert_array_equal(named.predict_contributions(frame), found)
    with pytest.raises(ValueError, match="feature"):
        model.predict_contributions(X[:, :5])


@pytest.mark.parametrize("name", ["deep, votes", "gradient, two classes", "numbers"])
def test_categories(name: str) -> None:
    """Categories that training did not see go where missing ones go."""
    X, target = rows()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    letters = np.array(list("uvwxyz"))
    frame["f"] = pd.Categorical(letters[np.digitize(target, [-2, -1, 0, 1, 2])])
    model = fitted(name, frame, target)
    assert any(len(tree.category_nodes) for tree in model.ensemble_.hypotheses)
    found = model.predict_contributions(frame)
    np.testing.assert_allclose(found.sum(axis=-1), scores_of(model, frame), rtol=0, atol=1e-9)
    unseen, missing = frame.assign(f="new"), frame.assign(f=None)
    found = model.predict_contributions(unseen)
    np.testing.assert_allclose(found.sum(axis=-1), scores_of(model, unseen), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found, model.predict_contributions(missing))


def test_a_link_leaves_scores_alone() -> None:
    X, target = rows()
    model = RGBRegressor(12, loss="poisson", n_jobs=1).fit(X, np.exp(target))
    found = model.predict_contributions(X).sum(axis=-1)
    np.testing.assert_allclose(np.exp(found), model.predict(X), rtol=1e-9)


def test_a_model_without_trees() -> None:
    X = np.zeros((20, 2))
    with pytest.warns(UserWarning, match="model is empty"):
        model = DeepBoostClassifier(5, n_jobs=1).fit(X, np.arange(20) % 2)
    assert len(model.ensemble_) == 0
    assert not model.predict_contributions(X).any()
    assert model.predict_contributions(X, interactions=True).shape == (20, 3, 3)
    assert model.apply(X).shape == (20, 0)


def test_models_that_are_no_sums_of_trees() -> None:
    X, target = rows(missing=False)
    y = classes(target, 2)
    kernels = DeepBoostClassifier(8, family=["stumps", KernelFamily()], n_jobs=1).fit(X, y)
    assert any(type(h).__name__ == "KernelHypothesis" for h in kernels.ensemble_.hypotheses)
    program = MartiBoostClassifier(5, n_jobs=1).fit(X, y)
    source = (X[:, 5] > 0).astype(int)
    several = MultiSourceBoostClassifier(8, n_jobs=1).fit(X, y, sources=source)
    for model, named in ((kernels, "Kernel"), (program, "BranchingProgram"), (several, "SourcedHypothesis")):
        for method in ("predict_contributions", "apply"):
            with pytest.raises(TypeError, match=f"{method}.*{type(model).__name__}.*{named}"):
                getattr(model, method)(X)
