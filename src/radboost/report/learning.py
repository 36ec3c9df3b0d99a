"""Course of the fit, and how many of its trees are needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.ensemble import SparseEnsemble
from radboost.plot.curves import course
from radboost.report.blocks import Block, LineChart, Mark, Section, Series, Text
from radboost.report.figures import Groups, count, gathered, groups_among, plain_all, rounded, thinned
from radboost.report.scores import losses_of
from radboost.report.subject import UNKNOWN, Subject

MOST_POINTS, MOST_ROWS, MOST_PAIRS = 150, 5000, 20_000_000


def learning(subject: Subject) -> Section | None:
    """Errors by round, the held-out score by the number of trees, terms of a sparse model."""
    lead = f"The fit ended because: {getattr(subject.model, 'stop_reason_', 'it was done')}."
    blocks = _course(subject)
    staged = _staged(subject)
    if staged is not None:
        lead, chart = staged
        blocks.append(chart)
    if isinstance(subject.model.ensemble_, SparseEnsemble):
        blocks.append(Text((subject.model.to_text(max_trees=20),)))
    return Section("learning", "Learning", lead, tuple(blocks)) if blocks else None


def _course(subject: Subject) -> list[Block]:
    label, curves = course(getattr(subject.model, "history_", {}))
    series = []
    for name, values in curves.items():
        if len(values):
            chosen = thinned(len(values), MOST_POINTS)
            heights = tuple(rounded(one) for one in values[chosen])
            series.append(Series(name, tuple((chosen + 1).tolist()), heights))
    if not series:
        return []
    kept = getattr(subject.model, "n_iter_", None)
    last = max(int(one.x[-1]) for one in series)
    marks = (Mark(int(kept), "chosen"),) if kept is not None and 0 < int(kept) <= last else ()
    why = "all that were made"
    if kept is not None and int(kept) < last:
        why = f"early stopping chose them out of {last:,}"
    elif subject.model.get_params(deep=False).get("n_rounds") == "auto":
        why = "the fit chose their number by trials"
    caption = f"The model keeps the first {int(kept):,} rounds: {why}." if kept is not None else ""
    return [LineChart("Learning curve", "round", label, tuple(series), marks, caption=caption)]


def _staged(subject: Subject) -> tuple[str, LineChart] | None:
    """Held-out score after each round against the number of trees by then, with a sentence on it."""
    if not hasattr(subject.model, "staged_predict") or not hasattr(subject.model.ensemble_, "n_rounds"):
        return None
    n_rounds = int(subject.model.ensemble_.n_rounds)
    if n_rounds < 2:
        return None
    rows = subject.test.sample(max(200, min(MOST_ROWS, MOST_PAIRS // n_rounds)))
    kept = set(thinned(n_rounds, MOST_POINTS).tolist())
    losses = {index: values for index, values in enumerate(_losses_by_round(subject, rows)) if index in kept}
    if not losses:
        return None
    sizes = trees_by_round(subject.model.ensemble_)
    x = [int(sizes[index]) for index in losses]
    weights = subject.test.weight()[rows]
    means = np.array([np.average(values, weights=weights) for values in losses.values()])
    label = "error" if subject.classifies else "quantile loss"
    if not subject.classifies and subject.quantile is None:
        means, label = np.sqrt(means), "RMSE"
    enough = _enough(list(losses.values()), weights, groups_among(subject.test.groups, rows))
    caption = "After each round the model as it was then."
    if len(rows) < len(subject.test):
        caption += f" On {len(rows):,} of {len(subject.test):,} held-out rows."
    if enough == len(x) - 1:
        lead = f"The held-out {label} falls up to the last of {count(x[-1], 'tree')}: more rounds may help."
    else:
        lead = f"The first {x[enough]:,} of {count(x[-1], 'tree')} are as good on the held-out rows as all of them."
    if x[enough] <= 0.7 * x[-1]:
        caption += " As good: within one standard error. model.prune makes models smaller, by more than rounds left out"
        caption += "; choose its size on other rows than these."
    return lead, LineChart(
        f"Held-out {label} against the number of trees",
        "trees",
        label,
        (Series(f"held-out {label}", tuple(x), plain_all(means)),),
        (Mark(x[enough], "as good as all"),) if enough < len(x) - 1 else (),
        caption=caption,
    )


def _enough(losses: list[FloatArray], weights: FloatArray, groups: Groups | None) -> int:
    """First index from which on no loss is above the last one by more than one standard error, paired."""
    first = len(losses) - 1
    for index in range(len(losses) - 1, -1, -1):
        gap = losses[index] - losses[-1]
        mean = float(np.average(gap, weights=weights))
        off = gathered(np.column_stack([weights * (gap - mean)]), groups)[:, 0]
        if mean > float(np.sqrt(np.sum(off**2))) / float(weights.sum()):
            break
        first = index
    return first


def _losses_by_round(subject: Subject, rows: npt.NDArray[np.intp]) -> Iterator[FloatArray]:
    ids_of = {label: index for index, label in enumerate(subject.classes)}
    for predicted in subject.model.staged_predict(subject.test.take(rows)):
        if subject.classifies:
            ids = np.array([ids_of.get(label, UNKNOWN) for label in np.asarray(predicted).tolist()], dtype=np.int64)
            yield (ids != subject.test.class_ids[rows]).astype(np.float64)
        else:
            yield losses_of(subject.test.y[rows], predicted, subject.quantile)


def trees_by_round(ensemble: Any) -> npt.NDArray[np.int64]:
    """Number of different hypotheses after each round; the number of rounds of a model that does not record it."""
    n_rounds = int(ensemble.n_rounds)
    steps = getattr(ensemble, "steps", None)
    if steps is None or not len(steps):
        return np.arange(1, n_rounds + 1)
    _, first = np.unique(steps["hypothesis"], return_index=True)
    entered = np.bincount(steps["round"][first].astype(np.int64), minlength=n_rounds)
    return np.cumsum(entered[:n_rounds])
