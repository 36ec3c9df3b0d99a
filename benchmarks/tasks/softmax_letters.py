"""Soft-max boosting on letters: the paper's algorithm here, and around scikit-learn's DecisionTreeClassifier."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks import data
from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost import SoftmaxBoostClassifier

REFERENCE = Path(__file__).resolve().parents[2] / "tests" / "reference" / "softmax.py"
TRAINING_ROWS = 15_000


def run(sizes: Sizes) -> Result:
    """Measure seconds of 1000 rounds, 26,000 trees; scikit-learn's are extrapolated from the first rounds."""
    X, y = data.real("letters")
    X_train, y_train = (part[:TRAINING_ROWS][: sizes.real_rows] for part in (X, y))
    few, many = sizes.softmax_rounds
    model = SoftmaxBoostClassifier.paper(many, n_jobs=2)
    whole = seconds(lambda: model.fit(X_train, y_train))
    slow = seconds_per_round(X_train, y_train, few)
    return Result(
        title=f"Soft-max boosting on letters, {len(y_train):,} rows, 26 classes, {many} rounds",
        unit="s",
        rows=[
            Row(
                "RadBoost",
                whole,
                ours=True,
                error=1.0 - float(model.score(X[TRAINING_ROWS:], y[TRAINING_ROWS:])),
                trees=len(model.ensemble_.hypotheses),
            ),
            Row("scikit-learn trees", slow * many, note=f"extrapolated from {few} rounds, {slow * few:.1f} s"),
        ],
        note=(
            "`SoftmaxBoostClassifier.paper`, Algorithm 2 with trees of 12 leaves and M = N, two threads, beside the "
            f"same algorithm in NumPy with scikit-learn's trees (tests/reference/{REFERENCE.name}), one thread."
        ),
    )


def seconds_per_round(X: data.Matrix, y: data.Labels, rounds: int) -> float:
    """Measure the reference implementation."""
    reference = _load_reference()
    costs = 1.0 - np.eye(int(y.max()) + 1)[y]
    boosting = reference.sm_boost(X, costs, rounds, np.random.default_rng(0))
    return seconds(lambda: list(itertools.islice(boosting, rounds))) / rounds


def _load_reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("softmax_reference", REFERENCE)
    if spec is None or spec.loader is None:
        raise ImportError(f"{REFERENCE} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module
