"""Checks of the return values of user-defined families and generators."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.engine import HypothesisColumns
from radboost.families.base import Candidate, Family, Hypothesis, Problem, Proposer, ValuesCandidate
from radboost.families.generators import Generator, LastLook, Proposing, Training
from radboost.families.kinds import checked_values, predictions

EDGE_SLACK = 1e-4  # of edges: the engine sums values that are rounded to 20 bits
RANGE_SLACK = 1e-6  # of the limit 1 of predictions in float32
VALUE_SLACK = 1e-3  # of stored predictions, which may have float32 or float16 precision
ASKED_ROWS = 1000  # rows on which predictions of a hypothesis are compared with stored ones when it enters


def _built_in(part: object) -> bool:
    return type(part).__module__.partition(".")[0] == "radboost"


def start_family(family: Family, problem: Problem) -> Proposer:
    """Proposer of a family; for a user-defined family it checks every round."""
    proposer = family.start(problem)
    if _built_in(family):
        return proposer
    if not callable(getattr(proposer, "propose", None)):
        raise TypeError(
            f"{type(family).__name__}.start must return a Proposer, an object with the method propose(round_index); "
            f"got {proposer!r}."
        )
    return CheckedProposer(proposer, problem)


def start_families(families: list[Family], problem: Problem) -> list[Proposer]:
    """Proposers of several families, with different random draws."""
    seeds = [problem.settings.seed + 0x9E3779B9 * index for index in range(len(families))]
    return [
        start_family(family, replace(problem, settings=replace(problem.settings, seed=seed % 2**64)))
        for family, seed in zip(families, seeds, strict=True)
    ]


class CheckedProposer(Proposer):
    """Proposer of a user-defined family, with checks."""

    def __init__(self, proposer: Any, problem: Problem) -> None:
        self._proposer, self._problem = proposer, problem
        self.randomised = bool(getattr(proposer, "randomised", False))

    def propose(self, round_index: int) -> Sequence[Candidate]:
        return self._checked("propose", self._proposer.propose(round_index))

    def constants(self) -> Sequence[Candidate]:
        constants = getattr(self._proposer, "constants", None)
        return [] if constants is None else self._checked("constants", constants())

    def _checked(self, method: str, given: Any) -> list[Candidate]:
        who = f"{type(self._proposer).__name__}.{method}"
        candidates = _as_list(who, given, "candidates (radboost.families.ValuesCandidate, for example)")
        # Constants are asked for whatever their edge is, and need none.
        return [CheckedCandidate(who, one, self._problem, has_edge=method == "propose") for one in candidates]


class CheckedCandidate(Candidate):
    """Candidate of a user-defined family: edge and complexity are checked at once, the hypothesis when it enters."""

    def __init__(self, who: str, candidate: Any, problem: Problem, *, has_edge: bool) -> None:
        needed = ("edge", "complexity", "hypothesis", "enter")
        if any(not hasattr(candidate, name) for name in needed):
            raise TypeError(
                f"{who} must return candidates, objects with {', '.join(needed[:-1])} and {needed[-1]} "
                f"(radboost.families.ValuesCandidate, for example); among them is {candidate!r}."
            )
        self._candidate, self._problem, self._who, self._has_edge = candidate, problem, who, has_edge
        self.real_valued = bool(getattr(candidate, "real_valued", False))
        self.edge = _number(who, "edge", candidate.edge) if has_edge else candidate.edge
        self.complexity = _number(who, "complexity", candidate.complexity)
        if self.complexity < 0.0:
            raise ValueError(
                f"{who} returned a candidate with a complexity of {self.complexity:g}; a bound on a Rademacher "
                "complexity is at least 0."
            )
        if isinstance(candidate, ValuesCandidate):
            self._check_predictions(candidate.predictions, candidate.class_index)

    def hypothesis(self) -> Hypothesis:
        hypothesis: Hypothesis = self._candidate.hypothesis()
        missing = [name for name in ("key", "n_splits", "n_nodes", "depth") if not hasattr(hypothesis, name)]
        if missing:
            raise TypeError(
                f"{self._who} returned a candidate whose hypothesis, {hypothesis!r}, has no {' or '.join(missing)}. "
                "Derive its class from radboost.families.Hypothesis, which has them."
            )
        return hypothesis

    def enter(self, columns: HypothesisColumns) -> int:
        slot = int(self._candidate.enter(columns))
        stored, n_outputs = columns.predictions(slot), self._problem.n_outputs
        stored = stored.reshape(-1, n_outputs) if n_outputs > 1 else stored
        if not isinstance(self._candidate, ValuesCandidate):
            used = np.flatnonzero(stored.any(axis=0)) if n_outputs > 1 else np.zeros(0)
            if len(used) <= 1:  # votes for several classes have an edge of another kind
                index = int(used[0]) if len(used) else None
                self._check_predictions(stored if n_outputs == 1 else stored[:, index or 0], index)
        self._ask_again(stored)
        return slot

    def _check_predictions(self, values: Any, class_index: int | None) -> None:
        """Check predictions on the training rows: shape, range, and the edge."""
        problem, n_rows = self._problem, len(self._problem.order)
        low = -1.0 if problem.n_outputs == 1 else 0.0
        array: npt.NDArray[Any] = np.asarray(values)
        fits = array.shape == (n_rows,) and array.dtype.kind in "biuf"
        outside = fits and (array.min(initial=0.0) < low - RANGE_SLACK or array.max(initial=0.0) > 1.0 + RANGE_SLACK)
        if not fits or outside or not np.isfinite(array).all():
            raise ValueError(
                f"{self._who} must return candidates with one number in [{low:g}, 1] for each of the {n_rows} training "
                f"rows as predictions; got {_shown(array)}."
            )
        if problem.n_outputs > 1 and class_index not in range(problem.n_outputs):
            raise ValueError(
                f"{self._who} must name a class_index from 0 to {problem.n_outputs - 1} for each candidate; got "
                f"{class_index!r}."
            )
        if not self._has_edge:
            return
        edges = problem.objective.value_edges(np.ascontiguousarray(array[None], dtype=np.float32))
        edge = float(edges[0, (class_index or 0) if problem.n_outputs > 1 else 0])
        if abs(edge - self.edge) > EDGE_SLACK * max(1.0, abs(edge)):
            raise ValueError(
                f"{self._who} returned a candidate with an edge of {self.edge:g}, and its predictions have one of "
                f"{edge:g}. problem.edges(values) computes it, under the weights of the round."
            )

    def _ask_again(self, stored: FloatArray) -> None:
        """Raise ValueError unless the hypothesis predicts for raw rows what the candidate has stored."""
        hypothesis, indices = self._candidate.hypothesis(), self._problem.order[:ASKED_ROWS]
        rows = self._problem.X[indices]
        rows = rows.toarray() if hasattr(rows, "toarray") else np.ascontiguousarray(rows)
        expected = stored[: len(indices)]
        values = checked_values(hypothesis, predictions(hypothesis, rows, 1), expected.shape)
        far = float(np.abs(values - expected).max(initial=0.0))
        if far > VALUE_SLACK:
            raise ValueError(
                f"{type(hypothesis).__name__} predicts something else for the training rows than {self._who} has "
                f"returned with it: numbers differ by up to {far:g}. Predictions follow the engine's order of the "
                "rows, which is problem.X[problem.order]."
            )


def start_generator(generator: Generator, training: Training) -> Proposing:
    """Function that proposes hypotheses; for a user-defined generator it checks them before every induction."""
    propose: Any = generator.start(training)
    if _built_in(generator):
        return propose  # type: ignore[no-any-return]
    name = type(generator).__name__
    if not callable(propose):
        raise TypeError(
            f"{name}.start must return a function from members and residuals to hypotheses; got {propose!r}."
        )

    def checked(members: Sequence[Any], residual: FloatArray) -> list[Any]:
        return _hypotheses(f"What {name}.start returned", propose(members, residual))

    return checked


def last_proposals(generator: Generator, training: Training, residual: FloatArray) -> LastLook:
    """Last proposals of a generator, checked if it is user-defined."""
    last = generator.last_look(training, residual)
    if _built_in(generator):
        return last
    who = f"{type(generator).__name__}.last_look"
    if not isinstance(last, LastLook):
        raise TypeError(f"{who} must return a radboost.sparsity.LastLook; got {last!r}.")
    return LastLook(last.proposed, _hypotheses(who, last.hypotheses))


def _hypotheses(who: str, given: Any) -> list[Any]:
    hypotheses = _as_list(who, given, "hypotheses (objects with values(X) and a hash)")
    for hypothesis in hypotheses:
        if not callable(getattr(hypothesis, "values", None)):
            raise TypeError(
                f"{who} must return hypotheses, objects with the method values(X); among them is {hypothesis!r}."
            )
        try:
            hash(hypothesis)
        except TypeError as error:
            raise TypeError(
                f"{who} must return hypotheses with a hash, and {type(hypothesis).__name__} has none ({error}). A "
                "frozen dataclass with numbers and tuples in it has one."
            ) from None
    return hypotheses


def _as_list(who: str, given: Any, what: str) -> list[Any]:
    if given is None or isinstance(given, str | bytes):
        raise TypeError(f"{who} must return a list of {what}, [] where there are none; got {given!r}.")
    try:
        return list(given)
    except TypeError:
        raise TypeError(f"{who} must return a list of {what}; got {given!r}.") from None


def _number(who: str, name: str, given: Any) -> float:
    number = given.item() if isinstance(given, np.ndarray | np.generic) and given.ndim == 0 else given
    if isinstance(number, bool) or not isinstance(number, numbers.Real) or not math.isfinite(number):
        raise ValueError(f"{who} must return candidates whose {name} is a finite number; got {given!r}.")
    return float(number)


def _shown(array: npt.NDArray[Any]) -> str:
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        return f"an array of shape {array.shape} and type {array.dtype}"
    bad = array[~np.isfinite(array)] if not np.isfinite(array).all() else array
    return f"{len(array)} numbers from {bad.min():g} to {bad.max():g}" if len(bad) else "none"
