"""Fits of every boosting estimator, for what must hold for all of them: warm starts, callbacks, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from fingerprints import fingerprint, fractions, table, with_categories
from radboost import (
    DeepBoostClassifier,
    EarlyStopping,
    KernelFamily,
    Mixtures,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.trees import with_tree_options
from reference import losses as naive
from reference.data import STUCK


class SmoothHinge:
    """A loss of the user's own: Phi(u) = u + sqrt(1 + u^2)."""

    def value(self, targets: Any, scores: Any) -> Any:
        return naive.SMOOTH_HINGE.value(1.0 - targets * scores)

    def derivative(self, targets: Any, scores: Any) -> Any:
        return -targets * naive.SMOOTH_HINGE.derivative(1.0 - targets * scores)


class SquaredHinge:
    """A loss of the user's own, with a parameter."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def value(self, targets: Any, scores: Any) -> Any:
        return self.scale * np.maximum(1.0 - targets * scores, 0.0) ** 2

    def derivative(self, targets: Any, scores: Any) -> Any:
        return -2.0 * targets * self.scale * np.maximum(1.0 - targets * scores, 0.0)


class Squared:
    """A loss of the user's own for gradient boosting."""

    lipschitz: Any = 1.0

    def value(self, targets: Any, scores: Any) -> Any:
        return 0.5 * (targets - scores) ** 2

    def derivative(self, targets: Any, scores: Any) -> Any:
        return scores - targets


@dataclass(frozen=True)
class Case:
    """An estimator without its number of rounds, what it is fitted to, and how many rounds that takes."""

    make: Callable[..., Any]
    data: Callable[[], tuple[Any, Any]]
    n_rounds: int = 12
    fit: Callable[[], dict[str, Any]] = field(default=dict)

    def model(self, n_rounds: int | None = None, **parameters: Any) -> Any:
        return self.make(self.n_rounds if n_rounds is None else n_rounds, **{"n_jobs": 2, **parameters})

    def fitted(self, model: Any, **more: Any) -> Any:
        return model.fit(*self.data(), **self.fit(), **more)

    @cached_property
    def plain(self) -> Any:
        """The model of one fit without interruption; not to be changed."""
        return self.fitted(self.model())

    @cached_property
    def whole(self) -> tuple[Any, ...]:
        """All that this fit computed."""
        return everything(self.plain)


def made(kind: Any = RGBClassifier, **parameters: Any) -> Callable[..., Any]:
    return lambda n, **more: kind(n, **with_tree_options({**parameters, **more}))


def deep(**parameters: Any) -> Callable[..., Any]:
    return made(DeepBoostClassifier, **parameters)


def paper(**parameters: Any) -> Callable[..., Any]:
    return made(DeepBoostClassifier.paper, **parameters)


def sourced(**parameters: Any) -> Callable[..., Any]:
    return made(MultiSourceBoostClassifier, **parameters)


def soft(**parameters: Any) -> Callable[..., Any]:
    return made(SoftmaxBoostClassifier, **{"learning_rate": 0.7, **parameters})


def two() -> tuple[Any, Any]:
    return table(1, 300, 6, missing=0.05)


def four() -> tuple[Any, Any]:
    return table(4, 240, 5, 4)


def whole() -> tuple[Any, Any]:
    """No missing values, for kernels."""
    return table(3, 150, 4)


def stuck() -> tuple[Any, Any]:
    return STUCK["strict"]


def few() -> tuple[Any, Any]:
    return np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])


def numbers() -> tuple[Any, Any]:
    X, y = table(5, 300, 6, 9)
    return X, y * y / 4.0


def targets() -> tuple[Any, Any]:
    X, y = numbers()
    return X, np.column_stack([y, 1000.0 * np.cos(y) + 3.0])


def validation() -> dict[str, Any]:
    X, y = table(77, 120, 6, missing=0.05)
    return {"X_val": X, "y_val": y, "sample_weight_val": fractions(120)}


def weighted(m: int) -> Callable[[], dict[str, Any]]:
    return lambda: {"sample_weight": fractions(m)}


def example_costs() -> dict[str, Any]:
    return {"cost": np.random.default_rng(0).integers(1, 9, (240, 4)) / 2.0}


def sources(m: int) -> Callable[[], dict[str, Any]]:
    return lambda: {"sources": np.random.default_rng(5).choice(["a", "b", "c"], m, p=[0.6, 0.3, 0.1])}


def laplace(centres: Any, rows: Any) -> Any:
    return np.exp(-0.25 * np.abs(centres[:, None, :] - rows[None, :, :]).sum(axis=2))


CASES: dict[str, Case] = {
    "deep": Case(deep(), two),
    "deep, weights": Case(deep(subsample=0.5), two, fit=weighted(300)),
    "deep, validation rows": Case(deep(), two, fit=validation),
    "deep, early stopping": Case(
        deep(early_stopping=EarlyStopping(3, 0.3), learning_rate=1.0, complexity_penalty=0.0), two, 60
    ),
    "deep, whole steps, members leave": Case(paper(complexity_penalty=0.01, max_depth=2), two, 60),
    "deep, kernels": Case(
        deep(family=["trees", KernelFamily(gamma=0.25, n_centres=20)], learning_rate=1.0, max_depth=2), whole, 30
    ),
    "deep, kernel of one's own": Case(
        deep(family=KernelFamily(kernel=laplace, n_centres=20), learning_rate=1.0), whole
    ),
    "deep, constraints, whole steps": Case(
        paper(monotonic_constraints={0: 1, 1: -1}, interaction_constraints="pairwise", max_depth=3), two, 30
    ),
    "deep, loss of one's own": Case(deep(loss=SquaredHinge()), two),
    "deep, flawless": Case(paper(), lambda: (np.arange(40.0)[:, None], np.arange(40) > 17), 10),
    "deep, converges": Case(paper(l1_penalty=0.3, family="stumps", step="line_search"), few, 200),
    "deep, gives up": Case(deep(complexity_penalty=1.0, max_depth=2, learning_rate=1.0), two, 200),
    "deep, idle rounds": Case(deep(complexity_penalty=0.9, max_depth=2), two, 40),
    "deep, 4 classes": Case(deep(), four),
    "deep, 4 classes, kernels": Case(deep(family=["stumps", KernelFamily(gamma=0.25, n_centres=9)]), four, 20),
    "deep, 4 classes, compsum": Case(deep(objective="compsum", early_stopping=4), four, 20),
    "deep, 4 classes, maxsum, own loss": Case(deep(objective="maxsum", loss=SquaredHinge(0.5)), four),
    "deep, 4 classes, max, pushed": Case(paper(objective="max", family="stumps"), stuck, 300),
    "deep, 4 classes, max, pushed in vain": Case(
        paper(objective="max", family="stumps", complexity_penalty=0.3), stuck, 300
    ),
    "deep, categories": Case(
        deep(categorical_features=[0, 3], tree_options=TreeOptions(growth="best_first", max_leaves=9)),
        lambda: with_categories(10, 300, 3),
    ),
    "sources": Case(sourced(), two, fit=sources(300)),
    "sources, weights, whole steps": Case(
        sourced(learning_rate=1.0, family="stumps", step="line_search"),
        two,
        fit=lambda: {**sources(300)(), "sample_weight": fractions(300)},
    ),
    "sources, early stopping, sum": Case(
        sourced(source_objective="sum", early_stopping=EarlyStopping(3, 0.3), learning_rate=1.0),
        two,
        40,
        sources(300),
    ),
    "sources, kernels, softmax": Case(
        sourced(source_objective="softmax", family=["stumps", KernelFamily(gamma=0.25, n_centres=20)]),
        whole,
        fit=sources(150),
    ),
    "sources, 4 classes": Case(sourced(mixtures=Mixtures(penalty=0.2)), four, fit=sources(240)),
    "sources, 4 classes, own loss": Case(sourced(loss=SquaredHinge()), four, fit=sources(240)),
    "sources, decay": Case(sourced(step="decay"), two, fit=sources(300)),
    "soft-max": Case(soft(), two, 20),
    "soft-max, weights": Case(soft(step="line_search"), two, 20, weighted(300)),
    "soft-max, 4 classes": Case(soft(), four, 15),
    "soft-max, 4 classes, all pairs": Case(soft(samples_per_round="all", step="projection"), four, 15),
    "soft-max, few pairs": Case(soft(samples_per_round=2, min_leaf_weight=0.0), four, 30),
    "soft-max, one pair": Case(soft(samples_per_round=1, min_leaf_weight=0.0), two, 30),
    "soft-max, far apart": Case(soft(learning_rate=64.0, step="sampled"), four, 60),
    "soft-max, cost, early stopping": Case(
        soft(cost=[[0, 5, 5, 5], [1, 0, 1, 1], [1, 1, 0, 1], [2, 1, 1, 0]], early_stopping=4), four, 60
    ),
    "soft-max, costs of examples": Case(soft(), four, fit=example_costs),
    "rgb": Case(made(), two),
    "rgb, validation rows, early stopping": Case(made(early_stopping=3, learning_rate=1.0), two, 80, validation),
    "rgb, 4 classes": Case(made(), four, fit=weighted(240)),
    "rgb, numbers": Case(made(RGBRegressor), numbers),
    "rgb, numbers, monotone, early stopping": Case(
        made(RGBRegressor, loss="huber", monotonic_constraints={0: 1, 1: -1}, early_stopping=3), numbers, 60
    ),
    "rgb, two targets, early stopping": Case(made(RGBRegressor, early_stopping=4, learning_rate=0.5), targets, 40),
    "rgb, numbers, loss of one's own": Case(made(RGBRegressor, loss=Squared()), numbers),
    "adaboost.mh": Case(made(AdaBoostMHClassifier, max_leaves=4), two),
    "adaboost.mh, 4 classes": Case(made(AdaBoostMHClassifier, max_leaves=4), four, 12, weighted(240)),
    "adaboost.mh, flawless": Case(
        made(AdaBoostMHClassifier, max_leaves=2), lambda: (np.arange(40.0)[:, None], np.arange(40) > 17), 10
    ),
    "samme": Case(made(SAMMEClassifier, max_leaves=3), two),
    "samme, 4 classes": Case(made(SAMMEClassifier, max_leaves=5), four, 12, weighted(240)),
    "samme, repeated stumps": Case(made(SAMMEClassifier, max_leaves=2), two, 60),
    "martiboost": Case(made(MartiBoostClassifier), two),
    "martiboost, weights": Case(made(MartiBoostClassifier, max_leaves=4), two, 12, weighted(300)),
}

LONG = ("deep, 4 classes, max, pushed", "deep, gives up", "soft-max, far apart")
EVERY = pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if name in LONG else (), id=name) for name, case in CASES.items()],
)


def everything(model: Any) -> tuple[Any, ...]:
    """All that a fit computed, bit for bit."""
    history = {name: [float(value).hex() for value in values] for name, values in model.history_.items()}
    return (
        fingerprint(model),
        model.stop_reason_,
        model.n_iter_,
        model.n_skipped_rounds_,
        model.ensemble_.sample_size,
        list(model.history_),
        history,
    )
