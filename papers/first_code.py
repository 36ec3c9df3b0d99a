"""What the code that the authors of "Deep Boosting" published first (github.com/google/deepboost, June 2014) computes.

Its weights are always normalised. After a step with the exponential loss it multiplies them by e^(-eta y h), and takes
their new sum Z_t for the normaliser of the next round; the S_t of equation (4) would be Z_t times the S of the round
before. So the threshold Lambda m / (2 S_t) of Figure 2 becomes Lambda m / (2 Z_t) from the second round on: about m
times as high at first, and not growing as the loss falls. With the logistic loss that code has S_t.

A second difference is not here: it grows one tree a round, and splits a node only where the penalised gradient gains,
while ours grow by the edge and are cut at every depth.
"""

from __future__ import annotations

from typing import ClassVar

from radboost.boosting import CoordinateDescent, Step
from radboost.estimators.deepboost import DeepBoostClassifier
from radboost.objectives import LossState


class LastFactor(CoordinateDescent):
    """Coordinate descent with Z_t in place of S_t."""

    def begin(self) -> None:
        super().begin()
        self._before: float | None = None

    def _round(self, round_index: int, state: LossState) -> Step | None:
        before, self._before = self._before, state.slope
        if before is None:
            return super()._round(round_index, state)
        # a round without a step leaves the weights as they are, and then Z = 1
        for factor in (state.slope / before, 1.0):
            step = super()._round(round_index, state._replace(slope=factor / self.objective.total_weight))
            if step is not None:
                return step
        return None


class FirstCodeClassifier(DeepBoostClassifier):
    """DeepBoost with the penalties of that code; for the exponential loss."""

    _descent: ClassVar[type[CoordinateDescent]] = LastFactor
