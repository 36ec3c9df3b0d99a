"""AdaBoost.MH (Schapire and Singer, 1999): AdaBoost on pairs of a row and a class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from radboost._progress import Progress
from radboost._typing import FloatArray
from radboost._validation import check_integer
from radboost.baselines._base import FLAWLESS, NO_EDGE, STEP_GRID, Baseline, BaselineProblem, Members
from radboost.baselines._weights import GROWTH_TOTAL, exponentials
from radboost.engine import log
from radboost.model_file import storable_estimator
from radboost.penalties import on_grid
from radboost.trees import Tree


@storable_estimator
class AdaBoostMHClassifier(Baseline):
    """AdaBoost that asks of each class whether it is the right one, one tree per class and round.

    Soft-max boosting, Algorithm 3, with the class of the largest score as its answer (the paper's argmax of signs ties
    almost always). With two classes, whose questions are one, it is AdaBoost with one tree a round. It is here to
    compare with: on labels without noise it is hard to beat, and wrong labels lead it astray.

    Parameters
    ----------
    n_rounds : int
        Rounds, at most. The fit stops by itself when all trees are right on every row, or no better than chance.
    max_leaves : int
        Leaves of a tree, which is grown leaf by leaf.
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
        With two classes trees that say -1 or +1, and their weights alpha. With more a tree speaks for one class: it
        votes for it or abstains, with weight 2 alpha. `decision_function` takes the sum of the alphas off, which makes
        them the scores of Algorithm 3, in which a tree says +1 or -1.
    history_ : dict of lists, one entry per round
        "objective" (the mean exponential loss over rows and classes), "train_error", "n_hypotheses".
    n_iter_, stop_reason_ : how many rounds there were, and why no more
    n_skipped_rounds_ : int
        Always 0: a round without a useful tree ends the fit.
    feature_importances_, n_features_in_, feature_names_in_, categories_ : as for `DeepBoostClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from radboost.baselines import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(50, max_leaves=2).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        max_leaves: int = 12,
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

    def decision_function(self, X: Any) -> FloatArray:
        """The scores psi(x, c) of Algorithm 3, one column per class; with two classes psi(x, second class)."""
        scores = super().decision_function(X)
        return scores - _abstaining(self.ensemble_.weights.sum(), scores)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The scores after each round."""
        self._require_fitted()
        steps = self.ensemble_.steps
        sums = np.bincount(steps["round"], weights=steps["eta"], minlength=self.ensemble_.n_rounds).cumsum()
        for total, scores in zip(sums, super().staged_decision_function(X), strict=True):
            yield scores - _abstaining(total, scores)

    def _check_parameters(self) -> None:
        check_integer("n_rounds", self.n_rounds, 1)
        check_integer("max_leaves", self.max_leaves, 2)

    def _n_stages(self) -> int:
        return self.n_rounds

    def _learn(self, problem: BaselineProblem, advance: Progress) -> None:
        trees, members = problem.trees(2, self.max_leaves), Members()
        # Of two classes the first has the mirror images of the second's trees.
        columns = np.array([1]) if problem.n_classes == 2 else np.arange(problem.n_classes)
        own = columns[:, None] == problem.class_ids
        labels, target = own.astype(np.uint16), np.where(own, 1.0, -1.0)
        scores = np.zeros(own.shape)  # one line for each class
        lines = _Lines(problem, -target * scores)
        for round_index in range(self.n_rounds):
            growth = problem.weights.growth(lines.fixed, GROWTH_TOTAL / lines.totals[:, None])
            grown = trees.grow(labels, growth, round_index, problem.weights.given)
            plus = np.stack([trees.answers(tree) for tree in grown]) == 1
            error = lines.total(plus != own) / lines.total()
            if error >= 0.5:
                members.trace.stop_reason = NO_EDGE
                break
            # Trees without a fault ask for an infinite step: they get that of half an error among all pairs.
            bounded = max(error, 0.5 / (problem.weights.total * len(columns)))
            alpha = on_grid(0.5 * log((1.0 - bounded) / bounded), STEP_GRID)
            for column, tree in zip(columns, grown, strict=True):
                hypothesis = trees.hypothesis(tree)
                if len(columns) == 1:
                    members.add(hypothesis, alpha, round_index)
                else:
                    members.add(_votes_for(hypothesis, int(column), problem.n_classes), 2.0 * alpha, round_index)
            scores += np.where(plus, alpha, -alpha)
            lines = _Lines(problem, -target * scores)
            objective = lines.total() * math.exp(lines.shift) / (problem.weights.total * len(columns))
            predicted = scores[0] > 0 if len(columns) == 1 else scores.argmax(axis=0)
            members.record(objective, problem.error_rate(predicted != problem.class_ids))
            advance(objective, members.trace.history["train_error"][-1], len(members.trace.hypotheses))
            if error == 0.0:
                members.trace.stop_reason = FLAWLESS
                break
        self.ensemble_ = problem.ensemble(members.trace, self.max_leaves)
        self.history_, self.stop_reason_ = members.trace.history, members.trace.stop_reason

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Of each class alone 1 / (1 + exp(-2 psi)), the minimiser of its expected loss; together they sum to 1."""
        if scores.ndim == 1:
            return np.column_stack([expit(-2.0 * scores), expit(2.0 * scores)])
        # Divided by that of the best class, so that a row whose classes are all improbable is no division by zero.
        odds = np.exp(_log_expit(2.0 * scores) - _log_expit(2.0 * scores.max(axis=1, keepdims=True)))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


class _Lines:
    """w(x, y) proportional to exp of the given exponents: one line for each class, each with a scale of its own.

    A class that is learned early has weights far below those of the others, and its tree must see them all the same.
    """

    def __init__(self, problem: BaselineProblem, exponents: FloatArray) -> None:
        values, shifts = exponentials(exponents)
        self.fixed, bits = problem.weights.fixed(values)
        self._counted = problem.weights.counted(self.fixed)
        self.totals = self._counted.sum(axis=1)
        self.shift = float(shifts.max())
        self._units = [math.exp(float(shift) - self.shift) * 2.0**-bits for shift in shifts]

    def total(self, chosen: npt.NDArray[np.bool_] | None = None) -> float:
        """The weight of all pairs, or of the chosen ones, in units of exp(shift)."""
        sums = self.totals if chosen is None else np.where(chosen, self._counted, 0).sum(axis=1)
        return math.fsum(unit * int(line) for unit, line in zip(self._units, sums, strict=True))


def _abstaining(total: float, scores: FloatArray) -> float:
    """The sum of the alphas: K trees a round with weight 2 alpha each have the sum `total`. Nothing for two classes."""
    return 0.0 if scores.ndim == 1 else float(total) / (2 * scores.shape[1])


def _votes_for(tree: Tree, class_index: int, n_classes: int) -> Tree:
    """The tree that votes for a class where `tree` says +1, and abstains elsewhere."""
    value = np.where(tree.feature >= 0, 0.0, np.where(tree.value > 0, float(class_index), -1.0))
    arrays = [value if array is tree.value else array for array in tree.arrays]
    return Tree(arrays, tree.n_features, tree.n_splits, n_classes, tree.category_nodes, tree.category_sets)


def _log_expit(x: FloatArray) -> FloatArray:
    return -np.logaddexp(0.0, -x)
