"""Measures of predictions, each with its interval and beside the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.report.figures import (
    Interval,
    Statistic,
    bootstrap,
    fraction_interval,
    gathered,
    groups_among,
    mean_of_sums,
    quotient,
)
from radboost.report.subject import UNKNOWN, Predictions, Subject

SMALLEST = 1e-12  # probability in a log loss
MOST_CLASSES = 50  # with more of them there is no macro-averaged area, and no interval of what is averaged over classes


@dataclass(frozen=True)
class Comparison:
    """Excess of the loss of other predictions over that of the model: positive where the model is better."""

    difference: float
    interval: Interval | None
    clear: bool  # whether chance alone is no explanation, on either side

    @property
    def better(self) -> bool:
        return self.clear and self.difference > 0.0

    @property
    def worse(self) -> bool:
        return self.clear and self.difference < 0.0


@dataclass(frozen=True)
class Measure:
    """A function of sums over the held-out rows."""

    name: str
    sums: Callable[[Predictions], FloatArray | None]  # a row for each row; None where it cannot be computed
    statistic: Statistic = mean_of_sums
    lower_is_better: bool = True
    interval: Callable[[Predictions], Interval | None] | None = None  # in place of resampling
    difference: Callable[[Predictions, Predictions], Interval | None] | None = None  # of the second to the first

    def value(self, given: Predictions | None) -> float | None:
        sums = None if given is None else self.sums(given)
        value = math.nan if sums is None else float(self.statistic(sums.sum(axis=0)))
        return value if math.isfinite(value) else None

    def interval_of(self, subject: Subject, given: Predictions) -> Interval | None:
        if self.interval is not None:
            return self.interval(given)
        sums = self.sums(given)
        if sums is None:
            return None
        limits = bootstrap(sums, self.statistic, subject.seed, subject.test.groups)
        return limits if limits is not None and limits[0] < limits[1] else None  # rows that are all alike say nothing

    def beside(self, subject: Subject, own: Predictions, other: Predictions) -> Comparison | None:
        """Compare the model with other predictions; None where one of the two has no value."""
        values, one, two = (self.value(own), self.value(other)), self.sums(own), self.sums(other)
        if values[0] is None or values[1] is None or one is None or two is None:
            return None
        sign, width = 1.0 if self.lower_is_better else -1.0, one.shape[1]
        if self.difference is not None:
            interval = self.difference(own, other)
        else:

            def differs(totals: FloatArray) -> FloatArray:
                return sign * (self.statistic(totals[..., width:]) - self.statistic(totals[..., :width]))

            interval = bootstrap(np.column_stack([one, two]), differs, subject.seed, subject.test.groups)
        clear = interval is not None and bool(interval[0] > 0.0 or interval[1] < 0.0)
        return Comparison(sign * (values[1] - values[0]), interval, clear)


@dataclass(frozen=True, eq=False)
class Score:
    """Value of the model by a measure, beside those of the baselines; each number is computed once, when it is read."""

    subject: Subject
    measure: Measure
    value: float

    @property
    def name(self) -> str:
        return self.measure.name

    @cached_property
    def interval(self) -> Interval | None:
        return self.measure.interval_of(self.subject, self.subject.own)

    @cached_property
    def constant(self) -> float | None:
        """Value of the best constant."""
        return self.measure.value(self.subject.baselines.constant)

    @cached_property
    def linear(self) -> float | None:
        """Value of the linear model; None where there is none."""
        return self.measure.value(self.subject.baselines.linear)

    @cached_property
    def over_constant(self) -> Comparison | None:
        """Comparison of the model with the best constant."""
        return self.measure.beside(self.subject, self.subject.own, self.subject.baselines.constant)

    @cached_property
    def over_linear(self) -> Comparison | None:
        """Comparison of the model with the linear model; None where there is none."""
        linear = self.subject.baselines.linear
        return None if linear is None else self.measure.beside(self.subject, self.subject.own, linear)


def scores_of(subject: Subject) -> dict[str, Score]:
    """Scores by the names of the measures that have a value, the one that decides first."""
    values = ((measure, measure.value(subject.own)) for measure in measures(subject))
    return {measure.name: Score(subject, measure, value) for measure, value in values if value is not None}


def measures(subject: Subject) -> list[Measure]:
    """Measures of such a target, the one that decides first."""
    if subject.classifies:
        return _of_classes(subject)
    return _of_numbers(subject) if subject.quantile is None else [_of_quantile(subject)]


def losses_by_row(subject: Subject, predicted: npt.NDArray[Any] | None = None) -> FloatArray:
    """Loss of each held-out row: 1 for a wrong label, the square of a residual, the loss of a quantile.

    `predicted` has class ids or numbers; None for those of the model.
    """
    if predicted is None:
        predicted = subject.own.predicted
    if subject.classifies:
        return np.asarray(predicted != subject.test.class_ids, dtype=np.float64)
    level, off = subject.quantile, subject.test.y - np.asarray(predicted, dtype=np.float64)
    return np.asarray(off**2 if level is None else np.maximum(level * off, (level - 1.0) * off))


def _of_classes(subject: Subject) -> list[Measure]:
    """Error, area under the ROC curve, balanced accuracy, precision, recall and F1, log loss; the mean cost first."""
    test, weights, ids = subject.test, subject.test.weight(), subject.test.class_ids

    def weighed(losses: FloatArray) -> FloatArray:
        return np.column_stack([weights * losses, weights])

    def wrong(given: Predictions) -> FloatArray:
        return losses_by_row(subject, given.predicted)

    def difference(own: Predictions, other: Predictions) -> Interval | None:
        return _exact_difference(wrong(other) - wrong(own), weights, test.groups)

    def interval(given: Predictions) -> Interval:
        return fraction_interval(wrong(given), test.weights, test.groups)[1]

    def cost(given: Predictions) -> FloatArray:
        """Cost of each prediction; the largest cost where the true class is unknown to the model."""
        matrix = cast(FloatArray, subject.cost)
        return np.asarray(np.where(ids == UNKNOWN, matrix.max(), matrix[np.maximum(ids, 0), given.predicted]))

    def interval_of_cost(given: Predictions) -> Interval | None:
        """Bootstrap interval; if no row costs anything, the limit of the error times the highest cost."""
        if not cost(given).any():
            return 0.0, float(cast(FloatArray, subject.cost).max()) * interval(given)[1]
        return bootstrap(weighed(cost(given)), mean_of_sums, subject.seed, test.groups)

    def log_loss(given: Predictions) -> FloatArray | None:
        if given.probabilities is None:
            return None
        own = np.where(ids == UNKNOWN, 0.0, given.probabilities[np.arange(len(ids)), np.maximum(ids, 0)])
        return weighed(-np.log(np.maximum(own, SMALLEST)))

    error = Measure("error", lambda given: weighed(wrong(given)), interval=interval, difference=difference)
    area = Measure("AUC", lambda given: _area(subject, given), _area_of_sums, lower_is_better=False)
    if subject.cost is None:
        return [error, area, *_by_class(subject), Measure("log loss", log_loss)]
    # With costs the model has a policy, and no probabilities.
    mean_cost = Measure("mean cost", lambda given: weighed(cost(given)), interval=interval_of_cost)
    return [mean_cost, error, area, *_by_class(subject)]


def _exact_difference(difference: FloatArray, weights: FloatArray, groups: Any) -> Interval | None:
    """Interval of a difference of errors, from the rows of which only one of two predictions is right."""
    # For rows that count alike the limits of that fraction are exact (McNemar's test); else as in `fraction_interval`.
    sums = gathered(np.column_stack([weights * difference, weights]), groups)
    apart = sums[sums[:, 0] != 0.0, 0]
    if not len(apart):
        return None
    (low, high), scale = fraction_interval(apart > 0.0, np.abs(apart))[1], float(np.abs(apart).sum() / sums[:, 1].sum())
    return (2.0 * low - 1.0) * scale, (2.0 * high - 1.0) * scale


def rare_class(subject: Subject) -> int:
    """Id of the one of two classes with less weight among the held-out rows; 1 where both have the same."""
    ids, weights = subject.test.class_ids, subject.test.weight()
    return int(weights[ids == 0].sum() < weights[ids == 1].sum()) ^ 1


def _by_class(subject: Subject) -> list[Measure]:
    """Balanced accuracy; precision, recall and F1 of the rare one of two classes, or their means over the classes."""
    test, weights, n_classes = subject.test, subject.test.weight(), len(subject.classes)
    truth = np.where(test.class_ids == UNKNOWN, n_classes, test.class_ids)  # a class that is never predicted
    n = n_classes + int((truth == n_classes).any())
    rare = rare_class(subject) if n_classes == 2 else None

    def sums(given: Predictions) -> FloatArray:
        """Weights of right rows, of all rows, and of the rows predicted so, of each class."""
        true, predicted = truth[:, None] == np.arange(n), given.predicted[:, None] == np.arange(n)
        return np.concatenate([weights[:, None] * one for one in (true & predicted, true, predicted)], axis=1)

    def rates(name: str, totals: FloatArray) -> FloatArray:
        right, true, predicted = np.moveaxis(totals.reshape(*totals.shape[:-1], 3, n), -2, 0)
        if name == "F1":
            return quotient(2.0 * right, true + predicted)
        return quotient(right, predicted if name == "precision" else true)

    def balanced(totals: FloatArray) -> FloatArray:
        recalls = rates("recall", totals)
        return quotient(np.nansum(recalls, axis=-1), np.sum(~np.isnan(recalls), axis=-1))

    def summary(name: str, totals: FloatArray) -> FloatArray:
        if rare is not None:
            return rates(name, totals)[..., rare]
        there = totals[..., n : n + n_classes] > 0.0
        return quotient(
            np.sum(np.nan_to_num(rates(name, totals)[..., :n_classes]) * there, axis=-1), there.sum(axis=-1)
        )

    def fraction(rows: npt.NDArray[np.bool_], hits: npt.NDArray[np.bool_]) -> Interval | None:
        own_weights = None if test.weights is None else weights[rows]
        return fraction_interval(hits[rows], own_weights, groups_among(test.groups, rows))[1]

    intervals: dict[str, Callable[[Predictions], Interval | None] | None] = {}
    if n > MOST_CLASSES:
        intervals = dict.fromkeys(("balanced accuracy", "precision", "recall", "F1"), lambda given: None)
    elif rare is not None:
        intervals["precision"] = lambda given: fraction(given.predicted == rare, truth == rare)
        intervals["recall"] = lambda given: fraction(truth == rare, given.predicted == rare)
    statistics: dict[str, Statistic] = {"balanced accuracy": balanced}
    statistics |= {name: partial(summary, name) for name in ("precision", "recall", "F1")}
    return [Measure(name, sums, one, False, intervals.get(name)) for name, one in statistics.items()]


def _of_numbers(subject: Subject) -> list[Measure]:
    """RMSE, MAE and R squared."""
    weights, y = subject.test.weight(), np.asarray(subject.test.y, dtype=np.float64)
    middle = float(np.average(y, weights=weights))

    def sums(given: Predictions) -> FloatArray:
        off = y - given.predicted
        return np.column_stack(
            [weights, weights * off**2, weights * np.abs(off), weights * (y - middle), weights * (y - middle) ** 2]
        )

    return [
        Measure("RMSE", sums, lambda totals: np.sqrt(quotient(totals[..., 1], totals[..., 0]))),
        Measure("MAE", sums, lambda totals: quotient(totals[..., 2], totals[..., 0])),
        Measure("R squared", sums, _r_squared, lower_is_better=False),
    ]


def _of_quantile(subject: Subject) -> Measure:
    weights = subject.test.weight()
    return Measure(
        "quantile loss",
        lambda given: np.column_stack([weights * losses_by_row(subject, given.predicted), weights]),
    )


def _r_squared(totals: FloatArray) -> FloatArray:
    spread = totals[..., 4] - quotient(totals[..., 3] ** 2, totals[..., 0])
    return 1.0 - quotient(totals[..., 1], spread)


def _area(subject: Subject, given: Predictions) -> FloatArray | None:
    """Area under the ROC curve: for each row what it moves the area by, the area, and 1; None if a class is absent."""
    # Of more than two classes the mean of the areas of each class against the others. DeLong, DeLong and
    # Clarke-Pearson, 1988: each row is in order with a fraction of the rows of the other class. The variance of the
    # area is that of these fractions.
    n_classes, ids = len(subject.classes), subject.test.class_ids
    if given.probabilities is None or n_classes > MOST_CLASSES:
        return None
    weights, areas, moves = subject.test.weight(), [], np.zeros(len(ids))
    classes = [1] if n_classes == 2 else range(n_classes)
    for index in classes:
        scores, sides = given.probabilities[:, index], (ids == index, (ids != index) & (ids != UNKNOWN))
        if not sides[0].any() or not sides[1].any():
            return None
        for own, other in (sides, sides[::-1]):
            in_order = _fraction_below(scores[other], weights[other], scores[own])
            in_order = in_order if own is sides[0] else 1.0 - in_order
            area, n = float(np.average(in_order, weights=weights[own])), int(own.sum())
            alone = math.sqrt(n / (n - 1)) if n > 1 else math.nan  # one row does not say how much it varies
            moves[own] += alone * weights[own] / weights[own].sum() * (in_order - area) / len(classes)
        areas.append(area)
    return np.column_stack([moves, np.full(len(ids), float(np.mean(areas))), np.ones(len(ids))])


def _area_of_sums(totals: FloatArray) -> FloatArray:
    return np.clip(np.nan_to_num(totals[..., 0]) + quotient(totals[..., 1], totals[..., 2]), 0.0, 1.0)


def _fraction_below(values: FloatArray, weights: FloatArray, asked: FloatArray) -> FloatArray:
    """Fraction of the weight of values below each number that is asked for; equal values count half."""
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    low, high = (np.searchsorted(values[order], asked, side) for side in ("left", "right"))
    return np.asarray(0.5 * (total[low] + total[high]) / total[-1])
