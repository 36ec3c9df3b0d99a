"""Course of the fit, and the terms of a sparse model."""

from __future__ import annotations

from radboost.ensemble import SparseEnsemble
from radboost.plot.curves import course
from radboost.report.blocks import Block, LineChart, Mark, Section, Series, Text
from radboost.report.figures import rounded, thinned
from radboost.report.subject import Subject

MOST_POINTS = 150


def learning(subject: Subject) -> Section | None:
    """Errors by round, and the terms of a sparse model."""
    blocks = _course(subject)
    if isinstance(subject.model.ensemble_, SparseEnsemble):
        blocks.append(Text((subject.model.to_text(max_trees=20),)))
    lead = f"The fit ended because: {getattr(subject.model, 'stop_reason_', 'it was done')}."
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
