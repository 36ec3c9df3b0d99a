"""How good a model is on rows that it has not seen, beside what needs no boosting at all."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost._numbers import number_text
from radboost.model_file import Schema

if TYPE_CHECKING:
    from radboost.cli.rows import Divided, Part
    from radboost.report.baselines import Baselines
    from radboost.report.scores import Measure, Score
    from radboost.report.subject import Subject

FEW = 20  # different rows, to say anything by
OF_A_CLASS = ("precision", "recall", "F1")
# Names of --metric, the measure of the verdict, and the scorer of scikit-learn that searches and early stopping take.
METRICS = {
    "classes": {
        "error": ("error", "accuracy"),
        "accuracy": ("error", "accuracy"),
        "auc": ("AUC", "roc_auc"),
        "balanced_accuracy": ("balanced accuracy", "balanced_accuracy"),
        "precision": ("precision", "precision"),
        "recall": ("recall", "recall"),
        "f1": ("F1", "f1"),
        "log_loss": ("log loss", "neg_log_loss"),
    },
    "numbers": {
        "rmse": ("RMSE", "neg_root_mean_squared_error"),
        "mae": ("MAE", "neg_mean_absolute_error"),
        "r2": ("R squared", "r2"),
    },
}


def known_metric(name: str, task: str) -> tuple[str, str]:
    """The measure and the scorer of a --metric."""
    known = METRICS[task]
    chosen = name.lower().replace("-", "_").replace("roc_", "")
    if chosen not in known:
        raise ValueError(f"--metric is {name!r}; known for {task} are {', '.join(known)}")
    return known[chosen]


@dataclass(frozen=True)
class Verdict:
    """A score with its interval beside two baselines, and what follows."""

    measure: str
    rows: int
    different_rows: int
    """Equal rows count once; of --group the number of groups."""
    score: float
    low: float
    high: float
    baseline: float | None
    """Of the most frequent class, of the cheapest one, or of the mean."""
    linear: float | None
    better_than_linear: str
    """Either "yes", "not clearly", "no, worse" or "not compared"."""
    further: dict[str, dict[str, Any]]
    """Each further measure with its score, interval, baseline and linear model."""
    alone: str
    """What the baseline is."""
    rare: str | None = None
    """The class of which precision, recall and F1 are told; None: means over the classes."""
    grouped: bool = False
    """Whether rows were held out by --group."""
    copies: dict[str, Any] = field(default_factory=dict)
    """Of held-out copies of training rows: rows, score, low, high, and the share of all rows that have a copy."""
    remarks: tuple[str, ...] = ()

    def text(self, of: str) -> str:
        """In one line."""
        from radboost.report.figures import count  # which takes a while to load

        sure = "" if math.isnan(self.low) else f" (95% interval {number_text(self.low)} to {number_text(self.high)})"
        line = f"{self.measure} {number_text(self.score)}{sure} on {self.rows:,} {of}"
        if self.different_rows < self.rows:
            line += (
                f" ({count(self.different_rows, 'group') if self.grouped else f'{self.different_rows:,} different'})"
            )
        if self.baseline is not None:
            line += f"; {self.alone} alone {number_text(self.baseline)}"
        return line if self.linear is None else f"{line}, linear model {number_text(self.linear)}"

    def lines(self, of: str) -> list[str]:
        """All that is told."""
        return [one for one in (self.text(of), self.comparison(), *self._more(), *self.remarks) if one]

    def _more(self) -> list[str]:
        """Further measures with their 95% intervals: those of all rows, and those of the rare class."""
        whole = [_measure_text(name, one) for name, one in self.further.items() if name not in OF_A_CLASS]
        by_class = [_measure_text(name, one) for name, one in self.further.items() if name in OF_A_CLASS]
        whose = "means over the classes" if self.rare is None else f"of {self.rare!r}"
        return [", ".join(whole), f"{whose}: {', '.join(by_class)}" if by_class else ""]

    def comparison(self) -> str:
        """What is to be said beside the numbers."""
        by = "" if self.measure in ("error", "RMSE", "mean cost") else f", by {self.measure}"
        try_this = "try --tune" if self.measure == "mean cost" else "try --estimator sparse, or --tune"
        words = {
            "yes": f"The model is better than the linear one beyond chance{by}.",
            "not clearly": f"The model is not clearly better than the linear one{by}: the difference may be chance.",
            "no, worse": f"The linear model is better beyond chance{by}; {try_this}.",
        }
        return words.get(self.better_than_linear, "")

    def as_document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _measure_text(name: str, one: dict[str, Any]) -> str:
    """Three decimals, of costs and of measures in units of the target four digits."""
    in_units = name in ("RMSE", "MAE", "quantile loss", "mean cost")
    score, low, high = (number_text(one[key]) if in_units else f"{one[key]:.3f}" for key in ("score", "low", "high"))
    return f"{name} {score}" + ("" if math.isnan(one["low"]) else f" ({low} to {high})")


def subject_of(
    model: Any, schema: Schema, part: Part, train: Part | None = None, facts: dict[str, Any] | None = None
) -> Subject:
    """A model with the rows that it is judged on, in an order that depends on their content alone."""
    from radboost.report.subject import read  # which takes a while to load

    def seen(one: Part) -> Any:
        return replace(one.table, columns=schema.columns).for_model(schema.form, with_others=True)

    part = part.in_order()
    training = {}
    if train is not None:
        train = train.in_order()
        training = {"X_train": seen(train), "y_train": train.y, "row_numbers_train": train.numbers}
    subject = read(
        model,
        seen(part),
        part.y,
        **training,
        sample_weight=part.weights,
        row_numbers=part.numbers,
        context={key: str(value) for key, value in (facts or {}).items()},
    )
    subject = replace(subject, test=replace(subject.test, units=part.units))
    if train is None or subject.train is None:
        return subject
    return replace(subject, train=replace(subject.train, weights=train.weights, units=train.units))


def subject_of_fit(model: Any, schema: Schema, rows: Divided, facts: dict[str, Any]) -> Subject:
    """A model with the rows held out from it, copies of training rows apart."""
    assert rows.judged_on is not None
    subject = subject_of(model, schema, rows.judged_on, rows.train, facts)
    if rows.copies is None:
        return subject
    copies = subject_of(model, schema, rows.copies)
    return replace(subject, copies=copies, share_of_copies=rows.share_of_copies)


def judge(subject: Subject, found: Baselines, metric: str | None = None) -> Verdict:
    """All measures, with the one of --metric as the headline."""
    from radboost.report.scores import linear_predictions, measures, own_predictions, rare_class, scores_of

    scores, known = {one.name: one for one in scores_of(subject, found)}, {one.name: one for one in measures(subject)}
    name = next(iter(scores)) if metric is None else metric
    if name not in scores:
        raise ValueError(f"--metric: the {name} says nothing of these rows; measures that do are {', '.join(scores)}")
    first, linear = scores[name], linear_predictions(found)
    low, high = first.interval or (math.nan, math.nan)
    beside = None if linear is None else known[name].beside(subject, own_predictions(subject), linear)
    better = "not compared" if beside is None else "yes" if beside.better else "no, worse" if beside.worse else None
    rare = subject.class_names[rare_class(subject)] if len(subject.classes) == 2 else None
    of_costs = subject.cost is not None
    return Verdict(
        measure=name,
        rows=len(subject.test),
        different_rows=subject.test.n_different,
        score=first.value,
        low=low,
        high=high,
        baseline=first.constant,
        linear=first.linear,
        better_than_linear="not clearly" if better is None else better,
        further={one: _document(score) for one, score in scores.items() if one != name},
        alone="cheapest class" if of_costs else "most frequent class" if subject.classifies else "mean of the target",
        rare=rare,
        grouped=subject.test.units is not None,
        copies=_of_copies(subject, known[name]),
        remarks=_remarks(subject),
    )


def _document(score: Score) -> dict[str, Any]:
    low, high = score.interval or (math.nan, math.nan)
    return {"score": score.value, "low": low, "high": high, "baseline": score.constant, "linear": score.linear}


def _of_copies(subject: Subject, measure: Measure) -> dict[str, Any]:
    if subject.copies is None:
        return {}
    from radboost.report.scores import measures, own_predictions

    own = next(one for one in measures(subject.copies) if one.name == measure.name)
    answers = own_predictions(subject.copies)
    low, high = own.interval_of(subject.copies, answers) or (math.nan, math.nan)
    found = {"rows": len(subject.copies.test), "score": own.value(answers), "low": low, "high": high}
    return {**found, "share_of_all_rows": subject.share_of_copies}


def _remarks(subject: Subject) -> tuple[str, ...]:
    from radboost.report.verdict import copies_text

    said = []
    n = subject.test.n_different
    if n < FEW:
        one = "group" if subject.test.units is not None else "different row"
        what = f"{one} is" if n == 1 else f"{one}s are"
        said.append(
            f"Only {n} {what} held out: too few to say how good the model is on new {one.rsplit(maxsplit=1)[-1]}s."
        )
    if subject.copies is not None:
        said.append(f"{copies_text(subject, lambda _, value: number_text(value))}.")
    return tuple(said)


def without_linear(subject: Subject) -> Baselines:
    """The best constant for these very rows, where no model is compared."""
    from radboost.report.baselines import constant_of

    return constant_of(subject)


def pooled(subject: Subject, parts: list[tuple[Subject, np.ndarray]]) -> tuple[Subject, Baselines]:
    """All rows with the answers of models that have not seen them: of each part its subject, and where its rows are."""
    from radboost.report.baselines import constant_of

    def labels(one: Subject, places: Any) -> Any:
        return None if places is None else np.asarray(one.classes, dtype=object)[places] if one.classifies else places

    order = np.argsort(np.concatenate([rows for _, rows in parts]), kind="stable")

    def joined(values: list[Any]) -> Any:
        return None if any(one is None for one in values) else np.concatenate(values)[order]

    def of_labels(values: list[Any]) -> Any:
        places = {label: place for place, label in enumerate(subject.classes)}
        found = joined(values)
        return found if found is None or not places else np.array([places[label] for label in found.tolist()])

    def chances(one: Subject, given: Any) -> Any:
        if given is None:
            return None
        found = np.zeros((len(one.test), len(subject.classes)))
        found[:, [subject.classes.index(label) for label in one.classes]] = given
        return found

    every = [one for one, _ in parts]
    both = [(one, one.baselines) for one in every]
    made = replace(
        constant_of(subject),
        linear=of_labels([labels(one, of.linear) for one, of in both]),
        linear_probabilities=joined([chances(one, of.linear_probabilities) for one, of in both]),
    )
    answers = joined([np.asarray(one.predicted, dtype=object if one.classifies else np.float64) for one in every])
    return replace(
        subject, predicted=answers, probabilities=joined([chances(one, one.probabilities) for one in every])
    ), made
