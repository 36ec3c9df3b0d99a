"""Round of soft-max boosting: draw pairs (row, class), grow a tree for each class, step along all of them at once."""

from __future__ import annotations

from dataclasses import dataclass

from radboost import complexity
from radboost.boosting.driver import RoundMaker
from radboost.boosting.line_search import LONGEST_FALL, SHORTEST_FALL, falling_search
from radboost.boosting.trace import Step, Trace
from radboost.boosting.votes import VotingTrees
from radboost.engine import SoftmaxPairs, SoftmaxScores, SoftmaxSums, WeightedTrees
from radboost.families.raw_rows import RawRows
from radboost.penalties import on_grid

STEP_GRID = SHORTEST_FALL  # psi is a multiple of this, so that sums of steps are exact in any order
SMALLEST_SIZE = 1e-12  # size of the gradient below which the fit has converged
PATIENCE = 10  # rounds in a row without a step until the fit ends

EXHAUSTED = f"converged: {PATIENCE} rounds in a row found no direction that lowers the risk"


@dataclass(frozen=True)
class SoftmaxSettings:
    """Parameters of a round. Geist (2015, Soft-max boosting), Algorithm 2 and section 5.1."""

    pairs: str  # "all", "by_rule" or "by_gradient"
    n_samples: int  # M; ignored with all pairs
    step: str  # "edge", "sampled", "projection" or "line_search"
    learning_rate: float
    n_threads: int


class SoftmaxDescent(RoundMaker):
    """Round maker: projected gradient descent on the risk of a stochastic rule. Geist (2015), Algorithm 2.

    psi(z) are the scores of label z. A round makes the step psi(z) -= a h(z), with a tree h(z) = -1 or +1 for each z.
    """

    patience = PATIENCE
    exhausted = EXHAUSTED

    def __init__(
        self,
        scores: SoftmaxScores,
        pairs: SoftmaxPairs,
        trees: WeightedTrees,
        settings: SoftmaxSettings,
        *,
        n_classes: int,
        n_features: int,
        n_questions: float,
        sample_size: float,
        cost_unit: float,
        cost_floor: float,
        trace: Trace,
        raw_rows: RawRows,
    ) -> None:
        self.scores = scores
        self.pairs = pairs
        self.trees = trees
        self.settings = settings
        self.votes = VotingTrees(trees, n_classes, n_features, sample_size)
        self.trace = trace
        self._n_questions = n_questions
        self.sample_size = sample_size
        self._cost_unit, self._cost_floor = cost_unit, cost_floor  # from scaled costs in [0, 1] to given costs
        self._raw_rows = raw_rows

    def begin(self) -> None:
        self._sums = self.scores.evaluate(self.settings.n_threads)

    def replay(self) -> None:
        for steps in self.trace.rounds():
            if steps:
                directions, a = self.votes.directions(
                    [(self.trace.hypotheses[step.hypothesis], step.eta) for step in steps], self._raw_rows
                )
                self.scores.set_directions(directions)
                self.scores.step(a, self.settings.n_threads)
        self._raw_rows.forget()
        self.begin()

    def make(self, round_index: int, idle: int) -> list[Step]:
        a = self._step_size(round_index, self._sums)
        if a == 0.0:
            return []
        steps = self._apply(round_index, a)
        self._sums = self.scores.evaluate(self.settings.n_threads)
        return steps

    def history_entry(self) -> dict[str, float]:
        return {
            "objective": self._sums.risk * self._cost_unit + self._cost_floor,
            "train_error": self._sums.error,
            "n_hypotheses": len(self.trace.hypotheses),
        }

    def _step_size(self, round_index: int, sums: SoftmaxSums) -> float:
        settings = self.settings
        edge = self.pairs.grow(self.trees, settings.pairs, settings.n_samples, round_index, settings.n_threads)
        if settings.step == "sampled":
            a = edge  # section 5.1: R_M(h) in place of the projected gradient
        elif settings.step == "edge":
            a = edge / sums.size if sums.size > SMALLEST_SIZE else 0.0
        else:
            slope = self.scores.slope(settings.n_threads)
            a = slope / len(self.pairs.trees())  # Theorem 1: alpha_t = 1, and the squared norm of h is K
            if settings.step == "line_search":
                a = falling_search(lambda a: self.scores.along(a, settings.n_threads), sums.risk, slope, a)
        return on_grid(max(-LONGEST_FALL, min(settings.learning_rate * a, LONGEST_FALL)), STEP_GRID)

    def _apply(self, round_index: int, a: float) -> list[Step]:
        steps = []
        for label, tree in enumerate(self.pairs.trees()):
            member = self.votes.vote(tree, label, a)
            if member is None:
                continue
            hypothesis, weight = member
            bound = complexity.trees(hypothesis.n_splits, self.sample_size, self._n_questions)
            index = self.trace.enter(hypothesis, bound)
            steps.append(Step(round_index, index, weight))
        self.trace.steps.extend(steps)
        self.scores.step(a, self.settings.n_threads)
        return steps
