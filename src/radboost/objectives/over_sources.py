"""Functions of the losses of several sources: their maximum over mixtures, a soft maximum, or their sum.

F_k is the mean loss of source k. Storcheus (2021), section 4.3, equation (4.4), and appendix B.4.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._tables import column_names, real_numbers, take_columns
from radboost._typing import FloatArray
from radboost._validation import check_real
from radboost.engine import exp, log
from radboost.model_file import storable_value

SOURCE_OBJECTIVES = ("max", "softmax", "sum")
SUM_TOLERANCE = 1e-6  # of the sum of the weights of a mixture, which must be 1
GAP = 1e-13  # accuracy of the penalized maximum over a polytope, relative to the largest loss
SMALLEST_PENALTY = 1e-9  # smaller ones are treated as 0: they do not change a loss visibly
ROUNDING = 1e-12  # of equal losses, which are divided by the sizes of different sources, relative to their maximum
MOST_STEPS = 10_000  # of the search over a polytope


@storable_value
@dataclass(frozen=True)
class Mixtures:
    """Mixtures of sources over which the worst loss is minimized.

    Parameters
    ----------
    vertices : array of shape (n_vertices, n_sources), data frame whose columns are the sources, or None
        Vertices of the set of admissible mixtures: rows of non-negative weights that sum to 1, the sources in ascending
        order. None: all mixtures, whose vertices are the single sources.
    penalty : float
        gamma of max over lambda of sum of lambda_k F_k - gamma (sum of lambda_k^2 m / m_k - 1): it penalizes mixtures
        far from that of the training rows, so that a source of few rows does not dominate. With a large penalty all
        rows count equally, as in `DeepBoostClassifier`.
    """

    vertices: Any = None
    penalty: float = 0.0

    def validate(self) -> None:
        check_real("penalty of Mixtures", self.penalty, low=0.0)


def read_mixtures(given: Any) -> Mixtures:
    """Mixtures, from an instance or from vertices; checked."""
    mixtures = given if isinstance(given, Mixtures) else Mixtures(given)
    mixtures.validate()
    if mixtures.vertices is not None:
        _as_matrix(mixtures.vertices)
    return mixtures


def vertices_of(mixtures: Mixtures, names: npt.NDArray[Any], what: str = "sources") -> FloatArray | None:
    """Checked vertices, shape (n_vertices, n_sources); None: all mixtures. `what` is mixed, for messages."""
    given = mixtures.vertices
    if given is None:
        return None
    columns = column_names(given)
    if columns is not None:
        if sorted(map(str, columns)) != sorted(map(str, names.tolist())):
            raise ValueError(
                f"The columns of mixtures are {list(columns)}, and the {what} {names.tolist()}; they must be the same."
            )
        order = [list(map(str, columns)).index(str(name)) for name in names.tolist()]
        given = take_columns(given, order)
    matrix = _as_matrix(given)
    if matrix.shape[1] != len(names):
        raise ValueError(
            f"mixtures has {matrix.shape[1]} columns, and there are {len(names)} {what} ({names.tolist()[:10]}); a "
            "share for each of them is needed in every line."
        )
    outside = (matrix < 0).any(axis=1) | (np.abs(matrix.sum(axis=1) - 1.0) > SUM_TOLERANCE)
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(
            f"mixtures must hold shares that are not negative and sum to 1 in each line; line {first} is "
            f"{matrix[first].tolist()}, with the sum {matrix[first].sum():g}."
        )
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def _as_matrix(given: Any) -> FloatArray:
    try:
        matrix = np.atleast_2d(real_numbers(given))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"mixtures must be a table of numbers, a line for each vertex; got {given!r}.") from None
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise ValueError(f"mixtures must be a table of finite numbers, a line for each vertex; got {given!r}.")
    return matrix


MOST_FOLLOWED = 4  # sources; with more, few are tied in a round, and renewing all weights is not worth its time


class OverSources(ABC):
    """Function G(F_1, ..., F_p) that is non-decreasing in each loss."""

    @abstractmethod
    def value(self, losses: FloatArray) -> float: ...

    @abstractmethod
    def weights(self, losses: FloatArray) -> FloatArray:
        """Gradient lambda of G, or a subgradient; shape (n_sources,)."""

    def slope(self, losses: FloatArray, slopes: FloatArray) -> float:
        """Derivative of G, from derivatives of the losses along a direction."""
        return float(self.weights(losses) @ slopes)

    def usual_mixtures(self, n_sources: int) -> FloatArray | None:
        """Mixture for the weights of each source in most rounds, shape (n_sources, n_sources); None: not known."""
        return None

    def as_maximum(self) -> MaxOfSources | None:
        """This function if it is a plain maximum over vertices, otherwise None."""
        return None


class SumOfSources(OverSources):
    """Sum F_1 + ... + F_p (B.1), or the sum over vertices."""

    def __init__(self, vertices: FloatArray | None, n_sources: int) -> None:
        self._weights = np.ones(n_sources) if vertices is None else vertices.sum(axis=0)

    def value(self, losses: FloatArray) -> float:
        return float(self._weights @ losses)

    def weights(self, losses: FloatArray) -> FloatArray:
        return self._weights

    def usual_mixtures(self, n_sources: int) -> FloatArray:
        return np.tile(self._weights, (n_sources, 1))


class SoftmaxOfSources(OverSources):
    """Soft maximum log(sum of exp(mu F)) / mu over vertices: exceeds the maximum by at most log(n_vertices) / mu."""

    def __init__(self, vertices: FloatArray | None, mu: float) -> None:
        self._vertices, self._mu = vertices, mu

    def value(self, losses: FloatArray) -> float:
        result = _at_vertices(self._vertices, losses)
        top = float(result.max())
        return top + log(float(np.sum(_exponentials(self._mu * (result - top))))) / self._mu

    def weights(self, losses: FloatArray) -> FloatArray:
        result = _at_vertices(self._vertices, losses)
        odds = _exponentials(self._mu * (result - result.max()))
        weights = odds / odds.sum()
        return np.asarray(weights if self._vertices is None else weights @ self._vertices)


class MaxOfSources(OverSources):
    """Maximum of lambda F over vertices. Storcheus (2021), Figure 4.1."""

    def __init__(self, vertices: FloatArray | None, n_sources: int) -> None:
        self.vertices = np.eye(n_sources) if vertices is None else vertices
        self._plain = vertices is None

    def at_vertices(self, losses: FloatArray) -> FloatArray:
        return losses if self._plain else self.vertices @ losses

    def value(self, losses: FloatArray) -> float:
        return float(self.at_vertices(losses).max())

    def weights(self, losses: FloatArray) -> FloatArray:
        return np.asarray(self.vertices[self.worst(losses)])

    def worst(self, losses: FloatArray) -> int:
        """Vertex with the largest value; of those that are equal up to rounding the first."""
        values = self.at_vertices(losses)
        return int(np.argmax(values >= values.max() - ROUNDING * abs(float(values.max()))))

    def slope(self, losses: FloatArray, slopes: FloatArray) -> float:
        """Right derivative: of the vertices that attain the maximum, the one that rises fastest."""
        result = self.at_vertices(losses)
        return float(self.at_vertices(slopes)[result == result.max()].max())

    def usual_mixtures(self, n_sources: int) -> FloatArray | None:
        each = np.eye(n_sources)
        return each if n_sources <= MOST_FOLLOWED and np.array_equal(self.vertices, each) else None

    def as_maximum(self) -> MaxOfSources:
        return self


class PenalizedMax(OverSources):
    """Maximum over mixtures of lambda F - gamma (sum of lambda_k^2 m / m_k - 1). Storcheus (2021), section 4.4."""

    def __init__(self, vertices: FloatArray | None, penalty: float, sizes: FloatArray) -> None:
        self._vertices, self._penalty, self._costs = vertices, penalty, penalty * sizes.sum() / sizes

    def value(self, losses: FloatArray) -> float:
        result = self.weights(losses)
        return float(result @ losses - self._costs @ result**2 + self._penalty)

    def weights(self, losses: FloatArray) -> FloatArray:
        return self._on_simplex(losses) if self._vertices is None else self._on_polytope(losses)

    def _on_simplex(self, losses: FloatArray) -> FloatArray:
        """lambda_k = max(0, F_k - tau) / (2 costs_k), with the threshold tau such that they sum to 1."""
        order = np.argsort(-losses, kind="stable")
        slopes = 1.0 / (2.0 * self._costs[order])
        levels = (np.cumsum(losses[order] * slopes) - 1.0) / np.cumsum(slopes)
        # levels[i] is tau if the i + 1 largest losses have positive weights; loss i has one if it exceeds levels[i].
        n_above = int(np.argmin(np.append(losses[order] > levels, False)))
        tau = levels[max(n_above, 1) - 1]
        result = np.maximum(losses - tau, 0.0) / (2.0 * self._costs)
        return np.asarray(result / result.sum())

    def _on_polytope(self, losses: FloatArray) -> FloatArray:
        """Pairwise Frank-Wolfe method: a step moves weight from the worst vertex with weight to the best one."""
        vertices = self._vertices
        assert vertices is not None
        weights = np.full(len(vertices), 1.0 / len(vertices))
        mixture = weights @ vertices
        for _ in range(MOST_STEPS):
            gains = vertices @ (losses - 2.0 * self._costs * mixture)
            best, worst = int(np.argmax(gains)), int(np.argmin(np.where(weights > 0, gains, np.inf)))
            gain = gains[best] - gains[worst]
            if gain <= GAP * max(1.0, float(np.abs(losses).max())):
                break
            direction = vertices[best] - vertices[worst]
            curvature = 2.0 * float(self._costs @ direction**2)
            step = min(weights[worst], gain / curvature) if curvature > 0 else weights[worst]
            weights[best] += step
            weights[worst] -= step
            mixture = mixture + step * direction
        return np.asarray(mixture)


def make_over_sources(
    name: str, mu: float, mixtures: Mixtures, names: npt.NDArray[Any], sizes: FloatArray
) -> OverSources:
    """OverSources of a name; `sizes` are m_k, the sums of the row weights of the sources."""
    vertices = vertices_of(mixtures, names)
    if name == "sum":
        return SumOfSources(vertices, len(names))
    if name == "softmax":
        return SoftmaxOfSources(vertices, mu)
    if mixtures.penalty > SMALLEST_PENALTY:
        return PenalizedMax(vertices, mixtures.penalty, sizes)
    return MaxOfSources(vertices, len(names))


def agnostic(values: FloatArray, vertices: FloatArray | None) -> float:
    """Largest value over vertices (None: over sources). Storcheus (2021), equation (4.1)."""
    return float(_at_vertices(vertices, values).max())


def _at_vertices(vertices: FloatArray | None, losses: FloatArray) -> FloatArray:
    return losses if vertices is None else np.asarray(vertices @ losses)


def _exponentials(exponents: FloatArray) -> FloatArray:
    return np.array([exp(max(float(exponent), -700.0)) for exponent in exponents])
