"""Minimization of (6.1), Storcheus (2021): L-BFGS on all sequences, or stochastic gradient descent on batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from radboost._validation import free_memory
from radboost.structured.automata import LossCache, loss_source
from radboost.structured.chains import ChainShape
from radboost.structured.gradient import GradientTerms, gradient_terms_batch, substring_numbers
from radboost.structured.losses import StringLoss

AT_A_TIME = 64  # sequences whose gradient terms are in memory
LARGEST_WEIGHT = 1e100  # of a chain: larger scores have no significant digits

Report = Callable[[NDArray[np.float64]], None]


class SequenceObjective:
    """F of (6.1) over weighted sequences, less L(y_i, y_i), with half the squared norm of the weights times `alpha`.

    The mean of log Z_i - score(y_i) - L(y_i, y_i) bounds the loss of the highest scoring string less that of the true
    one: Z_i has the term of the highest scoring string.
    """

    def __init__(
        self,
        shape: ChainShape,
        features: list[Any],
        targets: list[NDArray[np.int32]],
        parts: NDArray[np.float64],
        *,
        loss: StringLoss,
        alpha: float,
        max_states: int,
        threshold: float | None,
        n_jobs: int,
        numbers: list[int] | None = None,
    ) -> None:
        self.shape, self.features, self.targets, self.parts = shape, features, targets, parts
        self.loss, self.alpha, self.n_jobs = loss, alpha, n_jobs
        self.max_states, self.threshold = max_states, threshold  # of the automata of losses (`gradient_terms`)
        self.numbers = list(range(len(targets))) if numbers is None else numbers  # names of the sequences in errors
        # The automata of all sequences, until the end of the fit; those that do not fit are made again in each round.
        self.cache = LossCache(int(0.5 * free_memory()))
        self._last: tuple[bytes, float] = (b"", 0.0)
        self._own = [float(loss_source(loss, y, shape.alphabet_size).loss(y)) for y in targets]

    @property
    def n_sequences(self) -> int:
        return len(self.targets)

    def terms(
        self, weights: NDArray[np.float64], chosen: Sequence[int], certify: bool = False
    ) -> Iterator[tuple[int, NDArray[np.float64], GradientTerms]]:
        """Scores and gradient terms of some sequences, a few at a time: four numbers for each score are large."""
        for first in range(0, len(chosen), AT_A_TIME):
            part = chosen[first : first + AT_A_TIME]
            scores = [self.shape.potentials(weights, self.features[k]) for k in part]
            terms = gradient_terms_batch(
                self.loss,
                [self.targets[k] for k in part],
                scores,
                order=self.shape.order,
                max_states=self.max_states,
                threshold=self.threshold,
                cache=self.cache,
                n_jobs=self.n_jobs,
                certify=certify,
                numbers=[self.numbers[k] for k in part],
            )
            yield from zip(part, scores, terms, strict=True)

    def certificates(self, weights: NDArray[np.float64]) -> tuple[list[bool], list[float]]:
        """Exactness of the losses of each sequence, and the largest errors of log Z."""
        terms = [one for _, _, one in self.terms(weights, range(self.n_sequences), True)]
        return [one.exact for one in terms], [one.log_z_error for one in terms]

    def value(self, weights: NDArray[np.float64]) -> float:
        """F, which is mostly known from the last step."""
        key, value = self._last
        return value if key == weights.tobytes() else self.value_and_gradient(weights)[0]

    def value_and_gradient(
        self, weights: NDArray[np.float64], chosen: Sequence[int] | None = None
    ) -> tuple[float, NDArray[np.float64]]:
        """Value and gradient on all sequences, or their estimate by some that were drawn with equal probabilities."""
        drawn = range(self.n_sequences) if chosen is None else chosen
        value, gradient = 0.5 * self.alpha * float(weights @ weights), self.alpha * weights
        for k, scores, terms in self.terms(weights, drawn):
            part, true = self.parts[k] * self.n_sequences / len(drawn), self.targets[k]
            entries = np.arange(len(true)), substring_numbers(true, self.shape.alphabet_size, self.shape.order)
            difference = terms.q.copy()
            difference[entries] -= 1.0
            value += part * (terms.log_z - float(scores[entries].sum()) - self._own[k])
            gradient = gradient + part * self.shape.gradient(difference, self.features[k])
        if chosen is None:
            self._last = (weights.tobytes(), value)
        return value, gradient


def by_lbfgs(
    objective: SequenceObjective, n_rounds: int, tol: float, report: Report
) -> tuple[NDArray[np.float64], str]:
    """Weights, and the reason to stop. No round raises F."""
    start = np.zeros(objective.shape.n_weights)
    result = minimize(
        objective.value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": n_rounds, "gtol": tol, "ftol": 0.0},
    )
    if result.status == 1:
        return result.x, "n_rounds"
    return result.x, "tol" if np.abs(result.jac).max() <= tol else "no_progress"


def by_descent(
    objective: SequenceObjective,
    n_rounds: int,
    *,
    batch_size: int,
    learning_rate: float,
    rng: np.random.Generator,
    report: Report,
) -> tuple[NDArray[np.float64], str]:
    """Steps of learning_rate / sqrt(t) on `batch_size` sequences; rounds are passes over all of them.

    The weights are the mean over the second half of the steps.
    """
    weights = np.zeros(objective.shape.n_weights)
    mean = np.zeros_like(weights)
    n_steps = n_rounds * -(-objective.n_sequences // batch_size)
    done = averaged = 0
    for _ in range(n_rounds):
        order = rng.permutation(objective.n_sequences)
        for first in range(0, len(order), batch_size):
            done += 1
            with np.errstate(over="ignore", invalid="ignore"):
                _, gradient = objective.value_and_gradient(weights, order[first : first + batch_size].tolist())
                weights = weights - learning_rate / np.sqrt(done) * gradient
            if not np.abs(weights).max() < LARGEST_WEIGHT:
                raise ValueError(
                    f"The weights grow without bound: after {done} steps the largest is {np.abs(weights).max():.1e}. "
                    f"Lower learning_rate={learning_rate}."
                )
            if 2 * done > n_steps:
                averaged += 1
                mean += (weights - mean) / averaged
        report(mean if averaged else weights)
    return mean, "n_rounds"
