"""Bound on the true error of an ensemble over several sources, under the worst mixture of them.

Theorems 4.4, 4.5 and B.2 of Storcheus (2021), derived anew: docs/theory.md, section 16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost.estimators import MultiSourceBoostClassifier
from radboost.families.sourced import SourcedHypothesis
from radboost.families.trees import largest_leaf_value
from radboost.guarantees.holdout import probability, read_labels, warn_of_copies
from radboost.guarantees.margins import leads_of, margins_to_try
from radboost.guarantees.tree_counts import log_labelings
from radboost.objectives.over_sources import read_mixtures, vertices_of
from radboost.rows.domains import DomainModel
from radboost.rows.read import known_labels
from radboost.rows.sources import ids_among, read_sources
from radboost.trees.tree import Tree


@dataclass(frozen=True)
class MixtureBound:
    """The bound for one source, or for one of the admissible mixtures.

    Attributes
    ----------
    name : str
        Name of the source, or the weights of the mixture.
    margin_loss : float
        The mean of 1 - margin/rho, at least 0 and at most 1, over the rows: every mistake counts 1, a row with a margin
        of rho or more 0.
    complexity_term : float
        2/rho (with more than two classes 4/rho) times the mean price of the trees.
    confidence_term : float
        The price of chance.
    total : float
        The sum of the three.
    rho : float
        The margin.
    n_rows : int
        The rows of the sources that it mixes.
    """

    name: str
    margin_loss: float
    complexity_term: float
    confidence_term: float
    rho: float
    n_rows: int

    @property
    def total(self) -> float:
        return self.margin_loss + self.complexity_term + self.confidence_term


@dataclass(frozen=True, repr=False)
class SourcesBound:
    """Bound on the agnostic error: with probability at least 1 - ``delta`` every part holds.

    Attributes
    ----------
    parts : tuple of MixtureBound
        One for each source, or for each corner of the ``mixtures`` that the model was fitted for.
    worst : MixtureBound
        The largest of them.
    total : float
        Its total: the true error on every admissible mixture of the sources is at most this.
    delta : float
        The probability, over the draw of the rows, that a part fails.
    n_rho : int
        The number of margins that ``rho`` of each part was chosen from.
    """

    parts: tuple[MixtureBound, ...]
    delta: float
    n_rho: int

    @property
    def worst(self) -> MixtureBound:
        """The part with the largest total."""
        return max(self.parts, key=lambda part: part.total)

    @property
    def total(self) -> float:
        """Total of the worst part."""
        return self.worst.total

    @property
    def vacuous(self) -> bool:
        """True when the bound is 1 or more: no error rate is above 1."""
        return self.total >= 1.0

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", "rows", "rho", "margin loss", "+ trees", "+ chance", "= error is at most")]
        for part in self.parts:
            terms = (part.margin_loss, part.complexity_term, part.confidence_term, part.total)
            rows.append((part.name, f"{part.n_rows:,}", f"{part.rho:.3g}", *(f"{term:.4f}" for term in terms)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
        title = "Bound on the true error under the worst mixture of sources (docs/theory.md, section 16)"
        end = "vacuous (not below 1)" if self.vacuous else f"delta = {self.delta:g}"
        last = f"  true error on every mixture is at most {self.total:.4f}   {end}"
        return "\n".join([title, *("  " + row.rstrip() for row in table), last])

    __repr__ = __str__


def sources_bound(
    model: Any, X: Any, y: ArrayLike, sources: ArrayLike, *, rho: float | None = None, delta: float = 0.05
) -> SourcesBound:
    """Bound the true error of a ``MultiSourceBoostClassifier`` under the worst mixture of its sources.

    Equation (35) of docs/theory.md, section 16, with the proof, computed for every corner of ``model.mixtures``, by
    default for each source. The largest holds for every mixture: an error is linear in its weights. Rows of a source
    are drawn independently, and Q was fixed before they were drawn.

    What it does not cover: **a Q that saw these rows**, which the theorem would have to pay for as for any other part
    of the model. Such models are refused. Fit Q on other rows, which need no labels, and pass it in ready:
    ``MultiSourceBoostClassifier(domain_classifier=FrozenEstimator(fitted))``. Whether a frozen Q has seen the rows
    cannot be checked here. Columns must not have been chosen from the rows. Penalties, rounds, depths and row weights
    only lead to another f of the same trees, and are free.

    Parameters
    ----------
    model : fitted MultiSourceBoostClassifier
        Of trees, without categories, with a ``domain_classifier`` that was ready before the fit.
    X, y, sources : the training rows, their labels and their sources
        Others from the same sources are valid too. Every row counts once: there are no weights here.
    rho : float, optional
        The margin, in (0, 1], if it was fixed before these rows were seen. None takes for each part the best of the 32
        values in :data:`RHO_GRID`, and each of them may fail with probability delta/32.
    delta : float
        The probability that the bound fails, in (0, 1).

    Returns
    -------
    SourcesBound
        Its ``total`` can be above 1; then ``vacuous`` is true.
    """
    delta = probability("delta", delta, "that the bound fails")
    grid = margins_to_try(rho)
    names = _check_model(model)
    warn_of_copies(X, "bounds")
    labels = known_labels(read_labels(y, "y"), model.classes_, "y")
    alpha = np.abs(np.asarray(model.ensemble_.weights, dtype=np.float64))
    n_splits = [_splits(hypothesis) for hypothesis in model.ensemble_.hypotheses]
    margins = leads_of(np.asarray(model.decision_function(X), dtype=np.float64), labels) / (float(alpha.sum()) or 1.0)
    ids = _source_of_each(sources, len(margins), names)
    sizes = np.bincount(ids, minlength=len(names)).astype(np.float64)
    if not sizes.all():
        lacking = names.tolist()[int(np.argmin(sizes))]
        raise ValueError(f"No row is of the source {lacking!r}; the bound needs rows of each source of the model.")
    vertices = vertices_of(read_mixtures(model.mixtures), names)
    mixtures = np.eye(len(names)) if vertices is None else vertices
    delta_of_each = delta / (len(grid) * len(mixtures))
    d, n_classes = int(model.n_features_in_), len(model.classes_)
    parts = []
    for mixture in mixtures:
        row_weights = (mixture / sizes)[ids]
        prices = TreePrices(mixture, sizes, d, n_classes, len(names))
        parts.append(
            min(
                (
                    MixtureBound(
                        name=_named(mixture, names),
                        margin_loss=float(row_weights @ np.clip(1.0 - margins / value, 0.0, 1.0)),
                        complexity_term=prices.complexity_term(alpha, n_splits, value),
                        confidence_term=prices.tau * math.sqrt(math.log(1.0 / delta_of_each) / 2.0),
                        rho=value,
                        n_rows=int(prices.n_rows),
                    )
                    for value in grid
                ),
                key=lambda part: part.total,
            )
        )
    return SourcesBound(tuple(parts), delta, len(grid))


class TreePrices:
    """Prices of trees under one mixture of the sources: tau and s(n) of docs/theory.md, (34).

    `sizes` are the numbers of rows of the sources, `d` that of columns.
    """

    def __init__(self, mixture: FloatArray, sizes: FloatArray, d: int, n_classes: int, n_sources: int) -> None:
        self.tau = math.sqrt(float((mixture**2 / sizes).sum()))
        self.n_rows = float(sizes[mixture > 0.0].sum())
        self.d = d
        self.n_sources = n_sources
        self.n_values, self.kappa = (2, 2.0) if n_classes == 2 else (n_classes + 1, 4.0)

    def of(self, n: int) -> float:
        """s(n), the price of a tree with n splits."""
        trees = log_labelings(n, self.n_rows, 2.0 * self.d, math.log(self.n_values))  # missing values: either side
        return self.tau * math.sqrt(2.0 * (math.log(self.n_sources * n * (n + 1)) + trees))

    def complexity_term(self, alpha: FloatArray, n_splits: list[int], rho: float) -> float:
        """kappa/rho (sum of abs(alpha) s(n) + tau^2 / s(1)), `alpha` scaled to sum to 1. docs/theory.md, (35)."""
        if not alpha.any():
            return 0.0
        each = {n: self.of(n) for n in set(n_splits)}
        mean = float(alpha @ np.array([each[n] for n in n_splits])) / float(alpha.sum())
        return self.kappa / rho * (mean + self.tau**2 / self.of(1))


def _check_model(model: Any) -> npt.NDArray[Any]:
    """Names of the sources; an error says why there is no bound for this model."""
    if not isinstance(model, MultiSourceBoostClassifier):
        raise TypeError(f"Expected a fitted MultiSourceBoostClassifier, got {model!r}. Others have guarantees.bound.")
    check_is_fitted(model)
    if len(model.source_names_) == 1:
        raise ValueError(
            f"The model knows one source, {model.source_names_.tolist()[0]!r}: use guarantees.bound, which is for that."
        )
    ready = isinstance(model.domain_classifier, FrozenEstimator | DomainModel)
    if not ready or model.domain_classifier_ is not model.domain_classifier:
        raise ValueError(
            "Q(k | x) of this model was learned from the training rows, or it is not known where it comes from; the "
            "theorem is for a Q that was fixed before these rows were drawn. Fit a classifier of the sources on other "
            "rows, which need no labels, and pass it in ready: "
            "MultiSourceBoostClassifier(domain_classifier=FrozenEstimator(fitted))."
        )
    if model.ensemble_.categories:
        raise ValueError(
            "The model has columns of categories, which were found in the training rows: how many ways there are to "
            "part them is no property of the columns. This bound is for columns of numbers."
        )
    return np.asarray(model.source_names_)


def _splits(hypothesis: Any) -> int:
    """Number of splits of a tree, at least 1."""
    base = hypothesis.base if isinstance(hypothesis, SourcedHypothesis) else hypothesis
    if not isinstance(base, Tree) or base.vectors is not None:
        raise TypeError(
            f"The model has a hypothesis of the type {type(base).__name__}; this bound is for trees whose leaves vote, "
            'such as those of family="trees" and family="stumps".'
        )
    if largest_leaf_value(base) > 1.0:
        raise ValueError(
            "The model has a tree with a number beyond 1 in a leaf, given to it from outside; this bound is for values "
            "in [-1, 1]. Divide the numbers of that tree by the largest of them."
        )
    return max(1, int(np.count_nonzero(base.feature >= 0)))


def _source_of_each(sources: ArrayLike, n_rows: int, names: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
    given = read_sources(sources, n_rows)
    strangers = set(given.tolist()) - set(names.tolist())
    if strangers:
        raise ValueError(
            f"sources names the source {min(strangers, key=repr)!r}, which the model does not know; it was fitted to "
            f"{', '.join(map(repr, names.tolist()[:10]))}{', ...' if len(names) > 10 else ''}."
        )
    return ids_among(given, names, "sources")


def _named(mixture: FloatArray, names: npt.NDArray[Any]) -> str:
    parts = [(float(weight), str(name)) for weight, name in zip(mixture, names.tolist(), strict=True) if weight > 0.0]
    return parts[0][1] if len(parts) == 1 else " + ".join(f"{weight:.3g} {name}" for weight, name in parts)
