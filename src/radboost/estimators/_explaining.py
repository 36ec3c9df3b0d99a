"""What a fitted model of trees says about its own scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray, FloatMatrix
from radboost._validation import resolve_n_jobs
from radboost.ensemble.contributions import SumOfTrees, sum_of_trees
from radboost.estimators._predicting import ScoringMixin, of_one_fit
from radboost.rows.read import dense_rows, read_matrix, row_blocks


class ExplainingMixin(ScoringMixin):
    """Contributions of features to scores, and leaves of rows: for every estimator whose model is a sum of trees."""

    @of_one_fit
    def predict_contributions(self, X: Any, *, interactions: bool = False) -> FloatArray:
        """What each feature contributes to the scores of each row: exact Shapley values (docs/explaining.md).

        A feature that is not known is averaged over by the training weight at both sides of the questions about it, as
        TreeSHAP does with `tree_path_dependent`, LightGBM with `pred_contrib` and XGBoost with `pred_contribs`.

        Parameters
        ----------
        X : array, frame or sparse matrix of shape (n_rows, n_features)
        interactions : bool
            Divide contributions into those of single features and of pairs.

        Returns
        -------
        array of shape (n_rows, n_features + 1)
            The last column is the mean score by training weight, the same for all rows. A row sums to
            `decision_function`, of a regressor to the score that `predict` is made of, which is `predict` itself unless
            the loss has a link. With more than two classes (n_rows, n_classes, n_features + 1). With interactions
            another axis of n_features + 1 at the end: symmetric matrices, with half of what a pair contributes on each
            side of the diagonal, what is left of each feature's own contribution on it, and the mean score as its
            last number.
        """
        self._require_fitted()
        model = self._sum_of_trees("predict_contributions")
        n_threads = resolve_n_jobs(self.n_jobs)
        blocks = [model.contributions(rows, bool(interactions), n_threads) for rows in self._blocks_to_explain(X)]
        found = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        found[(..., -1, -1) if interactions else (..., -1)] += self._constant_of_scores()
        return found if model.n_outputs > 1 else found[:, 0]

    @of_one_fit
    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """The leaf that each row reaches in each tree, of shape (n_rows, n_trees).

        Leaves have the numbers of their nodes in the tree, as in scikit-learn. Trees are those of
        `ensemble_.hypotheses`, without the constant that gradient boosting starts from.
        """
        return self._leaves(X)[:, self._has_constant() :]

    def _has_constant(self) -> bool:
        """Whether the first hypothesis is a constant that the fit starts from."""
        return False

    def _leaves(self, X: Any) -> npt.NDArray[np.int32]:
        """The same of all hypotheses."""
        self._require_fitted()
        model = self._sum_of_trees("apply")
        n_threads = resolve_n_jobs(self.n_jobs)
        return np.concatenate([model.leaves(rows, n_threads) for rows in self._blocks_to_explain(X)])

    def _sum_of_trees(self, method: str) -> SumOfTrees:
        return sum_of_trees(self.ensemble_, type(self).__name__, method)

    def _blocks_to_explain(self, X: Any) -> Iterator[FloatMatrix]:
        for block in row_blocks(read_matrix(self, X, self.ensemble_.categories)):
            yield dense_rows(block)

    def _constant_of_scores(self) -> float:
        """What scores have beside those of the ensemble."""
        return 0.0
