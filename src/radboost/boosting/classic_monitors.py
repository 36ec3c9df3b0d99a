"""Validation monitors of the older algorithms: each evaluates the training loss of its algorithm on other rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.boosting.martiboost import next_masses, probability_of_positive
from radboost.boosting.monitor import EarlyStopping, Monitor, scores_of
from radboost.boosting.trace import Step, Trace
from radboost.rows.fields import Rows
from radboost.trees.tree import Tree, forest_of

LARGEST_EXPONENT = 600.0  # losses are clipped at exp of this, so that means are finite


class ClassicMonitor(Monitor):
    """Base of these monitors."""

    what = "loss"

    def __init__(self, rows: Rows, stopping: EarlyStopping | None, n_classes: int, n_threads: int) -> None:
        super().__init__(rows, scores_of(n_classes), n_threads, stopping)
        self.n_classes = n_classes

    def _wrong(self, scores: FloatArray) -> npt.NDArray[np.bool_]:
        """Mask of the wrong rows; as in `predict`, the first class wins a tie."""
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(best != self.class_ids)

    def _of_margin(self, scores: FloatArray) -> FloatArray:
        """exp(-y f) of each row, for two classes; scores have shape (n_rows,)."""
        return _exp(np.where(self.class_ids == 1, -scores, scores))


class SAMMEMonitor(ClassicMonitor):
    """Exponential loss of SAMME: exp(sum of all alpha / K - score of the label). Geist (2015), Algorithm 4."""

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        if scores.ndim == 1:
            return self._of_margin(scores), self._wrong(scores)
        label_scores = scores[np.arange(len(scores)), self.class_ids]
        return _exp(scores.mean(axis=1) - label_scores), self._wrong(scores)  # mean: sum of alpha / K


class AdaBoostMHMonitor(ClassicMonitor):
    """Exponential loss of AdaBoost.MH: mean over the classes of exp(-y psi). Geist (2015), Algorithm 3."""

    _total = 0.0  # sum of the weights so far

    def _add(self, trace: Trace, steps: Sequence[Step]) -> None:
        super()._add(trace, steps)
        self._total += sum(step.eta for step in steps)

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        if scores.ndim == 1:
            return self._of_margin(scores), self._wrong(scores)
        # A round has K trees of weight 2 alpha that vote or abstain; in the paper, of weight alpha that say +1 or -1.
        psi = scores - self._total / (2 * self.n_classes)
        is_label = np.arange(self.n_classes) == self.class_ids[:, None]
        return np.asarray(_exp(np.where(is_label, -psi, psi)).mean(axis=1)), self._wrong(scores)


class MartingaleMonitor(ClassicMonitor):
    """Expected 0-1 error of the branching program, if it ended at this layer."""

    def __init__(self, rows: Rows, stopping: EarlyStopping | None, n_classes: int, n_threads: int) -> None:
        super().__init__(rows, stopping, n_classes, n_threads)
        self._masses = np.ones((1, len(rows.class_ids)))  # shape (n_nodes, n_rows): probability of reaching a node

    def _add(self, trace: Trace, steps: Sequence[Step]) -> None:
        nodes = [step.hypothesis for step in steps]
        forest = forest_of([tree for tree in (trace.hypotheses[node] for node in nodes) if isinstance(tree, Tree)])
        plus = forest.tree_values(self.X, self._n_threads).reshape(self._masses.shape) > 0
        on_minus, on_plus = (
            np.array([trace.details[name][node] for node in nodes]) for name in ("right_on_minus", "right_on_plus")
        )
        self._masses = next_masses(self._masses, plus, on_minus, on_plus)
        self._scores = 2.0 * probability_of_positive(self._masses) - 1.0

    def evaluate(self, scores: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        prob_positive = 0.5 * (1.0 + scores)
        return np.where(self.class_ids == 1, 1.0 - prob_positive, prob_positive), self._wrong(scores)


def _exp(exponents: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.minimum(exponents, LARGEST_EXPONENT)))
