"""The data card: what the rows and columns are, and what about them should make one careful."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from radboost.report.blocks import Bars, Block, Cell, Section, Table, Text
from radboost.report.figures import count, percent, plain, rounded, shortened
from radboost.report.leaks import DECIDES, Finding, findings, quoted
from radboost.report.profile import MOST_COLUMNS, MOST_ROWS, ColumnProfile, profiles
from radboost.report.subject import UNKNOWN, Part, Subject
from radboost.rows.categories import MOST_CATEGORIES
from radboost.rows.contents import Hashes

SHOWN_COLUMNS, SHOWN_CLASSES, NAMED = 60, 30, 5
MOSTLY_MISSING, DRIFT, FEW_ROWS, RARE = 0.5, 0.05, 100, 10
MANY, SERIOUS = 0.01, 0.2  # shares of rows that are worth a warning, and a doubt about every score


@dataclass(frozen=True)
class DataCard:
    """The section, and what was found."""

    section: Section
    findings: tuple[Finding, ...]

    @property
    def serious(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.weight == "serious")

    @property
    def n_warnings(self) -> int:
        return sum(one.weight != "note" for one in self.findings)


def data(subject: Subject) -> DataCard:
    """Rows, columns, classes, and warnings first."""
    found = profiles(subject)
    findings = [*_of_columns(found), *_of_rows(subject), *_of_classes(subject)]
    findings.sort(key=lambda one: ("serious", "warning", "note").index(one.weight))
    blocks: list[Block] = [Text((one.text,), "note" if one.weight == "note" else "warning") for one in findings]
    if not findings:
        fine = "Nothing about the data stands out: no copies, no columns that give the target away."
        blocks.append(Text((fine,), "good"))
    blocks.append(_rows_table(subject, found))
    blocks.append(_balance(subject) if subject.classifies else _targets(subject))
    blocks.append(_columns_table(subject, found))
    card = DataCard(Section("data", "Data", "", tuple(blocks)), tuple(findings))
    said = count(card.n_warnings, "warning") if card.n_warnings else "nothing to warn of"
    lead = f"The rows the model was judged on{' and learned from' if subject.train is not None else ''}: {said}."
    return replace(card, section=replace(card.section, lead=lead))


def duplicates(hashes: Hashes) -> int:
    """Rows that are copies of an earlier one."""
    return len(hashes) - len(np.unique(hashes))


def contradicting(part: Part) -> int:
    """Rows whose cells are those of another row with another target."""
    groups = np.unique(part.hashes, return_inverse=True)[1].reshape(-1)
    _, pairs = np.unique(part.keys, return_index=True)  # a row for each pair of cells and target
    n_targets = np.bincount(groups[pairs])
    return int((n_targets[groups] > 1).sum())


def _of_rows(subject: Subject) -> list[Finding]:
    test, train, found = subject.test, subject.train, []
    if len(test) < FEW_ROWS:
        rows = count(len(test), "held-out row")
        found.append(
            Finding(f"There are only {rows}: intervals are wide, and most differences between models are chance.")
        )
    if train is not None:
        copies = np.isin(test.hashes, train.hashes)
        if copies.any():
            found.append(_copied(subject, copies))
    for part, name in ((test, "held-out"), (train, "training")):
        if part is None:
            continue
        twice = duplicates(part.hashes)
        if twice:
            text = f"{count(twice, f'{name} row')} ({percent(twice / len(part))}) {_copy(twice)} of another one."
            found.append(Finding(text, "warning" if twice > MANY * len(part) else "note"))
        clashes = contradicting(part)
        if clashes:
            text = (
                f"{count(clashes, f'{name} row')} ({percent(clashes / len(part))}) have the same cells as another row "
                "and a different target: no model can be right on all of them."
            )
            found.append(Finding(text, "warning" if clashes > MANY * len(part) else "note"))
    return found


def _copy(n: int) -> str:
    return "is a copy" if n == 1 else "are copies"


def _copied(subject: Subject, copies: npt.NDArray[np.bool_]) -> Finding:
    """Held-out rows that the model has learned from."""
    n = int(copies.sum())
    share = n / len(copies)
    text = f"{count(n, 'held-out row')} ({percent(share)}) {_copy(n)} of training rows"
    if subject.classifies and n < len(copies):
        inside, outside = float(subject.wrong[copies].mean()), float(subject.wrong[~copies].mean())
        text += f"; the error is {percent(inside)} there and {percent(outside)} on the others"
    text += ". Held-out rows should be new ones: the scores here may be too good."
    if share > SERIOUS:
        return Finding(text, "serious", f"{percent(share)} of the held-out rows are copies of training rows")
    return Finding(text, "warning" if share > MANY else "note")


def _of_classes(subject: Subject) -> list[Finding]:
    if not subject.classifies:
        return []
    ids, found = subject.test.class_ids, []
    unknown = int((ids == UNKNOWN).sum())
    if unknown:
        rows = count(unknown, "held-out row")
        has = "has" if unknown == 1 else "have"
        found.append(Finding(f"{rows} {has} a label that the model does not know, which counts as a mistake."))
    counts = np.bincount(ids[ids != UNKNOWN], minlength=len(subject.classes))
    absent = [subject.class_names[place] for place in np.flatnonzero(counts == 0)]
    few = [subject.class_names[place] for place in np.flatnonzero((counts > 0) & (counts < RARE))]
    if absent:
        found.append(Finding(f"No held-out row is of the class {quoted(absent)}: nothing is said about it."))
    if few:
        text = f"Fewer than {RARE} held-out rows are of the class {quoted(few)}: its figures are mostly chance."
        found.append(Finding(text))
    return found


def _of_columns(found: list[ColumnProfile]) -> list[Finding]:
    def named(chosen: list[ColumnProfile]) -> str:
        return quoted([one.name for one in chosen])

    told = findings([one.suspicion for one in found])
    constant = [one for one in found if one.constant]
    if constant:
        told.append(Finding(f"{named(constant)} {_is(constant)} the same in all rows.", "note"))
    empty = [one for one in found if one.missing > MOSTLY_MISSING and not one.constant]
    if empty:
        told.append(Finding(f"{named(empty)} {_is(empty)} missing in most rows.", "note"))
    moved = [one for one in found if _moved(one)]
    if moved:
        text = f"{named(moved)} {_is(moved)} missing more often in one part than in the other: were they drawn alike?"
        told.append(Finding(text))
    drifted = sorted((one for one in found if (one.drift or 0.0) > DRIFT), key=lambda one: -(one.drift or 0.0))
    if drifted:
        text = f"{named(drifted)} {_is(drifted)} distributed otherwise in the held-out rows than in the training rows."
        told.append(Finding(f"{text} Scores are then about the held-out kind of rows."))
    limited = [one for one in found if one.limited and one.unseen > MANY]
    if limited:
        has = "has" if len(limited) == 1 else "have"
        rows = percent(max(one.unseen for one in limited))
        up_to = "up to " if len(limited) > 1 else ""
        text = f"{named(limited)} {has} more categories than the {MOST_CATEGORIES} that are told apart."
        told.append(
            Finding(f"{text} The others, in {up_to}{rows} of the held-out rows, count as missing for the model.")
        )
    unseen = [one for one in found if one.unseen > MANY and not one.limited]
    if unseen:
        has = "has" if len(unseen) == 1 else "have"
        told.append(Finding(f"{named(unseen)} {has} categories in the held-out rows that the model does not know."))
    return told


def _is(chosen: list[ColumnProfile]) -> str:
    return "is" if len(chosen) == 1 else "are"


def _moved(one: ColumnProfile) -> bool:
    return one.missing_in_training is not None and abs(one.missing - one.missing_in_training) > DRIFT


def _rows_table(subject: Subject, found: list[ColumnProfile]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for part, name in ((subject.train, "training"), (subject.test, "held-out")):
        if part is None:
            continue
        missing = [one.missing if part is subject.test else one.missing_in_training for one in found]
        share = float(np.mean([0.0 if one is None else one for one in missing])) if missing else 0.0
        weight = None if part.weights is None else rounded(part.weights.sum())
        rows.append((name, len(part), weight, subject.n_columns, percent(share), duplicates(part.hashes)))
    return Table(("part", "rows", "weight", "columns", "missing cells", "copies"), tuple(rows))


def _balance(subject: Subject) -> Bars:
    series: list[tuple[str, tuple[float, ...]]] = []
    counted: tuple[int, ...] = ()
    order = None
    for part, name in ((subject.test, "held-out"), (subject.train, "training")):
        if part is None:
            continue
        known = part.class_ids != UNKNOWN
        totals = np.bincount(part.class_ids[known], part.weight()[known], len(subject.classes))
        if order is None:
            order = np.argsort(-totals, kind="stable")[:SHOWN_CLASSES]
            counted = tuple(int(n) for n in np.bincount(part.class_ids[known], minlength=len(totals))[order])
        shares = totals / (totals.sum() or 1.0)
        series.append((name, tuple(plain(shares[one]) for one in order)))
    assert order is not None
    more = len(subject.classes) - len(order)
    return Bars(
        title="Classes",
        x_label="share of the rows",
        names=tuple(shortened(subject.class_names[one]) for one in order),
        series=tuple(series),
        counts=counted,
        caption=f"The {len(order)} largest classes; {more} more are not shown." if more else "",
    )


def _targets(subject: Subject) -> Block:
    from radboost.report.residuals import histogram

    parts = [("held-out", subject.test.y)]
    if subject.train is not None:
        parts.append(("training", subject.train.y))
    return histogram("Targets", "target", parts)


def _columns_table(subject: Subject, found: list[ColumnProfile]) -> Table:
    by_place = {one.place: one for one in found}
    shown = [by_place[place] for place in subject.by_gain()[:SHOWN_COLUMNS] if place in by_place]
    rows = tuple(
        (
            shortened(one.name),
            one.kind,
            percent(one.missing) if one.missing else "none",
            one.distinct,
            one.summary,
            rounded(one.suspicion.alone),
            rounded(subject.gains[one.place]),
        )
        for one in shown
    )
    left = subject.n_columns - len(shown)
    caption = (
        "The most important columns first. 'Alone' is what a column explains by itself, on rows that its answers were "
        "not read off: 0 for no more than a constant, 1 for everything. Numbers are shown as least, middle, largest."
    )
    if left:
        caption += f" {count(left, 'more column')} not shown."
    if subject.n_columns > MOST_COLUMNS:
        caption += f" The {MOST_COLUMNS:,} most important columns were looked at."
    if max(len(subject.test), 0 if subject.train is None else len(subject.train)) > MOST_ROWS:
        caption += f" At most {MOST_ROWS:,} rows of a part were looked at."
    marked = tuple(
        place
        for place, one in enumerate(shown)
        if one.suspicion.id_like or one.constant or (one.suspicion.alone or 0.0) >= DECIDES
    )
    columns = ("column", "kind", "missing", "values", "what is there", "alone", "share of gain")
    return Table(columns, rows, caption, marked, digits=3)
