"""Soft-max boosting (Geist, 2015) in plain NumPy, with scikit-learn's trees as weak learners.

`sm_boost` is also the version whose time the benchmark compares with: it wastes nothing, it is only not native.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier


def soft_max(psi: np.ndarray) -> np.ndarray:
    """Equation (2); the largest score of a row is taken off first, so that no exponential overflows."""
    powers = np.exp(psi - psi.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def risk(psi: np.ndarray, costs: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    """Equation (4): the mean over the rows of the expected cost."""
    return float(np.average((soft_max(psi) * costs).sum(axis=1), weights=sample_weight))


def centred_costs(psi: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Proposition 2: how much more than expected each label costs."""
    expected = (soft_max(psi) * costs).sum(axis=1, keepdims=True)
    return np.asarray(costs - expected)


def gradient(psi: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Proposition 2, for the inner product of section 3.1 (so N times the partial derivatives of the risk)."""
    return np.asarray(soft_max(psi) * centred_costs(psi, costs))


def slope(psi: np.ndarray, costs: np.ndarray, sample_weight: np.ndarray | None, h: np.ndarray) -> float:
    """<gradient, h>_N: how fast the risk falls along -h."""
    return float(np.average((gradient(psi, costs) * h).sum(axis=1), weights=sample_weight))


def draw_pairs(
    psi: np.ndarray, n_samples: int, rng: np.random.Generator, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of `n_samples` pairs from rho(x) g(z | x), by a search in the cumulated probabilities."""
    n_rows, n_classes = psi.shape
    share = np.ones(n_rows) if sample_weight is None else sample_weight
    cumulated = np.cumsum((share[:, None] * soft_max(psi)).ravel())
    places = np.searchsorted(cumulated, rng.random(n_samples) * cumulated[-1], side="right")
    places = np.minimum(places, n_rows * n_classes - 1)
    return places // n_classes, places % n_classes


@dataclass(frozen=True)
class Round:
    """One round: a tree for each class (None for one that was never drawn), their common step, the scores after it."""

    trees: list[DecisionTreeClassifier | None]
    step: float
    scores: np.ndarray


def _answers(tree: DecisionTreeClassifier | None, X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X)) if tree is None else np.asarray(tree.predict(X), dtype=float)


def sm_boost(
    X: np.ndarray,
    costs: np.ndarray,
    n_rounds: int,
    rng: np.random.Generator,
    *,
    n_samples: int | None = None,
    max_leaves: int = 12,
    step: str = "sampled",
    sampled: bool = True,
    sample_weight: np.ndarray | None = None,
    **tree: Any,
) -> Iterator[Round]:
    """Algorithm 2 with the choices of section 5.1, round by round.

    `step` is "sampled" for R_M(h), the paper's choice, or "projected" for alpha_t = 1 (Theorem 1). Without `sampled`
    every pair takes part with its probability as a weight. Costs should lie in [0, 1].
    """
    n_rows, n_classes = costs.shape
    share = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    n_samples = round(share.sum()) if n_samples is None else n_samples
    psi = np.zeros((n_rows, n_classes))
    for _ in range(n_rounds):
        delta = centred_costs(psi, costs)
        if sampled:
            rows, labels = draw_pairs(psi, n_samples, rng, share)
            mass = np.full(n_samples, 1 / n_samples)
        else:
            rows, labels = np.divmod(np.arange(n_rows * n_classes), n_classes)
            mass = (share[:, None] / share.sum() * soft_max(psi)).ravel()
        signed = mass * delta[rows, labels]
        trees: list[DecisionTreeClassifier | None] = []
        for z in range(n_classes):
            use = (labels == z) & (signed != 0)
            grown = None
            if use.any():
                grown = DecisionTreeClassifier(max_leaf_nodes=max_leaves, random_state=int(rng.integers(2**31)), **tree)
                grown.fit(X[rows[use]], np.sign(signed[use]), sample_weight=np.abs(signed[use]))
            trees.append(grown)
        h = np.column_stack([_answers(grown, X) for grown in trees])
        if step == "sampled":
            a = float((signed * h[rows, labels]).sum())
        else:
            a = float((share[:, None] * gradient(psi, costs) * h).sum() / share.sum() / n_classes)
        psi = psi - a * h  # h = +1 says that the label costs more than expected
        yield Round(trees, a, psi)
