"""Small data sets for the tests: tied values, missing cells, noise, imbalance."""

from __future__ import annotations

import math

import numpy as np

# No stump lowers the objective "max" from 0: in "even" the best have the edge 0, in "strict" all have a negative one.
# Yet two stumps together do: x[0] says class 0 or 1, x[1] too; where they agree they are right, and where they disagree
# they are wrong with different labels, of which Max counts one. test_reference.py proves this.
STUCK = {
    "even": (np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 1, 2, 2])),
    "strict": (
        np.repeat([[0.0, 0], [1, 1], [0, 1], [1, 0]], [3, 3, 4, 4], axis=0),
        np.array([0] * 3 + [1] * 3 + [2, 2, 3, 3] * 2),
    ),
}


def tiny(
    seed: int = 0, m: int = 14, d: int = 3, levels: int = 5, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Few levels per column, so that many splits tie; labels -1 and +1, noisy in the first column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(m, d)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=m) > levels / 2, 1, -1)
    y[:2] = [1, -1]
    X[rng.random(X.shape) < missing] = math.nan
    return X, y


def smooth(
    seed: int = 0, m: int = 120, d: int = 6, noise: float = 0.1, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Real values without ties; the label needs an interaction and two main effects; labels -1 and +1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + 1.5 * X[:, 1 % d] * X[:, 2 % d] - 0.5 * X[:, 3 % d] > 0, 1, -1)
    y = np.where(rng.random(m) < noise, -y, y)
    y[:2] = [1, -1]
    X[rng.random(X.shape) < missing] = math.nan
    return X, y


def tiny_classes(
    seed: int = 0, m: int = 14, d: int = 2, n_classes: int = 3, levels: int = 4, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0 ... n_classes - 1, each with a row; few levels per column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(m, d)).astype(float)
    y = np.clip(np.round(X[:, 0] * n_classes / levels + 0.6 * rng.normal(size=m)), 0, n_classes - 1).astype(int)
    y[:n_classes] = np.arange(n_classes)[:m]
    X[rng.random(X.shape) < missing] = math.nan
    return X, y


def smooth_classes(
    seed: int = 0, m: int = 150, d: int = 5, n_classes: int = 3, noise: float = 0.1, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Real values without ties; the class is the direction closest to (x_0, x_1 + x_2 x_3), with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    angle = np.arctan2(X[:, 1 % d] + 0.7 * X[:, 2 % d] * X[:, 3 % d], X[:, 0])
    y = np.floor((angle + math.pi) / (2 * math.pi) * n_classes).astype(int) % n_classes
    y = np.where(rng.random(m) < noise, rng.integers(0, n_classes, m), y)
    y[:n_classes] = np.arange(n_classes)[:m]
    X[rng.random(X.shape) < missing] = math.nan
    return X, y


def together(noise: float = 0.0, m: int = 1200, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns that matter together; `noise` is the fraction of the labels that are drawn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 6))
    f = 2.0 * np.sin(2.0 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4]
    y = np.digitize(f, [0.0] if n_classes == 2 else [-1.2, 0.0, 1.2])
    return X, np.where(rng.random(m) < noise, rng.integers(0, n_classes, m), y)
