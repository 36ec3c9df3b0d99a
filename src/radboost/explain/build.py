"""Explanations of one row, from the contributions of its features or from the terms of a formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.ensemble import Ensemble, SparseEnsemble
from radboost.explain.explanation import Contribution, Explanation
from radboost.explain.paths import company, questions_on_paths
from radboost.explain.row import UNSEEN, GivenRow, remark_on
from radboost.families.columns import Column, name_of
from radboost.families.kinds import kind_of

MOST_REMARKS = 5  # on the columns of a row


@dataclass(frozen=True)
class RowPrediction:
    """Prediction for a row, and the combination of outputs behind it: predicted class minus runner-up."""

    answer: Any
    runner_up: Any
    direction: FloatArray
    score: float
    probability: float | None = None
    target: int | None = None  # column of y; None: there is one target


def prediction_of_class(scores: FloatArray, classes: Sequence[Any], probabilities: FloatArray | None) -> RowPrediction:
    """Predicted class; of equal scores the first class wins, as in `predict`."""
    columns = scores if len(scores) > 1 else np.array([0.0, scores[0]])  # one score: the lead of the second class
    best, other = np.argsort(-columns, kind="stable")[:2].tolist()
    direction = np.zeros(len(columns))
    direction[best], direction[other] = 1.0, -1.0
    score = float(columns[best] - columns[other])
    chance = None if probabilities is None else float(probabilities[best])
    runner_up = classes[other] if other < len(classes) else None  # none with one class
    return RowPrediction(classes[best], runner_up, direction[-len(scores) :], score, chance)


def prediction_of_task(
    score: FloatArray, labels: Sequence[Any], probabilities: FloatArray, task: int, n_tasks: int
) -> RowPrediction:
    """Predicted label of one of several tasks with two labels each."""
    alone = prediction_of_class(score, labels, probabilities)
    direction = np.zeros(n_tasks)
    direction[task] = alone.direction[0]
    return replace(alone, direction=direction, target=task if n_tasks > 1 else None)


def prediction_of_number(scores: FloatArray, predictions: FloatArray, target: int = 0) -> RowPrediction:
    """Prediction of a regressor, for one of its targets."""
    direction = (np.arange(len(scores)) == target).astype(np.float64)
    among = target if len(scores) > 1 else None
    return RowPrediction(float(predictions[target]), None, direction, float(scores[target]), target=among)


def explained_by_trees(
    ensemble: Ensemble,
    row: GivenRow,
    matrix: FloatArray,
    prediction: RowPrediction,
    contributions: FloatArray,
    leaves: npt.NDArray[Any],
    *,
    covers_are_rows: bool,
) -> Explanation:
    """Explanation by Shapley values; `contributions`: shape (n_outputs, n_features + 1), the base last.

    `leaves`: node that the row reaches in each tree. `covers_are_rows`: the covers of leaves are weights of training
    rows.
    """
    effects = prediction.direction @ contributions
    used = np.flatnonzero(effects[:-1]).tolist()
    parts = [
        Contribution(
            name_of(column, ensemble.feature_names),
            column,
            row.value(column),
            float(effects[column]),
            remark=remark_on(row, column, matrix, ensemble.categories),
        )
        for column in used
    ]
    known = ensemble.hypotheses, ensemble.weights, leaves, ensemble.sample_size
    alike = company(*known) if covers_are_rows else None
    return Explanation(
        answer=prediction.answer,
        runner_up=prediction.runner_up,
        score=prediction.score,
        base=float(effects[-1]),
        contributions=_sorted(parts),
        questions=questions_on_paths(
            ensemble.hypotheses, ensemble.weights, leaves, prediction.direction, matrix, ensemble.names
        ),
        probability=prediction.probability,
        margin=None if prediction.runner_up is None else _margin(ensemble, prediction.score),
        alike=None if alike is None else alike[0],
        fewest_alike=None if alike is None else alike[1],
        sample_size=ensemble.sample_size,
        remarks=tuple(_remarks(ensemble, row, matrix)),
        target=prediction.target,
    )


def explained_by_terms(ensemble: SparseEnsemble, X: Any, prediction: RowPrediction) -> Explanation:
    """Explanation by the terms of the formula, each its coefficient times its value; X has one row."""
    coefficients = ensemble.weights @ prediction.direction
    parts = []
    for hypothesis, coefficient in zip(ensemble.hypotheses, coefficients.tolist(), strict=True):
        if coefficient == 0.0:
            continue
        kind = kind_of(hypothesis)
        value = float(kind.values([hypothesis], X)[0, 0])
        if value == 0.0:
            continue
        column = hypothesis.feature if isinstance(hypothesis, Column) else None
        name = kind.term(hypothesis, ensemble.feature_names)
        parts.append(Contribution(name, column, value, coefficient * value, coefficient))
    return Explanation(
        answer=prediction.answer,
        runner_up=prediction.runner_up,
        score=prediction.score,
        base=float(ensemble.intercept @ prediction.direction),
        contributions=_sorted(parts),
        probability=prediction.probability,
        target=prediction.target,
    )


def _sorted(parts: Iterable[Contribution]) -> tuple[Contribution, ...]:
    """Contributions sorted by size, largest first; ties by column."""
    return tuple(sorted(parts, key=lambda one: -abs(one.effect)))


def _margin(ensemble: Ensemble, score: float) -> float:
    """Margin as in guarantees.margins: Cortes et al. (2014), section 2; Kuznetsov et al. (2014), equation (1)."""
    total = float(np.abs(ensemble.weights).sum()) * ensemble.spread
    return min(1.0, score / total) if total > 0.0 else 0.0


def _remarks(ensemble: Ensemble, row: GivenRow, matrix: FloatArray) -> Iterable[str]:
    """Remarks on the columns that the model uses."""
    used = sorted({column for tree in ensemble.hypotheses for column in tree.columns or ()})
    noted = [(column, remark_on(row, column, matrix, ensemble.categories)) for column in used]
    unknown = [column for column, remark in noted if remark == UNSEEN]
    missing = [name_of(column, ensemble.feature_names) for column, remark in noted if remark and remark != UNSEEN]
    for column in unknown[:MOST_REMARKS]:
        name = name_of(column, ensemble.feature_names)
        yield f"{name} = {row.value(column)!r} is a category that the model does not know; it counts as missing."
    if len(unknown) > MOST_REMARKS:
        yield f"{len(unknown) - MOST_REMARKS} more columns have categories that the model does not know."
    if missing:
        more = f" and {len(missing) - MOST_REMARKS} more" if len(missing) > MOST_REMARKS else ""
        way = "At each question a missing value goes the way that training chose."
        yield f"Missing: {', '.join(missing[:MOST_REMARKS])}{more}. {way}"
