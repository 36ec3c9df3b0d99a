"""Normalized margins: how clearly the weighted vote of an ensemble goes to the right class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from radboost._typing import FloatArray
from radboost._validation import check_real_or
from radboost.ensemble import Ensemble, SparseEnsemble
from radboost.families.sourced import SourcedHypothesis
from radboost.guarantees.holdout import check_predicts
from radboost.rows.read import known_labels

RHO_GRID: tuple[float, ...] = tuple(2.0 ** (-k / 4) for k in range(1, 33))
"""The margins that ``bound(rho=None)`` chooses among: 32 values from 0.84 down to 1/256, fixed in advance."""


def margins(model: Any, X: Any, y: ArrayLike) -> FloatArray:
    """Return the normalized margin of every row, a number in [-1, 1].

    The margin is the vote for the right class minus the largest one for another class, divided by all votes. With two
    classes it is y f(x) / sum_j abs(alpha_j) (Cortes et al. (2014), section 2). With more it is f(x, y) - max of
    f(x, y') over y' != y, divided by that sum (Kuznetsov et al. (2014), equation (1)). It is positive if the model is
    right, 1 if all hypotheses agree on the right class, -1 if all agree on the same wrong one. An ensemble without
    hypotheses has margin 0 everywhere. (Trees that hold a number between -1 and 1 for each of several classes can set
    two of these 2 apart: their margins are divided by 2.)

    Parameters
    ----------
    model : DeepBoostClassifier, RGBClassifier or another classifier of RadBoost whose hypotheses vote
        A fitted model; not a sparse one.
    X : array-like of shape (n_rows, n_features)
        The rows, as for ``predict``.
    y : array-like of shape (n_rows,)
        Their labels, of those in ``model.classes_``.

    Returns
    -------
    numpy.ndarray of shape (n_rows,)
    """
    ensemble = voting_ensemble(model)
    total = float(np.abs(ensemble.weights).sum()) * ensemble.spread
    right = known_labels(column_or_1d(np.asarray(y)), model.classes_, "y")
    leads = leads_of(np.asarray(model.decision_function(X), dtype=np.float64), right)
    # The sum of rounded terms can pass the exact limits by an ulp or two.
    return np.clip(leads / total, -1.0, 1.0) if total > 0.0 else np.zeros(len(leads))


def ensemble_of(model: Any, what: str) -> Any:
    """Return what a fitted model of RadBoost is made of, or say what is wrong with the model.

    ``what`` is wanted of it, in the plural.
    """
    check_predicts(model, "RadBoost model such as DeepBoostClassifier")
    if not hasattr(model, "ensemble_"):
        raise TypeError(
            f"{type(model).__name__} has no ensemble_: {what} are for RadBoost models. "
            "Pass the last step of a pipeline and the rows as it sees them; AdaBoost is DeepBoostClassifier.paper()."
        )
    return model.ensemble_


def voting_ensemble(model: Any) -> Ensemble:
    """Return the ensemble of a fitted classifier that votes, or say what is wrong with the model."""
    ensemble = ensemble_of(model, "margins and bounds")
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"{type(model).__name__} predicts numbers, which have no margins: margins and this bound are for "
            "classifiers."
        )
    if isinstance(ensemble, SparseEnsemble):
        raise TypeError(
            f"{type(model).__name__} does not vote: its scores have intercepts, and its features may have values of "
            "any size, so that nothing bounds the scores by the sum of the weights. Margins and this bound are for "
            "models that vote, such as DeepBoostClassifier."
        )
    if not isinstance(ensemble, Ensemble):
        raise TypeError(
            f"{type(model).__name__} does not vote: its {type(ensemble).__name__} is no sum of weighted votes, so that "
            "there are no margins and no such bound. Kernel projections have guarantees.projection_bound."
        )
    if any(isinstance(hypothesis, SourcedHypothesis) for hypothesis in ensemble.entered):
        raise TypeError(
            f"{type(model).__name__} learned from {len(model.source_names_)} sources, and its rows are no sample of "
            "one distribution, which margins and this bound are about. guarantees.sources_bound bounds the error under "
            "their worst mixture; radboost.metrics.agnostic_error measures it on test rows."
        )
    return ensemble


def margins_to_try(rho: float | None) -> tuple[float, ...]:
    """The given margin, or RHO_GRID for None."""
    check_real_or((None,), "rho", rho, low=0.0, high=1.0, open_low=True)
    return RHO_GRID if rho is None else (float(rho),)


def leads_of(scores: FloatArray, right: NDArray[Any]) -> FloatArray:
    """Return f(x, y) - max of f(x, y') over y' != y, y f(x) with two classes. Kuznetsov et al. (2014), (1)."""
    if len(scores) != len(right):
        raise ValueError(f"X has {len(scores)} rows and y has {len(right)} labels; pass one label per row.")
    if scores.ndim == 1:
        return np.where(right == 1, scores, -scores)
    rows = np.arange(len(right))
    others = scores.copy()
    others[rows, right] = -np.inf
    leads: FloatArray = scores[rows, right] - others.max(axis=1)
    return leads
