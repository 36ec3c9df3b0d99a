"""One linear model under the worst mixture of several losses: ALMO."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d

from radboost._blas import one_blas_thread
from radboost._progress import progress_bar
from radboost._typing import FloatArray
from radboost._validation import (
    check_choice,
    check_integer,
    check_integer_or,
    check_random_state,
    check_real,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.ensemble import SparseEnsemble
from radboost.estimators._class_scores import ClassScores
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._linear import LinearEstimator, Read
from radboost.estimators._naming import with_constructor
from radboost.families.columns import Column
from radboost.linear.columns import DesignMatrix, matrix_times
from radboost.linear.minimax import SOLVERS, Batches, Minimax, Solution, solve
from radboost.linear.polishing import polish
from radboost.losses.gaps import CONVERGED_GAP
from radboost.losses.model_evaluation import EvaluationLoss, check_evaluation_losses, make_evaluation_losses
from radboost.model_file import ModelFileError, storable_estimator
from radboost.model_file.sections import json_array, read_json_array
from radboost.objectives.over_sources import agnostic, read_mixtures, vertices_of
from radboost.rows.prepare import CheckedRows
from radboost.rows.read import known_labels, read_matrix

NamedLosses = list[tuple[str, Any]]
POLISHED = 0.5 * CONVERGED_GAP  # gap at which polishing ends, relative to the objective without weights


def losses_and_vertices(losses: Any, mixtures: Any) -> tuple[NamedLosses, FloatArray | None]:
    """The losses with their names, and the corners of their mixtures; None for all mixtures."""
    named, read = check_evaluation_losses(losses), read_mixtures(mixtures)
    if read.penalty > 0.0:
        raise ValueError("The penalty of Mixtures is about numbers of rows; a mixture of losses has none.")
    return named, vertices_of(read, np.array([name for name, _ in named]), "losses")


@storable_estimator
@with_constructor
class AgnosticClassifier(ClassifierMixin, ClassScores, LinearEstimator):
    """A linear model that minimizes the worst mixture of several losses (Storcheus, PhD thesis, NYU 2021, chapter 5).

    It is for models that are evaluated by more than one loss, where nobody knows which one will count. The losses are
    divided by their Lipschitz constants M_k, so that they can be compared: they react alike to a change of the scores.
    Weights stay in a ball, in which every loss is bounded.

    Parameters
    ----------
    losses : tuple of names or of objects
        "cross_entropy", "hinge", "zero_one" (trained by a sigmoid, reported as it is), "l1" (the distance of the scores
        from the labels -1 and +1, or from 0 and 1 with more than two classes); or losses of your own with
        `value(targets, scores)`, `derivative(targets, scores)`, `lipschitz_of_value` (M_k, by default 1) and `convex`
        (by default False; only for convex losses is there an `optimality_gap_`).
    mixtures : array, data frame, or None
        The mixtures of losses that the model must hold up on, by their corners: rows that sum to 1, with a column
        for each loss. None for all.
    radius : float
        Of the ball that weights, of columns with a spread of 1, and the intercept stay in.
    norm_penalty : float
        beta_1 of (5.10): what the length of the weights costs.
    lipschitz_penalty : float
        beta_2 of (5.10): a loss counts for so much more times M_k / unit. With `normalize` that is the same for all.
    normalize : bool
        Whether losses are divided by M_k.
    solver : {"descent_ascent", "mirror_prox"}
        Figure 5.2 of the thesis, or Mirror-Prox, with two gradients in each round.
    n_rounds : int
        T of Theorem 5.4. The model is at most in the order of 1 / sqrt(T) above the minimum where losses are convex.
        Without batches, Newton's method goes on from there to the minimum if there are at most 150 weights.
    batch_size : int or None
        Rows that are drawn in each round; None for all of them.
    learning_rate : float
        Times the steps of Theorem 5.4.
    class_weight, n_jobs, random_state, verbose : as for the other estimators

    Attributes
    ----------
    coef_, intercept_ : arrays in the units of X, in scikit-learn's shapes
    mixture_ : dict
        lambda at the minimum, or its average over the rounds: which losses are worst.
    loss_values_ : dict
        The losses on the training rows, divided by their units as in the objective.
    agnostic_loss_ : float
        The worst mixture of them.
    optimality_gap_ : float
        The objective of this model is at most so far above the smallest one in the ball: the dual bound of the
        convex losses, where "zero_one" counts as 0. NaN where nothing is known.
    stop_reason_ : str
        "converged": `optimality_gap_` is at most 1e-6 of the objective without weights. Otherwise "n_rounds".
    history_ : dict of lists, one entry per round
        "objective", and "loss[name]" and "mixture[name]" of each loss.
    classes_, ensemble_, n_iter_, feature_importances_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from radboost import AgnosticClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = AgnosticClassifier(("cross_entropy", "hinge")).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), sorted(model.mixture_)
    (True, ['cross_entropy', 'hinge'])
    """

    losses: Any = field(default=("cross_entropy", "hinge", "zero_one", "l1"), kw_only=False)
    mixtures: Any = None
    radius: float = 10.0
    norm_penalty: float = 0.0
    lipschitz_penalty: float = 0.0
    normalize: bool = True
    solver: str = "descent_ascent"
    n_rounds: int = 1000
    batch_size: int | None = None
    learning_rate: float = 1.0
    class_weight: Any = None
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    mixture_: dict[str, float] = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows X and labels y; a row of weight w counts as w copies of it."""
        losses, vertices = self._read_parameters()
        checked = copy(self)  # an interrupted or failed fit leaves the estimator as it was
        read = checked._read(X, y, sample_weight)
        # Products of matrices by BLAS, which batches use, depend on the number of its threads.
        blas = one_blas_thread if self.batch_size is not None else nullcontext()
        with progress_bar(int(self.n_rounds), int(self.verbose)) as advance, blas:
            problem = checked._minimax(read, losses, vertices)
            solution = solve(
                problem,
                [name for name, _ in losses],
                solver=self.solver,
                n_rounds=int(self.n_rounds),
                learning_rate=float(self.learning_rate),
                batches=checked._batches(problem, read),
                advance=lambda record: advance({"objective": record["objective"]}),
            )
            if self.batch_size is None:
                solution = polish(problem, solution, POLISHED * problem.scale)
        checked._keep_solution(problem, solution, [name for name, _ in losses])
        self.__dict__ = checked.__dict__
        return self

    def _read_parameters(self) -> tuple[NamedLosses, FloatArray | None]:
        check_choice("solver", self.solver, SOLVERS)
        check_integer("n_rounds", self.n_rounds, 1)
        check_integer_or([None], "batch_size", self.batch_size, 1)
        for name in ("radius", "learning_rate"):
            check_real(name, getattr(self, name), low=0.0, open_low=True)
        for name in ("norm_penalty", "lipschitz_penalty"):
            check_real(name, getattr(self, name), low=0.0)
        if not isinstance(self.normalize, bool | np.bool_):
            raise TypeError(f"normalize must be True or False; got {self.normalize!r}.")
        check_verbose(self.verbose)
        resolve_n_jobs(self.n_jobs)
        check_random_state(self.random_state)
        return losses_and_vertices(self.losses, self.mixtures)

    def _read_targets(self, training: CheckedRows) -> FloatArray:
        self.classes_ = training.classes_with_warning()
        return training.class_ids[None].astype(np.float64)

    def _make_loss(self, labels: FloatArray) -> Any:
        return labels[0].astype(np.uint16)  # losses are made when all of the problem is known

    def _output_names(self) -> list[str] | None:
        return [str(label) for label in self.classes_] if len(self.classes_) > 2 else None

    def _recorded(self) -> list[str]:
        names = list(self.mixture_)
        return ["objective", *(f"{what}[{name}]" for what in ("loss", "mixture") for name in names)]

    def _minimax(self, read: Read, named: NamedLosses, vertices: FloatArray | None) -> Minimax:
        n_classes = max(2, len(self.classes_))
        class_ids: Any = read.loss
        losses = make_evaluation_losses(named, class_ids, n_classes)
        steepness = np.array([loss.lipschitz_of_value for loss in losses])
        units = steepness if self.normalize else np.ones(len(losses))
        columns = DesignMatrix.of(
            read.X, read.rows, read.row_weights, intercept=True, n_threads=resolve_n_jobs(self.n_jobs), scale=True
        )
        return Minimax(
            columns,
            losses,
            units,
            float(self.lipschitz_penalty) * steepness / units,
            read.row_weights,
            1 if n_classes == 2 else n_classes,
            float(self.radius),
            float(self.norm_penalty),
            vertices,
        )

    def _batches(self, problem: Minimax, read: Read) -> Batches | None:
        if self.batch_size is None:
            return None
        return Batches(problem, read.X, read.rows, read.loss, int(self.batch_size), seed_from(self.random_state))

    def _keep_solution(self, problem: Minimax, solution: Solution, loss_names: list[str]) -> None:
        weights = solution.point[:-1] * problem.columns.factors[:, None]
        intercept = problem.intercept(solution.point) - matrix_times(weights.T, problem.columns.centres)
        used = np.flatnonzero(weights.any(axis=1))
        names = getattr(self, "feature_names_in_", None)
        columns = [Column(int(feature)) for feature in used]
        self.ensemble_ = SparseEnsemble(columns, weights[used], intercept, names, self._output_names())
        self.coef_, self.intercept_ = self._shaped(weights, intercept)
        self.history_ = solution.history
        converged = solution.gap <= CONVERGED_GAP * problem.scale
        self.n_iter_, self.stop_reason_ = int(self.n_rounds), "converged" if converged else "n_rounds"
        self.n_features_used_ = len(used)
        self.optimality_gap_ = self.duality_gap_ = solution.gap
        values = problem.values(problem.scores(solution.point)) - problem.offsets
        self._keep_numbers(
            dict(zip(loss_names, solution.mixture.tolist(), strict=True)),
            dict(zip(loss_names, values.tolist(), strict=True)),
        )

    def _keep_numbers(self, mixture: dict[str, float], values: dict[str, float]) -> None:
        self.mixture_, self.loss_values_ = mixture, values
        numbers, names = np.array(list(values.values())), np.array(list(values))
        vertices = vertices_of(read_mixtures(self.mixtures), names, "losses")
        self.agnostic_loss_ = agnostic(numbers, vertices)

    @of_one_fit
    def losses_on(self, X: Any, y: Any) -> dict[str, float]:
        """The mean of each loss on some rows, as it is reported: not divided, and "zero_one" the rate of errors."""
        _, scores, losses = self._evaluated(X, y)
        named, _ = self._read_parameters()
        return {name: float(loss.reported(scores).mean()) for (name, _), loss in zip(named, losses, strict=True)}

    def _evaluated(self, X: Any, y: Any) -> tuple[Any, FloatArray, list[EvaluationLoss]]:
        """Rows as they are read, their scores of shape (n_outputs, n_rows), and the losses of the labels."""
        rows = read_matrix(self, X, {}, self._accepted)
        labels = column_or_1d(y, dtype=None)
        check_consistent_length(rows, labels)
        class_ids = known_labels(np.asarray(labels), self.classes_, "y")
        losses = make_evaluation_losses(self._read_parameters()[0], class_ids, max(2, len(self.classes_)))
        return rows, np.ascontiguousarray(self.ensemble_.scores(rows).T), losses

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "loss_names": json_array(list(self.mixture_)),
            "mixture": np.array(list(self.mixture_.values())),
            "loss_values": np.array(list(self.loss_values_.values())),
        }

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        names = read_json_array(arrays, "loss_names")
        plain = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        if not plain or len(set(names)) != len(names):
            raise ModelFileError("the names of the losses are missing.")
        numbers = []
        for key in ("mixture", "loss_values"):
            values = arrays.get(key, np.zeros(0))
            if values.shape != (len(names),) or values.dtype != np.float64 or not np.isfinite(values).all():
                raise ValueError(f"the array {key!r} does not fit the losses")
            numbers.append(dict(zip(names, values.tolist(), strict=True)))
        self._keep_numbers(*numbers)
