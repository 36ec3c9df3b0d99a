"""Normalised margins: how clearly the weighted vote of an ensemble goes to the right class."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radboost.ensemble import SparseEnsemble
from radboost.families.sourced import SourcedHypothesis

FloatArray = NDArray[np.float64]

RHO_GRID: tuple[float, ...] = tuple(2.0 ** (-k / 4) for k in range(1, 33))
"""The margins that ``bound(rho=None)`` chooses among: 32 values from 0.84 down to 1/256, fixed in advance."""


class VotingEnsemble(Protocol):
    """Attributes of ``model.ensemble_`` that guarantees need."""

    @property
    def weights(self) -> FloatArray:
        """The mixture weights alpha; of either sign with two classes."""

    @property
    def complexities(self) -> FloatArray:
        """Bound r on the Rademacher complexity of each hypothesis' family."""

    @property
    def n_families(self) -> int:
        """The number p of families the search could have used."""

    @property
    def sample_size(self) -> float:
        """The number m of training rows (the sum of their weights)."""


def margins(model: Any, X: Any, y: ArrayLike) -> FloatArray:
    """Return the normalised margin of every row, a number in [-1, 1].

    The margin is the vote for the right class minus the largest one for another class, divided by all votes. With two
    classes it is y f(x) / sum_j abs(alpha_j) (Deep Boosting, section 2). With more it is f(x, y) - max of f(x, y') over
    y' != y, divided by the same sum (Multi-Class Deep Boosting, equation (1)). It is positive where the model is right,
    1 where all hypotheses agree on the right class, -1 where all agree on the same wrong one. An ensemble without
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
    total = float(np.abs(ensemble.weights).sum()) * spread(ensemble)
    leads = leads_of(np.asarray(model.decision_function(X), dtype=np.float64), _class_indices(model, y))
    # The sum of rounded terms can pass the exact limits by an ulp or two.
    return np.clip(leads / total, -1.0, 1.0) if total > 0.0 else np.zeros(len(leads))


def ensemble_of(model: Any, what: str) -> Any:
    """Return what a fitted model of RadBoost is made of, or say what is wrong with the model.

    ``what`` is wanted of it, in the plural.
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"Expected a fitted RadBoost model such as DeepBoostClassifier, got {model!r}.")
    check_is_fitted(model)
    if not hasattr(model, "ensemble_"):
        raise TypeError(
            f"{type(model).__name__} has no ensemble_: {what} are for RadBoost models. "
            "Pass the last step of a pipeline and the rows as it sees them; AdaBoost is DeepBoostClassifier.paper()."
        )
    return model.ensemble_


def voting_ensemble(model: Any) -> VotingEnsemble:
    """Return the ensemble of a fitted classifier that votes, or say what is wrong with the model."""
    ensemble: VotingEnsemble = ensemble_of(model, "margins and bounds")
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
    if any(isinstance(hypothesis, SourcedHypothesis) for hypothesis in getattr(ensemble, "entered", ())):
        raise TypeError(
            f"{type(model).__name__} learned from {len(model.source_names_)} sources, and its rows are no sample of "
            "one distribution, which margins and this bound are about. guarantees.sources_bound bounds the error under "
            "their worst mixture; radboost.metrics.agnostic_error measures it on test rows."
        )
    if not hasattr(ensemble, "weights"):
        raise TypeError(
            f"{type(model).__name__} does not vote: its {type(ensemble).__name__} has no weights, so that there are no "
            "margins and no bound."
        )
    return ensemble


def spread(ensemble: VotingEnsemble) -> float:
    """Return the largest difference of one hypothesis' predictions for two classes: 1 for votes."""
    return float(getattr(ensemble, "spread", 1.0))


def leads_of(scores: FloatArray, right: NDArray[Any]) -> FloatArray:
    """Return f(x, y) - max of f(x, y') over y' != y, y f(x) with two classes. Multi-Class Deep Boosting, (1)."""
    if len(scores) != len(right):
        raise ValueError(f"X has {len(scores)} rows and y has {len(right)} labels; pass one label per row.")
    if scores.ndim == 1:
        return np.where(right == 1, scores, -scores)
    rows = np.arange(len(right))
    others = scores.copy()
    others[rows, right] = -np.inf
    leads: FloatArray = scores[rows, right] - others.max(axis=1)
    return leads


def _class_indices(model: Any, y: ArrayLike) -> NDArray[np.intp]:
    """Return the index of each label in ``model.classes_``."""
    labels = column_or_1d(np.asarray(y)).tolist()
    known = {label: index for index, label in enumerate(model.classes_.tolist())}
    indices = np.array([known.get(label, -1) for label in labels], dtype=np.intp)
    if (indices < 0).any():
        stranger = labels[int(np.argmin(indices))]
        raise ValueError(
            f"y contains the label {stranger!r}, and the model knows {_listed(list(known))} only; "
            "pass labels of the kind the model was fitted with."
        )
    return indices


def _listed(labels: list[Any]) -> str:
    """Return labels for a message: all of a few, the first of many."""
    shown = [repr(label) for label in labels]
    if len(shown) > 8:
        return f"{', '.join(shown[:6])} and {len(shown) - 6} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
