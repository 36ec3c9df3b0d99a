"""Normalised margins: how clearly the weighted vote of an ensemble goes to the right class."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

FloatArray = NDArray[np.float64]


class VotingEnsemble(Protocol):
    """What the guarantees need to know of ``model.ensemble_``."""

    @property
    def weights(self) -> FloatArray:
        """The mixture weights alpha, of either sign."""

    @property
    def complexities(self) -> FloatArray:
        """For each hypothesis a bound r on the Rademacher complexity of its family."""

    @property
    def n_families(self) -> int:
        """The number p of families the search could have used."""

    @property
    def sample_size(self) -> float:
        """The number m of training rows (the sum of their weights)."""


def margins(model: Any, X: Any, y: ArrayLike) -> FloatArray:
    """Return the normalised margin y f(x) / sum_j abs(alpha_j) of every row, a number in [-1, 1].

    The margin is the share of the vote for the right class minus the share for the other one (Deep
    Boosting, section 2): positive where the model is right, 1 where all its hypotheses agree on the right
    class, -1 where all agree on the wrong one. An ensemble without hypotheses has margin 0 everywhere.

    Parameters
    ----------
    model : DeepBoostClassifier
        A fitted model.
    X : array-like of shape (n_rows, n_features)
        The rows, as for ``predict``.
    y : array-like of shape (n_rows,)
        Their labels, of the two in ``model.classes_``.

    Returns
    -------
    numpy.ndarray of shape (n_rows,)
    """
    ensemble = voting_ensemble(model)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    signs = _signs(model, y)
    if len(scores) != len(signs):
        raise ValueError(f"X has {len(scores)} rows and y has {len(signs)} labels; pass one label per row.")
    total = float(np.abs(ensemble.weights).sum())
    if total == 0.0:
        return np.zeros(len(signs))
    # The sum of rounded terms can pass the exact limits by an ulp or two.
    return np.clip(signs * scores / total, -1.0, 1.0)


def voting_ensemble(model: Any) -> VotingEnsemble:
    """Return the ensemble of a fitted model, or say what is wrong with the model."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"Expected a fitted RadBoost model such as DeepBoostClassifier, got {model!r}.")
    check_is_fitted(model)
    if not hasattr(model, "ensemble_"):
        raise TypeError(
            f"{type(model).__name__} has no ensemble_: margins and bounds are for RadBoost models. "
            "Pass the last step of a pipeline and the rows as it sees them; AdaBoost is DeepBoostClassifier.paper()."
        )
    ensemble: VotingEnsemble = model.ensemble_
    return ensemble


def _signs(model: Any, y: ArrayLike) -> FloatArray:
    """Return -1 for the first class of the model and +1 for the second."""
    labels = column_or_1d(np.asarray(y))
    negative, positive = model.classes_
    is_positive = np.asarray(labels == positive, dtype=bool)
    known = is_positive | np.asarray(labels == negative, dtype=bool)
    if labels.size and not np.all(known):
        stranger = labels[~known][0] if np.ndim(known) else labels[0]
        raise ValueError(
            f"y contains the label {stranger!r}, and the model knows {negative!r} and {positive!r} only; "
            "pass labels of the kind the model was fitted with."
        )
    return np.where(is_positive, 1.0, -1.0)
