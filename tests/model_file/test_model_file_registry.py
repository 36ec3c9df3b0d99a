"""What can be stored registers itself: a process that has only imported radboost opens every kind of model."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from radboost import EarlyStopping, KernelFamily, Mixtures, TreeFamilies, TreeOptions
from radboost.losses import HuberLoss
from radboost.model_file.registry import (
    estimator_named,
    known_estimators,
    known_values,
    storable_estimator,
    storable_value,
)
from radboost.sparsity import Products

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
SMALL = {"n_rounds": 4, "n_alphas": 3, "cv": 2, "rank": 2}
SPECIAL: dict[str, dict[str, Any]] = {
    "DeepBoostClassifier": {"family": ["trees", KernelFamily(n_centres=9)], "early_stopping": EarlyStopping(3)},
    "MultiSourceBoostClassifier": {"mixtures": Mixtures([[1.0]], penalty=0.5)},
    "RGBClassifier": {"family": TreeFamilies(sizes=(3,), norms=(1.0,))},
    "RGBRegressor": {"loss": HuberLoss(0.5), "tree_options": TreeOptions(max_bins=32)},
    "SparseBoostRegressor": {"family": Products(max_degree=2), "n_rounds": 10},
    "DeepBoostClassifierCV": {"param_grid": {"max_depth": [1, 2]}},
    "SoftmaxBoostClassifierCV": {"param_grid": {"thresholds": ["best", "random"]}},
    "RGBClassifierCV": {"param_grid": {"subsample": [0.5, 1.0]}},
    "RGBRegressorCV": {"param_grid": {"subsample": [0.5, 1.0]}},
}


def fitted(name: str) -> Any:
    estimator: Any = estimator_named(name)
    settings = {key: value for key, value in SMALL.items() if key in inspect.signature(estimator).parameters}
    model = estimator(**{**settings, **SPECIAL.get(name, {})})
    if "param_grid" in SPECIAL.get(name, {}):
        base: Any = estimator_named(name.removesuffix("CV"))
        model.set_params(estimator=base(n_rounds=4))
    target: Any = np.where(Y, 1.0, -1.0)[:, None] if name.startswith("MultiTask") else Y
    return model.fit(X, X[:, 0] - X[:, 2] ** 2 if "Regressor" in name else target)


@pytest.mark.filterwarnings("ignore")
def test_a_fresh_process_opens_every_kind(tmp_path: Path) -> None:
    expected = {}
    for name in known_estimators():
        if name == "SequenceClassifier":  # does not learn from these rows: tests/structured opens it
            continue
        model, path = fitted(name), tmp_path / f"{name}.radb"
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
