"""Which classes are taken for which, and what another threshold would do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.report.blocks import (
    Block,
    Cell,
    Columns,
    Confusion,
    Lines,
    Section,
    Series,
    Table,
    Tabs,
    Text,
    ThresholdExplorer,
)
from radboost.report.figures import (
    between,
    count,
    groups_among,
    percent,
    plain,
    plain_all,
    rounded,
    share_interval,
    shortened,
    thinned,
)
from radboost.report.scores import scores_of
from radboost.report.subject import UNKNOWN, Subject

MOST_THRESHOLDS, MOST_POINTS, MOST_CLASSES = 200, 200, 30


def answers(subject: Subject) -> Section | None:
    """Confusion, precision and recall; with two classes thresholds, ROC, and precision against recall."""
    if not subject.classifies:
        return None
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if not len(known):
        return None
    counts = confusion_counts(subject, known)
    by_class = _by_class(subject, counts, known)
    blocks: list[Block] = [*_confusion(subject, counts), by_class]
    if len(subject.classes) == 2 and subject.probabilities is not None:
        explorer, curves = _two_classes(subject, known)
        groups = (
            ("Threshold and costs", (explorer,)),
            ("Confusion", tuple(blocks)),
            ("Curves", (curves,)),
        )
        blocks = [Tabs(groups)]
    return Section("answers", "Answers", _lead(subject, counts), tuple(blocks))


def confusion_counts(subject: Subject, known: npt.NDArray[np.intp]) -> FloatArray:
    """Rows, or their weight, of each true class (lines) that got each answer (columns)."""
    n, given = len(subject.classes), subject.answer_ids[known]
    totals = np.bincount(subject.test.class_ids[known] * n + given, subject.test.weight()[known], n * n)
    return np.asarray(totals.reshape(n, n), dtype=np.float64)


def _lead(subject: Subject, counts: FloatArray) -> str:
    off = counts - np.diag(np.diag(counts))
    if not off.any():
        return "No held-out row was answered wrongly."
    true, given = np.unravel_index(int(off.argmax()), off.shape)
    share = off[true, given] / off.sum()
    names = shortened(subject.class_names[true]), shortened(subject.class_names[given])
    return f"The most frequent mistake, {percent(share, 0)} of all: {names[0]} taken for {names[1]}."


def _confusion(subject: Subject, counts: FloatArray) -> list[Block]:
    n = len(subject.classes)
    if n > MOST_CLASSES:
        return [
            Text(
                (f"{n} classes are too many to show which is taken for which; the table below has the worst.",), "note"
            )
        ]
    unit = "weight" if subject.test.weights is not None else "rows"
    return [
        Confusion(
            tuple(shortened(name) for name in subject.class_names),
            tuple(tuple(_cell(value) for value in line) for line in counts),
            f"Held-out {unit} by their true class (lines) and the answer (columns).",
        )
    ]


def _cell(value: float) -> float | int:
    return int(value) if value == int(value) else plain(value)


def _by_class(subject: Subject, counts: FloatArray, known: npt.NDArray[np.intp]) -> Table:
    """Precision and recall of each class, the lowest recall first."""
    test = subject.test
    rows: list[tuple[float, tuple[Cell, ...]]] = []
    for place, name in enumerate(subject.class_names):
        hits, there, said = counts[place, place], counts[place].sum(), counts[:, place].sum()
        recall, precision = hits / there if there else None, hits / said if said else None
        both = 2.0 * hits / (there + said) if there + said else None
        own = test.class_ids == place
        interval = None
        if there:
            weights = None if test.weights is None else test.weights[own]
            found = share_interval(subject.answer_ids[own] == place, weights, groups_among(test.groups, own))
            interval = between(found[1], percent)
        area = _one_against_others(subject, place, known)
        line = (
            shortened(name),
            _cell(there),
            _cell(said),
            rounded(precision),
            rounded(recall),
            interval,
            rounded(both),
        )
        rows.append((2.0 if recall is None else recall, (*line, rounded(area))))
    rows.sort(key=lambda pair: pair[0])
    caption = (
        "Precision: how many of the rows with this answer are right. Recall: how many rows of this class are found."
    )
    if len(rows) > MOST_CLASSES:
        caption += f" The {MOST_CLASSES} classes with the lowest recall."
    columns = ("class", "there", "answered", "precision", "recall", "95% interval of recall", "F1", "area under ROC")
    return Table(columns, tuple(line for _, line in rows[:MOST_CLASSES]), caption)


def _one_against_others(subject: Subject, place: int, known: npt.NDArray[np.intp]) -> float | None:
    from sklearn.metrics import roc_auc_score

    truth = subject.test.class_ids[known] == place
    if subject.probabilities is None or truth.all() or not truth.any():
        return None
    weights = None if subject.test.weights is None else subject.test.weights[known]
    return float(roc_auc_score(truth, subject.probabilities[known, place], sample_weight=weights))


def _two_classes(subject: Subject, known: npt.NDArray[np.intp]) -> tuple[Block, Block]:
    """What each threshold does, and the curves over all of them."""
    assert subject.probabilities is not None
    stated, truth = subject.probabilities[known, 1], subject.test.class_ids[known] == 1
    weights = subject.test.weight()[known]
    explorer = _explorer(subject, stated, truth, weights)
    if truth.all() or not truth.any():
        name = subject.class_names[int(truth[0])]
        return explorer, Text((f"All held-out rows are of the class {name}: there are no curves to draw.",), "note")
    curves = Columns((_roc(subject, stated, truth, weights), _precision_recall(subject, stated, truth, weights)))
    return explorer, curves


def _explorer(
    subject: Subject, stated: FloatArray, truth: npt.NDArray[np.bool_], weights: FloatArray
) -> ThresholdExplorer:
    thresholds = _thresholds(stated)
    order = np.argsort(stated, kind="stable")
    # The weight of each class at or below a threshold: an answer is positive above it.
    below = np.searchsorted(stated[order], thresholds, side="right")
    positive = np.concatenate([[0.0], np.cumsum((weights * truth)[order])])
    negative = np.concatenate([[0.0], np.cumsum((weights * ~truth)[order])])
    false_negative, true_negative = positive[below], negative[below]
    return ThresholdExplorer(
        positive=shortened(subject.class_names[1]),
        negative=shortened(subject.class_names[0]),
        thresholds=plain_all(thresholds),
        true_positive=tuple(_cell(value) for value in positive[-1] - false_negative),
        false_positive=tuple(_cell(value) for value in negative[-1] - true_negative),
        false_negative=tuple(_cell(value) for value in false_negative),
        true_negative=tuple(_cell(value) for value in true_negative),
        caption="A row is answered with the positive class where its probability is above the threshold. A threshold "
        "that is chosen here should be judged on other rows.",
    )


def _thresholds(stated: FloatArray) -> FloatArray:
    """At most 200, rising: hundredths, and where the rows are; rounded so that what is shown is what was counted."""
    steps = np.linspace(0.0, 1.0, 101)
    rows = np.quantile(stated, np.linspace(0.0, 1.0, MOST_THRESHOLDS - len(steps)))
    return np.unique([float(f"{one:.4f}") for one in np.concatenate([steps, rows])])


def _roc(subject: Subject, stated: FloatArray, truth: npt.NDArray[np.bool_], weights: FloatArray) -> Lines:
    from sklearn.metrics import roc_curve

    x, y, _ = roc_curve(truth, stated, sample_weight=weights)
    chosen = thinned(len(x), MOST_POINTS)
    assert subject.probabilities is not None
    found = next(one for one in scores_of(subject, subject.baselines) if one.name == "AUC")
    sure = "" if found.interval is None else f" (95% interval {between(found.interval, lambda value: f'{value:.3f}')})"
    return Lines(
        "ROC",
        "share of negative rows above the threshold",
        "share of positive rows above it",
        (Series(f"area {found.value:.3f}", plain_all(x[chosen]), plain_all(y[chosen])),),
        diagonal=True,
        caption=f"The area under the curve is {found.value:.3f}{sure}: how often a positive row is above a negative "
        "one.",
    )


def _precision_recall(subject: Subject, stated: FloatArray, truth: npt.NDArray[np.bool_], weights: FloatArray) -> Lines:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    precision, recall, _ = precision_recall_curve(truth, stated, sample_weight=weights)
    chosen = thinned(len(recall), MOST_POINTS)[::-1]
    area = float(average_precision_score(truth, stated, sample_weight=weights))
    base = float(np.average(truth, weights=weights))
    return Lines(
        "Precision and recall",
        "recall",
        "precision",
        (
            Series(f"area {area:.3f}", plain_all(recall[chosen]), plain_all(precision[chosen])),
            Series("by chance", (0, 1), (plain(base), plain(base)), style="dashed"),
        ),
        caption=f"Average precision {area:.3f}; answers by chance have {base:.3f}, the share of "
        f"{shortened(subject.class_names[1])} among {count(len(truth), 'row')}.",
    )
