"""The sentence on top: how good the model is, and whether that is more than a constant or a line would give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from radboost._numbers import number_text
from radboost.report.baselines import Baselines
from radboost.report.blocks import Bars, Block, Figure, Section, Table, Text
from radboost.report.data import DataCard
from radboost.report.figures import between, count, percent, plain, rounded
from radboost.report.scores import Answers, Comparison, Score, answers_of, linear_answers, measures, scores_of
from radboost.report.subject import Subject

Tone = Literal["plain", "good", "warning"]
MOST_FIGURES = 4  # beside the number of warnings


@dataclass(frozen=True)
class Verdict:
    """What stands above all sections."""

    sentence: str
    tone: Tone
    figures: tuple[Figure, ...]
    section: Section


def verdict(subject: Subject, card: DataCard) -> Verdict:
    """The score of the model beside those of the best constant and of a linear model; and what makes it doubtful."""
    found = subject.baselines
    scores, first, own = scores_of(subject, found), measures(subject)[0], answers_of(subject)
    over_constant = first.beside(subject, own, Answers(found.constant))
    over_linear = None if (linear := linear_answers(found)) is None else first.beside(subject, own, linear)
    assert over_constant is not None
    tone, judgement = _judgement(subject, over_constant, over_linear)
    sentence = f"{_score_words(subject, scores)}: {judgement}."
    if subject.copies is not None:
        sentence += f" {copies_text(subject)}."
    if card.serious:
        tone = "warning"
        sentence += f" Do not trust this yet: {'; '.join(one.short for one in card.serious)}."
    figures = (*_figures(subject, scores, tone), _warnings_figure(card))
    return Verdict(sentence, tone, figures, _section(subject, found, scores, over_constant, over_linear))


def show(name: str, value: float) -> str:
    """A measure as text."""
    return percent(value) if name == "error" else number_text(value)


def copies_text(subject: Subject, show: Callable[[str, float], str] = show) -> str:
    """How good the model is on copies of rows that it learned from."""
    assert subject.copies is not None
    first, own = measures(subject.copies)[0], answers_of(subject.copies)
    value, interval = first.value(own), first.interval_of(subject.copies, own)
    sure = "" if interval is None else f" (95% interval {between(interval, lambda one: show(first.name, one))})"
    rows = count(len(subject.copies.test), "copy", "copies")
    said = f"{first.name} {show(first.name, math.nan if value is None else value)}{sure}"
    return f"On {rows} of training rows: {said}; {percent(subject.share_of_copies)} of all rows have a copy"


def _constant_name(subject: Subject) -> str:
    if subject.classifies:
        return "the most frequent class" if subject.cost is None else "the cheapest constant"
    return "the mean" if subject.quantile is None else f"the quantile {subject.quantile:g} of all targets"


def _interval_text(subject: Subject, score: Score) -> str:
    return "" if score.interval is None else between(score.interval, lambda value: show(score.name, value))


def _score_words(subject: Subject, scores: list[Score]) -> str:
    rows = count(len(subject.test), "held-out row")
    first = scores[0]
    interval = _interval_text(subject, first)
    sure = f" (95% interval {interval})" if interval else ""
    weighted = ", by weight," if subject.test.weights is not None else ""
    if first.name == "error":
        head = f"Wrong on {percent(first.value)}{weighted} of {rows}{sure}"
    else:
        head = f"{first.name[0].upper()}{first.name[1:]} of {number_text(first.value)}{weighted} on {rows}{sure}"
    verb = "is wrong on" if first.name == "error" else "has"
    beside = []
    if first.constant is not None:
        beside.append(f"{_constant_name(subject)} {verb} {show(first.name, first.constant)}")
    if first.linear is not None:
        linear = show(first.name, first.linear)
        beside.append(f"a linear model {'on' if first.name == 'error' else 'has'} {linear}")
    return f"{head}, where {' and '.join(beside)}" if beside else head


def _judgement(subject: Subject, constant: Comparison, linear: Comparison | None) -> tuple[Tone, str]:
    if not constant.better:
        how = "worse" if constant.worse else "not clearly better"
        return "warning", f"{how} than always answering {_constant_name(subject)}"
    if linear is None:
        return "plain", f"clearly better than always answering {_constant_name(subject)}"
    if linear.better:
        return "good", "clearly better than both"
    if linear.worse:
        return "warning", "clearly worse than the linear model, which is the better choice here"
    return "warning", "not clearly better than the linear model, which is simpler"


def _figures(subject: Subject, scores: list[Score], tone: Tone) -> tuple[Figure, ...]:
    found = []
    for place, score in enumerate(scores[: MOST_FIGURES - 1]):
        interval = _interval_text(subject, score)
        found.append(
            Figure(
                score.name[0].upper() + score.name[1:],
                show(score.name, score.value),
                f"95% interval {interval}" if interval else "",
                tone if place == 0 else "plain",
            )
        )
    first = scores[0]
    if first.linear is not None:
        found.append(Figure("Linear model", show(first.name, first.linear), f"its {first.name}"))
    if first.constant is not None and len(found) < MOST_FIGURES:
        name = "Most frequent class" if first.name == "error" else "Constant answer"
        found.append(Figure(name, show(first.name, first.constant), f"its {first.name}"))
    return tuple(found)


def _warnings_figure(card: DataCard) -> Figure:
    n = card.n_warnings
    return Figure("Warnings about the data", str(n), "see Data" if n else "", "warning" if card.serious else "plain")


def _section(
    subject: Subject, found: Baselines, scores: list[Score], constant: Comparison, linear: Comparison | None
) -> Section:
    names = ("model", "linear model", _constant_name(subject))
    first = scores[0]
    values = (first.value, first.linear, first.constant)
    shown = [place for place, value in enumerate(values) if value is not None]
    unit = f"{first.name} on held-out rows"
    blocks: list[Block] = [
        Bars(
            title=f"{first.name[0].upper()}{first.name[1:]} beside the baselines",
            x_label=unit,
            names=tuple(names[place] for place in shown),
            series=((first.name, tuple(rounded(values[place]) for place in shown)),),
            intervals=(
                tuple(
                    (plain(first.interval[0]), plain(first.interval[1])) if place == 0 and first.interval else None
                    for place in shown
                ),
            ),
            highlighted=(0,),
        ),
        Table(
            columns=("measure", "model", "from", "to", "linear model", _constant_name(subject)),
            rows=tuple(
                (
                    score.name,
                    rounded(score.value),
                    None if score.interval is None else rounded(score.interval[0]),
                    None if score.interval is None else rounded(score.interval[1]),
                    rounded(score.linear),
                    rounded(score.constant),
                )
                for score in scores
            ),
            caption="Of each measure the value on the held-out rows with its 95% interval. Lower is better for "
            f"{_listed([score.name for score in scores if score.lower_is_better])}{_higher(scores)}.",
        ),
    ]
    pairs = [("the linear model", linear), (_constant_name(subject), constant)]
    texts = [
        _comparison_text(subject, scores[0].name, name, comparison)
        for name, comparison in pairs
        if comparison is not None
    ]
    if len({text.tone for text in texts}) == 1:
        texts = [Text(tuple(one for text in texts for one in text.paragraphs), texts[0].tone)]
    blocks += [*texts, Text((found.note,))]
    lead = "What the model is worth on rows that it has not seen, beside two answers that cost nothing."
    return Section("score", "Score", lead, tuple(blocks))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _higher(scores: list[Score]) -> str:
    names = [score.name for score in scores if not score.lower_is_better]
    return f", higher for {_listed(names)}" if names else ""


def _comparison_text(subject: Subject, measure: str, name: str, comparison: Comparison) -> Text:
    size, interval = abs(comparison.difference), ""
    if measure == "error":
        if comparison.interval is not None:
            interval = f"{between(comparison.interval, lambda x: f'{100 * x:+.1f}')} points"
        more = f"by {percent(size)} of the rows"
    else:
        if comparison.interval is not None:
            interval = between(comparison.interval, lambda x: number_text(x, "+"))
        more = f"by {number_text(size)} in {measure}"
    more += f" (95% interval of the difference: {interval})" if interval else ""
    if comparison.better:
        return Text((f"The model is better than {name} {more}.",), "good")
    if comparison.worse:
        return Text((f"The model is worse than {name} {more}.",), "warning")
    if comparison.difference == 0.0:
        return Text((f"The model and {name} do equally well: there is no difference at all.",), "warning")
    side = "ahead of" if comparison.difference > 0.0 else "behind"
    return Text((f"The model is {side} {name} {more}, which may be chance.",), "warning")
