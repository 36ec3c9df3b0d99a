"""Fitted models of rows and columns: permutation importance, and explanations of single rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from radboost._tables import column_names
from radboost._validation import check_integer, check_integer_or
from radboost.estimators._estimator import Estimator, of_one_fit
from radboost.explain.explanation import Explanation
from radboost.explain.importance import permutation_importance
from radboost.explain.row import GivenRow


class Describing(Estimator):
    """Base of the estimators whose rows have columns."""

    # Values of the parameter `kind` of `feature_importance`; the first one is that of `feature_importances_`.
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
        # A scorer of the user's own may read columns by itself.
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
        """Columns of X that predictions may depend on."""
        return range(self.n_features_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Explaining(Describing):
    """Base of the estimators whose scores are sums over trees or columns."""

    @of_one_fit
    def to_text(self, max_trees: int | None = None) -> str:
        """The whole model in words, with the names of columns, categories and classes: every tree, or every term.

        Those with the largest weights come first. Numbers are rounded to four digits; `save` keeps all.

        Parameters
        ----------
        max_trees : int or None
            So many trees, or terms of an output, at most; None for all.
        """
        check_is_fitted(self)
        check_integer_or([None], "max_trees", max_trees, 0)
        return self._text(max_trees)

    @of_one_fit
    def explain(self, x: Any) -> Explanation:
        """Explanation of the prediction for one row: what each column adds to the score, and why.

        Of trees these are contributions of columns, those of `predict_contributions`, and the splits; of a sparse model
        the terms of its formula, each a coefficient times a value. With more than two classes they are those to the
        score of the predicted class, less those to the score of the runner-up.

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
        return self._explain(x)

    @abstractmethod
    def _text(self, max_trees: int | None) -> str:
        """The text of `to_text`."""

    @abstractmethod
    def _explain(self, x: Any, output: int = 0) -> Explanation:
        """The explanation of one of several targets or tasks, by its index."""


class Unexplained(Estimator):
    """Base of the estimators whose scores are no sum over features."""

    _why_unexplained: ClassVar[str]

    def explain(self, x: Any) -> Explanation:
        """Raise a TypeError: the model is no sum over features."""
        raise TypeError(
            f"{type(self).__name__} cannot explain one row: {self._why_unexplained} Estimators of trees and sparse "
            "ones can, for example DeepBoostClassifier."
        )


def as_reader(model: Any, row: GivenRow) -> Any:
    """The model that checks a row: without names of columns where values were given by name."""
    return unnamed(model, row) if row.by_name else model


def unnamed(model: Any, row: GivenRow) -> Any:
    """The model for a checked row; scikit-learn warns once of a table without names, not at each prediction."""
    if column_names(row.table) is not None:
        return model
    view = object.__new__(type(model))
    view.__dict__ = {name: value for name, value in model.__dict__.items() if name != "feature_names_in_"}
    return view
