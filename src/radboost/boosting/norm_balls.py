"""A round of Regularized Gradient Boosting: draw families, fit a tree in each, take the best of their steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from radboost import complexity
from radboost._typing import FloatArray
from radboost.boosting.driver import RoundMaker
from radboost.boosting.line_search import convex_search
from radboost.boosting.trace import Step, Trace
from radboost.engine import CutTree, GradientScores, GradientWeighting, RegressionTrees
from radboost.families.norm_balls import NormBalls
from radboost.losses import NativeTargetLoss, TargetLoss
from radboost.losses.target import WeightedRows
from radboost.rows.weights import RowWeights
from radboost.trees import constant_tree, regression_tree

# Rounds in a row that may pass without a step before the search gives up.
PATIENCE = 10
# A line search ends where the slope, or the bracket, has shrunk to this part of what it was. Kinks make both shrink
# slowly, and are worth less effort.
EXACT, ROUGH = 1e-10, 1e-4

CONVERGED = f"converged: {PATIENCE} rounds in a row found no tree that lowers the loss"


@dataclass(frozen=True)
class RGBSettings:
    """How a round is made (Storcheus, Figure 3.1)."""

    n_candidates: int  # S
    complexity_penalty: float  # beta
    step: str  # "lipschitz", "line_search" or "paper"
    learning_rate: float
    seed: int
    n_threads: int


class LossRows(ABC):
    """The mean loss of the training rows, where the scores are and where a step would take them."""

    def __init__(self, scores: GradientScores, weights: RowWeights, loss: TargetLoss, n_threads: int) -> None:
        self.scores = scores
        self.weighting = GradientWeighting(scores)
        self.weights = weights
        self.loss = loss
        self.n_threads = n_threads

    def mean(self, values: FloatArray) -> float:
        """The weighted mean of one number per row."""
        return self.scores.mean(values, self.n_threads)

    @property
    @abstractmethod
    def mean_loss(self) -> float: ...

    @property
    @abstractmethod
    def error(self) -> float:
        """The share of the rows whose class is another one; of no meaning in regression."""

    @abstractmethod
    def set_scores(self, scores: FloatArray) -> None: ...

    @abstractmethod
    def losses_after(self, grower: RegressionTrees, cuts: Sequence[CutTree], steps: FloatArray) -> FloatArray:
        """The mean loss after each of several steps, none of which is taken."""

    @abstractmethod
    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        """The mean loss after a step along a tree, and its derivative there."""

    @abstractmethod
    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None: ...


class NativeRows(LossRows):
    """With a loss that the native core knows."""

    @property
    def mean_loss(self) -> float:
        return self.scores.loss

    @property
    def error(self) -> float:
        return self.scores.error

    def set_scores(self, scores: FloatArray) -> None:
        self.scores.set(np.ascontiguousarray(scores).reshape(-1), self.weighting, self.n_threads)

    def losses_after(self, grower: RegressionTrees, cuts: Sequence[CutTree], steps: FloatArray) -> FloatArray:
        return self.scores.losses_after(grower, list(cuts), steps, self.n_threads)

    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        return self.scores.along(grower, cut, step, self.n_threads)

    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None:
        self.scores.step(grower, cut, step, self.weighting, self.n_threads)


class OwnLossRows(LossRows):
    """With a loss of the user's own, which sees NumPy arrays."""

    def __init__(
        self, scores: GradientScores, weights: RowWeights, loss: TargetLoss, targets: FloatArray, n_threads: int
    ) -> None:
        super().__init__(scores, weights, loss, n_threads)
        self.targets = targets
        self._scores = np.zeros(len(targets))
        self._mean_loss = math.nan

    @property
    def mean_loss(self) -> float:
        return self._mean_loss

    @property
    def error(self) -> float:
        return self.mean((self.targets * self._scores <= 0).astype(np.float64))

    def set_scores(self, scores: FloatArray) -> None:
        self._scores = np.array(scores, dtype=np.float64)
        self.scores.set(self._scores, self.weighting, self.n_threads)
        self.weighting.take(self._derivative(self._scores), self.n_threads)
        self._mean_loss = self.mean(self._value(self._scores))

    def losses_after(self, grower: RegressionTrees, cuts: Sequence[CutTree], steps: FloatArray) -> FloatArray:
        pairs = zip(cuts, steps.tolist(), strict=True)
        return np.array([self.along(grower, cut, step)[0] for cut, step in pairs])

    def along(self, grower: RegressionTrees, cut: CutTree, step: float) -> tuple[float, float]:
        direction = grower.answers(cut)
        scores = self._scores + step * direction
        return self.mean(self._value(scores)), self.mean(self._derivative(scores) * direction)

    def at_constant(self, score: float) -> tuple[float, float]:
        """The mean loss where all rows have the same score, and its derivative by that score."""
        scores = np.full(len(self.targets), score)
        return self.mean(self._value(scores)), self.mean(self._derivative(scores))

    def take(self, grower: RegressionTrees, cut: CutTree, step: float) -> None:
        self.set_scores(self._scores + step * grower.answers(cut))

    def _value(self, scores: FloatArray) -> FloatArray:
        return self._checked("value", self.loss.value(self.targets, scores))

    def _derivative(self, scores: FloatArray) -> FloatArray:
        return self._checked("derivative", self.loss.derivative(self.targets, scores))

    def _checked(self, method: str, numbers: FloatArray) -> FloatArray:
        result = np.ascontiguousarray(numbers, dtype=np.float64)
        if result.shape != self.targets.shape or not np.isfinite(result).all():
            what = f"the shape {result.shape}" if result.shape != self.targets.shape else "NaN or infinity"
            raise ValueError(
                f"{type(self.loss).__name__}.{method} must return {len(self.targets)} finite numbers, one for each "
                f"row; got {what}."
            )
        return result


def make_rows(loss: TargetLoss, targets: FloatArray, weights: RowWeights, n_outputs: int, n_threads: int) -> LossRows:
    """Training rows with their loss; scores are still to be set."""
    if isinstance(loss, NativeTargetLoss):
        scores = GradientScores(loss.name, loss.parameter, n_outputs, targets, weights.native)
        return NativeRows(scores, weights, loss, n_threads)
    return OwnLossRows(GradientScores("given", 0.0, 1, targets, weights.native), weights, loss, targets, n_threads)


def start_constant(rows: LossRows, targets: FloatArray) -> FloatArray:
    """What every row is scored with before the first round, one number for each output."""
    if isinstance(rows.loss, NativeTargetLoss):
        weights = rows.weights
        given = WeightedRows(targets, weights.given, rows.mean, weights.gather)
        return np.atleast_1d(np.asarray(rows.loss.start(given), dtype=np.float64))

    assert isinstance(rows, OwnLossRows)
    value, slope = rows.at_constant(0.0)
    if slope == 0.0:
        return np.zeros(1)
    way = -math.copysign(1.0, slope)
    found = convex_search(lambda c: _mirrored(rows.at_constant(way * c), way), value, way * slope, 1.0, ROUGH)
    return np.array([way * found])


def _mirrored(point: tuple[float, float], way: float) -> tuple[float, float]:
    return point[0], way * point[1]


def loss_to_gain(rows: LossRows, targets: FloatArray, scores: FloatArray) -> float:
    """The mean loss with these scores, above the least that it can be: what prices are counted in."""
    loss = rows.loss
    costs = loss.value(targets, scores)
    if isinstance(loss, NativeTargetLoss):
        costs = costs - loss.lowest(targets)
    gain = abs(rows.mean(np.ascontiguousarray(costs)))
    return coarse(gain) if gain > 0.0 else 1.0


def coarse(number: float) -> float:
    """Rounded to 24 bits: the last ones may depend on how NumPy computes logarithms on a machine."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(round(mantissa * 2.0**24), exponent - 24)


class NormBallDescent(RoundMaker):
    """Randomised descent along trees of many families. Storcheus, Figure 3.1, read as ERRATA 23 has it."""

    patience = PATIENCE
    exhausted = CONVERGED

    def __init__(
        self,
        rows: LossRows,
        grower: RegressionTrees,
        families: NormBalls,
        settings: RGBSettings,
        *,
        norm_unit: float,
        price_unit: float,
        n_features: int,
        n_questions: float,
        constant: FloatArray,
        trace: Trace,
        raw_scores: Callable[[Trace], FloatArray],
        tells_errors: bool,
    ) -> None:
        self.rows = rows
        self.grower = grower
        self.families = families
        self.settings = settings
        self.trace = trace
        self._constant = constant  # what every row is scored with before the first round
        self._raw_scores = raw_scores  # of the training rows, by the ensemble of a trace
        self._tells_errors = tells_errors  # with classes
        errors = ["train_error"] if tells_errors else []
        self.recorded = ["objective", *errors, "n_hypotheses", "family_size", "family_norm"]
        self._norm_unit = norm_unit
        self._n_features = n_features
        self._n_outputs = rows.scores.n_outputs
        m = rows.weights.total
        self._prices = settings.complexity_penalty * price_unit * families.price(m, n_questions)
        self._bounds = {size: complexity.trees(size, m, n_questions) for size in families.sizes}

    def begin(self) -> None:
        """The constant is the first hypothesis, of the smallest trees; the first round takes its step."""
        constant = self._constant
        size = float(np.abs(constant).max())
        values = constant / size if size > 0.0 else constant
        # The products that a prediction computes, to the last bit: a fit that goes on later begins with those.
        scores = np.tile(size * values, (self.rows.weights.n_own_rows, 1))
        self.rows.set_scores(scores.reshape(-1))
        if size == 0.0:
            return
        tree = constant_tree(values, self._n_features, self.rows.weights.total)
        self.trace.steps.append(Step(0, self.trace.enter(tree, self._bounds[self.families.sizes[0]]), size))

    def replay(self) -> None:
        self.rows.set_scores(self._raw_scores(self.trace))
        self._chosen: int | None = None

    def took_steps(self, trace: Trace) -> list[bool]:
        """Not counting that of the constant."""
        return [size > 0 for size in trace.history["family_size"]]

    def make(self, round_index: int, idle: int) -> list[Step]:
        self._chosen = self._round(round_index)
        return [] if self._chosen is None else self.trace.steps[-1:]

    def _round(self, round_index: int) -> int | None:
        """Takes the step of the best candidate and returns the place of its family; None where nothing goes down."""
        settings = self.settings
        drawn = self.families.draw(settings.n_candidates, settings.seed, round_index)
        families = [self.families.families[place] for place in drawn]
        self.grower.grow(round_index, max(family.n_splits for family in families))
        cuts = [
            self.grower.cut(family.n_splits, family.norm * self._norm_unit, self.families.order) for family in families
        ]
        steps = np.array(
            [self._step(cut, family.norm * self._norm_unit) for cut, family in zip(cuts, families, strict=True)]
        )
        useful = [i for i, step in enumerate(steps) if step > 0.0]
        if not useful:
            return None
        best = useful[0]
        if len(useful) > 1:
            losses = self.rows.losses_after(self.grower, [cuts[i] for i in useful], steps[useful])
            best = useful[int(np.argmin(losses + self._prices[[drawn[i] for i in useful]]))]
        self.rows.take(self.grower, cuts[best], float(steps[best]))
        norm = families[best].norm * self._norm_unit
        tree = regression_tree(self.grower, cuts[best], self._n_features, self._n_outputs, norm)
        index = self.trace.enter(tree, self._bounds[self.families.size_for(cuts[best].n_splits)])
        self.trace.steps.append(Step(round_index, index, float(steps[best])))
        return drawn[best]

    def _step(self, cut: CutTree, norm: float) -> float:
        """How far to go along h / lambda: 0 where that is not downhill, as it can happen with monotone constraints."""
        settings, lipschitz = self.settings, getattr(self.rows.loss, "lipschitz", None)
        if not cut.slope < 0.0 or not cut.mean_square > 0.0:
            return 0.0
        if settings.step == "line_search" or lipschitz is None:
            whole = convex_search(
                lambda step: self.rows.along(self.grower, cut, step),
                self.rows.mean_loss,
                cut.slope,
                -cut.slope / cut.mean_square,
                EXACT if getattr(self.rows.loss, "smooth", True) else ROUGH,
            )
        elif settings.step == "paper":
            whole = -norm * cut.slope / lipschitz  # 1 / C_k along h, with the C_k of Lemma A.1
        else:
            whole = -cut.slope / (lipschitz * cut.mean_square)  # (3.9)
        step = settings.learning_rate * whole
        return step if math.isfinite(step) else 0.0

    def line(self) -> dict[str, float]:
        family = None if self._chosen is None else self.families.families[self._chosen]
        line = {"objective": self.rows.mean_loss}
        if self._tells_errors:
            line["train_error"] = self.rows.error
        return line | {
            "n_hypotheses": len(self.trace.hypotheses),
            "family_size": 0 if family is None else family.n_splits,
            "family_norm": 0.0 if family is None else family.norm,
        }
