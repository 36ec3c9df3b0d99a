"""Tables 2 and 3 and Figures 1, 3 and 7 of "Soft-max boosting" (Geist 2015): what is run, and what the paper reports.

The real data sets come with training and test rows, those of the libsvm repository, and these are used. Trees are grown
leaf by leaf to 12 leaves (SAMME, which has one tree a round where the others have one for each class: 12 (K - 1)).

The paper does not say what "randomly exchanged labels" are: see `radboost.datasets.make_noisy`. Its SAMME does not
change on segment without noise: its first tree is right on all 210 training rows, and there is nothing left to learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.estimators.softmax import SoftmaxBoostClassifier

STAGES = (10, 100, 1000)
QUICK_STAGES = (10, 100)

ADABOOST_MH, SAMME, SM_BOOST, MARTIBOOST = "AdaBoost.MH", "SAMME", "sm-boost", "MartiBoost"
TABLE_ALGORITHMS = (ADABOOST_MH, SAMME, SM_BOOST)

# Beside the paper's algorithms in Figure 7 (docs/decisions/0031-the-draws-of-figure-7.md).
FEW_DRAWS, DEFAULTS = "sm-boost, M = N/8", "SoftmaxBoost"


def make_model(algorithm: str, size: int, seed: int, **parameters: Any) -> Any:
    """An estimator with one thread, as the paper has it; `size` is rounds, or layers for MartiBoost."""
    if algorithm == SM_BOOST:
        return SoftmaxBoostClassifier.paper(n_rounds=size, random_state=seed, n_jobs=1, **parameters)
    makers = {ADABOOST_MH: AdaBoostMHClassifier, SAMME: SAMMEClassifier, MARTIBOOST: MartiBoostClassifier}
    return makers[algorithm](size, n_jobs=1, **parameters)


def make_noise_model(algorithm: str, size: int, seed: int, n_train: int) -> Any:
    """An estimator of Figure 7: over stumps, except for ours with its defaults."""
    if algorithm == DEFAULTS:
        return SoftmaxBoostClassifier(size, random_state=seed, n_jobs=1)
    if algorithm == FEW_DRAWS:
        return make_model(SM_BOOST, size, seed, max_leaves=2, samples_per_round=max(1, n_train // 8))
    return make_model(algorithm, size, seed, max_leaves=2)


@dataclass(frozen=True)
class StagedTable:
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


@dataclass(frozen=True)
class Duel:
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


@dataclass(frozen=True)
class NoiseCurve:
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


Study = StagedTable | Duel | NoiseCurve


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
    Duel("soft-max-boosting-fig3", "random problems, SAMME against sm-boost", SAMME),
    NoiseCurve(
        "soft-max-boosting-fig7",
        "the problem of Long and Servedio, stumps",
        tuple(round(0.05 * i, 2) for i in range(11)),
        {SAMME: 1000, SM_BOOST: 1000, FEW_DRAWS: 1000, DEFAULTS: 1000, MARTIBOOST: 300},
        {SAMME: 1000, SM_BOOST: 1000, FEW_DRAWS: 1000, DEFAULTS: 1000, MARTIBOOST: 100},
    ),
)
