"""Published algorithms as scikit-learn estimators."""

from radboost.boosting.monitor import EarlyStopping
from radboost.estimators._learning import learn
from radboost.estimators.agnostic import AgnosticClassifier
from radboost.estimators.agnostic_boost import AgnosticBoostClassifier
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.estimators.kernel_projection import SupervisedKernelProjection
from radboost.estimators.multi_source import MultiSourceBoostClassifier
from radboost.estimators.rgb import RGBClassifier, RGBRegressor
from radboost.estimators.softmax import SoftmaxBoostClassifier
from radboost.estimators.sparse import (
    MultiTaskSparseBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
)
from radboost.estimators.sparse_cv import (
    MultiTaskSparseBoostClassifierCV,
    SparseBoostClassifierCV,
    SparseBoostRegressorCV,
)
from radboost.objectives.over_sources import Mixtures

__all__ = [
    "AgnosticBoostClassifier",
    "AgnosticClassifier",
    "DeepBoostClassifier",
    "EarlyStopping",
    "Mixtures",
    "MultiSourceBoostClassifier",
    "MultiTaskSparseBoostClassifier",
    "MultiTaskSparseBoostClassifierCV",
    "RGBClassifier",
    "RGBRegressor",
    "SoftmaxBoostClassifier",
    "SparseBoostClassifier",
    "SparseBoostClassifierCV",
    "SparseBoostRegressor",
    "SparseBoostRegressorCV",
    "SupervisedKernelProjection",
    "learn",
]
