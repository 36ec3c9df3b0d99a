"""Martingale boosting (Long and Servedio, 2005)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from radboost._typing import FloatArray
from radboost.baselines._base import Baseline
from radboost.baselines.program import BranchingProgram
from radboost.boosting import Trace
from radboost.boosting.classic_monitors import MartingaleMonitor
from radboost.boosting.martiboost import MartingaleLayers
from radboost.estimators._checkpoints import trace_of
from radboost.estimators._documents import described_like
from radboost.estimators._learning import FitPlan, Outline
from radboost.estimators._naming import with_constructor
from radboost.explain.text import layered_text
from radboost.model_file import storable_estimator
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.trees import Tree


@storable_estimator
@described_like(Baseline)
@with_constructor
class MartiBoostClassifier(Baseline):
    """Martingale boosting: a grid of trees through which a row takes a random path (Geist (2015), section 5.5.1).

    For two classes. Layer l has l nodes, each with a tree. The tree of a node is grown on the rows that reach it, with
    both classes balanced, and its predictions are randomized so that it goes either way equally often. It is then as
    accurate on one class as on the other, and the path of a row drifts to the side of its class. Rows that are always
    wrong weigh no more than others, so that wrong labels do little harm.

    The distribution of paths over the nodes of a layer is computed, in training and in prediction: nothing is drawn.
    `predict_proba` is the probability that a path ends on either side, `predict` the more probable side. The expected
    error of the paper's single path is the mean of 1 - predict_proba of the right class.

    Parameters
    ----------
    n_rounds : int
        L, at most 2000: there are L (L + 1) / 2 trees. An odd number leaves no middle, which counts for the first
        class.
    max_leaves : int
        Leaves of a tree; 2 is a stump, as in the paper.
    warm_start : bool
        Go on from the last fit, with the same rows, up to `n_rounds` layers in all. The model is that of one long fit.

    Attributes
    ----------
    classes_ : array of the two labels, ascending
    ensemble_ : BranchingProgram
    history_ : dict of lists, one entry per layer
        "objective" (the expected error of a path that ends there), "train_error", "n_hypotheses"; with validation rows
        "validation_error" and "validation_loss", the same loss on them.
    n_iter_ : int
        Layers.
    n_skipped_rounds_ : int
        Always 0: every layer is kept.

    Examples
    --------
    >>> from radboost.baselines import MartiBoostClassifier
    >>> from radboost.datasets import make_long_servedio
    >>> X, y = make_long_servedio(400, noise=0.1, random_state=0)
    >>> model = MartiBoostClassifier(n_rounds=25).fit(X, y)
    >>> len(model.ensemble_)
    325
    """

    n_rounds: int = field(default=101, kw_only=False)
    max_leaves: int = 2

    _type_of_ensemble: ClassVar[type[Any]] = BranchingProgram
    ensemble_: BranchingProgram = field(init=False)  # type: ignore[assignment]

    _algorithm = MartingaleLayers
    _most_rounds = 2000
    _monitor = MartingaleMonitor

    def _check_training(self, training: CheckedRows) -> None:
        n_classes = 0 if training.classes is None else len(training.classes)
        if n_classes != 2:
            raise ValueError(
                f"Only binary classification is supported by MartiBoostClassifier: y holds {n_classes} class"
                f"{'es' * (n_classes != 1)}. Use SAMMEClassifier, AdaBoostMHClassifier or DeepBoostClassifier."
            )

    def _ensemble(
        self, trace: Trace, n_rounds: int, plan: FitPlan, prepared: PreparedRows | Outline
    ) -> BranchingProgram:
        n_nodes = n_rounds * (n_rounds + 1) // 2
        return BranchingProgram(
            [tree for tree in trace.hypotheses[:n_nodes] if isinstance(tree, Tree)],
            np.array(trace.details["right_on_minus"][:n_nodes]),
            np.array(trace.details["right_on_plus"][:n_nodes]),
            n_features=prepared.n_features,
            sample_size=plan.sample_size,
            feature_names=None if prepared.feature_names is None else prepared.feature_names.tolist(),
            categories=prepared.categories,
        )

    def _last_trace(self) -> Trace:
        program = self.ensemble_
        trace = trace_of(program.as_ensemble(), self._history_of_model())
        trace.details = {
            "right_on_minus": program.right_on_minus.tolist(),
            "right_on_plus": program.right_on_plus.tolist(),
        }
        return trace

    def _text(self, max_trees: int | None) -> str:
        return layered_text(self.ensemble_, self.classes_.tolist(), max_trees)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        second = (1.0 + scores) / 2.0
        return np.column_stack([1.0 - second, second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
