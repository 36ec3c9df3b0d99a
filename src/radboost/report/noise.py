"""How many labels are wrong, and which: rows whose label the model, not having seen them, does not believe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.estimators import RGBClassifier
from radboost.report.blocks import Block, Cell, Section, Table, Text
from radboost.report.figures import count, percent, rounded
from radboost.report.subject import UNKNOWN, Part, Subject
from radboost.rows.contents import Places, folds
from radboost.trees import TreeOptions

N_FOLDS, MOST_ROWS, MOST_CELLS = 4, 4000, 4_000_000
N_ROUNDS = 50
FEWEST_ROWS, FEWEST_OF_CLASS = 50, 5
SHOWN = 20
HOW = (
    "A row is suspected when a model that has not seen it gives another class at least the probability that rows of "
    "that class have of it on average (confident learning). Where classes truly overlap, rows on the wrong side look "
    "the same as wrong labels: take the share as an upper estimate, and the list as rows to look at first."
)
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class NoiseEstimate:
    """What confident learning says of labels.

    `suggested` has for each row the class that its label is confidently another than, or its own; `joint` the estimated
    share of the rows with each label (lines) and each true class (columns).
    """

    share: float
    suggested: Ids
    joint: FloatArray
    thresholds: FloatArray

    def suspects(self, ids: Ids) -> Places:
        """Rows whose label is doubted."""
        return np.flatnonzero(self.suggested != ids)


def confident_learning(probabilities: FloatArray, ids: Ids) -> NoiseEstimate:
    """Wrong labels by probabilities that were not learned from them.

    Northcutt, Jiang and Chuang, Confident Learning, 2021, equations (1) to (3). The threshold of a class is the mean
    probability that rows with its label have of it. A row counts as one of the most probable class among those whose
    threshold it reaches; the counts, with each line scaled to the number of rows with that label, estimate how labels
    and true classes go together. The share off the diagonal is that of wrong labels. Where classes overlap, rows of the
    rarer kind look the same as wrong labels, and are counted.
    """
    n, n_classes = probabilities.shape
    counts = np.bincount(ids, minlength=n_classes)
    own = probabilities[np.arange(n), ids]
    thresholds = np.where(counts > 0, np.bincount(ids, own, n_classes) / np.maximum(counts, 1), np.inf)
    reached = np.where(probabilities >= thresholds, probabilities, -1.0)
    best = reached.argmax(axis=1)
    confident = reached[np.arange(n), best] >= 0.0
    table = np.bincount(ids[confident] * n_classes + best[confident], minlength=n_classes**2)
    joint = table.reshape(n_classes, n_classes).astype(np.float64)
    lines = joint.sum(axis=1)
    empty = lines == 0.0
    joint[empty, empty] = 1.0  # nobody is confident of anything: believe the labels
    joint *= (counts / np.where(empty, 1.0, lines))[:, None] / n
    share = max(0.0, float(joint.sum() - np.trace(joint)))
    return NoiseEstimate(share, np.where(confident, best, ids), joint, thresholds)


def noise(subject: Subject) -> Section | None:
    """Estimates on the held-out rows, by the model, and on training rows, by other fits that did not see them."""
    if not subject.classifies or subject.probabilities is None:
        return None
    judged = _judged(subject)
    if not judged:
        few = f"There are fewer than {FEWEST_ROWS} rows to estimate anything from."
        return Section("labels", "Labels", few, (Text((few,), "note"),))
    rows: list[tuple[Cell, ...]] = []
    blocks: list[Block] = []
    doubted: list[tuple[float, tuple[Cell, ...]]] = []
    for one in judged:
        found = one.estimate
        suspects = found.suspects(one.ids)
        rows.append((one.name, len(one.ids), percent(found.share), len(suspects), one.by))
        doubted += [_suspect(subject, one, int(place)) for place in suspects]
    doubted.sort(key=lambda pair: pair[0])
    first = judged[0].estimate
    blocks.append(
        Table(("part", "rows looked at", "wrong labels, estimated", "rows suspected", "probabilities by"), tuple(rows))
    )
    if doubted:
        blocks.append(
            Table(
                ("part", "row", "label", "more likely", "probability of the label", "of the other"),
                tuple(line for _, line in doubted[:SHOWN]),
                f"The {min(SHOWN, len(doubted))} most doubtful of {count(len(doubted), 'suspected row')}; "
                f"{subject.counting}.",
            )
        )
    if len(subject.classes) <= 12 and first.share > 0.0:
        blocks.append(_confusions(subject, first))
    blocks.append(Text((HOW,), "note"))
    return Section("labels", "Labels", _lead([one.estimate.share for one in judged]), tuple(blocks))


def _lead(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    if max(shares) == 0.0:
        return "No label looks wrong."
    about = high if low == high else f"{low} to {high}"
    return f"About {about} of the labels look wrong, or belong to rows that these columns cannot tell apart."


@dataclass(frozen=True)
class _Judged:
    """Rows of a part with probabilities that were not learned from them."""

    name: str
    by: str
    part: Part
    places: Places  # in the part
    ids: Ids
    probabilities: FloatArray
    estimate: NoiseEstimate


def _judged(subject: Subject) -> list[_Judged]:
    assert subject.probabilities is not None
    found = []
    if subject.train is not None:
        crossed = cross_fitted(subject, subject.train)
        if crossed is not None:
            places, probabilities = crossed
            found.append(_part("training", f"{N_FOLDS} fits to the other rows", subject.train, places, probabilities))
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if len(known) >= FEWEST_ROWS and subject.cost is None:  # with costs what the model says is no probability
        found.append(_part("held-out", "the model", subject.test, known, subject.probabilities[known]))
    return found


def _part(name: str, by: str, part: Part, places: Places, probabilities: FloatArray) -> _Judged:
    ids = part.class_ids[places]
    return _Judged(name, by, part, places, ids, probabilities, confident_learning(probabilities, ids))


def cross_fitted(subject: Subject, part: Part) -> tuple[Places, FloatArray] | None:
    """Places of some rows, and probabilities by models that were fitted to the others; None where that is too dear.

    The models are small ones of gradient boosting, whatever the subject is: they need be good, not the same.
    """
    known = np.flatnonzero(part.class_ids != UNKNOWN)
    rows = min(MOST_ROWS, MOST_CELLS // max(1, subject.n_columns))
    if len(known) < FEWEST_ROWS or rows < min(len(known), FEWEST_ROWS * 4):
        return None
    places = np.intersect1d(part.sample(rows), known)
    ids = part.class_ids[places]
    parts = folds(part.hashes[places], N_FOLDS)
    found = np.zeros((len(places), len(subject.classes)))
    matrix = part.matrix.tocsr()[places] if hasattr(part.matrix, "tocsr") else part.matrix[places]
    for fold in range(N_FOLDS):
        own, others = np.flatnonzero(parts == fold), np.flatnonzero(parts != fold)
        if not len(own):
            continue
        if len(np.unique(ids[others])) < 2:
            return None
        model = RGBClassifier(
            N_ROUNDS,
            learning_rate=0.1,
            categorical_features=sorted(subject.categories) or None,
            calibration=None,
            n_jobs=getattr(subject.model, "n_jobs", None),
            tree_options=TreeOptions(max_bins=64),
        ).fit(matrix[others], ids[others])
        found[np.ix_(own, model.classes_)] = model.predict_proba(matrix[own])
    return places, found


def _suspect(subject: Subject, judged: _Judged, place: int) -> tuple[float, tuple[Cell, ...]]:
    label, other = int(judged.ids[place]), int(judged.estimate.suggested[place])
    own, better = judged.probabilities[place, label], judged.probabilities[place, other]
    line = (
        judged.name,
        judged.part.number(int(judged.places[place])),
        subject.class_names[label],
        subject.class_names[other],
        rounded(own),
        rounded(better),
    )
    return float(own - better), line


def _confusions(subject: Subject, found: NoiseEstimate) -> Table:
    rows = tuple(
        (name, *(rounded(share) for share in found.joint[place])) for place, name in enumerate(subject.class_names)
    )
    return Table(
        ("label", *(f"truly {name}" for name in subject.class_names)),
        rows,
        "Estimated shares of the rows, by the label they have and the class they are of.",
        digits=3,
    )
