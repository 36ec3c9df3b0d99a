"""Program of every worker: read, bin and learn its own rows. All workers end with the model of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from radboost.boosting import FitContext, Trace
from radboost.boosting.metrics import Metric, read_metrics
from radboost.distributed.arguments import Arguments
from radboost.distributed.callbacks import ForwardingCallback, Receiver
from radboost.distributed.collective import WorkerCollective
from radboost.estimators import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    learn,
)
from radboost.estimators._checkpoints import OpenedCheckpoint, SavedData
from radboost.estimators._learning import FitSettings, needs_values
from radboost.estimators._sources import SourceReader
from radboost.model_file import ModelFileError
from radboost.rows.content import content_digests, digest_of
from radboost.rows.fields import select
from radboost.rows.partitions import ONE_PROCESS, TRAINING, VALIDATION, Partition, parts_of
from radboost.rows.prepare import PreparedRows, read_training, read_validation
from radboost.rows.read import check_classes

BINS = ("exact", "sketch")

SUPPORTED: tuple[type[Any], ...] = (
    DeepBoostClassifier,
    SoftmaxBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    MultiSourceBoostClassifier,
)


class FitRecorder:
    """Callback that knows the sizes of a fit, and its finished rounds if it ends early."""

    sizes = (0, 0, 0)  # rows, bytes of bins, bytes of scores
    _context: FitContext | None = None

    def on_rows_binned(self, prepared: PreparedRows) -> None:
        n_cells, n_scores = prepared.data.n_rows * prepared.data.n_columns, prepared.n_rows * prepared.n_outputs
        self.sizes = prepared.n_rows, 2 * n_cells, 8 * n_scores

    def on_fit_begin(self, context: FitContext) -> None:
        self._context = context

    def rounds(self) -> Trace:
        """Finished rounds. Call it when the fit has ended."""
        return Trace() if self._context is None else self._context.finished_rounds()


@dataclass(frozen=True)
class FitTask:
    """Settings of a fit, the same on all workers."""

    estimator: Any
    seed: int  # drawn once: a random_state of None would differ between workers
    given: frozenset[str] = frozenset()  # the names of the arguments of `fit`
    metrics: tuple[Metric, ...] = ()
    bins: str = "exact"  # as on one machine, or "sketch"
    resumed: SavedData | None = None  # of the checkpoint: digests of its rows

    @property
    def reports(self) -> bool:
        """True if the first worker reports to the client, for callbacks or to show progress."""
        return "callbacks" in self.given or bool(self.estimator.verbose)

    @classmethod
    def of(cls, estimator: Any, arguments: Arguments, bins: str = "exact") -> FitTask:
        """Task of a `fit`, whose arguments are checked before anything is loaded."""
        if type(estimator) not in SUPPORTED:
            known = ", ".join(kind.__name__ for kind in SUPPORTED)
            raise TypeError(
                f"{type(estimator).__name__} does not learn on several workers; {known} do. Fit it on one machine: "
                "estimator.fit(X, y)."
            )
        if bins not in BINS:
            raise ValueError(f"bins must be {' or '.join(map(repr, BINS))}; got {bins!r}.")
        arguments.check(estimator)
        # Once: each draw of a seed advances a generator.
        seed = estimator._read_parameters().growth.seed
        return cls(estimator, seed, arguments.given, read_metrics(arguments.eval_metric), bins)

    def resuming(self, opened: OpenedCheckpoint) -> tuple[FitTask, Trace]:
        """Task with the seed of a checkpoint, whose rows must be the same, and its rounds."""
        if not opened.in_any_order:
            raise ModelFileError(
                f"The checkpoint {opened.data.path} is of a fit on one machine, which tells rows apart by their order, "
                "too. Go on from it with estimator.fit(..., resume_from=...), or leave resume_from out to start again."
            )
        return replace(self, seed=opened.seed, resumed=opened.data), self.estimator._supplied(opened.trace)

    def run(
        self,
        parts: Sequence[Partition],
        workers: WorkerCollective,
        *,
        first: bool,
        n_threads: int | None = None,
        earlier: Trace | None = None,
        recorder: FitRecorder | None = None,
        receiver: Receiver | None = None,
    ) -> Any:
        """Fit on the partitions of this worker; returns the fitted estimator, with its parameters as they were given.

        All workers check that they have the same model.

        `first`: whether this worker shows progress. `n_threads`: value of n_jobs=None. `earlier`: rounds of an earlier
        attempt, which are replayed. `recorder`: gets sizes and rounds. `receiver`: of the first worker, for events.
        """
        own = copy(self.estimator)
        own.random_state = self.seed
        own.verbose = own.verbose if first else 0
        own.n_jobs = n_threads if own.n_jobs is None else own.n_jobs
        settings = own._read_parameters()
        prepared = self._prepare(own, parts, workers, settings, first)
        if recorder is not None:
            recorder.on_rows_binned(prepared)
        callbacks: list[Any] = [] if recorder is None else [recorder]
        waits, digests = "callbacks" in self.given, {}
        if waits or self.resumed is not None:
            digests = content_digests(prepared, settings.growth.n_threads)
            if self.resumed is not None:
                self.resumed.check(digests)
        if waits or receiver is not None:  # progress alone stops no fit: only the first worker waits for it
            callbacks.append(ForwardingCallback(workers if waits else ONE_PROCESS, receiver, self.seed, digests))
        earlier = earlier if earlier is not None and earlier.n_rounds else None
        fitted = learn(own, prepared, settings=settings, go_on_from=earlier, callbacks=callbacks)
        model = fitted.ensemble_
        digest = digest_of([model.steps, model.weights, model.complexities, sorted(fitted.history_.items())])
        if len(set(workers.all_gather(digest))) > 1:
            raise RuntimeError(
                "The workers ended with different models, which must not happen: do the processors of all of them add "
                "integers alike? Please report it."
            )
        for name in ("random_state", "verbose", "n_jobs"):
            setattr(fitted, name, getattr(self.estimator, name))
        return fitted

    def _prepare(
        self, own: Any, parts: Sequence[Partition], workers: WorkerCollective, settings: FitSettings, first: bool
    ) -> PreparedRows:
        """Binned rows of this worker, with validation rows, offsets, costs and sources where they were given."""
        rows, validation_rows = parts_of(parts, TRAINING), parts_of(parts, VALIDATION)
        check_versions(workers)
        training = read_training(
            own, rows, self.given, workers, regression=own._regression, keep_values=needs_values(own)
        )
        if training.classes is not None:
            check_classes(training.classes)
        training = replace(training, sketched=self.bins == "sketch")
        own._check_training(training)
        validation = None
        if "X_val" in self.given:
            validation = read_validation(own, validation_rows, self.given, training, workers)
        growth = settings.growth
        prepared = training.prepare(growth.options.max_bins, growth.n_threads)
        if "sources" in self.given:
            reader = SourceReader(own, parts, training, validation, workers, prepared, growth.seed, first)
            of_training, of_validation = reader.read()
            prepared = replace(prepared, sources=select(of_training, prepared.order))
            validation = None if validation is None else replace(validation, sources=of_validation)
        return replace(prepared, validation=validation, metrics=self.metrics)


def check_versions(workers: WorkerCollective) -> None:
    """Raise RuntimeError if workers have different versions of the package, which may make different models."""
    versions = sorted(set(workers.all_gather(version("radboost"))))
    if len(versions) > 1:
        raise RuntimeError(
            f"The workers have different versions of radboost, {' and '.join(versions)}. Install one of them "
            "everywhere."
        )
