"""SAMME (Zhu, Zou, Rosset and Hastie, 2009): AdaBoost for any number of classes, one tree a round."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost._validation import check_integer_or
from radboost.baselines._base import Baseline
from radboost.boosting.classic_monitors import SAMMEMonitor
from radboost.boosting.samme import SAMME
from radboost.estimators._documents import described_like
from radboost.estimators._exporting import class_output
from radboost.estimators._naming import with_constructor
from radboost.export.parts import ExportedOutput
from radboost.losses.link import Link
from radboost.model_file import storable_estimator


@storable_estimator
@described_like(Baseline)
@with_constructor
class SAMMEClassifier(Baseline):
    """AdaBoost with classification trees for any number of classes (Geist (2015), Algorithm 4).

    With two classes it is AdaBoost. It is here to compare with: on labels without noise it is hard to beat, and wrong
    labels lead it astray.

    Parameters
    ----------
    n_rounds : int
        Trees, at most. The fit stops by itself when a tree is right on every row, or no better than chance.
    max_leaves : int or "auto"
        Leaves of a tree, which is grown leaf by leaf. "auto" is the paper's (K - 1) * 12 for K classes.

    Attributes
    ----------
    classes_ : array of the labels, ascending
    ensemble_ : Ensemble
        Trees and their weights alpha; with two classes, where a tree says -1 or +1, alpha / 2.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost.baselines import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_rounds=20, max_leaves=4).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    n_rounds: int = field(default=100, kw_only=False)
    max_leaves: int | str = "auto"

    _algorithm = SAMME
    _monitor = SAMMEMonitor

    def _exported_output(self) -> ExportedOutput:
        n_classes = len(self.classes_)
        return class_output(self, Link("logistic", 2.0) if n_classes == 2 else Link("softmax"))

    def _check_max_leaves(self) -> None:
        check_integer_or(["auto"], "max_leaves", self.max_leaves, 2)

    def _max_leaves(self, n_classes: int) -> int:
        return 12 * (n_classes - 1) if self.max_leaves == "auto" else super()._max_leaves(n_classes)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """p_c proportional to exp psi(x, c), the minimizer of the expected loss (Zhu et al., section 2)."""
        columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        return np.asarray(softmax(columns, axis=1))
