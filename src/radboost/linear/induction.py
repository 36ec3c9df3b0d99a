"""Induction of features: they enter, weights are refitted, and zero ones leave. Duchi and Singer (2009), section 8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.families.columns import Column
from radboost.families.generators import Generator, Proposing, Training
from radboost.families.kinds import OWN, by_kind
from radboost.families.own import last_proposals, start_generator
from radboost.linear.bounds import progress, solve_by_bounds
from radboost.linear.columns import BLOCK_CELLS, DesignMatrix, Indices, in_range, matrix_times
from radboost.linear.newton import newton_step, solve_by_newton
from radboost.linear.problem import Certificate, Point, SparseProblem, Trail
from radboost.losses import ScoreLoss
from radboost.penalties import RowPenalty

DEFAULT_FEATURES_PER_ROUND = 8
INNER_ROUNDS = 200  # steps of the solver between two inductions, at most
KEPT_CELLS = 2**24  # values of candidates that are cached between rounds: 128 MB


@dataclass(frozen=True)
class InductionSettings:
    """Parameters of a fit, checked."""

    penalty: RowPenalty
    alpha: float
    update: str
    template: str | int
    features_per_round: int | None
    totally_corrective: bool
    standardize: bool
    fit_intercept: bool
    tolerance: float
    n_rounds: int

    @property
    def scales_columns(self) -> bool:
        """True if columns are scaled to a spread of 1; prices of raw columns need a penalty with a degree for that."""
        return self.standardize or self.penalty.degree is not None

    def problem(self, columns: DesignMatrix, loss: ScoreLoss, row_weights: FloatArray, alpha: float) -> SparseProblem:
        """The objective over some columns, with a price for columns as they are or as scaled."""
        degree = 0 if self.standardize else self.penalty.degree or 0
        return SparseProblem(
            columns, loss, self.penalty, row_weights, alpha * columns.factors**degree, self.fit_intercept
        )


@dataclass(frozen=True)
class Induced:
    """A model: hypotheses, their weights of shape (n_hypotheses, n_outputs), and an intercept for each output."""

    hypotheses: list[Any]
    weights: FloatArray
    intercept: FloatArray
    certificate: Certificate


@dataclass(frozen=True)
class Pool:
    """Candidates, if they do not change between rounds, as one problem."""

    hypotheses: Sequence[Any]
    problem: SparseProblem
    indices: dict[Any, int]


class Induction:
    """Rounds of induction. Weights are stored for unscaled hypotheses, and rescaled for each problem."""

    def __init__(self, training: Training, generator: Generator, settings: InductionSettings, trail: Trail) -> None:
        self.training, self.settings, self.trail = training, settings, trail
        assert isinstance(training.loss, ScoreLoss)  # generators need less of it than solvers do
        self.loss = training.loss
        self.generator = generator
        self.propose: Proposing = start_generator(generator, training)
        k, m = training.loss.n_outputs, training.loss.n_rows
        self.members: list[Any] = []
        self.values = np.zeros((0, m))
        self.inner = Trail(stop_reason="optimal")  # of the last fit of the weights
        self.seen: dict[Any, FloatArray] = {}
        self.weights, self.intercept = np.zeros((0, k)), np.zeros(k)
        self.pool = self._pool() if generator.finite else None
        at_once = settings.features_per_round is None and generator.finite
        self.most = None if at_once else settings.features_per_round or DEFAULT_FEATURES_PER_ROUND

    @property
    def _matrix_options(self) -> dict[str, Any]:
        """Arguments of the design matrices of this fit."""
        settings = self.settings
        return {
            "intercept": settings.fit_intercept,
            "n_threads": self.training.n_threads,
            "scale": settings.scales_columns,
        }

    def run(self) -> Induced:
        """Rounds until no candidate can help, or there were `n_rounds` of them."""
        problem, point = self._problem()
        self.intercept = point.intercept
        unhelpful = 0.0
        for _ in range(self.settings.n_rounds):
            problem, point, entered = self._induce(problem, point)
            if not entered and self.inner.stop_reason != "n_rounds":
                problem, point, entered, excess = self._try_more(problem, point)
                if not entered:
                    unhelpful = excess
                    break
            # Without an entry the weights of those inside are not there yet.
            point = self._weigh(problem, point, entered)
            self.trail.note(problem.objective(point), len(point.used))
            problem, point = self._prune(problem, point)
        worst = float(self._scored(problem, point)[2].max(initial=unhelpful))
        certificate = problem.certify(point)
        certificate = Certificate(max(certificate.violation, worst), self._duality_gap(point))
        return Induced(self.members, self.weights, self.intercept, certificate)

    def _duality_gap(self, point: Point) -> float:
        """Duality gap over all candidates, if they are in the pool; otherwise NaN."""
        if self.pool is None:
            return np.nan
        problem, indices = self.pool.problem, [self.pool.indices[member] for member in self.members]
        weights = np.zeros((problem.columns.n_columns, self.weights.shape[1]))
        weights[indices] = _scaled(self.weights, problem.columns.factors[indices])
        return problem.certify(Point(weights, point.intercept, point.scores)).duality_gap

    def _problem(self) -> tuple[SparseProblem, Point]:
        """The problem of the members, and the point of their weights."""
        problem = self._problem_of(self.values.copy())
        if not self.members:
            return problem, problem.start()
        scaled = _scaled(self.weights, problem.columns.factors)
        intercept = self.intercept + matrix_times(self.weights.T, problem.columns.centres)
        scores = problem.columns.scores(problem.everything, scaled) + intercept[:, None]
        return problem, Point(scaled, intercept, scores)

    def _pool(self) -> Pool | None:
        """The pool of all candidates; None unless they are columns of X or their values can be kept."""
        training, m = self.training, self.training.loss.n_rows
        hypotheses = list(dict.fromkeys(self.propose([], np.zeros((training.loss.n_outputs, m)))))
        if hypotheses == [Column(feature) for feature in range(training.X.shape[1])]:
            columns = DesignMatrix.of(training.X, np.arange(m), training.row_weights, **self._matrix_options)
            problem = self._problem_over(columns)
        elif len(hypotheses) * m <= KEPT_CELLS:
            problem = self._problem_of(self._evaluated(hypotheses))
        else:
            return None
        return Pool(hypotheses, problem, {hypothesis: index for index, hypothesis in enumerate(hypotheses)})

    def _problem_of(self, values: FloatArray) -> SparseProblem:
        return self._problem_over(DesignMatrix.of_dense(values, self.training.row_weights, **self._matrix_options))

    def _problem_over(self, columns: DesignMatrix) -> SparseProblem:
        training = self.training
        return self.settings.problem(columns, self.loss, training.row_weights, self.settings.alpha)

    def _block_size(self) -> int:
        return max(1, BLOCK_CELLS // max(1, self.training.loss.n_rows))

    def _evaluate(self, hypotheses: Sequence[Any]) -> FloatArray:
        """Values of hypotheses on the rows, shape (n_hypotheses, n_rows); those of the last round are kept."""
        m = self.training.loss.n_rows
        fresh = [hypothesis for hypothesis in hypotheses if hypothesis not in self.seen]
        if (len(self.seen) + len(fresh)) * m > KEPT_CELLS:
            self.seen.clear()
            return self._evaluated(hypotheses)
        self.seen.update(zip(fresh, self._evaluated(fresh), strict=True))
        return np.array([self.seen[hypothesis] for hypothesis in hypotheses]).reshape(len(hypotheses), m)

    def _evaluated(self, hypotheses: Sequence[Any]) -> FloatArray:
        values = np.empty((len(hypotheses), self.training.loss.n_rows))
        for kind, indices in by_kind(hypotheses).items():
            alike = [hypotheses[index] for index in indices]
            given = kind.values(alike, self.training.X)
            if given.shape != (len(indices), values.shape[1]) or not (kind.overflows or np.isfinite(given).all()):
                raise ValueError(
                    "A hypothesis must return one finite number for each row; one of "
                    f"{', '.join(type(hypothesis).__name__ for hypothesis in alike[:3])} did not."
                )
            if kind is OWN and not in_range(given).all():
                wrong = alike[int(np.argmin(in_range(given)))]
                raise ValueError(
                    f"The values of {type(wrong).__name__} leave the range of numbers when they are squared: values "
                    "must lie between 1e-150 and 1e150 in size. Rescale them."
                )
            values[indices] = given
        return values

    def _induce(self, problem: SparseProblem, point: Point) -> tuple[SparseProblem, Point, list[int]]:
        """Add the candidates with the best progress bounds; returns the indices of the members to weigh."""
        settings = self.settings
        candidates, gain, excess = self._scored(problem, point)
        helpful = np.flatnonzero(excess > settings.tolerance)
        ranked = helpful[np.argsort(-gain[helpful], kind="stable")]
        if settings.totally_corrective or not self.members:
            entering, again = ranked[: self.most], list[int]()
        else:
            entering, again = self._beside_members(problem, point, ranked, gain)
        if not len(entering) and not again:
            return problem, point, []
        problem, point, entered = self._enter(problem, point, [candidates[index] for index in entering])
        return problem, point, [*again, *entered]

    def _enter(
        self, problem: SparseProblem, point: Point, chosen: Sequence[Any]
    ) -> tuple[SparseProblem, Point, list[int]]:
        """Add members with zero weights; returns their indices."""
        n_before = len(self.members)
        if chosen:
            self.members = [*self.members, *chosen]
            values = self._evaluate(chosen) if self.pool is None else self._evaluated(chosen)
            self.values = np.concatenate([self.values, values])
            self.weights = np.concatenate([self.weights, np.zeros((len(chosen), self.weights.shape[1]))])
            problem, point = self._problem()
        return problem, point, list(range(n_before, len(self.members)))

    def _try_more(self, problem: SparseProblem, point: Point) -> tuple[SparseProblem, Point, list[int], float]:
        """Add the best of the last proposals of the generator (`last_look`); returns also the largest violation."""
        more = last_proposals(self.generator, self.training, problem.residual(point.scores))
        present, worst = set(self.members), 0.0
        best, gains = list[Any](), np.zeros(0)
        for block in _batches((one for one in more.hypotheses if one not in present), self._block_size()):
            values = self._evaluated(block)
            usable = np.flatnonzero(in_range(values))
            gain, excess = self._score(self._problem_of(values[usable]), point)
            worst = max(worst, float(excess.max(initial=0.0)))
            helpful = np.flatnonzero(excess > self.settings.tolerance)
            best += [block[index] for index in usable[helpful]]
            gains = np.concatenate([gains, gain[helpful]])
            order = np.argsort(-gains, kind="stable")[: self.most]
            best, gains = [best[index] for index in order], gains[order]
        problem, point, entered = self._enter(problem, point, best)
        if not entered:
            reason, among = self.inner.stop_reason, more.proposed
            self.trail.stop_reason = f"optimal among {among}" if reason == "optimal" and among else reason
        return problem, point, entered, worst

    def _scored(self, problem: SparseProblem, point: Point) -> tuple[Sequence[Any], FloatArray, FloatArray]:
        """Candidates, their progress bounds, and their violations of the termination condition."""
        if self.pool is not None:
            gain, excess = self._score(self.pool.problem, point)
            inside = [self.pool.indices[member] for member in self.members]
            gain[inside] = excess[inside] = 0.0
            return self.pool.hypotheses, gain, excess
        present = set(self.members)
        proposed = self.propose(self.members, problem.residual(point.scores))
        candidates = [hypothesis for hypothesis in dict.fromkeys(proposed) if hypothesis not in present]
        gains, excesses = [np.zeros(0)], [np.zeros(0)]
        for block in _batches(candidates, self._block_size()):
            gain, excess = np.zeros(len(block)), np.zeros(len(block))
            values = self._evaluate(block)
            usable = np.flatnonzero(in_range(values))
            gain[usable], excess[usable] = self._score(self._problem_of(values[usable]), point)
            gains.append(gain)
            excesses.append(excess)
        return candidates, np.concatenate(gains), np.concatenate(excesses)

    def _score(self, problem: SparseProblem, point: Point) -> tuple[FloatArray, FloatArray]:
        empty = Point(np.zeros((problem.columns.n_columns, problem.loss.n_outputs)), point.intercept, point.scores)
        slopes = problem.slopes(problem.residual(point.scores), problem.everything)
        excess = problem.penalty.violation(empty.weights, slopes, problem.prices)
        return progress(problem, empty, problem.everything, self.settings.update), excess

    def _beside_members(
        self, problem: SparseProblem, point: Point, ranked: Indices, gain: FloatArray
    ) -> tuple[Indices, list[int]]:
        """Sequential boosting: members compete with candidates by their progress bounds."""
        old = progress(problem, point, problem.everything, self.settings.update)
        new = gain[ranked]
        order = np.argsort(-np.concatenate([old, new]), kind="stable")[: self.most]
        order = order[np.concatenate([old, new])[order] > 1e-15]
        return ranked[order[order >= len(old)] - len(old)], order[order < len(old)].tolist()

    def _weigh(self, problem: SparseProblem, point: Point, entered: list[int]) -> Point:
        """Fit all weights to tolerance (totally corrective), or make one step along the chosen ones."""
        settings = self.settings
        self.inner = inner = Trail() if settings.totally_corrective else Trail(stop_reason="optimal")
        columns = None if settings.totally_corrective else np.array(entered)
        rounds = INNER_ROUNDS if settings.totally_corrective else 1
        if settings.update != "newton":
            return solve_by_bounds(
                problem, point, settings.tolerance, rounds, inner,
                update=settings.update, template=settings.template, columns=columns,
            )  # fmt: skip
        if columns is None:
            return solve_by_newton(problem, point, settings.tolerance, rounds, inner)
        newton_step(problem, point, columns)
        return point

    def _prune(self, problem: SparseProblem, point: Point) -> tuple[SparseProblem, Point]:
        """Remove members without a weight; they may come back as candidates."""
        factors, centres = problem.columns.factors, problem.columns.centres
        weights = point.weights * factors[:, None]
        self.intercept = point.intercept - matrix_times(weights.T, centres)
        kept = np.asarray(weights.any(axis=1))
        self.members = [member for member, keep in zip(self.members, kept, strict=True) if keep]
        self.values, self.weights = self.values[kept], weights[kept]
        if kept.all():
            return problem, point
        problem, moved = self._problem()
        if not self.members:
            moved = Point(
                self.weights, self.intercept.copy(), np.repeat(self.intercept[:, None], problem.loss.n_rows, 1)
            )
        return problem, moved


def _scaled(weights: FloatArray, factors: FloatArray) -> FloatArray:
    """Weights of hypotheses as they are, for columns with these factors."""
    factors = factors[:, None]
    return np.divide(weights, factors, out=np.zeros_like(weights), where=factors > 0.0)


def _batches(hypotheses: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(hypotheses)
    while block := list(islice(rest, size)):
        yield block
