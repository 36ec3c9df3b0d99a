"""Files of old versions open for ever and score as they did; tests/data says how they were made."""

import json
from pathlib import Path

import numpy as np
import pytest

import radboost
from radboost import EarlyStopping, KernelFamily, TreeOptions

pytestmark = pytest.mark.native

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


def test_parameters_of_format_1() -> None:
    trees = radboost.load(DATA / "model_format_1_trees.radb")
    assert trees.family == ["stump_pairs", "trees"]
    assert trees.early_stopping == EarlyStopping(patience=40, validation_fraction=0.2)
    assert trees.tree_options == TreeOptions(max_bins=16)
    assert (trees.n_rounds, trees.max_depth, trees.l1_penalty) == (40, 4, 0.002)
    kernels = radboost.load(DATA / "model_format_1_kernels.radb")
    assert kernels.family == [
        KernelFamily(gamma=0.1, n_centres=20),
        KernelFamily("laplacian", gamma=0.25),
        KernelFamily("cosine"),
    ]
    assert kernels.n_features_in_ == 4
