"""Fitted models that say what they are made of, what they look at, and why they answer as they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost._validation import check_choice, check_integer, check_integer_or
from radboost.estimators._explaining import ExplainingMixin
from radboost.estimators._predicting import of_one_fit
from radboost.explain.importance import cover_importances, permutation_importance
from radboost.explain.text import boosted_text, sparse_text


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

    _kinds_of_importance = ("gain", "cover")

    @of_one_fit
    def feature_importance(self, kind: str = "gain") -> FloatArray:
        """The importance of each column, as shares that sum to 1 (all 0 where no column is asked about).

        Parameters
        ----------
        kind : {"gain", "cover"}
            "gain": what the splits on a column gained, by the criterion that they were chosen with, times the weight of
            their tree; this is `feature_importances_`. "cover": the weight of the training rows that answer a question
            about the column, times the weight of the tree. Hypotheses without splits, such as kernels, count in
            neither.
        """
        check_is_fitted(self)
        check_choice("kind", kind, self._kinds_of_importance)
        return np.asarray(self.feature_importances_) if kind == "gain" else cover_importances(self.ensemble_)

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


class TermsDescribing(Describing):
    """For sums of terms, whose weights are coefficients."""

    _kinds_of_importance = ("weight",)

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

    def _used_columns(self) -> Sequence[int]:
        found: list[int] = np.flatnonzero(self.feature_importances_).tolist()
        return found
