"""Tables of kept fits: means, and ranks among the competitors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.evaluation import Evaluation, beyond_chance, mean_error, mean_log_loss
from benchmarks.accuracy.runner import Results
from benchmarks.accuracy.tasks import NOISES, Task
from benchmarks.markdown import number, table

MEASURES: dict[str, Callable[[Sequence[Evaluation]], float]] = {
    "mean test error": mean_error,
    "mean log loss": mean_log_loss,
    "calibration error beyond chance": beyond_chance,
}


def by_set(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str) -> str:
    """Table with a column for each set, `clean / noisy`, the mean over the sets, and seconds to fit."""
    rows = []
    for competitor in competitors:
        values = measured(competitor, tasks, results, measure)
        means = f"**{pair(values.mean(axis=0))}**"
        rows.append([competitor.name, *(pair(row) for row in values), means, seconds(competitor, tasks, results)])
    return table([f"{measure}, clean / noisy", *names(tasks), "**all**", "fit seconds"], rows)


def summary(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Table with every measure over all sets."""
    rows = []
    for competitor in competitors:
        means = [pair(measured(competitor, tasks, results, measure).mean(axis=0)) for measure in MEASURES]
        rows.append([competitor.name, *means, seconds(competitor, tasks, results)])
    return table(["clean / noisy", *MEASURES, "fit seconds"], rows)


def mean_ranks(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Table of mean ranks, of equals the mean of theirs.

    A rank is one of a set and noise, by the mean over the fits that everybody has there. The standard error is that
    of a mean over clean and noisy sets, as if their ranks were independent.
    """
    rows = [[competitor.name] for competitor in competitors]
    for measure in MEASURES:
        ranks = ranks_of(competitors, tasks, results, measure)
        for row, of_one in zip(rows, ranks, strict=True):
            known = [noise[~np.isnan(noise)] for noise in of_one]
            both = np.concatenate(known)
            shown = [f"{values.mean():.2f}" if len(values) else "-" for values in (*known, both)]
            row.append(" / ".join(shown) + standard_error(both))
    n_sets = " / ".join(str(int(np.sum(~np.isnan(noise)))) for noise in ranks[0])
    head = ["mean rank, clean / noisy / both ± standard error", *MEASURES, "sets"]
    return table(head, [[*row, n_sets] for row in rows])


def leads(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Table of the ranks by which the first competitor is ahead of each other one.

    The standard error is that of the difference on the same sets. The clean and the noisy rows of a set are much
    alike: they count as one, the mean of both.
    """
    first, *others = competitors
    rows = [[competitor.name] for competitor in others]
    for measure in MEASURES:
        ranks = ranks_of(competitors, tasks, results, measure).mean(axis=1)  # NaN unless clean and noisy are there
        ranks = ranks[:, ~np.isnan(ranks[0])]
        for row, rank in zip(rows, ranks[1:], strict=True):
            lead = rank - ranks[0]
            row.append(f"{lead.mean():.2f}{standard_error(lead)}" if len(lead) else "-")
    return table([f"ranks behind {first.name} ± standard error", *MEASURES], rows)


def ranks_of(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str
) -> NDArray[np.float64]:
    """Compute ranks, shape (n_competitors, n_noises, n_sets); NaN where not everybody has a fit."""
    values = np.stack([_in_common(competitors, tasks, results, measure, noise) for noise in NOISES], axis=1)
    return np.asarray(rankdata(values, axis=0, nan_policy="propagate"), dtype=np.float64)


def _in_common(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str, noise: float
) -> NDArray[np.float64]:
    """Measure over the fits that all have, shape (n_competitors, n_sets); NaN where there are none."""
    values = np.full((len(competitors), len(names(tasks))), np.nan)
    for column, name in enumerate(names(tasks)):
        chosen = [t for t in tasks if t.dataset == name and t.noise == noise]
        chosen = [t for t in chosen if all((competitor, t) in results for competitor in competitors)]
        for row, competitor in enumerate(competitors if chosen else ()):
            values[row, column] = MEASURES[measure](results.of(competitor, chosen) or [])
    return values


def measured(
    competitor: Competitor,
    tasks: Sequence[Task],
    results: Results,
    measure: str,
    noises: Sequence[float] = NOISES,
) -> NDArray[np.float64]:
    """Measure over the fits of each set and noise, shape (n_sets, n_noises); NaN while one is missing."""
    values = np.full((len(names(tasks)), len(noises)), np.nan)
    for row, name in enumerate(names(tasks)):
        for column, noise in enumerate(noises):
            fits = results.of(competitor, [t for t in tasks if t.dataset == name and t.noise == noise])
            values[row, column] = np.nan if fits is None else MEASURES[measure](fits)
    return values


def names(tasks: Sequence[Task]) -> list[str]:
    """List the sets in their order."""
    return list(dict.fromkeys(task.dataset for task in tasks))


def pair(values: NDArray[np.float64]) -> str:
    """Format the values of clean and of noisy rows."""
    return " / ".join(number(value) for value in values)


def standard_error(values: NDArray[np.float64]) -> str:
    """Format the standard error of a mean, which one value does not have."""
    return f" ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}" if len(values) > 1 else ""


def seconds(competitor: Competitor, tasks: Sequence[Task], results: Results) -> str:
    """Format the seconds of all fits together."""
    fits = results.of(competitor, tasks)
    return "-" if fits is None else f"{sum(one.seconds for one in fits):.0f}"
