"""How the model came about: the course of the fit, where the weight went, and how many trees are needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.ensemble import SparseEnsemble
from radboost.families.sourced import SourcedHypothesis
from radboost.report.blocks import Bars, Block, Cell, Columns, Lines, Mark, Section, Series, Table, Text
from radboost.report.figures import (
    Groups,
    count,
    gathered,
    groups_among,
    percent,
    plain,
    plain_all,
    rounded,
    shortened,
    thinned,
)
from radboost.report.subject import UNKNOWN, Subject
from radboost.trees import Tree
from radboost.tuning.results import differing

POINTS, MOST_ROWS, MOST_PAIRS = 150, 5000, 20_000_000
SHOWN_SIZES, SHOWN_SETTINGS = 16, 12

Group = tuple[tuple[int, str], int, float]  # a place in the order with a name, hypotheses, their share of the weight


def learning(subject: Subject) -> Section | None:
    """Errors by round, and the held-out score against the number of trees."""
    blocks: list[Block] = []
    history = getattr(subject.model, "history_", {})
    curve = _course(subject, history)
    if curve is not None:
        blocks.append(curve)
    staged = _staged(subject)
    lead = f"The fit ended because: {getattr(subject.model, 'stop_reason_', 'it was done')}."
    if staged is not None:
        lines, text, lead_of_size = staged
        blocks += [lines, text]
        lead = lead_of_size
    blocks += _tried(subject)
    if not blocks:
        return None
    return Section("learning", "Learning", lead, tuple(blocks))


def _tried(subject: Subject) -> list[Block]:
    """The settings that a search compared, the best first."""
    results = getattr(subject.asked, "cv_results_", None)
    if not isinstance(results, dict) or "params" not in results or "mean_test_score" not in results:
        return []
    ranks = np.asarray(results.get("rank_test_score", np.arange(len(results["params"]))))
    order = np.argsort(ranks, kind="stable")[:SHOWN_SETTINGS]
    spread = results.get("std_test_score")
    parameters = differing(results)
    rows = tuple(
        (
            shortened(", ".join(one[place] for one in parameters if one[place]) or "the only one", 160),
            rounded(results["mean_test_score"][place]),
            None if spread is None else rounded(spread[place]),
        )
        for place in order.tolist()
    )
    chosen = np.flatnonzero(order == getattr(subject.asked, "best_index_", order[0]))
    told = (
        f"The {len(rows)} best of {count(len(results['params']), 'setting')}, by cross-validation on training rows, "
        "and in what they differ; the chosen one stands out."
    )
    return [Table(("setting", "score, mean", "spread over splits"), rows, told, tuple(chosen.tolist()))]


def _course(subject: Subject, history: Any) -> Lines | None:
    """The history of the fit: errors where there are some, the loss otherwise."""
    keys = {"training": "train_error", "validation": "validation_error"}
    label = "error"
    if "train_error" not in history:
        keys, label = {"training objective": "objective", "validation loss": "validation_loss"}, "loss"
    series = []
    for name, key in keys.items():
        values = np.asarray(history.get(key, ()), dtype=np.float64)
        if len(values):
            chosen = thinned(len(values), POINTS)
            series.append(Series(name, tuple((chosen + 1).tolist()), tuple(rounded(one) for one in values[chosen])))
    if not series:
        return None
    kept = getattr(subject.model, "n_iter_", None)
    last = max(int(one.x[-1]) for one in series)
    marks = (Mark(int(kept), "chosen"),) if kept is not None and 0 < int(kept) <= last else ()
    told = "all that were made"
    if kept is not None and int(kept) < last:
        told = f"early stopping chose them out of {last:,}"
    elif subject.model.get_params(deep=False).get("n_rounds") == "auto":
        told = "the fit chose their number by a look at the rows"
    return Lines(
        "Learning curve",
        "round",
        label,
        tuple(series),
        marks,
        caption=f"The model keeps the first {int(kept):,} rounds: {told}." if kept is not None else "",
    )


def _staged(subject: Subject) -> tuple[Lines, Text, str] | None:
    """The held-out score after each round, against the number of trees by then."""
    if not hasattr(subject.model, "staged_predict") or not hasattr(subject.model.ensemble_, "n_rounds"):
        return None
    n_rounds = int(subject.model.ensemble_.n_rounds)
    if n_rounds < 2:
        return None
    rows = subject.test.sample(max(200, min(MOST_ROWS, MOST_PAIRS // n_rounds)))
    kept = set(thinned(n_rounds, POINTS).tolist())
    losses = {place: found for place, found in enumerate(_losses_by_round(subject, rows)) if place in kept}
    if not losses:
        return None
    sizes = trees_by_round(subject.model.ensemble_)
    places = sorted(losses)
    x = [int(sizes[place]) for place in places]
    weights = subject.test.weight()[rows]
    means = np.array([np.average(losses[place], weights=weights) for place in places])
    if not subject.classifies and subject.quantile is None:
        shown, label = np.sqrt(means), "RMSE"
    else:
        shown, label = means, "error" if subject.classifies else "quantile loss"
    enough = _enough(losses, places, weights, groups_among(subject.test.groups, rows))
    series = [Series(f"held-out {label}", tuple(x), plain_all(shown))]
    marks = (Mark(x[enough], "as good as all"),) if enough < len(x) - 1 else ()
    drawn = f" On {len(rows):,} of {len(subject.test):,} held-out rows." if len(rows) < len(subject.test) else ""
    lines = Lines(
        f"Held-out {label} against the number of trees",
        "trees",
        label,
        tuple(series),
        marks,
        caption=f"After each round the model as it was then.{drawn}",
    )
    return lines, _size_text(x, enough), _size_lead(x, enough, label)


def _enough(losses: dict[int, FloatArray], places: list[int], weights: FloatArray, groups: Groups | None) -> int:
    """The first place from which on no loss is clearly above that of all trees: by one standard error, paired."""
    last = losses[places[-1]]
    first = len(places) - 1
    for place in range(len(places) - 1, -1, -1):
        gap = losses[places[place]] - last
        mean = float(np.average(gap, weights=weights))
        off = gathered(np.column_stack([weights * (gap - mean)]), groups)[:, 0]
        spread = float(np.sqrt(np.sum(off**2))) / float(weights.sum())
        if mean > spread:
            break
        first = place
    return first


def _size_lead(x: list[int], enough: int, label: str) -> str:
    if enough == len(x) - 1:
        return f"The held-out {label} falls up to the last of {count(x[-1], 'tree')}: more rounds may help."
    return f"The first {x[enough]:,} of {count(x[-1], 'tree')} are as good on the held-out rows as all of them."


def _size_text(x: list[int], enough: int) -> Text:
    if enough == len(x) - 1 or x[enough] > 0.7 * x[-1]:
        return Text(("No smaller beginning of the model does as well: its size is used.",), "note")
    told = (
        f"{x[enough]:,} trees would do on these rows, within one standard error. model.prune makes models smaller by "
        "more than leaving out the last rounds; choose its size on other rows than these."
    )
    return Text((told,), "note")


def _losses_by_round(subject: Subject, rows: npt.NDArray[np.intp]) -> Iterator[FloatArray]:
    X = subject.test.take(rows)
    if subject.classifies:
        labels = {label: place for place, label in enumerate(subject.classes)}
        truth = subject.test.class_ids[rows]
        for answers in subject.model.staged_predict(X):
            found = _ids(np.asarray(answers), subject, labels)
            yield (found != truth).astype(np.float64)
        return
    y = np.asarray(subject.test.y[rows], dtype=np.float64)
    level = subject.quantile
    for answers in subject.model.staged_predict(X):
        below = y - np.asarray(answers, dtype=np.float64)
        yield below**2 if level is None else np.maximum(level * below, (level - 1.0) * below)


def _ids(answers: npt.NDArray[Any], subject: Subject, labels: dict[Any, int]) -> npt.NDArray[np.int64]:
    if answers.dtype.kind in "biuf":
        return np.searchsorted(np.asarray(subject.classes), answers).astype(np.int64)
    return np.array([labels.get(label, UNKNOWN) for label in answers.tolist()], dtype=np.int64)


def trees_by_round(ensemble: Any) -> npt.NDArray[np.int64]:
    """How many different hypotheses the model has after each round; rounds where it does not say."""
    n_rounds = int(ensemble.n_rounds)
    steps = getattr(ensemble, "steps", None)
    if steps is None or not len(steps):
        return np.arange(1, n_rounds + 1)
    _, first = np.unique(steps["hypothesis"], return_index=True)
    entered = np.bincount(steps["round"][first].astype(np.int64), minlength=n_rounds)
    return np.cumsum(entered[:n_rounds])


def weights(subject: Subject) -> Section | None:
    """Where the weight of the model is: by the size of trees, and by the family of hypotheses."""
    ensemble = subject.model.ensemble_
    if isinstance(ensemble, SparseEnsemble):
        return _terms(subject, ensemble)
    if not hasattr(ensemble, "weights") or not len(getattr(ensemble, "hypotheses", ())):
        return None
    sizes = np.abs(np.asarray(ensemble.weights, dtype=np.float64))
    total = float(sizes.sum()) or 1.0
    prices = np.asarray(ensemble.complexities, dtype=np.float64)
    kinds = [_family(one) for one in ensemble.hypotheses]
    by_size = _groups([_size(one) for one in ensemble.hypotheses], sizes / total)
    by_family = _groups(kinds, sizes / total)
    blocks: list[Block] = [Columns((_bars("By the number of leaves", by_size), _bars("By family", by_family)))]
    rows: list[tuple[Cell, ...]] = []
    for (_, name), n, share in by_family:
        chosen = np.array([kind[1] == name for kind in kinds])
        mean = float(np.average(prices[chosen], weights=sizes[chosen] if sizes[chosen].any() else None))
        rows.append((name, n, percent(share), rounded(mean) if np.isfinite(mean) else None))
    blocks.append(
        Table(
            ("family", "hypotheses", "share of the weight", "complexity, mean"),
            tuple(rows),
            "Weight is the sum of abs(alpha). Complexity is the r that a hypothesis pays for in the objective: a bound "
            "on the Rademacher complexity of the family it comes from.",
        )
    )
    (_, name), _, share = max(by_family, key=lambda one: one[2])
    n_hypotheses = count(len(ensemble.hypotheses), "hypothesis", "hypotheses")
    lead = f"{n_hypotheses}; {percent(share, 0)} of the weight is on {name}."
    return Section("weights", "Where the weight went", lead, tuple(blocks))


def _terms(subject: Subject, ensemble: SparseEnsemble) -> Section:
    n = int(np.count_nonzero(np.abs(ensemble.weights).sum(axis=1)))
    lead = f"A formula of {count(n, 'term')}; columns without a term play no part."
    text = Text((subject.model.to_text(max_trees=20),))
    return Section("weights", "Where the weight went", lead, (text,))


def _size(hypothesis: Any) -> tuple[int, str]:
    base = hypothesis.base if isinstance(hypothesis, SourcedHypothesis) else hypothesis
    nodes = int(base.n_nodes)
    leaves = (nodes + 1) // 2
    if leaves <= 8:
        return leaves, str(leaves)
    low = 2 ** int(np.floor(np.log2(leaves - 1)))
    return low + 1, f"{low + 1} to {2 * low}"


def _family(hypothesis: Any) -> tuple[int, str]:
    source = ""
    if isinstance(hypothesis, SourcedHypothesis):
        source, hypothesis = f", source {hypothesis.source}", hypothesis.base
    if not isinstance(hypothesis, Tree):
        return 1000, f"{type(hypothesis).__name__}{source}"
    depth = int(hypothesis.depth)
    names = {0: "constants", 1: "stumps"}
    return depth, names.get(depth, f"trees of depth {depth}") + source


def _groups(keys: list[tuple[int, str]], shares: FloatArray) -> list[Group]:
    """Names in order with the number and the share of the hypotheses that have them."""
    found: dict[tuple[int, str], list[float]] = {}
    for key, share in zip(keys, shares.tolist(), strict=True):
        found.setdefault(key, []).append(share)
    return [(key, len(found[key]), float(np.sum(found[key]))) for key in sorted(found)]


def _bars(title: str, groups: list[Group]) -> Bars:
    shown = groups[:SHOWN_SIZES]
    n_trees = sum(n for _, n, _ in groups)
    return Bars(
        title,
        "share",
        tuple(key[1] for key, _, _ in shown),
        (
            ("of the weight", tuple(plain(share) for _, _, share in shown)),
            ("of the hypotheses", tuple(plain(n / n_trees) for _, n, _ in shown)),
        ),
        counts=tuple(n for _, n, _ in shown),
    )
