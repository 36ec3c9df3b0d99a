"""Published algorithms as scikit-learn estimators."""

from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.estimators.early_stopping import EarlyStopping
from radboost.estimators.rgb import RGBClassifier, RGBRegressor
from radboost.estimators.softmax import SoftmaxBoostClassifier

__all__ = ["DeepBoostClassifier", "EarlyStopping", "RGBClassifier", "RGBRegressor", "SoftmaxBoostClassifier"]
