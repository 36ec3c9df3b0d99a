"""Estimators that choose alpha by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier

from radboost._typing import FloatArray
from radboost._validation import check_sample_weight
from radboost.estimators._sparse_fit import SparseBoost, check_alphas, decreasing
from radboost.estimators.sparse import (
    MultiTaskSparseBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
)
from radboost.linear import InductionSettings
from radboost.linear.columns import Places
from radboost.model_file import storable_estimator

PARAMETERS = """

    Parameters
    ----------
    alphas : array or None
        The alphas to try. None: `n_alphas` of them from alpha_max down to `eps` times that, in equal ratios.
    cv : int, splitter, list of splits or None
        As in scikit-learn; None for five folds.
    penalty, update, template, n_rounds, tol, standardize, fit_intercept, n_jobs, random_state, verbose
        As in the estimator without CV. Features are the columns of X.

    Attributes
    ----------
    alpha_ : float
        The alpha whose mean loss on the rows left out is smallest; the model is fitted with it to all rows.
    alphas_ : array, decreasing
    validation_losses_ : array of shape (n_alphas, n_folds)
        The mean loss, as in the objective, on the rows left out.
    coef_, intercept_ and the others
        As in the estimator without CV.
    """


class ChoosesAlpha(SparseBoost):
    """Paths over the training parts of the folds, and the mean loss of each alpha on the parts left out."""

    family = "given"
    features_per_round = None
    totally_corrective = True

    alphas: Any
    n_alphas: int
    eps: float
    cv: Any
    alpha_: float
    alphas_: FloatArray
    validation_losses_: FloatArray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Chooses alpha, then learns from all rows with it."""
        checked = copy(self)
        checked.alpha_ = 0.0
        settings = checked._read_parameters()
        rows, labels, weights = checked._checked(X, y, sample_weight)
        checked._check_update(settings.penalty, checked._make_loss(labels))
        whole = checked._problem(checked._in_order(rows, labels, weights), settings, 1.0)
        alphas = decreasing(self.alphas, whole, self.n_alphas, self.eps)
        losses = [
            checked._losses_on(rows, labels, weights, train, test, settings, alphas)
            for train, test in checked._folds(X, y, sample_weight)
        ]
        chosen = copy(self)
        chosen.alphas_, chosen.validation_losses_ = alphas, np.array(losses).T
        chosen.alpha_ = float(alphas[chosen.validation_losses_.mean(axis=1).argmin()])
        self.__dict__ = super(ChoosesAlpha, chosen).fit(X, y, sample_weight).__dict__
        return self

    def _read_parameters(self) -> InductionSettings:
        check_alphas(self.alphas, self.n_alphas, self.eps)
        return super()._read_parameters()

    def _folds(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Places, Places]]:
        """Places among the rows with a positive weight; the splits are those of all rows."""
        from sklearn.model_selection import check_cv  # loads much that other fits do without

        rows = copy(self)._given(X, y)
        given = check_sample_weight(sample_weight, rows.n_rows)
        y, weights = rows.y, np.ones(rows.n_rows) if given is None else given
        stratify = y if is_classifier(self) and y.ndim == 1 else None
        place = np.where(weights > 0, np.cumsum(weights > 0) - 1, -1)
        folds = check_cv(self.cv, stratify, classifier=stratify is not None)
        for train, test in folds.split(np.zeros((len(weights), 1)), stratify):
            parts = place[train][place[train] >= 0], place[test][place[test] >= 0]
            if not all(map(len, parts)):
                raise ValueError(
                    "A fold has no row with a positive weight to learn from or to test on. Use fewer folds, or shuffle "
                    "them: cv=KFold(5, shuffle=True)."
                )
            yield parts

    def _losses_on(
        self,
        X: Any,
        labels: FloatArray,
        weights: FloatArray,
        train: Places,
        test: Places,
        settings: InductionSettings,
        alphas: FloatArray,
    ) -> list[float]:
        problem = self._problem(
            self._in_order(X[train], np.ascontiguousarray(labels[:, train]), weights[train]), settings, 1.0
        )
        loss = self._make_loss(np.ascontiguousarray(labels[:, test]))
        shares = weights[test] / weights[test].sum()
        points = self._points(problem, settings, alphas)
        return [float(shares @ loss.value(np.ascontiguousarray((X[test] @ W + b).T))) for W, b in points]

    def _alpha(self) -> float:
        return getattr(self, "alpha_", 0.0)  # a path or alpha_max may be asked for before a fit


@storable_estimator
class SparseBoostClassifierCV(ChoosesAlpha, SparseBoostClassifier):
    """SparseBoostClassifier with the alpha of the smallest loss in cross-validation.

    `loss` is "logistic" or "exponential".
    """

    __doc__ = __doc__.rstrip() + PARAMETERS

    def __init__(
        self,
        alphas: Any = None,
        *,
        n_alphas: int = 30,
        eps: float = 1e-2,
        cv: Any = None,
        loss: str = "logistic",
        penalty: str = "l1/l2",
        update: str = "newton",
        template: str | int = "auto",
        n_rounds: int = 1000,
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.loss = loss
        self.penalty = penalty
        self.update = update
        self.template = template
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@storable_estimator
class SparseBoostRegressorCV(ChoosesAlpha, SparseBoostRegressor):
    """SparseBoostRegressor with the alpha of the smallest loss in cross-validation.

    `epsilon` is the width of the insensitive zone.
    """

    __doc__ = __doc__.rstrip() + PARAMETERS

    def __init__(
        self,
        alphas: Any = None,
        *,
        n_alphas: int = 30,
        eps: float = 1e-2,
        cv: Any = None,
        epsilon: float = 0.1,
        penalty: str = "l1",
        update: str = "newton",
        template: str | int = "auto",
        n_rounds: int = 1000,
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.epsilon = epsilon
        self.penalty = penalty
        self.update = update
        self.template = template
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@storable_estimator
class MultiTaskSparseBoostClassifierCV(ChoosesAlpha, MultiTaskSparseBoostClassifier):
    """MultiTaskSparseBoostClassifier with the alpha of the smallest loss in cross-validation."""

    __doc__ = __doc__.rstrip() + PARAMETERS

    def __init__(
        self,
        alphas: Any = None,
        *,
        n_alphas: int = 30,
        eps: float = 1e-2,
        cv: Any = None,
        penalty: str = "l1/l2",
        update: str = "newton",
        template: str | int = "auto",
        n_rounds: int = 1000,
        tol: float = 1e-6,
        standardize: bool = True,
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.penalty = penalty
        self.update = update
        self.template = template
        self.n_rounds = n_rounds
        self.tol = tol
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
