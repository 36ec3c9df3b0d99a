"""Bound on the true error of a voting model, computed from the training sample alone.

The best of three statements, each proved in docs/theory.md: the standard margin bound for one set of functions;
Theorem 1 of Deep Boosting and Multi-Class Deep Boosting (Theorem 3.2 of Regularized Gradient Boosting), corrected;
and one in which every tree pays for its own size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from radboost._typing import FloatArray
from radboost._validation import check_sample_weight
from radboost.ensemble import Ensemble
from radboost.guarantees.holdout import padded, probability, warn_of_copies
from radboost.guarantees.margins import margins, margins_to_try, voting_ensemble
from radboost.guarantees.prices import Prices, check_sets_fixed, prices
from radboost.guarantees.theorems import Statement, one_set, several_families
from radboost.rows.read import dense_rows, read_matrix, row_blocks

_TIE = 1e-12  # margins up to rho plus this count as errors: a margin of rho may be rounded up
MARGIN_BOUND = "margin bound of one class"
BY_SIZE = "margin bound by the sizes of trees"
PAPERS = ("Deep Boosting, Theorem 1", "Multi-Class Deep Boosting, Theorem 1")


@dataclass(frozen=True, repr=False)
class MarginBound:
    """A bound on the true error, term by term. Printing it shows a table and what it means.

    Attributes
    ----------
    margin_error : float
        The mean of 1 - margin/rho, at least 0 and at most 1: a row counts by how far its normalized margin is below
        ``rho``. In Theorem 1 the fraction of the sample whose margin is at most ``rho``, which is more.
    complexity_term : float
        The price of the hypotheses, ``factor`` times ``complexity``.
    family_term : float
        In Theorem 1 c exp(-n s^2/2), how often n hypotheses drawn from the model by their weights differ from it by s.
        0 in the others.
    confidence_term : float
        The price of chance, and of all choices that were made by looking at the sample.
    total : float
        The sum of these four. With probability at least 1 - ``delta`` the true error is at most ``total``.
    rho : float
        The margin, between 0 and 1.
    n_rho : int
        The number of margins that ``rho`` was chosen from (1 when it was given).
    delta : float
        The probability, over the draw of the sample, that the bound fails.
    complexity : float
        kappa of docs/theory.md: of the smallest set of functions that holds all hypotheses, or the mean of the
        hypotheses' own under their weights. With more than two classes it includes the price of these, in the bound by
        the sizes of trees that of choosing among all sizes.
    factor : float
        2/rho, or 2/(rho - 2s) in Theorem 1.
    n_families : int
        The p of Theorem 1; 1 in the others.
    n_draws : int
        The n of Theorem 1; 0 in the others.
    sample_size : float
        m, the number of rows or the sum of their weights.
    n_classes : int
        c.
    hypotheses : str
        What the hypotheses are, in words.
    theorem : str
        Which of the three statements this is: the one with the smallest sum.
    """

    margin_error: float
    complexity_term: float
    family_term: float
    confidence_term: float
    rho: float
    n_rho: int
    delta: float
    complexity: float
    factor: float
    n_families: int
    n_draws: int
    sample_size: float
    n_classes: int
    hypotheses: str
    theorem: str

    @property
    def total(self) -> float:
        return self.margin_error + self.complexity_term + self.family_term + self.confidence_term

    @property
    def vacuous(self) -> bool:
        """True if the bound is 1 or more and thus says nothing: no error rate is above 1."""
        return self.total >= 1.0

    def explain(self) -> str:
        """Return in plain words what the numbers mean."""
        confidence = f"{100 * (1 - self.delta):g}%"
        terms = {
            "the rows without a clear margin": self.margin_error,
            f"the complexity of the hypotheses ({self.hypotheses})": self.complexity_term,
            "the number of families": self.family_term,
            "chance": self.confidence_term,
        }
        largest = max(terms, key=lambda name: terms[name])
        if self.vacuous:
            meaning = (
                f"The sum is {self.total:.3g}, and no error rate is above 1: for this model and these "
                f"{self.sample_size:,.10g} rows the bound is vacuous. That does not mean that the model is bad: a "
                "bound for every distribution needs many rows (all terms but the first fall about as 1/sqrt(rows)) or "
                "simpler hypotheses (smaller trees, fewer kernels, a larger penalty)."
            )
        else:
            meaning = (
                f"With {confidence} confidence in the draw of the sample, the model is wrong on at most "
                f"{self.total:.1%} of all rows from the same source."
            )
        return f"{meaning} The largest part comes from {largest}."

    def __str__(self) -> str:
        m = f"{self.sample_size:,.10g}"
        classes = "" if self.n_classes == 2 else f", c = {self.n_classes} classes"
        chosen = f"; the best of {self.n_rho} rho" if self.n_rho > 1 else ""
        price = f"{self.factor:.3g} x {self.complexity:.4g}, {self.hypotheses}{classes}"
        first = f"rows, by how far margins are below {self.rho:.3g}"
        if self.n_draws:
            first = f"rows with a margin of at most {self.rho:.3g}"
        rows = {
            first: f"{self.margin_error:>9.4f}   of {m}{chosen}",
            "complexity of the hypotheses": f"{self.complexity_term:>9.4f}   {price}",
        }
        if self.n_draws:
            drawing = f"{self.n_draws:,} hypotheses drawn from {self.n_families} families"
            rows["what draws may be off"] = f"{self.family_term:>9.4f}   {drawing}"
        rows["chance, and what was chosen"] = f"{self.confidence_term:>9.4f}   delta = {self.delta:g}"
        end = "vacuous (not below 1)" if self.vacuous else "the sum"
        rows["true error is at most"] = f"{self.total:>9.4f}   {end}"
        *terms, total = padded(rows)
        rule = "  " + "-" * (max(map(len, [*terms, total])) - 2)
        return "\n".join([f"Bound on the true error ({self.theorem})", *terms, rule, total])

    __repr__ = __str__


def bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    rho: float | None = None,
    delta: float = 0.05,
    sample_weight: ArrayLike | None = None,
) -> MarginBound:
    """Bound the true error of ``model``, with every term named.

    It is the smallest sum of three statements of ``docs/theory.md``, sections 7, 8 and 11, each with its part of delta.
    Equation (7b) is for the trees of one size, (7f) is Theorem 1 of Deep Boosting put right, and (7h) is for trees on
    numeric columns by their sizes. With more than two classes they are (11c), (11d) and (11h). All choices made by
    looking at the sample are paid for. These are the statement, rho, s, the size of the largest tree, its categorical
    columns, whether values are missing, and whether leaves vote or hold numbers. ``docs/guarantees.md`` says how to
    read the result.

    It holds for every ensemble at once, and so for the one that was fitted to the sample: **pass the training data**.
    (Another sample from the same source is valid too.)

    Penalties, the learning rate, the number of rounds, random draws, early stopping, ``max_depth`` and automatic
    settings (``chosen_``) are free: they lead to another ensemble of the same families. Not covered are rows that are
    not drawn independently from one source, and columns that were made or selected by looking at rows. When a search
    chose among k families (``"stumps"``, ``"trees"``, kernels, families of your own), ask for ``delta/k``.

    Where no value of the sample is missing, the statement is about rows without missing values; and always about rows
    of the classes that the model knows. It is about the class with the largest score: other decisions
    (``decision`` of ``SoftmaxBoostClassifier``) are refused. Kernel projections have :func:`projection_bound`.

    Parameters
    ----------
    model : DeepBoostClassifier, RGBClassifier or another classifier of RadBoost whose hypotheses vote
        A fitted model; not a sparse one. With hypotheses of your own the complexities that their families state are
        used, and p is ``model.ensemble_.n_families``. Kernels must be fixed in advance: ``gamma="scale"`` is refused,
        and so is a kernel function of your own that does not say ``positive_definite = True``.
    X : array-like of shape (n_rows, n_features)
        The training rows.
    y : array-like of shape (n_rows,)
        Their labels.
    rho : float, optional
        The margin, in (0, 1], if it was fixed before these rows were seen. None takes the best of the 32 values in
        :data:`RHO_GRID`; the theorem then has to hold for all of them, each with delta/32, which is included.
    delta : float
        The probability that the bound fails, in (0, 1).
    sample_weight : array-like of shape (n_rows,), optional
        Whole numbers: a row of weight w stands for w equal rows that were drawn from the source. Leave out any other
        weights, also where ``fit`` had them; fractions are refused.

    Returns
    -------
    MarginBound
        Its ``total`` can be above 1; then ``vacuous`` is true.
    """
    ensemble = voting_ensemble(model)
    delta, grid = probability("delta", delta, "that the bound fails"), margins_to_try(rho)
    decides_by = model._decides_by() if hasattr(model, "_decides_by") else "argmax"
    if decides_by != "argmax":
        raise ValueError(
            f"predict of this model does not answer with the class of the largest score (decision={decides_by!r}), "
            'which the bound is about. model.set_params(decision="argmax") needs no new fit.'
        )
    check_sets_fixed(model, ensemble)
    warn_of_copies(X, "bounds")
    statements = every_statement(model, X, y, grid, delta, sample_weight)
    return min(statements, key=lambda statement: statement.total)


def every_statement(
    model: Any, X: Any, y: ArrayLike, grid: Sequence[float], delta: float, sample_weight: ArrayLike | None = None
) -> list[MarginBound]:
    """Every statement for each rho; with probability at least 1 - delta they hold together."""
    ensemble = voting_ensemble(model)
    row_margins = margins(model, X, y)
    weights = numbers_of_draws(sample_weight, len(row_margins))
    m, n_classes = float(weights.sum()), len(model.classes_)
    priced = prices(model, ensemble, m, has_missing=_has_missing(model, ensemble, X))
    papers = getattr(model, "_theorem", PAPERS[0]) if n_classes == 2 else PAPERS[1]
    bounds = []
    for rho in grid:
        below = float(weights[row_margins <= rho + _TIE].sum()) / m
        loss = float(weights @ np.clip(1.0 - row_margins / rho, 0.0, 1.0)) / m
        for name, statement in _statements(priced, rho, delta / len(grid), m, n_classes):
            bounds.append(
                MarginBound(
                    margin_error=below if statement.n_draws else loss,
                    complexity_term=statement.factor * statement.complexity,
                    family_term=statement.drawing,
                    confidence_term=statement.chance,
                    rho=rho,
                    n_rho=len(grid),
                    delta=delta,
                    complexity=statement.complexity,
                    factor=statement.factor,
                    n_families=priced.n_families if statement.n_draws else 1,
                    n_draws=statement.n_draws,
                    sample_size=m,
                    n_classes=n_classes,
                    hypotheses=priced.description,
                    theorem=papers if name is None else name,
                )
            )
    return bounds


def _statements(
    priced: Prices, rho: float, delta: float, m: float, n_classes: int
) -> list[tuple[str | None, Statement]]:
    """Applicable statements with equal parts of delta; a single family needs no Theorem 1."""
    part = delta / (3 if not priced.single_family else 1 if priced.by_size is None else 2)
    sets = (
        (MARGIN_BOUND, priced.whole_set, priced.set_choices),
        (BY_SIZE, priced.by_size, priced.size_choices),
    )
    statements: list[tuple[str | None, Statement]] = [
        (name, one_set(kappa, choices, rho, part, m, from_sample=priced.from_sample))
        for name, kappa, choices in sets
        if kappa is not None
    ]
    if not priced.single_family:
        statements.append((None, several_families(priced, rho, part, m, n_classes)))
    return statements


def _has_missing(model: Any, ensemble: Ensemble, X: Any) -> bool:
    """True if a value of the sample is missing: NaN, or a category that the model does not know."""
    blocks = row_blocks(read_matrix(model, X, ensemble.categories), 1, 1)
    return any(bool(np.isnan(dense_rows(block)).any()) for block in blocks)


def numbers_of_draws(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Weights as whole numbers, one per row; the sample may not be empty."""
    if n_rows == 0:
        raise ValueError("X has no rows; pass the training sample.")
    weights = check_sample_weight(sample_weight, n_rows)
    if weights is None:
        return np.ones(n_rows)
    fractions = weights[weights != np.floor(weights)]
    if len(fractions):
        raise ValueError(
            f"sample_weight holds {fractions[0]:g}, and the bound is about rows that were drawn from a source: a "
            "weight is a number of draws, so a whole number. Leave sample_weight out to bound the error on rows as "
            "they are drawn; the model may have been fitted with any weights."
        )
    return weights
