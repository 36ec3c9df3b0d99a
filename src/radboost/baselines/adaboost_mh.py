"""AdaBoost.MH (Schapire and Singer, 1999): AdaBoost on pairs of a row and a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
from scipy.special import expit

from radboost._typing import FloatArray
from radboost.baselines._base import Baseline
from radboost.boosting.adaboost_mh import AdaBoostMH
from radboost.boosting.classic_monitors import AdaBoostMHMonitor
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output
from radboost.estimators._naming import with_constructor
from radboost.export.parts import ExportedOutput, ScoreSum, sum_of_trees
from radboost.losses.link import Link
from radboost.model_file import storable_estimator


@storable_estimator
@described_like(Baseline)
@with_constructor
class AdaBoostMHClassifier(Baseline):
    """AdaBoost on the question of each class whether it is the right one, one tree per class and round.

    Geist (2015), Algorithm 3, which predicts the class of the largest score (the paper's argmax of signs ties
    almost always). With two classes, whose questions are one, it is AdaBoost with one tree a round. It is here to
    compare with: on labels without noise it is hard to beat, and wrong labels lead it astray.

    Parameters
    ----------
    n_rounds : int
        Rounds, at most. The fit stops by itself when all trees are right on every row, or no better than chance.
    max_leaves : int
        Leaves of a tree, which is grown leaf by leaf.

    Attributes
    ----------
    classes_ : array of the labels, ascending
    ensemble_ : Ensemble
        With two classes trees that say -1 or +1, and their weights alpha. With more a tree speaks for one class: it
        votes for it or abstains, with weight 2 alpha. `decision_function` takes the sum of the alphas off, which makes
        them the scores of Algorithm 3, in which a tree says +1 or -1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost.baselines import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_rounds=50, max_leaves=2).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    n_rounds: int = field(default=100, kw_only=False)
    max_leaves: int = 12

    _algorithm = AdaBoostMH
    _monitor = AdaBoostMHMonitor

    @of_one_fit
    def decision_function(self, X: Any, offset: Any = None) -> FloatArray:
        """The scores psi(x, c) of Algorithm 3, one column per class; with two classes psi(x, second class)."""
        return super().decision_function(X, offset) + self._constant_of_scores()

    @of_one_fit
    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[FloatArray]:
        """The scores after each round."""
        self._require_fitted()
        steps = self.ensemble_.steps
        sums = np.bincount(steps["round"], weights=steps["eta"], minlength=self.ensemble_.n_rounds).cumsum()
        for total, scores in zip(sums, super().staged_decision_function(X, offset), strict=True):
            yield scores + _abstaining(total, self.ensemble_.n_outputs)

    def _constant_of_scores(self) -> float:
        return _abstaining(self.ensemble_.weights.sum(), self.ensemble_.n_outputs)

    def _exported_scores(self) -> ScoreSum:
        n_outputs = self.ensemble_.n_outputs
        total = float(self.ensemble_.weights.sum())
        return sum_of_trees(self.ensemble_, taken_off=0.0 if n_outputs == 1 else total / (2 * n_outputs))

    def _exported_output(self) -> ExportedOutput:
        return class_output(self, Link("logistic" if len(self.classes_) == 2 else "logistic_shares", 2.0))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Normalized 1 / (1 + exp(-2 psi)), for each class the minimizer of its expected loss."""
        if scores.ndim == 1:
            return np.column_stack([expit(-2.0 * scores), expit(2.0 * scores)])
        # Divided by that of the best class, so that a row whose classes are all improbable is no division by zero.
        odds = np.exp(_log_expit(2.0 * scores) - _log_expit(2.0 * scores.max(axis=1, keepdims=True)))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _abstaining(total: float, n_outputs: int) -> float:
    """Minus the sum of the alphas: K trees a round with weight 2 alpha each have the sum `total`. 0 for two classes."""
    return 0.0 if n_outputs == 1 else -float(total) / (2 * n_outputs)


def _log_expit(x: FloatArray) -> FloatArray:
    return -np.logaddexp(0.0, -x)
