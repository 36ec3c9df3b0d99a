"""Parameters in files: what `fit` refuses before it sees rows `load` refuses too, and all others come back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import radboost
from model_files import forged, setter
from radboost import (
    DeepBoostClassifier,
    KernelFamily,
    ModelFileError,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    TreeFamilies,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.losses import HuberLoss, QuantileLoss
from radboost.model_file import NotStored
from radboost.sparsity import Kernel, Products, Stumps, Trees

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
Y3 = Y + (X[:, 2] > 1)
MODELS = {
    kind.__name__: kind
    for kind in (
        DeepBoostClassifier,
        SoftmaxBoostClassifier,
        RGBClassifier,
        RGBRegressor,
        AdaBoostMHClassifier,
        SAMMEClassifier,
        MartiBoostClassifier,
        SparseBoostClassifier,
        SparseBoostRegressor,
        SparseBoostClassifierCV,
        MultiTaskSparseBoostClassifier,
    )
}
SMALL = {"SparseBoostClassifierCV": {"n_alphas": 3, "cv": 2}, "MartiBoostClassifier": {"n_rounds": 5}}


def fitted(name: str, **parameters: Any) -> Any:
    model = MODELS[name](**({"n_rounds": 3} if "n_rounds" in MODELS[name]().get_params() else {}))
    model.set_params(**{**SMALL.get(name, {}), **parameters})
    return model.fit(X, Y)


def typed(name: str, **fields: Any) -> dict[str, Any]:
    return {"$type": name, "fields": fields}


FORGED: list[tuple[str, str, Any]] = [
    *((name, "n_jobs", "zzz") for name in MODELS),
    ("DeepBoostClassifier", "verbose", -1),
    ("DeepBoostClassifier", "loss", "zzz"),
    ("DeepBoostClassifier", "loss", typed("HuberLoss", delta=1.0)),
    ("DeepBoostClassifier", "n_jobs", {"$type": "not stored", "repr": "x"}),
    ("DeepBoostClassifier", "family", ["trees", "zzz"]),
    ("DeepBoostClassifier", "family", typed("KernelFamily", gamma=-1.0)),
    ("DeepBoostClassifier", "tree_options", typed("TreeOptions", max_bins=1000)),
    ("DeepBoostClassifier", "tree_options", typed("HuberLoss", delta=1.0)),
    ("DeepBoostClassifier", "early_stopping", typed("EarlyStopping", patience=0)),
    ("SoftmaxBoostClassifier", "decision", {"$type": "not stored", "repr": "x"}),
    ("RGBClassifier", "loss", "squared"),
    ("RGBClassifier", "family", typed("TreeFamilies", sizes=[0])),
    ("RGBRegressor", "loss", typed("HuberLoss", delta="zzz")),
    ("SparseBoostClassifier", "family", typed("features.Products", max_degree="zzz")),
    ("SparseBoostClassifier", "family", typed("features.Stumps", max_thresholds=0)),
    ("SparseBoostClassifier", "family", typed("features.Trees", max_depth=99)),
    ("SparseBoostClassifier", "family", typed("features.Kernel", gamma=None)),
    ("SparseBoostRegressor", "epsilon", -1.0),
    ("SparseBoostClassifierCV", "alphas", ["zzz"]),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("models")
    for name in MODELS:
        fitted(name).save(folder / name)
        radboost.load(folder / name)
    return folder


@pytest.fixture
def refusal(files: Path, tmp_path: Path) -> Callable[[str, Any], str]:
    """The error with which a file is refused after a change; it names the file."""

    def load(name: str, change: Any) -> str:
        path = tmp_path / "m"
        path.write_bytes((files / name).read_bytes())
        with pytest.raises(ModelFileError, match=str(path)) as caught:
            radboost.load(forged(path, change))
        return str(caught.value)

    return load


@pytest.mark.parametrize(("name", "parameter", "value"), FORGED, ids=lambda item: str(item)[:40])
@pytest.mark.parametrize("entry", ["params", "given_params"])
def test_parameters_that_no_fit_takes(refusal: Any, name: str, parameter: str, value: Any, entry: str) -> None:
    refusal(name, setter(entry, parameter, value=value))


def test_the_error_is_that_of_a_fit(refusal: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as of_fit:
        DeepBoostClassifier(n_jobs="zzz").fit(X, Y)  # type: ignore[arg-type]
    assert str(of_fit.value) in refusal("DeepBoostClassifier", setter("params", "n_jobs", value="zzz"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (setter("given_params", value=[1]), "not a dict"),
        (setter("given_params", value={"shell": "ls"}), "no parameter shell"),
        (setter("params", "loss", value={"$type": "not stored", "repr": "x"}), "'loss'] twice"),
    ],
)
def test_given_parameters_are_some_of_the_estimators(refusal: Any, change: Any, reason: str) -> None:
    assert reason in refusal("RGBClassifier", change)


@pytest.mark.parametrize("kind", [RGBClassifier, SparseBoostClassifier])
def test_a_loss_for_two_classes_with_three(kind: Any, tmp_path: Path) -> None:
    kind().fit(X, Y3).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"exponential.* is for two classes"):
        radboost.load(forged(tmp_path / "m", setter("params", "loss", value="exponential")))


@pytest.mark.parametrize("name", ["DeepBoostClassifier", "RGBRegressor", "SparseBoostClassifierCV"])
def test_what_could_not_be_loaded_is_not_saved(name: str, tmp_path: Path) -> None:
    model = fitted(name).set_params(n_jobs="zzz")
    with pytest.raises(ModelFileError, match=r"(?s)could not be loaded: n_jobs must be.*'zzz'.*set_params"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


class OwnKernel:
    def __call__(self, centres: Any, rows: Any) -> Any:
        return np.exp(-np.abs(centres[:, :1] - rows[:, 0]))


TAKEN: list[tuple[str, dict[str, Any]]] = [
    ("DeepBoostClassifier", {"random_state": np.random.default_rng(0)}),
    ("DeepBoostClassifier", {"family": ["stumps", KernelFamily(kernel=OwnKernel())]}),
    ("DeepBoostClassifier", {"tree_options": TreeOptions(max_bins=np.int64(16), max_features=np.float32(0.5))}),
    ("RGBClassifier", {"family": TreeFamilies(sizes=range(2, 5)), "random_state": np.random.RandomState(0)}),
    ("RGBClassifier", {"family": TreeFamilies(sizes=(2, 3), norms=(1.0,), weights=np.ones((2, 1)))}),
    ("RGBRegressor", {"loss": QuantileLoss(0.3), "tree_options": TreeOptions(monotonic_constraints={0: 1})}),
    ("RGBRegressor", {"loss": HuberLoss(), "early_stopping": np.int64(4)}),
    ("SoftmaxBoostClassifier", {"cost": np.array([[0, 3], [1, 0]]), "decision": "minimum_cost"}),
    ("SparseBoostClassifier", {"family": Products(2)}),
    ("SparseBoostClassifier", {"family": Stumps(5), "random_state": None}),
    ("SparseBoostClassifier", {"family": Trees(2)}),
    ("SparseBoostClassifier", {"family": Kernel(centres=X[:4])}),
    ("SparseBoostClassifierCV", {"alphas": np.array([0.1, 0.01])}),
]


@pytest.mark.parametrize(("name", "parameters"), TAKEN, ids=range(len(TAKEN)))
def test_what_a_fit_takes_can_be_saved_and_loaded(name: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    model = fitted(name, **parameters)
    model.save(tmp_path / "m")
    loaded = radboost.load(tmp_path / "m")
    assert type(loaded) is type(model)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    for parameter in parameters:
        given, back = getattr(model, parameter), getattr(loaded, parameter)
        if isinstance(given, np.random.Generator | np.random.RandomState):
            assert isinstance(back, NotStored)
