"""Published algorithms as scikit-learn estimators."""

from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.estimators.early_stopping import EarlyStopping
from radboost.estimators.softmax import SoftmaxBoostClassifier

__all__ = ["DeepBoostClassifier", "EarlyStopping", "SoftmaxBoostClassifier"]
