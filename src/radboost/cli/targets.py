"""Target column: classes or numbers, and how that is decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._number_formats import NumberFormat, WrittenNumbers
from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import Cells, DistinctValues, Texts, as_numbers, as_texts, written_numbers

MOST_WHOLE_NUMBERS = 20  # different ones that are taken as classes
FEWEST_ROWS_OF_EACH = 10  # rows for each whole number that is taken as a class
MOST_TEXTS = 100  # different ones without --task; above `MOST_WHOLE_NUMBERS` also at most a tenth of the rows
MOST_DIFFERENT = 1_000_000  # values that are kept for a decision
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})$")


@dataclass(frozen=True)
class TargetDecision:
    """Task of a target and the reason for it."""

    task: str
    """Either "classes" or "numbers"."""
    reason: str
    texts: Texts | None = None
    """Each class once; None for numbers."""
    number_format: NumberFormat | None = None
    """Format of numbers that programs do not write so."""

    def labels(self, cells: Cells) -> npt.NDArray[Any]:
        """Labels or numbers of rows that all have a target."""
        if self.texts is not None:
            import pyarrow.compute as pc

            texts = as_texts(cells)
            index_of = pc.fill_null(pc.index_in(texts.levels, self.texts.levels), -1).to_numpy(zero_copy_only=False)
            labels, codes = labels_of(self.texts), texts.spread(index_of, -1)
            of_rows: npt.NDArray[Any] = labels[codes]
            return of_rows
        numbers = as_numbers(cells, self.number_format)
        assert numbers is not None  # by `decide_target`
        check_all_numbers(cells, numbers, self.number_format)
        return numbers


@dataclass(frozen=True)
class TargetSummary:
    """Different values of the target in some rows; of too many those that a decision needs."""

    values: DistinctValues
    more: bool = False
    """True if there are more different values than are kept."""

    @classmethod
    def of(cls, cells: Cells) -> TargetSummary:
        return cls(DistinctValues.of(cells))._bounded()

    def merged(self, other: TargetSummary) -> TargetSummary:
        return TargetSummary(self.values.merged(other.values), self.more or other.more)._bounded()

    def _bounded(self) -> TargetSummary:
        """Keep numbers with a fraction before those without; the last value gets the rows of all that go."""
        cells, counts = self.values.cells, self.values.counts
        if len(counts) <= MOST_DIFFERENT:
            return self
        if cells.texts is not None:
            kept = np.arange(MOST_DIFFERENT)
            cells = replace(cells, texts=Texts.of_levels(cells.texts.levels[:MOST_DIFFERENT]))
        else:
            assert cells.numbers is not None
            fraction_first = np.argsort(cells.numbers == np.round(cells.numbers), kind="stable")
            kept = np.sort(fraction_first[:MOST_DIFFERENT])
            cells = replace(cells, numbers=cells.numbers[kept])
        lost = counts.sum() - counts[kept].sum()
        counts = counts[kept]
        counts[-1] += lost
        return TargetSummary(DistinctValues(cells, counts), more=True)

    def decide(self, task: str | None, by_row: Callable[[], Iterable[Cells]]) -> TargetDecision:
        """Decide if the target is classes or numbers; `by_row` has the cells of the rows, for messages."""
        values = self.values.with_rows(by_row)
        decided, name = decide_target(values, task), values.cells.name
        if not self.more:
            return decided
        if decided.texts is not None:
            raise ValueError(
                f"the target {name!r} has more than {MOST_DIFFERENT:,} different values, which are too many to be "
                "classes; name another --target"
            )
        exactly = f"{MOST_DIFFERENT:,} different"
        return replace(decided, reason=decided.reason.replace(exactly, f"more than {exactly}"))


def check_all_numbers(cells: Cells, numbers: FloatArray, number_format: NumberFormat | None) -> None:
    """Refuse a target with a number format if some values have another one."""
    if number_format is None or cells.texts is None:
        return
    kept = present(cells)
    rows = kept[np.isnan(numbers[kept])]
    if not len(rows):
        return
    codes = cells.texts.codes[rows]
    words = {cells.texts.values[code] for code in codes}
    shown = cells.examples(words.__contains__, 5)
    more = f" and {len(words) - 5:,} other texts" if len(words) > 5 else ""
    word = cells.texts.values[codes[0]]
    raise ValueError(
        f"the target {cells.name!r} holds numbers, but for {shown}{more}; correct these rows, leave out those with "
        f"such words (--missing {word!r}), or take the target as --task classes"
    )


def decide_target(values: DistinctValues, task: str | None) -> TargetDecision:
    """Decide if a target is classes or numbers; ValueError if there is nothing to learn."""
    cells, counts = values.cells, values.counts
    if not len(counts):
        raise ValueError(
            f"the target {cells.name!r} is missing in every row; there is nothing to learn from. Name another --target"
        )
    n_rows = int(counts.sum())
    written = None
    if cells.texts is not None and task != "classes" and (as_numbers(cells) is None or not cells.spelled):
        written = written_numbers(values)
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
        known = numbers[~np.isnan(numbers)]
        if n_rows > 1 and (known == known[0]).all():
            raise ValueError(f"the target {cells.name!r} is {known[0]:g} in every row; there is nothing to learn")
        return TargetDecision(decided, reason, number_format=number_format)
    texts, n_values = as_texts(cells), len(counts)
    if n_values < 2:
        raise ValueError(
            f"the target {cells.name!r} has one class, {texts.values[0]!r}, in every row; a classifier needs two or "
            "more. Name another --target"
        )
    if task is None and cells.form == "text" and n_values > min(MOST_TEXTS, max(MOST_WHOLE_NUMBERS, n_rows // 10)):
        raise ValueError(
            f"the target {cells.name!r} has {n_values:,} different texts in {n_rows:,} rows "
            f"({listed(texts.values, 3)}), which are too many to be classes; correct the column if these are numbers, "
            "say --task classes if each of them is a class, or name another --target"
        )
    if n_values > max(2, n_rows // 2):
        raise ValueError(
            f"the target {cells.name!r} has {n_values:,} different values in {n_rows:,} rows, which are too many "
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
    """Label of each different text: integers if all of them are, otherwise texts."""
    if all(_WHOLE.match(text) for text in texts.values):
        return np.array([*map(int, texts.values)], dtype=np.int64)
    return np.array(texts.values, dtype=np.str_)


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
