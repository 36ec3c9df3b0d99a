"""Fitted models that say what they are made of, what they look at, and why they answer as they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from radboost._tables import column_names
from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_integer_or
from radboost.estimators._explaining import ExplainingMixin
from radboost.estimators._predicting import of_one_fit
from radboost.explain.build import (
    Verdict,
    explained_by_terms,
    explained_by_trees,
    verdict_on_classes,
    verdict_on_number,
    verdict_on_task,
)
from radboost.explain.explanation import Explanation
from radboost.explain.importance import cover_importances, permutation_importance, split_counts
from radboost.explain.row import GivenRow, as_numbers, read_one_row
from radboost.explain.text import boosted_text, sparse_text
from radboost.rows.read import Accepted, read_matrix


class Describing:
    """What every model of rows and columns can say of itself; boosted and linear ones add how."""

    # What `feature_importance` can measure; the first is that of `feature_importances_`.
    _kinds_of_importance: ClassVar[tuple[str, ...]]

    ensemble_: Any
    n_features_in_: int
    feature_importances_: Any

    @of_one_fit
    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 5,
        random_state: Any = None,
        scoring: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """How much lower the score is when the values of a column are shuffled among the rows.

        The same numbers as `sklearn.inspection.permutation_importance`, without a copy of X for each column, and
        without trying columns that no hypothesis asks about: shuffling these changes nothing.

        Parameters
        ----------
        X, y : rows and their targets, best of a test set
        n_repeats : int
            How often each column is shuffled.
        random_state : int, RandomState or None
            None shuffles differently each time.
        scoring : name of a score of scikit-learn's, scorer, several of them, or None
            None: the model's own `score`.
        sample_weight : array or None
            Passed on to the score.

        Returns
        -------
        Bunch with importances_mean, importances_std (one for each column) and importances (columns, repeats); of \
several scores a dict of these.
        """
        check_is_fitted(self)
        check_integer("n_repeats", n_repeats, 1)
        # A scorer of the user's own may look at columns by itself.
        names_only = scoring is None or isinstance(scoring, str)
        return permutation_importance(
            self,
            X,
            y,
            n_repeats=n_repeats,
            random_state=random_state,
            scoring=scoring,
            sample_weight=sample_weight,
            used=self._used_columns() if names_only else range(self.n_features_in_),
        )

    def _used_columns(self) -> Sequence[int]:
        """The columns of X that answers may depend on."""
        return range(self.n_features_in_)


class TreesDescribing(Describing, ExplainingMixin):
    """For ensembles whose hypotheses are mostly trees."""

    _kinds_of_importance = ("gain", "cover", "split")
    # Whether the cover of a leaf is the weight of the training rows in it.
    _covers_are_rows: ClassVar[bool] = True

    @of_one_fit
    def feature_importance(self, kind: str = "gain") -> FloatArray:
        """The importance of each column, as shares that sum to 1 (all 0 where no column is asked about), or as counts.

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

    @of_one_fit
    def to_text(self, max_trees: int | None = None) -> str:
        """The whole model in words: every tree, with the names of columns, categories and classes.

        Hypotheses with the largest weights come first. Numbers are rounded to four digits; `save` keeps all.

        Parameters
        ----------
        max_trees : int or None
            So many hypotheses at most; None for all.
        """
        check_is_fitted(self)
        check_integer_or([None], "max_trees", max_trees, 0)
        return self._text(max_trees)

    @of_one_fit
    def explain(self, x: Any) -> Explanation:
        """Why the model answers as it does for one row: what each feature and each question contributed.

        Contributions of features are those of `predict_contributions`; with more than two classes those to the score of
        the answer, less those to the score of the runner-up.

        Parameters
        ----------
        x : one row
            A list or an array of values, a data frame of one row, or a dict or pandas Series of values by the names of
            the columns.

        Returns
        -------
        Explanation
            `print` shows it in words; a notebook shows a table.
        """
        return self._explain_trees(x)

    def _explain_trees(self, x: Any, target: int = 0) -> Explanation:
        check_is_fitted(self)
        self._sum_of_trees("explain")  # raises where the model is none
        row = read_one_row(x, getattr(self, "feature_names_in_", None))
        matrix = as_numbers(read_matrix(_asked_by(self, row), row.table, self.ensemble_.categories))
        model = _unnamed(self, row)
        contributions = np.atleast_2d(model.predict_contributions(row.table)[0])
        verdict = _verdict_of_trees(model, row.table, target)
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


class TargetsDescribing(TreesDescribing):
    """For sums of trees that answer with numbers, perhaps several for a row."""

    @of_one_fit
    def explain(self, x: Any, *, target: int | None = None) -> Explanation:
        """Why the model answers as it does for one row: what each feature and each question contributed.

        Parameters
        ----------
        x : one row
            A list or an array of values, a data frame of one row, or a dict or pandas Series of values by the names of
            the columns.
        target : int or None
            The column of y that is explained; None is for models of one target.

        Returns
        -------
        Explanation
            `print` shows it in words; a notebook shows a table.
        """
        check_is_fitted(self)
        n_targets = self.ensemble_.n_outputs
        if target is None and n_targets > 1:
            raise ValueError(f"The model has {n_targets} targets; say which one to explain: explain(x, target=0).")
        return self._explain_trees(x, 0 if target is None else check_integer("target", target, 0, n_targets - 1))


class TermsDescribing(Describing):
    """For sums of terms, whose weights are coefficients."""

    _kinds_of_importance = ("weight",)
    _accepted: ClassVar[Accepted]

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

    @of_one_fit
    def to_text(self, max_trees: int | None = None) -> str:
        """The formula of the model, a term on a line, the largest weights first. Numbers are rounded to four digits.

        Parameters
        ----------
        max_trees : int or None
            So many terms of an output at most; None for all.
        """
        check_is_fitted(self)
        check_integer_or([None], "max_trees", max_trees, 0)
        return sparse_text(self.ensemble_, max_trees)

    @of_one_fit
    def explain(self, x: Any) -> Explanation:
        """Why the model answers as it does for one row: the terms of its formula, each a coefficient times a value.

        With more than two classes coefficients are those of the answer, less those of the runner-up.

        Parameters
        ----------
        x : one row
            A list or an array of numbers, a data frame of one row, or a dict or pandas Series of values by the names of
            the columns.

        Returns
        -------
        Explanation
            `print` shows it in words; a notebook shows a table.
        """
        return self._explain_terms(x)

    def _explain_terms(self, x: Any, **asked: Any) -> Explanation:
        check_is_fitted(self)
        row = read_one_row(x, getattr(self, "feature_names_in_", None))
        matrix = read_matrix(_asked_by(self, row), row.table, {}, self._accepted)
        verdict = _unnamed(self, row)._verdict(row.table, self.ensemble_.scores(matrix)[0], **asked)
        return explained_by_terms(self.ensemble_, matrix, verdict)

    def _verdict(self, table: Any, scores: FloatArray) -> Verdict:
        """What the model says of a table of one row with these scores."""
        if not hasattr(self, "classes_"):
            return verdict_on_number(scores, scores)
        model: Any = self
        return verdict_on_classes(scores, model.classes_.tolist(), model.predict_proba(table)[0])

    def _used_columns(self) -> Sequence[int]:
        found: list[int] = np.flatnonzero(self.feature_importances_).tolist()
        return found


class TasksDescribing(TermsDescribing):
    """For formulas of several tasks with two labels each."""

    task_labels_: list[npt.NDArray[Any]]

    @of_one_fit
    def explain(self, x: Any, *, task: int | None = None) -> Explanation:
        """Why the model answers as it does for one row: the terms of the formula of a task.

        Parameters
        ----------
        x : one row
            A list or an array of numbers, a data frame of one row, or a dict or pandas Series of values by the names of
            the columns.
        task : int or None
            The column of y that is explained; None is for models of one task.

        Returns
        -------
        Explanation
            `print` shows it in words; a notebook shows a table.
        """
        check_is_fitted(self)
        n_tasks = len(self.task_labels_)
        if task is None and n_tasks > 1:
            raise ValueError(f"The model has {n_tasks} tasks; say which one to explain: explain(x, task=0).")
        return self._explain_terms(x, task=0 if task is None else check_integer("task", task, 0, n_tasks - 1))

    def _verdict(self, table: Any, scores: FloatArray, *, task: int = 0) -> Verdict:
        score = scores[[task]]
        larger = float(expit(score[0]))
        return verdict_on_task(
            score, self.task_labels_[task].tolist(), np.array([1.0 - larger, larger]), task, len(scores)
        )


class Unexplained:
    """For models that cannot say what a part of a row contributes."""

    _why_unexplained: ClassVar[str]

    def explain(self, x: Any) -> Explanation:
        """Raises a TypeError: the model is no sum over features."""
        raise TypeError(
            f"{type(self).__name__} cannot explain one row: {self._why_unexplained} Estimators of trees and sparse "
            "ones can, for example DeepBoostClassifier."
        )


def _asked_by(model: Any, row: GivenRow) -> Any:
    """The model that checks a row: one without names where values were found by name already."""
    return _unnamed(model, row) if row.by_name else model


def _unnamed(model: Any, row: GivenRow) -> Any:
    """The model for a row that was checked: scikit-learn warns of a table without names once, not at each question."""
    if column_names(row.table) is not None:
        return model
    view = object.__new__(type(model))
    view.__dict__ = {name: value for name, value in model.__dict__.items() if name != "feature_names_in_"}
    return view


def _verdict_of_trees(model: Any, table: Any, target: int) -> Verdict:
    """What the model says of a table of one row; of several targets, of one."""
    if not hasattr(model, "classes_"):
        (scores,) = model._scores_by_block(table)
        return verdict_on_number(np.atleast_1d(scores[0]), np.atleast_1d(model.predict(table)[0]), target)
    scores = np.atleast_1d(model.decision_function(table)[0])
    return verdict_on_classes(scores, model.classes_.tolist(), model.predict_proba(table)[0])
