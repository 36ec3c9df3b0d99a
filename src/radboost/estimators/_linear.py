"""Base of linear models: reading rows in a canonical order, scores, coefficients, explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost._validation import check_choice, free_memory, resolve_n_jobs
from radboost.ensemble import SparseEnsemble
from radboost.estimators._describing import Explaining, as_reader, unnamed
from radboost.estimators._estimator import of_one_fit
from radboost.explain.build import RowPrediction, explained_by_terms, prediction_of_class, prediction_of_number
from radboost.explain.explanation import Explanation
from radboost.explain.row import read_one_row
from radboost.explain.text import sparse_text
from radboost.export.parts import ScoreSum, sum_of_features
from radboost.families.columns import Column
from radboost.linear.columns import canonical_rows
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import CheckedRows, read_training
from radboost.rows.read import Accepted, read_matrix


@dataclass(frozen=True)
class Read:
    """Checked training rows without copies, in an order by content."""

    X: Any
    rows: npt.NDArray[np.int64]
    loss: Any  # `_make_loss` of the targets
    row_weights: FloatArray  # they sum to 1
    total_weight: float  # m


class LinearEstimator(Explaining):
    """Base of the estimators whose scores are weighted hypotheses, mostly columns of X, and an intercept."""

    _kinds_of_importance = ("weight",)
    _kind_of_file: ClassVar[str] = "sparse"
    _family_of_size = "family=radboost.sparsity.Trees(max_depth=...)"
    _type_of_ensemble: ClassVar[type[Any]] = SparseEnsemble
    _learns_tasks: ClassVar[bool] = False
    _accepted: ClassVar[Accepted] = Accepted(missing=False, formats=("csr", "csc"))

    n_jobs: int | None
    n_features_in_: int
    ensemble_: SparseEnsemble
    history_: dict[str, list[float]]

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Read:
        X, labels, weights = self._checked(X, y, sample_weight)
        self._take_units(labels, weights)
        return self._in_order(X, labels, weights)

    def _take_units(self, labels: FloatArray, weights: FloatArray) -> None:
        """Compute loss constants on all training rows, for losses on parts of them."""

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray]:
        """Rows with a positive weight, their targets of shape (n_outputs, n_rows), and their weights."""
        rows = self._training(X, y, sample_weight)
        X, n_rows = without_repetitions(rows.X), rows.X.shape[0]
        labels, weights = self._read_targets(rows), np.ones(n_rows) if rows.weights is None else rows.weights
        if len(getattr(self, "classes_", (0, 1))) == 1:  # one class: rows get both labels, for score 0
            labels = np.repeat([0.0, 1.0], n_rows)[None]
            return X[np.tile(np.arange(n_rows), 2)], labels, np.tile(weights, 2)
        return X, labels, weights

    def _training(self, X: Any, y: Any, sample_weight: Any) -> CheckedRows:
        part = LoadedPartition(X, y, sample_weight)
        return read_training(self, [part], part.given, accepted=self._accepted)

    def _in_order(self, X: Any, labels: FloatArray, weights: FloatArray) -> Read:
        rows, weights = canonical_rows(X, labels, weights, resolve_n_jobs(self.n_jobs))
        loss = self._make_loss(np.ascontiguousarray(labels[:, rows]))
        total = float(weights.sum())
        return Read(X, rows, loss, weights / total, total)

    @abstractmethod
    def _read_targets(self, training: CheckedRows) -> FloatArray:
        """The targets as numbers; shape (n_outputs, n_rows)."""

    @abstractmethod
    def _make_loss(self, labels: FloatArray) -> Any:
        """The loss of these targets."""

    def _shaped(self, weights: FloatArray, intercept: FloatArray) -> tuple[FloatArray, Any]:
        """coef_ and intercept_ in scikit-learn's shapes."""
        return np.ascontiguousarray(weights.T), intercept

    @of_one_fit
    def _scores(self, X: Any) -> FloatArray:
        """Scores; shape (n_rows, n_outputs)."""
        check_is_fitted(self)
        return self.ensemble_.scores(read_matrix(self, X, {}, self._accepted))

    def _exported_scores(self) -> ScoreSum:
        return sum_of_features(self.ensemble_, self.n_features_in_)

    def _restore_coefficients(self) -> None:
        """coef_ and intercept_ from the ensemble."""
        ensemble = self.ensemble_
        features = [hypothesis.feature for hypothesis in ensemble.hypotheses if isinstance(hypothesis, Column)]
        if len(features) < len(ensemble):
            raise ValueError("there are coefficients, and hypotheses that are no columns")
        needed = 8.0 * self.n_features_in_ * ensemble.n_outputs
        if needed > free_memory():
            raise ValueError(f"its coefficients would need {needed / 2**30:.1f} GiB, more than is free")
        weights = np.zeros((self.n_features_in_, ensemble.n_outputs))
        weights[features] = ensemble.weights
        self.coef_, self.intercept_ = self._shaped(weights, ensemble.intercept)

    @property
    @of_one_fit
    def feature_importances_(self) -> FloatArray:
        """Absolute weights, summed over outputs and the hypotheses that use a column; shape (n_features,)."""
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        for hypothesis, weights in zip(self.ensemble_.hypotheses, self.ensemble_.weights, strict=True):
            used = getattr(hypothesis, "columns", None)
            importances[slice(None) if used is None else list(used)] += np.abs(weights).sum()
        return importances

    @of_one_fit
    def feature_importance(self, kind: str = "weight") -> FloatArray:
        """The importance of each column.

        Parameters
        ----------
        kind : {"weight"}
            The sizes of the weights, summed over outputs and the terms that use the column: `feature_importances_`.
        """
        check_is_fitted(self)
        check_choice("kind", kind, self._kinds_of_importance)
        return np.asarray(self.feature_importances_)

    def _text(self, max_trees: int | None) -> str:
        return sparse_text(self.ensemble_, max_trees)

    def _explain(self, x: Any, output: int = 0) -> Explanation:
        check_is_fitted(self)
        row = read_one_row(x, getattr(self, "feature_names_in_", None))
        matrix = read_matrix(as_reader(self, row), row.table, {}, self._accepted)
        verdict = unnamed(self, row)._verdict(row.table, self.ensemble_.scores(matrix)[0], output)
        return explained_by_terms(self.ensemble_, matrix, verdict)

    def _verdict(self, table: Any, scores: FloatArray, output: int) -> RowPrediction:
        """Prediction for a table of one row with these scores."""
        if not hasattr(self, "classes_"):
            return prediction_of_number(scores, scores)
        model: Any = self
        return prediction_of_class(scores, model.classes_.tolist(), model.predict_proba(table)[0])

    def _used_columns(self) -> Sequence[int]:
        return [int(column) for column in np.flatnonzero(self.feature_importances_)]

    def _output_names(self) -> list[str] | None:
        return None

    def _recorded(self) -> list[str]:
        """The columns of the history."""
        return ["objective", "n_features"]


def without_repetitions(X: Any) -> Any:
    """Sparse matrix in canonical form (no stored zeros or duplicate entries); a dense X is unchanged."""
    if not sparse.issparse(X) or (X.has_canonical_format and X.data.all()):
        return X
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X
