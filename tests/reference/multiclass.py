"""The four objectives of Multi-Class Deep Boosting, (6)-(9), row by row: values, distributions, derivatives.

Everything takes hypotheses as matrices h[i, c] with any values; the numbers g(i, c) of vertex-valued ones are derived
from nothing else than "what is the edge of a hypothesis that says class c at row i alone".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .losses import LN2, LOGISTIC, Loss

NAMES = ("sum", "compsum", "maxsum", "max")
ABSTAIN = -1


def vertex(answers: np.ndarray, n_classes: int) -> np.ndarray:
    """The hypothesis that gives each row one class, or abstains there (all zeros)."""
    h = np.zeros((len(answers), n_classes))
    for i, c in enumerate(answers):
        if c != ABSTAIN:
            h[i, int(c)] = 1.0
    return h


def others(i_class: int, n_classes: int) -> list[int]:
    return [c for c in range(n_classes) if c != i_class]


def base_margin(h: np.ndarray, y: np.ndarray) -> np.ndarray:
    """rho_h(x_i, y_i) of equation (1)."""
    return np.array([row[c] - max(row[k] for k in others(int(c), len(row))) for row, c in zip(h, y, strict=True)])


@dataclass(frozen=True)
class Sums:
    """Where an ensemble stands: scores f(i, c), and s(i), the sum of the margins of its hypotheses (MaxSum)."""

    f: np.ndarray
    s: np.ndarray

    def moved(self, eta: float, h: np.ndarray, y: np.ndarray) -> Sums:
        return Sums(self.f + eta * h, self.s + eta * base_margin(h, y))


def start(m: int, n_classes: int) -> Sums:
    return Sums(np.zeros((m, n_classes)), np.zeros(m))


@dataclass(frozen=True)
class Objective:
    """One of (6)-(9) without its penalty, for labels 0 ... C-1 and sample weights w.

    `tie`: how close two scores must be to count as equal (Max). Scores of trees lie on a grid and need no slack.
    """

    name: str
    loss: Loss
    y: np.ndarray
    w: np.ndarray
    n_classes: int
    tie: float = 0.0
    m: float = field(init=False)

    def __post_init__(self) -> None:
        assert self.name in NAMES
        assert self.name != "compsum" or self.loss is LOGISTIC
        object.__setattr__(self, "m", float(np.sum(self.w)))

    def arguments(self, at: Sums, i: int) -> dict[int, float]:
        """u_y = 1 - f(x_i, y_i, y) for every wrong label y."""
        own = int(self.y[i])
        return {c: 1 - float(at.f[i, own]) + float(at.f[i, c]) for c in others(own, self.n_classes)}

    def active(self, at: Sums, i: int) -> list[int]:
        """The wrong labels with the largest score: the script Y of appendix H."""
        u = self.arguments(at, i)
        return [c for c in u if u[c] >= max(u.values()) - self.tie]

    def value(self, at: Sums) -> float:
        return mean_loss(self.name, self.loss, at.f, at.s, self.y, self.w)

    def pulls(self, at: Sums, i: int) -> dict[int, float]:
        """Derivative of the loss of a row in each u_y: S D(i, y) of (11) and (23), for Sum and CompSum."""
        u = self.arguments(at, i)
        if self.name == "sum":
            return {c: float(self.loss.derivative(np.array(v))) for c, v in u.items()}
        whole = np.logaddexp.reduce([0.0, *u.values()])
        return {c: math.exp(v - whole) / LN2 for c, v in u.items()}

    def row_slope(self, at: Sums, i: int) -> float:
        """S D(i, .) summed over labels (Sum, CompSum), or S D(i) of (20) and (26)."""
        if self.name == "maxsum":
            return float(self.loss.derivative(np.array(1 - at.s[i])))
        if self.name == "max":
            return float(self.loss.derivative(np.array(max(self.arguments(at, i).values()))))
        return sum(self.pulls(at, i).values())

    def normaliser(self, at: Sums) -> float:
        """S_t."""
        return float(sum(w * self.row_slope(at, i) for i, w in enumerate(self.w)))

    def row_weights(self, at: Sums) -> np.ndarray:
        """w(i): what D puts on a row. They sum to 1."""
        raw = np.array([w * self.row_slope(at, i) for i, w in enumerate(self.w)])
        return np.asarray(raw / raw.sum())

    def row_edge(self, at: Sums, i: int, row: np.ndarray, shrinking: bool = False) -> float:
        """-(dloss_i / d eta) along h(x_i, .) = row; for Max the right derivative, or the left one where shrinking."""
        own = int(self.y[i])
        if self.name == "maxsum":
            return self.row_slope(at, i) * float(base_margin(row[None], self.y[i : i + 1])[0])
        if self.name == "max":
            gaps = [float(row[own] - row[c]) for c in self.active(at, i)]
            return self.row_slope(at, i) * (max(gaps) if shrinking else min(gaps))
        return sum(pull * float(row[own] - row[c]) for c, pull in self.pulls(at, i).items())

    def edge(self, at: Sums, h: np.ndarray, shrinking: bool = False) -> float:
        """1 - 2 epsilon of (12), (21), (24), (27): F' along h is -(S / m) edge + Lambda."""
        total = sum(w * self.row_edge(at, i, h[i], shrinking) for i, w in enumerate(self.w))
        return float(total / self.normaliser(at))

    def gradients(self, at: Sums, shrinking: bool = False) -> np.ndarray:
        """g(i, c): the edge that the answer c at row i adds."""
        units = np.eye(self.n_classes)
        raw = [[w * self.row_edge(at, i, unit, shrinking) for unit in units] for i, w in enumerate(self.w)]
        return np.array(raw) / self.normaliser(at)

    def error(self, at: Sums) -> float:
        """Share of the rows with f(x_i, y_i) <= max of the others."""
        return float(np.sum(self.w * (base_margin(at.f, self.y) <= 0)) / self.m)


def make_objective(
    name: str, loss: Loss, y: np.ndarray, w: np.ndarray | None = None, n_classes: int | None = None, tie: float = 0.0
) -> Objective:
    y = np.asarray(y, dtype=int)
    weights = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    return Objective(name, loss, y, weights, int(y.max()) + 1 if n_classes is None else n_classes, tie)


def expected_gradient(name: str, loss: Loss, f: np.ndarray) -> np.ndarray:
    """M[k, c] = d loss(c, f) / d f_k. Scores f minimise the expected loss of probabilities p where M p = 0."""
    n = len(f)
    columns = []
    for c in range(n):
        objective = make_objective(name, loss, np.array([c]), None, n)
        at = Sums(f[None, :], np.zeros(1))
        columns.append([-objective.row_edge(at, 0, unit) for unit in np.eye(n)])
    return np.array(columns).T


def population_probabilities(name: str, loss: Loss, f: np.ndarray) -> np.ndarray:
    """The probabilities for which scores f minimise the expected loss: the null vector of expected_gradient."""
    M = expected_gradient(name, loss, np.asarray(f, dtype=float))
    p = np.linalg.svd(M)[2][-1]
    return np.asarray(p / p.sum())


def row_losses(name: str, loss: Loss, f: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Loss of each row."""
    if name == "maxsum":
        return loss.value(1 - s)
    own = f[np.arange(len(y)), y]
    wrong = np.arange(f.shape[1]) != y[:, None]
    u = 1 - own[:, None] + f
    if name == "sum":
        return np.asarray(np.sum(np.where(wrong, loss.value(u), 0.0), axis=1))
    if name == "max":
        return np.asarray(np.max(np.where(wrong, loss.value(u), -np.inf), axis=1))
    return np.asarray(np.logaddexp.reduce(np.where(wrong, u, 0.0), axis=1) / LN2)  # the own class stands for the 1


def mean_loss(name: str, loss: Loss, f: np.ndarray, s: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    return float(np.sum(w * row_losses(name, loss, f, s, y)) / np.sum(w))
