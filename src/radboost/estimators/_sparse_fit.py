"""Base of the sparse estimators: parameters, fitting, paths."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from radboost._progress import progress_bar
from radboost._typing import FloatArray
from radboost._validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_integer_or,
    check_needs,
    check_random_state,
    check_real,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.ensemble import SparseEnsemble
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._linear import LinearEstimator, Read
from radboost.estimators._naming import with_constructor
from radboost.families.columns import Column
from radboost.families.generators import Training, get_generator
from radboost.linear.bounds import NEEDS, solve_by_bounds
from radboost.linear.columns import DesignMatrix, matrix_times
from radboost.linear.induction import Induction, InductionSettings
from radboost.linear.newton import solve_by_newton
from radboost.linear.problem import Certificate, Point, SparseProblem, Trail
from radboost.losses import ScoreLoss
from radboost.penalties import RowPenalty, get_row_penalty

UPDATES = ("newton", "adaboost", "gradboost")
# What n_rounds="auto" stands for. Steps are cheap and mostly few; an induction optimises all weights once more, and
# with a price next to nothing there is no end to features that help.
MAX_STEPS, MAX_INDUCTIONS = 1000, 100


@with_constructor
class SparseBoost(LinearEstimator):
    """Base of the estimators with structural sparsity; `_read_targets` and `_make_loss` say what they learn from y.

    Parameters
    ----------
    penalty : {"l1", "l1/l2", "l1/linf", "l2", "smooth_l1"}
        What a feature pays for its weights, one for each class or task: the sum of their absolute values, their
        Euclidean length, or the largest of them. With the two mixed norms a feature enters and leaves with all its
        weights together. "l2" is half the sum of the squares, "smooth_l1" the sum of log(1 + e^w) + log(1 + e^-w), like
        squares near zero and like absolute values far out: with these two nothing becomes zero.
    alpha : float
        The price. The loss is a mean over rows, so alpha is the lambda of the paper divided by the number of rows.
    update : {"newton", "adaboost", "gradboost"}
        The solver; all end at the same optimum. "newton" is the fastest; the others are the paper's bounds,
        exponential (equation (8), Figures 2 and 3) and quadratic ((25), Figure 5, (35)).
    template : {"auto", "one", "all"} or int
        How many columns the paper's updates move at a time.
    family : {"given", "products", "kernel", "stumps", "trees"} or Generator
        Where features come from: the columns of X, products of columns of any degree, kernels around centres, stumps,
        trees. Of all but the columns the fit sees only what is proposed (docs/sparsity.md#where-features-come-from).
    features_per_round : int or None
        How many features enter at a time, those with the best progress bounds. None: all of them if they are a finite
        set, otherwise 8.
    totally_corrective : bool
        Whether all weights in the model are optimized after features have entered, or only those of the features that
        were chosen, by one step (sequential boosting).
    n_rounds : int or "auto"
        Most rounds: inductions, or steps of the solver where all features are there from the start. "auto" is 100
        inductions, or 1000 steps.
    tol : float
        Largest violation of the optimality conditions at the end, for columns scaled to a spread of 1.
    standardize : bool
        Whether the price is one for columns scaled to a spread of 1. False: for columns as they are.
    fit_intercept : bool
        Whether there is an intercept; it costs nothing.
    n_jobs : int or None
        Threads; None for all cores. The model does not depend on it.
    random_state : int, generator or None
        Seed of the order in which a perceptron tries rows as centers, and of trees.
    verbose : int
        Show a progress bar.

    Attributes
    ----------
    coef_, intercept_ : arrays
        With family="given", in the units of X and in scikit-learn's shapes.
    alpha_ : float
        The price of the fit.
    ensemble_ : SparseEnsemble
        The hypotheses and their weights; its `repr` is a formula.
    n_features_used_ : int
        Hypotheses with a weight.
    optimality_gap_ : float
        The largest violation of the termination conditions of section 8, over the features outside the model too that
        were proposed last.
    duality_gap_ : float
        The objective of this model is at most so far above the smallest one over all features that were proposed; what
        rounding may hide is added, so that it is never 0. NaN where the proposals change from round to round (products,
        trees, generators that are not `finite`) or are too many to keep.
    history_ : dict of lists, one entry per round
        "objective" and "n_features".
    stop_reason_ : str
        "optimal": no column of X can help within `tol`. "optimal among ...": none of the features that were proposed
        can, and which these were; others may. "n_rounds": there were so many. "precision": the objective does not fall
        any more in floating-point numbers.
    feature_importances_, n_iter_, n_features_in_, feature_names_in_
    """

    alpha: float | str = field(default=0.01, kw_only=False)
    penalty: str = "l1/l2"
    update: str = "newton"
    template: str | int = "auto"
    family: Any = "given"
    features_per_round: int | None = None
    totally_corrective: bool = True
    n_rounds: int | str = "auto"
    tol: float = 1e-6
    standardize: bool = True
    fit_intercept: bool = True
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    alpha_: float = field(init=False)
    history_: dict[str, list[float]] = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows X and targets y.

        Parameters
        ----------
        X : matrix, data frame or sparse matrix of numbers
        y : array of targets
        sample_weight : array or None
            A row of weight w counts as w copies of it.
        """
        settings = self._read_parameters()
        # Checked on a copy: an interrupted or failed fit leaves the estimator as it was.
        checked = copy(self)
        for name in ("coef_", "intercept_"):  # of a fit before, which may have had other features
            checked.__dict__.pop(name, None)
        read = checked._read(X, y, sample_weight)
        self._check_update(settings.penalty, read.loss)
        settings = replace(settings, alpha=checked._alpha_for(read, settings))
        with progress_bar(settings.n_rounds, int(self.verbose)) as advance:
            trail = Trail(
                callback=lambda objective, n_features: advance({"objective": objective, "n_features": n_features})
            )
            if self._solves_at_once():
                certificate = checked._fit_given(read, settings, trail)
            else:
                certificate = checked._fit_induced(read, settings, trail)
        checked._finish(trail, certificate, settings)
        self.__dict__ = checked.__dict__
        return self

    def alpha_max(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The smallest alpha at which the model of all columns of X is empty (section 8, at zero)."""
        settings = self._read_parameters()
        if not settings.penalty.sparse:
            raise ValueError(f"penalty={settings.penalty.name!r} leaves no feature out, whatever alpha is.")
        return self._problem(copy(self)._read(X, y, sample_weight), settings, 1.0).price_of_entry()

    def path(
        self, X: Any, y: Any, sample_weight: Any = None, *, alphas: Any = None, n_alphas: int = 30, eps: float = 1e-2
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Models along decreasing alpha, each started at the one before.

        Parameters
        ----------
        alphas : array or None
            None: `n_alphas` of them from alpha_max down to `eps` times that, in equal ratios.

        Returns
        -------
        alphas, coefs, intercepts
            In decreasing order of alpha; entries of `coefs` and `intercepts` have the shapes of `coef_`, `intercept_`.
        """
        settings = self._read_parameters()
        checked = copy(self)
        read = checked._read(X, y, sample_weight)
        self._check_update(settings.penalty, read.loss)
        if not self._solves_at_once():
            raise ValueError('A path needs family="given" and features_per_round=None.')
        problem = self._problem(read, settings, 1.0)
        alphas = decreasing(alphas, problem, n_alphas, eps)
        coefs, intercepts = zip(
            *(checked._shaped(*point) for point in self._points(problem, settings, alphas)), strict=True
        )
        return alphas, np.array(coefs), np.array(intercepts)

    def _points(self, problem: SparseProblem, settings: InductionSettings, alphas: FloatArray) -> Any:
        """Weights and intercept in the units of X at each alpha."""
        point, unit = problem.start(), problem.prices
        for alpha in alphas:
            at_alpha = replace(problem, prices=unit * alpha)
            point = self._solve(at_alpha, point, settings, Trail())
            yield _in_units_of_x(at_alpha, point)

    def _read_parameters(self) -> InductionSettings:
        """Everything that can be checked before the data is seen."""
        check_choice("update", self.update, UPDATES)
        check_integer_or(["auto", "one", "all"], "template", self.template, 1)
        check_integer_or([None], "features_per_round", self.features_per_round, 1)
        get_generator(self.family)
        check_verbose(self.verbose)
        resolve_n_jobs(self.n_jobs)
        check_random_state(self.random_state)
        return InductionSettings(
            penalty=get_row_penalty(self.penalty),
            alpha=self._alpha(),
            update=self.update,
            template=self.template,
            features_per_round=self.features_per_round,
            totally_corrective=check_boolean("totally_corrective", self.totally_corrective),
            standardize=check_boolean("standardize", self.standardize),
            fit_intercept=check_boolean("fit_intercept", self.fit_intercept),
            tolerance=check_real("tol", self.tol, low=0.0),
            n_rounds=self._n_rounds(),
        )

    def _alpha(self) -> float:
        """The given price; 0 where the fit chooses it."""
        return check_real("alpha", self.alpha, low=0.0)

    def _alpha_for(self, read: Read, settings: InductionSettings) -> float:
        """The price of a fit to these rows."""
        return settings.alpha

    def _n_rounds(self) -> int:
        check_integer_or(["auto"], "n_rounds", self.n_rounds, 1)
        if isinstance(self.n_rounds, str):
            return MAX_STEPS if self._solves_at_once() else MAX_INDUCTIONS
        return int(self.n_rounds)

    def _check_update(self, penalty: RowPenalty, loss: ScoreLoss) -> None:
        check_needs(NEEDS.get(self.update, ()), penalty=penalty, loss=loss)

    def _solves_at_once(self) -> bool:
        """True if all columns are in the problem from the start."""
        return bool(self.family == "given" and self.features_per_round is None)

    def _problem(self, read: Read, settings: InductionSettings, alpha: float) -> SparseProblem:
        columns = DesignMatrix.of(
            read.X,
            read.rows,
            read.row_weights,
            intercept=settings.fit_intercept,
            n_threads=resolve_n_jobs(self.n_jobs),
            scale=settings.scales_columns,
        )
        return settings.problem(columns, read.loss, read.row_weights, alpha)

    def _solve(self, problem: SparseProblem, point: Point, settings: InductionSettings, trail: Trail) -> Point:
        limits = (settings.tolerance, settings.n_rounds, trail)
        if settings.update == "newton":
            return solve_by_newton(problem, point, *limits)
        return solve_by_bounds(problem, point, *limits, update=settings.update, template=settings.template)

    def _fit_given(self, read: Read, settings: InductionSettings, trail: Trail) -> Certificate:
        problem = self._problem(read, settings, settings.alpha)
        point = self._solve(problem, problem.start(), settings, trail)
        weights, intercept = _in_units_of_x(problem, point)
        used = np.flatnonzero(weights.any(axis=1))
        self._keep([Column(int(feature)) for feature in used], weights[used], intercept)
        self.coef_, self.intercept_ = self._shaped(weights, intercept)
        return problem.certify(point)

    def _fit_induced(self, read: Read, settings: InductionSettings, trail: Trail) -> Certificate:
        X = read.X[read.rows]
        training = Training(
            sparse.csc_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64),
            read.loss,
            read.row_weights,
            seed_from(self.random_state),
            resolve_n_jobs(self.n_jobs),
        )
        induced = Induction(training, get_generator(self.family), settings, trail).run()
        self._keep(induced.hypotheses, induced.weights, induced.intercept)
        if self.family == "given":
            self._restore_coefficients()
        return induced.certificate

    def _keep(self, hypotheses: Any, weights: FloatArray, intercept: FloatArray) -> None:
        names = getattr(self, "feature_names_in_", None)
        self.ensemble_ = SparseEnsemble(hypotheses, weights, intercept, names, self._output_names())

    def _finish(self, trail: Trail, certificate: Certificate, settings: InductionSettings) -> None:
        self.alpha_ = settings.alpha
        self.history_ = {"objective": trail.objective, "n_features": [float(n) for n in trail.n_features]}
        self.n_iter_ = max(1, len(trail.objective))
        self.stop_reason_ = trail.stop_reason
        self.n_features_used_ = len(self.ensemble_)
        self.optimality_gap_, self.duality_gap_ = certificate.violation, certificate.duality_gap
        if trail.stop_reason == "n_rounds":
            advice = "Raise n_rounds or tol."
            if not self._solves_at_once():
                advice = (
                    f"There are {self.n_features_used_} features so far. A larger alpha, {4.0 * self.alpha_:.2g} for "
                    f"example in place of {self.alpha_:.2g}, gives a smaller model in less time; a larger "
                    "n_rounds continues with this one."
                )
            warnings.warn(
                f"{type(self).__name__} stopped after n_rounds={settings.n_rounds} with the optimality conditions "
                f"violated by {certificate.violation:.2g}. {advice}",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not self.n_features_used_:
            advice = "alpha_max(X, y) returns the alpha below which one is."
            if self.family != "given":
                advice = f'stop_reason_ is "{self.stop_reason_}"; a smaller alpha or another family may help.'
            warnings.warn(
                f"The model is empty: at alpha={self.alpha_:g} no proposed feature is worth its price. {advice}",
                UserWarning,
                stacklevel=4,
            )

    @of_one_fit
    def get_support(self, indices: bool = False) -> npt.NDArray[Any]:
        """The columns of X that the model needs: as a mask, or as their indices."""
        mask = self.feature_importances_ > 0.0
        return np.flatnonzero(mask) if indices else mask


def no_columns(read: Read) -> DesignMatrix:
    """Design matrix of these rows without any column."""
    return DesignMatrix.of_dense(np.zeros((0, len(read.rows))), read.row_weights, intercept=True, n_threads=1)


def _in_units_of_x(problem: SparseProblem, point: Point) -> tuple[FloatArray, FloatArray]:
    """Weights and intercept for columns that are neither centered nor scaled."""
    weights = point.weights * problem.columns.factors[:, None]
    intercept = point.intercept - matrix_times(weights.T, problem.columns.centres)
    # The same number added to all intercepts changes no probability: of all solutions, the one in the middle.
    return weights, intercept - intercept.mean() if problem.loss.coupled else intercept


def check_alphas(alphas: Any, n_alphas: int, eps: float) -> FloatArray | None:
    """The given alphas, decreasing; None where `n_alphas` and `eps` say which ones."""
    if alphas is None:
        check_integer("n_alphas", n_alphas, 1)
        check_real("eps", eps, low=0.0, high=1.0, open_low=True)
        return None
    try:
        given = np.unique(np.asarray(alphas, dtype=np.float64).ravel())[::-1]
    except (TypeError, ValueError):
        given = np.zeros(0)
    if not len(given) or not np.isfinite(given).all() or given[-1] < 0.0:
        raise ValueError(f"alphas must be finite numbers, none of them negative, or None; got {alphas!r}.")
    return given


def decreasing(alphas: Any, problem: SparseProblem, n_alphas: int, eps: float) -> FloatArray:
    """The alphas of a path: those given, or equal ratios from the empty model down."""
    given = check_alphas(alphas, n_alphas, eps)
    if given is not None:
        return given
    if not problem.penalty.sparse:
        raise ValueError(f"penalty={problem.penalty.name!r} has no alpha_max to start from; give the alphas.")
    largest = problem.price_of_entry()
    return largest * np.geomspace(1.0, eps, n_alphas) if n_alphas > 1 else np.array([largest * eps])
