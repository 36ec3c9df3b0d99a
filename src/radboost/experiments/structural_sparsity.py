"""Figures 7 to 14 of "Boosting with Structural Sparsity" (Duchi and Singer 2009), run again.

The paper has curves and no tables, so that what is checked is what it says about them: who needs fewer features for the
same coverage, and where boosting stops. Its lambda is for a sum over rows, alpha here is for a mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PENALTIES = ("l1", "l1/l2", "l1/linf")
BOOSTED, SEQUENTIAL, LINEAR = "L1, totally corrective", "sequential", "L1, raw columns"
REGRESSORS = (BOOSTED, SEQUENTIAL, LINEAR)
UPDATES = ("adaboost", "gradboost", "newton")
# Figure 7: the L1 booster at several lambdas, one feature at a time with a squared penalty, chosen features.
LAMBDAS = (1.0, 2.0, 4.0)
ONE_AT_A_TIME, CHOSEN = "one feature a round, squared penalty", "squared penalty, 800 chosen features"
TOPICS = ("books", "dvd", "electronics", "kitchen")
KERNEL_PENALTIES = (*PENALTIES, "l2")


def boosted_at(weight: float) -> str:
    """The name of the L1 booster at a lambda."""
    return f"L1, lambda {weight:g}"


@dataclass(frozen=True)
class SparsityPaths:
    """Figures 9 to 12: test coverage along alpha, for each penalty, on products of columns."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    repeats: int = 10
    quick_repeats: int = 2


@dataclass(frozen=True)
class InducedRegression:
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


@dataclass(frozen=True)
class Topics:
    """Figure 7: each topic of texts against the others, on words that are there or not."""

    name: str
    title: str
    rounds: tuple[int, ...] = (10, 30, 100, 300)
    quick_rounds: tuple[int, ...] = (10, 30, 100)
    repeats: int = 3
    quick_repeats: int = 1


@dataclass(frozen=True)
class KernelDigits:
    """Figure 13 (left): coverage on MNIST against the training rows per class, kernels as features."""

    name: str
    title: str
    sizes: tuple[int, ...] = (20, 50, 100, 200, 400)
    quick_sizes: tuple[int, ...] = (20, 50)
    repeats: int = 3
    quick_repeats: int = 1
    n_seen: int = 60_000  # by the perceptron


@dataclass(frozen=True)
class InAndOut:
    """Figures 13 (right) and 14: objective, test error and features in the model over the rounds, for each update."""

    name: str
    title: str
    dataset: str
    per_class: int
    n_test: int
    rounds: tuple[int, ...] = (10, 30, 100, 300, 1000)
    quick_rounds: tuple[int, ...] = (10, 30)


SparsityStudy = SparsityPaths | InducedRegression | InAndOut | Topics | KernelDigits

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


def units_of(study: SparsityStudy, quick: bool) -> list[dict[str, Any]]:
    """The facts of every fit, in order."""
    if isinstance(study, SparsityPaths):
        return [
            {"paths": study.dataset, "per_class": study.per_class, "n_test": study.n_test, "repeat": repeat,
             "penalty": penalty}
            for repeat in range(study.quick_repeats if quick else study.repeats)
            for penalty in PENALTIES
        ]  # fmt: skip
    if isinstance(study, InducedRegression):
        return [
            {"regression": name, "repeat": repeat, "algorithm": algorithm,
             "rounds": min(study.quick_rounds, rounds) if quick else rounds}
            for name, (repeats, rounds) in study.sizes.items()
            for repeat in range(min(study.quick_repeats, repeats) if quick else repeats)
            for algorithm in REGRESSORS
        ]  # fmt: skip
    if isinstance(study, Topics):
        rounds = study.quick_rounds if quick else study.rounds
        algorithms = [(boosted_at(weight), 100) for weight in LAMBDAS]
        algorithms += [*((ONE_AT_A_TIME, n) for n in rounds), (CHOSEN, 100)]
        return [
            {"topic": topic, "repeat": repeat, "algorithm": algorithm, "rounds": n_rounds}
            for topic in TOPICS
            for repeat in range(study.quick_repeats if quick else study.repeats)
            for algorithm, n_rounds in algorithms
        ]
    if isinstance(study, KernelDigits):
        return [
            {"digits": size, "repeat": repeat, "penalty": penalty, "seen": study.n_seen}
            for size in (study.quick_sizes if quick else study.sizes)
            for repeat in range(study.quick_repeats if quick else study.repeats)
            for penalty in KERNEL_PENALTIES
        ]
    return [
        {"rounds_of": study.dataset, "per_class": study.per_class, "n_test": study.n_test, "update": update,
         "stages": list(study.quick_rounds if quick else study.rounds)}
        for update in UPDATES
    ]  # fmt: skip
