"""Trace of a fit: hypotheses, steps and history, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from radboost.families.base import Hypothesis

ALL_ROUNDS = "all rounds done"


@dataclass(frozen=True)
class Step:
    """alpha_hypothesis += eta in one round."""

    round: int
    hypothesis: int  # index into `Trace.hypotheses`
    eta: float


@dataclass
class Trace:
    """Result of a fit, sufficient to resume it."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    complexities: list[float] = field(default_factory=list)  # r_j of each hypothesis
    steps: list[Step] = field(default_factory=list)
    history: dict[str, list[float]] = field(default_factory=dict)  # one entry per round in every list
    n_skipped: int = 0  # rounds without a step
    stop_reason: str = ALL_ROUNDS
    lower_bound: float | None = None  # on the objective over all weights; None: not known
    perturbed: bool = False  # True: weights were perturbed, which raises the objective
    # Further values of the hypotheses by name; one entry per hypothesis in each list.
    details: dict[str, list[float]] = field(default_factory=dict)

    @property
    def n_rounds(self) -> int:
        """Number of rounds with a history entry."""
        return min(map(len, self.history.values()), default=0)

    @property
    def n_rounds_to_keep(self) -> int:
        """Number of rounds of the model: all, after a perturbation those up to the lowest objective."""
        if not self.perturbed:
            return self.n_rounds
        objectives = self.history["objective"]
        return 1 + objectives.index(min(objectives))

    def record(self, entry: Mapping[str, float]) -> None:
        """Append an entry to the history."""
        for name, value in entry.items():
            self.history.setdefault(name, []).append(value)

    def rounds(self) -> Iterator[list[Step]]:
        """The steps of each round."""
        by_round: list[list[Step]] = [[] for _ in range(self.n_rounds)]
        for step in self.steps:
            by_round[step.round].append(step)
        return iter(by_round)

    def finished(self) -> Trace:
        """Copy with the rounds that have a history entry, without remains of an interrupted round."""
        n_rounds = self.n_rounds
        steps = [step for step in self.steps if step.round < n_rounds]
        n_used = 1 + max((step.hypothesis for step in steps), default=-1)
        return Trace(
            self.hypotheses[:n_used],
            self.complexities[:n_used],
            steps,
            {name: column[:n_rounds] for name, column in self.history.items()},
            n_skipped=self.n_skipped,
            stop_reason=self.stop_reason,
            lower_bound=self.lower_bound,
            perturbed=self.perturbed,
            details={name: column[:n_used] for name, column in self.details.items()},
        )

    def enter(self, hypothesis: Hypothesis, complexity: float) -> int:
        """Append a hypothesis; returns its index."""
        self.hypotheses.append(hypothesis)
        self.complexities.append(complexity)
        return len(self.hypotheses) - 1
