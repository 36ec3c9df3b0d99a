"""How good answers are: the measures of the verdict, each with its interval and beside the baselines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from radboost._typing import FloatArray
from radboost.guarantees.holdout import exact_interval
from radboost.report.baselines import Baselines
from radboost.report.figures import Interval, bootstrap, mean_of_sums, share_interval
from radboost.report.subject import UNKNOWN, Subject

SMALLEST = 1e-12  # probability in a log loss
LEVEL = 0.05


@dataclass(frozen=True)
class Score:
    """A measure of the model and of the baselines; None where one has no value."""

    name: str
    value: float
    interval: Interval | None
    constant: float | None
    linear: float | None
    lower_is_better: bool = True


@dataclass(frozen=True)
class Comparison:
    """How far the loss of another answer is above that of the model: positive where the model is better."""

    difference: float
    interval: Interval | None
    clear: bool  # whether chance alone is no explanation, on either side

    @property
    def better(self) -> bool:
        return self.clear and self.difference > 0.0

    @property
    def worse(self) -> bool:
        return self.clear and self.difference < 0.0


def costs(subject: Subject, answers: npt.NDArray[Any]) -> FloatArray:
    """What answers cost; those to a class that the model does not know as much as any mistake may."""
    assert subject.cost is not None
    ids = subject.test.class_ids
    return np.asarray(np.where(ids == UNKNOWN, subject.cost.max(), subject.cost[np.maximum(ids, 0), answers]))


def row_losses(subject: Subject, answers: npt.NDArray[np.generic]) -> FloatArray:
    """What each held-out row costs: 1 for a wrong label, the square of a residual, the loss of a quantile."""
    if subject.classifies:
        return np.asarray(answers != subject.test.class_ids, dtype=np.float64)
    return number_losses(subject, np.asarray(answers, dtype=np.float64))


def number_losses(subject: Subject, answers: FloatArray) -> FloatArray:
    below = np.asarray(subject.test.y - answers)
    if subject.quantile is None:
        return np.asarray(below**2)
    return np.maximum(subject.quantile * below, (subject.quantile - 1.0) * below)


def own_losses(subject: Subject) -> FloatArray:
    if subject.classifies:
        return subject.wrong.astype(np.float64)
    return number_losses(subject, np.asarray(subject.predicted, dtype=np.float64))


def compare(subject: Subject, answers: npt.NDArray[np.generic]) -> Comparison:
    """The model beside other answers for the same rows.

    "Clear" is an interval of the difference that leaves out 0: with classes the exact one given how many rows only one
    of the two gets right (McNemar), else and with weights by resampling rows.
    """
    if subject.cost is None:
        own, other = own_losses(subject), row_losses(subject, answers)
    else:
        own, other = costs(subject, subject.answer_ids), costs(subject, answers)
    weights = subject.test.weight()
    sums = np.column_stack([weights * (other - own), weights])
    difference = float(sums[:, 0].sum() / sums[:, 1].sum())
    if subject.classifies and subject.cost is None and subject.test.weights is None:
        interval = _exact_difference(int((other > own).sum()), int((own > other).sum()), len(own))
    else:
        interval = bootstrap(sums, mean_of_sums, subject.seed)
    clear = interval is not None and bool(interval[0] > 0.0 or interval[1] < 0.0)
    return Comparison(difference, interval, clear)


def _exact_difference(better: int, worse: int, n_rows: int) -> Interval | None:
    """Of shares of wrong answers: limits of the share of `better` among rows that tell the answers apart, scaled."""
    if not better + worse:
        return None
    low, high = exact_interval(better, better + worse, LEVEL)
    scale = (better + worse) / n_rows
    return (2.0 * low - 1.0) * scale, (2.0 * high - 1.0) * scale


def class_scores(subject: Subject, found: Baselines) -> list[Score]:
    """Error, log loss, and with two classes the area under the ROC curve; the mean cost first where there is one."""
    weights = subject.test.weight()

    def error(answers: npt.NDArray[np.generic] | None) -> float | None:
        return None if answers is None else float(np.average(row_losses(subject, answers), weights=weights))

    value, interval = share_interval(subject.wrong, subject.test.weights)
    scores = [Score("error", value, interval, error(found.constant), error(found.linear))]
    if subject.cost is not None:
        scores.insert(0, _mean_cost(subject, found))
    if len(subject.classes) > 2:
        scores.append(Score("balanced error", *_balanced(subject, found)))
    if subject.probabilities is None:
        return scores
    if subject.cost is None:  # with costs the model has a policy, and no probabilities
        constant, other = (None if one is None else _log_loss(subject, one)[0] for one in _chances(found))
        scores.append(Score("log loss", *_log_loss(subject, subject.probabilities), constant, other))
    if len(subject.classes) == 2:
        area = roc_area(subject, subject.probabilities[:, 1])
        if area is not None:
            linear = None if found.linear_probabilities is None else roc_area(subject, found.linear_probabilities[:, 1])
            beside = None if linear is None else linear[0]
            scores.append(Score("area under ROC", area[0], area[1], 0.5, beside, lower_is_better=False))
    return scores


def _mean_cost(subject: Subject, found: Baselines) -> Score:
    assert subject.cost is not None
    weights = subject.test.weight()
    own = costs(subject, subject.answer_ids)
    beside = [
        None if one is None else float(np.average(costs(subject, one), weights=weights))
        for one in (found.constant, found.linear)
    ]
    interval = cost_interval(own, subject.test.weights, float(subject.cost.max()), subject.seed)
    return Score("mean cost", float(np.average(own, weights=weights)), interval, beside[0], beside[1])


def cost_interval(own: FloatArray, weights: FloatArray | None, highest: float, seed: int) -> Interval | None:
    """Of the mean of costs, by resampling; where no row costs anything, as far up as its share of rows that do may be.

    The mean cost is at most the highest one times the probability of any.
    """
    if not own.any():
        return 0.0, highest * share_interval(own, weights)[1][1]
    counted = np.ones(len(own)) if weights is None else weights
    return bootstrap(np.column_stack([counted * own, counted]), mean_of_sums, seed)


def number_scores(subject: Subject, found: Baselines) -> list[Score]:
    """RMSE, MAE and R squared; of a quantile regression its own loss and the share of rows below the answers."""
    if subject.quantile is not None:
        return _quantile_scores(subject, found)
    weights, y = subject.test.weight(), np.asarray(subject.test.y, dtype=np.float64)
    middle = float(np.average(y, weights=weights))

    def sums(answers: FloatArray) -> FloatArray:
        off = y - answers
        return np.column_stack(
            [weights, weights * off**2, weights * np.abs(off), weights * (y - middle), weights * (y - middle) ** 2]
        )

    measures = {"RMSE": _rmse, "MAE": _mae, "R squared": _r_squared}
    own = sums(np.asarray(subject.predicted, dtype=np.float64))
    beside = [None if one is None else sums(one).sum(axis=0) for one in (found.constant, found.linear)]
    scores = []
    for name, measure in measures.items():
        value = measure(own.sum(axis=0))
        if not math.isfinite(value):
            continue
        constant, linear = (None if one is None else measure(one) for one in beside)
        interval = bootstrap(own, measure, subject.seed)
        scores.append(Score(name, value, interval, constant, linear, lower_is_better=name != "R squared"))
    return scores


def _quantile_scores(subject: Subject, found: Baselines) -> list[Score]:
    weights = subject.test.weight()

    def mean(answers: FloatArray | None) -> float | None:
        return None if answers is None else float(np.average(number_losses(subject, answers), weights=weights))

    own = number_losses(subject, np.asarray(subject.predicted, dtype=np.float64))
    sums = np.column_stack([weights * own, weights])
    interval = bootstrap(sums, mean_of_sums, subject.seed)
    value = float(np.average(own, weights=weights))
    return [Score("quantile loss", value, interval, mean(found.constant), mean(found.linear))]


def _rmse(line: FloatArray) -> float:
    return math.sqrt(line[1] / line[0]) if line[0] > 0.0 else math.nan


def _mae(line: FloatArray) -> float:
    return float(line[2] / line[0]) if line[0] > 0.0 else math.nan


def _r_squared(line: FloatArray) -> float:
    spread = line[4] - line[3] ** 2 / line[0] if line[0] > 0.0 else 0.0
    return float(1.0 - line[1] / spread) if spread > 0.0 else math.nan


def _chances(found: Baselines) -> tuple[FloatArray | None, FloatArray | None]:
    return found.constant_probabilities, found.linear_probabilities


def _log_loss(subject: Subject, probabilities: FloatArray) -> tuple[float, Interval | None]:
    ids = subject.test.class_ids
    own = np.where(ids == UNKNOWN, 0.0, probabilities[np.arange(len(ids)), np.maximum(ids, 0)])
    losses = -np.log(np.maximum(own, SMALLEST))
    weights = subject.test.weight()
    sums = np.column_stack([weights * losses, weights])
    interval = bootstrap(sums, mean_of_sums, subject.seed)
    return float(np.average(losses, weights=weights)), interval


def _balanced(subject: Subject, found: Baselines) -> tuple[float, Interval | None, float | None, float | None]:
    """The mean over the classes that are there of their errors."""
    weights, ids = subject.test.weight(), subject.test.class_ids
    present = np.unique(ids)

    def of(losses: FloatArray) -> float:
        return float(np.mean([np.average(losses[ids == one], weights=weights[ids == one]) for one in present]))

    others = [None if one is None else of(row_losses(subject, one)) for one in (found.constant, found.linear)]
    return of(own_losses(subject)), None, others[0], others[1]


def roc_area(subject: Subject, scores: FloatArray) -> tuple[float, Interval | None] | None:
    """The area under the ROC curve of the second class, with DeLong's interval; None where a class is not there.

    DeLong, DeLong and Clarke-Pearson, 1988: each row of one class has a share of the other that it is in order with,
    and the area varies by the variances of these shares. With weights there is no interval.
    """
    ids = subject.test.class_ids
    positive, negative = scores[ids == 1], scores[ids == 0]
    m, n = len(positive), len(negative)
    if not m or not n:
        return None
    if subject.test.weights is not None:
        return _weighted_area(subject, scores), None
    every = rankdata(np.concatenate([positive, negative]))
    above = (every[:m] - rankdata(positive)) / n
    below = 1.0 - (every[m:] - rankdata(negative)) / m
    area = float(above.mean())
    if m < 2 or n < 2:
        return area, None
    spread = math.sqrt(float(above.var(ddof=1)) / m + float(below.var(ddof=1)) / n)
    return area, (max(0.0, area - 1.96 * spread), min(1.0, area + 1.96 * spread))


def _weighted_area(subject: Subject, scores: FloatArray) -> float:
    from sklearn.metrics import roc_auc_score

    known = subject.test.class_ids != UNKNOWN
    found = roc_auc_score(subject.test.class_ids[known] == 1, scores[known], sample_weight=subject.test.weight()[known])
    return float(found)
