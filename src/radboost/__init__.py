"""Boosting under Rademacher-complexity control."""

from importlib.metadata import version

from radboost.estimators import DeepBoostClassifier, EarlyStopping
from radboost.families import KernelFamily
from radboost.model_file import ModelFileError
from radboost.model_file import load_model as load
from radboost.trees import TreeOptions

__version__ = version("radboost")

__all__ = ["DeepBoostClassifier", "EarlyStopping", "KernelFamily", "ModelFileError", "TreeOptions", "load"]
