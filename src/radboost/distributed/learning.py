"""The program that every worker runs on its own rows: read, bin, learn. All end with the model of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from radboost.boosting import FitContext, Trace
from radboost.distributed.parts import LazyPart
from radboost.distributed.reading import read_parts
from radboost.distributed.sources import sources_of
from radboost.distributed.talking import Workers
from radboost.estimators import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    learn,
)
from radboost.families import StumpPairs, Stumps, TreeFamilies, Trees, get_families
from radboost.rows.prepare import digest_of

BINS = ("exact", "sketch")

SUPPORTED: tuple[type[Any], ...] = (
    DeepBoostClassifier,
    SoftmaxBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    MultiSourceBoostClassifier,
)


def check_estimator(estimator: Any) -> None:
    """Refuses what does not learn on several workers, before anything is loaded."""
    if type(estimator) not in SUPPORTED:
        known = ", ".join(kind.__name__ for kind in SUPPORTED)
        raise TypeError(
            f"{type(estimator).__name__} does not learn on several workers; {known} do. Fit it on one machine: "
            "estimator.fit(X, y)."
        )


def needs_values(estimator: Any) -> bool:
    """Whether a fit asks for the values of rows, and not only for their bins, which are enough for trees of its own.

    That is so of trees of another fit, which a warm start goes on from, and of families of other hypotheses.
    """
    if estimator.warm_start and estimator.__sklearn_is_fitted__():
        return True
    family = getattr(estimator, "family", None)
    if family is None or isinstance(family, TreeFamilies):
        return False
    return any(type(one) not in (Trees, Stumps, StumpPairs) for one in get_families(family))


class Keeper:
    """Told of every round, and asked for them where the fit ends early: each worker has the rounds of all."""

    def __init__(self) -> None:
        self._context: FitContext | None = None

    def on_fit_begin(self, context: FitContext) -> None:
        self._context = context

    def rounds(self) -> Trace | None:
        """The finished ones; None before the first. To be asked when the fit has ended."""
        trace = None if self._context is None else self._context.finished_rounds()
        return trace if trace is not None and trace.n_rounds else None


@dataclass(frozen=True)
class Task:
    """What all workers do alike."""

    estimator: Any
    seed: int  # drawn once: a random_state of None would be another one on every worker
    weighted: bool
    sourced: bool = False  # whether the sources of rows were given
    bins: str = "exact"  # those of one machine, or of a "sketch"

    @classmethod
    def of(cls, estimator: Any, *, weighted: bool, sourced: bool = False, bins: str = "exact") -> Task:
        check_estimator(estimator)
        if bins not in BINS:
            raise ValueError(f"bins must be {' or '.join(map(repr, BINS))}; got {bins!r}.")
        if sourced and not isinstance(estimator, MultiSourceBoostClassifier):
            raise ValueError(f"sources are for MultiSourceBoostClassifier; got {type(estimator).__name__}.")
        # Once: a generator that is asked for a seed goes on.
        return cls(estimator, estimator._read_parameters().growth.seed, weighted, sourced, bins)

    def run(
        self,
        parts: Sequence[LazyPart],
        workers: Workers,
        *,
        first: bool,
        n_threads: int | None = None,
        earlier: Trace | None = None,
        keeper: Keeper | None = None,
    ) -> Any:
        """The fitted estimator, with the parameters as they were given.

        `first`: whether this worker shows how far the fit is; `n_threads` is what n_jobs=None stands for here;
        `earlier` are rounds that are not made again, `keeper` knows those that were made.
        """
        own = copy(self.estimator)
        own.random_state = self.seed
        own.verbose = own.verbose if first else 0
        own.n_jobs = n_threads if own.n_jobs is None else own.n_jobs
        settings = own._read_parameters()
        training = read_parts(own, parts, workers, weighted=self.weighted, keep_values=needs_values(own))
        training = replace(training, sketched=self.bins == "sketch")
        own._check_training(training)
        prepared = training.prepare(settings.growth.options.max_bins, settings.growth.n_threads)
        if self.sourced:
            prepared = replace(prepared, sources=sources_of(own, parts, training, workers))
        del training
        callbacks = [] if keeper is None else [keeper]
        fitted = learn(own, prepared, settings=settings, go_on_from=earlier, callbacks=callbacks)
        for name in ("random_state", "verbose", "n_jobs"):
            setattr(fitted, name, getattr(self.estimator, name))
        return fitted


def digest_of_model(model: Any) -> str:
    """What two workers with the same model have the same."""
    ensemble = model.ensemble_
    return digest_of([ensemble.steps, ensemble.weights, ensemble.complexities, sorted(model.history_.items())])
