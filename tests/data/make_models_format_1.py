"""Makes the models of format 1 beside this file, which every later version must open and score the same.

Run once, before the first release of format 1. Never again: the files are there to be old.
"""

import json
from pathlib import Path

import numpy as np

from radboost import DeepBoostClassifier, EarlyStopping, KernelFamily, TreeOptions, __version__

FOLDER = Path(__file__).parent


def main() -> None:
    """One model of trees, with missing values, and one of kernel functions."""
    rng = np.random.default_rng(20140621)
    X = rng.integers(-8, 9, size=(160, 4)) / 4.0
    rows = rng.integers(-10, 11, size=(40, 4)) / 4.0
    labels = np.where(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(0.0, 0.3, 160) > 0.0, "yes", "no")
    with_holes, rows_with_holes = (np.where(rng.random(x.shape) < 0.1, np.nan, x) for x in (X, rows))
    trees = DeepBoostClassifier.paper(
        n_rounds=40,
        family=["stump_pairs", "trees"],
        max_depth=4,
        loss="logistic",
        complexity_penalty=0.05,
        l1_penalty=0.002,
        early_stopping=EarlyStopping(patience=40, validation_fraction=0.2),
        tree_options=TreeOptions(max_bins=16),
    )
    trees.fit(with_holes, labels, X_val=with_holes, y_val=labels)
    keep("model_format_1_trees", trees, rows_with_holes)
    families = [KernelFamily(gamma=0.1, n_centres=20), KernelFamily("laplacian", gamma=0.25), KernelFamily("cosine")]
    kernels = DeepBoostClassifier(30, family=families, complexity_penalty=0.001, learning_rate=0.5)
    keep("model_format_1_kernels", kernels.fit(X, (X**2).sum(axis=1) < 5.5), rows)


def keep(name: str, model: DeepBoostClassifier, rows: np.ndarray) -> None:
    """Save the model, and as JSON what it must answer; floats in hexadecimal, to the last bit."""
    model.save(FOLDER / f"{name}.radb")
    expected = {
        "radboost_version": __version__,
        "rows": [[None if np.isnan(x) else x for x in row] for row in rows.tolist()],
        "scores": [score.hex() for score in model.decision_function(rows).tolist()],
        "staged": [scores[0].hex() for scores in model.staged_decision_function(rows[:1])],
        "labels": model.predict(rows).tolist(),
        "probabilities": [p.hex() for p in model.predict_proba(rows)[:, 1].tolist()],
        "repr": repr(model),
        "ensemble": repr(model.ensemble_),
        "complexities": [r.hex() for r in model.ensemble_.complexities.tolist()],
        "classes": model.classes_.tolist(),
        "stop_reason": model.stop_reason_,
        "history": model.history_,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
