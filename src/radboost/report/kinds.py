"""Dates and truth values, which a model sees as numbers, in the words of the table that it was fitted to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from radboost._numbers import number_text
from radboost.explain.explanation import Asked, Explanation

Kinds = Mapping[int, str]
"""Index of a column -> "date" or "boolean"; other columns are left out."""
SECONDS_A_DAY = 86_400


def kinds_of(model: Any, names: Sequence[str]) -> dict[int, str]:
    """Kinds of columns from the schema of a model that `radboost fit` made; empty without a schema."""
    columns = getattr(getattr(model, "schema_", None), "columns", ())
    kinds = {column.name: column.kind for column in columns if column.kind in ("date", "boolean")}
    return {index: kinds[name] for index, name in enumerate(names) if name in kinds}


def date_text(days: float) -> str:
    """Date of days since 1970, such as 2020-12-31, or 2020-12-31 23:59:59 where they are not whole."""
    seconds = round(days * SECONDS_A_DAY)
    whole = seconds % SECONDS_A_DAY == 0
    moment = np.datetime64(seconds // SECONDS_A_DAY, "D") if whole else np.datetime64(seconds, "s")
    return str(moment).replace("T", " ")


def value_text(kind: str | None, value: float, show: Callable[[float], str] = number_text) -> str:
    """Value of a column of this kind as text; `show` is for numbers that are neither dates nor truth values."""
    if kind == "date":
        return date_text(value)
    if kind == "boolean" and value in (0.0, 1.0):
        return "true" if value else "false"
    return show(value)


class _Unquoted(str):
    """Text that is shown in an explanation without quotes, as a number would be."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def in_words_of_the_table(explained: Explanation, kinds: Kinds) -> Explanation:
    """Explanation with dates and truth values for numbers; terms of a formula stay numbers."""
    if explained.formula or not kinds:
        return explained
    contributions = tuple(
        replace(one, value=_Unquoted(value_text(kinds[one.column], float(one.value))))
        if one.column is not None and one.column in kinds and not one.remark
        else one
        for one in explained.contributions
    )
    return replace(explained, contributions=contributions, questions=_questions(explained.questions, kinds))


def _questions(questions: Sequence[Asked], kinds: Kinds) -> tuple[Asked, ...]:
    """Join questions about a date with one outcome, from the first threshold to the last; largest effects first."""
    groups: dict[tuple[int, bool], list[Asked]] = {}
    others = []
    for one in questions:
        if one.column in kinds and one.threshold is not None:
            groups.setdefault((one.column, one.yes), []).append(one)
        else:
            others.append(one)
    made = [_one_question(group, kinds[column]) for (column, _), group in groups.items()]
    return tuple(sorted([*others, *made], key=lambda one: (-abs(one.effect), one.question, one.yes)))


def _one_question(group: list[Asked], kind: str) -> Asked:
    thresholds = [one.threshold for one in group if one.threshold is not None]
    name = group[0].question[: group[0].question.rindex(" <= ")]
    if kind == "boolean":
        question = f"{name} = false"
    else:
        ends = list(dict.fromkeys(date_text(end) for end in (min(thresholds), max(thresholds))))
        question = f"{name} <= {' ... '.join(ends)}"
    effect, times = math.fsum(one.effect for one in group), sum(one.times for one in group)
    return replace(group[0], question=question, effect=effect, times=times, threshold=None)
