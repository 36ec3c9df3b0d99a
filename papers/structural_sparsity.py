"""Figures 7 to 14 of "Boosting with Structural Sparsity" (Duchi and Singer 2009), run again.

The paper has curves and no tables, so that what is checked is what it says about them: who needs fewer features for the
same coverage, and where boosting stops. Its lambda is for a sum over rows, alpha here is for a mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from papers.sparsity_fits import (
    BOOSTED,
    CHOSEN,
    LAMBDAS,
    LINEAR,
    LOOSE,
    ONE_AT_A_TIME,
    PLAIN_BOOSTED,
    SEQUENTIAL,
    SMOOTH,
    boosted_at,
    fit_digits,
    fit_path,
    fit_regression,
    fit_rounds,
    fit_topic,
)
from papers.sparsity_report import by_facts, mean, median, needed
from papers.study import Facts, Study

PENALTIES = ("l1", "l1/l2", "l1/linf")
REGRESSORS = (BOOSTED, LOOSE, PLAIN_BOOSTED, SEQUENTIAL, LINEAR)
UPDATES = ("adaboost", "gradboost", "newton")
TOPICS = ("books", "dvd", "electronics", "kitchen")
KERNEL_PENALTIES = (*PENALTIES, "l2")
# Levels of coverage at which features are counted, as multiples of the best that the L1 penalty reaches.
LEVELS = (1.02, 1.1, 1.25, 1.5)
_PATH = "{:<10}{:<9}{:>10}{:>10}{:>12}{:>15}"
_REGRESSION = "{:<10}{:<27}{:>16}{:>18}{:>16}{:>9}"
_ROUND = "{:<10}{:>12}{:>15}{:>15}{:>16}{:>12}"
_TOPIC = "{:<13}{:<38}{:>7}{:>9}{:>9}{:>10}{:>8}"
_DIGITS = "{:>14}  {:<9}{:>18}{:>18}{:>10}{:>11}"


class SparsityStudy(Study):
    """A study of section 10 of the paper."""


@dataclass(frozen=True)
class SparsityPaths(SparsityStudy):
    """Figures 9 to 12: test coverage along alpha, for each penalty, on products of columns."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    repeats: int = 10
    quick_repeats: int = 2

    heading = _PATH.format("coverage", "penalty", "reached", "features", "weights", "fewer than L1")
    named_by = "penalty"
    legend = (
        "coverage: times the best test coverage of the L1 penalty; features, weights: of the sparsest model that\n"
        "reaches it, means over the repeats in which one does; fewer than L1: share of the features saved"
    )

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"paths": self.dataset, "per_class": self.per_class, "n_test": self.n_test, "repeat": repeat,
             "penalty": penalty}
            for repeat in range(self.quick_repeats if quick else self.repeats)
            for penalty in PENALTIES
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_path(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for level in LEVELS:
            base = np.mean([pair[0] for pair in needed(outcomes, "l1", level) if pair is not None])
            for penalty in PENALTIES:
                pairs = needed(outcomes, penalty, level)
                reached = [pair for pair in pairs if pair is not None]
                if not reached:
                    lines.append(_PATH.format(f"x {level:g}", penalty, f"0 of {len(pairs)}", "-", "-", "-"))
                    continue
                features, share = (float(np.mean([pair[i] for pair in reached])) for i in (0, 1))
                cells = (
                    f"{len(reached)} of {len(pairs)}",
                    f"{features:.1f}",
                    f"{share:.1%}",
                    f"{1 - features / base:.0%}",
                )
                lines.append(_PATH.format(f"x {level:g}", penalty, *cells))
        return lines


@dataclass(frozen=True)
class InducedRegression(SparsityStudy):
    """Figure 8: regression on products of columns."""

    name: str
    title: str
    # Data set -> repeats, and rounds of sequential boosting: with 9,625 rows of 40 columns a round takes seconds.
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=lambda: {"housing": (10, 1000), "ailerons": (3, 100)})
    quick_repeats: int = 2
    quick_rounds: int = 100

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.sizes)

    takes_datasets = True
    heading = _REGRESSION.format("data set", "algorithm", "rmse", "absolute error", "features", "rounds")
    named_by = "algorithm"
    legend = (
        "medians (and the largest) of the repeats: a product of many columns may explode on a test row; columns\n"
        "and targets in [0, 1] (ailerons: [-1, 1]), epsilon 0.01, lambda 0.02"
    )

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        unknown = [name for name in datasets or () if name not in self.sizes]
        if unknown:
            raise ValueError(f"{self.name} has no data set {unknown[0]!r}; it has {', '.join(self.sizes)}")
        return [
            {"regression": name, "repeat": repeat, "algorithm": algorithm,
             "rounds": min(self.quick_rounds, rounds) if quick else rounds}
            for name, (repeats, rounds) in self.sizes.items()
            if datasets is None or name in datasets
            for repeat in range(min(self.quick_repeats, repeats) if quick else repeats)
            for algorithm in REGRESSORS
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_regression(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for name in self.datasets:
            for algorithm in REGRESSORS:
                chosen = [
                    o.result for o in outcomes if o.facts["regression"] == name and o.facts["algorithm"] == algorithm
                ]
                if chosen:
                    cells = [median(chosen, "rmse", 4), median(chosen, "absolute", 4), median(chosen, "features", 0)]
                    lines.append(_REGRESSION.format(name, algorithm, *cells, median(chosen, "rounds", 0).split()[0]))
        return lines


@dataclass(frozen=True)
class Topics(SparsityStudy):
    """Figure 7: each topic of texts against the others, on words that are there or not."""

    name: str
    title: str
    rounds: tuple[int, ...] = (10, 30, 100, 300, 600)
    quick_rounds: tuple[int, ...] = (30, 100, 300, 600)
    repeats: int = 3
    quick_repeats: int = 1

    heading = _TOPIC.format("topic", "algorithm", "rounds", "error", "loss", "features", "stopped")
    named_by = "algorithm"
    legend = (
        "words are there or not; error and loss on 30 percent of the texts, means over the repeats; stopped:\n"
        "repeats in which no feature could help any more; smooth L1 at the paper's lambda = 2, and the square that it\n"
        "is near zero"
    )

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        rounds = self.quick_rounds if quick else self.rounds
        algorithms = [(boosted_at(weight), 100) for weight in LAMBDAS]
        algorithms += [*((name, n) for name in (SMOOTH, ONE_AT_A_TIME) for n in rounds), (CHOSEN, 100)]
        return [
            {"topic": topic, "repeat": repeat, "algorithm": algorithm, "rounds": n_rounds}
            for topic in TOPICS
            for repeat in range(self.quick_repeats if quick else self.repeats)
            for algorithm, n_rounds in algorithms
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_topic(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for (topic, algorithm, _), results in by_facts(outcomes, "topic", "algorithm", "rounds").items():
            ended = f"{sum(result['stopped'] == 'optimal' for result in results)} of {len(results)}"
            counts = (float(np.mean([result[key] for result in results])) for key in ("rounds", "features"))
            n_rounds, n_features = (f"{count:.0f}" for count in counts)
            errors = (f"{np.mean([result[key] for result in results]):.4f}" for key in ("error", "loss"))
            shown = "-" if algorithm == CHOSEN else n_rounds
            lines.append(_TOPIC.format(topic, algorithm, shown, *errors, n_features, ended))
        return lines


@dataclass(frozen=True)
class KernelDigits(SparsityStudy):
    """Figure 13 (left): coverage on MNIST against the training rows per class, kernels as features."""

    name: str
    title: str
    sizes: tuple[int, ...] = (20, 50, 100, 200, 400)
    quick_sizes: tuple[int, ...] = (20, 50)
    repeats: int = 3
    quick_repeats: int = 1
    n_seen: int = 60_000  # by the perceptron

    heading = _DIGITS.format("rows per class", "penalty", "coverage", "error", "features", "alpha")
    named_by = "penalty"
    legend = (
        "10,000 test digits, means (standard deviations) over the repeats; alpha (its median) has the best\n"
        "coverage on 2,000 other training digits"
    )

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"digits": size, "repeat": repeat, "penalty": penalty, "seen": self.n_seen}
            for size in (self.quick_sizes if quick else self.sizes)
            for repeat in range(self.quick_repeats if quick else self.repeats)
            for penalty in KERNEL_PENALTIES
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_digits(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        for (size, penalty), results in by_facts(outcomes, "digits", "penalty").items():
            cells = [mean(results, "coverage", 4), mean(results, "error", 4), mean(results, "features", 0).split()[0]]
            lines.append(_DIGITS.format(size, penalty, *cells, f"{np.median([r['alpha'] for r in results]):.1e}"))
        return lines


@dataclass(frozen=True)
class InAndOut(SparsityStudy):
    """Figures 13 (right) and 14: objective, test error and features in the model over the rounds, for each update."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    rounds: tuple[int, ...] = (10, 30, 100, 300, 1000)
    quick_rounds: tuple[int, ...] = (10, 30)

    heading = _ROUND.format("update", "objective", "most features", "at the end", "rounds to 1e-6", "test error")
    named_by = "update"
    legend = "a round of adaboost and gradboost moves every column once; one of newton is a step on a working set"

    def units(self, quick: bool, datasets: Sequence[str] | None = None) -> list[dict[str, Any]]:
        return [
            {"rounds_of": self.dataset, "per_class": self.per_class, "n_test": self.n_test, "update": update,
             "stages": list(self.quick_rounds if quick else self.rounds)}
            for update in UPDATES
        ]  # fmt: skip

    def fit(self, facts: Facts, data_dir: str | None) -> dict[str, Any]:
        return fit_rounds(facts, data_dir)

    def rows(self, outcomes: Sequence[Any]) -> list[str]:
        lines = []
        best = min(outcome.result["objective"][-1] for outcome in outcomes)
        for update in UPDATES:
            for outcome in outcomes:
                if outcome.facts["update"] != update:
                    continue
                objective, features = outcome.result["objective"], outcome.result["features"]
                near = np.flatnonzero(np.array(objective) <= best * (1 + 1e-6))
                rounds = str(near[0] + 1) if len(near) else f"> {len(objective)}"
                sizes = (f"{max(features):.0f}", f"{features[-1]:.0f}")
                lines.append(
                    _ROUND.format(update, f"{objective[-1]:.6f}", *sizes, rounds, f"{outcome.result['error'][-1]:.4f}")
                )
        return lines


STUDIES: tuple[SparsityStudy, ...] = (
    Topics("structural-sparsity-7", "reviews, four kinds of products, each against the others"),
    InducedRegression("structural-sparsity-8", "regression on products, 70 percent of the rows train"),
    SparsityPaths("structural-sparsity-9", "LandSat, products, 240 rows per class", "satimage", 240, 2000),
    SparsityPaths("structural-sparsity-10", "vowels, products, 20 rows per class", "vowel", 20, 462),
    SparsityPaths("structural-sparsity-11", "pen digits, products, 300 rows per class", "pendigits", 300, 3498),
    SparsityPaths("structural-sparsity-12", "waves, products, 600 rows per class", "waveform40", 600, 2500),
    KernelDigits("structural-sparsity-13", "MNIST, kernels around the mistakes of a perceptron"),
    InAndOut("structural-sparsity-14", "LandSat, features in and out", "satimage", 240, 2000),
)
