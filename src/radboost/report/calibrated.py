"""Whether probabilities mean what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.report.blocks import Block, Cell, Columns, Histogram, Lines, Section, Series, Table, Text
from radboost.report.figures import Groups, groups_among, percent, plain_all, rounded, share_interval
from radboost.report.scores import SMALLEST
from radboost.report.subject import UNKNOWN, Subject

N_BINS, DRAWS = 10, 400


def calibration_error(
    stated: FloatArray, happened: npt.NDArray[np.bool_], weights: FloatArray, n_bins: int = N_BINS
) -> float:
    """The expected calibration error: the mean distance, by weight, of what was stated and what happened in each bin.

    Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, 2017, equation (3); bins of equal width.
    """
    places = _bins(stated, n_bins)
    total = np.bincount(places, weights, n_bins)
    gaps = np.bincount(places, weights * stated, n_bins) - np.bincount(places, weights * happened, n_bins)
    return float(np.abs(gaps).sum() / total.sum())


def by_chance(stated: FloatArray, weights: FloatArray, seed: int, groups: Groups | None = None) -> tuple[float, float]:
    """What the error is where probabilities are exactly right: its mean, and what 19 of 20 such samples stay below."""
    rng = np.random.default_rng(seed)
    own = np.arange(len(stated)) if groups is None else groups
    found = [calibration_error(stated, rng.random(int(own.max()) + 1)[own] < stated, weights) for _ in range(DRAWS)]
    return float(np.mean(found)), float(np.quantile(found, 0.95))


def calibrated(subject: Subject) -> Section | None:
    """Reliability, and the calibration error beside what chance alone gives."""
    if not subject.classifies or subject.probabilities is None:
        return None
    if subject.cost is not None:
        policy = "The fit had costs: what predict_proba returns says what to answer, not how likely it is."
        why = "Calibration is not judged. A model that is fitted without costs has probabilities, to decide with later."
        return Section("calibration", "Calibration", policy, (Text((why,), "note"),))
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if not len(known):
        return None
    ids, probabilities = subject.test.class_ids[known], subject.probabilities[known]
    weights = subject.test.weight()[known]
    two, groups = len(subject.classes) == 2, groups_among(subject.test.groups, known)
    stated = probabilities[:, 1] if two else probabilities.max(axis=1)
    happened = ids == 1 if two else probabilities.argmax(axis=1) == ids
    what = f"probability of {subject.class_names[1]}" if two else "probability of the predicted class"
    error = calibration_error(stated, happened, weights)
    usual, most = by_chance(stated, weights, subject.seed, groups)
    fine = error <= most
    text = Text(
        (
            f"The calibration error is {number_text(error)}. Probabilities that are exactly right would show "
            f"{number_text(usual)} on so many rows by chance, and 19 times out of 20 no more than {number_text(most)}: "
            + ("nothing speaks against these." if fine else f"these are off, and {_direction(stated, happened, two)}."),
        ),
        "good" if fine else "warning",
    )
    lines, table = _reliability(stated, happened, what, subject, groups)
    blocks: list[Block] = [text, Columns((lines, _spread(stated, what))), table, _losses(probabilities, ids, weights)]
    found = getattr(subject.model, "calibration_", None)
    if found is not None:
        votes = f", counts votes to the power of {found.power:.3g}" if found.power else ""
        does = f"The fit divides scores by {found.temperature:.3g}{votes} and keeps a doubt of {percent(found.doubt)}."
        blocks.append(Text((does,)))
    lead = "When the model says 80 percent, does it happen 80 times out of 100? " + (
        "As far as these rows can tell, yes." if fine else "Not quite."
    )
    return Section("calibration", "Calibration", lead, tuple(blocks))


def _bins(stated: FloatArray, n_bins: int) -> npt.NDArray[np.intp]:
    return np.minimum((stated * n_bins).astype(np.intp), n_bins - 1)


def _direction(stated: FloatArray, happened: npt.NDArray[np.bool_], two: bool) -> str:
    sure = np.where(stated >= 0.5, stated, 1.0 - stated) if two else stated
    right = np.where(stated >= 0.5, happened, ~happened) if two else happened
    return "too sure" if sure.mean() > right.mean() else "too modest"


def _reliability(
    stated: FloatArray, happened: npt.NDArray[np.bool_], what: str, subject: Subject, groups: Groups | None
) -> tuple[Lines, Table]:
    places = _bins(stated, N_BINS)
    x, y, low, high, counted = [], [], [], [], []
    rows: list[tuple[Cell, ...]] = []
    for place in np.unique(places).tolist():
        here = places == place
        n, hits = int(here.sum()), int(happened[here].sum())
        between = share_interval(happened[here], None, groups_among(groups, here))[1]
        counted.append(n)
        x.append(float(stated[here].mean()))
        y.append(hits / n)
        low.append(between[0])
        high.append(between[1])
        bounds = f"{place / N_BINS:g} to {(place + 1) / N_BINS:g}"
        rows.append((bounds, n, rounded(x[-1]), rounded(y[-1]), rounded(between[0]), rounded(between[1])))
    lines = Lines(
        "Reliability",
        what,
        "how often it was so",
        (
            Series(
                "rows in each tenth",
                plain_all(x),
                plain_all(y),
                plain_all(low),
                plain_all(high),
                style="points",
                sizes=tuple(counted),
            ),
        ),
        diagonal=True,
        caption="On the diagonal probabilities mean what they say. A disc is as large as the rows it stands for, and "
        "its whisker an exact 95% interval."
        + (" Rows count alike here, whatever their weight." if subject.test.weights is not None else ""),
    )
    columns = ("stated", "rows", "stated, mean", "happened", "from", "to")
    return lines, Table(columns, tuple(rows))


def _spread(stated: FloatArray, what: str) -> Histogram:
    edges = np.linspace(0.0, 1.0, 2 * N_BINS + 1)
    heights = np.histogram(stated, edges)[0] / len(stated)
    return Histogram(
        "How sure the model is", what, "share of the rows", plain_all(edges), (("held-out", plain_all(heights)),)
    )


def _losses(probabilities: FloatArray, ids: npt.NDArray[np.int64], weights: FloatArray) -> Table:
    own = probabilities[np.arange(len(ids)), ids]
    truth = np.zeros_like(probabilities)
    truth[np.arange(len(ids)), ids] = 1.0
    brier = float(np.average(((probabilities - truth) ** 2).sum(axis=1), weights=weights))
    log_loss = float(np.average(-np.log(np.maximum(own, SMALLEST)), weights=weights))
    rows = (("log loss", rounded(log_loss)), ("Brier score, summed over classes", rounded(brier)))
    return Table(("measure of probabilities", "value"), rows)
