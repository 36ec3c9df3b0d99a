"""Tables of what was found: means, places among the others, and what tuning is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.accuracy.competitors import Competitor, at_defaults
from benchmarks.accuracy.judging import Judgement, calibration_error
from benchmarks.accuracy.runner import Results
from benchmarks.accuracy.tasks import NOISES, Task


def _mean_error(judged: Sequence[Judgement]) -> float:
    return float(np.mean([one.error for one in judged]))


def _mean_log_loss(judged: Sequence[Judgement]) -> float:
    return float(np.mean([one.log_loss for one in judged]))


def _beyond_chance(judged: Sequence[Judgement]) -> float:
    found, chance = calibration_error(judged)
    return found - chance


MEASURES: dict[str, Callable[[Sequence[Judgement]], float]] = {
    "mean test error": _mean_error,
    "mean log loss": _mean_log_loss,
    "calibration error beyond chance": _beyond_chance,
}


def table(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str) -> str:
    """Markdown: a row per competitor, with `clean / noisy` per set and over all, and seconds to fit.

    Over all sets is the mean of theirs.
    """
    names = list(dict.fromkeys(task.dataset for task in tasks))
    lines = [[f"{measure}, clean / noisy", *names, "**all**", "fit seconds"]]
    for competitor in competitors:
        found = _measured(competitor, tasks, results, measure)
        everywhere = [_pair(line) for line in found]
        lines.append([competitor.name, *everywhere, f"**{_mean(found)}**", _seconds(competitor, tasks, results)])
    return _markdown(lines)


def summary(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: a row per competitor, with every measure over all sets."""
    lines = [["clean / noisy", *MEASURES, "fit seconds"]]
    for competitor in competitors:
        means = [_mean(_measured(competitor, tasks, results, measure)) for measure in MEASURES]
        lines.append([competitor.name, *means, _seconds(competitor, tasks, results)])
    return _markdown(lines)


def mean_ranks(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: the mean place of each competitor among the others, of equals the mean of theirs.

    A place is one of a set and noise, by the mean over the fits that everybody has there. The standard error is that
    of a mean over clean and noisy sets, as if their places were independent.
    """
    lines = [["mean rank, clean / noisy / both ± standard error", *MEASURES, "sets"]]
    ranks: dict[str, list[str]] = {competitor.name: [] for competitor in competitors}
    for measure in MEASURES:
        places = places_of(competitors, tasks, results, measure)
        for competitor, pair in zip(competitors, places, strict=True):
            known = [place[~np.isnan(place)] for place in pair]
            both = np.concatenate(known)
            shown = [f"{place.mean():.2f}" if len(place) else "-" for place in (*known, both)]
            ranks[competitor.name].append(" / ".join(shown) + _error_of(both))
    n_sets = " / ".join(str(int(np.sum(~np.isnan(line)))) for line in places[0])
    return _markdown([*lines, *([name, *shown, n_sets] for name, shown in ranks.items())])


def mean_ranks_by_turn(competitors: Sequence[Competitor], turns: Mapping[int, Sequence[Task]], results: Results) -> str:
    """Markdown: the mean rank over clean and noisy sets in each turn by itself: does one of them make the others'?

    A turn is a fold or a draw of the rows; what has no fits of everybody has no rank.
    """
    shown = list(MEASURES)[:2]
    lines = [[f"mean rank by turn, {' / '.join(shown)}"], *([competitor.name] for competitor in competitors)]
    for turn, tasks in turns.items():
        places = [places_of(competitors, tasks, results, measure) for measure in shown]
        n_sets = int((~np.isnan(places[0][0])).any(axis=0).sum())
        lines[0].append(f"{turn}, {n_sets} sets")
        for k, line in enumerate(lines[1:]):
            line.append(" / ".join(f"{np.nanmean(found[k]):.2f}" for found in places) if n_sets else "-")
    return _markdown(lines)


def leads(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results) -> str:
    """Markdown: by how many places the first competitor is ahead of each other one, and how sure that is.

    The standard error is that of the difference on the same sets. The clean and the noisy rows of a set are much
    alike: they count as one, the mean of both.
    """
    first, *others = competitors
    lines = [[f"places behind {first.name} ± standard error", *MEASURES]]
    behind: dict[str, list[str]] = {competitor.name: [] for competitor in others}
    for measure in MEASURES:
        places = places_of(competitors, tasks, results, measure).mean(axis=1)  # NaN unless clean and noisy are there
        places = places[:, ~np.isnan(places[0])]
        for competitor, place in zip(others, places[1:], strict=True):
            lead = place - places[0]
            behind[competitor.name].append(f"{lead.mean():.2f}{_error_of(lead)}" if len(lead) else "-")
    return _markdown([*lines, *([name, *shown] for name, shown in behind.items())])


def gains(competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, defaults: Results) -> str:
    """Markdown: what tuning takes off each measure, on average over the sets where both fits are there."""
    lines = [["less than at the defaults, clean / noisy", *MEASURES, "sets"]]
    for competitor in competitors:
        plain, shown, n_sets = at_defaults(competitor), [], [0, 0]
        shared = [task for task in tasks if (competitor, task) in results and (plain, task) in defaults]
        for measure in MEASURES:
            pair = []
            for noise in NOISES:
                before = _in_common([plain], shared, defaults, measure, noise)
                after = _in_common([competitor], shared, results, measure, noise)
                known = ~np.isnan(before)
                pair.append((before - after)[known].mean() if known.any() else np.nan)
                n_sets[NOISES.index(noise)] = int(known.sum())
            shown.append(_pair(pair))
        lines.append([competitor.name, *shown, " / ".join(map(str, n_sets))])
    return _markdown(lines)


def places_of(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str
) -> NDArray[np.float64]:
    """Of each competitor, for each noise and set: its place among all; NaN where there are no fits in common."""
    found = np.stack([_in_common(competitors, tasks, results, measure, noise) for noise in NOISES], axis=1)
    return np.asarray(rankdata(found, axis=0, nan_policy="propagate"), dtype=np.float64)


def _error_of(values: NDArray[np.float64]) -> str:
    """The standard error of their mean, which one value does not have."""
    return f" ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}" if len(values) > 1 else ""


def _in_common(
    competitors: Sequence[Competitor], tasks: Sequence[Task], results: Results, measure: str, noise: float
) -> NDArray[np.float64]:
    """A line for each competitor, a column for each set, over the fits that all have; NaN where there are none."""
    names = list(dict.fromkeys(task.dataset for task in tasks))
    found = np.full((len(competitors), len(names)), np.nan)
    for column, name in enumerate(names):
        shared = [t for t in tasks if t.dataset == name and t.noise == noise]
        shared = [t for t in shared if all((competitor, t) in results for competitor in competitors)]
        for place, competitor in enumerate(competitors if shared else ()):
            found[place, column] = MEASURES[measure](results.of(competitor, shared) or [])
    return found


def _measured(competitor: Competitor, tasks: Sequence[Task], results: Results, measure: str) -> NDArray[np.float64]:
    """A line for each set, a column for each noise; NaN while fits are missing."""
    names = list(dict.fromkeys(task.dataset for task in tasks))
    found = np.full((len(names), len(NOISES)), np.nan)
    for place, name in enumerate(names):
        for column, noise in enumerate(NOISES):
            judged = results.of(competitor, [t for t in tasks if t.dataset == name and t.noise == noise])
            found[place, column] = np.nan if judged is None else MEASURES[measure](judged)
    return found


def _mean(found: NDArray[np.float64]) -> str:
    return _pair(found.mean(axis=0))


def _pair(numbers: Iterable[float]) -> str:
    return " / ".join(map(_short, numbers))


def _seconds(competitor: Competitor, tasks: Sequence[Task], results: Results) -> str:
    everything = results.of(competitor, tasks)
    return "-" if everything is None else f"{sum(one.seconds for one in everything):.0f}"


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rows])


def _short(number: float) -> str:
    if np.isnan(number):
        return "-"
    text = f"{abs(number):.4f}".removeprefix("0")
    return f"-{text}" if number < 0 and float(text) else text
