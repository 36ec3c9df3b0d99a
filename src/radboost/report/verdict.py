"""Verdict on a model: its score with an interval, beside a constant prediction and a linear model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from radboost._numbers import number_text
from radboost.report.blocks import Block, CellTable, Figure, Section, Text
from radboost.report.data import DataCard
from radboost.report.figures import between, count, percent, rounded
from radboost.report.scores import Comparison, Score
from radboost.report.subject import Subject

Tone = Literal["plain", "good", "warning"]
MOST_FIGURES = 4  # beside the number of warnings


@dataclass(frozen=True)
class Assessment:
    """Verdict with its figures, and the section of all scores."""

    sentence: str
    tone: Tone
    figures: tuple[Figure, ...]
    section: Section


def assess(subject: Subject, card: DataCard) -> Assessment:
    """Compare the model with the best constant and a linear model, and say what makes it doubtful."""
    scores = list(subject.scores.values())
    first = scores[0]
    assert first.over_constant is not None
    tone, comparison = _compared(subject, first.over_constant, first.over_linear)
    sentence = f"{_score_words(subject, first)}: {comparison}."
    if subject.copies is not None:
        sentence += f" {copies_text(subject)}."
    if card.serious:
        tone = "warning"
        sentence += f" Do not trust this yet: {'; '.join(one.short for one in card.serious)}."
    texts = [comparison_text(first.name, f"the {constant_name(subject)}", first.over_constant)]
    if first.over_linear is not None:
        texts.insert(0, comparison_text(first.name, "the linear model", first.over_linear))
    blocks: tuple[Block, ...] = (_table(subject, scores), *texts, Text((subject.baselines.note,)))
    lead = "What the model is worth on rows that it has not seen, beside two predictions that cost nothing."
    section = Section("score", "Score", lead, blocks)
    return Assessment(sentence, tone, (*_figures(subject, scores, tone), _warnings_figure(card)), section)


def show(name: str, value: float) -> str:
    """Return the value of a measure as text."""
    return percent(value) if name == "error" else number_text(value)


def copies_text(subject: Subject, show: Callable[[str, float], str] = show) -> str:
    """Say how good the model is on copies of rows that it learned from."""
    assert subject.copies is not None
    first = next(iter(subject.copies.scores.values()))
    sure = ""
    if first.interval is not None:
        sure = f" (95% interval {between(first.interval, lambda one: show(first.name, one))})"
    rows = count(len(subject.copies.test), "copy", "copies")
    score = f"{first.name} {show(first.name, first.value)}{sure}"
    return f"On {rows} of training rows: {score}; {percent(subject.share_of_copies)} of all rows have a copy"


def constant_name(subject: Subject) -> str:
    """Name of the best constant prediction."""
    if subject.classifies:
        return "most frequent class" if subject.cost is None else "cheapest class"
    return "mean of the target" if subject.quantile is None else f"quantile {subject.quantile:g} of all targets"


def _interval_text(score: Score) -> str:
    if score.interval is None:
        return ""
    return f"95% interval {between(score.interval, lambda value: show(score.name, value))}"


def _capitalized(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _score_words(subject: Subject, first: Score) -> str:
    rows, is_error = count(len(subject.test), "held-out row"), first.name == "error"
    sure = f" ({_interval_text(first)})" if first.interval else ""
    weighted = ", by weight," if subject.test.weights is not None else ""
    if is_error:
        head = f"Wrong on {percent(first.value)}{weighted} of {rows}{sure}"
    else:
        head = f"{_capitalized(first.name)} of {number_text(first.value)}{weighted} on {rows}{sure}"
    beside = []
    if first.constant is not None:
        verb = "is wrong on" if is_error else "has"
        beside.append(f"the {constant_name(subject)} {verb} {show(first.name, first.constant)}")
    if first.linear is not None:
        beside.append(f"a linear model {'on' if is_error else 'has'} {show(first.name, first.linear)}")
    return f"{head}, where {' and '.join(beside)}" if beside else head


def _compared(subject: Subject, constant: Comparison, linear: Comparison | None) -> tuple[Tone, str]:
    if not constant.better:
        how = "worse" if constant.worse else "not clearly better"
        return "warning", f"{how} than always predicting the {constant_name(subject)}"
    if linear is None:
        return "plain", f"clearly better than always predicting the {constant_name(subject)}"
    if linear.better:
        return "good", "clearly better than both"
    if linear.worse:
        return "warning", "clearly worse than the linear model, which is the better choice here"
    return "warning", "not clearly better than the linear model, which is simpler"


def _figures(subject: Subject, scores: list[Score], tone: Tone) -> tuple[Figure, ...]:
    first = scores[0]
    shown = scores[: MOST_FIGURES - 1]
    figures = [Figure(_capitalized(one.name), show(one.name, one.value), _interval_text(one)) for one in shown]
    figures[0] = replace(figures[0], tone=tone)
    if first.linear is not None:
        figures.append(Figure("Linear model", show(first.name, first.linear), f"its {first.name}"))
    if first.constant is not None and len(figures) < MOST_FIGURES:
        name = "Most frequent class" if first.name == "error" else "Constant prediction"
        figures.append(Figure(name, show(first.name, first.constant), f"its {first.name}"))
    return tuple(figures)


def _warnings_figure(card: DataCard) -> Figure:
    n = card.n_warnings
    return Figure("Warnings about the data", str(n), "see Data" if n else "", "warning" if card.serious else "plain")


def _table(subject: Subject, scores: list[Score]) -> CellTable:
    rows = tuple(
        (
            score.name,
            rounded(score.value),
            *((None, None) if score.interval is None else (rounded(end) for end in score.interval)),
            rounded(score.linear),
            rounded(score.constant),
        )
        for score in scores
    )
    lower = _listed([score.name for score in scores if score.measure.lower_is_better])
    higher = _listed([score.name for score in scores if not score.measure.lower_is_better])
    return CellTable(
        ("measure", "model", "from", "to", "linear model", constant_name(subject)),
        rows,
        "Each measure on the held-out rows with its 95% interval. Lower is better for "
        f"{lower}{f', higher for {higher}' if higher else ''}.",
    )


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def comparison_text(measure: str, name: str, comparison: Comparison) -> Text:
    """Sentence that compares the model with another prediction by one measure."""
    size, limits = abs(comparison.difference), ""
    if measure == "error":
        more = f"by {percent(size)} of the rows"
        if comparison.interval is not None:
            limits = f"{between(comparison.interval, lambda x: f'{100 * x:+.1f}')} points"
    else:
        more = f"by {number_text(size)} in {measure}"
        if comparison.interval is not None:
            limits = between(comparison.interval, lambda x: number_text(x, "+"))
    more += f" (95% interval of the difference: {limits})" if limits else ""
    if comparison.better:
        return Text((f"The model is better than {name} {more}.",), "good")
    if comparison.worse:
        return Text((f"The model is worse than {name} {more}.",), "warning")
    if comparison.difference == 0.0:
        return Text((f"The model and {name} do equally well: there is no difference at all.",), "warning")
    side = "ahead of" if comparison.difference > 0.0 else "behind"
    return Text((f"The model is {side} {name} {more}, which may be chance.",), "warning")
