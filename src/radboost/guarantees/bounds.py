"""Theorem 1 of both papers: a bound on the true error, computed from the training sample alone.

With two classes it is that of Deep Boosting, with more that of Multi-Class Deep Boosting. At two classes the second one
would be valid too, and four times as large in its complexity term. Theorem 3.2 of Regularized Gradient Boosting is the
first one, for trees whose leaf values are divided by the norm of their family (docs/theory.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from radboost.estimators import SupervisedKernelProjection
from radboost.guarantees.kernel_projection import projection_bound
from radboost.guarantees.margins import RHO_GRID, FloatArray, VotingEnsemble, margins, spread, voting_ensemble

# A margin that equals rho counts against the model; in floating point it may come out a few ulps above.
_TIE = 1e-12


@dataclass(frozen=True, repr=False)
class MarginBound:
    """The bound of Theorem 1, term by term. Printing it shows a table and what it means.

    Attributes
    ----------
    margin_error : float
        The share of the sample whose normalised margin is at most ``rho``.
    complexity_term : float
        The price of the hypotheses, each with its weight: 4/rho times ``mean_complexity`` with two classes, 8c/rho
        times ``mean_complexity`` with c > 2.
    family_term : float
        2/rho sqrt(log p / m): the price of choosing among p families.
    confidence_term : float
        sqrt(n log p / m + log(2 q / delta) / (2m)), n = ceil(4/rho^2 log(c^2 rho^2 m / (4 log p))): the price of
        chance.
    total : float
        The sum of these four. With probability at least 1 - ``delta`` the true error is at most ``total``.
    rho : float
        The margin, between 0 and 1.
    n_rho : int
        The number q of margins that ``rho`` was chosen from (1 when it was given).
    delta : float
        The probability, over the draw of the sample, that the bound fails.
    n_families : int
        p, at least 2: the theorem assumes p > 1, and a single family may be counted with an empty second one.
    sample_size : float
        m, the number of rows or the sum of their weights.
    n_classes : int
        c.
    mean_complexity : float
        The mean of the hypotheses' complexities r_j under the weights abs(alpha_j).
    theorem : str
        Where it is stated for this kind of model, if not in Theorem 1 of the paper for this number of classes.
    """

    margin_error: float
    complexity_term: float
    family_term: float
    confidence_term: float
    total: float = field(init=False)
    rho: float
    n_rho: int
    delta: float
    n_families: int
    sample_size: float
    n_classes: int
    mean_complexity: float
    theorem: str = ""

    def __post_init__(self) -> None:
        terms = self.margin_error + self.complexity_term + self.family_term + self.confidence_term
        object.__setattr__(self, "total", terms)

    @property
    def vacuous(self) -> bool:
        """True when the bound is 1 or more: no error rate is above 1, so it says nothing about this model."""
        return self.total >= 1.0

    def explain(self) -> str:
        """Return in plain words what the numbers mean."""
        confidence = f"{100 * (1 - self.delta):g}%"
        complexity = "the complexity of the hypotheses"
        if self.n_classes > 2:
            complexity += f", which counts {8 * self.n_classes}/rho times with {self.n_classes} classes"
        shares = {
            "the rows without a clear margin": self.margin_error,
            complexity: self.complexity_term,
            "the number of families": self.family_term,
            "chance": self.confidence_term,
        }
        largest = max(shares, key=lambda name: shares[name])
        if self.vacuous:
            verdict = (
                f"The sum is {self.total:.3g}, and no error rate is above 1: for this model and these "
                f"{self.sample_size:,.10g} rows the bound is vacuous. That does not mean that the model is bad: a "
                "bound for every distribution needs many rows (all terms but the first fall about as 1/sqrt(rows)) or "
                "simpler hypotheses (a larger complexity_penalty)."
            )
        else:
            verdict = (
                f"With {confidence} confidence in the draw of the sample, the model is wrong on at most "
                f"{self.total:.1%} of all rows from the same source."
            )
        return f"{verdict} The largest part comes from {largest}."

    def __str__(self) -> str:
        m, p = f"{self.sample_size:,.10g}", self.n_families
        binary = self.n_classes == 2
        theorem = self.theorem or f"{'Deep Boosting' if binary else 'Multi-Class Deep Boosting'}, Theorem 1"
        price = f"{'4' if binary else '8c'}/rho x {self.mean_complexity:.4g}"
        classes = "" if binary else f", c = {self.n_classes} classes"
        chosen = f"; the best of {self.n_rho} rho" if self.n_rho > 1 else ""
        rows = [
            (f"rows with a margin of at most {self.rho:.3g}", self.margin_error, f"of {m}{chosen}"),
            ("complexity of the hypotheses", self.complexity_term, price + classes),
            (f"choice among {p} families", self.family_term, "2/rho sqrt(log p/m)"),
            ("chance", self.confidence_term, f"delta = {self.delta:g}"),
            ("true error is at most", self.total, "vacuous (not below 1)" if self.vacuous else "the sum"),
        ]
        width = max(len(label) for label, _, _ in rows)
        lines = [f"  {label:<{width}}  {value:>9.4f}   {note}" for label, value, note in rows]
        rule = "  " + "-" * (max(len(line) for line in lines) - 2)
        return "\n".join([f"Bound on the true error ({theorem})", *lines[:-1], rule, lines[-1]])

    __repr__ = __str__


def bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    rho: float | None = None,
    delta: float = 0.05,
    sample_weight: ArrayLike | None = None,
    eigengap: float | None = None,
    largest_diagonals: Sequence[float] | None = None,
) -> MarginBound | Any:
    """Bound the true error of ``model`` by Theorem 1, with every term named.

    With probability at least 1 - delta over the draw of a sample of m rows, every ensemble f for c classes has

        R(f) <= R_rho(f) + k/rho sum_j abs(alpha_j) r_j + 2/rho sqrt(log p / m)
                + sqrt(ceil(4/rho^2 log(c^2 rho^2 m / (4 log p))) log p / m + log(2/delta) / (2m))

    where R_rho is the share of the sample with a normalised margin of at most rho, and abs(alpha_j) are
    scaled to sum to 1. The factor k is 4 with two classes (Deep Boosting, Theorem 1) and 8c with more
    (Multi-Class Deep Boosting, Theorem 1, with the correction of its third term in ``docs/theory.md``).

    Because it holds for every f at once, it holds for the one that was fitted to the sample: **pass the
    training data**. (Another sample from the same source is valid too; should it be smaller than the training
    sample, the complexities are scaled up to its size.)

    What it does not cover: rows that are not drawn independently from one source, and families that were
    chosen by looking at data. ``family``, ``families``, ``max_depth`` and the columns must be fixed beforehand; when a
    validation or a search chose among k such settings, ask for ``delta/k``. Penalties, the learning rate and
    the number of rounds only lead to another f of the same families.

    Parameters
    ----------
    model : DeepBoostClassifier, RGBClassifier or another classifier of RadBoost whose hypotheses vote
        A fitted model; not a sparse one. p is ``model.ensemble_.n_families``, the number of families its search could
        have used; the theorem needs p > 1, so a single family is counted as 2.
    X : array-like of shape (n_rows, n_features)
        The training rows.
    y : array-like of shape (n_rows,)
        Their labels.
    rho : float, optional
        The margin, in (0, 1]. None takes the best of the 32 values in :data:`RHO_GRID`; the theorem then
        has to hold for all of them, each with delta/32 (union bound), and that price is included.
    delta : float
        The probability that the bound fails, in (0, 1).
    sample_weight : array-like of shape (n_rows,), optional
        The weights used in ``fit``; they count as repetitions, so m is their sum.
    eigengap, largest_diagonals :
        Of a ``SupervisedKernelProjection`` alone, which is bounded by Theorem 7.5: see :func:`projection_bound`.

    Returns
    -------
    MarginBound or ProjectionBound
        Its ``total`` can be above 1; then ``vacuous`` is true.
    """
    if isinstance(model, SupervisedKernelProjection):
        if sample_weight is not None:
            raise ValueError("Theorem 7.5 is for rows that are drawn one by one: leave out sample_weight.")
        return projection_bound(
            model, X, y, eigengap=eigengap, largest_diagonals=largest_diagonals, rho=rho, delta=delta
        )
    if eigengap is not None or largest_diagonals is not None:
        raise ValueError(
            f"eigengap and largest_diagonals belong to the bound of a SupervisedKernelProjection; got {model!r}."
        )
    ensemble = voting_ensemble(model)
    delta = _number("delta", delta)
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta is the probability that the bound fails, between 0 and 1, got {delta:g}.")
    grid = RHO_GRID
    if rho is not None:
        rho = _number("rho", rho)
        if not 0.0 < rho <= 1.0:
            raise ValueError(f"rho is a normalised margin in (0, 1], got {rho:g}; None chooses the best one.")
        grid = (rho,)
    row_margins = margins(model, X, y)
    weights = _weights(sample_weight, len(row_margins))
    n_classes = len(model.classes_)
    bounds = [_theorem(ensemble, row_margins, weights, value, delta, len(grid), n_classes) for value in grid]
    best = min(bounds, key=lambda candidate: candidate.total)
    return replace(best, theorem=getattr(model, "_theorem", "")) if n_classes == 2 else best


def _theorem(
    ensemble: VotingEnsemble,
    row_margins: FloatArray,
    weights: FloatArray,
    rho: float,
    delta: float,
    n_rho: int,
    n_classes: int,
) -> MarginBound:
    """Evaluate Theorem 1 for one rho, with delta/n_rho in place of delta."""
    m = float(weights.sum())
    p = max(int(ensemble.n_families), 2)
    rate = math.log(p) / m
    # n in the proof is a number of hypotheses drawn from f, so at least 1. Where the logarithm is not
    # positive the family term alone is c or more. With c = 2 this is the n of the binary theorem.
    ratio = (n_classes * rho / 2.0) ** 2 / rate
    draws = max(1, math.ceil(4.0 / rho**2 * math.log(ratio))) if ratio > 1.0 else 1
    complexity = _mean_complexity(ensemble, m)
    return MarginBound(
        margin_error=float(weights[row_margins <= rho + _TIE].sum()) / m,
        complexity_term=(4.0 if n_classes == 2 else 8.0 * n_classes) / rho * complexity,
        # c exp(-n rho^2 / 8) with this n. The multi-class paper prints it divided by c, which is too small.
        family_term=2.0 / rho * math.sqrt(rate),
        confidence_term=math.sqrt(draws * rate + math.log(2.0 * n_rho / delta) / (2.0 * m)),
        rho=rho,
        n_rho=n_rho,
        delta=delta,
        n_families=p,
        sample_size=m,
        n_classes=n_classes,
        mean_complexity=complexity,
    )


def _mean_complexity(ensemble: VotingEnsemble, m: float) -> float:
    """Return sum_j abs(alpha_j) r_j / sum_j abs(alpha_j), valid for samples of size m.

    The r_j were computed for the training sample. For a larger sample they still are upper bounds; for a
    smaller one the square of each of (7), (8), (9) and of the trace bound grows by at most the ratio of the
    sizes.
    """
    alpha = np.abs(ensemble.weights)
    if not alpha.any():
        return 0.0
    # A shift and a scale take answers that are up to `spread` apart to [0, 1], and complexities with them.
    mean = float(alpha @ ensemble.complexities / alpha.sum()) / spread(ensemble)
    return mean * math.sqrt(max(1.0, ensemble.sample_size / m))


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}.") from None


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Return one weight per row, checked; the sample may not be empty."""
    if n_rows == 0:
        raise ValueError("X has no rows; pass the training sample.")
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape} and X has {n_rows} rows; pass one weight per row.")
    if not np.isfinite(weights).all() or (weights < 0.0).any() or not weights.any():
        raise ValueError("sample_weight must hold finite numbers >= 0, at least one of them above 0.")
    return weights
