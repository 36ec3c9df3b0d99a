"""Data card: rows, columns, and warnings about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost.report.blocks import Block, CellTable, Section, Text
from radboost.report.figures import count, percent, rounded
from radboost.report.html import shortened
from radboost.report.leaks import DECIDES, Finding, findings, quoted
from radboost.report.profile import MOST_COLUMNS, MOST_ROWS, ColumnProfile, profiles
from radboost.report.residuals import distribution
from radboost.report.subject import UNKNOWN, Subject, SubjectRows
from radboost.rows.categories import MOST_CATEGORIES
from radboost.rows.hashing import Hashes

SHOWN_COLUMNS = 60
MOSTLY_MISSING, DRIFT, FEW_ROWS, RARE = 0.5, 0.05, 100, 10
MANY, SERIOUS = 0.01, 0.2  # fractions of rows that are worth a warning, and a doubt about every score
Verbs = tuple[str, str]  # of one column, of several


@dataclass(frozen=True)
class DataCard:
    """Section on the data, and its findings."""

    section: Section
    findings: tuple[Finding, ...]

    @property
    def serious(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.weight == "serious")

    @property
    def n_warnings(self) -> int:
        return sum(one.weight != "note" for one in self.findings)


def data(subject: Subject) -> DataCard:
    """Warnings first, then rows and columns."""
    columns = profiles(subject)
    every = [*_of_columns(columns), *_of_rows(subject), *_of_classes(subject)]
    every.sort(key=lambda one: ("serious", "warning", "note").index(one.weight))
    blocks: list[Block] = [Text((one.text,), "note" if one.weight == "note" else "warning") for one in every]
    if not every:
        fine = "Nothing about the data stands out: no copies, no columns that give the target away."
        blocks.append(Text((fine,), "good"))
    if not subject.classifies:
        train = {} if subject.train is None else {"training": subject.train.y}
        blocks.append(distribution("Targets", "target", {"held-out": subject.test.y, **train}))
    blocks.append(_columns_table(subject, columns))
    n = sum(one.weight != "note" for one in every)
    warnings = count(n, "warning") if n else "nothing to warn of"
    trained = " and learned from" if subject.train is not None else ""
    lead = f"The rows the model was evaluated on{trained}: {warnings}."
    return DataCard(Section("data", "Data", lead, tuple(blocks)), tuple(every))


def duplicates(hashes: Hashes) -> int:
    """Return the number of rows that are copies of an earlier one."""
    return len(hashes) - len(np.unique(hashes))


def contradicting(part: SubjectRows) -> int:
    """Return the number of rows whose cells are those of another row with another target."""
    groups = np.unique(part.hashes, return_inverse=True)[1].reshape(-1)
    _, pairs = np.unique(part.keys, return_index=True)  # a row for each pair of cells and target
    n_targets = np.bincount(groups[pairs])
    return int((n_targets[groups] > 1).sum())


def _of_rows(subject: Subject) -> list[Finding]:
    test, train, made = subject.test, subject.train, []
    if len(test) < FEW_ROWS:
        rows = count(len(test), "held-out row")
        few = f"There are only {rows}: intervals are wide, and most differences between models are chance."
        made.append(Finding(few))
    if train is not None and (copies := np.isin(test.hashes, train.hashes)).any():
        made.append(_copied(subject, copies))
    for part, name in ((test, "held-out"), (train, "training")):
        if part is None:
            continue
        if twice := duplicates(part.hashes):
            text = f"{count(twice, f'{name} row')} ({percent(twice / len(part))}) {_copy(twice)} of another one."
            made.append(Finding(text, "warning" if twice > MANY * len(part) else "note"))
        if clashes := contradicting(part):
            text = (
                f"{count(clashes, f'{name} row')} ({percent(clashes / len(part))}) have the same cells as another row "
                "and a different target: no model can be right on all of them."
            )
            made.append(Finding(text, "warning" if clashes > MANY * len(part) else "note"))
    return made


def _copy(n: int) -> str:
    return "is a copy" if n == 1 else "are copies"


def _copied(subject: Subject, copies: npt.NDArray[np.bool_]) -> Finding:
    """Warning of held-out rows that the model has learned from."""
    n = int(copies.sum())
    fraction = n / len(copies)
    text = f"{count(n, 'held-out row')} ({percent(fraction)}) {_copy(n)} of training rows"
    if subject.classifies and n < len(copies):
        inside, outside = float(subject.wrong[copies].mean()), float(subject.wrong[~copies].mean())
        text += f"; the error is {percent(inside)} there and {percent(outside)} on the others"
    text += ". Held-out rows should be new ones: the scores here may be too good."
    if fraction > SERIOUS:
        return Finding(text, "serious", f"{percent(fraction)} of the held-out rows are copies of training rows")
    return Finding(text, "warning" if fraction > MANY else "note")


def _of_classes(subject: Subject) -> list[Finding]:
    if not subject.classifies:
        return []
    ids, made = subject.test.class_ids, []
    if unknown := int((ids == UNKNOWN).sum()):
        rows, has = count(unknown, "held-out row"), "has" if unknown == 1 else "have"
        made.append(Finding(f"{rows} {has} a label that the model does not know, which counts as a mistake."))
    counts = np.bincount(ids[ids != UNKNOWN], minlength=len(subject.classes))
    absent = [subject.class_names[index] for index in np.flatnonzero(counts == 0)]
    few = [subject.class_names[index] for index in np.flatnonzero((counts > 0) & (counts < RARE))]
    if absent:
        made.append(Finding(f"No held-out row is of the class {quoted(absent)}: nothing is said about it."))
    if few:
        text = f"Fewer than {RARE} held-out rows are of the class {quoted(few)}: its figures are mostly chance."
        made.append(Finding(text))
    return made


def _of_columns(columns: list[ColumnProfile]) -> list[Finding]:
    made = findings([one.suspicion for one in columns])

    def add(chosen: list[ColumnProfile], text: str, *, is_note: bool = False, verbs: Verbs = ("is", "are")) -> None:
        if chosen:
            names, verb = quoted([one.name for one in chosen]), verbs[len(chosen) > 1]
            made.append(Finding(f"{names} {verb} {text}", "note" if is_note else "warning"))

    add([one for one in columns if one.constant], "the same in all rows.", is_note=True)
    add(
        [one for one in columns if one.missing > MOSTLY_MISSING and not one.constant],
        "missing in most rows.",
        is_note=True,
    )
    moved = [
        one
        for one in columns
        if one.missing_in_training is not None and abs(one.missing - one.missing_in_training) > DRIFT
    ]
    add(moved, "missing more often in one part than in the other: were they drawn alike?")
    drifted = sorted((one for one in columns if (one.drift or 0.0) > DRIFT), key=lambda one: -(one.drift or 0.0))
    text = "distributed otherwise in the held-out rows than in the training rows."
    add(drifted, f"{text} Scores are then about the held-out kind of rows.")
    limited = [one for one in columns if one.limited and one.unseen > MANY]
    rows = f"{'up to ' if len(limited) > 1 else ''}{percent(max((one.unseen for one in limited), default=0.0))}"
    text = f"more categories than the {MOST_CATEGORIES} that are told apart. The others, in {rows} of the held-out rows"
    add(limited, f"{text}, count as missing for the model.", verbs=("has", "have"))
    unseen = [one for one in columns if one.unseen > MANY and not one.limited]
    add(unseen, "categories in the held-out rows that the model does not know.", verbs=("has", "have"))
    return made


def _columns_table(subject: Subject, columns: list[ColumnProfile]) -> CellTable:
    by_index = {one.index: one for one in columns}
    shown = [by_index[index] for index in subject.by_gain()[:SHOWN_COLUMNS] if index in by_index]
    rows = tuple(
        (
            shortened(one.name),
            one.kind,
            percent(one.missing) if one.missing else "none",
            one.distinct,
            one.summary,
            rounded(one.suspicion.alone),
            rounded(subject.gains[one.index]),
        )
        for one in shown
    )
    caption = (
        "The most important columns first. 'Alone' is what a column explains by itself, on rows that were not used for "
        "it: 0 for no more than a constant, 1 for everything. Numbers are shown as least, middle, largest."
    )
    if left := subject.n_columns - len(shown):
        caption += f" {count(left, 'more column')} not shown."
    if subject.n_columns > MOST_COLUMNS:
        caption += f" The {MOST_COLUMNS:,} most important columns were examined."
    if max(len(subject.test), 0 if subject.train is None else len(subject.train)) > MOST_ROWS:
        caption += f" At most {MOST_ROWS:,} rows of a part were examined."
    marked = tuple(
        index
        for index, one in enumerate(shown)
        if one.suspicion.id_like or one.constant or (one.suspicion.alone or 0.0) >= DECIDES
    )
    titles = ("column", "kind", "missing", "values", "content", "alone", "fraction of gain")
    return CellTable(titles, rows, caption, marked)
