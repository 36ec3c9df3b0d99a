"""Which coordinate a round takes, with a family that proposes what it is told to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from radboost import DeepBoostClassifier
from radboost.families import Candidate, Family, Problem, Proposer, ValuesCandidate

Y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])
X = np.arange(10.0)[:, None]
GOOD = np.array([1, 1, 1, 1, -1, -1, -1, -1, -1, 1.0])  # right on 8 of 10
FAIR = np.array([1, 1, 1, -1, 1, -1, 1, -1, -1, 1.0])  # right on 7
POOR = np.array([-1, 1, 1, -1, 1, 1, 1, -1, -1, -1.0])  # right on 6
USELESS = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1.0]) * np.array(
    [1, 1, 1, 1, 0, 1, 1, 1, 1, 0]
)  # right as often as wrong

PERFECT = Y.astype(float)
ROWS = (GOOD, FAIR, POOR, USELESS, PERFECT)


class Row:
    """A hypothesis that looks its answers up."""

    n_splits, n_nodes, depth = 0, 1, 0

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def predict(self, rows: np.ndarray, n_threads: int = 1) -> np.ndarray:
        return self.values[np.asarray(rows)[:, 0].astype(int)]

    def key(self) -> tuple[object, float]:
        sign = float(np.sign(self.values[0]))
        return tuple((self.values * sign).tolist()), sign


@dataclass(frozen=True)
class Script(Family):
    """Proposes the given rows of predictions, one list per round, the last one for ever."""

    rounds: tuple[tuple[int, ...], ...]
    rows: tuple[Any, ...] = ROWS
    asked: list[int] = field(default_factory=list)  # the rounds in which proposals were wanted
    complexity: float = 1.0

    def start(self, problem: Problem) -> Proposer:
        script = self

        class Reader(Proposer):
            randomised = True

            def propose(self, round_index: int) -> Sequence[Candidate]:
                script.asked.append(round_index)
                names = script.rounds[min(round_index, len(script.rounds) - 1)]
                found: list[Candidate] = []
                for name in names:
                    values = script.rows[abs(name) - 1] * math.copysign(1, name)
                    sorted_values = values[problem.order]
                    edge = problem.objective.value_edges(sorted_values[None].astype(np.float32))[0, 0]
                    found.append(ValuesCandidate(Row(values), sorted_values, float(edge), script.complexity))
                return found

        return Reader()

    def n_families(self, problem: Problem) -> int:
        return 1


def run(*rounds: tuple[int, ...], n_rounds: int | None = None, **changes: Any) -> DeepBoostClassifier:
    parameters = {"learning_rate": 1.0, "loss": "exponential", "complexity_penalty": 0.0, **changes}
    return DeepBoostClassifier(n_rounds or len(rounds), family=Script(rounds), **parameters).fit(X, Y)


def path(model: DeepBoostClassifier) -> list[tuple[int, int, float]]:
    """(round, which row, eta) of every step."""
    names = [next(i + 1 for i, r in enumerate(ROWS) if abs(h.values @ r) == r @ r) for h in model.ensemble_.entered]
    return [(t, names[j], eta) for t, j, eta in model.ensemble_.steps.tolist()]


def test_damped_members_leave_the_way_to_new_hypotheses() -> None:
    """After a damped step GOOD is still the steepest, but it would grow: FAIR goes first."""
    steps = path(run((1,), (2,), learning_rate=0.1))
    assert [p[1] for p in steps] == [1, 2]


def test_damped_members_move_when_nothing_new_does() -> None:
    steps = path(run((1,), (4,), (), learning_rate=0.1))
    assert [p[1] for p in steps] == [1, 1, 1]
    assert all(p[2] > 0 for p in steps)


def test_a_proposal_that_is_a_member_moves_the_member() -> None:
    for again in (1, -1):
        model = run((1,), (again,), (again,), learning_rate=0.1)
        assert len(model.ensemble_.entered) == 1
        assert [p[0] for p in path(model)] == [0, 1, 2]
        assert all(p[2] > 0 for p in path(model))
        assert model.history_["n_hypotheses"] == [1, 1, 1]


def superseded(rate: float) -> list[tuple[int, int, float, float]]:
    """GOOD first, then only PERFECT on offer: (round, row, eta, weight before) of every step.

    Once PERFECT has weight, GOOD costs more than it brings and has to go.
    """
    model = run((1,), (5,), n_rounds=200, learning_rate=rate, l1_penalty=0.2)
    assert np.all(np.diff(model.history_["objective"]) <= 1e-15)
    weights: dict[int, float] = {}
    out = []
    for t, name, eta in path(model):
        out.append((t, name, eta, weights.get(name, 0.0)))
        weights[name] = weights.get(name, 0.0) + eta
    assert weights[1] == 0.0
    assert len(model.ensemble_.weights) == 1
    np.testing.assert_array_equal(model.ensemble_.hypotheses[0].values, PERFECT)
    return out


def test_a_shrinking_member_competes_even_when_damped() -> None:
    steps = superseded(0.3)
    shrinking = [t for t, name, eta, _ in steps if name == 1 and eta < 0]
    growing = [t for t, name, eta, _ in steps if name == 5 and eta > 0]
    assert shrinking
    assert max(growing) > min(shrinking), "GOOD shrank only when PERFECT had nothing left to gain"


def test_a_cancelling_step_is_taken_whole() -> None:
    """Line 13: once the weight is to be cancelled, it is cancelled at once, however damped the other steps are."""
    for rate in (0.1, 0.3, 1.0):
        last = [(eta, before) for _, name, eta, before in superseded(rate) if name == 1][-1]
        assert last[0] == -last[1] != 0.0


def test_useless_rounds_are_skipped_counted_and_end_the_fit() -> None:
    model = run((4,), n_rounds=50)
    assert model.n_skipped_rounds_ == 10
    assert model.n_iter_ == 10
    assert path(model) == []
    assert "10" in model.stop_reason_
    model = run((4,), (4,), (4,), (1,), (4,), n_rounds=100, learning_rate=0.5)
    assert model.n_skipped_rounds_ >= 3
    assert path(model)[0][:2] == (3, 1)
    assert model.history_["n_hypotheses"][:4] == [0, 0, 0, 1]
    assert len(model.history_["objective"]) == model.n_iter_


def test_a_hypothesis_without_weight_does_not_stay() -> None:
    """Steps below the grid of the scores are no steps, and who got none is no member."""
    model = run((1,), n_rounds=5, learning_rate=1e-14)
    assert model.history_["n_hypotheses"] == [0] * 5
    assert model.n_skipped_rounds_ == 5
    assert len(model.ensemble_) == 0


def test_places_of_hypotheses_without_weight_are_taken_by_others() -> None:
    """A penalty that leaves the first proposal a slope of 2e-9, and a hundredth of a percent of that is no step."""
    model = run((3,), (1,), learning_rate=1e-4, complexity_penalty=0.2 * math.e * (1.0 - 1e-8))
    assert model.history_["n_hypotheses"] == [0, 1]
    assert [(t, name) for t, name, _ in path(model)] == [(1, 1)]
    assert len(model.ensemble_.entered) == 1


def test_patience_counts_the_rounds_after_the_best() -> None:
    """The validation labels are all wrong: every step makes them worse, so the first round is the best."""
    for patience in (1, 3):
        script = Script(((1,), (2,), (3,), (1,), (2,), (3,)))
        model = DeepBoostClassifier(
            30, family=script, learning_rate=0.1, complexity_penalty=0.0, early_stopping=patience
        ).fit(X, Y, X_val=X, y_val=-Y)
        assert len(script.asked) == 1 + patience
        assert model.n_iter_ == len(model.history_["objective"]) - patience == 1
        assert [p[0] for p in path(model)] == [0]
        assert str(patience) in model.stop_reason_


def test_a_score_of_zero_is_an_error_for_both_classes() -> None:
    """R(f) of the paper counts y f <= 0."""
    model = DeepBoostClassifier(2, family=Script(((4,), (1,))), learning_rate=1.0, complexity_penalty=0.0).fit(
        X, Y, X_val=X, y_val=Y
    )
    assert model.history_["train_error"] == [1.0, 0.2]
    assert model.history_["validation_error"] == [1.0, 0.2]
