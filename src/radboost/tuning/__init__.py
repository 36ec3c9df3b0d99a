"""Settings chosen by cross-validation: rows are binned once, and settings compete by successive halving."""

from radboost.tuning.estimators import (
    DeepBoostClassifierCV,
    RGBClassifierCV,
    RGBRegressorCV,
    SoftmaxBoostClassifierCV,
)

__all__ = ["DeepBoostClassifierCV", "RGBClassifierCV", "RGBRegressorCV", "SoftmaxBoostClassifierCV"]
