"""Fitted boosted model (`ensemble_`): hypotheses, weights, and the steps of the fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost.boosting.trace import Trace
from radboost.ensemble.arrays import STEP_TYPE, read_ensemble, write_ensemble
from radboost.ensemble.contributions import SumOfTrees
from radboost.families.base import Hypothesis
from radboost.families.kinds import Scorer, kind_of, scorers
from radboost.trees.describe import TreeNames
from radboost.trees.tree import by_row

SHOWN = 5  # hypotheses in the repr


class Ensemble:
    """An immutable weighted sum of hypotheses, f(x) = sum of weights[j] * hypotheses[j](x).

    For two classes f(x) is one number, and its sign decides. For more it is one number per class, f(x, c), the largest
    decides, and no weight is negative.

    Attributes
    ----------
    n_outputs : int
        Numbers per row: 1 for two classes, otherwise the number of classes.
    hypotheses : tuple
        The hypotheses with a weight other than zero; each has `n_splits`, `n_nodes` and `depth`.
    weights, complexities : arrays
        alpha_j and r_j of these hypotheses.
    steps : structured array (round, hypothesis, eta)
        The steps of the fit. `hypothesis` counts all that ever entered, dropped ones too.
    n_families : int
        How many families the search could have used. The bound on the error counts those of trees itself, and takes
        this for p where there are hypotheses of users.
    sample_size : float
        m: the sum of the training weights.
    categories : dict
        For each categorical column, by its index, its categories; X has their indices in that list.
    entered, entered_complexities :
        All hypotheses that ever entered, in the order in which they did.
    """

    def __init__(
        self,
        hypotheses: Sequence[Hypothesis],
        complexities: Sequence[float],
        steps: npt.NDArray[np.void],
        *,
        n_rounds: int,
        n_features: int,
        n_families: int,
        sample_size: float,
        feature_names: Sequence[str] | None = None,
        n_outputs: int = 1,
        categories: Mapping[int, Sequence[Category]] | None = None,
    ) -> None:
        self.entered = tuple(hypotheses)
        self.entered_complexities = np.asarray(complexities, dtype=np.float64)
        self.steps = steps
        self.n_rounds = n_rounds
        self.n_features = n_features
        self.n_outputs = n_outputs
        self.n_families = n_families
        self.sample_size = sample_size
        self.feature_names = None if feature_names is None else tuple(feature_names)
        self.categories = {column: tuple(known) for column, known in (categories or {}).items()}
        totals = np.zeros(len(self.entered))
        np.add.at(totals, steps["hypothesis"], steps["eta"])  # steps lie on a grid: these sums are exact
        kept = np.flatnonzero(totals)
        self.hypotheses: tuple[Hypothesis, ...] = tuple(self.entered[j] for j in kept)
        self.weights: FloatArray = totals[kept]
        self.complexities: FloatArray = self.entered_complexities[kept]
        for array in (self.steps, self.weights, self.complexities, self.entered_complexities):
            array.flags.writeable = False
        self._scorers: list[Scorer] | None = None
        self._sum_of_trees: SumOfTrees | None = None
        self.names = TreeNames(self.feature_names, self.categories)
        for hypothesis in self.entered:
            kind_of(hypothesis).take_names(hypothesis, self.names)

    @classmethod
    def from_trace(
        cls,
        trace: Trace,
        *,
        n_rounds: int,
        n_features: int,
        n_families: int,
        sample_size: float,
        feature_names: Sequence[str] | None,
        n_outputs: int = 1,
        categories: Mapping[int, Sequence[Category]] | None = None,
    ) -> Ensemble:
        """The model after the first `n_rounds` rounds of a fit."""
        rows = [(s.round, s.hypothesis, s.eta) for s in trace.steps if s.round < n_rounds]
        steps = np.array(rows, dtype=STEP_TYPE)
        n_used = 1 + max((row[1] for row in rows), default=-1)
        return cls(
            trace.hypotheses[:n_used],
            trace.complexities[:n_used],
            steps,
            n_rounds=n_rounds,
            n_features=n_features,
            n_families=n_families,
            sample_size=sample_size,
            feature_names=feature_names,
            n_outputs=n_outputs,
            categories=categories,
        )

    def decision_function(self, X: FloatMatrix, n_threads: int = 1, start: FloatArray | None = None) -> FloatArray:
        """f(x) for each row, of shape (n_rows,) or (n_rows, n_outputs); NaN is a missing value.

        `start`: scores of the same shape that it is added to, in the order in which a fit adds.
        """
        if self._scorers is None:
            self._scorers = scorers(self.hypotheses, self.weights)
        scores = _no_scores(len(X), self.n_outputs)
        if start is not None:
            scores += start
            for hypothesis, weight in zip(self.hypotheses, self.weights, strict=True):
                kind_of(hypothesis).scorer([hypothesis], weight[None])(X, scores, n_threads)
            return scores
        for add in self._scorers:
            add(X, scores, n_threads)
        return scores

    def staged_decision_function(self, X: FloatMatrix, n_threads: int = 1) -> Iterator[FloatArray]:
        """f(x) after each round."""
        scores = _no_scores(len(X), self.n_outputs)
        steps = iter(self.steps)
        step = next(steps, None)
        for round_index in range(self.n_rounds):
            while step is not None and step["round"] == round_index:
                hypothesis = self.entered[step["hypothesis"]]
                kind_of(hypothesis).scorer([hypothesis], step["eta"][None])(X, scores, n_threads)
                step = next(steps, None)
            yield scores.copy()

    def of_rounds(self, n_rounds: int) -> Ensemble:
        """The model of the first rounds alone."""
        steps = self.steps[self.steps["round"] < n_rounds].copy()
        n_used = 1 + int(steps["hypothesis"].max(initial=-1))
        return type(self)(
            self.entered[:n_used],
            self.entered_complexities[:n_used].tolist(),
            steps,
            n_rounds=min(n_rounds, self.n_rounds),
            n_features=self.n_features,
            n_families=self.n_families,
            sample_size=self.sample_size,
            feature_names=self.feature_names,
            n_outputs=self.n_outputs,
            categories=self.categories,
        )

    def sum_of_trees(self) -> SumOfTrees:
        """The forest that explains the scores, cached; all hypotheses must be trees."""
        if self._sum_of_trees is None:
            self._sum_of_trees = SumOfTrees(self.hypotheses, self.weights, self.n_features, self.n_outputs)
        return self._sum_of_trees

    @property
    def spread(self) -> float:
        """Largest difference of one hypothesis between two classes; 2 if leaves have a value for each class."""
        return max((kind_of(hypothesis).spread(hypothesis) for hypothesis in self.hypotheses), default=1.0)

    def feature_importances(self) -> FloatArray:
        """Gains of the splits on each feature, times the weights of their trees, divided by their sum."""
        importances = np.zeros(self.n_features)
        for weight, hypothesis in zip(self.weights, self.hypotheses, strict=True):
            kind_of(hypothesis).add_gains(hypothesis, float(weight), importances)
        total = importances.sum()
        return importances / total if total > 0 else importances

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scorers": None, "_sum_of_trees": None}

    def __repr__(self) -> str:
        if not self.hypotheses:
            return "Ensemble of 0 hypotheses: f(x) = 0"
        splits = sorted({h.n_splits for h in self.hypotheses})
        sizes = (
            f"{splits[0]} to {splits[-1]} splits" if len(splits) > 1 else f"{splits[0]} split{'s' * (splits[0] != 1)}"
        )
        noun = "hypothesis" if len(self) == 1 else "hypotheses"
        classes = f" for {self.n_outputs} {self.names.outputs}" if self.n_outputs > 1 else ""
        head = f"Ensemble of {len(self)} {noun}{classes} with {sizes}, total weight {np.abs(self.weights).sum():.3g}"
        order = np.argsort(-np.abs(self.weights), kind="stable")[:SHOWN]
        terms = []
        for weight, hypothesis in ((self.weights[j], self.hypotheses[j]) for j in order):
            text = kind_of(hypothesis).describe(hypothesis, self.feature_names, self.categories)
            terms.append(f"  {weight:+.4f} * {text}")
        if len(self) > SHOWN:
            terms.append(f"  ... and {len(self) - SHOWN} more")
        return "\n".join([head, *terms])

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """A JSON-able header and the arrays that `from_arrays` makes an equal ensemble of."""
        return write_ensemble(self)

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Ensemble:
        """The inverse of `to_arrays`. Checks everything: the arrays may come from a damaged or hostile file."""
        return read_ensemble(cls, header, arrays)


def _no_scores(n_rows: int, n_outputs: int) -> FloatArray:
    return by_row(np.zeros(n_rows * n_outputs), n_outputs)
