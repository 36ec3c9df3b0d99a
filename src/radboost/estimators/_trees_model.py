"""Models that are sums of hypotheses, mostly trees: scores, importances, contributions of features, text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost._validation import check_choice, resolve_n_jobs
from radboost.ensemble import Ensemble
from radboost.ensemble.contributions import SumOfTrees, sum_of_trees
from radboost.estimators._describing import Explaining, as_reader, unnamed
from radboost.estimators._estimator import of_one_fit
from radboost.explain.build import RowPrediction, explained_by_trees, prediction_of_class, prediction_of_number
from radboost.explain.explanation import Explanation
from radboost.explain.importance import cover_importances, split_counts
from radboost.explain.row import as_numbers, read_one_row
from radboost.explain.text import boosted_text
from radboost.export import parts
from radboost.export.parts import ScoreSum, refuse_model
from radboost.rows.read import dense_rows, read_matrix, row_blocks
from radboost.rows.sources import with_columns


class TreesModel(Explaining):
    """Base of the estimators whose `ensemble_` is a weighted sum of hypotheses."""

    _kinds_of_importance = ("gain", "cover", "split")
    # True if the cover of a leaf is the weight of the training rows in it.
    _covers_are_rows: ClassVar[bool] = True
    _kind_of_file: ClassVar[str] = "boosted"
    # Keys of `chosen_`, if there is one.
    _chosen: ClassVar[tuple[str, ...]] = ()
    # Type of `ensemble_`; its `from_arrays` reads that of a model file.
    _type_of_ensemble: ClassVar[type[Any]] = Ensemble

    ensemble_: Ensemble
    n_jobs: int | None

    def _exported_scores(self) -> ScoreSum:
        if not isinstance(self.ensemble_, Ensemble):
            refuse_model(type(self).__name__, f"its {type(self.ensemble_).__name__} is no sum of trees")
        return parts.sum_of_trees(self.ensemble_)

    def _name_classes(self) -> None:
        """Give the trees of the ensemble the names of the classes, or the word "targets", for their texts."""
        names, classes = getattr(self.ensemble_, "names", None), getattr(self, "classes_", None)
        if names is not None and classes is not None:
            names.classes = tuple(classes.tolist())
        elif names is not None:
            names.outputs = "targets"

    @property
    @of_one_fit
    def categories_(self) -> dict[int, tuple[Category, ...]]:
        """Sorted categories of the training rows, by the index of the categorical column."""
        check_is_fitted(self)
        return self.ensemble_.categories

    @property
    @of_one_fit
    def feature_importances_(self) -> FloatArray:
        """Gain of the splits on each feature, weighted like their trees; fractions that sum to 1."""
        self._require_fitted()
        return self.ensemble_.feature_importances()

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises; asking it first would cost a tenth of a short prediction

    def _scores_by_block(self, X: Any, n_outputs: int = 1) -> Iterator[FloatArray]:
        self._require_fitted()
        n_threads = resolve_n_jobs(self.n_jobs)
        matrix = read_matrix(self, X, self.ensemble_.categories)
        further, first = self._further_columns(X, matrix), 0
        for block in row_blocks(matrix, n_outputs, len(self.ensemble_)):
            last = first + block.shape[0]
            rows = dense_rows(block) if further is None else with_columns(dense_rows(block), further[first:last])
            first = last
            yield self.ensemble_.decision_function(rows, n_threads)

    def _staged_scores(self, X: Any) -> Iterator[FloatArray]:
        self._require_fitted()
        matrix = read_matrix(self, X, self.ensemble_.categories)
        rows, further = dense_rows(matrix), self._further_columns(X, matrix)
        rows = rows if further is None else with_columns(rows, further)
        yield from self.ensemble_.staged_decision_function(rows, resolve_n_jobs(self.n_jobs))

    def _further_columns(self, X: Any, matrix: Any) -> FloatArray | None:
        """Columns that hypotheses need besides those of X, of which `matrix` was read; None for none."""
        return None

    @of_one_fit
    def predict_contributions(self, X: Any, *, interactions: bool = False) -> FloatArray:
        """Contributions of each feature to the scores of each row: exact Shapley values (docs/explaining.md).

        An unknown feature is averaged over by the training weight at both sides of its splits. TreeSHAP does so with
        `tree_path_dependent`, LightGBM with `pred_contrib` and XGBoost with `pred_contribs`.

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
        contributions = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        contributions[(..., -1, -1) if interactions else (..., -1)] += self._constant_of_scores()
        return contributions if model.n_outputs > 1 else contributions[:, 0]

    @of_one_fit
    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """The leaf that each row reaches in each tree, of shape (n_rows, n_trees).

        Leaves have the numbers of their nodes in the tree, as in scikit-learn. Trees are those of
        `ensemble_.hypotheses`, without the constant that gradient boosting starts from.
        """
        return self._leaves(X)[:, self._has_constant() :]

    def _has_constant(self) -> bool:
        """True if the first hypothesis is a constant that the fit starts from."""
        return False

    def _leaves(self, X: Any) -> npt.NDArray[np.int32]:
        """Leaves of all hypotheses, the constant included."""
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
        """Constant that is added to the scores of the ensemble."""
        return 0.0

    @of_one_fit
    def feature_importance(self, kind: str = "gain") -> FloatArray:
        """The importance of each column, as fractions that sum to 1 (all 0 without splits), or as counts.

        Parameters
        ----------
        kind : {"gain", "cover", "split"}
            "gain": what the splits on a column gained, by the criterion that they were chosen with, times the weight of
            their tree; this is `feature_importances_`. "cover": the weight of the training rows that answer a question
            about the column, times the weight of the tree. "split": the number of splits on the column in all trees,
            whatever these weigh. Hypotheses without splits, such as kernels, count in none.
        """
        check_is_fitted(self)
        check_choice("kind", kind, self._kinds_of_importance)
        if kind == "gain":
            return np.asarray(self.feature_importances_)
        return cover_importances(self.ensemble_) if kind == "cover" else split_counts(self.ensemble_)

    def _explain(self, x: Any, output: int = 0) -> Explanation:
        check_is_fitted(self)
        self._sum_of_trees("explain")  # raises where the model is none
        row = read_one_row(x, getattr(self, "feature_names_in_", None))
        matrix = as_numbers(read_matrix(as_reader(self, row), row.table, self.ensemble_.categories))
        model = unnamed(self, row)
        contributions = np.atleast_2d(model.predict_contributions(row.table)[0])
        verdict = _verdict_of_trees(model, row.table, output)
        leaves = model._leaves(row.table)[0]
        return explained_by_trees(
            self.ensemble_, row, matrix, verdict, contributions, leaves, covers_are_rows=self._covers_are_rows
        )

    def _text(self, max_trees: int | None) -> str:
        return boosted_text(self.ensemble_, max_trees)

    def _used_columns(self) -> Sequence[int]:
        used = set()
        for hypothesis in self.ensemble_.hypotheses:
            columns = getattr(hypothesis, "columns", None)
            if columns is None:  # a kernel, or one that does not say
                return range(self.n_features_in_)
            used.update(columns)
        return sorted(used)


def _verdict_of_trees(model: Any, table: Any, target: int) -> RowPrediction:
    """Prediction for a table of one row; with several targets for `target`."""
    if not hasattr(model, "classes_"):
        (scores,) = model._scores_by_block(table)
        return prediction_of_number(np.atleast_1d(scores[0]), np.atleast_1d(model.predict(table)[0]), target)
    scores = np.atleast_1d(model.decision_function(table)[0])
    return prediction_of_class(scores, model.classes_.tolist(), model.predict_proba(table)[0])
