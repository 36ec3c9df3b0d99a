"""Evaluation of predicted probabilities: errors, log losses, and whether confidence is accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_BINS = 15  # of confidence
DRAWS = 20  # of labels from the predictions
SMALLEST = 1e-15  # probability in the log loss


@dataclass(frozen=True)
class Evaluation:
    """Test rows of one fit. The lists have an entry for each bin of confidence, so that fits can be pooled."""

    error: float
    seconds: float
    log_loss: float
    n_rows: list[int]
    confidence: list[float]  # summed up
    right: list[int]
    right_if_true: list[list[int]]  # of labels drawn from the predictions: DRAWS times


def evaluate(
    probabilities: NDArray[np.float64],
    classes: NDArray[Any],
    labels: NDArray[Any],
    predicted: NDArray[Any],
    seconds: float,
) -> Evaluation:
    """Compare predicted labels and probabilities with the labels; confidence is the largest probability."""
    ids = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    known = classes[ids] == labels  # a class without training rows has the probability 0
    own = np.where(known, probabilities[np.arange(len(ids)), ids], 0.0)
    best, confidence = probabilities.argmax(axis=1), np.clip(probabilities.max(axis=1), 0.0, 1.0)
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    rng = np.random.default_rng(0)

    def count(right: NDArray[np.bool_]) -> list[int]:
        return [int(n) for n in np.bincount(bins, right, N_BINS)]

    return Evaluation(
        error=float(np.mean(predicted != labels)),
        seconds=seconds,
        log_loss=float(-np.log(np.maximum(own, SMALLEST)).mean()),
        n_rows=np.bincount(bins, minlength=N_BINS).tolist(),
        confidence=np.bincount(bins, confidence, N_BINS).tolist(),
        right=count((best == ids) & known),
        right_if_true=[count(rng.random(len(ids)) < confidence) for _ in range(DRAWS)],
    )


def calibration_error(evaluations: Sequence[Evaluation]) -> tuple[float, float]:
    """Compute the expected calibration error of pooled rows, and its mean if the predictions were true."""
    confidence = np.sum([one.confidence for one in evaluations], axis=0)
    n = np.sum([one.n_rows for one in evaluations])

    def error(right: Any) -> float:
        return float(np.abs(confidence - right).sum() / n)

    chance = [error(np.sum([one.right_if_true[k] for one in evaluations], axis=0)) for k in range(DRAWS)]
    return error(np.sum([one.right for one in evaluations], axis=0)), float(np.mean(chance))


def mean_error(evaluations: Sequence[Evaluation]) -> float:
    """Average the test errors."""
    return float(np.mean([one.error for one in evaluations]))


def mean_log_loss(evaluations: Sequence[Evaluation]) -> float:
    """Average the log losses."""
    return float(np.mean([one.log_loss for one in evaluations]))


def beyond_chance(evaluations: Sequence[Evaluation]) -> float:
    """Subtract from the calibration error what true predictions would have."""
    measured, chance = calibration_error(evaluations)
    return measured - chance
