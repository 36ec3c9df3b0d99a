"""Tables 2 and 3 and Figures 1 to 7 of "Soft-max boosting" (Geist 2015): what is run, and what the paper reports.

The real data sets come with training and test rows, those of the libsvm repository, and these are used. Trees are grown
leaf by leaf to 12 leaves (SAMME, which has one tree a round where the others have one for each class: 12 (K - 1)).

The paper does not say what "randomly exchanged labels" are: see `radboost.datasets.make_noisy`. Its SAMME does not
change on segment without noise: its first tree is right on all 210 training rows, and there is nothing left to learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from papers import datasets as registry
from papers.soft_max_fits import (
    ADABOOST_MH,
    DEFAULTS,
    FEW_DRAWS,
    MARTIBOOST,
    POINTS,
    SAMME,
    SM_BOOST,
    STAGES,
    fit_noisy,
    fit_problem,
    fit_shuffled,
    fit_split,
)
from papers.study import Facts, Study
from radboost._typing import FloatArray

QUICK_STAGES = (10, 100)
TABLE_ALGORITHMS = (ADABOOST_MH, SAMME, SM_BOOST)
CLOSE_POINTS, CLOSE_SHARE = 0.01, 0.15
_STAGE = "{:>10}{:>8}"
_DIFFERENCE = "{:<10}{:>8}" + 6 * "{:>10}"
_CURVE = "{:<11}{:<13}{:>7}{:>18}{:>18}{:>9}{:>8}"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_DUEL = "{:<10}{:>8}{:>14}{:>14}{:>18}{:>8}{:>16}"


def close(error: float, paper: float) -> str:
    """Yes: within one point of the paper's error or 15 percent of it, whichever is more. Otherwise above or below."""
    if abs(error - paper) <= max(CLOSE_POINTS, CLOSE_SHARE * paper):
        return "yes"
    return "above" if error > paper else "below"


def chosen_sets(study: str, known: tuple[str, ...], datasets: Sequence[str] | None) -> tuple[str, ...]:
    """The data sets that were asked for, in the order of the table and under its names."""
    if datasets is None:
        return known
    wanted = {registry.entry(name).name: name for name in datasets}
    chosen = tuple(name for name in known if registry.entry(name).name in wanted)
    lacking = set(wanted) - {registry.entry(name).name for name in chosen}
    if lacking:
        raise ValueError(f"{study} lacks {', '.join(sorted(lacking))}; its sets are {', '.join(known)}")
    return chosen


@dataclass(frozen=True)
class StagedTable(Study):
    """Test errors on the given splits after 10, 100 and 1000 rounds of one fit."""

    name: str
    title: str
    noise: float
    """Share of the training labels that are exchanged."""
    figures: Mapping[str, Mapping[str, tuple[float, ...]]]
    """What the paper reports: data set -> algorithm -> test error at each of `STAGES`."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, under the paper's names and in its order."""
        return tuple(self.figures)

    takes_datasets = line_by_line = True
    named_by = "dataset"
    legend = (
        "T: test error after so many rounds of one fit, beside the paper's\n"
        "close: it is within one point of the paper's, or within 15 percent of it; otherwise above or below"
    )

    @property
    def heading(self) -> str:
        line = f"{'data set':<11}{'algorithm':<13}"
        return line + "".join(_STAGE.format(f"T = {stage}", "paper") for stage in STAGES) + "  close"

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        rounds = max(QUICK_STAGES if quick else STAGES)
        return [
            {"dataset": name, "noise": self.noise, "algorithm": algorithm, "rounds": rounds}
            for name in chosen_sets(self.name, self.datasets, datasets)
            for algorithm in TABLE_ALGORITHMS
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_split(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        return [self.row(outcome) for outcome in outcomes]

    def row(self, outcome: Any) -> str:
        """One fit: ours beside the paper's."""
        dataset, algorithm = outcome.facts["dataset"], outcome.facts["algorithm"]
        paper = self.figures[dataset][algorithm]
        ours = outcome.result["test"]
        cells = "".join(_STAGE.format(f"{e:.4f}", f"{p:.4f}") for e, p in zip(ours, paper, strict=False))
        verdicts = " ".join(close(e, p) for e, p in zip(ours, paper, strict=False))
        missing = " " * (len(_STAGE.format("", "")) * (len(paper) - len(ours)))
        return f"{dataset:<11}{algorithm:<13}{cells}{missing}  {verdicts}"


@dataclass(frozen=True)
class Duel(Study):
    """Training and test errors of two algorithms over random problems (section 5.3), after 10, 100 and 1000 rounds."""

    name: str
    title: str
    rival: str
    problems: int = 1000
    quick_problems: int = 100
    rounds: int = max(STAGES)

    @property
    def stages(self) -> tuple[int, ...]:
        """The rounds after which errors are taken."""
        return tuple(stage for stage in STAGES if stage <= self.rounds)

    named_by = "algorithm"
    legend = (
        "means over the problems; wins: share of the problems in which an algorithm has the lower error\n"
        "test errors are on 10,000 rows with right labels, training errors on the noisy ones"
    )

    @property
    def heading(self) -> str:
        rival = self.rival
        return _DUEL.format("errors", "rounds", rival, SM_BOOST, f"{rival} wins", "equal", f"{SM_BOOST} wins")

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"problem": problem, "algorithm": algorithm, "rounds": self.rounds}
            for problem in range(self.quick_problems if quick else self.problems)
            for algorithm in (self.rival, SM_BOOST)
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_problem(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        """Means over the problems, and how often each algorithm has the lower error."""
        rows = []
        for part in ("train", "test"):
            rival, ours = self.errors(outcomes, part)
            for column, stage in enumerate(self.stages):
                a, b = rival[:, column], ours[:, column]
                wins = [f"{np.mean(a < b):.1%}", f"{np.mean(a == b):.1%}", f"{np.mean(a > b):.1%}"]
                rows.append(_DUEL.format(part, stage, f"{a.mean():.4f}", f"{b.mean():.4f}", *wins))
        return rows

    def errors(self, outcomes: Sequence[Any], part: str) -> tuple[Any, Any]:
        """Errors of the rival and of sm-boost, a line for each problem and a column for each stage."""

        def of(algorithm: str) -> Any:
            return np.array([o.result[part] for o in outcomes if o.facts["algorithm"] == algorithm])

        return of(self.rival), of(SM_BOOST)


@dataclass(frozen=True)
class Differences(Duel):
    """Figures 2 and 4: how much larger the errors of the rival are, over the same random problems."""

    legend = (
        "the error of the rival less that of sm-boost: its mean and quantiles over the problems, in points (percent)\n"
        "test errors are on 10,000 rows with right labels, training errors on the noisy ones"
    )

    @property
    def heading(self) -> str:
        return _DIFFERENCE.format("errors", "rounds", "mean", *(f"{share:.0%}" for share in QUANTILES))

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        rows = []
        for part in ("train", "test"):
            rival, ours = self.errors(outcomes, part)
            for column, stage in enumerate(self.stages):
                difference = 100.0 * (rival - ours)[:, column]
                cells = (f"{value:.2f}" for value in (difference.mean(), *np.quantile(difference, QUANTILES)))
                rows.append(_DIFFERENCE.format(part, stage, *cells))
        return rows


@dataclass(frozen=True)
class ShuffledCurves(Study):
    """Figures 5 and 6: training and test errors over the rounds, means of runs on mixed rows (section 5.4)."""

    name: str
    title: str
    noise: float
    figures: Mapping[str, Mapping[str, tuple[float, ...]]]
    """Of the table on the given parts: data set -> algorithm -> test error at each of `STAGES`."""
    repeats: int = 25
    quick_repeats: int = 5

    takes_datasets = True
    named_by = "shuffled"
    legend = (
        "errors after so many rounds: means (standard deviations) over runs on mixed rows, as many for training and\n"
        "testing as the data set gives; off: how many of these standard deviations the paper's error on the given\n"
        "parts (its Table 2 or 3) lies above the mean test error"
    )

    @property
    def heading(self) -> str:
        return _CURVE.format("data set", "algorithm", "rounds", "training", "test", "paper", "off")

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"shuffled": name, "noise": self.noise, "repeat": repeat, "algorithm": algorithm,
             "rounds": max(QUICK_STAGES if quick else STAGES)}
            for name in chosen_sets(self.name, tuple(self.figures), datasets)
            for repeat in range(self.quick_repeats if quick else self.repeats)
            for algorithm in TABLE_ALGORITHMS
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_shuffled(facts, data_dir)

    def curves(self, outcomes: Sequence[Any], name: str, algorithm: str, part: str) -> FloatArray:
        """Errors, a line for each run and a column for each point."""
        wanted = (name, algorithm)
        return np.array([o.result[part] for o in outcomes if (o.facts["shuffled"], o.facts["algorithm"]) == wanted])

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        rows = []
        for name in dict.fromkeys(outcome.facts["shuffled"] for outcome in outcomes):
            for algorithm in TABLE_ALGORITHMS:
                train, test = (self.curves(outcomes, name, algorithm, part) for part in ("train", "test"))
                for stage, paper in zip(STAGES, self.figures[name][algorithm], strict=True):
                    column = POINTS.index(stage)
                    if column >= test.shape[1]:
                        continue
                    learned, tested = train[:, column], test[:, column]
                    off = (paper - tested.mean()) / max(float(tested.std()), 1e-12)
                    cells = (f"{values.mean():.4f} ({values.std():.4f})" for values in (learned, tested))
                    rows.append(_CURVE.format(name, algorithm, stage, *cells, f"{paper:.4f}", f"{off:+.1f}"))
        return rows


@dataclass(frozen=True)
class NoiseCurve(Study):
    """Test errors on the problem of Long and Servedio at growing noise (section 5.5)."""

    name: str
    title: str
    noises: tuple[float, ...]
    sizes: Mapping[str, int]
    """Rounds of each algorithm; layers of MartiBoost."""
    quick_sizes: Mapping[str, int]
    repeats: int = 100
    quick_repeats: int = 10
    n_train: int = 4000
    n_test: int = 10_000

    named_by = "algorithm"
    legend = (
        "mean test error (standard deviation) over the repeats, on rows with right labels; noise: share of wrong "
        "training labels\nMartiBoost answers with the side that its random walk reaches more often; one walk: the "
        "expected error of the side that a single walk reaches\nSoftmaxBoost: our defaults, trees of up to 32 leaves; "
        "everything else is stumps"
    )

    @property
    def heading(self) -> str:
        return f"{'noise':<8}" + "".join(f"{name:>20}" for name in [*self.sizes, "one walk"])

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        sizes = self.quick_sizes if quick else self.sizes
        sample = {"n_train": self.n_train, "n_test": self.n_test}
        return [
            sample | {"repeat": repeat, "flipped": noise, "algorithm": algorithm, "size": size}
            for noise in self.noises
            for repeat in range(self.quick_repeats if quick else self.repeats)
            for algorithm, size in sizes.items()
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_noisy(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        """Mean test error and its standard deviation at each level of noise."""
        errors = self.errors(outcomes)
        return [
            f"{noise:<8.2f}"
            + "".join(f"{f'{values[i].mean():.4f} ({values[i].std():.4f})':>20}" for values in errors.values())
            for i, noise in enumerate(self.noises)
        ]

    def errors(self, outcomes: Sequence[Any]) -> dict[str, Any]:
        """Errors by algorithm, a line for each level of noise and a column for each repeat."""

        def of(algorithm: str, key: str) -> Any:
            chosen = [o for o in outcomes if o.facts["algorithm"] == algorithm]
            return np.array([[o.result[key] for o in chosen if o.facts["flipped"] == noise] for noise in self.noises])

        *_, martiboost = self.sizes
        return {name: of(name, "error") for name in self.sizes} | {"one walk": of(martiboost, "walk")}


def _in_percent(rows: Mapping[str, tuple[tuple[float, ...], ...]]) -> dict[str, dict[str, tuple[float, ...]]]:
    return {
        dataset: {
            algorithm: tuple(figure / 100 for figure in figures)
            for algorithm, figures in zip(TABLE_ALGORITHMS, of_dataset, strict=True)
        }
        for dataset, of_dataset in rows.items()
    }


_TABLE_2 = {
    "dna": ((5.14, 3.96, 4.05), (6.15, 4.64, 4.46), (6.49, 4.89, 4.13)),
    "letter": ((15.0, 3.72, 2.34), (13.0, 3.68, 2.84), (26.9, 10.7, 5.40)),
    "mnist": ((12.7, 4.14, 1.76), (10.8, 3.72, 2.52), (14.0, 7.12, 3.56)),
    "pendigits": ((4.86, 2.43, 2.17), (3.03, 2.49, 2.29), (8.23, 4.57, 2.83)),
    "satimage": ((13.0, 10.0, 9.20), (13.7, 9.85, 8.8), (12.9, 10.8, 8.95)),
    "segment": ((5.90, 6.00, 6.38), (10.86, 10.86, 10.86), (9.19, 6.95, 6.19)),
    "splice": ((2.94, 2.71, 2.53), (5.75, 3.17, 2.71), (4.64, 3.63, 3.08)),
    "vowel": ((49.4, 44.6, 42.9), (47.8, 39.4, 38.3), (56.9, 45.7, 46.3)),
}

_TABLE_3 = {
    "dna": ((8.26, 7.67, 7.25), (13.8, 10.5, 8.85), (6.15, 4.64, 6.24)),
    "letter": ((26.2, 15.1, 8.58), (25.8, 11.6, 6.84), (29.2, 13.2, 6.98)),
    "mnist": ((19.8, 11.5, 7.01), (17.4, 12.1, 5.48), (14.1, 6.96, 3.78)),
    "pendigits": ((10.9, 7.63, 5.77), (11.7, 6.66, 4.49), (9.06, 3.97, 3.06)),
    "satimage": ((16.7, 12.8, 10.9), (17.3, 12.9, 10.7), (13.8, 11.8, 10.4)),
    "segment": ((15.6, 13.8, 13.9), (17.0, 14.0, 13.0), (15.9, 12.4, 12.0)),
    "splice": ((16.9, 16.7, 14.9), (18.3, 17.2, 14.3), (9.15, 10.7, 13.1)),
    "vowel": ((55.8, 47.2, 47.6), (54.1, 44.6, 41.3), (52.8, 48.9, 43.7)),
}

STUDIES: tuple[Study, ...] = (
    StagedTable("soft-max-boosting-2", "test errors on the given splits", 0.0, _in_percent(_TABLE_2)),
    StagedTable(
        "soft-max-boosting-3",
        "test errors on the given splits, 20% of the training labels exchanged",
        0.2,
        _in_percent(_TABLE_3),
    ),
    Duel("soft-max-boosting-fig1", "random problems, AdaBoost.MH against sm-boost", ADABOOST_MH),
    Differences("soft-max-boosting-fig2", "random problems, AdaBoost.MH less sm-boost", ADABOOST_MH),
    Duel("soft-max-boosting-fig3", "random problems, SAMME against sm-boost", SAMME),
    Differences("soft-max-boosting-fig4", "random problems, SAMME less sm-boost", SAMME),
    ShuffledCurves("soft-max-boosting-fig5", "errors over the rounds, mixed rows", 0.0, _in_percent(_TABLE_2)),
    ShuffledCurves(
        "soft-max-boosting-fig6",
        "errors over the rounds, mixed rows, 20% of the training labels exchanged",
        0.2,
        _in_percent(_TABLE_3),
    ),
    NoiseCurve(
        "soft-max-boosting-fig7",
        "the problem of Long and Servedio, stumps",
        tuple(round(0.05 * i, 2) for i in range(11)),
        {SAMME: 1000, SM_BOOST: 1000, FEW_DRAWS: 1000, DEFAULTS: 1000, MARTIBOOST: 300},
        {SAMME: 1000, SM_BOOST: 1000, FEW_DRAWS: 1000, DEFAULTS: 1000, MARTIBOOST: 100},
    ),
)
