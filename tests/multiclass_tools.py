"""What the tests of several classes share: settings in the oracle's terms, and the objective of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost import DeepBoostClassifier, TreeOptions
from radboost.trees import with_tree_options
from reference import losses, multiclass
from reference.audit import Audit, audit, predictions
from reference.deepboost import Settings

# Which losses go with which objective.
PAIRS = [
    ("sum", "exponential"),
    ("sum", "logistic"),
    ("compsum", "logistic"),
    ("maxsum", "exponential"),
    ("maxsum", "logistic"),
    ("max", "exponential"),
    ("max", "logistic"),
]
SMOOTH = [pair for pair in PAIRS if pair[0] != "max"]


def paper(**changes: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier.paper(**with_tree_options({"complexity_penalty": 0.0, "l1_penalty": 0.0, **changes}))


def like(settings: Settings, **changes: Any) -> DeepBoostClassifier:
    """The estimator with the settings of an oracle's run."""
    options = TreeOptions(growth=settings.growth, max_leaves=settings.max_leaves, max_bins=settings.max_bins)
    return DeepBoostClassifier.paper(
        **with_tree_options(
            {
                "n_rounds": settings.rounds,
                "objective": settings.objective,
                "loss": settings.loss,
                "family": settings.family,
                "max_depth": settings.max_depth,
                "complexity_penalty": settings.lam,
                "l1_penalty": settings.beta,
                "learning_rate": settings.learning_rate,
                "split_criterion": settings.criterion,
                "step": settings.step,
                "tree_options": options,
                **changes,
            }
        )
    )


def class_ids(model: DeepBoostClassifier, y: Any) -> np.ndarray:
    return np.searchsorted(model.classes_, y)


def check_path(
    model: DeepBoostClassifier, settings: Settings, X: Any, y: Any, w: np.ndarray, *, search: bool, rtol: float = 1e-9
) -> Audit:
    """Audits the whole path of a model, and its history against it."""
    ensemble = model.ensemble_
    found = audit(
        np.asarray(X, dtype=float),
        class_ids(model, y),
        w,
        settings,
        ensemble.steps.tolist(),
        ensemble.entered,
        ensemble.entered_complexities.tolist(),
        len(model.classes_),
        search=search,
    )
    last = {t: k for k, t in enumerate(ensemble.steps["round"])}  # the last step of a round
    for t, k in last.items():
        np.testing.assert_allclose(model.history_["objective"][t], found.objectives[k], rtol=rtol, atol=1e-12)
    return found


def objective_of(model: DeepBoostClassifier, settings: Settings, X: Any, y: Any, w: np.ndarray) -> float:
    """(6)-(9) again, from the hypotheses and weights of a fitted model."""
    X, labels, C = np.asarray(X, dtype=float), class_ids(model, y), len(model.classes_)
    ensemble = model.ensemble_
    f, s = np.zeros((len(X), C)), np.zeros(len(X))
    for weight, hypothesis in zip(ensemble.weights, ensemble.hypotheses, strict=True):
        h = predictions(hypothesis, X, C)
        wrong = np.arange(C) != labels[:, None]
        f += weight * h
        s += weight * (h[np.arange(len(X)), labels] - np.max(np.where(wrong, h, -np.inf), axis=1))
    assert np.all(ensemble.weights > 0)
    price = settings.lam * ensemble.complexities + settings.beta
    loss = losses.LOSSES[settings.loss]
    return multiclass.mean_loss(settings.objective, loss, f, s, labels, w) + float(np.sum(price * ensemble.weights))


def first_objective(settings: Settings, n_classes: int) -> float:
    """F at 0: every wrong label has Phi(1)."""
    loss, y = losses.LOSSES[settings.loss], np.array([0])
    return multiclass.mean_loss(settings.objective, loss, np.zeros((1, n_classes)), np.zeros(1), y, np.ones(1))
