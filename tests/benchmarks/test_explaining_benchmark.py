"""The benchmark of contributions, and the same contributions by other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("catboost")
pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")

import lightgbm

from benchmarks import explaining
from radboost.trees.tree import NODE_ARRAYS, Tree, forest_of


def read(node: dict[str, Any], n_features: int) -> Tree:
    """A tree of LightGBM's model, in our form."""
    rows: list[dict[str, Any]] = [{}]
    waiting = [(0, node)]
    for place, one in waiting:
        if "leaf_value" in one:
            rows[place] = {"feature": -1, "value": one["leaf_value"], "cover": one["leaf_count"]}
            continue
        # LightGBM takes 0 for a missing value where training rows had none.
        missing_left = one["threshold"] >= 0 if one["missing_type"] == "None" else one["default_left"]
        left = len(rows)
        rows[place] = {"feature": one["split_feature"], "threshold": one["threshold"], "left": left}
        rows[place].update(missing_left=missing_left, cover=one["internal_count"])
        rows += [{}, {}]
        waiting += [(left, one["left_child"]), (left + 1, one["right_child"])]
    arrays = [np.array([row.get(name, 0) for row in rows], dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
    return Tree(arrays, n_features, (len(rows) - 1) // 2)


@pytest.mark.parametrize("missing", [False, True])
def test_the_contributions_of_lightgbm(missing: bool) -> None:
    """Its trees, explained by it and by us."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    target = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    settings = {"num_leaves": 31, "max_depth": 8, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, target), 20)
    trees = [read(info["tree_structure"], 6) for info in booster.dump_model()["tree_info"]]
    cover = np.concatenate([tree.cover for tree in trees])
    found = forest_of(trees).contributions(X[:300], np.ones(len(trees)), cover, False, 1).reshape(300, 7)
    np.testing.assert_allclose(found, booster.predict(X[:300], pred_contrib=True), rtol=0, atol=1e-9)


def test_the_interactions_of_shap() -> None:
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 5))
    target = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]
    settings = {"num_leaves": 15, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, target), 10)
    trees = [read(info["tree_structure"], 5) for info in booster.dump_model()["tree_info"]]
    cover = np.concatenate([tree.cover for tree in trees])
    found = forest_of(trees).contributions(X[:50], np.ones(len(trees)), cover, True, 1).reshape(50, 6, 6)
    theirs = shap.TreeExplainer(booster).shap_interaction_values(X[:50])
    np.testing.assert_allclose(found[:, :5, :5], theirs, rtol=0, atol=1e-9)
    assert not found[:, 5, :5].any()


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made" / "table.md"
    small = ["--rows", "300", "--sizes", "3x3", "--threads", "1", "--libraries", "radboost", "--output", str(path)]
    assert explaining.main(small) == 0
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| 3 trees of depth 3 | RadBoost |")
    assert float(lines[2].split("|")[-2]) < 1e-12
    with pytest.raises(SystemExit):
        explaining.main(["--libraries", "nobody"])
    assert "choose from radboost" in capsys.readouterr().err
