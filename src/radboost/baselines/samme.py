"""SAMME (Zhu, Zou, Rosset and Hastie, 2009): AdaBoost for any number of classes, one tree a round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import softmax

from radboost._progress import Progress
from radboost._typing import FloatArray
from radboost._validation import check_integer, check_integer_or
from radboost.baselines._base import FLAWLESS, NO_EDGE, STEP_GRID, Baseline, BaselineProblem, Members
from radboost.baselines._weights import GROWTH_TOTAL, exponentials
from radboost.engine import log
from radboost.model_file import storable_estimator
from radboost.penalties import on_grid


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
    max_bins : int
        Bins per column, besides the one for missing values; 2 to 255.
    categorical_features : "from_dtype", None, or a list of column indices or names, or a mask of booleans
        As for `DeepBoostClassifier`.
    n_jobs : int or None
        Threads, at most 1024; None for all cores. The model does not depend on it.
    verbose : int
        Show a progress bar.

    Attributes
    ----------
    classes_ : array of the labels, ascending
    ensemble_ : Ensemble
        Trees and their weights alpha; with two classes, where a tree says -1 or +1, alpha / 2.
    history_ : dict of lists, one entry per round
        "objective" (the mean exponential loss that SAMME descends on), "train_error", "n_hypotheses".
    n_iter_, stop_reason_ : how many rounds there were, and why no more
    n_skipped_rounds_ : int
        Always 0: a round without a useful tree ends the fit.
    feature_importances_, n_features_in_, feature_names_in_, categories_ : as for `DeepBoostClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost.baselines import SAMMEClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(20, max_leaves=4).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        max_leaves: int | str = "auto",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_rounds = n_rounds
        self.max_leaves = max_leaves
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_integer("n_rounds", self.n_rounds, 1)
        check_integer_or(["auto"], "max_leaves", self.max_leaves, 2)

    def _n_stages(self) -> int:
        return self.n_rounds

    def _learn(self, problem: BaselineProblem, advance: Progress) -> None:
        n_classes = problem.n_classes
        max_leaves = 12 * (n_classes - 1) if isinstance(self.max_leaves, str) else int(self.max_leaves)
        trees, members = problem.trees(n_classes, max_leaves), Members()
        labels = problem.class_ids
        scores = np.zeros((problem.n_rows, n_classes))
        missed = np.zeros(problem.n_rows)  # sum of the alphas that were wrong about a row: the log of its weight
        total_step = 0.0
        for round_index in range(self.n_rounds):
            fixed, _ = problem.weights.fixed(exponentials(missed)[0])
            counted = problem.weights.counted(fixed)
            total = int(counted.sum())
            growth = problem.weights.growth(fixed, GROWTH_TOTAL / total)
            (tree,) = trees.grow(labels[None], growth[None], round_index, problem.weights.given)
            answers = trees.answers(tree)
            wrong = answers != labels
            error = int(counted[wrong].sum()) / total
            if error >= 1.0 - 1.0 / n_classes:
                members.trace.stop_reason = NO_EDGE
                break
            # A flawless tree asks for an infinite step: it gets that of half an error among all rows.
            bounded = max(error, 0.5 / problem.weights.total)
            halves = 0.5 if n_classes == 2 else 1.0  # the two scores of a tree's vote are one number there
            step = on_grid(halves * (log((1.0 - bounded) / bounded) + log(n_classes - 1.0)), STEP_GRID)
            alpha = step / halves
            members.add(trees.hypothesis(tree), step, round_index)
            total_step += alpha
            missed[wrong] += alpha
            scores[np.arange(problem.n_rows), answers] += alpha
            objective = _mean_loss(problem, missed, n_classes, total_step)
            members.record(objective, problem.error_rate(scores.argmax(axis=1) != labels))
            advance(objective, members.trace.history["train_error"][-1], len(members.trace.hypotheses))
            if error == 0.0:
                members.trace.stop_reason = FLAWLESS
                break
        self.ensemble_ = problem.ensemble(members.trace, max_leaves)
        self.history_, self.stop_reason_ = members.trace.history, members.trace.stop_reason

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """p_c proportional to exp psi(x, c), the minimiser of the expected loss (Zhu et al., section 2)."""
        columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        return np.asarray(softmax(columns, axis=1))


def _mean_loss(problem: BaselineProblem, missed: FloatArray, n_classes: int, total_step: float) -> float:
    """Mean of exp(missed - (K - 1)/K * sum of all alphas): SAMME's exponential loss, in which each step is exact."""
    values, shift = exponentials(missed)
    fixed, bits = problem.weights.fixed(values)
    total = int(problem.weights.counted(fixed).sum())
    mean = math.ldexp(total, -bits) / problem.weights.total
    return mean * math.exp(float(shift) - total_step * (n_classes - 1) / n_classes)
