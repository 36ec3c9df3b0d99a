"""Makes the models of format 1 beside this file, which every later version must open and score the same.

Run once, before the first release of format 1. Never again: the files are there to be old.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

import radboost
from radboost import DeepBoostClassifier, KernelFamily, TreeOptions, __version__
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.families.kernel import KernelHypothesis
from radboost.trees.tree import NODE_ARRAYS, Tree

FOLDER = Path(__file__).parent
NAMES = ["width", "height", "weight", "age"]
COLUMNS: dict[str, list[Any]] = {
    "width": [-1.0, 0.25, 0.75],
    "colour": ["blue", "green", "red", "\u00e6sh-grey"],
    "number": list(range(255)),
    "new": [False, True],
}


def main() -> None:
    """A model of two classes as it was fitted, and two of three classes put together node by node."""
    rng = np.random.default_rng(20141208)
    X = rng.integers(-8, 9, size=(160, 4)) / 4.0
    rows = rng.integers(-10, 11, size=(40, 4)) / 4.0
    labels = np.where(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(0.0, 0.3, 160) > 0.0, 7, -7)
    two = DeepBoostClassifier(
        25,
        family=["trees", KernelFamily(gamma=0.1, n_centres=20)],
        max_depth=3,
        loss="exponential",
        learning_rate=0.5,
        tree_options=TreeOptions(growth="best_first", max_leaves=5),
    )
    keep("model_format_1_two_classes", two.fit(X, labels), rows)
    keep("model_format_1_three_classes", three_classes(), rows)
    cells = [[None if rng.random() < 0.2 else rng.choice(known) for known in COLUMNS.values()] for _ in range(40)]
    cells = [[cell.item() if isinstance(cell, np.generic) else cell for cell in row] for row in cells]
    cells[0][1:3] = ["a colour that was never seen", 254]
    keep("model_format_1_categories", categories(), np.array(cells, dtype=object))


def three_classes() -> DeepBoostClassifier:
    """Leaves that vote or abstain, missing values, kernels of every kind, a weight that went back to zero."""
    # A leaf is (class,), -1 abstains; another node (feature, threshold, left child, missing goes left, gain).
    hypotheses: list[Any] = [
        tree([(0, 0.25, 1, 0, 0.5), (2,), (-1,)]),
        tree([(1, -0.5, 1, 1, 0.75), (3, 1.0, 3, 0, 0.25), (1,), (0,), (2, np.inf, 5, 0, 0.125), (2,), (-1,)]),
        kernel("rbf", 0.1, [0.5, -1.0, 0.25, 2.0], 0),
        tree([(1,)]),
        kernel("laplacian", 0.25, [-1.5, 0.5, 1.0, -2.0], 2),
        kernel("cosine", 1.0, [1.0, 2.0, -0.75, 0.5], 1),
        tree([(3, 0.0, 1, 1, 0.5), (0, -1.25, 3, 1, 0.25), (2, 0.75, 5, 0, 0.25), (0,), (1,), (1,), (2,)]),
    ]
    parts = [(0, 0, 600_000), (1, 1, 300_001), (2, 2, 250_000), (4, 3, 99_999), (5, 4, 123_457), (6, 1, -100_001)]
    parts += [(7, 5, 77_777), (8, 3, -99_999), (9, 6, 400_003)]
    steps = np.array([(round_index, hypothesis, eta / 2**20) for round_index, hypothesis, eta in parts], STEP_TYPE)
    model = DeepBoostClassifier(10, family=["trees", "kernel"], l1_penalty=0.001)
    model.ensemble_ = Ensemble(
        hypotheses,
        [0.11, 0.19, 0.05, 0.08, 0.05, 0.05, 0.19],
        steps,
        n_rounds=10,
        n_features=4,
        n_families=65,
        sample_size=160.0,
        feature_names=NAMES,
        n_outputs=3,
    )
    model.classes_ = np.array(["large", "medium", "small"])
    model.loss_ = "logistic"
    model.objective_ = "compsum"
    model.history_ = {
        "objective": [2.0 - 0.0625 * t for t in range(10)],
        "train_error": [0.5 - 0.03125 * t for t in range(10)],
        "n_hypotheses": [1, 2, 3, 3, 4, 5, 5, 6, 5, 6],
    }
    model.n_iter_, model.n_skipped_rounds_, model.stop_reason_ = 10, 1, "all rounds done"
    model.n_features_in_, model.feature_names_in_ = 4, np.array(NAMES, dtype=object)
    return model


def categories() -> DeepBoostClassifier:
    """Splits by categories of every type, up to the last of 255, beside one by a number."""
    hypotheses: list[Any] = [
        tree([(1, 0.0, 1, 1, 0.5), (0,), (2,)], {0: [0, 2]}),
        tree(
            [(2, 0.0, 1, 0, 0.75), (0, 0.5, 3, 1, 0.25), (3, 0.0, 5, 0, 0.125), (1,), (-1,), (2,), (0,)],
            {0: [*range(0, 250, 3), 64, 128, 192, 254], 2: [1]},
        ),
        tree([(1, 0.0, 1, 0, 0.25), (1,), (-1,)], {0: [0, 1, 2, 3]}),
    ]
    steps = np.array([(0, 0, 0.5), (1, 1, 0.25 + 2**-20), (3, 2, 0.125)], STEP_TYPE)
    model = DeepBoostClassifier(4, categorical_features=list(COLUMNS)[1:], max_depth=2)
    model.ensemble_ = Ensemble(
        hypotheses,
        [0.25, 0.5, 0.25],
        steps,
        n_rounds=4,
        n_features=4,
        n_families=4,
        sample_size=80.0,
        feature_names=list(COLUMNS),
        n_outputs=3,
        categories={index: tuple(known) for index, known in enumerate(COLUMNS.values()) if index > 0},
    )
    model.classes_ = np.array([10, 20, 30])
    model.loss_ = "logistic"
    model.objective_ = "max"
    model.history_ = {"objective": [1.0, 0.75, 0.75, 0.5], "n_hypotheses": [1, 2, 2, 3]}
    model.n_iter_, model.n_skipped_rounds_, model.stop_reason_ = 4, 1, "all rounds done"
    model.n_features_in_, model.feature_names_in_ = 4, np.array(list(COLUMNS), dtype=object)
    return model


def tree(nodes: list[tuple[float, ...]], sets: dict[int, list[int]] | None = None) -> Tree:
    """`sets` has the codes of the categories that go left, by node."""
    rows = [(-1, 0.0, 0, 0, node[0], 8.0, 0.0) if len(node) == 1 else (*node[:4], 0.0, 16.0, node[4]) for node in nodes]
    columns = zip(*rows, strict=True)
    arrays = [np.array(column, dtype=dtype) for column, dtype in zip(columns, NODE_ARRAYS.values(), strict=True)]
    words = [
        sum(1 << code % 64 for code in codes if code // 64 == k) for codes in (sets or {}).values() for k in range(4)
    ]
    split_by_categories = np.array(list(sets or {}), dtype=np.int32), np.array(words, dtype=np.uint64)
    return Tree(arrays, 4, sum(len(node) > 1 for node in nodes), 3, *split_by_categories)


def kernel(name: str, gamma: float, centre: list[float], class_index: int) -> KernelHypothesis:
    return KernelHypothesis(name, gamma, np.array(centre), class_index, 3)


def keep(name: str, model: DeepBoostClassifier, rows: np.ndarray) -> None:
    """Save the model, and as JSON what it must answer; floats in hexadecimal, to the last bit."""
    model.save(FOLDER / f"{name}.radb")
    expected = {
        "radboost_version": __version__,
        "rows": rows.tolist(),
        "scores": in_hex(model.decision_function(rows)),
        "staged": [in_hex(scores[:1]) for scores in model.staged_decision_function(rows[:1])],
        "labels": model.predict(rows).tolist(),
        "probabilities": in_hex(model.predict_proba(rows)),
        "ensemble": repr(model.ensemble_),
        "importances": in_hex(model.feature_importances_),
        "complexities": in_hex(model.ensemble_.complexities),
        "classes": model.classes_.tolist(),
        "loss": model.loss_,
        "objective": radboost.load(FOLDER / f"{name}.radb").objective_,
        "feature_names": model.ensemble_.feature_names,
        "categories": [[column, list(known)] for column, known in model.categories_.items()],
        "stop_reason": model.stop_reason_,
        "history": model.history_,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


def in_hex(numbers: np.ndarray) -> list[Any]:
    """The numbers of each row, or plain numbers."""
    return [float(x).hex() if np.ndim(x) == 0 else [float(v).hex() for v in x] for x in numbers]


if __name__ == "__main__":
    main()
