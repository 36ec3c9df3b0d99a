"""Published algorithms as scikit-learn estimators."""

from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.estimators.early_stopping import EarlyStopping

__all__ = ["DeepBoostClassifier", "EarlyStopping"]
