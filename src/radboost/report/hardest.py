"""The rows that the model errs on most, with what explains each answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost.explain.explanation import Explanation, added_up, gather
from radboost.report.blocks import Block, RowCard, RowCards, Section, Step, Text
from radboost.report.figures import percent, rounded, shortened
from radboost.report.kinds import in_words_of_the_table
from radboost.report.scores import own_losses
from radboost.report.subject import UNKNOWN, Subject
from radboost.rows.contents import take_rows

SHOWN, SHOWN_CELLS, SHOWN_STEPS, SHOWN_QUESTIONS = 8, 12, 6, 6


def hardest(subject: Subject) -> Section | None:
    """Of a classifier the rows whose true class was thought least likely, of a regressor the largest residuals."""
    if subject.classifies and subject.probabilities is not None:
        losses = -np.log(np.maximum(subject.truth_probability, 1e-300))
        lead = "The rows whose true class was thought least likely: wrong labels, strange rows, or what it cannot do."
    else:
        losses = own_losses(subject)
        lead = "The rows on which the answer is farthest off: wrong targets, strange rows, or what the model cannot do."
    order = np.argsort(-losses, kind="stable")
    seen: set[int] = set()
    chosen: list[int] = []
    for row in order.tolist():
        if losses[row] <= 0.0 or len(chosen) == SHOWN:
            break
        key = int(subject.test.keys[row])
        if key not in seen:  # copies tell nothing new
            seen.add(key)
            chosen.append(row)
    if not chosen:
        return None
    cards, reason = [], ""
    for row in chosen:
        try:
            found = subject.model.explain(take_rows(subject.test.X, [row]))
            told: Explanation | None = in_words_of_the_table(found, subject.kinds)
        except TypeError as error:
            told, reason = None, str(error)
        cards.append(_card(subject, row, told))
    blocks: list[Block] = [
        RowCards(tuple(cards), f"{subject.counting[0].upper()}{subject.counting[1:]}; copies are left out.")
    ]
    if reason:
        blocks.append(Text((reason,), "note"))
    return Section("rows", "The hardest rows", lead, tuple(blocks))


def _card(subject: Subject, row: int, told: Explanation | None) -> RowCard:
    columns = [] if told is None else [one.column for one in told.contributions if one.column is not None]
    shown = (columns or subject.by_gain())[:SHOWN_CELLS]
    return RowCard(
        name=f"row {subject.test.number(row):,}",
        truth=_text(subject, subject.test.y[row]),
        answer=_text(subject, subject.predicted[row]),
        certainty=_certainty(subject, row),
        cells=tuple((shortened(subject.names[place]), shortened(subject.cell(row, place))) for place in shown),
        steps=() if told is None else _steps(told),
    )


def _steps(told: Explanation) -> tuple[Step, ...]:
    """Where every row begins, what columns add, and the questions that moved the score most."""
    start = "the intercept" if told.formula else "where every row starts"
    parts = added_up(told.contributions, SHOWN_STEPS, "more term" if told.formula else "more column")
    steps = [Step(start, rounded(told.base)), *(Step(shortened(text, 160), rounded(value)) for text, value in parts)]
    end = f"the score, for {told.answer!s} against {told.runner_up!s}" if told.classifies else "the score"
    steps.append(Step(shortened(end, 160), rounded(told.score)))
    asked = gather(told.questions)[:SHOWN_QUESTIONS]
    steps += [Step(f"asked: {shortened(one.text, 160)}", rounded(one.effect)) for one in asked]
    return tuple(steps)


def _certainty(subject: Subject, row: int) -> str:
    if not subject.classifies:
        return f"off by {number_text(abs(float(subject.test.y[row]) - float(subject.predicted[row])))}"
    if subject.probabilities is None:
        return ""
    sure = f"{percent(float(subject.probabilities[row].max()))} sure"
    if subject.test.class_ids[row] == UNKNOWN:
        return f"{sure}; does not know the truth"
    return f"{sure}; gave the truth {percent(float(subject.truth_probability[row]))}"


def _text(subject: Subject, value: Any) -> str:
    return shortened(str(value)) if subject.classifies else number_text(float(value))
