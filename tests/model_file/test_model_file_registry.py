"""What can be stored registers itself: a process that has only imported radboost opens every kind of model."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radboost import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    EarlyStopping,
    KernelFamily,
    Mixtures,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    RGBClassifier,
    RGBClassifierCV,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SoftmaxBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
    TreeFamilies,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.estimators import SupervisedKernelProjection
from radboost.losses import HuberLoss
from radboost.model_file.registry import known_estimators, known_values, storable_estimator, storable_value
from radboost.sparsity import Products

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
T = X[:, 0] - X[:, 2] ** 2
MODELS: list[tuple[Any, Any]] = [
    (DeepBoostClassifier(4, family=["trees", KernelFamily(n_centres=9)], early_stopping=EarlyStopping(3)), Y),
    (MultiSourceBoostClassifier(4, mixtures=Mixtures([[1.0]], penalty=0.5)), Y),
    (SoftmaxBoostClassifier(4), Y),
    (RGBClassifier(4, family=TreeFamilies(sizes=(3,), norms=(1.0,))), Y),
    (RGBRegressor(4, loss=HuberLoss(0.5), tree_options=TreeOptions(max_bins=32)), T),
    (AdaBoostMHClassifier(4), Y),
    (SAMMEClassifier(4), Y),
    (MartiBoostClassifier(5), Y),
    (AgnosticClassifier(n_rounds=20), Y),
    (AgnosticBoostClassifier(4), Y),
    (SupervisedKernelProjection(rank=2), Y),
    (SparseBoostClassifier(0.01), Y),
    (SparseBoostRegressor(0.01, family=Products(max_degree=2)), T),
    (MultiTaskSparseBoostClassifier(0.01), np.where(Y, 1.0, -1.0)[:, None]),
    (SparseBoostClassifierCV(n_alphas=3, cv=2), Y),
    (SparseBoostRegressorCV(n_alphas=3, cv=2), T),
    (MultiTaskSparseBoostClassifierCV(n_alphas=3, cv=2), np.where(Y, 1.0, -1.0)[:, None]),
    (DeepBoostClassifierCV(DeepBoostClassifier(4), param_grid={"max_depth": [1, 2]}, cv=2), Y),
    (SoftmaxBoostClassifierCV(SoftmaxBoostClassifier(4), param_grid={"thresholds": ["best", "random"]}, cv=2), Y),
    (RGBClassifierCV(RGBClassifier(4), param_grid={"subsample": [0.5, 1.0]}, cv=2), Y),
    (RGBRegressorCV(RGBRegressor(4), param_grid={"subsample": [0.5, 1.0]}, cv=2), T),
]


def test_every_estimator_is_here() -> None:
    """Models of sequences do not learn from these rows: tests/structured opens them in a fresh process."""
    here = {type(model).__name__ for model, _ in MODELS}
    assert sorted(here | {"SequenceClassifier"}) == known_estimators()


def test_a_fresh_process_opens_every_kind(tmp_path: Path) -> None:
    expected = {}
    for model, target in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, target)
        path = tmp_path / f"{type(model).__name__}.radb"
        model.save(path)
        expected[str(path)] = [float(value).hex() for value in np.asarray(model.predict(X), dtype=float).ravel()]
    np.save(tmp_path / "rows.npy", X)
    script = (
        "import json, sys, numpy, radboost\n"
        "assert 'radboost.baselines' not in sys.modules\n"
        "rows, out = numpy.load(sys.argv[1]), {}\n"
        "for path in sys.argv[2:]:\n"
        "    values = numpy.asarray(radboost.load(path).predict(rows), dtype=float).ravel()\n"
        "    out[path] = [float(value).hex() for value in values]\n"
        "print(json.dumps(out))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "rows.npy"), *expected]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == expected


def test_names_are_taken_once() -> None:
    class DeepBoostClassifier:  # not the one of radboost
        pass

    with pytest.raises(ValueError, match=r"(?s)'DeepBoostClassifier' is the name of.*needs another"):
        storable_estimator(DeepBoostClassifier)
    with pytest.raises(ValueError, match=r"'HuberLoss' is the name of"):
        storable_value(type("HuberLoss", (), {}))
    assert known_values()["HuberLoss"] is HuberLoss
