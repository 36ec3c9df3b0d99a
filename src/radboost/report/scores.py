"""How good answers are: the measures of the verdict, each with its interval and beside the baselines."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.report.baselines import Baselines
from radboost.report.figures import Interval, bootstrap, gathered, mean_of_sums, share_interval
from radboost.report.subject import UNKNOWN, Subject

SMALLEST = 1e-12  # probability in a log loss
MOST_CLASSES = 50  # with more of them there is no macro-averaged area, and no interval of what is averaged over classes


class Answers(NamedTuple):
    """What a model or a baseline answers: places of classes or numbers, and probabilities where it has them."""

    predicted: npt.NDArray[Any]
    probabilities: FloatArray | None = None


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
    """How far other answers are worse than those of the model: positive where the model is better."""

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
    sums: Callable[[Answers], FloatArray | None]  # a line for each row; None where the answers do not say it
    statistic: Callable[[FloatArray], float] = mean_of_sums
    lower_is_better: bool = True
    interval: Callable[[Answers], Interval | None] | None = None  # in place of resampling
    difference: Callable[[Answers, Answers], Interval | None] | None = None  # of the second to the first

    def value(self, answers: Answers | None) -> float | None:
        sums = None if answers is None else self.sums(answers)
        found = math.nan if sums is None else self.statistic(sums.sum(axis=0))
        return found if math.isfinite(found) else None

    def interval_of(self, subject: Subject, answers: Answers) -> Interval | None:
        if self.interval is not None:
            return self.interval(answers)
        sums = self.sums(answers)
        if sums is None:
            return None
        found = bootstrap(sums, self.statistic, subject.seed, subject.test.groups)
        return found if found is not None and found[0] < found[1] else None  # rows that are all alike say nothing

    def beside(self, subject: Subject, own: Answers, other: Answers) -> Comparison | None:
        """The model beside other answers; None where one of the two has no value."""
        values, one, two = (self.value(own), self.value(other)), self.sums(own), self.sums(other)
        if values[0] is None or values[1] is None or one is None or two is None:
            return None
        sign, width = 1.0 if self.lower_is_better else -1.0, one.shape[1]
        if self.difference is not None:
            interval = self.difference(own, other)
        else:

            def differs(line: FloatArray) -> float:
                return sign * (self.statistic(line[width:]) - self.statistic(line[:width]))

            interval = bootstrap(np.column_stack([one, two]), differs, subject.seed, subject.test.groups)
        clear = interval is not None and bool(interval[0] > 0.0 or interval[1] < 0.0)
        return Comparison(sign * (values[1] - values[0]), interval, clear)


def answers_of(subject: Subject) -> Answers:
    """Those of the model."""
    return Answers(subject.answer_ids if subject.classifies else subject.predicted, subject.probabilities)


def linear_answers(found: Baselines) -> Answers | None:
    """Those of the linear model."""
    return None if found.linear is None else Answers(found.linear, found.linear_probabilities)


def scores_of(subject: Subject, found: Baselines) -> list[Score]:
    """All measures, the one that decides first."""
    own, linear = answers_of(subject), linear_answers(found)
    constant = Answers(found.constant, found.constant_probabilities)
    scores = []
    for measure in measures(subject):
        value = measure.value(own)
        if value is not None:
            interval, beside = measure.interval_of(subject, own), (measure.value(constant), measure.value(linear))
            scores.append(Score(measure.name, value, interval, *beside, measure.lower_is_better))
    return scores


def measures(subject: Subject) -> list[Measure]:
    """Those that say something of such a target, the one that decides first."""
    if subject.classifies:
        return _of_classes(subject)
    return _of_numbers(subject) if subject.quantile is None else [_of_quantile(subject)]


def costs(subject: Subject, answers: npt.NDArray[Any]) -> FloatArray:
    """What answers cost; those to a class that the model does not know as much as any mistake may."""
    assert subject.cost is not None
    ids = subject.test.class_ids
    return np.asarray(np.where(ids == UNKNOWN, subject.cost.max(), subject.cost[np.maximum(ids, 0), answers]))


def row_losses(subject: Subject, answers: npt.NDArray[np.generic]) -> FloatArray:
    """What each held-out row costs: 1 for a wrong label, the square of a residual, the loss of a quantile."""
    if subject.classifies:
        return np.asarray(answers != subject.test.class_ids, dtype=np.float64)
    below = np.asarray(subject.test.y - np.asarray(answers, dtype=np.float64))
    if subject.quantile is None:
        return np.asarray(below**2)
    return np.maximum(subject.quantile * below, (subject.quantile - 1.0) * below)


def own_losses(subject: Subject) -> FloatArray:
    return row_losses(subject, answers_of(subject).predicted)


def _of_classes(subject: Subject) -> list[Measure]:
    """Error, area under the ROC curve, balanced accuracy, precision, recall and F1, log loss; the mean cost first."""
    test, weights = subject.test, subject.test.weight()

    def weighed(losses: FloatArray) -> FloatArray:
        return np.column_stack([weights * losses, weights])

    def wrong(answers: Answers) -> FloatArray:
        return row_losses(subject, answers.predicted)

    def cost(answers: Answers) -> FloatArray:
        return costs(subject, answers.predicted)

    found = [
        Measure(
            "error",
            lambda answers: weighed(wrong(answers)),
            interval=lambda answers: share_interval(wrong(answers), test.weights, test.groups)[1],
            difference=lambda own, other: _exact_difference(wrong(other) - wrong(own), weights, test.groups),
        )
    ]
    if subject.cost is not None:
        highest = float(subject.cost.max())

        def of_cost(answers: Answers) -> Interval | None:
            """Where no row costs anything, as far up as the share of rows that do may be."""
            if not cost(answers).any():
                return 0.0, highest * share_interval(wrong(answers), test.weights, test.groups)[1][1]
            return bootstrap(weighed(cost(answers)), mean_of_sums, subject.seed, test.groups)

        found.insert(0, Measure("mean cost", lambda answers: weighed(cost(answers)), interval=of_cost))
    found += [Measure("AUC", lambda answers: _area(subject, answers), _area_of_sums, lower_is_better=False)]
    found += _by_class(subject)
    if subject.cost is None:  # with costs the model has a policy, and no probabilities
        ids = test.class_ids

        def log_loss(answers: Answers) -> FloatArray | None:
            if answers.probabilities is None:
                return None
            own = np.where(ids == UNKNOWN, 0.0, answers.probabilities[np.arange(len(ids)), np.maximum(ids, 0)])
            return weighed(-np.log(np.maximum(own, SMALLEST)))

        found.append(Measure("log loss", log_loss))
    return found


def _exact_difference(difference: FloatArray, weights: FloatArray, groups: Any) -> Interval | None:
    """Of two shares of wrong answers: the rows of which only one of the two is right, and how often it is the first.

    Rows that count alike: the exact limits of that share (McNemar's test), scaled; else as `share_interval` has them.
    """
    sums = gathered(np.column_stack([weights * difference, weights]), groups)
    apart = sums[sums[:, 0] != 0.0, 0]
    if not len(apart):
        return None
    (low, high), scale = share_interval(apart > 0.0, np.abs(apart))[1], float(np.abs(apart).sum() / sums[:, 1].sum())
    return (2.0 * low - 1.0) * scale, (2.0 * high - 1.0) * scale


def rare_class(subject: Subject) -> int:
    """Of two classes the one with less weight among the held-out rows; the second where both have the same."""
    ids, weights = subject.test.class_ids, subject.test.weight()
    return int(weights[ids == 0].sum() < weights[ids == 1].sum()) ^ 1


def _by_class(subject: Subject) -> list[Measure]:
    """Balanced accuracy; precision, recall and F1 of the rare one of two classes, or their means over the classes."""
    test, weights, n_classes = subject.test, subject.test.weight(), len(subject.classes)
    truth = np.where(test.class_ids == UNKNOWN, n_classes, test.class_ids)  # a class that is never answered
    n = n_classes + int((truth == n_classes).any())
    places = np.arange(n)

    def sums(answers: Answers) -> FloatArray:
        """Of each class the weight of its rows that are right, of its rows, and of the rows that are answered so."""
        own, given = truth[:, None] == places, answers.predicted[:, None] == places
        return np.concatenate([weights[:, None] * (own & given), weights[:, None] * own, weights[:, None] * given], 1)

    def ratios(line: FloatArray, of: Callable[[FloatArray, FloatArray, FloatArray], tuple[Any, Any]]) -> FloatArray:
        over, under = of(*line.reshape(3, n))
        return np.asarray(np.divide(over, under, out=np.full(n, np.nan), where=under > 0.0))

    def mean(line: FloatArray, of: Any, chosen: Any) -> float:
        found = ratios(line, of)[chosen]
        return float(found.mean()) if two else float(np.nan_to_num(found[line.reshape(3, n)[1, chosen] > 0.0]).mean())

    def precision(right: FloatArray, own: FloatArray, given: FloatArray) -> tuple[Any, Any]:
        return right, given

    def recall(right: FloatArray, own: FloatArray, given: FloatArray) -> tuple[Any, Any]:
        return right, own

    def f1(right: FloatArray, own: FloatArray, given: FloatArray) -> tuple[Any, Any]:
        return 2.0 * right, own + given

    def share(rows: npt.NDArray[np.bool_], hits: npt.NDArray[np.bool_]) -> Interval | None:
        groups = None if test.groups is None else np.unique(test.groups[rows], return_inverse=True)[1]
        return share_interval(hits[rows], None if test.weights is None else weights[rows], groups)[1]

    two, rare = n_classes == 2, rare_class(subject) if n_classes == 2 else 0
    chosen: Any = [rare] if two else slice(0, n_classes)
    known = n <= MOST_CLASSES
    none: Callable[[Answers], Interval | None] | None = None if known else lambda answers: None
    exact: dict[str, Any] = {"precision": none, "recall": none, "F1": none}
    if two:
        exact["precision"] = lambda answers: share(answers.predicted == rare, truth == rare)
        exact["recall"] = lambda answers: share(truth == rare, answers.predicted == rare)

    def balanced(line: FloatArray) -> float:
        found = ratios(line, recall)
        return float(found[~np.isnan(found)].mean())

    found = [Measure("balanced accuracy", sums, balanced, lower_is_better=False, interval=none)]
    for name, of in (("precision", precision), ("recall", recall), ("F1", f1)):

        def statistic(line: FloatArray, of: Any = of) -> float:
            return mean(line, of, chosen)

        found.append(Measure(name, sums, statistic, lower_is_better=False, interval=exact[name]))
    return found


def _of_numbers(subject: Subject) -> list[Measure]:
    """RMSE, MAE and R squared."""
    weights, y = subject.test.weight(), np.asarray(subject.test.y, dtype=np.float64)
    middle = float(np.average(y, weights=weights))

    def sums(answers: Answers) -> FloatArray:
        off = y - answers.predicted
        return np.column_stack(
            [weights, weights * off**2, weights * np.abs(off), weights * (y - middle), weights * (y - middle) ** 2]
        )

    return [
        Measure("RMSE", sums, lambda line: math.sqrt(line[1] / line[0]) if line[0] > 0.0 else math.nan),
        Measure("MAE", sums, lambda line: float(line[2] / line[0]) if line[0] > 0.0 else math.nan),
        Measure("R squared", sums, _r_squared, lower_is_better=False),
    ]


def _of_quantile(subject: Subject) -> Measure:
    weights = subject.test.weight()
    return Measure(
        "quantile loss",
        lambda answers: np.column_stack([weights * row_losses(subject, answers.predicted), weights]),
    )


def _r_squared(line: FloatArray) -> float:
    spread = line[4] - line[3] ** 2 / line[0] if line[0] > 0.0 else 0.0
    return float(1.0 - line[1] / spread) if spread > 0.0 else math.nan


def _area(subject: Subject, answers: Answers) -> FloatArray | None:
    """Columns whose sums say the area under the ROC curve: what each row moves it by, the area, and 1.

    Of two classes that of the second; of more the mean of those of each class against the others. DeLong, DeLong and
    Clarke-Pearson, 1988: each row of one class has a share of the others that it is in order with, and the area varies
    by the variances of these shares. None where a class is not there.
    """
    n_classes, ids = len(subject.classes), subject.test.class_ids
    if answers.probabilities is None or n_classes > MOST_CLASSES:
        return None
    weights, areas, moves = subject.test.weight(), [], np.zeros(len(ids))
    classes = [1] if n_classes == 2 else range(n_classes)
    for place in classes:
        scores, sides = answers.probabilities[:, place], (ids == place, (ids != place) & (ids != UNKNOWN))
        if not sides[0].any() or not sides[1].any():
            return None
        for own, other in (sides, sides[::-1]):
            in_order = _share_below(scores[other], weights[other], scores[own])
            in_order = in_order if own is sides[0] else 1.0 - in_order
            area, n = float(np.average(in_order, weights=weights[own])), int(own.sum())
            alone = math.sqrt(n / (n - 1)) if n > 1 else math.nan  # one row does not say how much it varies
            moves[own] += alone * weights[own] / weights[own].sum() * (in_order - area) / len(classes)
        areas.append(area)
    return np.column_stack([moves, np.full(len(ids), float(np.mean(areas))), np.ones(len(ids))])


def _area_of_sums(line: FloatArray) -> float:
    return float(np.clip(np.nan_to_num(line[0]) + line[1] / line[2], 0.0, 1.0)) if line[2] > 0.0 else math.nan


def _share_below(values: FloatArray, weights: FloatArray, asked: FloatArray) -> FloatArray:
    """The weight of values below each number that is asked for, and half of that of equal ones, as a share."""
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    low, high = (np.searchsorted(values[order], asked, side) for side in ("left", "right"))
    return np.asarray(0.5 * (total[low] + total[high]) / total[-1])
