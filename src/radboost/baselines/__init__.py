"""Older boosting algorithms on the same engine, to compare with.

    from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier

AdaBoost.MH and SAMME are what soft-max boosting was compared with in its paper (Geist, 2015); martingale boosting, for
two classes, withstands wrong labels like it.
"""

from radboost.baselines.adaboost_mh import AdaBoostMHClassifier
from radboost.baselines.martiboost import MartiBoostClassifier
from radboost.baselines.program import BranchingProgram
from radboost.baselines.samme import SAMMEClassifier

__all__ = ["AdaBoostMHClassifier", "BranchingProgram", "MartiBoostClassifier", "SAMMEClassifier"]
