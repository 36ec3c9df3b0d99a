"""Martingale boosting (Long and Servedio, 2005)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from radboost._progress import Progress
from radboost._typing import FloatArray
from radboost._validation import check_integer
from radboost.baselines._base import Baseline, BaselineProblem
from radboost.baselines._weights import GROWTH_TOTAL, Fixed
from radboost.baselines.program import BranchingProgram
from radboost.boosting.trace import ALL_ROUNDS
from radboost.engine import AnsweringTree
from radboost.model_file import storable_estimator
from radboost.trees import GivenTrees, Tree
from radboost.trees.tree import NODE_ARRAYS

BLOCK_NODES = 64  # nodes of a layer whose trees are grown together


@storable_estimator
class MartiBoostClassifier(Baseline):
    """Martingale boosting: a grid of trees through which a row walks at random (Soft-max boosting, section 5.5.1).

    For two classes. Layer l has l nodes, each with a tree. A node looks at the rows that reach it, with both classes
    balanced, and its answers are randomised so that it goes either way equally often: then it is as right about one
    class as about the other, and a row's walk drifts to the side of its class. Rows that are always wrong have no more
    say than others, so that wrong labels do little harm.

    A random walk is a distribution over the nodes of a layer, and that is what is computed, in training and in
    prediction: nothing is drawn. `predict_proba` is the probability that a walk ends on either side, `predict` the more
    probable side; the expected error of the paper's single walk is the mean of 1 - predict_proba of the right class.

    Parameters
    ----------
    n_layers : int
        L, at most 2000: there are L (L + 1) / 2 trees. An odd number leaves no middle, which counts for the first
        class.
    max_leaves : int
        Leaves of a tree; 2 is a stump, as in the paper.
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
    classes_ : array of the two labels, ascending
    ensemble_ : BranchingProgram
    history_ : dict of lists, one entry per layer
        "objective" (the expected error of a walk that ends there), "train_error", "n_hypotheses".
    n_iter_ : int
        Layers.
    n_skipped_rounds_ : int
        Always 0: every layer is kept.
    stop_reason_, feature_importances_, n_features_in_, feature_names_in_, categories_ : as for `DeepBoostClassifier`

    Examples
    --------
    >>> from radboost.baselines import MartiBoostClassifier
    >>> from radboost.datasets import make_long_servedio
    >>> X, y = make_long_servedio(400, noise=0.1, random_state=0)
    >>> model = MartiBoostClassifier(25).fit(X, y)
    >>> len(model.ensemble_)
    325
    """

    type_of_ensemble: ClassVar[type[Any]] = BranchingProgram
    ensemble_: BranchingProgram  # type: ignore[assignment]

    def __init__(
        self,
        n_layers: int = 101,
        *,
        max_leaves: int = 2,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_layers = n_layers
        self.max_leaves = max_leaves
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_integer("n_layers", self.n_layers, 1, 2000)
        check_integer("max_leaves", self.max_leaves, 2)

    def _check_classes(self, classes: npt.NDArray[Any]) -> None:
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported by MartiBoostClassifier: y holds {len(classes)} classes. Use "
                "SAMMEClassifier, AdaBoostMHClassifier or DeepBoostClassifier for more than two."
            )

    def _n_stages(self) -> int:
        return self.n_layers

    def _learn(self, problem: BaselineProblem, advance: Progress) -> None:
        grid = _Grid(problem, problem.trees(2, self.max_leaves))
        history: dict[str, list[float]] = {"objective": [], "train_error": [], "n_hypotheses": []}
        for layer in range(self.n_layers):
            grid.add_layer(layer)
            expected, train_error = grid.errors()
            history["objective"].append(expected)
            history["train_error"].append(train_error)
            history["n_hypotheses"].append(len(grid.trees))
            advance(expected, train_error, len(grid.trees))
        self.ensemble_ = BranchingProgram(
            grid.trees,
            np.array(grid.right_on_minus),
            np.array(grid.right_on_plus),
            n_features=problem.data.n_columns,
            sample_size=problem.weights.total,
            feature_names=problem.feature_names,
            categories=problem.categories,
        )
        self.history_, self.stop_reason_ = history, ALL_ROUNDS

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        second = (1.0 + scores) / 2.0
        return np.column_stack([1.0 - second, second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _Grid:
    """The program while it grows, with the masses of the training rows in its last layer.

    Masses are integers, split so that no part of one is lost: sums do not depend on the order of the rows.
    """

    def __init__(self, problem: BaselineProblem, grower: GivenTrees) -> None:
        self._problem, self._grower = problem, grower
        self._positive = problem.class_ids == 1
        self._n_negative = problem.n_rows - int(self._positive.sum())  # they stand first
        start, _ = problem.weights.fixed(np.ones(problem.n_rows))
        self._start = problem.weights.counted(start)
        self._masses = start[None].copy()  # one line for each node, of one copy of each row
        self.trees: list[Tree] = []
        self.right_on_minus: list[float] = []
        self.right_on_plus: list[float] = []

    def add_layer(self, layer: int) -> None:
        """A tree for each node of the layer, and the masses beyond it."""
        following = np.zeros((layer + 2, self._problem.n_rows), dtype=np.int64)
        for first in range(0, layer + 1, BLOCK_NODES):
            self._add_nodes(layer, first, self._masses[first : first + BLOCK_NODES], following[first:])
        self._masses = following

    def errors(self) -> tuple[float, float]:
        """The expected error of a walk that ends here, and that of the more probable side."""
        weights = self._problem.weights
        start = self._masses.sum(axis=0)
        right = self._masses[(len(self._masses) - 1) // 2 + 1 :].sum(axis=0)
        lost = np.where(self._positive, start - right, right)
        total = int(self._start.sum())
        wrong = (2 * right > start) != self._positive
        return int(weights.counted(lost).sum()) / total, int(self._start[wrong].sum()) / total

    def _add_nodes(self, layer: int, first: int, masses: Fixed, following: Fixed) -> None:
        n_negative = self._n_negative
        counted = self._problem.weights.counted(masses)
        totals = np.stack([counted[:, :n_negative].sum(axis=1), counted[:, n_negative:].sum(axis=1)], axis=1)
        two_sided = np.flatnonzero(totals.min(axis=1) > 0)
        grown = iter(self._grow(masses[two_sided], totals[two_sided], layer * (layer + 1) // 2 + first))
        for node, (negatives, positives) in enumerate(totals.tolist()):
            if min(negatives, positives) > 0:
                tree = next(grown)
                plus = self._grower.answers(tree) == 1
                said = counted[node] * plus
                odds = _balanced_odds(
                    0.5 * (int(said[:n_negative].sum()) / negatives + int(said[n_negative:].sum()) / positives)
                )
                self._add_node(self._grower.hypothesis(tree), *odds)
                right = np.rint(masses[node] * np.where(plus, odds[1], odds[0])).astype(np.int64)
            else:  # one class at most comes here: it is sent to its side
                always = 0.5 if negatives == positives else float(positives > 0)
                self._add_node(_constant(self._problem), always, always)
                right = masses[node] if positives else np.zeros_like(masses[node])
            following[node] += masses[node] - right
            following[node + 1] += right

    def _grow(self, masses: Fixed, totals: Fixed, round_index: int) -> list[AnsweringTree]:
        """A tree for each line, on rows of which either class weighs the same."""
        if not len(masses):
            return []
        growth = np.empty(masses.shape, dtype=np.uint32)
        for line, mass, total in zip(growth, masses, totals, strict=True):
            factors = 0.5 * GROWTH_TOTAL / total
            line[:] = self._problem.weights.growth(mass, np.where(self._positive, factors[1], factors[0]))
        labels = np.ascontiguousarray(np.broadcast_to(self._problem.class_ids, growth.shape))
        return self._grower.grow(labels, growth, round_index, self._problem.weights.given)

    def _add_node(self, tree: Tree, right_on_minus: float, right_on_plus: float) -> None:
        self.trees.append(tree)
        self.right_on_minus.append(right_on_minus)
        self.right_on_plus.append(right_on_plus)


def _balanced_odds(plus: float) -> tuple[float, float]:
    """How often to go right on -1 and on +1, if the tree says +1 with that probability, to go right half the time."""
    if plus >= 0.5:
        return 0.0, 0.5 / plus
    return 1.0 - 0.5 / (1.0 - plus), 1.0


def _constant(problem: BaselineProblem) -> Tree:
    """A tree that asks nothing and says -1."""
    leaf = {"feature": -1, "left": -1, "value": -1}
    arrays = [np.array([leaf.get(name, 0)], dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
    return Tree(arrays, problem.data.n_columns, 0)
