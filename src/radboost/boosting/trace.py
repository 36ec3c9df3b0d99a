"""What a fit leaves behind, round by round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from radboost.families.base import Hypothesis

ALL_ROUNDS = "all rounds done"


@dataclass(frozen=True)
class Step:
    """alpha_hypothesis += eta in one round."""

    round: int
    hypothesis: int
    eta: float


@dataclass
class Trace:
    """Everything a fit leaves behind."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    complexities: list[float] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"objective": [], "train_error": [], "n_hypotheses": []}
    )
    n_skipped: int = 0
    stop_reason: str = ALL_ROUNDS
    pushed: bool = False  # whether the objective rose on purpose

    @property
    def n_rounds_to_keep(self) -> int:
        """All rounds; after a push those up to the lowest objective."""
        objectives = self.history["objective"]
        return 1 + objectives.index(min(objectives)) if self.pushed else len(objectives)


# Told of every round and its steps; returns a reason to stop, or None.
Monitor = Callable[[Trace, Sequence[Step]], str | None]
