"""Estimators that choose alpha by cross-validation."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from radboost._typing import FloatArray
from radboost._validation import check_integer, check_sample_weight, resolve_n_jobs
from radboost.estimators._documents import described_like
from radboost.estimators._linear import Read
from radboost.estimators._naming import with_constructor
from radboost.estimators._sparse_fit import SparseBoost, check_alphas, decreasing
from radboost.estimators.sparse import (
    MultiTaskSparseBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
)
from radboost.linear.columns import Indices, canonical_rows
from radboost.linear.induction import InductionSettings
from radboost.model_file import storable_estimator

DEFAULT_FOLDS = 5


def _product(X: Any, weights: FloatArray) -> FloatArray:
    """X times weights, most of which are zero."""
    if sparse.issparse(X):
        return np.asarray(X @ weights)
    # Not by BLAS: OpenBLAS ends the process where it finds no memory for its buffers, instead of raising an error.
    used = np.flatnonzero(weights.any(axis=1))
    return np.asarray(np.einsum("ij,jk->ik", X[:, used], weights[used], optimize=False), dtype=np.float64)


@with_constructor
class ChoosesAlpha(SparseBoost):
    """Cross-validation of alpha: paths over the training parts of the folds, and their losses on the parts left out.

    Parameters
    ----------
    alphas : array or None
        The alphas to try. None: as the next two say.
    n_alphas : int
        The number of alphas, in equal ratios.
    eps : float
        The smallest alpha as a fraction of alpha_max, the largest one.
    cv : int, splitter, list of splits or None
        A number of folds, five for None: rows are dealt out by their content, those of each class apart, so that
        neither their order nor copies instead of weights matter; rows of weight zero are left out, and copies of a row
        are in one fold. There are fewer folds where no class has as many different rows. A splitter of scikit-learn's
        form, or a list of splits, is taken as it is: its folds may depend on the order of the rows.
    n_rounds : int
        Most steps of the solver for each alpha.

    Attributes
    ----------
    alpha_ : float
        The alpha whose mean loss on the rows left out is smallest; the model is fitted with it to all rows.
    alphas_ : array, decreasing
    validation_losses_ : array of shape (n_alphas, n_folds)
        The mean loss, as in the objective, on the rows left out.
    """

    alphas: Any = field(default=None, kw_only=False)
    n_alphas: int = 30
    eps: float = 1e-2
    cv: Any = None
    n_rounds: int = 1000

    # Parameters of the estimators without CV that are fixed here.
    alpha: float | str = field(default=0.01, init=False)
    family: str = field(default="given", init=False)
    features_per_round: int | None = field(default=None, init=False)
    totally_corrective: bool = field(default=True, init=False)

    alphas_: FloatArray = field(init=False)
    validation_losses_: FloatArray = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Chooses alpha, then learns from all rows with it."""
        checked = copy(self)
        checked.alpha_ = 0.0
        settings = checked._read_parameters()
        rows, labels, weights = checked._checked(X, y, sample_weight)
        checked._take_units(labels, weights)
        checked._check_update(settings.penalty, checked._make_loss(labels))
        whole = checked._problem(checked._in_order(rows, labels, weights), settings, 1.0)
        alphas = decreasing(self.alphas, whole, self.n_alphas, self.eps)
        if self.cv is None or isinstance(self.cv, numbers.Integral):
            folds, (rows, labels, weights) = checked._folds_by_content(rows, labels, weights)
        else:
            folds = checked._given_folds(X, y, sample_weight)
        losses = [checked._losses_on(rows, labels, weights, *fold, settings, alphas) for fold in folds]
        chosen = copy(self)
        chosen.alphas_, chosen.validation_losses_ = alphas, np.array(losses).T
        chosen.alpha_ = float(alphas[chosen.validation_losses_.mean(axis=1).argmin()])
        self.__dict__ = super(ChoosesAlpha, chosen).fit(X, y, sample_weight).__dict__
        return self

    def _read_parameters(self) -> InductionSettings:
        check_alphas(self.alphas, self.n_alphas, self.eps)
        return super()._read_parameters()

    def _folds_by_content(
        self, X: Any, labels: FloatArray, weights: FloatArray
    ) -> tuple[Iterator[tuple[Indices, Indices]], tuple[Any, FloatArray, FloatArray]]:
        """Folds by the hash of rows, class after class, and the different rows; order and copies do not matter."""
        n_folds = DEFAULT_FOLDS if self.cv is None else check_integer("cv", self.cv, 2)
        indices, weights = canonical_rows(X, labels, weights, resolve_n_jobs(self.n_jobs))
        X = X.tocsr()[indices] if sparse.issparse(X) else X[indices]
        labels = np.ascontiguousarray(labels[:, indices])
        has_one_class = self._has_classes() and len(getattr(self, "classes_", (0, 1))) == 1
        n_different = len(indices) // (2 if has_one_class else 1)  # of one class each stands there twice
        if n_different < n_folds:
            raise ValueError(
                f"cv={n_folds} needs as many different rows with a positive weight, and there are "
                f"n_samples={n_different}. Use fewer folds."
            )
        if self._has_classes():
            counts = np.unique(labels[0], return_counts=True)[1]
            if counts.max() < 2:
                raise ValueError(
                    "Folds need a class with at least two different rows, one to learn from and one to test on, and "
                    "there is none."
                )
            if counts.min() < n_folds:
                warnings.warn(
                    f"cv={n_folds} is more than the {counts.min()} different rows of the smallest class: some folds "
                    "are without it. Use fewer folds.",
                    UserWarning,
                    stacklevel=4,
                )
            n_folds = min(n_folds, int(counts.max()))
        fold = np.arange(len(indices)) % n_folds
        if self._has_classes():
            fold[np.argsort(labels[0], kind="stable")] = fold.copy()
        folds = ((np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(n_folds))
        return folds, (X, labels, weights)

    def _has_classes(self) -> bool:
        return is_classifier(self) and not self._learns_tasks

    def _given_folds(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Indices, Indices]]:
        """Indices among the rows with a positive weight; the splits are those of all rows."""
        from sklearn.model_selection import check_cv  # loads much that other fits do without

        reader: Any = copy(self)
        reader.class_weight = None
        y = reader._training(X, y, None).labels  # of all rows
        given = check_sample_weight(sample_weight, len(y))
        weights = np.ones(len(y)) if given is None else given
        stratify = y if is_classifier(self) and y.ndim == 1 else None
        index_of = np.where(weights > 0, np.cumsum(weights > 0) - 1, -1)
        folds = check_cv(self.cv, stratify, classifier=stratify is not None)
        for train, test in folds.split(np.zeros((len(weights), 1)), stratify):
            parts = index_of[train][index_of[train] >= 0], index_of[test][index_of[test] >= 0]
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
        train: Indices,
        test: Indices,
        settings: InductionSettings,
        alphas: FloatArray,
    ) -> list[float]:
        problem = self._problem(
            self._in_order(X[train], np.ascontiguousarray(labels[:, train]), weights[train]), settings, 1.0
        )
        loss = self._make_loss(np.ascontiguousarray(labels[:, test]))
        fractions = weights[test] / weights[test].sum()
        left_out = X[test]
        points = self._points(problem, settings, alphas)
        return [float(fractions @ loss.value(np.ascontiguousarray((_product(left_out, W) + b).T))) for W, b in points]

    def _alpha(self) -> float:
        return getattr(self, "alpha_", 0.0)  # a path or alpha_max may be asked for before a fit

    def _alpha_for(self, read: Read, settings: InductionSettings) -> float:
        return settings.alpha


@storable_estimator
@described_like(SparseBoostClassifier)
@described_like(ChoosesAlpha)
@with_constructor
class SparseBoostClassifierCV(ChoosesAlpha, SparseBoostClassifier):
    """SparseBoostClassifier with the alpha of the smallest loss in cross-validation; features are the columns of X."""


@storable_estimator
@described_like(SparseBoostRegressor)
@described_like(ChoosesAlpha)
@with_constructor
class SparseBoostRegressorCV(ChoosesAlpha, SparseBoostRegressor):
    """SparseBoostRegressor with the alpha of the smallest loss in cross-validation; features are the columns of X."""


@storable_estimator
@described_like(MultiTaskSparseBoostClassifier)
@described_like(ChoosesAlpha)
@with_constructor
class MultiTaskSparseBoostClassifierCV(ChoosesAlpha, MultiTaskSparseBoostClassifier):
    """MultiTaskSparseBoostClassifier with the alpha of the smallest loss in cross-validation of the columns of X."""
