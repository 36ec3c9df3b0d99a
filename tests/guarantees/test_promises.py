"""Every statement that `guarantees` prints fails at most as often as it says: simulations with a known truth.

A case draws a sample, fits, and tells whether the statement is false. `python tests/guarantees/test_promises.py` prints
how often that is so in 1,000 repetitions.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from radboost import (
    AgnosticClassifier,
    DeepBoostClassifier,
    EarlyStopping,
    MultiSourceBoostClassifier,
    NamedKernel,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SupervisedKernelProjection,
)
from radboost.guarantees import agnostic_bound, bound, conformal, holdout, projection_bound, sources_bound

LEVEL = 1e-4  # a statement that is right fails this test with that probability, per case
DELTA = 0.1
Sample = tuple[np.ndarray, np.ndarray]
Case = Callable[[np.random.Generator], bool]


class Source:
    """Rows drawn with equal probability from a list of them, labels by their probabilities: the error is a sum."""

    def __init__(self, n_classes: int = 2, noise: float = 0.2, n_rows: int = 4000) -> None:
        rng = np.random.default_rng(12)
        self.X = rng.uniform(-1.0, 1.0, size=(n_rows, 2))
        self.odds = np.full((n_rows, n_classes), noise / n_classes)
        right = np.digitize(self.X[:, 0] + 0.3 * self.X[:, 1], np.linspace(-1, 1, n_classes + 1)[1:-1])
        self.odds[np.arange(n_rows), right] += 1.0 - noise

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        rows = rng.integers(0, len(self.X), n)
        return self.X[rows], (rng.random(n)[:, None] > self.odds[rows].cumsum(axis=1)).sum(axis=1)

    def error(self, model: Any) -> float:
        return 1.0 - float(self.odds[np.arange(len(self.X)), model.predict(self.X)].mean())


TWO, THREE, COINS, FEW_ROWS = Source(), Source(3), Source(noise=1.0), Source(n_rows=60)
SMALL, SMALL_THREE, SMALL_COINS = Source(n_rows=600), Source(3, n_rows=600), Source(noise=1.0, n_rows=600)
UNKNOWN = Source()
UNKNOWN.X = np.where(np.random.default_rng(5).random(UNKNOWN.X.shape) < 0.3, np.nan, UNKNOWN.X)
GROUPS = Source()
GROUPS.X = np.column_stack([np.floor(4 * GROUPS.X[:, 0]) + 4, GROUPS.X[:, 1]])
STOPPING = EarlyStopping(2, validation_fraction=0.3)


def stumps(n_rounds: int = 3, **settings: Any) -> DeepBoostClassifier:
    return DeepBoostClassifier.paper(n_rounds, family="stumps", loss="logistic", n_jobs=1, **settings)


def early(**settings: Any) -> DeepBoostClassifier:
    """Stops early and is calibrated on rows of its own."""
    given = {"family": "stumps", "learning_rate": 0.5, "complexity_penalty": 0.01, **settings}
    return DeepBoostClassifier(8, early_stopping=STOPPING, n_jobs=1, **given)


def pruned(X: np.ndarray, y: np.ndarray) -> Any:
    return stumps(4).fit(X, y).prune(X, y, max_trees=2)


def copied(X: np.ndarray, y: np.ndarray, times: int) -> Sample:
    return np.repeat(X, times, axis=0), np.repeat(y, times)


# --- held-out rows: exact, so that wrong numbers show


def held_out(source: Source, fit: Callable[..., Any], rng: np.random.Generator, two_sided: bool = False) -> bool:
    model, error = fit(*source.draw(40, rng)), 0.0
    error = source.error(model)
    found = holdout(model, *source.draw(40, rng), delta=DELTA)
    return not found.interval[0] <= error <= found.interval[1] if two_sided else error > found.upper


def best_on_the_same_rows(rng: np.random.Generator, k: int, delta: float, times: int = 1) -> bool:
    """Of k models, made without rows, the one with the fewest mistakes on the held-out ones."""
    X, y = copied(*COINS.draw(40, rng), times)
    models = [stumps(1).fit(*COINS.draw(20, rng)) for _ in range(k)]
    best = min(models, key=lambda model: float((model.predict(X) != y).mean()))
    return COINS.error(best) > holdout(best, X, y, delta=delta).upper


# --- conformal sets: one new row a repetition


def conformal_set(source: Source, fit: Callable[..., Any], rng: np.random.Generator, **settings: Any) -> bool:
    model = fit(*source.draw(60, rng))
    X, y = source.draw(60 if settings else 19, rng)
    found = conformal(model, X, y, coverage=1.0 - DELTA, **settings)
    (new,), (label,) = source.draw(1, rng)
    return not found.predict_set(new[None])[0, label]


def conformal_interval(rng: np.random.Generator, refit: bool = False) -> bool:
    X = rng.normal(size=(61, 2))
    y = X[:, 0] + rng.standard_t(3, 61)
    model = RGBRegressor(3, n_jobs=1).fit(X[:40], y[:40])
    found = conformal(model, X[40:60], y[40:60], coverage=1.0 - DELTA)
    if refit:
        model.fit(X[40:60], y[40:60])
    low, high = found.predict_set(X[60:])[0]
    return not low <= y[60] <= high


# --- bounds from the training rows


def trained(source: Source, fit: Callable[..., Any], rng: np.random.Generator, n: int = 500) -> bool:
    X, y = source.draw(n, rng)
    model = fit(X, y)
    return source.error(model) > bound(model, X, y, delta=DELTA).total


def chosen_by_the_bound(rng: np.random.Generator) -> bool:
    """Penalties, rounds and sizes are free; a choice between two families costs half of delta."""
    X, y = COINS.draw(500, rng)
    models = [
        DeepBoostClassifier.paper(n_rounds, family=family, complexity_penalty=penalty, max_depth=2, n_jobs=1).fit(X, y)
        for n_rounds, penalty in ((1, 0.0), (4, 0.05))
        for family in ("stumps", "trees")
    ]
    totals = [bound(model, X, y, delta=DELTA / 2).total for model in models]
    best = int(np.argmin(totals))
    return COINS.error(models[best]) > totals[best]


def draws_as_weights(rng: np.random.Generator) -> bool:
    """Rows that were drawn several times, each once with the number of draws."""
    X, y = FEW_ROWS.draw(800, rng)
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    X, y = rows[:, :2], rows[:, 2].astype(int)
    model = stumps().fit(X, y, sample_weight=counts)
    return FEW_ROWS.error(model) > bound(model, X, y, sample_weight=counts, delta=DELTA).total


def any_weights(X: np.ndarray, y: np.ndarray) -> Any:
    return stumps(class_weight="balanced").fit(X, y, sample_weight=np.exp(3.0 * X[:, 1]))


def categorical(X: np.ndarray, y: np.ndarray) -> Any:
    return stumps(categorical_features=[0]).fit(X, y)


# --- several sources, several losses, projections

Q = FrozenEstimator(LogisticRegression().fit(TWO.X, np.where(TWO.X[:, 1] > 0, "east", "west")))


def of_sources(rng: np.random.Generator, copies: int = 1, **settings: Any) -> bool:
    drawn = [TWO.draw(400, rng), COINS.draw(200, rng)]
    X, y = np.vstack([drawn[0][0], drawn[1][0]]), np.concatenate([drawn[0][1], drawn[1][1]])
    names = np.repeat(["east", "west"], [400, 200])
    weights = np.exp(X[:, 1]) if settings.pop("weighted", False) else None
    given = {"family": "stumps", "domain_classifier": Q, "n_jobs": 1, **settings}
    model = MultiSourceBoostClassifier.paper(3, **given).fit(X, y, sample_weight=weights, sources=names)
    mixtures = np.array(settings.get("mixtures", np.eye(2)))
    worst = float((mixtures @ [TWO.error(model), COINS.error(model)]).max())
    return worst > sources_bound(model, X, y, names, delta=DELTA).total


def of_losses(source: Source, rng: np.random.Generator, penalties: tuple[float, ...] = (0.0,), **settings: Any) -> bool:
    X, y = source.draw(200, rng)
    given = {"losses": ("cross_entropy", "hinge", "zero_one"), "n_rounds": 10, "n_jobs": 1, **settings}
    models = [AgnosticClassifier(norm_penalty=penalty, **given).fit(X, y) for penalty in penalties]
    found = [agnostic_bound(model, X, y, largest_row=2.0, delta=DELTA) for model in models]
    best = int(np.argmin([one.total for one in found]))
    n_classes, n_rows = source.odds.shape[1], len(source.X)
    true = np.zeros(len(given["losses"]))
    for label in range(n_classes):
        _, scores, losses = models[best]._evaluated(source.X, np.full(n_rows, label))
        true += [float((source.odds[:, label] * one.value(scores)).mean()) / one.lipschitz_of_value for one in losses]
    return float(true.max()) > found[best].total


def projected(source: Source, rng: np.random.Generator, alphas: tuple[float, ...] = (0.01,), **settings: Any) -> bool:
    (X, y), (more, _) = source.draw(150, rng), source.draw(50, rng)
    kernels = [NamedKernel("rbf", 0.5), NamedKernel("rbf", 2.0, columns=(0,))][: settings.pop("n_kernels", 2)]
    given = {"kernels": kernels, "rank": 2, "n_starts": 0, "n_jobs": 1, **settings}
    models = [SupervisedKernelProjection(alpha=alpha, **given).fit(X, y, X_unlabelled=more) for alpha in alphas]
    totals = [projection_bound(model, X, y, delta=DELTA).total for model in models]
    best = int(np.argmin(totals))
    return source.error(models[best]) > totals[best]


def fits(model: Callable[[], Any]) -> Callable[..., Any]:
    return lambda X, y: model().fit(X, y)


HOLD: dict[str, Case] = {
    "holdout": lambda rng: held_out(TWO, fits(stumps), rng),
    "holdout, interval": lambda rng: held_out(TWO, fits(stumps), rng, two_sided=True),
    "holdout, three classes": lambda rng: held_out(THREE, fits(stumps), rng),
    "holdout, labels are coins": lambda rng: held_out(COINS, fits(stumps), rng),
    "holdout, early stopping and calibration": lambda rng: held_out(TWO, fits(early), rng),
    "holdout, pruned": lambda rng: held_out(TWO, pruned, rng),
    "holdout, drawn twice": lambda rng: held_out(FEW_ROWS, fits(stumps), rng),
    "holdout, the best of 8 with delta/8": lambda rng: best_on_the_same_rows(rng, 8, DELTA / 8),
    "conformal": lambda rng: conformal_set(TWO, fits(stumps), rng),
    "conformal, three classes": lambda rng: conformal_set(THREE, fits(stumps), rng),
    "conformal, of each class": lambda rng: conformal_set(THREE, fits(stumps), rng, per_class=True),
    "conformal, drawn twice": lambda rng: conformal_set(FEW_ROWS, fits(stumps), rng),
    "conformal, early stopping and calibration": lambda rng: conformal_set(TWO, fits(early), rng),
    "conformal, pruned": lambda rng: conformal_set(TWO, pruned, rng),
    "conformal, intervals": conformal_interval,
    "conformal, the model is fitted again": lambda rng: conformal_interval(rng, refit=True),
    "bound": lambda rng: trained(TWO, fits(stumps), rng),
    "bound, three classes": lambda rng: trained(THREE, fits(stumps), rng, 2000),
    "bound, labels are coins": lambda rng: trained(COINS, fits(lambda: stumps(20)), rng),
    "bound, settings chosen by it": chosen_by_the_bound,
    "bound, early stopping and calibration": lambda rng: trained(TWO, fits(early), rng),
    "bound, pruned": lambda rng: trained(TWO, pruned, rng),
    "bound, drawn twice": lambda rng: trained(FEW_ROWS, fits(stumps), rng),
    "bound, weights are draws": draws_as_weights,
    "bound, fitted with any weights": lambda rng: trained(TWO, any_weights, rng),
    "bound, missing values": lambda rng: trained(UNKNOWN, fits(stumps), rng),
    "bound, categories": lambda rng: trained(GROUPS, categorical, rng),
    "bound, RGB": lambda rng: trained(TWO, fits(lambda: RGBClassifier(3, n_jobs=1)), rng),
    "bound, soft-max boosting": lambda rng: trained(TWO, fits(lambda: SoftmaxBoostClassifier(3, n_jobs=1)), rng),
    "sources": of_sources,
    "sources, mixtures": lambda rng: of_sources(rng, mixtures=[[0.5, 0.5], [0.8, 0.2]]),
    "sources, fitted with any weights": lambda rng: of_sources(rng, weighted=True),
    "sources, early stopping": lambda rng: of_sources(rng, early_stopping=STOPPING),
    "agnostic": lambda rng: of_losses(TWO, rng),
    "agnostic, three classes": lambda rng: of_losses(THREE, rng),
    "agnostic, penalty chosen by it": lambda rng: of_losses(COINS, rng, (0.0, 0.1)),
    "agnostic, the error": lambda rng: of_losses(COINS, rng, losses=("zero_one",)),
    "projection": lambda rng: projected(SMALL, rng, fit_intercept=False, standardize=False),
    "projection, constant term and three classes": lambda rng: projected(SMALL_THREE, rng),
    "projection, one kernel": lambda rng: projected(SMALL, rng, n_kernels=1),
    "projection, alpha chosen by it": lambda rng: projected(SMALL_COINS, rng, (1e-3, 0.1), fit_intercept=False),
}
# What the documents name: copies draw a warning, and nothing can be known of a choice on the same rows.
BREAK: dict[str, Case] = {
    "holdout, copies": lambda rng: best_on_the_same_rows(rng, 1, DELTA, times=10),
    "holdout, the best of 20 with delta": lambda rng: best_on_the_same_rows(rng, 20, DELTA),
}


def violations(case: Case, repetitions: int) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sum(case(np.random.default_rng([7, repetition])) for repetition in range(repetitions))


def at_most(repetitions: int) -> int:
    """Violations that more of have a probability of at most LEVEL if each has DELTA."""
    return int(binom.isf(LEVEL, repetitions, DELTA))


@pytest.mark.parametrize("repetitions", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HOLD)
def test_statements_fail_at_most_as_often_as_they_say(name: str, repetitions: int) -> None:
    assert violations(HOLD[name], repetitions) <= at_most(repetitions)


@pytest.mark.parametrize("name", BREAK)
def test_the_conditions_that_the_documents_name_are_needed(name: str) -> None:
    assert violations(BREAK[name], 200) > at_most(200)


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, case in {**HOLD, **BREAK}.items():
        print(f"{violations(case, n):>6} of {n}, at most {at_most(n)}: {name}", flush=True)
