"""Models of several classes as a whole: staged predictions, early stopping, files, families, importances."""

from __future__ import annotations

import numpy as np
import pytest

from multiclass_tools import PAIRS
from radboost import DeepBoostClassifier, TreeOptions
from reference import losses, multiclass
from reference.data import smooth_classes


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[0] != "maxsum"], ids=" ".join)
def test_validation_history(pair: tuple[str, str]) -> None:
    X, y = smooth_classes(2, m=150)
    X_val, y_val = smooth_classes(3, m=80)
    w = np.random.default_rng(0).random(80) + 0.1
    model = DeepBoostClassifier(12, objective=pair[0], loss=pair[1])
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    rows = np.arange(80)
    for f, error, loss in zip(
        model.staged_decision_function(X_val),
        model.history_["validation_error"],
        model.history_["validation_loss"],
        strict=True,
    ):
        rivals = f.copy()
        rivals[rows, y_val] = -np.inf
        assert error == pytest.approx(np.sum(w * (f[rows, y_val] <= rivals.max(axis=1))) / w.sum(), abs=1e-12)
        expected = multiclass.mean_loss(pair[0], losses.LOSSES[pair[1]], f, np.zeros(80), y_val, w)
        assert loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("growth", ["layers", "best_first"])
def test_limits_of_trees(growth: str) -> None:
    X, y = smooth_classes(10, m=200, n_classes=4)
    leaves = 5 if growth == "best_first" else None
    options = TreeOptions(growth=growth, max_leaves=leaves, min_leaf_weight=7.0)
    model = DeepBoostClassifier(15, max_depth=3, complexity_penalty=0.0, tree_options=options).fit(X, y)
    for tree in model.ensemble_.entered:
        assert tree.depth <= 3
        cover = tree.cover[np.asarray(tree.feature) < 0]
        assert np.all(cover >= 7.0)
        if leaves:
            assert len(cover) <= leaves
        assert tree.n_splits == len(cover) - 1
        assert cover.sum() == 200


def test_penalties_make_smaller_trees_and_fewer_hypotheses() -> None:
    X, y = smooth_classes(11, m=200)
    sizes = [
        np.mean([h.n_splits for h in DeepBoostClassifier(30, complexity_penalty=p).fit(X, y).ensemble_.hypotheses])
        for p in (0.0, 0.2)
    ]
    assert sizes[1] < sizes[0]
