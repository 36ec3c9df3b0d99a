"""How good a model is on rows that it has not seen, beside what needs no boosting at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from radboost._typing import FloatArray
from radboost.report.figures import bootstrap, mean_of_sums, share_interval

LEVEL, SEED = 0.05, 0


@dataclass(frozen=True)
class Costs:
    """What answers cost (columns) by the true class (lines), and the class that alone costs least."""

    matrix: FloatArray
    cheapest: Any

    def of(self, y: npt.NDArray[Any], answers: npt.NDArray[Any], classes: npt.NDArray[Any]) -> FloatArray:
        """Of each row; a class that the model does not know costs as much as any mistake may."""
        place = {label: index for index, label in enumerate(classes.tolist())}
        pairs = zip(y.tolist(), answers.tolist(), strict=True)
        highest = float(self.matrix.max())
        return np.array([float(self.matrix[place[a], place[b]]) if a in place else highest for a, b in pairs])


def costs_of(model: Any, y: npt.NDArray[Any], weights: FloatArray | None) -> Costs | None:
    """The costs that a model was fitted with, and the constant that costs least on these rows; None without costs."""
    from radboost.report.subject import cost_of  # which takes a while to load

    matrix = cost_of(model)
    if matrix is None:
        return None
    labels, counted = model.classes_.tolist(), np.ones(len(y)) if weights is None else weights
    totals = [float(np.sort(counted[[one == label for one in y.tolist()]]).sum()) for label in labels]
    return Costs(matrix, labels[int(np.argmin(np.asarray(totals) @ matrix))])


@dataclass(frozen=True)
class MeanCost:
    """What answers cost on average, with an interval, beside the baselines."""

    score: float
    low: float
    high: float
    baseline: float
    """Of the class that alone costs least."""
    linear: float | None

    def text(self) -> str:
        """In one line."""
        line = f"mean cost {self.score:.4g}{_sure(self.low, self.high)}; cheapest class alone {self.baseline:.4g}"
        return line if self.linear is None else f"{line}, linear model {self.linear:.4g}"


def _sure(low: float, high: float) -> str:
    return "" if np.isnan(low) else f" (95% interval {low:.4g} to {high:.4g})"


@dataclass(frozen=True)
class Verdict:
    """A score with its interval beside two baselines, and what follows."""

    measure: str
    """Either "error" or "RMSE"; both are to be small."""
    rows: int
    score: float
    low: float
    high: float
    baseline: float
    """Of the most frequent class, or of the mean."""
    linear: float | None
    better_than_linear: str
    """Either "yes", "not clearly", "no, worse" or "not compared"; by costs where there are some."""
    further: dict[str, float]
    mean_cost: MeanCost | None = None

    def text(self, of: str) -> str:
        """In one line."""
        word = "most frequent class" if self.measure == "error" else "mean of the target"
        sure = _sure(self.low, self.high)
        line = f"{self.measure} {self.score:.4g}{sure} on {self.rows:,} {of}; {word} alone {self.baseline:.4g}"
        if self.linear is not None:
            line += f", linear model {self.linear:.4g}"
        return line

    def more(self) -> list[str]:
        """Further lines: the mean cost, and other measures."""
        costs = [] if self.mean_cost is None else [self.mean_cost.text()]
        return [*costs, "; ".join(f"{name} {value:.4g}" for name, value in self.further.items())]

    def comparison(self) -> str:
        """What is to be said beside the numbers."""
        if self.mean_cost is not None:
            words = {
                "yes": "The model costs less than the linear one beyond chance.",
                "not clearly": "Model and linear model do not clearly differ in cost: the difference may be chance.",
                "no, worse": "The linear model costs less beyond chance; try --tune.",
            }
        else:
            words = {
                "yes": "The model is better than the linear one beyond chance.",
                "not clearly": "The model is not clearly better than the linear one: the difference may be chance.",
                "no, worse": "The linear model is better beyond chance; try --estimator sparse, or --tune.",
            }
        return words.get(self.better_than_linear, "")

    def as_document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def judge_classes(
    y: npt.NDArray[Any],
    answers: npt.NDArray[Any],
    probabilities: FloatArray | None,
    classes: npt.NDArray[Any],
    *,
    majority: Any,
    linear: npt.NDArray[Any] | None,
    weights: FloatArray | None,
    costs: Costs | None = None,
) -> Verdict:
    """Errors with an exact interval; of weighted rows with an approximate one.

    With costs the mean cost is told, and the linear model is compared by it. There is no log loss then: what such a
    model has in place of probabilities is a policy.
    """
    wrong = _differ(answers, y)
    score, low, high = _rate(wrong, weights)
    linear_wrong = None if linear is None else _differ(linear, y)
    further = {"balanced error": balanced_error(y, wrong, weights)}
    if probabilities is not None and costs is None:
        further["log loss"] = log_loss(y, probabilities, classes, weights)
    mean_cost, better = None, _compared(wrong, linear_wrong, weights)
    if costs is not None:
        mean_cost, better = _judge_costs(costs, y, answers, linear, classes, weights)
    return Verdict(
        measure="error",
        rows=len(y),
        score=score,
        low=low,
        high=high,
        baseline=float(np.average(_differ(np.full(len(y), majority, dtype=object), y), weights=weights)),
        linear=None if linear_wrong is None else float(np.average(linear_wrong, weights=weights)),
        better_than_linear=better,
        further=further,
        mean_cost=mean_cost,
    )


def _judge_costs(
    costs: Costs,
    y: npt.NDArray[Any],
    answers: npt.NDArray[Any],
    linear: npt.NDArray[Any] | None,
    classes: npt.NDArray[Any],
    weights: FloatArray | None,
) -> tuple[MeanCost, str]:
    from radboost.report.scores import cost_interval  # which takes a while to load

    w = np.ones(len(y)) if weights is None else weights
    own, constant = costs.of(y, answers, classes), costs.of(y, np.full(len(y), costs.cheapest), classes)
    of_linear = None if linear is None else costs.of(y, linear, classes)
    # by content: no sum depends on the order of the rows, and no draw
    order = np.lexsort((w, constant, own if of_linear is None else of_linear, own))
    own, constant, w = own[order], constant[order], w[order]
    interval = cost_interval(own, None if weights is None else w, float(costs.matrix.max()), SEED)
    low, high = interval or (np.nan, np.nan)
    found = MeanCost(
        score=float(np.average(own, weights=w)),
        low=low,
        high=high,
        baseline=float(np.average(constant, weights=w)),
        linear=None if of_linear is None else float(np.average(of_linear[order], weights=w)),
    )
    return found, "not compared" if of_linear is None else _resampled(own - of_linear[order], w)


def judge_numbers(
    y: FloatArray, answers: FloatArray, *, mean: float, linear: FloatArray | None, weights: FloatArray | None
) -> Verdict:
    """The root of the mean squared error, with an interval by the bootstrap, and R2 beside it."""
    w = np.ones(len(y)) if weights is None else weights
    # by content: no sum depends on the order of the rows, and no draw
    order = np.lexsort((w, answers, y))
    y, answers, w = y[order], answers[order], w[order]
    squares, of_mean = (y - answers) ** 2, (y - mean) ** 2
    of_linear = None if linear is None else (y - linear[order]) ** 2
    low, high = bootstrap(np.column_stack([w * squares, w]), _root_of_mean, SEED) or (np.nan, np.nan)
    better = "not compared" if of_linear is None else _resampled(squares - of_linear, w)
    spread = float(np.average((y - np.average(y, weights=w)) ** 2, weights=w))
    error = float(np.average(squares, weights=w))
    return Verdict(
        measure="RMSE",
        rows=len(y),
        score=float(np.sqrt(error)),
        low=float(low),
        high=float(high),
        baseline=float(np.sqrt(np.average(of_mean, weights=w))),
        linear=None if of_linear is None else float(np.sqrt(np.average(of_linear, weights=w))),
        better_than_linear=better,
        further={
            "R2": 1.0 - error / spread if spread > 0 else np.nan,
            "mean absolute error": float(np.average(np.abs(y - answers), weights=w)),
        },
    )


def _root_of_mean(line: FloatArray) -> float:
    return float(np.sqrt(mean_of_sums(line)))


def _differ(answers: npt.NDArray[Any], y: npt.NDArray[Any]) -> FloatArray:
    return np.array([a != b for a, b in zip(answers.tolist(), y.tolist(), strict=True)], dtype=np.float64)


def _rate(wrong: FloatArray, weights: FloatArray | None) -> tuple[float, float, float]:
    if weights is not None:  # by content: no sum depends on the order of the rows
        order = np.lexsort((weights, wrong))
        wrong, weights = wrong[order], weights[order]
    share, interval = share_interval(wrong, weights)
    return share, *interval


def _compared(wrong: FloatArray, other: FloatArray | None, weights: FloatArray | None) -> str:
    """McNemar's exact test at 5 percent, of rows on which one of two models is wrong; with weights by resampling."""
    if other is None:
        return "not compared"
    if weights is not None and (weights != weights[0]).any():
        order = np.lexsort((weights, other, wrong))
        return _resampled((wrong - other)[order], weights[order])
    only, only_other = int((wrong > other).sum()), int((other > wrong).sum())
    if not only + only_other or binomtest(only, only + only_other).pvalue >= LEVEL:
        return "not clearly"
    return "yes" if only < only_other else "no, worse"


def _resampled(difference: FloatArray, weights: FloatArray) -> str:
    """Whether the mean of what a model loses more than another one is below 0, or above, beyond chance."""
    interval = bootstrap(np.column_stack([weights * difference, weights]), mean_of_sums, SEED)
    if interval is None:
        return "not clearly"
    return "yes" if interval[1] < 0.0 else "no, worse" if interval[0] > 0.0 else "not clearly"


def balanced_error(y: npt.NDArray[Any], wrong: FloatArray, weights: FloatArray | None = None) -> float:
    """The mean over the classes of their shares of wrong answers."""
    labels = np.array(list(map(str, y.tolist())))
    w = np.ones(len(wrong)) if weights is None else weights
    order = np.lexsort((w, wrong))
    labels, wrong, w = labels[order], wrong[order], w[order]
    return float(np.mean([np.average(wrong[labels == one], weights=w[labels == one]) for one in np.unique(labels)]))


def log_loss(
    y: npt.NDArray[Any], probabilities: FloatArray, classes: npt.NDArray[Any], weights: FloatArray | None = None
) -> float:
    """The mean of -log p of the right class; of one that the model does not know, p is the smallest there is."""
    place = {label: index for index, label in enumerate(classes.tolist())}
    smallest = np.finfo(np.float64).tiny
    found = [probabilities[row, place[label]] if label in place else smallest for row, label in enumerate(y.tolist())]
    losses, w = -np.log(np.maximum(found, smallest)), np.ones(len(y)) if weights is None else weights
    order = np.lexsort((w, losses))
    return float(np.average(losses[order], weights=w[order]))


def linear_answers(
    model: Any, X_train: Any, y_train: npt.NDArray[Any], X: Any, y: npt.NDArray[Any], *, weights: FloatArray | None
) -> npt.NDArray[Any] | None:
    """What the linear model of the report answers, which learns from the same rows; None where there are too few.

    The weights are those of the training rows.
    """
    from radboost.report.subject import read  # which takes a while to load

    subject = read(model, X, y, X_train=X_train, y_train=y_train)
    if weights is not None and subject.train is not None:
        subject = replace(subject, train=replace(subject.train, weights=weights))
    answers = subject.baselines.linear
    return answers if answers is None or not subject.classifies else np.asarray(model.classes_)[answers]
