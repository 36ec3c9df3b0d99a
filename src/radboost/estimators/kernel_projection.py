"""A mixture of kernels, a projection and a classifier, learned together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from radboost._blas import one_blas_thread
from radboost._progress import progress_bar
from radboost._typing import FloatArray
from radboost._validation import (
    check_boolean,
    check_integer,
    check_integer_or,
    check_random_state,
    check_real,
    check_real_or,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.ensemble.projected import ProjectedEnsemble
from radboost.estimators._class_scores import ClassScores
from radboost.estimators._describing import Describing, Unexplained
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._naming import with_constructor
from radboost.linear.columns import canonical_rows, check_known
from radboost.model_file import storable_estimator
from radboost.model_file.encoding import is_stored
from radboost.projection.kernels import (
    KernelFunction,
    NamedKernel,
    PrecomputedKernel,
    check_columns,
    read_kernels,
    standardized,
)
from radboost.projection.logistic import LogisticRidge
from radboost.projection.mixtures import MixtureSet, scaled_into
from radboost.projection.solver import Course, ProjectionProblem, Solved, search
from radboost.projection.spectra import Spectrum, check_independent, nystrom_spectrum, spectrum
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training
from radboost.rows.read import Accepted, read_matrix

ACCEPTED = Accepted(missing=False)
DEFAULT_RANK = 10
BLOCK = 64
# Beyond this number of different rows eigenfunctions are those of Nystrom's method, with this number of landmarks.
LARGEST_SAMPLE, LANDMARKS = 5_000, 1_000
# nu by default, in units of p^2, the least that M is not empty for.
DEFAULT_INVERSES = 10.0


# Different rows in canonical order, the indices of their classes, and weights that sum to 1.
LabeledRows = tuple[FloatArray, npt.NDArray[Any], FloatArray]


@storable_estimator
@with_constructor
class SupervisedKernelProjection(
    ClassScores, ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Unexplained, Describing
):
    """Logistic regression on the top eigenfunctions of a mixture of kernels, all learned at once.

    Storcheus, PhD thesis (NYU 2021), chapter 7: the hypotheses (7.1) over the mixtures (7.2). KernelPCA keeps the
    directions in which rows vary most, whether they separate classes or not. Here the loss chooses the weights of the
    base kernels, and with them the eigenfunctions that are kept. Within a cell of mixtures that keep the same
    eigenfunctions the problem is convex and solved; from cell to cell goes a descent.

    Parameters
    ----------
    kernels : list
        Base kernels: "linear", "polynomial", "rbf", "laplacian", `NamedKernel(...)`, functions of two matrices, or
        square matrices (`PrecomputedKernel`), whose rows X then names by index in its first column. Each is divided
        by its largest K(x, x) on the rows.
    rank : int or None
        r: how many eigenfunctions are kept. None for 10, or fewer where there are not so many.
    ky_fan : float or None
        Lambda_(r): what the r largest eigenvalues may sum to. None for no limit.
    inverse_sum : float or None
        nu: what the inverses of the weights may sum to, at least p^2 for p kernels. None for 10 p^2.
    alpha : float
        What half the squared norm of the classifier costs.
    fit_intercept : bool
        Whether scores have a constant term, which (7.1) has not.
    standardize : bool
        Whether kernels by name take columns with mean 0 and standard deviation 1.
    n_starts : int
        Mixtures, drawn at random, that descents start from, beside the even one and one for each kernel.
    n_jobs : int or None
        Threads that read the rows. The model does not depend on it.
    random_state : int, RandomState instance or None
        Of the starts.
    verbose : int
        1 shows a progress bar with a step for each start.

    Attributes
    ----------
    mixture_ : array of shape (n_kernels,)
        mu.
    components_ : array of shape (rank, 2)
        The kernel and the number of each eigenfunction that is kept, by falling eigenvalue.
    eigenvalues_ : array of shape (rank,)
        Those of C_U, mu_k lambda_kj.
    coef_, intercept_ : arrays
        The classifier on `transform(X)`.
    ensemble_ : ProjectedEnsemble
        All of this together, to print.
    inverse_sum_ : float
        nu.
    n_unlabelled_ : int
        The rows of `X_unlabelled`, 0 without.
    nystrom_error_ : array of shape (n_kernels,)
        The fraction of the mean K(x, x) that was left out where there are more than 5,000 different rows; 0 otherwise.
    kinks_ : list of pairs
        (loser, gainer): at this mixture an eigenfunction of the first kernel is about to give way to one
        of the second, so that the objective would jump.
    stop_reason_ : str
        Why the descent ended: no neighboring cell is lower, or, where there are few, none at all.
    history_ : dict of lists
        "objective" after each accepted step of the descent that won; it falls.
    """

    kernels: Sequence[Any] = field(default=("linear", "rbf"), kw_only=False)
    rank: int | None = None
    ky_fan: float | None = None
    inverse_sum: float | None = None
    alpha: float = 1e-3
    fit_intercept: bool = True
    standardize: bool = True
    n_starts: int = 4
    n_jobs: int | None = None
    random_state: Any = 0
    verbose: int = 0

    ensemble_: ProjectedEnsemble = field(init=False)
    _kernels: list[KernelFunction] = field(init=False)
    _sample: FloatArray = field(init=False)

    _kind_of_file: ClassVar[str] = "projections"
    _why_unexplained: ClassVar[str] = "its eigenfunctions mix all columns of a row."

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:
        """Learn from labeled rows; eigenfunctions are those of `X_unlabelled` where that is given."""
        kernels = self._read_parameters()
        if len(kernels) == 1:
            warnings.warn(
                "With one kernel there is no mixture to learn: this is KernelPCA (without centring) and logistic "
                "regression.",
                UserWarning,
                stacklevel=2,
            )
        checked = copy(self)  # a fit that fails leaves the estimator as it was
        part = LoadedPartition(X, y, sample_weight)
        rows = read_training(checked, [part], part.given, accepted=ACCEPTED)
        matrix = _dense(rows.X)
        weights = np.ones(len(matrix)) if rows.weights is None else rows.weights
        checked.classes_ = rows.classes_with_warning()
        different, labels, totals = checked._distinct(matrix, rows.class_ids, weights)
        checked._sample_size = float(totals.sum())
        checked.n_unlabelled_ = 0
        if X_unlabelled is not None:
            matrix = _dense(read_matrix(checked, X_unlabelled, {}, ACCEPTED))
            checked.n_unlabelled_, weights = len(matrix), np.ones(len(matrix))
        checked._sample, _, weights = checked._distinct(matrix, np.zeros(len(matrix)), weights)
        check_columns(kernels, checked.n_features_in_)
        checked._measure_columns(weights)
        checked._kernels = standardized(kernels, checked._means, checked._scales)
        # Products of matrices depend on the number of BLAS threads.
        with one_blas_thread:
            checked._learn((different, labels, totals / totals.sum()), weights)
        self.__dict__ = checked.__dict__
        return self

    def _read_parameters(self) -> list[KernelFunction]:
        kernels = read_kernels(self.kernels)
        check_integer_or([None], "rank", self.rank, 1)
        check_real_or([None], "ky_fan", self.ky_fan, low=0.0, open_low=True)
        check_real_or([None], "inverse_sum", self.inverse_sum, low=0.0, open_low=True)
        check_real("alpha", self.alpha, low=0.0, open_low=True)
        check_boolean("fit_intercept", self.fit_intercept)
        check_boolean("standardize", self.standardize)
        check_verbose(self.verbose)
        check_integer("n_starts", self.n_starts, 0, 10_000)
        check_random_state(self.random_state)
        resolve_n_jobs(self.n_jobs)
        return kernels

    def _distinct(self, X: FloatArray, class_ids: npt.NDArray[Any], weights: FloatArray) -> LabeledRows:
        """Different rows in canonical order, with their classes and the sums of their weights."""
        labels = class_ids[None].astype(np.float64)
        kept, totals = canonical_rows(np.ascontiguousarray(X), labels, weights, resolve_n_jobs(self.n_jobs))
        return X[kept], class_ids[kept], totals

    def _measure_columns(self, weights: FloatArray) -> None:
        """Set means and standard deviations of the different rows, or 0 and 1."""
        n_features = self._sample.shape[1]
        self._means, self._scales = np.zeros(n_features), np.ones(n_features)
        if self.standardize:
            fractions = weights / weights.sum()
            largest = np.maximum(np.abs(self._sample).max(axis=0), 1e-300)  # squares of 1e200 are too large
            scaled = self._sample / largest
            means = fractions @ scaled
            spreads = np.sqrt(fractions @ (scaled - means) ** 2)
            self._means = means * largest
            # The deviation of a constant column is rounding.
            varies = spreads > 1e-12
            self._scales = np.where(varies, 1.0 / np.where(varies, np.maximum(spreads * largest, 1e-300), 1.0), 0.0)

    def _learn(self, labeled: LabeledRows, weights: FloatArray) -> None:
        rank = DEFAULT_RANK if self.rank is None else int(self.rank)
        if self.rank is not None and rank > len(self._sample):
            raise ValueError(
                f"rank must be at most the number of different rows, n_samples={len(self._sample)}; got {self.rank}."
            )
        # Rows are in the order of a hash of their content: the first are drawn at random, and always the same.
        rows, some = self._sample, self._sample[:LANDMARKS]
        if len(rows) > LARGEST_SAMPLE:
            self._sample = some
            self._spectra = [
                nystrom_spectrum(kernel, some, rows, weights, rank, k) for k, kernel in enumerate(self._kernels)
            ]
        else:
            self._spectra = [spectrum(kernel, rows, weights, rank, k) for k, kernel in enumerate(self._kernels)]
        if len(self._kernels) > 1:
            check_independent([np.asarray(kernel(some, some)) for kernel in self._kernels])
        self.nystrom_error_ = np.array([one.error for one in self._spectra])
        available = sum(min(rank, len(one.eigenvalues)) for one in self._spectra)
        rank = min(rank, available) if self.rank is None else rank
        problem = self._problem(labeled, rank)
        starts = self._starts(problem.mixtures)
        course = Course()
        with progress_bar(len(starts), int(self.verbose)) as advance:
            solved = search(problem, starts, course, advance)
        if solved is None:
            raise ValueError(
                f"No mixture keeps ky_fan={self.ky_fan} and inverse_sum={self.inverse_sum} together. Raise one of them."
            )
        self._keep(solved, course, problem)

    def _problem(self, labeled: LabeledRows, rank: int) -> ProjectionProblem:
        (rows, class_ids, weights), n_kernels = labeled, len(self._kernels)
        width = max(len(one.eigenvalues) for one in self._spectra)
        eigenvalues = np.zeros((n_kernels, width))
        features = []
        for k, (kernel, one) in enumerate(zip(self._kernels, self._spectra, strict=True)):
            eigenvalues[k, : len(one.eigenvalues)] = one.eigenvalues
            features.append(one.functions(np.asarray(kernel(rows, self._sample))))
        inverse_sum = DEFAULT_INVERSES * n_kernels**2 if self.inverse_sum is None else float(self.inverse_sum)
        self.inverse_sum_ = inverse_sum
        ky_fan = np.inf if self.ky_fan is None else float(self.ky_fan)
        mixtures = MixtureSet(eigenvalues, rank, ky_fan, inverse_sum)
        ridge = LogisticRidge(class_ids, len(self.classes_), weights, bool(self.fit_intercept))
        return ProjectionProblem(mixtures, features, ridge, float(self.alpha))

    def _starts(self, mixtures: MixtureSet) -> list[FloatArray]:
        n_kernels = mixtures.n_kernels
        rng = np.random.default_rng(seed_from(self.random_state))
        leaning = 0.3 / n_kernels + 0.7 * np.eye(n_kernels)
        directions = [np.ones(n_kernels), *leaning, *rng.dirichlet(2.0 * np.ones(n_kernels), self.n_starts)]
        starts = [scaled_into(mixtures, direction) for direction in directions]
        return [start for start in starts if start is not None]

    def _keep(self, solved: Solved, course: Course, problem: ProjectionProblem) -> None:
        kernels = np.repeat(np.arange(len(solved.counts)), solved.counts)
        numbers = np.concatenate([np.arange(count) for count in solved.counts])
        values = solved.mixture[kernels] * problem.mixtures.eigenvalues[kernels, numbers]
        order = np.argsort(-values, kind="stable")
        self.mixture_, self.eigenvalues_ = solved.mixture, values[order]
        self.components_ = np.stack([kernels[order], numbers[order]], axis=1)
        weights = solved.coefficients[:-1][order] / np.sqrt(solved.mixture[kernels[order]])[:, None]
        self.coef_, self.intercept_ = np.ascontiguousarray(weights.T), solved.coefficients[-1]
        self._make_ensemble()
        self.kinks_ = [tuple(pair) for pair in solved.kinks]
        self.history_, self.stop_reason_ = {"objective": course.objective}, course.stop_reason
        self.n_iter_, self.objective_ = len(course.objective), solved.objective

    def _make_ensemble(self) -> None:
        names = tuple(kernel if isinstance(kernel, str) else _short(kernel) for kernel in self.kernels)
        self.ensemble_ = ProjectedEnsemble(
            names, self.mixture_, self.components_, self.eigenvalues_, self.coef_.T, self.intercept_, self._sample_size
        )

    @of_one_fit
    def transform(self, X: Any) -> FloatArray:
        """The coordinates of Pi_U Phi(x): a column for each eigenfunction that is kept, by falling eigenvalue."""
        check_is_fitted(self)
        return self._in_blocks(self._rows(X), self._coordinates)

    @of_one_fit
    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._scores_of(self._rows(X))

    def _scores_of(self, rows: FloatArray) -> FloatArray:
        return self._in_blocks(rows, lambda block: self._coordinates(block) @ self.coef_.T + self.intercept_)

    def _squares(self, rows: FloatArray) -> FloatArray:
        """Sums of the squares of the first r eigenfunctions of each kernel for weight 1; shape (n_rows, n_kernels)."""
        rank, kernels = len(self.components_), range(len(self._spectra))
        return self._in_blocks(
            rows,
            lambda block: np.stack([(self._functions(k, block)[:, :rank] ** 2).sum(axis=1) for k in kernels], axis=1),
        )

    def _rows(self, X: Any) -> FloatArray:
        return _dense(read_matrix(self, X, {}, ACCEPTED))

    def _in_blocks(self, rows: FloatArray, of_block: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Results of blocks of one size, so that those of a row do not depend on other rows."""
        results = []
        with one_blas_thread:
            for first in range(0, len(rows), BLOCK):
                block = rows[first : first + BLOCK]
                padded = np.vstack([block, np.repeat(block[:1], BLOCK - len(block), axis=0)])
                results.append(of_block(padded)[: len(block)])
        return np.vstack(results)

    def _coordinates(self, rows: FloatArray) -> FloatArray:
        coordinates = np.empty((len(rows), len(self.components_)))
        for k in np.unique(self.components_[:, 0]).tolist():
            of_kernel = self.components_[:, 0] == k
            functions = self._functions(k, rows)[:, self.components_[of_kernel, 1]]
            coordinates[:, of_kernel] = np.sqrt(self.mixture_[k]) * functions
        return coordinates

    def _functions(self, k: int, rows: FloatArray) -> FloatArray:
        """Values of the eigenfunctions of kernel k for weight 1, shape (n_rows, n_functions)."""
        return self._spectra[k].functions(np.asarray(self._kernels_now()[k](rows, self._sample)))

    def _kernels_now(self) -> list[KernelFunction]:
        """The base kernels; a loaded model may have been given again the functions that a file does not keep."""
        if is_stored(self._kernels):
            return self._kernels
        return standardized(read_kernels(self.kernels), self._means, self._scales)

    def _take_spectra(self, sample: FloatArray, sizes: list[int], arrays: Mapping[str, FloatArray]) -> None:
        """Set attributes from the arrays of a model file."""
        self._means, self._scales = arrays["means"], arrays["scales"]
        self._kernels = standardized(read_kernels(self.kernels), self._means, self._scales)
        if len(self._kernels) != len(sizes):
            raise ValueError(f"there are {len(sizes)} spectra for {len(self._kernels)} kernels")
        check_columns(self._kernels, sample.shape[1])
        self._sample, self._spectra = sample, []
        ends = np.cumsum(sizes)
        for k, (size, end) in enumerate(zip(sizes, ends.tolist(), strict=True)):
            values = arrays["eigenvalues"][end - size : end]
            directions = arrays["directions"][(end - size) * len(sample) : end * len(sample)].reshape(-1, size)
            unit, error = float(arrays["units"][k]), float(arrays["errors"][k])
            self._spectra.append(Spectrum(values, directions, unit, error))
        self._sample_size = float(arrays["sample_size"][0])
        self._make_ensemble()

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)  # for `get_feature_names_out` of scikit-learn


def _short(kernel: Any) -> str:
    if isinstance(kernel, np.ndarray | list):
        kernel = PrecomputedKernel(kernel)
    named = isinstance(kernel, NamedKernel | PrecomputedKernel)
    return repr(kernel) if named else getattr(kernel, "__name__", type(kernel).__name__)


def _dense(X: Any) -> FloatArray:
    """Rows as a dense matrix, all values finite."""
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    check_known(np.asarray(~np.isfinite(rows).all(axis=0)))
    return rows
