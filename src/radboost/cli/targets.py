"""Target column: classes or numbers, and how that is decided."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._numbers import listed
from radboost._typing import FloatArray
from radboost.cli.cells import MOST_DIFFERENT, Cells
from radboost.cli.kinds import CATEGORY, NUMBER, CellKind, Number, infer_kind

MOST_WHOLE_NUMBERS = 20  # different ones that are taken as classes
FEWEST_ROWS_OF_EACH = 10  # rows for each whole number that is taken as a class
MOST_TEXTS = 100  # different ones without --task; above `MOST_WHOLE_NUMBERS` also at most a tenth of the rows
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})$")


@dataclass(frozen=True)
class Target:
    """Task of a target, and the reason for it."""

    task: str
    """Either "classes" or "numbers"."""
    reason: str
    number: Number = NUMBER
    """How numbers are written."""
    classes: npt.NDArray[Any] | None = None
    """Labels: integers if all texts are, otherwise texts; None for numbers."""

    def labels(self, cells: Cells) -> npt.NDArray[Any]:
        """Labels or numbers of rows that all have a target."""
        if self.classes is not None:
            return known_labels(cells, self.classes)[0]
        numbers = self.number.numbers(cells)
        assert numbers is not None  # by `decide_target`
        check_all_numbers(cells, numbers)
        return numbers


def check_all_numbers(cells: Cells, numbers: FloatArray) -> None:
    """Refuse a target of which some texts have no number."""
    rows = cells.present[np.isnan(numbers[cells.present])]
    if not len(rows):
        return
    words = [cells.texts[rank] for rank in dict.fromkeys(cells.ranks[rows].tolist())]
    shown = cells.examples(set(words).__contains__, 5)
    more = f" and {len(words) - 5:,} other texts" if len(words) > 5 else ""
    raise ValueError(
        f"the target {cells.name!r} holds numbers, but for {shown}{more}; correct these rows, leave out those with "
        f"such words (--missing {words[0]!r}), or take the target as --task classes"
    )


def decide_target(seen: Cells, n_rows: int, task: str | None) -> Target:
    """Decide by a summary if a target is classes or numbers; ValueError if there is nothing to learn."""
    name, n_values = seen.name, len(seen.values)
    if not n_rows:
        raise ValueError(
            f"the target {name!r} is missing in every row; there is nothing to learn from. Name another --target"
        )
    if seen.more and (seen.form == "text" or task == "classes"):
        raise ValueError(
            f"the target {name!r} has more than {MOST_DIFFERENT:,} different values, which are too many to be classes; "
            "name another --target"
        )
    kind = CATEGORY if task == "classes" else infer_kind(seen)
    number = kind if isinstance(kind, Number) else NUMBER
    decided, reason = (task, f"--task {task}") if task is not None else _decide(seen, n_rows, kind)
    if decided == "numbers":
        numbers = number.numbers(seen)
        if numbers is None:
            raise ValueError(
                f"the target {name!r} holds {NUMBER.unlike(seen) or 'dates'}, which is no number, and --task numbers "
                "was given; use --task classes, or correct the column"
            )
        known = numbers[~np.isnan(numbers)]
        if n_rows > 1 and (known == known[0]).all():
            raise ValueError(f"the target {name!r} is {known[0]:g} in every row; there is nothing to learn")
        return Target(decided, reason, number)
    if n_values == 1:
        raise ValueError(
            f"the target {name!r} has one class, {seen.texts[0]!r}, in every row; a classifier needs two or "
            "more. Name another --target"
        )
    most = min(MOST_TEXTS, max(MOST_WHOLE_NUMBERS, n_rows // 10))
    if task is None and seen.form == "text" and n_values > most:
        raise ValueError(
            f"the target {name!r} has {n_values:,} different texts in {n_rows:,} rows "
            f"({listed(seen.texts, 3)}), which are too many to be classes; correct the column if these are numbers, "
            "say --task classes if each of them is a class, or name another --target"
        )
    if n_values > max(2, n_rows // 2):
        raise ValueError(
            f"the target {name!r} has {n_values:,} different values in {n_rows:,} rows, which are too many "
            "to be classes; name another --target"
            + (", or use --task numbers" if NUMBER.numbers(seen) is not None else "")
        )
    whole = all(map(_WHOLE.match, seen.texts))
    return Target(decided, reason, classes=np.array([*map(int, seen.texts)] if whole else seen.texts))


def _decide(seen: Cells, n_rows: int, kind: CellKind) -> tuple[str, str]:
    """Task of a target by its values, and the reason."""
    if isinstance(kind, Number):
        task, reason = _of_numbers(seen, n_rows, kind)
        if kind.written is None:
            return task, reason
        if task == "numbers":
            return task, f"{reason}: {kind.written.shown}"
    return "classes", f"{seen.name!r} holds {'true and false' if seen.form == 'boolean' else 'text'}"


def _of_numbers(seen: Cells, n_rows: int, kind: Number) -> tuple[str, str]:
    numbers = kind.numbers(seen)
    assert numbers is not None  # by `infer_kind`
    values = np.unique(numbers[~np.isnan(numbers)])
    n_values = len(values)
    if n_values <= 2:
        return "classes", f"{seen.name!r} has {n_values} different values"
    if not (values == np.round(values)).all():
        return "numbers", f"{seen.name!r} holds numbers with fractions"
    if n_values <= MOST_WHOLE_NUMBERS and n_rows >= FEWEST_ROWS_OF_EACH * n_values:
        return "classes", f"{seen.name!r} holds only {n_values} different whole numbers (--task numbers if they count)"
    many = f"{'more than ' * seen.more}{n_values:,}"
    return "numbers", f"{seen.name!r} holds {many} different whole numbers in {n_rows:,} rows"


def known_labels(cells: Cells, classes: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], list[str]]:
    """Labels of the rows that have one, as a model knows them, and texts that it does not know.

    Rows with an unknown label keep it: every prediction for them is wrong.
    """
    own, known, whole = cells.as_texts(), set(classes.tolist()), classes.dtype.kind == "i"
    labels = [int(text) if whole and _WHOLE.match(text) else text for text in own.texts]
    unknown = [text for text, label in zip(own.texts, labels, strict=True) if label not in known]
    if unknown and len(unknown) == len(labels):
        raise ValueError(
            f"the column {cells.name!r} holds {listed(unknown, 6)}, and the classes of the model are "
            f"{listed([str(label) for label in classes.tolist()], 6)}; none of them is there. Correct the spelling"
        )
    of_texts = np.array(labels, dtype=object if unknown else classes.dtype)
    return of_texts[own.ranks[own.present]], unknown
