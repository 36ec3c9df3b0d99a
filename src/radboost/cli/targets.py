"""Target column: classes or numbers, and how that is decided."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import Cells, Texts, as_numbers, as_texts, written_numbers

MOST_WHOLE_NUMBERS = 20  # different ones that are taken as classes
FEWEST_ROWS_OF_EACH = 10  # rows for each whole number that is taken as a class
MOST_TEXTS = 100  # different ones without --task; above `MOST_WHOLE_NUMBERS` also at most a tenth of the rows
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})$")


@dataclass(frozen=True)
class TargetColumn:
    """Target of the rows that have one."""

    name: str
    task: str
    """Either "classes" or "numbers"."""
    reason: str
    y: npt.NDArray[Any]
    kept: npt.NDArray[np.int64]
    """Indices of the rows that have a value."""
    number_format: NumberFormat | None = None
    """Format of numbers that programs do not write so."""


@dataclass(frozen=True)
class TargetDecision:
    """Task of a target and the reason for it; for classes also the texts."""

    task: str
    reason: str
    texts: Texts | None = None
    number_format: NumberFormat | None = None


def read_target(cells: Cells, task: str | None) -> TargetColumn:
    """Target of a fit."""
    kept = present(cells)
    decided = decide_target(cells, np.ones(len(kept), dtype=np.int64), task)
    if decided.texts is not None:
        return TargetColumn(cells.name, decided.task, decided.reason, labels_of(decided.texts)[kept], kept)
    numbers = as_numbers(cells, decided.number_format)
    assert numbers is not None  # by `decide_target`
    check_all_numbers(cells, numbers, decided.number_format)
    return TargetColumn(cells.name, decided.task, decided.reason, numbers[kept], kept, decided.number_format)


def check_all_numbers(cells: Cells, numbers: FloatArray, number_format: NumberFormat | None) -> None:
    """Refuse a target with a number format if some values have another one."""
    if number_format is None or cells.texts is None:
        return
    kept = present(cells)
    rows = kept[np.isnan(numbers[kept])]
    if not len(rows):
        return
    words = {cells.texts.values[code] for code in cells.texts.codes[rows]}
    shown = cells.examples(words.__contains__, 5)
    more = f" and {len(words) - 5:,} other texts" if len(words) > 5 else ""
    word = cells.texts.values[cells.texts.codes[rows[0]]]
    raise ValueError(
        f"the target {cells.name!r} holds numbers, but for {shown}{more}; correct these rows, leave out those with "
        f"such words (--missing {word!r}), or take the target as --task classes"
    )


def decide_target(cells: Cells, counts: npt.NDArray[np.int64], task: str | None) -> TargetDecision:
    """Decide if a target is classes or numbers; ValueError if there is nothing to learn.

    `counts` has the number of rows of each value of `cells` that is present.
    """
    if not len(counts):
        raise ValueError(
            f"the target {cells.name!r} is missing in every row; there is nothing to learn from. Name another --target"
        )
    n_rows = int(counts.sum())
    written = None
    if cells.texts is not None and task != "classes" and (as_numbers(cells) is None or not cells.spelled):
        codes = cells.texts.codes[present(cells)]
        written = written_numbers(cells, np.bincount(codes, counts, len(cells.texts.values)).astype(int).tolist())
    decided, reason = _decide(cells, n_rows, written) if task is None else (task, f"--task {task}")
    number_format = None if written is None else written.format
    if decided == "numbers":
        numbers = as_numbers(cells, number_format)
        if numbers is None:
            example = cells.unlike("number")
            raise ValueError(
                f"the target {cells.name!r} holds {example}, which is no number, and --task numbers was given; "
                "use --task classes, or correct the column"
            )
        values = numbers[~np.isnan(numbers)]
        if n_rows > 1 and (values == values[0]).all():
            raise ValueError(f"the target {cells.name!r} is {values[0]:g} in every row; there is nothing to learn")
        return TargetDecision(decided, reason, number_format=number_format)
    texts = as_texts(cells)
    used = np.flatnonzero(texts.counts)
    if len(used) < 2:
        raise ValueError(
            f"the target {cells.name!r} has one class, {texts.values[used[0]]!r}, in every row; a classifier needs two "
            "or more. Name another --target"
        )
    if task is None and cells.form == "text" and len(used) > min(MOST_TEXTS, max(MOST_WHOLE_NUMBERS, n_rows // 10)):
        raise ValueError(
            f"the target {cells.name!r} has {len(used):,} different texts in {n_rows:,} rows "
            f"({listed([texts.values[index] for index in used], 3)}), which are too many to be classes; correct the "
            "column if these are numbers, say --task classes if each of them is a class, or name another --target"
        )
    if len(used) > max(2, n_rows // 2):
        raise ValueError(
            f"the target {cells.name!r} has {len(used):,} different values in {n_rows:,} rows, which are too many "
            "to be classes; name another --target"
            + (", or use --task numbers" if as_numbers(cells) is not None else "")
        )
    return TargetDecision(decided, reason, texts)


def _decide(cells: Cells, n_rows: int, written: WrittenNumbers | None) -> tuple[str, str]:
    if written is not None:
        task, reason = _of_numbers(cells, n_rows, as_numbers(cells, written.format))
        if task == "numbers":
            return task, f"{reason}: {written.shown}"
    numbers = as_numbers(cells) if cells.form != "boolean" and (cells.spelled or cells.form == "number") else None
    return _of_numbers(cells, n_rows, numbers)


def _of_numbers(cells: Cells, n_rows: int, numbers: FloatArray | None) -> tuple[str, str]:
    if numbers is None:
        return "classes", f"{cells.name!r} holds {'true and false' if cells.form == 'boolean' else 'text'}"
    values = numbers[~np.isnan(numbers)]
    n_values = len(np.unique(values))
    if n_values <= 2:
        return "classes", f"{cells.name!r} has {n_values} different values"
    if not (values == np.round(values)).all():
        return "numbers", f"{cells.name!r} holds numbers with fractions"
    if n_values <= MOST_WHOLE_NUMBERS and n_rows >= FEWEST_ROWS_OF_EACH * n_values:
        return "classes", f"{cells.name!r} holds only {n_values} different whole numbers (--task numbers if they count)"
    return "numbers", f"{cells.name!r} holds {n_values:,} different whole numbers in {n_rows:,} rows"


def labels_of(texts: Texts) -> npt.NDArray[Any]:
    """Labels of rows: integers if all of them are, otherwise texts; arbitrary for rows without one."""
    values: Any = texts.values
    if all(_WHOLE.match(text) for text in values):
        return np.array([*map(int, values), 0], dtype=np.int64)[texts.codes]
    return np.array([*values, ""], dtype=np.str_)[texts.codes]


def known_labels(cells: Cells, classes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], list[str]]:
    """Labels as a model knows them, indices of the rows that have one, and texts that it does not know.

    Rows with an unknown label keep it: every prediction for them is wrong.
    """
    texts = as_texts(cells)
    kept = present(cells)
    if not len(kept):
        raise ValueError(f"the column {cells.name!r}, which has the right answers, is missing in every row")
    by_text = {str(label): label for label in classes.tolist()}
    unknown = [text for text in texts.values if text not in by_text]
    if len(unknown) == len(texts.values):
        raise ValueError(
            f"the column {cells.name!r} holds {listed(unknown, 6)}, and the classes of the model are "
            f"{listed(by_text, 6)}; none of them is there. Correct the spelling"
        )
    if unknown:
        labels = np.array([*(by_text.get(text, text) for text in texts.values), None], dtype=object)
        return labels[texts.codes][kept], kept, unknown
    known = np.array([by_text[text] for text in texts.values], dtype=classes.dtype)
    return known[texts.codes[kept]], kept, []


def present(cells: Cells) -> npt.NDArray[np.int64]:
    """Indices of the rows that have a value."""
    if cells.texts is not None:
        return np.flatnonzero(cells.texts.codes >= 0)
    return np.flatnonzero(~np.isnan(cells.numbers)) if cells.numbers is not None else np.zeros(0, dtype=np.int64)
