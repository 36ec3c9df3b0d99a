"""Boosting under Rademacher-complexity control."""

from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from radboost.boosting.checkpoint import Checkpoint
from radboost.estimators import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    EarlyStopping,
    Mixtures,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
    SupervisedKernelProjection,
)
from radboost.families import Candidates, KernelFamily, TreeFamilies, Trees
from radboost.model_file import ModelFileError, loaded_on_demand
from radboost.model_file import load_model as load
from radboost.penalties import WeightedL1
from radboost.projection.kernels import NamedKernel, PrecomputedKernel, column_kernels
from radboost.trees import TreeOptions
from radboost.tuning import DeepBoostClassifierCV, RGBClassifierCV, RGBRegressorCV, SoftmaxBoostClassifierCV

__version__ = version("radboost")

__all__ = [
    "AgnosticBoostClassifier",
    "AgnosticClassifier",
    "Candidates",
    "Checkpoint",
    "DeepBoostClassifier",
    "DeepBoostClassifierCV",
    "EarlyStopping",
    "KernelFamily",
    "Mixtures",
    "ModelFileError",
    "MultiSourceBoostClassifier",
    "MultiTaskSparseBoostClassifier",
    "MultiTaskSparseBoostClassifierCV",
    "NamedKernel",
    "PrecomputedKernel",
    "RGBClassifier",
    "RGBClassifierCV",
    "RGBRegressor",
    "RGBRegressorCV",
    "SoftmaxBoostClassifier",
    "SoftmaxBoostClassifierCV",
    "SparseBoostClassifier",
    "SparseBoostClassifierCV",
    "SparseBoostRegressor",
    "SparseBoostRegressorCV",
    "SupervisedKernelProjection",
    "TreeFamilies",
    "TreeOptions",
    "Trees",
    "WeightedL1",
    "column_kernels",
    "load",
]

_ON_DEMAND = (
    "baselines",
    "datasets",
    "export",
    "federated",
    "guarantees",
    "losses",
    "metrics",
    "plot",
    "report",
    "sparsity",
    "structured",
)


def __getattr__(name: str) -> ModuleType:
    """Lets `radboost.plot` and its like work after `import radboost`, and loads them only then."""
    if name in _ON_DEMAND:
        return import_module(f"radboost.{name}")
    raise AttributeError(f"module 'radboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ON_DEMAND, "__version__"})


# Models of these can be opened as well.
loaded_on_demand(lambda: import_module("radboost.baselines"))
loaded_on_demand(lambda: import_module("radboost.structured"))
