"""Round of Regularized Gradient Boosting (RGB): draw families, fit a tree in each, and take the best of their steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from radboost import complexity
from radboost._typing import FloatArray
from radboost._validation import Need
from radboost.boosting.driver import RoundMaker
from radboost.boosting.line_search import convex_search
from radboost.boosting.trace import Step, Trace
from radboost.engine import CutTree, RegressionTrees
from radboost.families.norm_balls import NormBalls
from radboost.families.raw_rows import RawRows
from radboost.losses import MultinomialLoss, NamedTargetLoss, ask
from radboost.losses.gaps import CONVERGED_GAP, gap_above
from radboost.losses.own import checked_numbers
from radboost.losses.target import WeightedRows
from radboost.objectives.targets import LossRows, NativeRows, OwnLossRows, coarse
from radboost.trees.tree import constant_tree, regression_tree

# Requirements on the loss, by the parameter `step`; other values use a line search if there is no constant.
NEEDS = {
    "paper": (
        Need(
            "loss",
            "lipschitz",
            'step="paper" needs a loss whose derivative has a Lipschitz constant, and {given!r} has none. Use '
            'step="line_search".',
        ),
    ),
}
PATIENCE = 10  # rounds in a row without a step until the fit ends
# A line search ends when the slope, or the bracket, has shrunk to this fraction of its first value; ROUGH is for losses
# with kinks, where both shrink slowly.
EXACT, ROUGH = 1e-10, 1e-4
# The start constant with offsets: as slopes at the offsets can be as large as e^100, one search may end too early. So
# searches are repeated until the constant changes by no more than CLOSE_ENOUGH, relative to itself or 1.
CLOSE_ENOUGH, MOST_SEARCHES = 1e-9, 40
# Start constants of several classes with offsets: limit of rounds, and lower limit of a mean probability.
MOST_SCALINGS, SMALLEST_MEAN = 1000, 1e-300

# A family is skipped if its price exceeds the lowest by more than this factor times its largest gain. The factor is
# above 1 because losses are rounded.
BEYOND_ROUNDING = 1.01
MOST_RISE = 1e-6  # relative increase of the mean loss that is attributed to rounding

EXHAUSTED = f"{PATIENCE} rounds in a row found no tree that lowers the loss"


@dataclass(frozen=True)
class RGBSettings:
    """Parameters of a round. Storcheus (2021), Figure 3.1."""

    n_candidates: int  # S
    complexity_penalty: float  # beta
    step: str  # "lipschitz", "line_search" or "paper"
    learning_rate: float
    seed: int
    n_threads: int


def start_constant(rows: LossRows, targets: FloatArray, offset: FloatArray | None = None) -> FloatArray:
    """Constant score of all rows before the first round, to which offsets are added; shape (n_outputs,)."""
    loss = rows.loss
    if isinstance(loss, NamedTargetLoss):
        given = WeightedRows(targets, rows.weights.given, rows.mean, rows.weights.gather)
        result = loss.start(given) if offset is None else loss.start_beside(given, offset)
        if result is not None:
            constants = np.atleast_1d(np.asarray(result, dtype=np.float64))
            exact = offset is None or loss.of_difference
            return constants if exact else np.array([coarse(one) for one in constants.tolist()])
    if isinstance(loss, MultinomialLoss) and offset is not None:
        return _balanced(rows, targets, offset)
    if not isinstance(rows, OwnLossRows | NativeRows):
        return np.zeros(rows.scores.n_outputs)
    if offset is None:
        return np.array([_best_constant(rows, targets, np.zeros(len(targets)), ROUGH)])
    constant = 0.0
    for _ in range(MOST_SEARCHES):
        change = _best_constant(rows, targets, offset + constant, EXACT)
        constant += change
        if abs(change) <= CLOSE_ENOUGH * max(1.0, abs(constant)):
            break
    return np.array([coarse(constant)])


def _best_constant(rows: LossRows, targets: FloatArray, start: FloatArray, accuracy: float) -> float:
    """Constant with the least mean loss when added to `start`; inaccurate if the slope at `start` is huge."""
    loss = rows.loss

    def mean_loss_at(constant: float) -> tuple[float, float]:
        """Mean loss, and its derivative by the constant."""
        scores = start + constant
        values, derivatives = ask(loss, "value", targets, scores), ask(loss, "derivative", targets, scores)
        checked = [
            checked_numbers(loss, what, numbers, scores)
            for what, numbers in (("value", values), ("derivative", derivatives))
        ]
        return rows.mean(checked[0]), rows.mean(checked[1])

    value, slope = mean_loss_at(0.0)
    if slope == 0.0:
        return 0.0
    direction = -math.copysign(1.0, slope)

    def along(distance: float) -> tuple[float, float]:
        value, slope = mean_loss_at(direction * distance)
        return value, direction * slope

    return direction * convex_search(along, value, direction * slope, 1.0, accuracy)


def _balanced(rows: LossRows, targets: FloatArray, offset: FloatArray) -> FloatArray:
    """Constants with the least loss: they make the mean probability of each class its fraction of the rows."""
    # Iterative scaling: each round multiplies the odds of a class by its fraction over its mean probability, which
    # never raises the loss (Jensen's inequality for the logarithm).
    n_classes = offset.shape[1]
    fractions = np.array([rows.mean((targets == k).astype(np.float64)) for k in range(n_classes)])
    constants = np.zeros(n_classes)
    for _ in range(MOST_SCALINGS):
        probabilities = softmax(offset + constants, axis=1)
        means = [rows.mean(np.ascontiguousarray(probabilities[:, k])) for k in range(n_classes)]
        change = np.log(fractions) - np.log(np.maximum(means, SMALLEST_MEAN))
        constants += change
        if np.abs(change - change.mean()).max() < CLOSE_ENOUGH:
            break
    return np.array([math.copysign(coarse(abs(one)), one) for one in (constants - constants.mean()).tolist()])


class NormBallDescent(RoundMaker):
    """Round maker: randomized descent along trees of many families. Storcheus (2021), Figure 3.1, with ERRATA 23."""

    patience = PATIENCE
    exhausted = EXHAUSTED

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
        offset: FloatArray | None,
        trace: Trace,
        raw_rows: RawRows,
        raw_scores: Callable[[Trace], FloatArray],
        has_errors: bool,
        units: FloatArray | None = None,
    ) -> None:
        """Several targets may be learned in `units` of their own, powers of two, so that nothing is rounded."""
        self.rows = rows
        self.grower = grower
        self.families = families
        self.settings = settings
        self.trace = trace
        self._constant = constant  # what every row is scored with before the first round
        self._offset = offset  # what is added to it, row by row
        self._raw_rows = raw_rows
        self._raw_scores = raw_scores  # of the training rows, by the ensemble of a trace
        self._has_errors = has_errors  # with classes
        errors = ["train_error"] if has_errors else []
        self.recorded = ["objective", *errors, "n_hypotheses", "family_size", "family_norm", *rows.history_entry()]
        self._norm_unit = norm_unit
        self._n_features = n_features
        self._n_outputs = rows.scores.n_outputs
        self._has_units = units is not None
        self._units = np.ones(self._n_outputs) if units is None else units
        m = rows.weights.total
        self._prices = settings.complexity_penalty * price_unit * families.price(m, n_questions)
        self._bounds = {size: complexity.trees(size, m, n_questions) for size in families.sizes}

    def begin(self) -> None:
        """The constant is the first hypothesis, of the smallest trees; the first round takes its step."""
        constant = self._constant * self._units
        size = float(np.abs(constant).max())
        if self._has_units and size > 0.0:
            size = math.ldexp(1.0, math.frexp(size)[1])
        values = constant / size if size > 0.0 else constant
        # The products that a prediction computes, to the last bit: a fit that goes on later begins with those.
        scores = np.tile(size * values / self._units, (self.rows.weights.n_own_rows, 1))
        if self._offset is not None:
            scores += self._offset.reshape(scores.shape)
        self.rows.set_scores(scores.reshape(-1))
        if size == 0.0:
            return
        tree = constant_tree(values, self._n_features, self.rows.weights.total)
        self.trace.steps.append(Step(0, self.trace.enter(tree, self._bounds[self.families.sizes[0]]), size))

    def replay(self) -> None:
        scores = self._raw_scores(self.trace)
        self.rows.set_scores(scores if self._n_outputs == 1 else scores / self._units)
        self._chosen: int | None = None

    def finish(self) -> None:
        """Set the lower bound of the trace, where there is one; with a small gap the fit has converged."""
        trace, weights = self.trace, np.zeros(len(self.trace.hypotheses))
        for step in trace.steps:
            weights[step.hypothesis] += step.eta
        trace.lower_bound = self.rows.lower_bound(weights, map(self._raw_rows.predict, trace.hypotheses))
        self._raw_rows.forget()
        objective = self.rows.mean_loss
        if trace.stop_reason == EXHAUSTED and gap_above(trace.lower_bound, objective) <= CONVERGED_GAP * objective:
            trace.stop_reason = f"converged over the trees of the ensemble: {EXHAUSTED}"

    def took_steps(self, trace: Trace) -> list[bool]:
        """Not counting that of the constant."""
        return [size > 0 for size in trace.history["family_size"]]

    def make(self, round_index: int, idle: int) -> list[Step]:
        self._chosen = self._round(round_index)
        return [] if self._chosen is None else self.trace.steps[-1:]

    def _round(self, round_index: int) -> int | None:
        """Takes the step of the best candidate and returns the index of its family; None where nothing goes down."""
        settings = self.settings
        everyone = self.families.draw(settings.n_candidates, settings.seed, round_index)
        drawn = self._that_may_win(everyone)
        cuts, steps = self._fit(drawn, round_index)
        cheapest = min(range(len(drawn)), key=lambda i: self._prices.item(drawn[i]))
        if len(drawn) < len(everyone) and not steps[cheapest] > 0.0:
            drawn = everyone
            cuts, steps = self._fit(drawn, round_index)
        families = [self.families.families[index] for index in drawn]
        useful = [i for i, step in enumerate(steps) if step > 0.0]
        if not useful:
            return None
        best = useful[0]
        if len(useful) > 1:
            losses = self.rows.losses_after(self.grower, [cuts[i] for i in useful], steps[useful])
            best = useful[int(np.argmin(losses + self._prices[[drawn[i] for i in useful]]))]
        before = self.rows.mean_loss
        self.rows.take(self.grower, cuts[best], float(steps[best]))
        self._check_descent(before, round_index)
        norm = families[best].norm * self._norm_unit
        unit = float(self._units.max())
        fractions = self._units / unit
        tree = regression_tree(self.grower, cuts[best], self._n_features, self._n_outputs, norm, fractions)
        index = self.trace.enter(tree, self._bounds[self.families.size_for(cuts[best].n_splits)])
        self.trace.steps.append(Step(round_index, index, float(steps[best]) * unit))
        return drawn[best]

    def _check_descent(self, before: float, round_index: int) -> None:
        """Refuses a loss of the user's own whose Lipschitz constant is none: steps by (3.9) raise no other loss."""
        lipschitz, now = getattr(self.rows.loss, "lipschitz", None), self.rows.mean_loss
        by_constant = lipschitz is not None and self.settings.step in ("auto", "lipschitz")
        if by_constant and isinstance(self.rows, OwnLossRows) and not now <= before + MOST_RISE * abs(before):
            raise ValueError(
                f"{type(self.rows.loss).__name__}.lipschitz={lipschitz:g} is too small: round {round_index + 1} raised "
                f"the mean loss from {before:g} to {now:g}. It must bound how fast the derivative changes with the "
                "scores; without it steps are found by a line search."
            )

    def _that_may_win(self, drawn: list[int]) -> list[int]:
        """Drawn families that are not too expensive to be chosen, if the cheapest takes a step."""
        # Let the loss Phi >= 0 be convex with a derivative of Lipschitz constant L, and g its gradient. Let nu be the
        # fraction of the step s of (3.9) along h that is taken. Then the loss falls by at most nu s E[-g h], which is
        # no more than nu E[g^2] / L (convexity, then Cauchy and Schwarz). As g^2 <= 2 L Phi, that is no more than
        # 2 nu times the loss. The cheapest family does not raise the loss, and so wins against families that are more
        # expensive by more.
        loss, settings = self.rows.loss, self.settings
        bounded = isinstance(self.rows, NativeRows) and getattr(loss, "lipschitz", None) is not None
        if not bounded or settings.step not in ("auto", "lipschitz"):
            return drawn
        prices = self._prices.item
        gain = BEYOND_ROUNDING * min(1.0, 2.0 * settings.learning_rate) * self.rows.mean_loss
        most = min(map(prices, drawn)) + gain
        return [index for index in drawn if prices(index) <= most]

    def _fit(self, indices: list[int], round_index: int) -> tuple[list[CutTree], FloatArray]:
        """The best tree of each of these families, all cut from one that is grown, and how far to go along it."""
        families = [self.families.families[index] for index in indices]
        self.grower.grow(round_index, max(family.n_splits for family in families))
        norms = [family.norm * self._norm_unit for family in families]
        cuts = [
            self.grower.cut(family.n_splits, norm, self.families.order)
            for family, norm in zip(families, norms, strict=True)
        ]
        return cuts, np.array([self._step(cut, norm) for cut, norm in zip(cuts, norms, strict=True)])

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
            whole = min(whole, getattr(self.rows.loss, "longest_step", math.inf) * -cut.slope / cut.mean_square)
        elif settings.step == "paper":
            whole = -norm * cut.slope / lipschitz  # 1 / C_k along h, with the C_k of Lemma A.1
        else:
            whole = -cut.slope / (lipschitz * cut.mean_square)  # (3.9)
        step = settings.learning_rate * whole
        return step if math.isfinite(step) else 0.0

    def history_entry(self) -> dict[str, float]:
        family = None if self._chosen is None else self.families.families[self._chosen]
        line = {"objective": self.rows.mean_loss}
        if self._has_errors:
            line["train_error"] = self.rows.error
        return line | {
            "n_hypotheses": len(self.trace.hypotheses),
            "family_size": 0 if family is None else family.n_splits,
            "family_norm": 0.0 if family is None else family.norm,
            **self.rows.history_entry(),
        }
