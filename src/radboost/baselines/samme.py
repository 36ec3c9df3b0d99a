"""SAMME (Zhu, Zou, Rosset and Hastie, 2009): AdaBoost for any number of classes, one tree a round."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_integer_or
from radboost.baselines._base import Baseline
from radboost.boosting import RoundMaker, Trace
from radboost.boosting.classic import ClassicProblem
from radboost.boosting.classic_monitors import SAMMEMonitor
from radboost.boosting.monitor import EarlyStopping
from radboost.boosting.samme import SAMME
from radboost.estimators._exporting import class_answer
from radboost.export.parts import ExportedAnswer
from radboost.losses.link import Link
from radboost.model_file import storable_estimator
from radboost.trees import TreeOptions


@storable_estimator
class SAMMEClassifier(Baseline):
    """AdaBoost with classification trees for any number of classes (Soft-max boosting, Algorithm 4).

    With two classes it is AdaBoost. It is here to compare with: on labels without noise it is hard to beat, and wrong
    labels lead it astray.

    Parameters
    ----------
    n_rounds : int
        Trees, at most. The fit stops by itself when a tree is right on every row, or no better than chance.
    max_leaves : int or "auto"
        Leaves of a tree, which is grown leaf by leaf. "auto" is the paper's (K - 1) * 12 for K classes.
    categorical_features : "from_dtype", None, or a list of column indices or names, or a mask of booleans
        As for `DeepBoostClassifier`.
    class_weight : dict from labels to weights, "balanced", or None
        As for `DeepBoostClassifier`.
    early_stopping : bool, int or EarlyStopping
        As for `DeepBoostClassifier`.
    n_jobs : int or None
        Threads, at most 1024; None for all cores. The model does not depend on it.
    verbose : int
        Show a progress bar.
    warm_start : bool
        Go on from the last fit, with the same rows, up to `n_rounds` rounds in all. The model is that of one long fit.
    tree_options : TreeOptions or None
        The number of bins (`max_bins`).

    Attributes
    ----------
    classes_ : array of the labels, ascending
    ensemble_ : Ensemble
        Trees and their weights alpha; with two classes, where a tree says -1 or +1, alpha / 2.
    history_ : dict of lists, one entry per round
        "objective" (the mean exponential loss that SAMME descends on), "train_error", "n_hypotheses"; with validation
        rows "validation_error" and "validation_loss", the same loss on them.
    n_iter_, stop_reason_ : how many rounds there were, and why no more
    n_skipped_rounds_ : int
        Always 0: a round without a useful tree ends the fit.
    feature_importances_, n_features_in_, feature_names_in_, categories_ : as for `DeepBoostClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost.baselines import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_rounds=20, max_leaves=4).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _watch = SAMMEMonitor

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        max_leaves: int | str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        early_stopping: bool | int | EarlyStopping = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        tree_options: TreeOptions | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.max_leaves = max_leaves
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.tree_options = tree_options

    def _exported_answer(self) -> ExportedAnswer:
        n_classes = len(self.classes_)
        return class_answer(self, Link("logistic", 2.0) if n_classes == 2 else Link("softmax"))

    def _check_parameters(self) -> None:
        check_integer("n_rounds", self.n_rounds, 1)
        check_integer_or(["auto"], "max_leaves", self.max_leaves, 2)

    def _max_leaves(self, n_classes: int) -> int:
        return 12 * (n_classes - 1) if isinstance(self.max_leaves, str) else int(self.max_leaves)

    def _maker(self, problem: ClassicProblem, max_leaves: int, trace: Trace) -> RoundMaker:
        return SAMME(problem, max_leaves, trace)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """p_c proportional to exp psi(x, c), the minimiser of the expected loss (Zhu et al., section 2)."""
        columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        return np.asarray(softmax(columns, axis=1))
