"""Reliability of the probabilities, and their error beside what chance alone gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from radboost._numbers import number_text
from radboost._typing import FloatArray
from radboost.plot.probabilities import bins_of
from radboost.report.blocks import Block, LineChart, Section, Series, Text
from radboost.report.figures import Groups, fraction_interval, groups_among, percent, plain_all
from radboost.report.subject import UNKNOWN, Subject

N_BINS, N_SIMULATIONS = 10, 400


def calibration_error(
    stated: FloatArray, happened: npt.NDArray[np.bool_], weights: FloatArray, n_bins: int = N_BINS
) -> float:
    """Expected calibration error: the mean distance, by weight, of stated and observed frequencies of bins.

    Guo, Pleiss, Sun and Weinberger, On Calibration of Modern Neural Networks, 2017, equation (3); bins of equal width.
    """
    bins = bins_of(stated, n_bins)
    total = np.bincount(bins, weights, n_bins)
    gaps = np.bincount(bins, weights * stated, n_bins) - np.bincount(bins, weights * happened, n_bins)
    return float(np.abs(gaps).sum() / total.sum())


def by_chance(stated: FloatArray, weights: FloatArray, seed: int, groups: Groups | None = None) -> tuple[float, float]:
    """Mean and 95% quantile of the calibration error of probabilities that are exactly right, on so many rows."""
    rng = np.random.default_rng(seed)
    own = np.arange(len(stated)) if groups is None else groups
    errors = [
        calibration_error(stated, rng.random(int(own.max()) + 1)[own] < stated, weights) for _ in range(N_SIMULATIONS)
    ]
    return float(np.mean(errors)), float(np.quantile(errors, 0.95))


def calibration(subject: Subject) -> Section | None:
    """Reliability, and the calibration error beside what chance alone gives."""
    if not subject.classifies or subject.probabilities is None:
        return None
    if subject.cost is not None:
        policy = "The fit had costs: what predict_proba returns says what to predict, not how likely it is."
        why = "Calibration is not evaluated. A model fitted without costs has probabilities, to decide with later."
        return Section("calibration", "Calibration", policy, (Text((why,), "note"),))
    known = np.flatnonzero(subject.test.class_ids != UNKNOWN)
    if not len(known):
        return None
    ids, probabilities = subject.test.class_ids[known], subject.probabilities[known]
    two, groups = len(subject.classes) == 2, groups_among(subject.test.groups, known)
    stated = probabilities[:, 1] if two else probabilities.max(axis=1)
    happened = ids == 1 if two else probabilities.argmax(axis=1) == ids
    what = f"probability of {subject.class_names[1]}" if two else "probability of the predicted class"
    weights = subject.test.weight()[known]
    error = calibration_error(stated, happened, weights)
    usual, most = by_chance(stated, weights, subject.seed, groups)
    fine = error <= most
    paragraph = (
        f"The calibration error is {number_text(error)}. Probabilities that are exactly right would show "
        f"{number_text(usual)} on so many rows by chance, and 19 times out of 20 no more than {number_text(most)}: "
        + ("nothing speaks against these." if fine else f"these are off, and {_direction(stated, happened, two)}.")
    )
    blocks: list[Block] = [Text((paragraph,), "good" if fine else "warning")]
    blocks.append(_reliability(stated, happened, what, subject, groups))
    if (applied := getattr(subject.model, "calibration_", None)) is not None:
        blocks.append(Text((_applied(applied.temperature, applied.doubt, applied.power),)))
    lead = "When the model says 80 percent, does it happen 80 times out of 100? " + (
        "As far as these rows can tell, yes." if fine else "Not quite."
    )
    return Section("calibration", "Calibration", lead, tuple(blocks))


def _applied(temperature: float, noise_rate: float, exponent: float) -> str:
    """Say in words how the fit made probabilities of scores."""
    effect = "surer" if temperature < 1.0 else "less sure"
    votes = f"; class votes count with the exponent {exponent:.3g}" if exponent else ""
    noise = f"; a label-noise rate of {percent(noise_rate)} keeps them away from 0 and 1" if noise_rate else ""
    return (
        f"The fit calibrated the scores on rows that they were not learned from: the temperature {temperature:.3g} "
        f"makes probabilities {effect}{votes}{noise}."
    )


def _direction(stated: FloatArray, happened: npt.NDArray[np.bool_], two: bool) -> str:
    sure = np.where(stated >= 0.5, stated, 1.0 - stated) if two else stated
    right = np.where(stated >= 0.5, happened, ~happened) if two else happened
    return "too sure" if sure.mean() > right.mean() else "too modest"


def _reliability(
    stated: FloatArray, happened: npt.NDArray[np.bool_], what: str, subject: Subject, groups: Groups | None
) -> LineChart:
    bins = bins_of(stated, N_BINS)
    within = [bins == one for one in np.unique(bins)]
    intervals = [fraction_interval(happened[rows], None, groups_among(groups, rows))[1] for rows in within]
    return LineChart(
        "Reliability",
        what,
        "observed frequency",
        (
            Series(
                "rows in each tenth",
                plain_all(stated[rows].mean() for rows in within),
                plain_all(happened[rows].mean() for rows in within),
                plain_all(low for low, _ in intervals),
                plain_all(high for _, high in intervals),
                style="points",
                sizes=tuple(int(rows.sum()) for rows in within),
            ),
        ),
        diagonal=True,
        caption="On the diagonal probabilities mean what they say. A disc is as large as the rows it stands for, and "
        "its whisker an exact 95% interval."
        + (" Rows count alike here, whatever their weight." if subject.test.weights is not None else ""),
    )
